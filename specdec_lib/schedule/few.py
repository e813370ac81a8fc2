"""Few distinct lengths: which of them serve all batches best.

Every distinct length costs an engine a captured graph, so a schedule may have to do with a few.
Choosing ``most`` of them to maximise the mean over the batches of the best one available is a
facility-location problem: no shape of the speedups is assumed, so that no sweep along the batches
is exact.  But what a set of lengths gives is submodular in the set: the best gains of single
lengths bound what they can add together, and a search that prunes by this bound is exact, and quick
for the dozens of lengths that exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.schedule.cell import ScheduleError

Floats = NDArray[np.float64]


def few_lengths(speedup: ArrayLike, most: int) -> tuple[int, ...]:
    """The set of at most ``most`` lengths with the highest mean speedup, increasing.

    ``speedup`` is ``[length, batch − 1]`` or ``[length, batch − 1, context row]``; every batch and
    context counts alike, and uses the best length of the set.  Of equal sets it is the smaller one,
    then the one with shorter lengths.  Raises ScheduleError where no such set is allowed
    everywhere.
    """
    array = np.asarray(speedup, dtype=np.float64)
    if most < 1:
        raise ScheduleError(f"a schedule needs at least one length, not {most}")
    values = array.reshape(len(array), -1) / max(1, array[0].size)
    search = _Search(values)
    # smaller sets first: a larger one must be better to replace them
    for size in range(1, min(most, len(values)) + 1):
        search.extend((), np.full(values.shape[1], -np.inf), 0, size)
    if search.best is None:
        raise ScheduleError(f"no {most} lengths are allowed at every batch")
    return search.best


class _Search:
    """Depth-first over increasing lengths, pruned by the bound on what is still to gain."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.best: tuple[int, ...] | None = None
        self.total = -np.inf
        self._scale = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))

    def extend(self, chosen: tuple[int, ...], reached: Floats, start: int, left: int) -> None:
        """Try every completion of ``chosen`` by ``left`` lengths from ``start`` on; ``reached`` is
        what it gives at each batch."""
        if left == 0:
            total = float(reached.sum())
            if total > self.total + self._tie:
                self.best, self.total = chosen, total
            return
        options = np.maximum(reached, self.values[start:])
        totals = options.sum(axis=1)
        if np.all(np.isfinite(reached)) and not self._worth(totals, float(reached.sum()), left):
            return
        for offset in range(len(options) - left + 1):
            self.extend((*chosen, start + offset), options[offset], start + offset + 1, left - 1)

    @property
    def _tie(self) -> float:
        return 1e-12 * max(abs(self.total), self._scale) if np.isfinite(self.total) else 0.0

    def _worth(self, totals: Floats, have: float, left: int) -> bool:
        gains = np.sort(totals - have)[::-1][:left]
        return bool(have + gains.sum() > self.total + self._tie)
