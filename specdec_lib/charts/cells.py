"""The axes of a grid: single values with their labels, an interval cut into cells, or names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from specdec_lib.charts.axes import Span
from specdec_lib.charts.checks import finite
from specdec_lib.charts.frame import FORMAT
from specdec_lib.charts.text import display_unit, literal, quantity_title
from specdec_lib.formula import unit_text

__all__ = ["Cells", "Named"]


@dataclass(frozen=True)
class Cells:
    """One axis of a grid: the symbol ``keyword`` over some values.

    ``values`` are numbers, or labels that stand for them (``{"H200": 206.1}``), or an interval
    ``(low, high)`` cut into ``count`` cells, of equal ratio if ``log``.  Numbers are in base
    units; ``unit`` is what the axis shows them in, ``title`` replaces the symbol's meaning.
    Raises ValueError for an axis without values, with one that is not finite or two that read
    alike, and for an interval that cannot be cut.
    """

    keyword: str
    values: Sequence[float] | Mapping[str, float]
    count: int | None = None
    log: bool = False
    title: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.count is None:
            if not len(self.values):
                raise ValueError(f"{self.keyword}: a grid needs a value on each axis")
            self._check_values()
            return
        if isinstance(self.values, Mapping) or len(self.values) != 2 or self.count < 2:
            raise ValueError(f"{self.keyword}: count cuts an interval (low, high) into cells")
        Span.of((self.values[0], self.values[1]), self.log)

    def _check_values(self) -> None:
        named = isinstance(self.values, Mapping)
        values = self.values.items() if isinstance(self.values, Mapping) else enumerate(self.values)
        for place, value in values:
            finite(value, f"cells of {self.keyword}: values[{place!r}]")
        labels = [str(place) for place in self.values] if named else _printed(self.numbers)
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(
                f"cells of {self.keyword}: two values read '{twice}'; give each a label of its "
                "own: {label: value}"
            )

    @property
    def numbers(self) -> np.ndarray:
        """Where the formula is evaluated, in base units: the values, or the cells' middles."""
        edges = self._edges()
        if self.count is None:
            return edges
        below, above = edges[:-1], edges[1:]
        return np.asarray(np.sqrt(below * above) if self.log else (below + above) / 2)

    def _edges(self) -> np.ndarray:
        values = self.values.values() if isinstance(self.values, Mapping) else self.values
        given = [float(value) for value in values]
        if self.count is None:
            return np.array(given)
        low, high = given
        if self.log:
            return np.geomspace(low, high, self.count + 1)
        return np.linspace(low, high, self.count + 1)

    def _factor(self, known: Any) -> float:
        return display_unit(unit_text(known.unit), self.unit)[1]

    def _labels(self, known: Any) -> list[str]:
        if isinstance(self.values, Mapping):
            return list(self.values)
        return _printed(self.numbers / self._factor(known))

    def heading(self, known: Any) -> str:
        """The title of the axis."""
        unit, _ = display_unit(unit_text(known.unit), self.unit)
        if isinstance(self.values, Mapping):
            unit = ""  # the labels are names
        return quantity_title(known, self.title, unit)

    def transform(self, axis: str, index: str, known: Any) -> list[dict[str, Any]]:
        """Vega's calculation of the value of a cell, named ``axis``, and of its place.

        ``index`` is the cell's number along this axis as a Vega expression.
        """
        if self.count is None:
            return [
                {"calculate": f"{literal(self.numbers.tolist())}[{index}]", "as": axis},
                {"calculate": f"{literal(self._labels(known))}[{index}]", "as": f"{axis}_words"},
            ]
        low, high = (float(value) for value in self._edges()[[0, -1]])

        def at(steps: str) -> str:
            share = f"({index} + {steps}) / {self.count}"
            if self.log:
                return f"{low!r} * pow({high / low!r}, {share})"
            return f"{low!r} + {high - low!r} * {share}"

        factor = self._factor(known)
        return [
            {"calculate": at("0.5"), "as": axis},
            {"calculate": f"({at('0')}) / {factor!r}", "as": f"{axis}_low"},
            {"calculate": f"({at('1')}) / {factor!r}", "as": f"{axis}_high"},
            {"calculate": f"format(datum.{axis} / {factor!r}, '{FORMAT}')", "as": f"{axis}_words"},
        ]

    def channels(self, axis: str, known: Any, apart: bool) -> dict[str, Any]:
        """The position channels of the cells along ``axis``, "x" or "y"; ``apart`` leaves gaps."""
        heading = self.heading(known)
        if self.count is not None and not isinstance(self.values, Mapping):
            span = Span.of((self.values[0], self.values[1]), self.log)
            position = span.encoding(f"{axis}_low", heading, self._factor(known))
            return {axis: position, f"{axis}2": {"field": f"{axis}_high"}}
        labels = self._labels(known)
        # numbers grow upwards, names are read downwards
        upwards = axis == "y" and not isinstance(self.values, Mapping)
        return {axis: _listed(axis, labels[::-1] if upwards else labels, heading, apart)}


@dataclass(frozen=True)
class Named:
    """The rows of a grid of several Formulas: one for each label, top to bottom."""

    labels: tuple[str, ...]
    keyword: ClassVar[None] = None
    count: ClassVar[None] = None

    @property
    def numbers(self) -> np.ndarray:
        """The number of each row."""
        return np.arange(len(self.labels), dtype=np.float64)

    def heading(self, known: Any) -> str:  # noqa: ARG002
        """Nothing: names explain themselves."""
        return " "

    def transform(self, axis: str, index: str, known: Any) -> list[dict[str, Any]]:  # noqa: ARG002
        """Vega's calculation of the name of a row; see :meth:`Cells.transform`."""
        return [{"calculate": f"{literal(list(self.labels))}[{index}]", "as": f"{axis}_words"}]

    def channels(self, axis: str, known: Any, apart: bool) -> dict[str, Any]:  # noqa: ARG002
        """The position channel of the rows; see :meth:`Cells.channels`."""
        place = _listed(axis, list(self.labels), None, apart)
        place["axis"]["labelLimit"] = 150
        return {axis: place}


def _listed(axis: str, labels: list[str], heading: str | None, apart: bool) -> dict[str, Any]:
    """The position channel of cells with labels, in their order."""
    return {
        "field": f"{axis}_words",
        "type": "ordinal",
        "title": heading,
        "scale": {"domain": labels, "paddingInner": 0.04 if apart else 0},
        "axis": {"labelAngle": 0, "grid": False},
    }


def _printed(numbers: np.ndarray) -> list[str]:
    """Numbers as the axis prints them: six significant digits, thousands apart."""
    return [f"{number:,.6g}".replace(",", "\N{NARROW NO-BREAK SPACE}") for number in numbers]
