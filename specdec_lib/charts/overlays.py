"""How reference lines and marked points are drawn on top of the curves.

All rules of one direction, and all markers, are the rows of one data set each; where a row stands
is an expression that Vega evaluates at the sliders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specdec_lib import theme
from specdec_lib.charts.frame import FORMAT, tooltip
from specdec_lib.charts.marks import Marker, Rule
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.room import LETTER, Box
from specdec_lib.charts.text import literal

__all__ = ["marker_layers", "rule_layers"]


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


def _on(axis: str) -> str:
    """Whether a share of an axis lies on it; a hair beyond is on it as well."""
    return f"datum.{axis} > -1e-9 && datum.{axis} < 1.000000001"


def rule_layers(rules: Sequence[Rule], plane: Plane) -> list[dict[str, Any]]:
    """The layers of reference lines, each with its label; those off the axis are left out."""
    upright = [rule for rule in rules if rule.axis == "x"]
    level = [rule for rule in rules if rule.axis == "y"]
    _note(rules, plane)
    layers = []
    if upright:
        layers.append(_rules(upright, plane, _upright(upright, plane)))
    if level:
        layers.append(_rules(level, plane, _level(level, plane)))
    return layers


def _opening(rule: Rule, plane: Plane) -> tuple[float, int]:
    """How far along its axis a rule stands as the chart opens, and the letters of its label."""
    at = plane.setting.number(rule.at, plane.setting.opening())
    span, factor = (plane.x, plane.x_factor) if rule.axis == "x" else (plane.y, plane.y_factor)
    printed = len(f" {at / factor:,.4g}") if rule.show_value else 0
    return float(span.shares(np.asarray(at))), len(rule.label) + printed


def _note(rules: Sequence[Rule], plane: Plane) -> None:
    """Tell the room for labels where the reference lines themselves stand."""
    for rule in rules:
        share, _ = _opening(rule, plane)
        across, along = np.full(2, share), np.array([0.0, 1.0])
        plane.room.add_path(*((across, along) if rule.axis == "x" else (along, across)))


def _rules(
    rules: Sequence[Rule], plane: Plane, drawn: tuple[list[dict[str, Any]], list[dict[str, Any]]]
) -> dict[str, Any]:
    """One direction's reference lines; ``drawn`` is what each row adds, and the layers."""
    upright = rules[0].axis == "x"
    span, factor = (plane.x, plane.x_factor) if upright else (plane.y, plane.y_factor)
    more, layers = drawn
    rows = [
        _row(i, rule.role, dash=list(theme.role(rule.role).dash), **own)
        for i, (rule, own) in enumerate(zip(rules, more, strict=True))
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
            {"filter": _on("share")},
        ],
        "layer": layers,
    }


def _line(position: dict[str, Any]) -> dict[str, Any]:
    # the width is no property of the mark: the legend of the curves would take it over
    look = {"color": _own("colour"), "strokeDash": _own("dash"), "size": {"value": 1.5}}
    return {"mark": {"type": "rule"}, "encoding": {**position, **look}}


def _upright(
    rules: Sequence[Rule], plane: Plane
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Vertical rules, each label in a row of its own at the top or the bottom, to the left or the
    right: where fewer lines cross it, and on the other side where a narrow page has no room."""
    height, rows = plane.room.height, len(rules)
    centres = [8 + 16 * row for row in range(rows)]
    free = [*centres, *(height - centre for centre in centres)]
    taken = []
    for rule in rules:
        share, letters = _opening(rule, plane)
        tried = [(y, side) for y in free for side in (-1, 1)]
        places = [Box(share, 1 - y / height, letters, side, 0) for y, side in tried]
        taken.append(tried[plane.room.best(places)])
        free.remove(taken[-1][0])
    x = {"x": plane.on_x("at")}
    place = {**x, "y": {"field": "height", "type": "quantitative", "scale": None, "axis": None}}
    needs = f"width > {LETTER} * length(datum.words) + 10"
    left = f"(datum.left ? datum.share * {needs} : !((1 - datum.share) * {needs}))"
    layers = [
        _line(x),
        _label(place, left, align="right", dx=-5),
        _label(place, f"!{left}", align="left", dx=5),
    ]
    return [{"height": y, "left": side < 0} for y, side in taken], layers


#: Where the label of a horizontal rule may stand: at its right or left end or in its middle, above
#: or below it; in the order in which they are tried.
_ENDS = [(end, side) for side in (1, -1) for end in ("right", "left", "centre")]
_END = {"right": (1.0, -1, "width"), "left": (0.0, 1, 0), "centre": (0.5, 0, "width / 2")}


def _level(
    rules: Sequence[Rule], plane: Plane
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Horizontal rules, each label along its line where the fewest curves cross it."""
    taken = []
    for rule in rules:
        share, letters = _opening(rule, plane)
        places = [
            Box(_END[end][0], share, letters, _END[end][1], side, gap=4) for end, side in _ENDS
        ]
        taken.append(_ENDS[plane.room.best(places)])
    y = {"y": plane.on_y("at")}
    layers = [_line(y)]
    for end, side in dict.fromkeys(taken):
        _, runs, at = _END[end]
        x = {"x": {"value": at if at in ("width", 0) else {"expr": at}}}
        align = {-1: "right", 0: "center", 1: "left"}[runs]
        baseline = "bottom" if side == 1 else "top"
        here = f"datum.place === {literal(f'{end} {side}')}" if len(set(taken)) > 1 else None
        mark = {"align": align, "baseline": baseline, "dx": 4 * runs, "dy": -4 * side}
        layers.append(_label({**y, **x}, here, **mark))
    return [{"place": f"{end} {side}"} for end, side in taken], layers


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
        {"calculate": plane.y.share(f"(datum.shown_y * {plane.y_factor!r})"), "as": "rise"},
        {"filter": f"{_on('share')} && {_on('rise')}"},
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
    point = {"type": "point", "size": 90}
    layers.append({"mark": point, "encoding": {**at, **look}})
    return [{"data": {"values": rows}, "transform": transform, "layer": layers}]


def _dropped(at: dict[str, Any]) -> list[dict[str, Any]]:
    """A line from each marker down to the axis, and the label along it."""
    foot = {"value": "height"}
    line = {"type": "rule", "opacity": 0.7}
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
    room = f"(1 - datum.share) * width > {LETTER} * length(datum.words) + 12"
    return [
        _label(at, f"!datum.drop && {fits}", align=align, dx=gap, baseline="top", dy=5)
        for fits, align, gap in ((room, "left", 9), (f"!({room})", "right", -9))
    ]
