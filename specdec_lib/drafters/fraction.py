"""A drafter that is a fraction of a plain step: the simplest there is, and no model at all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.cost import StepCost
from specdec_lib.cost.part import bare
from specdec_lib.drafters.draft import Draft, Drafter
from specdec_lib.drafters.target import Law
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import as_scalar, check
from specdec_lib.formulas.speculation import fraction_draft
from specdec_lib.symbols import T


class Fraction(Drafter):
    """Each drafted token costs ``c`` of a plain step of the target, C(B, 1, S), and nothing else.

    Raises DomainError for a negative fraction, TypeError for what is no number.
    """

    def __init__(self, c: float) -> None:
        self.c = as_scalar("c", c)
        check("drafter", {"c": np.float64(self.c)})
        self.name = f"a fraction {self.c:g} of a plain step"

    def __repr__(self) -> str:
        return f"fraction({self.c:g})"

    def _on(self, target: StepCost | Law) -> Draft:
        return FractionDraft(self, target)


class FractionDraft(Draft):
    """What a :class:`Fraction` of a target costs."""

    assumptions = ("a drafted token costs a fixed fraction of a plain step, whatever drafts it",)

    def __init__(self, drafter: Fraction, target: StepCost | Law) -> None:
        super().__init__(drafter.name, target)
        self.c = drafter.c

    @functools.cached_property
    def formula(self) -> Formula:
        """The cost as a Formula in γ, B and S."""
        return self.general.where(c=self.c)

    @functools.cached_property
    def general(self) -> Formula:
        """The same for any fraction: in c as well."""
        return fraction_draft.where(C_0=bare(self.target.expr).subs(T, 1))

    def prepared(self, B: Floats, S: Floats, price: Floats) -> Callable[[Floats], Floats]:
        """See :meth:`Draft.prepared`."""
        del B, S  # the price of a plain step is all that it depends on
        return lambda gamma: np.asarray(fraction_draft(c=self.c, gamma=gamma, C_0=price))

    def _shares(self, gamma: Floats, B: Floats, S: Floats) -> Mapping[str, Any]:
        price = np.asarray(self.target(B=B, T=1, S=S))
        return {"whole": self.prepared(B, S, price)(gamma)}
