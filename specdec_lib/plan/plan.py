"""Plan: the speedup of speculative decoding, its best draft length, and what stands in its way."""

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
from specdec_lib.formulas import speculation
from specdec_lib.plan import regimes
from specdec_lib.plan.best import Best
from specdec_lib.plan.search import search


class Plan:
    """A target, a drafter and an acceptance: Sp = N·C₀ / (C_verify + C_draft).

    Arguments of its methods are keyword-only and broadcast with each other and with the parameters
    of the acceptance.  Raises TypeError for what is none of these.

    Parameters
    ----------
    cost
        The target's StepCost; a Formula in B, T and S in its place gives speedups, but no
        latencies and no regimes.
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
        self.cost = self.draft.target

    def __repr__(self) -> str:
        return f"Plan({self.cost!r}, {self.drafter!r}, {self.acceptance!r})"

    # --- the speedup -----------------------------------------------------------------------------

    def speedup(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Tokens per second with drafts of γ tokens over those without; exactly 1 for γ = 0.

        Scalars give a float, arrays an array.  Raises DomainError for a γ that is no whole number
        or beyond what drafter, acceptance or a measured verify curve know, and outside any other
        domain; TypeError for what is no real number.
        """
        length, times = self._times(gamma, B, S)
        tokens = self.acceptance.tokens(length, self._context(S))
        return speculation.speedup(N=tokens, **times)

    def best(self, *, B: Any, S: Any, gamma_max: int = 16) -> Best:
        """The best of all draft lengths from 0 to ``gamma_max`` at every point.

        Lengths that drafter, acceptance or a measured verify curve do not know are not tried, which
        a warning says.  Lengths whose speedups agree within 1e-12 count as equal, and the shorter
        one is taken.  Errors as for :meth:`speedup`.
        """
        batch, context = self._points(B, S)
        longest, warnings = self._longest(gamma_max)
        found = search(self.draft, self.acceptance, batch, context, longest)
        return Best.of(found, longest, warnings, lambda g: self._codes(g, batch, context))

    def regime(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """What takes most of the target's step with drafts of γ tokens: "overhead", "expert",
        "weight", "kv" or "compute".

        Raises TypeError for a plan on a Formula, which has no components.
        """
        batch, context = self._points(B, S)
        names = np.asarray(regimes.REGIMES)[self._codes(self._length(gamma), batch, context)]
        return str(names) if names.ndim == 0 else names

    def _codes(self, gamma: Any, B: Floats, S: Floats) -> Any:
        width = np.asarray(gamma, dtype=np.float64) + 1
        return regimes.codes(self._step_cost("regimes"), B, width, S)

    # --- arguments -------------------------------------------------------------------------------

    def _step_cost(self, wanted: str) -> StepCost:
        if not isinstance(self.cost, StepCost):
            raise TypeError(f"{self!r} has no {wanted}: its target is a Formula; give a StepCost")
        return self.cost

    def _points(self, B: Any, S: Any) -> tuple[Floats, Floats]:
        batch, context = np.asarray(as_float("B", B)), np.asarray(as_float("S", S))
        check("plan", {"B": batch, "S": context})
        return batch, context

    def _length(self, gamma: Any) -> Floats:
        length = whole("gamma", gamma)
        for most, who in self._limits():
            if length.size and length.max() > most:
                raise DomainError(f"gamma = {length.max():g}: {who} goes up to {most:g}")
        return length

    def _context(self, S: Any) -> Any:
        return S if self.acceptance.needs_context else None

    def _times(self, gamma: Any, B: Any, S: Any) -> tuple[Floats, dict[str, Any]]:
        """The draft lengths, and C_0, C_verify and C_draft as the formulas take them."""
        length = self._length(gamma)
        batch, context = self._points(B, S)
        price = np.asarray(self.cost(B=batch, T=1, S=context))
        verify = np.asarray(self.cost(B=batch, T=length + 1, S=context))
        drafting = self.draft.prepared(batch, context, price)(np.maximum(length, 1))
        return length, {
            "C_0": plain(price),
            "C_verify": plain(np.where(length == 0, price, verify)),
            "C_draft": plain(np.where(length == 0, 0.0, drafting)),
        }

    def _limits(self) -> list[tuple[float, str]]:
        limits = [
            (self.draft.longest, self.draft.name),
            (self.acceptance.longest, f"{self.acceptance!r}"),
        ]
        if isinstance(self.cost, StepCost) and self.cost.deployment.verify_curve is not None:
            limits.append(
                (self.cost.deployment.verify_curve.widest - 1, "the measured verify curve")
            )
        return limits

    def _longest(self, gamma_max: Any) -> tuple[int, tuple[str, ...]]:
        """The longest draft to try, and what to say where it is not the one asked for."""
        try:
            asked = operator.index(gamma_max)
        except TypeError:
            raise TypeError(f"gamma_max = {gamma_max!r} is no whole number") from None
        if asked < 0:
            raise DomainError(f"gamma_max = {asked}: a draft has 0 or more tokens")
        said = [
            f"drafts of up to {most:g} tokens were tried, not {asked}: {who} goes no further"
            for most, who in self._limits()
            if most < asked
        ]
        return int(min(asked, *(most for most, _ in self._limits()))), (*self.draft.warnings, *said)
