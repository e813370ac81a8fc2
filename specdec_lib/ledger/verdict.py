"""Verdicts: how the outcomes of trials decide a claim."""

from __future__ import annotations

from collections.abc import Iterable

#: From best to worst.
VERDICTS: tuple[str, ...] = ("holds", "holds if", "fails")


def of_trials(outcomes: Iterable[bool]) -> str:
    """Whether a claim "holds" (every trial found it true), "fails" (none did) or "holds if".

    Raises ValueError where there is no trial: what nothing has tried is not settled.

    >>> of_trials([True, False])
    'holds if'
    """
    found = set(outcomes)
    if not found:
        raise ValueError("a verdict needs at least one trial")
    if len(found) > 1:
        return "holds if"
    return "holds" if found == {True} else "fails"


def of_parts(verdicts: Iterable[str]) -> str:
    """The verdict on a claim as stated, which is the worst of those on its parts.

    >>> of_parts(["holds", "fails"])
    'fails'
    """
    return max(verdicts, key=VERDICTS.index)
