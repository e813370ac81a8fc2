"""Curves from measurements by position: rates, survivals, or counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from specdec_lib.acceptance.curve import AcceptanceCurve, Floats, whole
from specdec_lib.acceptance.depth import rate
from specdec_lib.formula.domain import DomainError
from specdec_lib.formulas.acceptance import conditional_acceptance, extended_survival

Beyond = Literal["zero", "repeat"]


@dataclass(frozen=True)
class Counts:
    """What an engine counted: verify steps, and by position how many of them accepted it."""

    steps: int
    accepted: tuple[int, ...]


class PerPosition(AcceptanceCurve):
    """Acceptance measured position by position.

    Engines print two different lists: conditional rates, of a position given that all before it
    were accepted, and survivals, of all up to it, which can only fall.  So a curve is made by name,
    :meth:`conditional` or :meth:`survivals`, and a bare list is refused.

    Beyond its last position the curve is unknown and refuses longer drafts, unless ``beyond`` says
    "zero" (nothing more is accepted) or "repeat" (with the last rate).

    Examples
    --------
    >>> round(PerPosition.conditional([0.8, 0.7, 0.6]).tokens(3), 3)
    2.696
    >>> round(PerPosition.survivals([0.844, 0.599, 0.385, 0.271]).tokens(4), 3)
    3.099
    """

    counts: Counts | None = None

    def __init__(self, *lists: Any) -> None:
        raise TypeError(
            "a list of rates says not which they are: PerPosition.conditional([…]) for rates given "
            "that all before were accepted, PerPosition.survivals([…]) for those of all up to each "
            f"position (given: {', '.join(f'{values!r:.40}' for values in lists) or 'nothing'})"
        )

    @classmethod
    def conditional(cls, rates: Sequence[Any] | Floats, *, beyond: Beyond | None = None) -> Self:
        """From the acceptance rates of positions 1, 2, …, each given that all before it were
        accepted; elements may be arrays.

        Raises DomainError for a rate outside [0, 1] or no position at all.
        """
        sigma: Any = 1.0
        survivals: list[Any] = []
        for i, alpha in enumerate(rates, start=1):
            sigma = extended_survival(sigma=sigma, alpha=rate(f"position {i}", "alpha", alpha))
            survivals.append(sigma)
        return cls._made(survivals, beyond)

    @classmethod
    def survivals(cls, chances: Sequence[Any] | Floats, *, beyond: Beyond | None = None) -> Self:
        """From the chances that all positions up to 1, 2, … are accepted; elements may be arrays.

        Raises DomainError for a chance outside [0, 1], one that rises, or no position at all.
        """
        found = [rate(f"position {i}", "sigma", s) for i, s in enumerate(chances, start=1)]
        for i, (before, after) in enumerate(itertools.pairwise(found), start=2):
            if np.any(after > before):
                raise DomainError(
                    f"survival rises at position {i}, from {float(np.min(before)):g} to "
                    f"{float(np.max(after)):g}: it can only fall; are these conditional rates?"
                )
        return cls._made(found, beyond)

    @classmethod
    def from_counts(
        cls, steps: int, accepted: Sequence[int], *, beyond: Beyond | None = None
    ) -> Self:
        """From an engine's counters: verify steps, and by position the steps that accepted it.

        The counts stay with the curve, in ``counts``.  Raises DomainError for what no engine can
        count: a position accepted more often than there were steps, or than the one before it.
        """
        number, hits = whole("N", steps), whole("N", accepted)
        if number.ndim or number < 1 or hits.ndim != 1:
            raise DomainError(
                "counts are one number of steps, at least 1, and one list by position"
            )
        known = Counts(int(number), tuple(int(hit) for hit in hits))
        most, name = known.steps, "steps"
        for i, hit in enumerate(known.accepted, start=1):
            if hit > most:
                raise DomainError(
                    f"position {i} was accepted {hit} times, and there were {most} {name}; does a "
                    "counter include the bonus token, or another number of steps?"
                )
            most, name = hit, f"that accepted position {i}"
        made = cls.survivals([hit / known.steps for hit in known.accepted], beyond=beyond)
        made.counts = known
        return made

    @classmethod
    def _made(cls, survivals: list[Any], beyond: Beyond | None) -> Self:
        if not survivals:
            raise DomainError("a curve by position needs at least one position")
        if beyond not in (None, "zero", "repeat"):
            raise ValueError(f"beyond = {beyond!r}; it is 'zero' or 'repeat', or is not given")
        made = cls.__new__(cls)
        made._sigmas = tuple(np.asarray(sigma, dtype=np.float64) for sigma in survivals)
        made._beyond = beyond
        return made

    _sigmas: tuple[Floats, ...]
    _beyond: Beyond | None

    def __repr__(self) -> str:
        return f"PerPosition({len(self._sigmas)} positions, beyond={self._beyond!r})"

    @property
    def positions(self) -> int:
        """Positions that were measured."""
        return len(self._sigmas)

    @property
    def longest(self) -> float:
        """The measured positions, or no limit where ``beyond`` says what follows."""
        return self.positions if self._beyond is None else math.inf

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of the elements."""
        return np.broadcast_shapes(*(sigma.shape for sigma in self._sigmas))

    def sliced(self, cut: Callable[[Floats], Floats]) -> Self:
        """See :meth:`AcceptanceCurve.sliced`."""
        return self._made([cut(sigma) for sigma in self._sigmas], self._beyond)

    def _survivals(self, longest: int, S: Floats | None) -> Iterator[Floats]:  # noqa: ARG002
        yield from self._sigmas[:longest]
        last = self._sigmas[-1]
        before = self._sigmas[-2] if self.positions > 1 else np.ones(())
        again = conditional_acceptance(sigma_1=before, sigma_2=last)
        if self._beyond == "zero":
            again = np.zeros(())
        for _ in range(self.positions, longest):
            last = np.asarray(extended_survival(sigma=last, alpha=again))
            yield last
