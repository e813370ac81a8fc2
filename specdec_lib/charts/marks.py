"""Marks on top of the curves: reference lines, marked points, and measured data.

The position of a reference line or a marked point may be a Formula, which Vega then evaluates at
the sliders like the curves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from specdec_lib import theme
from specdec_lib.charts.axes import Span
from specdec_lib.charts.frame import FORMAT
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.text import literal
from specdec_lib.formula import Formula

__all__ = ["Marker", "Plane", "Points", "Rule", "marker_layers", "rule_layers"]

MOST_ROWS = 400


@dataclass(frozen=True)
class Rule:
    """A reference line: ``at`` a number or a Formula, across the ``axis`` that it names.

    The ``label`` stands beside it, with the value if ``show_value``.
    """

    at: Formula | float
    label: str
    axis: Literal["x", "y"] = "x"
    role: str = "threshold"
    show_value: bool = True


@dataclass(frozen=True)
class Marker:
    """A marked point with its label.

    It stands at ``x``, a number or a Formula, and on the curve named ``on``, or at ``y``.  With
    ``drop`` a line falls from it to the x axis and the label is written along that line.
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


@dataclass(frozen=True)
class Plane:
    """The two axes that marks are placed on: spans in base units, unit sizes, encodings."""

    x: Span
    y: Span
    x_factor: float
    y_factor: float
    x_encoding: dict[str, Any]
    y_encoding: dict[str, Any]
    setting: Setting

    def expression(self, value: Formula | float, **axes: str) -> str:
        """A number or a Formula as a Vega expression in base units."""
        if isinstance(value, Formula):
            return self.setting.vega(value, **axes)
        return repr(float(value))


def _label(row: dict[str, Any], **mark: Any) -> dict[str, Any]:
    """A layer of text; its colour is that of the page's text, which the configuration gives."""
    return {**row, "mark": {"type": "text", "clip": False, **mark}}


def rule_layers(rules: Sequence[Rule], plane: Plane) -> list[dict[str, Any]]:
    """The layers of reference lines: each a line and its label, kept clear of the edges."""
    return [
        layer
        for place, rule in enumerate([r for r in rules if r.axis == "x"])
        for layer in _upright(rule, place, plane)
    ] + [layer for rule in rules if rule.axis == "y" for layer in _level(rule, plane)]


def _data(expression: str, factor: float, rule: Rule) -> dict[str, Any]:
    words = literal(rule.label)
    if rule.show_value:
        words += f" + ' ' + format(datum.at, '{FORMAT}')"
    return {
        "data": {"values": [{}]},
        "transform": [
            {"calculate": f"({expression}) / {factor!r}", "as": "at"},
            {"calculate": words, "as": "words"},
        ],
    }


def _line(rule: Rule) -> dict[str, Any]:
    look = theme.role(rule.role)
    return {
        "mark": {
            "type": "rule",
            "clip": True,
            "color": look.colour,
            "strokeDash": list(look.dash),
        }
    }


def _upright(rule: Rule, place: int, plane: Plane) -> list[dict[str, Any]]:
    data = _data(plane.expression(rule.at), plane.x_factor, rule)
    x = {**plane.x_encoding, "field": "at"}
    share = plane.x.share(f"(datum.at * {plane.x_factor!r})")
    height = {"value": 8 + 16 * place}
    words = {"field": "words", "type": "nominal"}
    sides = []
    for where, align, gap in (
        (f"{share} >= 0 && {share} < 0.5", "left", 5),
        (f"{share} >= 0.5 && {share} <= 1", "right", -5),
    ):
        row = {"data": data["data"], "transform": [*data["transform"], {"filter": where}]}
        row["encoding"] = {"x": x, "y": height, "text": words}
        sides.append(_label(row, align=align, dx=gap, baseline="middle"))
    return [{**data, **_line(rule), "encoding": {"x": x}}, *sides]


def _level(rule: Rule, plane: Plane) -> list[dict[str, Any]]:
    data = _data(plane.expression(rule.at), plane.y_factor, rule)
    y = {**plane.y_encoding, "field": "at"}
    text = {"x": {"value": "width"}, "y": y, "text": {"field": "words", "type": "nominal"}}
    share = plane.y.share(f"(datum.at * {plane.y_factor!r})")
    seen = {"filter": f"{share} >= 0 && {share} <= 1"}
    row = {"data": data["data"], "transform": [*data["transform"], seen], "encoding": text}
    return [
        {**data, **_line(rule), "encoding": {"y": y}},
        _label(row, align="right", baseline="bottom", dx=-4, dy=-4),
    ]


def marker_layers(
    markers: Sequence[Marker], plane: Plane, height_of: Callable[[Marker], str]
) -> list[dict[str, Any]]:
    """The layers of marked points; ``height_of`` gives a marker's y in terms of ``datum.x``."""
    layers: list[dict[str, Any]] = []
    for marker in markers:
        look = theme.role(marker.role)
        data: dict[str, Any] = {
            "data": {"values": [{}]},
            "transform": [
                {"calculate": plane.expression(marker.x), "as": "x"},
                {"calculate": f"({height_of(marker)}) / {plane.y_factor!r}", "as": "shown_y"},
                {"calculate": f"datum.x / {plane.x_factor!r}", "as": "shown_x"},
                {"calculate": literal(marker.label), "as": "marked"},
            ],
        }
        share = plane.x.share("datum.x")
        x, y = {**plane.x_encoding, "field": "shown_x"}, {**plane.y_encoding, "field": "shown_y"}
        told = [
            {"field": "marked", "type": "nominal", "title": " "},
            {"field": "shown_x", "title": x["title"], "type": "quantitative", "format": FORMAT},
            {"field": "shown_y", "title": y["title"], "type": "quantitative", "format": FORMAT},
        ]
        text = {"field": "marked", "type": "nominal"}
        if marker.drop:
            drop = {"type": "rule", "clip": True, "color": look.colour, "opacity": 0.6}
            layers.append({**data, "mark": drop, "encoding": {"x": x, "y": y, "y2": {"value": "height"}}})
            inside = {**data, "transform": [*data["transform"], {"filter": f"{share} >= 0 && {share} <= 1"}]}
            inside["encoding"] = {"x": x, "y": {"value": "height"}, "text": text}
            layers.append(_label(inside, angle=270, align="left", baseline="bottom", dx=6, dy=-3))
        else:
            for where, align, gap in (("< 0.6", "left", 9), (">= 0.6", "right", -9)):
                side = {**data, "transform": [*data["transform"], {"filter": f"{share} {where}"}]}
                side["encoding"] = {"x": x, "y": y, "text": text}
                layers.append(_label(side, align=align, dx=gap, baseline="bottom", dy=-4))
        point = {"type": "point", "clip": True, "color": look.colour, "shape": look.shape, "size": 90}
        layers.append({**data, "mark": point, "encoding": {"x": x, "y": y, "tooltip": told}})
    return layers
