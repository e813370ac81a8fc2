"""AcceptanceCurve: how often drafted tokens survive, whatever describes it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.formulas.acceptance import conditional_acceptance, extended_tokens

Floats = NDArray[np.float64]


def whole(keyword: str, value: Any) -> Floats:
    """``value`` as float64, checked to be whole numbers of zero or more.

    Raises TypeError for what is no real number, DomainError, naming the first bad one, otherwise.
    """
    numbers = np.asarray(as_float(keyword, value))
    bad = ~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))
    if bad.any():
        raise DomainError(
            f"{keyword} = {float(numbers[bad].flat[0])!r} is no whole number of tokens from 0 on"
        )
    return numbers


def plain(values: Floats) -> Any:
    """A float for a scalar, else the array."""
    return float(values) if np.ndim(values) == 0 else values


class AcceptanceCurve(ABC):
    """How the tokens of a draft survive verification.

    Position i of a draft is accepted with a rate α_i, given that all before it were; its survival
    σ_i is the chance that it and all before it are.  A step commits N = 1 + Σ σ_i tokens, the bonus
    token included: between 1 and γ + 1.

    Parameters of a curve may be arrays; they broadcast with what its methods are given.  A curve
    that depends on the context wants ``S``, the others do without.
    """

    @property
    def longest(self) -> float:
        """The longest draft that the curve knows; infinity where it goes on for ever."""
        return math.inf

    @property
    def needs_context(self) -> bool:
        """Whether the curve depends on the context."""
        return False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The common shape of its parameters; () where all are plain numbers."""

    @abstractmethod
    def sliced(self, cut: Callable[[Floats], Floats]) -> Self:
        """The curve whose parameters are what ``cut`` makes of each: a part of a large grid."""

    @abstractmethod
    def _survivals(self, longest: int, S: Floats | None) -> Iterator[Floats]:
        """Survival at the positions 1, 2, …, ``longest``, one array a position."""

    def survival(self, positions: Any, S: Any = None) -> Any:
        """Chance that the draft is right up to and including a position; 1 at position 0.

        ``positions`` are whole numbers and broadcast with the parameters and the context.  Raises
        DomainError beyond what the curve knows, TypeError for a missing context.
        """
        wanted, context = self._arguments(positions, S)
        found = np.ones(self._shape_with(wanted, context))
        for i, sigma in enumerate(self._survivals(_last(wanted), context), start=1):
            found = np.where(wanted == i, sigma, found)
        return plain(found)

    def rates(self, positions: Any, S: Any = None) -> Any:
        """Acceptance rate of a position, from 1 on, given that all before it were accepted; 0 where
        none comes so far.  Arguments and errors as for :meth:`survival`."""
        wanted = whole("gamma", positions)
        if np.any(wanted < 1):
            raise DomainError("positions of a draft count from 1")
        before = self.survival(wanted - 1, S)
        return conditional_acceptance(sigma_1=before, sigma_2=self.survival(wanted, S))

    def tokens(self, gamma: Any, S: Any = None) -> Any:
        """Expected tokens that a step with a draft of ``gamma`` commits, the bonus token included.

        ``gamma`` is a whole number or an array of them; arguments and errors as for
        :meth:`survival`.
        """
        wanted, context = self._arguments(gamma, S)
        found = np.ones(self._shape_with(wanted, context))
        lengths = self.by_length(_last(wanted), context)
        for length, tokens in enumerate(lengths):
            found = np.where(wanted == length, tokens, found)
        return plain(found)

    def by_length(self, longest: int, S: Floats | None = None) -> Iterator[Floats]:
        """Expected tokens of drafts of 0, 1, …, ``longest``, one array a length: what a search over
        all lengths needs."""
        tokens: Floats = np.ones(())
        yield tokens
        for length, sigma in enumerate(self._survivals(longest, S), start=1):
            # a sum of probabilities may exceed its bounds in its last digit
            tokens = np.minimum(extended_tokens(N=tokens, sigma=sigma), length + 1.0)
            yield tokens

    # --- arguments -------------------------------------------------------------------------------

    def _arguments(self, positions: Any, S: Any) -> tuple[Floats, Floats | None]:
        wanted = whole("gamma", positions)
        if wanted.size and wanted.max() > self.longest:
            raise DomainError(
                f"{self!r} knows {self.longest:g} positions, not {wanted.max():g}; say what comes "
                "beyond them, or draft less"
            )
        return wanted, self.context(S)

    def context(self, S: Any) -> Floats | None:
        """The context as an array, None for a curve that does not depend on it.

        Raises TypeError where one is needed and missing, DomainError where it is not positive.
        """
        if not self.needs_context:
            return None
        if S is None:
            raise TypeError(f"{self!r} depends on the context: give S, the tokens of it")
        context = np.asarray(as_float("S", S))
        check(repr(self), {"S": context})
        return context

    def _shape_with(self, wanted: Floats, context: Floats | None) -> tuple[int, ...]:
        shapes = [wanted.shape, self.shape]
        if context is not None:
            shapes.append(context.shape)
        return np.broadcast_shapes(*shapes)


def _last(wanted: Floats) -> int:
    return int(wanted.max()) if wanted.size else 0
