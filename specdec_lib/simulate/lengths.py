"""Lengths: how many tokens the prompts and the answers of requests have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Lengths(ABC):
    """A law of token counts; ``low`` and ``high`` are its ends."""

    low: int
    high: int

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """``count`` lengths."""


class Constant(Lengths):
    """Always the same number of tokens.  Raises as :func:`counted`."""

    def __init__(self, tokens: int) -> None:
        self.low = self.high = counted("a length", tokens)

    def __repr__(self) -> str:
        return f"Constant({self.low})"

    def draw(self, rng: np.random.Generator, count: int) -> Ints:  # noqa: ARG002
        """See :meth:`Lengths.draw`."""
        return np.full(count, self.low)


class Between(Lengths):
    """Every number of tokens from ``low`` to ``high`` alike, both ends included.

    Raises ValueError for ends that are no range, and as :func:`counted`.
    """

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = counted("low", low), counted("high", high)
        if self.low > self.high:
            raise ValueError(f"lengths from {low} to {high} run backwards")

    def __repr__(self) -> str:
        return f"Between({self.low}, {self.high})"

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """See :meth:`Lengths.draw`."""
        return rng.integers(self.low, self.high + 1, size=count)


class Lognormal(Lengths):
    """Most requests short and a few long: a lognormal law about a ``median``, cut at its ends.

    ``spread`` is the standard deviation of the logarithm, 1 for a ratio of e; ``low`` and ``high``
    are the ends, beyond which a length counts as that end.  Raises ValueError for what is no such
    law, and as :func:`counted`.
    """

    def __init__(self, median: int, spread: float, *, high: int, low: int = 1) -> None:
        self.median = counted("median", median)
        self.low, self.high = counted("low", low), counted("high", high)
        if not (spread >= 0 and np.isfinite(spread)):
            raise ValueError(f"spread = {spread!r:.40} is no standard deviation")
        if not self.low <= self.median <= self.high:
            raise ValueError(f"a median of {median} lies outside {low} to {high}")
        self.spread = float(spread)

    def __repr__(self) -> str:
        return f"Lognormal({self.median}, {self.spread:g}, low={self.low}, high={self.high})"

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """See :meth:`Lengths.draw`."""
        drawn = np.rint(rng.lognormal(np.log(self.median), self.spread, size=count))
        return np.clip(drawn, self.low, self.high).astype(np.int64)


class Replayed(Lengths):
    """Lengths drawn from those of a log, each as often as it is there.

    Raises ValueError for an empty list, and as :func:`counted`.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = np.array([counted("a length", each) for each in tokens], dtype=np.int64)
        if not len(self.tokens):
            raise ValueError("a log without a length cannot be replayed")
        self.low, self.high = int(self.tokens.min()), int(self.tokens.max())

    def __repr__(self) -> str:
        return f"Replayed({len(self.tokens)} lengths)"

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """See :meth:`Lengths.draw`."""
        return rng.choice(self.tokens, size=count)


def counted(what: str, value: object, least: int = 1) -> int:
    """A whole number of at least ``least``.  Raises TypeError or ValueError, saying ``what``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{what} = {value!r:.60} is no whole number")
    if value < least:
        raise ValueError(f"{what} = {value}: it must be {least} or more")
    return int(value)


def as_lengths(what: str, value: Lengths | int) -> Lengths:
    """A law of lengths; a whole number is a constant.  Raises TypeError or ValueError."""
    return value if isinstance(value, Lengths) else Constant(counted(what, value))
