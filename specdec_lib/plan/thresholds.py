"""Thresholds: what acceptance must reach for speculation to pay, and what drafting may cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from specdec_lib.acceptance import acceptance_for_tokens
from specdec_lib.acceptance.curve import plain
from specdec_lib.formula.domain import DomainError
from specdec_lib.formulas import speculation
from specdec_lib.plan.terms import Terms


class Thresholds(Terms):
    """The part of a :class:`~specdec_lib.plan.plan.Plan` that inverts the speedup."""

    def hurdle(self, *, B: Any, S: Any) -> Any:
        """Acceptance that a single drafted token must exceed to pay; above 1 it cannot.

        Longer drafts may pay where one does not: see :meth:`best`.
        """
        times = self.times(1, B, S)[1]
        price, drafting = times["C_0"], times.pop("C_draft")
        return speculation.hurdle(**times, c=drafting / price)

    def break_even_alpha(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """The acceptance rate, the same at every position, at which drafts of γ tokens neither win
        nor lose; infinite where not even the acceptance of all pays.

        Raises DomainError for γ = 0.
        """
        length, times = self.times(gamma, B, S)
        needed = np.asarray(speculation.break_even_tokens(**times))
        reachable = needed <= length + 1
        some = acceptance_for_tokens(np.where(reachable, np.maximum(needed, 1.0), 1.0), length)
        return plain(np.where(reachable, some, np.inf))

    def draft_budget(self, *, gamma: Any, B: Any, S: Any, target: Any = 1.0) -> Any:
        """The most that drafting γ tokens may cost for a speedup of ``target``, in seconds a round;
        negative where none is cheap enough."""
        length, times = self.times(gamma, B, S)
        del times["C_draft"]
        tokens = self.tokens(gamma=length, S=S)
        return speculation.draft_budget(N=tokens, target_speedup=target, **times)

    def fraction_budget(self, *, gamma: Any, B: Any, S: Any, target: Any = 1.0) -> Any:
        """The same for each drafted token, as a fraction c of a plain step; DomainError for
        γ = 0."""
        length, times = self.times(gamma, B, S)
        if np.any(length == 0):
            raise DomainError("gamma = 0 drafts nothing, so that nothing can be spent on a token")
        del times["C_draft"]
        tokens = self.tokens(gamma=length, S=S)
        known = {"gamma": length, "target_speedup": target}
        return speculation.fraction_budget(N=tokens, **known, **times)

    def marginal_price(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Price r of a marginal verify token relative to an average one, in a verify pass of γ
        drafted tokens: ∂log C/∂log T at T = γ + 1."""
        length, (batch, context) = self.length(gamma), self.points(B, S)
        cost = self.step_cost("marginal prices")
        return cost.marginal_prices(B=batch, T=length + 1, S=context)["step"]

    def marginal_return(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """What the last of γ drafted tokens brings over what it costs: it pays where this exceeds
        1; infinite where it costs nothing.

        A local rule: where it falls below 1 a still longer draft may pay again.  Raises DomainError
        for γ = 0.
        """
        length, times = self.times(gamma, B, S)
        if np.any(length == 0):
            raise DomainError("gamma = 0 has no last token; returns are those of γ = 1, 2, …")
        before = self.times(length - 1, B, S)[1]
        whole, less = (t["C_verify"] + t["C_draft"] for t in (times, before))
        context = S if self.acceptance.needs_context else None
        adds = np.asarray(whole - less)
        some = speculation.marginal_return(
            sigma=self.acceptance.survival(length, context),
            C=less,
            N=self.tokens(gamma=length - 1, S=S),
            dC=np.where(adds > 0, adds, 1.0),
        )
        return plain(np.where(adds > 0, some, np.inf))
