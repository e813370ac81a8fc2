"""Cell: one range of batches in a schedule, and how a row of them must lie."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass


class ScheduleError(ValueError):
    """A schedule is not one: the message says which range is wrong, and how it should be."""


@dataclass(frozen=True)
class Cell:
    """Draft length for a range of batches, both ends included.

    Parameters
    ----------
    first, last
        Smallest and largest batch, in sequences per step.
    length
        Drafted tokens per sequence and step; zero does not speculate.
    speedup
        Expected speedup over not speculating, mean over the batches of the range.
    margin
        Speedup less that of the next best length, smallest over the range; below zero where another
        length would be faster and the schedule was restricted.
    reason
        What decides there, such as the binding resource.
    """

    first: int
    last: int
    length: int
    speedup: float | None = None
    margin: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("first", "last", "length"):
            object.__setattr__(self, name, whole(getattr(self, name), f"{name} of a range"))
        for name in ("speedup", "margin"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ScheduleError(f"range {self.span}: {name} = {value} is no finite number")
        if self.first < 1:
            raise ScheduleError(f"range {self.span}: batches are counted from 1")
        if self.last < self.first:
            raise ScheduleError(f"range {self.span} ends before it starts")
        if self.length < 0:
            raise ScheduleError(f"range {self.span}: a draft cannot have {self.length} tokens")
        if self.speedup is not None and self.speedup < 0:
            raise ScheduleError(f"range {self.span}: a speedup of {self.speedup} is none")

    @property
    def span(self) -> str:
        """The range as text: "17–64", or "5"."""
        return span(self.first, self.last)

    @property
    def batches(self) -> int:
        """How many batches the range has."""
        return self.last - self.first + 1


def span(first: int, last: int | None) -> str:
    """A range as text: "17–64", "5" where it has one member, "65 and above" where it has no end."""
    if last is None:
        return f"{first} and above"
    return f"{first}" if first == last else f"{first}–{last}"


def whole(value: object, what: str) -> int:
    """``value`` as an int.  Raises ScheduleError for what is no whole number, booleans included."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ScheduleError(f"{what}: {value!r} is no whole number") from None


def check_row(cells: Sequence[Cell]) -> None:
    """Raise ScheduleError unless the cells cover the batches from 1 on without gap or overlap."""
    if not cells:
        raise ScheduleError("a schedule needs at least one range of batches")
    if cells[0].first != 1:
        raise ScheduleError(
            f"the first range is {cells[0].span}; it must start at batch 1 (length 0 is allowed)"
        )
    for before, after in itertools.pairwise(cells):
        if after.first <= before.last:
            raise ScheduleError(
                f"ranges {before.span} and {after.span} overlap or are not in order"
            )
        if after.first > before.last + 1:
            missing = span(before.last + 1, after.first - 1)
            raise ScheduleError(
                f"no range holds batch {missing}, between {before.span} and {after.span}; "
                "say its length, 0 for none"
            )
