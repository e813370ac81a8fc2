"""Between a schedule and an engine: one row of it, how good other lengths are, what they lose."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from specdec_lib.schedule import CannotExpress, Loss, Schedule
from specdec_lib.schedule.cell import span

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Scores this close, relative, are the same; the shorter length wins.
_TIE = 1e-12


def single_row(schedule: Schedule, engine: str, *, fit: bool) -> tuple[Schedule, tuple[str, ...]]:
    """The schedule without a context axis, and what was done to it; CannotExpress if it has one
    and ``fit`` is not asked for.

    The fit takes at each batch the length with the best mean speedup over the contexts, each
    counting alike, or, where no speedups are known, the shortest length of any context.
    """
    if not schedule.contexts:
        return schedule, ()
    if not fit:
        bounds = ", ".join(map(str, schedule.contexts))
        raise CannotExpress(
            f"{engine} chooses the draft length by batch alone, and this schedule has {bounds} "
            "tokens of context beside it: write one row, schedule.at(context=…), and serve long "
            "and short contexts from replicas of their own; or take the best common row, fit=True"
        )
    if schedule.speedups is None:
        lengths, how = schedule.lengths.min(axis=1), "the shortest length of any context"
        table = None
    else:
        table = schedule.speedups.mean(axis=2)
        lengths, how = best(table), "the length with the best mean speedup over the contexts"
    row = Schedule.from_lengths(
        lengths,
        speedups=table,
        name=schedule.name,
        assumptions=schedule.assumptions,
        notes=schedule.notes,
    )
    return row, (f"{engine} knows no context: each batch has {how}",)


def best(score: Floats) -> Ints:
    """The length of the best score at each batch, the shorter of equal ones."""
    top = score.max(axis=0)
    return np.asarray(np.argmax(score >= top - _TIE * np.abs(top), axis=0), dtype=np.int64)


def scores(row: Schedule, also: int | None = None) -> Floats:
    """How good each length is at each batch of the schedule: its speedup, or, where none is known,
    its nearness to the wanted length.

    Lengths that the schedule does not use score −∞, all but ``also``: whoever made it may have had
    reasons to leave them out, such as a graph for each, or a zero that is unsafe.
    """
    if row.speedups is not None:
        score = np.array(row.speedups)
    else:
        lengths = np.arange(row.longest + 1, dtype=np.float64)
        score = -np.abs(lengths[:, None] - row.lengths[None, :])
    unused = set(range(len(score))) - {*row.distinct, also}
    score[sorted(unused)] = -np.inf
    return score


def wanted_up_to(row: Schedule, last: int) -> Ints:
    """The wanted length of every batch from 1 to ``last``, zero beyond the schedule."""
    return np.asarray(row.length(np.arange(1, last + 1)), dtype=np.int64)


def losses(row: Schedule, given: Ints, open_end: bool) -> tuple[Loss, ...]:
    """Where ``given[batch − 1]`` is not what the schedule wants, and what that costs.

    With an ``open_end`` the last of ``given`` stands for every larger batch.
    """
    wanted, found = wanted_up_to(row, len(given)), []
    pair = np.stack([wanted, given])
    changes = set((np.flatnonzero(np.any(np.diff(pair), axis=0)) + 1).tolist())
    starts = sorted({0, *changes, min(row.batch_max, len(given)), len(given)})
    for start, end in itertools.pairwise(starts):
        want, give = int(wanted[start]), int(given[start])
        if want == give:
            continue
        lost = None
        if row.speedups is not None and end <= row.batch_max and give < len(row.speedups):
            here = row.speedups[:, start:end]
            lost = float((here[want] - here[give]).mean())
        last = None if open_end and end == len(given) else end
        found.append(Loss(start + 1, last, want, give, lost))
    return tuple(found)


def refuse(row: Schedule, given: Ints, open_end: bool, why: str, instead: str) -> None:
    """Raise CannotExpress, with the ranges, unless ``given`` is what the schedule wants."""
    lost = losses(row, given, open_end)
    if lost:
        ranges = "; ".join(
            f"batch {span(loss.first, loss.last)} wants {loss.wanted} and would get {loss.given}"
            for loss in lost
        )
        raise CannotExpress(f"{why}: {ranges}; {instead}")


def ranges_of(lengths: Ints) -> list[tuple[int, int, int]]:
    """Runs of one length as ``(first, last, length)``, batches counted from 1."""
    starts = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
    return [(start + 1, end, int(lengths[start])) for start, end in itertools.pairwise(starts)]
