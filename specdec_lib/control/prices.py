"""Prices: the seconds of a round by batch, context and length, tabulated from a Plan.

A policy asks for prices in every round, and a StepCost answers in a fraction of a millisecond; the
table answers in microseconds.  Its rows hold numbers alone, so that it travels to other processes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.cost import StepCost
from specdec_lib.formula.domain import DomainError
from specdec_lib.plan import Plan
from specdec_lib.plan.regimes import codes

#: Contexts in the table for each doubling.
PER_DOUBLING = 6

#: Total lengths in the table for each token of the verify width, or the batch where that is less:
#: up to this batch every total length has its exact price, beyond it some lie between two.
PER_TOKEN = 16


class Row(NamedTuple):
    """The prices of one batch, the context along the first axis: seconds of the full pass by total
    length, of drafting and of the whole round by draft length, and what rules the step."""

    verify: Floats
    drafting: Floats
    rounds: Floats
    regimes: NDArray[np.int8] | None


class Prices:
    """Seconds of a round of B sequences in a mean context of S tokens.

    Batches and draft lengths are exact.  Between two contexts of the table, a twelfth or so apart,
    a price lies on a straight line.

    Parameters
    ----------
    plan
        Target and drafter; of its acceptance only the longest draft that it knows plays a part.
    contexts
        The shortest and the longest context that will be asked for, in tokens.
    gamma_max
        The longest draft.

    Raises DomainError for contexts that are no range above zero, and as Plan does for a length.
    """

    def __init__(self, plan: Plan, contexts: tuple[float, float], gamma_max: int = 16) -> None:
        low, high = (float(c) for c in contexts)
        if not (0 < low <= high and math.isfinite(high)):
            raise DomainError(f"contexts from {low:g} to {high:g} tokens are no range above zero")
        self.gamma_max, self.said = plan.longest(gamma_max)
        steps = math.ceil(PER_DOUBLING * math.log2(high / low))
        between = np.geomspace(low, high, steps + 1)[1:-1].tolist() if steps else []
        self.contexts: list[float] = [low, *between, high] if steps else [low]
        self.name = f"{plan.cost!r}, {plan.draft.name}"
        self._plan: Plan | None = plan
        self._rows: dict[int, Row] = {}
        self._last = (self.contexts[0], self._places(self.contexts[0]))

    def __repr__(self) -> str:
        return f"Prices({self.name}, up to {self.gamma_max} drafted)"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_plan": None}

    def prepare(self, batches: Iterable[int]) -> Prices:
        """Make the rows of some batches now: what another process will need, which has no plan."""
        for batch in batches:
            self._row(batch)
        return self

    # --- prices ----------------------------------------------------------------------------------

    def rounds(self, B: int, S: float) -> Floats:
        """Seconds of a round with drafts of 0, 1, …, ``gamma_max``; the first is a plain step."""
        return self._between(self._row(B).rounds, S)

    def verify(self, B: int, S: float) -> Floats:
        """Seconds of the full pass by what it verifies beyond one token a sequence: a draft of
        ``i / resolution(B)`` tokens of each on average."""
        return self._between(self._row(B).verify, S)

    def drafting(self, B: int, S: float) -> Floats:
        """Seconds of drafting 0, 1, …, ``gamma_max`` tokens."""
        return self._between(self._row(B).drafting, S)

    def verify_total(self, B: int, drafted: float, S: float) -> float:
        """Seconds of the full pass over drafts of ``drafted`` tokens in all."""
        row = self._row(B).verify
        place = drafted * self.resolution(B) / B
        first = min(int(place), row.shape[1] - 1)
        after = min(first + 1, row.shape[1] - 1)
        low, high, share = self._places_of(S)
        near = (1 - share) * row[low, first] + share * row[high, first]
        far = (1 - share) * row[low, after] + share * row[high, after]
        return float(near + (place - first) * (far - near))

    def seconds(self, B: int, gamma: int, S: float) -> float:
        """Seconds of a round with drafts of γ tokens."""
        row = self._row(B).rounds
        low, high, share = self._places_of(S)
        return float((1 - share) * row[low, gamma] + share * row[high, gamma])

    def regime(self, B: int, gamma: int, S: float) -> int | None:
        """What rules the target's step, a place in :data:`specdec_lib.plan.regimes.REGIMES`; None
        for a plan on a Formula, which has none."""
        found = self._row(B).regimes
        if found is None:
            return None
        low, high, share = self._places(S)
        return int(found[high if share > 0.5 else low, gamma])

    def resolution(self, B: int) -> int:
        """Total lengths in the table for each token of the verify width."""
        return min(B, PER_TOKEN)

    # --- the table -------------------------------------------------------------------------------

    def _places_of(self, S: float) -> tuple[int, int, float]:
        """The same, remembered: a round asks several times for one context."""
        if self._last[0] != S:
            self._last = (S, self._places(S))
        return self._last[1]

    def _places(self, S: float) -> tuple[int, int, float]:
        grid = self.contexts
        if not grid[0] <= S <= grid[-1]:
            raise DomainError(
                f"a context of {S:g} tokens lies outside the prices, which go from {grid[0]:g} to "
                f"{grid[-1]:g}"
            )
        high = min(bisect_right(grid, S), len(grid) - 1)
        low = max(high - 1, 0)
        width = grid[high] - grid[low]
        return low, high, (S - grid[low]) / width if width else 0.0

    def _between(self, rows: Floats, S: float) -> Floats:
        low, high, share = self._places_of(S)
        return np.asarray(rows[low] + share * (rows[high] - rows[low]))

    def _row(self, B: int) -> Row:
        found = self._rows.get(B)
        if found is None:
            found = self._rows[B] = self._made(B)
        return found

    def _made(self, B: int) -> Row:
        if self._plan is None:
            raise RuntimeError(f"prices of batch {B} were not prepared before they were sent")
        plan = self._plan
        batch, context = plan.points(B, np.asarray(self.contexts)[:, None])
        lengths = np.arange(self.gamma_max + 1.0)
        fine = self.resolution(B)
        extra = np.arange(self.gamma_max * fine + 1.0) / fine
        price = np.asarray(plan.cost(B=batch, T=1.0, S=context))
        verify = np.asarray(plan.cost(B=batch, T=1.0 + extra, S=context))
        verify = np.broadcast_to(verify, (len(self.contexts), len(extra)))
        some = np.asarray(plan.draft.prepared(batch, context, price)(np.maximum(lengths, 1.0)))
        drafting = np.where(lengths == 0, 0.0, np.broadcast_to(some, (len(price), len(lengths))))
        rounds = verify[:, ::fine] + drafting
        cost = plan.cost
        rules = codes(cost, batch, lengths + 1, context) if isinstance(cost, StepCost) else None
        return Row(np.ascontiguousarray(verify), drafting, rounds, rules)
