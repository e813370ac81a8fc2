"""Choosing draft lengths from expected speedups, under what real engines ask for.

Every function takes ``speedup[length, batch − 1]``, or ``[length, batch − 1, context row]``, and
returns either such a table with more said in it, or a length for every batch.  A length that is
not allowed has a speedup of −∞.  Ties go to the shorter length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.formulas.counting import idle_speedup
from specdec_lib.schedule.cell import ScheduleError
from specdec_lib.schedule.few import few_lengths as few_lengths

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Speedups this close, relative to the larger, are the same.
TIE = 1e-12


def table(speedup: ArrayLike) -> Floats:
    """``speedup`` as a float64 table.  Raises ScheduleError unless it is one, with a length allowed
    at every batch."""
    array = np.array(speedup, dtype=np.float64)
    if array.ndim not in (2, 3) or not array.size:
        raise ScheduleError(
            f"speedups have shape {array.shape}; wanted is [length, batch] or [length, batch, "
            "context]"
        )
    if np.any(np.isnan(array) | (array == np.inf)):
        raise ScheduleError("speedups must be numbers; minus infinity forbids a length")
    shut = np.all(array == -np.inf, axis=0)
    if np.any(shut):
        raise ScheduleError(f"no length is allowed at batch {int(np.argwhere(shut)[0][0]) + 1}")
    return array


def taxed(speedup: ArrayLike, tax: float) -> Floats:
    """The table with an engine's "enabled but idle" tax on length zero.

    An engine that was started with speculation does not decode as fast as one without where it
    drafts nothing: ``tax`` is what that adds to a plain step, 0.066 and 0.216 in one report at 2
    and at 189 sequences (vllm-project/vllm#49548).
    """
    array = table(speedup)
    array[0] = np.where(array[0] == -np.inf, -np.inf, array[0] * idle_speedup(tax=tax))
    return array


def bounded(speedup: ArrayLike, *, shortest: int = 0, longest: int | None = None) -> Floats:
    """The table with lengths outside [shortest, longest] forbidden.

    A floor above zero is for engines and models where zero is unsafe.  Raises ScheduleError where
    nothing is left.
    """
    array = table(speedup)
    top = len(array) - 1 if longest is None else longest
    if not 0 <= shortest <= top or shortest >= len(array):
        raise ScheduleError(
            f"lengths from {shortest} to {top}: the speedups have 0 to {len(array) - 1}"
        )
    array[:shortest] = -np.inf
    array[top + 1 :] = -np.inf
    return table(array)


def only(speedup: ArrayLike, lengths: tuple[int, ...]) -> Floats:
    """The table with all but these ``lengths`` forbidden."""
    array = table(speedup)
    wrong = [length for length in lengths if not 0 <= length < len(array)]
    if wrong:
        raise ScheduleError(f"lengths {wrong}: the speedups have 0 to {len(array) - 1}")
    array[[length for length in range(len(array)) if length not in lengths]] = -np.inf
    return table(array)


def best_lengths(speedup: ArrayLike) -> Ints:
    """The best length at every batch, the shorter of equal ones."""
    array = table(speedup)
    best = array.max(axis=0)
    enough = array >= best - TIE * np.abs(best)
    return np.asarray(np.argmax(enough, axis=0), dtype=np.int64)


def with_minimum_gain(speedup: ArrayLike, gain: float, *, falling: bool = False) -> Ints:
    """Lengths that change along the batches only where that gains at least ``gain``, relative.

    At batch 1 it is the shortest length within ``gain`` of the best; from batch to batch the length
    stays until the best one is better by more than that (or the length is forbidden).  ``falling``
    walks from the largest batch down.  ``gain`` 0 is :func:`best_lengths`.
    """
    array = table(speedup)
    if not 0 <= gain < np.inf:
        raise ScheduleError(f"a minimum gain is a share such as 0.02, not {gain}")
    if gain == 0:
        return best_lengths(array)
    order = range(array.shape[1])[:: -1 if falling else 1]
    best, best_value = best_lengths(array), array.max(axis=0)
    enough = array * (1 + gain) >= best_value
    lengths = np.empty(array.shape[1:], dtype=np.int64)
    current = np.argmax(enough[:, order[0]], axis=0)
    for batch in order:
        here = np.take_along_axis(enough[:, batch], current[None, ...], axis=0)[0]
        current = np.where(here, current, best[batch])
        lengths[batch] = current
    return lengths


def hysteresis(speedup: ArrayLike, gain: float) -> tuple[Ints, Ints]:
    """Lengths while the batch grows, and while it shrinks.

    Each is :func:`with_minimum_gain` in its own direction; between the batches at which they switch
    lies the band in which a controller keeps the length that it has, :func:`follow`.
    """
    return (
        with_minimum_gain(speedup, gain),
        with_minimum_gain(speedup, gain, falling=True),
    )


def follow(growing: ArrayLike, shrinking: ArrayLike, batches: ArrayLike) -> Ints:
    """Lengths that a controller with hysteresis uses over a sequence of ``batches``.

    It keeps its length while that is one of the two of the batch, and otherwise takes that of the
    direction in which the batch went.  The first batch counts as growing.  Batches are counted from
    1 and end with the lengths.
    """
    up, down = np.asarray(growing), np.asarray(shrinking)
    path = np.asarray(batches)
    if up.shape != down.shape or up.ndim != 1:
        raise ScheduleError(f"two rows of lengths are needed, not {up.shape} and {down.shape}")
    if path.size and not (path.min() >= 1 and path.max() <= len(up)):
        raise ScheduleError(f"batches must lie in 1 to {len(up)}")
    used: list[int] = []
    current, before = -1, 0
    for batch in path.tolist():
        choices = (int(up[batch - 1]), int(down[batch - 1]))
        if current not in choices:
            current = choices[0] if batch >= before else choices[1]
        used.append(current)
        before = batch
    return np.asarray(used, dtype=np.int64)


def choose_lengths(
    speedup: ArrayLike,
    *,
    tax: float = 0.0,
    shortest: int = 0,
    longest: int | None = None,
    most: int | None = None,
    gain: float = 0.0,
) -> Ints:
    """A length for every batch under all the restrictions, in this order.

    The ``tax`` on idle speculation, the bounds ``shortest`` and ``longest``, at ``most`` so many
    distinct lengths, and the minimum ``gain`` to switch.
    """
    array = bounded(taxed(speedup, tax), shortest=shortest, longest=longest)
    if most is not None:
        array = only(array, few_lengths(array, most))
    return with_minimum_gain(array, gain)
