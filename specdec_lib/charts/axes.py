"""Axes: the values that a chart runs over, the points it computes there, and their ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Span", "around", "log_ticks", "padded", "value_axis"]

#: Points of a curve: smooth to the eye at any width, and redrawn well within a frame.
POINTS = 200
MOST_WHOLE = 300


@dataclass(frozen=True)
class Span:
    """What a numeric axis runs over, in base units: an interval or a range of whole numbers."""

    low: float
    high: float
    log: bool = False
    step: int | None = None

    @classmethod
    def of(cls, over: tuple[float, float] | range, log: bool) -> Span:
        """From what a caller writes: ``(low, high)``, or ``range(1, 17)`` for whole numbers.

        Raises ValueError for a range that is empty, backwards, not finite, too long to draw, or
        without a logarithm.
        """
        if isinstance(over, range):
            if not 2 <= len(over) <= MOST_WHOLE or over.step < 1:
                raise ValueError(
                    f"{over} has {len(over)} values; an axis takes 2 to {MOST_WHOLE}, upwards"
                )
            span = cls(over[0], over[-1], log, over.step)
        else:
            low, high = (float(end) for end in over)
            span = cls(low, high, log)
        if not (math.isfinite(span.low) and math.isfinite(span.high) and span.low < span.high):
            raise ValueError(f"an axis cannot run from {span.low:g} to {span.high:g}")
        if log and span.low <= 0:
            raise ValueError(f"a logarithmic axis cannot start at {span.low:g}")
        return span

    def samples(self) -> np.ndarray:
        """The values that :meth:`data` and :meth:`expression` give in Vega, by NumPy."""
        if self.step is not None:
            return np.arange(self.low, self.high + self.step / 2, self.step, dtype=np.float64)
        if self.log:
            return np.geomspace(self.low, self.high, POINTS)
        return np.linspace(self.low, self.high, POINTS)

    def data(self) -> dict[str, Any]:
        """The rows of the chart: a counter named ``i``."""
        if self.step is not None:
            stop = int(self.high) + self.step
            return {
                "sequence": {"start": int(self.low), "stop": stop, "step": self.step, "as": "i"}
            }
        return {"sequence": {"start": 0, "stop": POINTS, "step": 1, "as": "i"}}

    def expression(self) -> str:
        """The value at the counter ``i`` in Vega."""
        if self.step is not None:
            return "datum.i"
        share = f"datum.i / {POINTS - 1}"
        if self.log:
            return f"{self.low!r} * pow({self.high / self.low!r}, {share})"
        return f"{self.low!r} + {self.high - self.low!r} * {share}"

    def share(self, position: str) -> str:
        """How far along the axis a ``position`` stands, 0 to 1, as a Vega expression."""
        if self.log:
            return f"log({position} / {self.low!r}) / {math.log(self.high / self.low)!r}"
        return f"({position} - {self.low!r}) / {self.high - self.low!r}"

    def shares(self, positions: np.ndarray) -> np.ndarray:
        """How far along the axis ``positions`` stand, 0 to 1; NaN for what it has no place for."""
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.log(positions / self.low) / math.log(self.high / self.low))
        return np.asarray((positions - self.low) / (self.high - self.low))

    def encoding(self, field: str, title: str, factor: float = 1.0) -> dict[str, Any]:
        """The position channel of this axis for a ``field`` in the unit of size ``factor``."""
        low, high = self.low / factor, self.high / factor
        axis = value_axis(low, high, self.log)
        if self.step is not None and not self.log:
            axis["tickMinStep"] = 1
        scale: dict[str, Any] = {"domain": [low, high], "nice": False}
        scale |= {"type": "log"} if self.log else {"zero": False}
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": axis,
        }


def log_ticks(low: float, high: float) -> list[float] | None:
    """Ticks of a logarithmic axis: decades, or 1-2-5 where there are few; None leaves it to Vega.

    >>> log_ticks(1, 1000)
    [1.0, 10.0, 100.0, 1000.0]
    >>> log_ticks(3, 60)
    [5.0, 10.0, 20.0, 50.0]
    """
    decades = math.log10(high / low)
    if decades < 0.9:
        return None
    steps = (1.0,) if decades >= 2.5 else (1.0, 2.0, 5.0)
    every = math.ceil(decades / 9)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [
        float(f"{step:g}e{power}")
        for power in range(first, last + 1)
        if power % every == 0
        for step in steps
    ]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def value_axis(low: float, high: float, log: bool) -> dict[str, Any]:
    """Ticks and number format of an axis from ``low`` to ``high``."""
    if not log:
        return {"tickCount": 6, "labelFlush": True}
    axis: dict[str, Any] = {
        "labelFlush": True,
        "labelExpr": (
            "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, ',~g')"
        ),
    }
    ticks = log_ticks(low, high)
    if ticks:
        axis["values"] = ticks
    return axis


def padded(values: np.ndarray, log: bool) -> tuple[float, float]:
    """An interval with a little room around ``values``."""
    low, high = float(values.min()), float(values.max())
    if log and low <= 0:
        raise ValueError(f"a logarithmic axis cannot show {low:g}")
    if low == high:
        return (low / 2, low * 2) if log else (low - 1, low + 1)
    if log:
        room = (high / low) ** 0.04
        return low / room, high * room
    room = 0.04 * (high - low)
    return low - room if low != 0 else 0.0, high + room


def around(values: Sequence[np.ndarray], log: bool, fixed: tuple[float, float] | None) -> Span:
    """The span of a y axis with room for ``values``; from zero where it is linear."""
    if fixed is not None:
        return Span.of(fixed, log)
    flat = np.concatenate([np.ravel(v) for v in values])
    flat = flat[np.isfinite(flat) & ((flat > 0) | (not log))]
    if not flat.size:
        raise ValueError("the y axis has nothing to show: no value is finite (or positive)")
    low, high = float(flat.min()), float(flat.max())
    if not log:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low, low + 1)
    return Span(*padded(np.array([low, high]), log), log) if log else Span(low, high)
