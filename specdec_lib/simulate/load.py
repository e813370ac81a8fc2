"""Load: when requests come, and how many are served at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from specdec_lib.simulate.lengths import counted


class Closed:
    """``batch`` clients, each of which sends its next request when the last one is answered.

    Raises TypeError or ValueError for what is no batch.
    """

    def __init__(self, batch: int) -> None:
        self.batch = counted("batch", batch)

    def __repr__(self) -> str:
        return f"Closed({self.batch})"

    def arrivals(self, rng: np.random.Generator) -> Iterator[float]:  # noqa: ARG002
        """Requests are always there."""
        while True:
            yield 0.0


class Open:
    """Requests that come by themselves, at random with ``rate`` a second on average.

    At most ``batch`` are served at a time; the others wait in line.  With bursts the rate is
    ``peak`` for the first ``length`` of every ``period`` seconds, and ``rate`` in between.

    Raises TypeError or ValueError for rates, times or batches that are none.
    """

    def __init__(
        self,
        rate: float,
        batch: int,
        *,
        peak: float | None = None,
        period: float | None = None,
        length: float | None = None,
    ) -> None:
        self.batch = counted("batch", batch)
        self.rate = _positive("rate", rate)
        given = [value is not None for value in (peak, period, length)]
        if any(given) and not all(given):
            raise ValueError("bursts need all of peak, period and length")
        self.peak = self.rate if peak is None else _positive("peak", peak)
        self.period = math.inf if period is None else _positive("period", period)
        self.length = 0.0 if length is None else _positive("length", length)
        if self.length > self.period:
            raise ValueError(f"bursts of {length:g} s do not fit into a period of {period:g} s")

    def __repr__(self) -> str:
        bursts = f", bursts of {self.peak:g}/s" if self.length else ""
        return f"Open({self.rate:g}/s{bursts}, at most {self.batch})"

    def rate_at(self, time: float) -> float:
        """Requests a second at a time."""
        return self.peak if math.fmod(time, self.period) < self.length else self.rate

    def arrivals(self, rng: np.random.Generator) -> Iterator[float]:
        """The times at which requests come: those of the highest rate, thinned to the rate of the
        moment."""
        highest, time = max(self.rate, self.peak), 0.0
        while True:
            gaps = rng.exponential(1 / highest, size=1024)
            coins = rng.random(1024) * highest
            for gap, coin in zip(gaps.tolist(), coins.tolist(), strict=True):
                time += gap
                if coin < self.rate_at(time):
                    yield time


def _positive(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{what} = {value!r:.60} is no number")
    if not 0 < value < math.inf:
        raise ValueError(f"{what} = {value}: it must be a number above zero")
    return float(value)
