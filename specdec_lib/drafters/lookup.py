"""A drafter without a model: it looks up the text so far."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.cost import StepCost
from specdec_lib.drafters.draft import Draft, Drafter
from specdec_lib.drafters.target import Law
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import as_scalar, check
from specdec_lib.formulas.speculation import lookup_draft


class Lookup(Drafter):
    """A look-up of n-grams; a round costs ``host`` seconds beside what a round of any drafter
    costs in the target's deployment.

    Raises DomainError for a negative time.
    """

    def __init__(self, host: float = 0.0) -> None:
        self.host = as_scalar("t_round", host)
        check("n-gram drafter", {"t_round": np.float64(self.host)})
        self.name = "n-gram"

    def _on(self, target: StepCost | Law) -> Draft:
        if not isinstance(target, StepCost):
            raise TypeError(f"an n-gram drafter takes seconds: give a StepCost, not {target!r}")
        return LookupDraft(self, target)


class LookupDraft(Draft):
    """What a :class:`Lookup` costs beside a target."""

    assumptions = ("a round of n-gram drafting costs the same however long the draft and the text",)

    def __init__(self, drafter: Lookup, target: StepCost) -> None:
        super().__init__(drafter.name, target)
        self._round = drafter.host + target.deployment.round_overhead

    @functools.cached_property
    def formula(self) -> Formula:
        """The cost as a Formula in γ."""
        return lookup_draft.where(t_round=self._round)

    def prepared(self, B: Floats, S: Floats, price: Floats) -> Callable[[Floats], Floats]:
        """See :meth:`Draft.prepared`."""
        del B, S, price
        return lambda gamma: np.asarray(lookup_draft(gamma=gamma, t_round=self._round))

    def _shares(self, gamma: Floats, B: Floats, S: Floats) -> Mapping[str, Any]:
        del B, S
        return {"overhead": lookup_draft(gamma=gamma, t_round=self._round)}
