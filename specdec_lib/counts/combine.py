"""Counts together: pooled over requests or replicas, and what lies between two scrapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ImpossibleCounts, ReadError

_TOTALS = ("steps", "drafted", "accepted", "emitted", "requests")
_ROWS = ("survived", "offered")


def pool(parts: Iterable[AcceptanceCounts]) -> AcceptanceCounts:
    """The sum of counts.

    Tokens per step of the sum weigh every step alike.  The mean of the parts' own tokens per step
    weighs every part alike, which is another number; the pooled counts name both where they differ.
    What one part lacks the sum lacks.  Raises ReadError for no parts, and where exact and lossy
    acceptance, trees and chains, or several draft lengths would be mixed.
    """
    found = list(parts)
    if not found:
        raise ReadError("there are no counts to pool")
    if len(found) == 1:
        return found[0]
    for field, what in (("lossy", "exact and relaxed acceptance"), ("tree", "chains and trees")):
        if len({getattr(part, field) for part in found}) > 1:
            raise ReadError(f"{what} do not mix: keep the counts apart")
    lengths = {part.length for part in found if part.length is not None}
    if len(lengths) > 1:
        raise ReadError(
            f"draft lengths {sorted(lengths)} do not mix: acceptance by position differs between "
            "them; keep the counts apart"
        )
    if any(part.steps is None or part.accepted is None for part in found):
        raise ReadError(
            "only counts can be pooled: a gauge alone does not say how many steps it stands for"
        )
    totals: dict[str, Any] = {
        name: _total([getattr(part, name) for part in found]) for name in _TOTALS
    }
    rows: dict[str, Any] = {
        name: _row([getattr(part, name) for part in found], 1) for name in _ROWS
    }
    # without the offered counts of all parts, sums over positions would not fit the totals
    lacking = {name for part in found for name in _ROWS if getattr(part, name) is None}
    rows |= dict.fromkeys(lacking)
    whole = AcceptanceCounts(
        found[0].engine,
        found[0].found,
        **totals,
        **rows,
        length=next(iter(lengths), None),
        tree=found[0].tree,
        lossy=found[0].lossy,
        notes=(f"pooled from {len(found)} counts", *_each(part.notes for part in found)),
        cautions=_each(part.cautions for part in found),
    )
    mean = sum(part.tokens for part in found) / len(found)
    if abs(mean - whole.tokens) > 5e-3 * whole.tokens:
        caution = (
            f"the mean of the {len(found)} parts' own tokens per step is {mean:.4g}; it weighs "
            f"short and long parts alike, while each step of the pool counts once: "
            f"{whole.tokens:.4g}"
        )
        whole = replace(whole, cautions=(*whole.cautions, caution))
    return whole


def difference(later: AcceptanceCounts, earlier: AcceptanceCounts) -> AcceptanceCounts:
    """What was counted between two scrapes of running counters.

    Raises ImpossibleCounts for a counter that fell, as after a restart, and where nothing was
    counted in between.
    """
    if later.found != earlier.found:
        raise ReadError(f"{later.found} less {earlier.found}: two scrapes of one source are needed")
    totals: dict[str, Any] = {}
    for name in _TOTALS:
        values = [getattr(part, name) for part in (later, earlier)]
        totals[name] = None if None in values else values[0] - values[1]
    rows: dict[str, Any] = {
        name: _row([getattr(later, name), getattr(earlier, name)], -1)
        if getattr(later, name) is not None and getattr(earlier, name) is not None
        else None
        for name in _ROWS
    }
    fallen = [name for name, value in totals.items() if value is not None and value < 0]
    fallen += [name for name, row in rows.items() if row is not None and min(row, default=0) < 0]
    if fallen:
        raise ImpossibleCounts(
            f"{later.found}: {', '.join(fallen)} fell between the scrapes; the engine was "
            "restarted, or the scrapes are in the wrong order"
        )
    return replace(
        later,
        **totals,
        **rows,
        notes=(*later.notes, "counted between two scrapes"),
    )


def left_out(counts: AcceptanceCounts, idle: int, of: int, what: str) -> AcceptanceCounts:
    """The counts with a note that ``idle`` of so many lines, requests or iterations drafted
    nothing."""
    if not idle:
        return counts
    note = f"{idle} of {of} {what} drafted nothing and are left out"
    return replace(counts, notes=(*counts.notes, note))


def _total(values: list[int | None]) -> int | None:
    return None if None in values else sum(value or 0 for value in values)


def _row(rows: list[tuple[int, ...] | None], sign: int) -> tuple[int, ...] | None:
    """The first row and ``sign`` times the others, by position; a missing position is zero."""
    known = [row for row in rows if row is not None]
    columns = itertools.zip_longest(*known, fillvalue=0)
    return tuple(column[0] + sign * sum(column[1:]) for column in columns)


def _each(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(itertools.chain.from_iterable(texts)))
