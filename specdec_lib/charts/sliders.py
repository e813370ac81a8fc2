"""Sliders: a symbol of a formula that the reader moves, as a parameter of the chart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from specdec_lib.charts.text import display_unit, meaning, plain
from specdec_lib.formula import unit_text

__all__ = ["Slider"]


def _whole(steps: float) -> bool:
    return math.isclose(steps, round(steps), rel_tol=0, abs_tol=1e-6)


@dataclass(frozen=True)
class Slider:
    """A range that a symbol runs over, with the step and the value that the chart opens with.

    Parameters
    ----------
    low, high
        The ends, both included.
    step
        From one position to the next; the ends and ``value`` lie on its grid.
    value
        Where the slider stands at first; ``low`` if not given.
    unit
        The unit of the numbers above where it is not the symbol's base unit: "TB/s" for a
        bandwidth.
    base
        2 or 10 for a slider that multiplies: ``low``, ``high`` and ``value`` are powers of it
        and ``step`` is in the exponent, so ``Slider(512, 2**20, 1, value=4096, base=2)`` doubles.
        The slider then shows the exponent, and the chart prints the value.
    label
        What the slider is called; the symbol and its short meaning if not given.
    """

    low: float
    high: float
    step: float
    value: float | None = None
    unit: str | None = None
    base: int | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        numbers = (self.low, self.high, self.step, self.start)
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError(f"{self}: the ends, the step and the value must be finite numbers")
        if not self.low < self.high:
            raise ValueError(f"{self}: low must be below high")
        if self.step <= 0:
            raise ValueError(f"{self}: the step must be positive")
        if not self.low <= self.start <= self.high:
            raise ValueError(f"{self}: the value lies outside [{self.low:g}, {self.high:g}]")
        if self.base not in (None, 2, 10):
            raise ValueError(f"{self}: base is 2 or 10, or left out")
        if self.base is not None and self.low <= 0:
            raise ValueError(f"{self}: a slider that multiplies needs low above 0")
        first, last, start = (self._position(x) for x in (self.low, self.high, self.start))
        for name, position in (("high", last), ("value", start)):
            if not _whole((position - first) / self.step):
                raise ValueError(f"{self}: {name} is no whole number of steps away from low")

    @property
    def start(self) -> float:
        """The value that the chart opens with, in the slider's unit."""
        return self.low if self.value is None else self.value

    def _position(self, value: float) -> float:
        """What the range input holds at ``value``: the value itself, or its exponent."""
        if self.base is None:
            return value
        return math.log2(value) if self.base == 2 else math.log10(value)

    def factor(self, known: Any) -> float:
        """The size of the slider's unit in base units of the symbol ``known``."""
        return display_unit(unit_text(known.unit), self.unit)[1]

    def ends(self, known: Any) -> tuple[float, float]:
        """The lowest and the highest value in base units."""
        return self.low * self.factor(known), self.high * self.factor(known)

    def reference(self, known: Any) -> str:
        """The name of the parameter that holds the value in base units."""
        plain_value = self.base is None and self.factor(known) == 1
        return f"{'slider' if plain_value else 'value'}_{known.keyword}"

    def called(self, known: Any) -> str:
        """The words beside the slider."""
        letter = plain(known.latex)
        unit, _ = display_unit(unit_text(known.unit), self.unit)
        words = self.label or f"{letter}, {meaning(known)}"
        if self.base is not None:
            subscript = {2: "₂", 10: "₁₀"}[self.base]
            return f"log{subscript} of {words}"
        return f"{words} ({unit})" if unit else words

    def readout(self, known: Any) -> str | None:
        """A Vega expression that prints the value, for a slider that shows its exponent."""
        if self.base is None:
            return None
        unit, factor = display_unit(unit_text(known.unit), self.unit)
        shown = f"format({self.reference(known)} / {factor!r}, ',.4~r')"
        return f"'{plain(known.latex)} = ' + {shown}" + (f" + ' {unit}'" if unit else "")

    def params(self, known: Any) -> list[dict[str, Any]]:
        """The parameters of the chart: the range input, and the base-unit value where it differs.

        Their names start with ``slider_`` and ``value_``: a bare letter can mean something else
        in Vega, whose E is 2.718….
        """
        first, last, start = (_tidy(self._position(x)) for x in (self.low, self.high, self.start))
        name = f"slider_{known.keyword}"
        bound = {
            "input": "range",
            "min": first,
            "max": last,
            "step": _tidy(self.step),
            "name": self.called(known),
        }
        params: list[dict[str, Any]] = [{"name": name, "value": start, "bind": bound}]
        reference = self.reference(known)
        if reference != name:
            value = name if self.base is None else f"pow({self.base}, {name})"
            params.append({"name": reference, "expr": f"{value} * {self.factor(known)!r}"})
        return params


def _tidy(number: float) -> float | int:
    """A whole number without its decimal point."""
    return int(number) if float(number).is_integer() else float(number)
