"""The layers of a line chart: curves that Vega computes, data from arrays, and their one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib import theme
from specdec_lib.charts.frame import legend, tooltip
from specdec_lib.charts.marks import Points
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.text import literal
from specdec_lib.formula import Formula

__all__ = ["curve_layer", "look_of", "point_layers"]

#: Dashes for curves of one role in one chart, whose colours are shades of each other.
_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (8, 3), (3, 3), (10, 3, 2, 3), (5, 2), (2, 5))

#: Shapes for data of one role in one chart, after the role's own.
_SHAPES: tuple[str, ...] = ("circle", "square", "diamond", "triangle-up", "triangle-down")

#: What stands for a line in the legend: long enough to show its dashes.
_STROKE = "M-2.2,0L2.2,0"

#: One point in this many of a curve answers to the pointer with its numbers.
_EVERY = 4

#: Faint marks along a line that catch the pointer; assistive technology reads the line itself.
_CATCHER = {"type": "point", "clip": True, "opacity": 0, "size": 200, "aria": False}


def look_of(of_each: Mapping[str, str], points: Sequence[Points]) -> dict[str, Any]:
    """The channels colour, dash and shape over all labels of a chart; they share one legend.

    ``of_each`` maps the label of each curve to its role.  Raises ValueError for a label that is
    used twice.
    """
    roles = {**of_each, **{p.label: p.role for p in points}}
    if len(roles) != len(of_each) + len(points):
        raise ValueError("two things in this chart have the same label")
    labels = list(roles)
    joined = [*of_each, *(p.label for p in points if p.line)]
    ranges = {
        "color": list(theme.colours(roles).values()),
        "strokeDash": [_dash(label, roles, joined) for label in labels],
        "shape": [_STROKE if k in joined else _shape(k, roles, joined) for k in labels],
    }
    return {
        channel: {
            "field": "series",
            "type": "nominal",
            "scale": {"domain": labels, "range": values},
            "legend": legend(labels, joined),
        }
        for channel, values in ranges.items()
    }


def _shape(label: str, roles: Mapping[str, str], joined: Sequence[str]) -> str:
    """The shape of data: the role's for the first of a role, another one for each that follows."""
    of_role = [k for k in roles if roles[k] == roles[label] and k not in joined]
    own = theme.role(roles[label]).shape
    others = [shape for shape in _SHAPES if shape != own]
    place = of_role.index(label)
    return own if place == 0 else others[(place - 1) % len(others)]


def _dash(label: str, roles: Mapping[str, str], joined: Sequence[str]) -> list[int]:
    """The dash of a label: its role's, or one of its own where several lines share the role."""
    if label not in joined or len(joined) == 1:
        return [1, 0]
    of_role = [other for other in joined if roles[other] == roles[label]]
    if len(of_role) == 1:
        return list(theme.role(roles[label]).dash)
    return list(_DASHES[of_role.index(label) % len(_DASHES)])


def _told(plane: Plane, x: str, y: str, named: bool) -> list[dict[str, Any]]:
    """What a tooltip says: which series, and both coordinates with their units."""
    series = [{"field": "series", "type": "nominal", "title": " "}] if named else []
    numbers = ((x, plane.x_encoding), (y, plane.y_encoding))
    return [*series, *(tooltip(field, encoding["title"]) for field, encoding in numbers)]


def curve_layer(
    curves: Mapping[str, Formula], x: str, plane: Plane, look: Mapping[str, Any]
) -> dict[str, Any]:
    """The curves over the keyword ``x``, each evaluated in Vega at the sliders."""
    columns = [f"curve_{i}" for i in range(len(curves))]
    transform: list[dict[str, Any]] = [
        {"calculate": plane.x.expression(), "as": "x"},
        {"calculate": f"datum.x / {plane.x_factor!r}", "as": "shown_x"},
    ]
    for column, formula in zip(columns, curves.values(), strict=True):
        expression = plane.setting.vega(formula, **{x: "datum.x"})
        transform.append({"calculate": f"({expression}) / {plane.y_factor!r}", "as": column})
    labels = dict(zip(columns, curves, strict=True))
    transform.append({"fold": columns, "as": ["column", "shown_y"]})
    transform.append({"calculate": f"{literal(labels)}[datum.column]", "as": "series"})
    position = {"x": plane.x_encoding, "y": plane.y_encoding}
    line = {
        "mark": {"type": "line", "clip": plane.leaves},
        "encoding": {**position, "color": look["color"], "strokeDash": look["strokeDash"]},
    }
    position = {"x": plane.on_x("shown_x"), "y": plane.on_y("shown_y")}
    catcher: dict[str, Any] = {
        "mark": _CATCHER,
        "encoding": {**position, "tooltip": _told(plane, "shown_x", "shown_y", len(curves) > 1)},
    }
    if plane.x.step is None:
        catcher["transform"] = [{"filter": f"datum.i % {_EVERY} === 0"}]
    return {"data": plane.x.data(), "transform": transform, "layer": [line, catcher]}


def point_layers(
    points: Sequence[Points], plane: Plane, look: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The layers of the data: the bars through the points, then the points or the line."""
    position = {"x": plane.on_x("x"), "y": plane.on_y("y")}
    told = {"tooltip": _told(plane, "x", "y", True)}
    layers: list[dict[str, Any]] = []

    def add(p: Points, mark: dict[str, Any], encoding: dict[str, Any]) -> None:
        layers.append({"data": {"values": p.rows()}, "mark": mark, "encoding": encoding})

    for p in points:
        if p.low is not None:
            bar = {**position, "y": plane.on_y("low"), "y2": {"field": "high"}}
            add(p, {"type": "rule"}, {**bar, "color": look["color"]})
        if p.line:
            line = {"color": look["color"], "strokeDash": look["strokeDash"]}
            add(p, {"type": "line", "clip": plane.leaves}, {**position, **line})
            add(p, _CATCHER, {**position, **told})
        else:
            dot = {"color": look["color"], "shape": look["shape"]}
            add(p, {"type": "point"}, {**position, **dot, **told})
    return layers
