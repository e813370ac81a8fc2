"""Claims, their parts, and the trials that decide them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specdec_lib.ledger.measures import MEASURES
from specdec_lib.ledger.verdict import of_parts, of_trials

#: On what a trial was held.
ENGINES: tuple[str, ...] = ("ideal", "real", "measured")


@dataclass(frozen=True)
class Trial:
    """One number that decides a claim.

    ``engine`` is "ideal" (the roofline), "real" (the typical deployment) or "measured" (published
    timings and counts); ``says`` what is measured, in words; ``measure`` its name in
    :data:`~specdec_lib.ledger.measures.MEASURES` and ``at`` the arguments; the claim is true there
    if the value is ``at_least`` and ``at_most`` these bounds.  ``printed`` is the value as the page
    shows it, and ``stated`` the outcome that the page tells.
    """

    engine: str
    says: str
    measure: str
    at: Mapping[str, Any] = field(hash=False)
    at_least: float | None
    at_most: float | None
    printed: str
    stated: bool

    @functools.cached_property
    def value(self) -> float:
        """The number, computed now."""
        return float(MEASURES[self.measure](**self.at))

    @property
    def holds(self) -> bool:
        """Whether the claim is true here, by the number that is computed."""
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    @property
    def bar(self) -> str:
        """What the value must be for the claim to be true, in words."""
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)


@dataclass(frozen=True)
class Part:
    """A part of a claim that can be true or false by itself, and its trials."""

    says: str
    trials: tuple[Trial, ...]
    stated: str

    @property
    def verdict(self) -> str:
        """By the numbers that are computed."""
        return of_trials(trial.holds for trial in self.trials)


@dataclass(frozen=True)
class Claim:
    """A claim of the book: ``name`` is "C1" to "C18", ``chapters`` the files that settle it."""

    name: str
    statement: str
    derivation: str
    conditions: str
    chapters: tuple[str, ...]
    parts: tuple[Part, ...]
    stated: str

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials of all parts."""
        return tuple(trial for part in self.parts for trial in part.trials)

    @property
    def verdict(self) -> str:
        """The verdict on the claim as stated, by the numbers that are computed."""
        return of_parts(part.verdict for part in self.parts)
