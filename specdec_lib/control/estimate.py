"""Estimate: acceptance by position from what recent rounds brought, and how high it may be."""

from __future__ import annotations

import numpy as np

from specdec_lib.control.compiled import compiled
from specdec_lib.control.policy import Outcome
from specdec_lib.formulas import adapting

_shrunk = compiled(adapting.shrunk_acceptance, "weight", "alpha", "accepted", "offered")
_optimistic = compiled(adapting.optimistic_acceptance, "alpha", "quantile", "offered")


class Estimate:
    """Acceptance by position.  New drafts push old ones out, and time makes them uncertain.

    A position is drawn towards the one before it, so that a position that was never reached is
    taken to be like the last that was; the first is drawn towards the prior.  Without drafts the
    estimate stays what it was, and what it may be by now moves away from it.

    Parameters
    ----------
    positions
        How many there are.
    prior, weight
        Acceptance before anything is known, and the trials that it counts for.
    half_life
        Drafts after which a draft counts half in the estimate.
    patience
        Rounds after which a draft counts half in how sure the estimate is.
    """

    def __init__(
        self, positions: int, prior: float, weight: float, half_life: float, patience: float
    ) -> None:
        self.prior, self.weight = prior, weight
        self._keep = adapting.forgetting(half_life=half_life)
        self._stay = adapting.forgetting(half_life=patience)
        self._trials = np.zeros((2, positions))  # judged, accepted
        self._recent = np.zeros(positions)  # judged, by time

    def hear(self, outcome: Outcome) -> None:
        """Count a round; one without a draft only makes the others uncertain."""
        self._recent *= self._stay
        if outcome.gamma:
            reaching = outcome.reaching
            self._trials *= self._keep ** len(outcome.accepted)
            self._trials[0, : outcome.gamma] += reaching[:-1]
            self._trials[1, : outcome.gamma] += reaching[1:]
            self._recent[: outcome.gamma] += reaching[:-1]

    def rates(self, quantile: float) -> tuple[list[float], list[float]]:
        """The estimate of every position, and what it may be, ``quantile`` deviations above."""
        found, before = [], self.prior
        for judged, accepted in self._trials.T.tolist():
            before = _shrunk(self.weight, before, accepted, judged)
            found.append(before)
        # what is not recent counts no more, so that the prior, which knows nothing, takes its place
        recent = np.minimum(self._trials[0], self._recent)
        by_now = _shrunk(self.weight, self.prior, np.array(found) * recent, recent)
        hopes = _optimistic(by_now, quantile, self.weight + recent)
        return found, np.asarray(hopes).tolist()
