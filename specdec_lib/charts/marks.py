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
from specdec_lib.charts.frame import FORMAT, tooltip
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.text import literal
from specdec_lib.formula import Formula

__all__ = ["Marker", "Points", "Rule", "marker_layers", "rule_layers"]

MOST_ROWS = 400

#: Width of a letter of a label in pixels, rounded up: a label stands where it has room.
_LETTER = 7


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


def _data(rule: Rule, span: Span, factor: float, plane: Plane) -> dict[str, Any]:
    """The one row behind a rule, or none where its position has left the axis."""
    words = literal(rule.label)
    if rule.show_value:
        words += f" + ' ' + format(datum.at, '{FORMAT}')"
    share = span.share(f"(datum.at * {factor!r})")
    return {
        "data": {"values": [{}]},
        "transform": [
            {"calculate": f"({plane.expression(rule.at)}) / {factor!r}", "as": "at"},
            {"calculate": words, "as": "words"},
            {"calculate": share, "as": "share"},
            {"filter": "datum.share >= 0 && datum.share <= 1"},
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
    """A vertical rule; its label stands to the left where there is room, below the one before."""
    data = _data(rule, plane.x, plane.x_factor, plane)
    x = plane.on_x("at")
    encoding = {
        "x": x,
        "y": {"value": 8 + 16 * place},
        "text": {"field": "words", "type": "nominal"},
    }
    room = f"datum.share * width > {_LETTER} * length(datum.words) + 10"
    sides = []
    for fits, align, gap in ((room, "right", -5), (f"!({room})", "left", 5)):
        row = {"data": data["data"], "transform": [*data["transform"], {"filter": fits}]}
        sides.append(_label({**row, "encoding": encoding}, align=align, dx=gap, baseline="middle"))
    return [{**data, **_line(rule), "encoding": {"x": x}}, *sides]


def _level(rule: Rule, plane: Plane) -> list[dict[str, Any]]:
    """A horizontal rule, its label above its right end."""
    data = _data(rule, plane.y, plane.y_factor, plane)
    y = plane.on_y("at")
    text = {"x": {"value": "width"}, "y": y, "text": {"field": "words", "type": "nominal"}}
    return [
        {**data, **_line(rule), "encoding": {"y": y}},
        _label({**data, "encoding": text}, align="right", baseline="bottom", dx=-4, dy=-4),
    ]


def marker_layers(
    markers: Sequence[Marker], plane: Plane, height_of: Callable[[Marker], str]
) -> list[dict[str, Any]]:
    """The layers of marked points; ``height_of`` gives a marker's y in terms of ``datum.x``."""
    return [layer for m in markers for layer in _marker(m, plane, height_of(m))]


def _marker(marker: Marker, plane: Plane, height: str) -> list[dict[str, Any]]:
    look = theme.role(marker.role)
    data: dict[str, Any] = {
        "data": {"values": [{}]},
        "transform": [
            {"calculate": plane.expression(marker.x), "as": "x"},
            {"calculate": f"datum.x / {plane.x_factor!r}", "as": "shown_x"},
            {"calculate": f"({height}) / {plane.y_factor!r}", "as": "shown_y"},
            {"calculate": literal(marker.label), "as": "words"},
            {"calculate": plane.x.share("datum.x"), "as": "share"},
            {"filter": "datum.share >= 0 && datum.share <= 1"},
        ],
    }
    x, y = plane.on_x("shown_x"), plane.on_y("shown_y")
    words = {"field": "words", "type": "nominal", "title": " "}
    told = [words, tooltip("shown_x", x["title"]), tooltip("shown_y", y["title"])]
    point = {"type": "point", "clip": True, "color": look.colour, "shape": look.shape, "size": 90}
    layers = [{**data, "mark": point, "encoding": {"x": x, "y": y, "tooltip": told}}]
    if marker.drop:
        foot = {"value": "height"}
        drop = {"type": "rule", "clip": True, "color": look.colour, "opacity": 0.7}
        layers.append({**data, "mark": drop, "encoding": {"x": x, "y": y, "y2": foot}})
        along = {**data, "encoding": {"x": x, "y": foot, "text": words}}
        layers.append(_label(along, angle=270, align="left", baseline="bottom", dx=8, dy=-3))
        return layers
    room = f"(1 - datum.share) * width > {_LETTER} * length(datum.words) + 12"
    for fits, align, gap in ((room, "left", 9), (f"!({room})", "right", -9)):
        side = {**data, "transform": [*data["transform"], {"filter": fits}]}
        side["encoding"] = {"x": x, "y": y, "text": words}
        layers.append(_label(side, align=align, dx=gap, baseline="top", dy=5))
    return layers
