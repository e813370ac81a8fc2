"""Draft: what drafting for one target costs; Drafter: what drafts, before it has met one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_lib.acceptance.curve import Floats, plain, whole
from specdec_lib.cost import StepCost
from specdec_lib.drafters.target import Law, as_target
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import DomainError, as_float, check

#: What a draft's time is told apart into.
SHARES: tuple[str, ...] = ("weights", "experts", "kv", "head", "overhead", "communication", "whole")


class Drafter(ABC):
    """What drafts tokens; :meth:`on` gives its cost beside a target."""

    name: str

    @abstractmethod
    def _on(self, target: StepCost | Law) -> Draft:
        """The cost beside a target whose kind has been checked."""

    def on(self, target: StepCost | Law | Formula) -> Draft:
        """What drafting for this target costs.

        ``target`` is a StepCost; for a drafter that is a fraction of it, a Formula in B, T and S
        will do.  Raises TypeError for anything else, ValueError where the two do not fit together.
        """
        return self._on(as_target(target))

    def __repr__(self) -> str:
        return f"<drafter {self.name}>"


class Draft(ABC):
    """What it costs to draft γ tokens for each of B sequences of S context tokens.

    Arguments are keyword-only and broadcast; γ is a whole number of tokens, and no draft, γ = 0,
    costs exactly nothing.
    """

    def __init__(self, name: str, target: StepCost | Law) -> None:
        self.name = name
        self.target = target

    def __repr__(self) -> str:
        return f"<drafting by {self.name} for {self.target!r}>"

    #: What a reader should know before believing the cost.
    warnings: tuple[str, ...] = ()
    #: What was taken for granted.
    assumptions: tuple[str, ...] = ()

    @property
    def longest(self) -> float:
        """The longest draft of one round; infinity where there is no limit."""
        return math.inf

    @property
    @abstractmethod
    def formula(self) -> Formula:
        """The cost as a Formula in γ, B and S, for charts and derivations."""

    @abstractmethod
    def prepared(self, B: Floats, S: Floats, price: Floats) -> Callable[[Floats], Floats]:
        """The cost as a function of γ ≥ 1 alone, at points where a plain step costs ``price``; what
        does not depend on γ is computed once."""

    @abstractmethod
    def _shares(self, gamma: Floats, B: Floats, S: Floats) -> Mapping[str, Any]:
        """The parts of the cost for γ ≥ 1, by some of :data:`SHARES`."""

    def seconds(self, *, gamma: Any, B: Any, S: Any) -> Any:
        """Seconds to draft, in all the round; exactly 0 for γ = 0.

        Raises DomainError beyond the longest draft or outside a domain, TypeError for what is no
        real number.
        """
        length, batch, context = self._arguments(gamma, B, S)
        price = np.asarray(self.target(B=batch, T=1, S=context))
        some = self.prepared(batch, context, price)(np.maximum(length, 1))
        return _zeroed(length, some, np.broadcast_shapes(length.shape, batch.shape, context.shape))

    def breakdown(self, *, gamma: Any, B: Any, S: Any) -> dict[str, Any]:
        """The same seconds told apart: "weights", "experts", "kv" (attention over the drafter's own
        cache), "head", "overhead" and "communication", those that there are; "whole" for a drafter
        that is a fraction of its target.  They add up to :meth:`seconds`."""
        length, batch, context = self._arguments(gamma, B, S)
        found = self._shares(np.maximum(length, 1), batch, context)
        shape = np.broadcast_shapes(length.shape, batch.shape, context.shape)
        return {key: _zeroed(length, found[key], shape) for key in SHARES if key in found}

    def _arguments(self, gamma: Any, B: Any, S: Any) -> tuple[Floats, Floats, Floats]:
        length = whole("gamma", gamma)
        if length.size and length.max() > self.longest:
            raise DomainError(
                f"{self.name} drafts at most {self.longest:g} tokens a round, not {length.max():g}"
            )
        batch, context = np.asarray(as_float("B", B)), np.asarray(as_float("S", S))
        check(self.name, {"B": batch, "S": context})
        return length, batch, context


def _zeroed(length: Floats, values: Any, shape: tuple[int, ...]) -> Any:
    """Values over all points, exactly 0 where nothing is drafted."""
    return plain(np.where(np.broadcast_to(length == 0, shape), 0.0, values))
