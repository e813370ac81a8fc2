"""FirstStage: a cheap pass that prunes drafts before the full one, and what it leaves of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control.compiled import compiled
from specdec_lib.formula.domain import as_scalar, check
from specdec_lib.formulas.speculation import kept_right, kept_wrong

_right = compiled(kept_right, "sigma", "alpha", "keep_good")
_wrong = compiled(kept_wrong, "keep_bad", "wrong", "alpha", "sigma")


@dataclass(frozen=True)
class FirstStage:
    """A first stage that cuts a draft at the first token that it does not keep.

    It is told apart by what it costs and how well it separates; whether pruning changes the output
    is another question, which :mod:`specdec_lib.acceptance.pruning` plays out.

    Parameters
    ----------
    cost
        φ: its cost as a fraction of a plain step of the same batch.
    keep_good, keep_bad
        Chances that it keeps a token that the target would accept, and one that it would reject.

    Raises DomainError or TypeError for what lies outside the domain of its symbol.
    """

    cost: float
    keep_good: float
    keep_bad: float

    def __post_init__(self) -> None:
        for field, symbol in (("cost", "phi"), ("keep_good",) * 2, ("keep_bad",) * 2):
            value = as_scalar(symbol, getattr(self, field))
            check("first stage", {symbol: np.float64(value)})
            object.__setattr__(self, field, value)

    def surviving(self, rates: Sequence[float]) -> Iterator[tuple[float, float]]:
        """For positions 1, 2, … of acceptance ``rates``: the chances that a draft is kept up to
        there and right, and that it is kept and wrong somewhere."""
        right, wrong = 1.0, 0.0
        for alpha in rates:
            right, wrong = (
                float(_right(right, alpha, self.keep_good)),
                float(_wrong(self.keep_bad, wrong, alpha, right)),
            )
            yield right, wrong

    def lengths(self, rates: Sequence[float]) -> Floats:
        """For drafts of 0, 1, … tokens, as many as there are ``rates``, the chances that 0, 1, … of
        them reach the full pass: [draft length, surviving length]."""
        least = np.array([1.0, *(sum(pair) for pair in self.surviving(rates))])
        count = len(least)
        # a draft ends at a length where one token more would be dropped, or where it was cut short
        dropped = np.append(np.maximum(-np.diff(least), 0.0), 0.0)  # rounding
        return np.tril(np.tile(dropped, (count, 1)), -1) + np.diag(least)


def total_lengths(of_one: Floats, batch: int) -> Floats:
    """The chances of the total length of ``batch`` drafts whose lengths are independent: the law of
    one draft, the last axis, convolved with itself.

    It is computed in Fourier space; chances below the rounding of that count as zero.
    """
    size = (of_one.shape[-1] - 1) * batch + 1
    powers = np.fft.rfft(of_one, size) ** batch
    chances = np.maximum(np.fft.irfft(powers, size), 0.0)
    return np.asarray(chances / chances.sum(axis=-1, keepdims=True))
