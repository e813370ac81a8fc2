"""Marks on top of the curves: reference lines, marked points, and measured data.

The position of a reference line or a marked point may be a Formula, which Vega then evaluates at
the sliders like the curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from specdec_lib.charts.checks import finite
from specdec_lib.formula import Formula

__all__ = ["Marker", "Points", "Rule"]

MOST_ROWS = 400


@dataclass(frozen=True)
class Rule:
    """A reference line: ``at`` a number or a Formula, across the ``axis`` that it names.

    The ``label`` stands beside it, with the value if ``show_value``.  Raises ValueError for an
    axis that is neither "x" nor "y" and for a number that is not finite.
    """

    at: Formula | float
    label: str
    axis: Literal["x", "y"] = "x"
    role: str = "threshold"
    show_value: bool = True

    def __post_init__(self) -> None:
        if self.axis not in ("x", "y"):
            raise ValueError(f"rule {self.label!r}: axis is 'x' or 'y', not {self.axis!r}")
        if not isinstance(self.at, Formula):
            finite(self.at, f"rule {self.label!r}: at")


@dataclass(frozen=True)
class Marker:
    """A marked point with its label.

    It stands at ``x``, a number or a Formula, and on the curve named ``on``, or at ``y``.  With
    ``drop`` a line falls from it to the x axis and the label is written along that line.  Raises
    ValueError for a marker with no height or two, and for a number that is not finite.
    """

    x: Formula | float
    label: str
    role: str = "threshold"
    on: str | None = None
    y: Formula | float | None = None
    drop: bool = False

    def __post_init__(self) -> None:
        if (self.on is None) == (self.y is None):
            raise ValueError(f"marker {self.label!r}: give either on= (a curve) or y=")
        for name, value in (("x", self.x), ("y", self.y)):
            if value is not None and not isinstance(value, Formula):
                finite(value, f"marker {self.label!r}: {name}")


@dataclass(frozen=True)
class Points:
    """Data from arrays, in the units of the axes: points, or with ``line`` a joined curve.

    ``low`` and ``high`` draw a bar through each point.  Raises ValueError for arrays that differ
    in length, hold what is not finite, or are too long to be stored with the chart.
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    label: str
    role: str = "measured"
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    line: bool = False

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"points {self.label!r}: low and high come together")
        columns = self.columns()
        lengths = {name: column.size for name, column in columns.items()}
        if len(set(lengths.values())) != 1 or not lengths["x"]:
            raise ValueError(f"points {self.label!r}: columns of different length, {lengths}")
        if lengths["x"] > MOST_ROWS:
            raise ValueError(
                f"points {self.label!r}: {lengths['x']} rows; a chart stores at most {MOST_ROWS}: "
                "thin or bin them, or plot a Formula"
            )
        for name, column in columns.items():
            if not np.all(np.isfinite(column)):
                raise ValueError(f"points {self.label!r}: {name} has values that are not finite")

    def columns(self) -> dict[str, np.ndarray]:
        """Its columns as flat float arrays."""
        pairs = {"x": self.x, "y": self.y, "low": self.low, "high": self.high}
        return {
            name: np.asarray(column, dtype=np.float64).ravel()
            for name, column in pairs.items()
            if column is not None
        }

    def rows(self) -> list[dict[str, Any]]:
        """Its rows as the chart stores them."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        return [
            {"series": self.label, **dict(zip(columns, values, strict=True))}
            for values in zip(*columns.values(), strict=True)
        ]
