"""Plan: the speedup of speculative decoding, its best draft length, and what stands in its way."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.acceptance import AcceptanceCurve
from specdec_lib.acceptance.curve import Floats, plain
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import DomainError, floats
from specdec_lib.formulas import speculation
from specdec_lib.plan import regimes
from specdec_lib.plan.best import Best
from specdec_lib.plan.laws import speedup_law
from specdec_lib.plan.round import Round
from specdec_lib.plan.scheduling import Sensitivity, make_schedule, sensitivity
from specdec_lib.plan.search import Table, search, table
from specdec_lib.plan.thresholds import Thresholds
from specdec_lib.schedule import Schedule


class Plan(Thresholds):
    """A target, a drafter and an acceptance: Sp = N·C₀ / (C_verify + C_draft).

    Arguments of its methods are keyword-only and broadcast with each other and with the parameters
    of the acceptance; scalars give floats, arrays arrays.  γ is a whole number of tokens.  Methods
    raise DomainError for a γ beyond what drafter, acceptance or a measured verify curve know and
    outside any other domain, TypeError for what is no real number, and TypeError for seconds and
    regimes of a plan whose target is a Formula.

    Parameters
    ----------
    cost
        The target's StepCost; a Formula in B, T and S in its place gives speedups, but no seconds
        and no regimes.
    drafter
        From :mod:`specdec_lib.drafters`.
    acceptance
        From :mod:`specdec_lib.acceptance`.

    Examples
    --------
    >>> from specdec_lib import StepCost, catalog, drafters, Geometric
    >>> cost = StepCost(catalog.model("deepseek-v4-flash"), catalog.gpu("b200"))
    >>> plan = Plan(cost, drafters.fraction(0.10), Geometric(0.75))
    >>> plan.best(B=[1, 32, 512], S=4096).gamma.tolist()
    [2, 6, 3]
    """

    # --- the speedup and its best length ---------------------------------------------------------

    def speedup(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Tokens per second with drafts of γ tokens over those without; exactly 1 for γ = 0."""
        length, times = self.times(gamma, B, S)
        return speculation.speedup(N=self.tokens(gamma=length, S=S), **times)

    def step_ratio(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Verification and drafting over a plain step, (C_verify + C_draft)/C₀: also the expected
        tokens at which they break even."""
        return speculation.break_even_tokens(**self.times(gamma, B, S)[1])

    def best(self, *, B: Any, S: Any, gamma_max: int = 16) -> Best:
        """The best of all draft lengths from 0 to ``gamma_max`` at every point.

        Lengths that drafter, acceptance or a measured verify curve do not know are not tried, which
        a warning says.  Lengths whose speedups agree within 1e-12 count as equal, and the shorter
        one is taken.
        """
        batch, context = self.points(B, S)
        longest, said = self.longest(gamma_max)
        found = search(self.draft, self.acceptance, batch, context, longest)
        codes = functools.partial(self._codes, B=batch, S=context)
        return Best.of(found, longest, (*said, *self.warnings), codes)

    def table(self, *, B: Any, S: Any, gamma_max: int = 16) -> Table:
        """Tokens, step ratio and speedup of every draft length from 0, which is the first axis."""
        batch, context = self.points(B, S)
        return table(self.draft, self.acceptance, batch, context, self.longest(gamma_max)[0])

    def plateau(
        self, *, B: Any, S: Any, gamma_max: int = 16, within: float = 0.05
    ) -> tuple[Any, Any]:
        """The shortest and the longest draft whose speedup is ``within`` that fraction of the best:
        draft lengths between them that a measurement will not tell apart.

        Raises DomainError for a fraction outside [0, 1).
        """
        share = floats("within", within)
        if share.ndim or not 0 <= share < 1:
            raise DomainError(f"within = {within!r:.60} is no fraction of a speedup")
        every = self.table(B=B, S=S, gamma_max=gamma_max).speedup
        near = every >= every.max(axis=0) * (1 - within)
        shortest = np.argmax(near, axis=0)
        longest = len(near) - 1 - np.argmax(near[::-1], axis=0)
        if near.ndim == 1:
            return int(shortest), int(longest)
        return shortest, longest

    # --- seconds ---------------------------------------------------------------------------------

    def round(self, *, gamma: Any, B: Any, S: Any) -> Round:
        """A round of drafting and verifying told apart: tokens and seconds, each by itself."""
        self.step_cost("seconds")
        length, times = self.times(gamma, B, S)
        return Round(plain(length), B, self.tokens(gamma=length, S=S), **times)

    def latency(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Mean seconds between two tokens of a request (TPOT)."""
        return self.round(gamma=gamma, B=B, S=S).token_time

    def throughput(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Tokens per second of all B requests together; one request has the inverse of
        :meth:`latency`."""
        return self.round(gamma=gamma, B=B, S=S).throughput

    # --- regimes ---------------------------------------------------------------------------------

    def regime(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """What takes most of the target's step with drafts of γ tokens: "overhead" (fixed times and
        communication), "expert", "weight" or "kv" (what is read), or "compute"."""
        batch, context = self.points(B, S)
        names = np.asarray(regimes.REGIMES)[self._codes(self.length(gamma), batch, context)]
        return str(names) if names.ndim == 0 else names

    def regime_shares(self, *, gamma: Any, B: Any, S: Any) -> dict[str, Any]:
        """Seconds of the target's step by regime."""
        length, (batch, context) = self.length(gamma), self.points(B, S)
        found = regimes.shares(self.step_cost("regimes"), batch, length + 1, context)
        return {name: plain(seconds) for name, seconds in found.items()}

    def _codes(self, gamma: Any, B: Floats, S: Floats) -> Any:
        width = np.asarray(gamma, dtype=np.float64) + 1
        return regimes.codes(self.step_cost("regimes"), B, width, S)

    # --- schedules -------------------------------------------------------------------------------

    def schedule(self, *, batch_max: int, context: int | Sequence[int], **options: Any) -> Schedule:
        """The draft length at every batch from 1 to ``batch_max``, as a table for an engine.

        Parameters
        ----------
        batch_max
            The largest batch; above it nothing is drafted.
        context
            Context tokens of each sequence; several give a row each, for contexts up to it.
        gamma_max, shortest
            Bounds of the length, 16 and 0; a floor is for engines in which zero is unsafe.
        most
            How many distinct lengths there may be, each a captured graph; no limit by default.
        gain
            The least relative gain for which the length changes; 0 by default.
        falling
            Walk from the largest batch down; with ``gain`` the two directions have hysteresis
            between them.
        idle_tax
            What drafting nothing costs an engine with speculation enabled, relative to a plain
            step.
        progress
            Called with 1 after each draft length that has been priced.

        Raises DomainError or ScheduleError for what lies outside its domain, TypeError for a plan
        on a Formula.
        """
        return make_schedule(self, batch_max, context, **options)

    def sensitivity(
        self,
        *,
        low: AcceptanceCurve,
        high: AcceptanceCurve,
        batch_max: int,
        context: int | Sequence[int],
        **options: Any,
    ) -> Sensitivity:
        """Schedules for the ends of what acceptance may be, beside that of this plan, and the
        batches at which they differ; options as for :meth:`schedule`."""
        ends = [Plan(self.cost, self.drafter, curve) for curve in (low, high)]
        return sensitivity((ends[0], self, ends[1]), batch_max, context, **options)

    # --- in a page -------------------------------------------------------------------------------

    @functools.cached_property
    def formula(self) -> Formula:
        """The speedup as a Formula in γ, B, S and α, so that a page computes it itself.

        Raises ValueError for an acceptance that is not one rate for all positions.
        """
        return speedup_law(self.draft, self.acceptance)

    def vega(self, **names: str | float) -> str:
        """The speedup as a Vega expression: ``plan.vega(gamma="datum.gamma", alpha="alpha", …)``.

        With a drafter that is a fraction, ``c`` may be named too and stays free.  Raises as
        :attr:`formula` and :meth:`specdec_lib.formula.Formula.vega` do.
        """
        if "c" in names:
            return speedup_law(self.draft, self.acceptance, any_fraction=True).vega(**names)
        return self.formula.vega(**names)
