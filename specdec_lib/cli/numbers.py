"""Numbers on a command line: ``8``, ``1,2,4`` and ``1-16``."""

from __future__ import annotations

import itertools
from typing import Any

import click

#: More than this many values of one argument are a slip of the hand.
MOST = 1_000_000


class WholeNumbers(click.ParamType[list[int]]):
    """Whole numbers, alone, separated by commas, or a range with both ends: ``1,2,4`` or ``1-16``.

    They are sorted and each is taken once.
    """

    name = "numbers"

    def __init__(self, low: int = 1) -> None:
        self.low = low

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """The numbers that a text means."""
        if isinstance(value, list):
            return value
        found: set[int] = set()
        for part in str(value).split(","):
            ends = [end.strip() for end in part.split("-")]
            if len(ends) > 2 or not all(end.isascii() and end.isdigit() for end in ends):
                self.fail(f"{part.strip()!r} is no whole number and no range such as 1-16", param)
            if any(len(end) > 18 for end in ends):
                self.fail(f"{part.strip()!r} is larger than anything here", param)
            first, last = int(ends[0]), int(ends[-1])
            if last < first:
                self.fail(f"{part.strip()!r} runs backwards", param)
            if last - first >= MOST:
                self.fail(f"{part.strip()!r} are more than {MOST} values", param)
            found.update(range(first, last + 1))
        if min(found) < self.low:
            self.fail(f"{min(found)} is less than {self.low}", param)
        return sorted(found)


def grid(*axes: list[int]) -> list[tuple[int, ...]]:
    """Every combination of the values of some arguments, the last varying fastest."""
    return list(itertools.product(*axes))
