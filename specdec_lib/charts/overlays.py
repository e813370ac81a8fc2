"""How reference lines and marked points are drawn on top of the curves.

All rules of one direction, and all markers, are the rows of one data set each; where a row stands
is an expression that Vega evaluates at the sliders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specdec_lib import theme
from specdec_lib.charts.axes import Span
from specdec_lib.charts.frame import FORMAT, tooltip
from specdec_lib.charts.marks import Marker, Rule
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.text import literal

__all__ = ["marker_layers", "rule_layers"]

#: Width of a letter of a label in pixels, rounded up: a label stands where it has room.
_LETTER = 7


def _own(field: str) -> dict[str, Any]:
    """A channel that the row of data states itself, outside every scale and legend."""
    return {"field": field, "type": "nominal", "scale": None}


def _label(encoding: dict[str, Any], fits: str | None = None, **mark: Any) -> dict[str, Any]:
    """A layer of text; its colour is that of the page's text, which the configuration gives."""
    words = {"field": "words", "type": "nominal", "title": " "}
    layer = {"mark": {"type": "text", **mark}, "encoding": {**encoding, "text": words}}
    return layer if fits is None else {"transform": [{"filter": fits}], **layer}


def _row(i: int, role: str, **more: Any) -> dict[str, Any]:
    look = theme.role(role)
    return {"i": i, "colour": look.colour, **more}


def _choice(expressions: Sequence[str]) -> str:
    """The expression that belongs to the row: the ``i``-th."""
    return expressions[0] if len(expressions) == 1 else f"[{', '.join(expressions)}][datum.i]"


_ON_AXIS = {"filter": "datum.share >= 0 && datum.share <= 1"}


def rule_layers(rules: Sequence[Rule], plane: Plane) -> list[dict[str, Any]]:
    """The layers of reference lines, each with its label; those off the axis are left out."""
    upright = [rule for rule in rules if rule.axis == "x"]
    level = [rule for rule in rules if rule.axis == "y"]
    layers = []
    if upright:
        layers.append(_rules(upright, plane.x, plane.x_factor, plane, _upright(plane)))
    if level:
        layers.append(_rules(level, plane.y, plane.y_factor, plane, _level(plane)))
    return layers


def _rules(
    rules: Sequence[Rule], span: Span, factor: float, plane: Plane, layers: list[dict[str, Any]]
) -> dict[str, Any]:
    rows = [
        _row(i, rule.role, dash=list(theme.role(rule.role).dash), height=8 + 16 * i)
        for i, rule in enumerate(rules)
    ]
    printed = f" + ' ' + format(datum.at, '{FORMAT}')"
    words = [literal(rule.label) + (printed if rule.show_value else "") for rule in rules]
    at = _choice([plane.expression(rule.at) for rule in rules])
    return {
        "data": {"values": rows},
        "transform": [
            {"calculate": f"({at}) / {factor!r}", "as": "at"},
            {"calculate": _choice(words), "as": "words"},
            {"calculate": span.share(f"(datum.at * {factor!r})"), "as": "share"},
            _ON_AXIS,
        ],
        "layer": layers,
    }


def _line(position: dict[str, Any]) -> dict[str, Any]:
    # the width is no property of the mark: the legend of the curves would take it over
    look = {"color": _own("colour"), "strokeDash": _own("dash"), "size": {"value": 1.5}}
    return {"mark": {"type": "rule", "clip": True}, "encoding": {**position, **look}}


def _upright(plane: Plane) -> list[dict[str, Any]]:
    """Vertical rules; a label stands to the left where there is room, below the one before."""
    x = {"x": plane.on_x("at")}
    place = {**x, "y": {"field": "height", "type": "quantitative", "scale": None, "axis": None}}
    room = f"datum.share * width > {_LETTER} * length(datum.words) + 10"
    return [
        _line(x),
        _label(place, room, align="right", dx=-5),
        _label(place, f"!({room})", align="left", dx=5),
    ]


def _level(plane: Plane) -> list[dict[str, Any]]:
    """Horizontal rules, their labels above their right ends."""
    y = {"y": plane.on_y("at")}
    end = {**y, "x": {"value": "width"}}
    return [_line(y), _label(end, align="right", baseline="bottom", dx=-4, dy=-4)]


def marker_layers(
    markers: Sequence[Marker], plane: Plane, height_of: Callable[[Marker], str]
) -> list[dict[str, Any]]:
    """The layers of marked points; ``height_of`` gives a marker's y in terms of ``datum.x``."""
    if not markers:
        return []
    rows = [
        _row(i, m.role, shape=theme.role(m.role).shape, words=m.label, drop=m.drop)
        for i, m in enumerate(markers)
    ]
    height = _choice([height_of(m) for m in markers])
    transform = [
        {"calculate": _choice([plane.expression(m.x) for m in markers]), "as": "x"},
        {"calculate": f"datum.x / {plane.x_factor!r}", "as": "shown_x"},
        {"calculate": f"({height}) / {plane.y_factor!r}", "as": "shown_y"},
        {"calculate": plane.x.share("datum.x"), "as": "share"},
        _ON_AXIS,
    ]
    at = {"x": plane.on_x("shown_x"), "y": plane.on_y("shown_y")}
    layers: list[dict[str, Any]] = []
    if any(m.drop for m in markers):
        layers += _dropped(at)
    if not all(m.drop for m in markers):
        layers += _beside(at)
    named = {"field": "words", "type": "nominal", "title": " "}
    told = [named, *(tooltip(place["field"], place["title"]) for place in at.values())]
    look = {"color": _own("colour"), "shape": _own("shape"), "tooltip": told}
    point = {"type": "point", "clip": True, "size": 90}
    layers.append({"mark": point, "encoding": {**at, **look}})
    return [{"data": {"values": rows}, "transform": transform, "layer": layers}]


def _dropped(at: dict[str, Any]) -> list[dict[str, Any]]:
    """A line from each marker down to the axis, and the label along it."""
    foot = {"value": "height"}
    line = {"type": "rule", "clip": True, "opacity": 0.7}
    along = {"x": at["x"], "y": foot}
    return [
        {
            "transform": [{"filter": "datum.drop"}],
            "mark": line,
            "encoding": {**at, "y2": foot, "color": _own("colour")},
        },
        _label(along, "datum.drop", angle=270, align="left", baseline="bottom", dx=8, dy=-3),
    ]


def _beside(at: dict[str, Any]) -> list[dict[str, Any]]:
    """The label of each marker below it, on the side where there is room."""
    room = f"(1 - datum.share) * width > {_LETTER} * length(datum.words) + 12"
    return [
        _label(at, f"!datum.drop && {fits}", align=align, dx=gap, baseline="top", dy=5)
        for fits, align, gap in ((room, "left", 9), (f"!({room})", "right", -9))
    ]
