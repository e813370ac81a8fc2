"""Terms: the arguments of a plan, checked, and the three times of which a speedup is made."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from specdec_lib.acceptance import AcceptanceCurve
from specdec_lib.acceptance.curve import Floats, plain, whole
from specdec_lib.cost import StepCost
from specdec_lib.drafters import Drafter, Law
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import DomainError, as_float, check


class Terms:
    """A target, a drafter and an acceptance, and what follows from them for given γ, B and S.

    Raises TypeError for what is none of these, ValueError where they do not fit together.
    """

    def __init__(
        self, cost: StepCost | Formula | Law, drafter: Drafter, acceptance: AcceptanceCurve
    ) -> None:
        for given, wanted, example in (
            (drafter, Drafter, "drafters.fraction(0.10)"),
            (acceptance, AcceptanceCurve, "Geometric(0.75)"),
        ):
            if not isinstance(given, wanted):
                raise TypeError(f"a plan needs {example} or its like, not {given!r:.60}")
        self.drafter = drafter
        self.acceptance = acceptance
        self.draft = drafter.on(cost)
        self.cost: StepCost | Law = self.draft.target

    def __repr__(self) -> str:
        return f"Plan({self.cost!r}, {self.drafter!r}, {self.acceptance!r})"

    def step_cost(self, wanted: str) -> StepCost:
        """The target's StepCost; TypeError, saying what is ``wanted``, where it is a Formula."""
        if not isinstance(self.cost, StepCost):
            raise TypeError(f"{self!r} has no {wanted}: its target is a Formula; give a StepCost")
        return self.cost

    def points(self, B: Any, S: Any) -> tuple[Floats, Floats]:
        """Batch and context as arrays in their domains."""
        batch, context = np.asarray(as_float("B", B)), np.asarray(as_float("S", S))
        check("plan", {"B": batch, "S": context})
        return batch, context

    def length(self, gamma: Any) -> Floats:
        """Draft lengths that are whole and that drafter, acceptance and a verify curve know."""
        length = whole("gamma", gamma)
        for most, who in self.limits():
            if length.size and length.max() > most:
                raise DomainError(f"gamma = {length.max():g}: {who} goes up to {most:g}")
        return length

    def tokens(self, *, gamma: Any, S: Any = None) -> Any:
        """Expected tokens a step with drafts of γ tokens; a context is needed where the acceptance
        depends on it."""
        return self.acceptance.tokens(gamma, S if self.acceptance.needs_context else None)

    def times(self, gamma: Any, B: Any, S: Any) -> tuple[Floats, dict[str, Any]]:
        """The draft lengths, and C_0, C_verify and C_draft as the formulas take them.

        Without a draft the verify pass is the plain step itself, to the last digit.
        """
        length = self.length(gamma)
        batch, context = self.points(B, S)
        price = np.asarray(self.cost(B=batch, T=1, S=context))
        verify = np.asarray(self.cost(B=batch, T=length + 1, S=context))
        drafting = self.draft.prepared(batch, context, price)(np.maximum(length, 1))
        return length, {
            "C_0": plain(price),
            "C_verify": plain(np.where(length == 0, price, verify)),
            "C_draft": plain(np.where(length == 0, 0.0, drafting)),
        }

    # --- how long a draft may be -----------------------------------------------------------------

    def limits(self) -> list[tuple[float, str]]:
        """The longest drafts that are known, and to whom."""
        found = [
            (self.draft.longest, self.draft.name),
            (self.acceptance.longest, repr(self.acceptance)),
        ]
        if isinstance(self.cost, StepCost) and self.cost.deployment.verify_curve is not None:
            widest = self.cost.deployment.verify_curve.widest
            found.append((widest - 1, "the measured verify curve"))
        return found

    def longest(self, gamma_max: Any) -> tuple[int, tuple[str, ...]]:
        """The longest draft to try, and what to say where it is not the one asked for."""
        try:
            asked = operator.index(gamma_max)
        except TypeError:
            raise TypeError(f"gamma_max = {gamma_max!r:.60} is no whole number") from None
        if isinstance(gamma_max, bool):
            raise TypeError(f"gamma_max = {gamma_max} is no whole number")
        if asked < 0:
            raise DomainError(f"gamma_max = {asked}: a draft has 0 or more tokens")
        known = [(most, who) for most, who in self.limits() if most < asked]
        said = tuple(
            f"drafts of up to {most:g} tokens were tried, not {asked}: {who} goes no further"
            for most, who in known
        )
        return int(min((most for most, _ in known), default=asked)), said

    # --- what to say -----------------------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before believing a number of this plan."""
        return (*self.draft.warnings, *self._kernels())

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was taken for granted, of the target and of the drafter."""
        of_target = self.cost.assumptions if isinstance(self.cost, StepCost) else ()
        return (*of_target, *self.draft.assumptions)

    def _kernels(self) -> tuple[str, ...]:
        if not isinstance(self.cost, StepCost) or self.cost.deployment.verify_curve is not None:
            return ()
        set_up = self.cost.deployment
        fixed = set_up.step_overhead or set_up.layer_overhead or set_up.token_overhead
        engine = "" if fixed else " and the ideal engine has no fixed times"
        return (
            "verify passes are priced with kernels that read weights once for all tokens of a step"
            f"{engine}: a bound, not a forecast. Where a pass of γ + 1 tokens takes nearly γ + 1 "
            "plain steps, the small-batch kernels are to blame and speculation is off; time a step "
            "of width 1 and one of width γ + 1, and give them as the deployment's verify_curve",
        )
