"""Priced: the length of the best expected tokens over cost, by live estimates and within a budget.

It needs what the rule of thumb leaves out, the price of a round by batch, context and length, and
settles by itself whether speculation pays.  What it spends on finding out is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control.compiled import compiled
from specdec_lib.control.estimate import Estimate
from specdec_lib.control.policy import (
    Outcome,
    Policy,
    State,
    check_length,
    check_priced,
    check_share,
)
from specdec_lib.control.prices import Prices
from specdec_lib.control.pricing import best_length, survivals, tokens_by_length
from specdec_lib.formulas import adapting, counting, speculation

_loss = compiled(adapting.round_loss, "C_verify", "C_draft", "N", "pace")
_pace = compiled(speculation.token_time, "C_verify", "C_draft", "N")
counted_tokens = compiled(counting.counted_tokens, "accepted", "steps")


class Priced(Policy):
    """At each round the draft length whose expected tokens over cost are highest.

    Acceptance by position is estimated from recent rounds.  Where a longer draft would pay if the
    acceptance were as high as the estimate allows, it is tried, mostly by one token more and ever
    more rarely by 2, 4, 8, …, as long as the time that trials lost stays within ``budget``.  While
    nothing is drafted the estimate stays and grows uncertain, so that off is not for ever.

    Parameters
    ----------
    gamma_max
        The longest draft; that of the prices by default.
    budget
        Share of the time that trials may lose.
    half_life
        Drafts, one of each sequence a round, after which one counts half in the estimate: longer is
        steadier, shorter follows faster.  Of 1000 at 65 % the standard error is 1.3 %.
    patience
        Rounds after which one counts half in how sure the estimate is; a policy that is off tries
        again after six or so of them.
    prior, weight
        Acceptance before anything is known, and the trials that it counts for.
    hope
        Standard deviations above the estimate that it hopes for.
    gain
        Relative gain below which the length stays as it is.
    every
        Rounds between two estimates; batch and context are priced in every round.

    Raises TypeError or ValueError for what lies outside its range.
    """

    def __init__(
        self,
        gamma_max: int | None = None,
        *,
        budget: float = 0.01,
        half_life: float = 1000,
        patience: float = 100,
        prior: float = 0.5,
        weight: float = 4,
        hope: float = 2,
        gain: float = 0.01,
        every: int = 8,
    ) -> None:
        self.gamma_max = None if gamma_max is None else check_length("gamma_max", gamma_max)
        self.budget = check_share("budget", budget)
        self.half_life = check_share("half_life", half_life, 1, math.inf)
        self.patience = check_share("patience", patience, 1, math.inf)
        self.prior = check_share("prior", prior)
        self.weight = check_share("weight", weight, 1e-6, math.inf)
        self.hope = check_share("hope", hope, 0, 100)
        self.gain = check_share("gain", gain, 0, 1)
        self.every = check_length("every", every, 1)
        self._prices: Prices | None = None

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        return "priced"

    def start(self, prices: Prices) -> None:
        """See :meth:`Policy.start`."""
        check_priced(self.name, self.gamma_max or 0, prices)
        self._prices = prices
        self.longest = prices.gamma_max if self.gamma_max is None else self.gamma_max
        self._estimate = Estimate(
            self.longest, self._first_rate(), self.weight, self.half_life, self.patience
        )
        self.length = 0
        #: Seconds that passed, those that trials lost, and the trials.
        self.elapsed = self.lost = 0.0
        self.trials = self._age = 0
        self._trying: float | None = None  # seconds a token by the choice in force, in a trial
        self._renew()

    def _first_rate(self) -> float:
        return self.prior

    def _renew(self) -> None:
        self.rates, hopes = self._estimate.rates(self.hope)
        self._tokens = tokens_by_length(survivals(self.rates))
        self._hoped = tokens_by_length(survivals(hopes))

    def _seconds(self, state: State, rates: Sequence[float]) -> Floats:  # noqa: ARG002
        """Expected seconds of a round by length."""
        assert self._prices is not None, "start() comes first"
        return self._prices.rounds(state.batch, state.context)[: self.longest + 1]

    def choose(self, state: State) -> int:
        """The length in force, or a trial of a longer one."""
        seconds = self._seconds(state, self.rates)
        best, every = best_length(self._tokens, seconds)
        if every[best] > every[self.length] * (1 + self.gain):
            self.length = best
        now = self.length
        self._trying = None
        if self.lost >= self.budget * self.elapsed:
            return now
        hoped = best_length(self._hoped, seconds)[0]
        if hoped <= now:
            return now
        tried = min(now + self._stride(), hoped)
        pace = float(_pace(seconds[now], 0.0, self._tokens[now]))
        risk = max(float(_loss(seconds[tried], 0.0, self._tokens[tried], pace)), 0.0)
        if self.lost + risk > self.budget * self.elapsed:
            return now
        self._trying = pace
        self.trials += 1
        return tried

    def _stride(self) -> int:
        """1, 2, 1, 4, 1, 2, 1, 8, …: half of the trials are of one token more, a quarter of 2."""
        count = self.trials + 1
        return count & -count

    def told(self, state: State, outcome: Outcome) -> None:
        """Count the round, and what it lost if it was a trial."""
        self.elapsed += outcome.seconds
        if self._trying is not None:
            tokens = counted_tokens(outcome.total, state.batch)
            # a trial that gained pays for those before it, and not for later ones
            self.lost = max(self.lost + _loss(outcome.seconds, 0.0, tokens, self._trying), 0.0)
        self._estimate.hear(outcome)
        self._age += 1
        if self._age % self.every == 0:
            self._renew()
