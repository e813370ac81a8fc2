"""Filling a schedule: from a length for every batch to ranges with what is expected in each."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.schedule.cell import Cell, ScheduleError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def as_lengths(lengths: ArrayLike, contexts: int) -> Ints:
    """Lengths as whole numbers, one a batch, and one a context where there are ``contexts``."""
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu":
        raise ScheduleError(f"lengths must be whole numbers, not {array.dtype}")
    wanted = "one a batch" if not contexts else f"[batch, {contexts} contexts]"
    fits = array.ndim == 1 if not contexts else array.ndim == 2 and array.shape[1] == contexts
    if not fits or not array.size:
        raise ScheduleError(f"lengths have shape {array.shape}; they must be {wanted}")
    if array.min() < 0:
        raise ScheduleError(f"lengths: a draft cannot have {array.min()} tokens")
    return array.astype(np.int64)


def as_table(speedups: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Speedups as a read-only table with the lengths before the axes of ``shape``."""
    table = np.array(speedups, dtype=np.float64)
    if table.ndim != len(shape) + 1 or table.shape[1:] != shape or not len(table):
        raise ScheduleError(
            f"speedups have shape {table.shape}; wanted are [lengths, {', '.join(map(str, shape))}]"
        )
    if not np.all(np.isfinite(table) & (table >= 0)):
        raise ScheduleError("speedups must be finite and not negative")
    table.flags.writeable = False
    return table


def cells_of(
    lengths: Ints, speedups: Floats | None, reasons: NDArray[np.object_] | None
) -> tuple[Cell, ...]:
    """One row of cells: neighbours of one length together, with what is expected of them."""
    starts = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
    cells = []
    for start, end in itertools.pairwise(starts):
        length = int(lengths[start])
        speedup = margin = None
        if speedups is not None:
            if length >= len(speedups):
                raise ScheduleError(
                    f"length {length} has no speedup; the table ends at {len(speedups) - 1}"
                )
            here = speedups[length, start:end]
            speedup = float(here.mean())
            others = np.delete(speedups[:, start:end], length, axis=0)
            margin = float((here - others.max(axis=0)).min()) if len(others) else None
        words = [] if reasons is None else [str(word) for word in reasons[start:end]]
        reason = ", ".join(dict.fromkeys(word for word in words if word))
        cells.append(Cell(start + 1, end, length, speedup, margin, reason))
    return tuple(cells)
