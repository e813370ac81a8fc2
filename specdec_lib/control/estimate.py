"""Estimate: acceptance by position from what recent rounds brought, and how high it may be."""

from __future__ import annotations

import numpy as np

from specdec_lib.control.compiled import compiled
from specdec_lib.control.policy import Outcome
from specdec_lib.formulas import adapting

_shrunk = compiled(adapting.shrunk_acceptance, "weight", "alpha", "accepted", "offered")
_optimistic = compiled(adapting.optimistic_acceptance, "alpha", "quantile", "offered")


class Estimate:
    """Acceptance by position, with old rounds forgotten.

    A position is drawn towards the one before it, so that a position that was never reached is
    taken to be like the last that was; the first is drawn towards the prior.

    Parameters
    ----------
    positions
        How many there are.
    prior, weight
        Acceptance before anything is known, and the trials that it counts for.
    half_life
        Rounds after which a round counts half.
    """

    def __init__(self, positions: int, prior: float, weight: float, half_life: float) -> None:
        self.prior, self.weight = prior, weight
        self._keep = adapting.forgetting(half_life=half_life)
        self._trials = np.zeros((2, positions))  # judged, accepted

    def hear(self, outcome: Outcome) -> None:
        """Count a round; one without a draft only lets the others grow old."""
        self._trials *= self._keep
        if outcome.gamma:
            reaching = outcome.reaching
            self._trials[0, : outcome.gamma] += reaching[:-1]
            self._trials[1, : outcome.gamma] += reaching[1:]

    def rates(self, quantile: float) -> tuple[list[float], list[float]]:
        """The estimate of every position, and what it may be, ``quantile`` deviations above."""
        found, before = [], self.prior
        for judged, accepted in self._trials.T.tolist():
            before = _shrunk(self.weight, before, accepted, judged)
            found.append(before)
        hopes = _optimistic(np.array(found), quantile, self.weight + self._trials[0])
        return found, np.asarray(hopes).tolist()
