"""TwoStage: drafts pruned by a cheap first stage, priced by the mean cost of what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control.compiled import compiled
from specdec_lib.control.policy import State
from specdec_lib.control.priced import Priced
from specdec_lib.control.prices import Prices
from specdec_lib.control.stage import FirstStage, total_lengths
from specdec_lib.formulas.speculation import two_stage_time

#: Seconds of a round with a first stage, for φ, C₀, the full pass and drafting.
staged_time = compiled(two_stage_time, "phi", "C_0", "C_verify", "C_draft")


class TwoStage(Priced):
    """The :class:`Priced` policy with a first stage that prunes every draft.

    What is estimated by position is then the chance that a token is kept and accepted, αg, and a
    length is priced by E[C(Σγ′)]: the mean over the total length of what survives, not the price of
    its mean.  Without a stage it is :class:`Priced` itself.

    Parameters
    ----------
    stage
        The first stage; None prunes nothing.
    gamma_max, setting
        As for :class:`Priced`.

    Raises TypeError for what is no first stage, and as :class:`Priced` does.
    """

    def __init__(
        self, stage: FirstStage | None, gamma_max: int | None = None, **setting: Any
    ) -> None:
        if not isinstance(stage, FirstStage | None):
            raise TypeError(f"a first stage such as FirstStage(0.1, 0.95, 0.3), not {stage!r:.60}")
        super().__init__(gamma_max, **setting)
        self.stage = stage

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        if self.stage is None:
            return super().name
        stage = self.stage
        return f"two-stage {stage.cost:g}, {stage.keep_good:g}, {stage.keep_bad:g}"

    def _first_rate(self) -> float:
        return self.prior * (self.stage.keep_good if self.stage else 1.0)

    def _renew(self) -> None:
        super()._renew()
        self._known: dict[int, Floats] = {}

    def _seconds(self, state: State, rates: Sequence[float]) -> Floats:
        if self.stage is None:
            return super()._seconds(state, rates)
        assert self._prices is not None, "start() comes first"
        # the context hardly moves between two estimates, so that a price holds until the next
        if state.batch not in self._known:
            good = self.stage.keep_good
            alphas = [min(rate / good, 1.0) if good else self.prior for rate in rates]
            self._known[state.batch] = expected_seconds(
                self._prices, self.stage, alphas, state.batch, state.context
            )
        return self._known[state.batch]


def expected_seconds(
    prices: Prices, stage: FirstStage, rates: Sequence[float], B: int, S: float
) -> Floats:
    """Expected seconds of a round with drafts of 0, 1, … tokens, as many as there are ``rates``, of
    which the first stage prunes each sequence's by itself; a plain step has no first stage."""
    verify, drafting = prices.verify(B, S), prices.drafting(B, S)[: len(rates) + 1]
    chances = total_lengths(stage.lengths(rates), B)
    totals = np.arange(chances.shape[1]) * prices.resolution(B) / B
    passes = chances @ np.interp(totals, np.arange(len(verify)), verify)
    found = np.asarray(staged_time(stage.cost, verify[0], passes, drafting))
    found[0] = verify[0]
    return found
