"""Curves: Formulas over an axis, computed inside the chart, with data beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from specdec_lib import theme
from specdec_lib.charts.axes import Span, value_axis
from specdec_lib.charts.frame import assemble, legend, role_of_each, tooltip
from specdec_lib.charts.marks import Marker, Plane, Points, Rule, marker_layers, rule_layers
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, literal, quantity_title, titled, unit_of
from specdec_lib.formula import Formula

__all__ = ["curve", "scatter"]

#: Dashes for curves of one role in one chart, whose colours are shades of each other.
_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (8, 3), (3, 3), (10, 3, 2, 3), (5, 2), (2, 5))

#: One point in this many of a curve answers to the pointer with its numbers.
_EVERY = 4


def curve(
    formulas: Formula | Mapping[str, Formula],
    *,
    x: str,
    over: tuple[float, float] | range,
    roles: str | Mapping[str, str],
    y_title: str,
    description: str,
    log: bool = False,
    y_log: bool = False,
    y_over: tuple[float, float] | None = None,
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    rules: Sequence[Rule] = (),
    markers: Sequence[Marker] = (),
    points: Sequence[Points] = (),
    x_title: str | None = None,
    x_unit: str | None = None,
    y_unit: str | None = None,
    title: str | None = None,
    height: int = 320,
) -> alt.LayerChart:
    """Formulas over the symbol ``x``, evaluated in the reader's browser.

    Parameters
    ----------
    formulas
        One Formula, or several by their labels; all of one unit.
    x, over, log
        The keyword of the axis, the interval ``(low, high)`` in base units or a ``range`` of
        whole numbers that it runs over, and whether it is logarithmic.
    roles
        One role for all curves, or a role for each label; see :data:`specdec_lib.theme.ROLES`.
    y_title, x_title, y_unit, x_unit
        Titles without units, which are added from the Formula and the notation; ``x_title`` is
        the symbol's meaning if not given.  A unit with a prefix ("ms", "TFLOP/s") scales the axis.
    y_log, y_over
        Whether the y axis is logarithmic, and its ends in the unit shown.  Without ``y_over`` it
        has room for every extreme of the sliders, so that the axis stays while curves move.
    sliders, fixed
        Where the other symbols come from: a Slider or a number (base units), by keyword.
    rules, markers, points
        Reference lines, marked points and measured data; their Formulas share the sliders.
    description
        A sentence that says what is drawn and what to see; it stands for the chart where there is
        none.

    Raises
    ------
    ValueError
        For a symbol with no source or two, an unknown role, a title that is too long, an axis
        that cannot be drawn; DomainError where an end of a slider leaves a formula's domain;
        ChartError without a description.
    """
    curves = {y_title: formulas} if isinstance(formulas, Formula) else dict(formulas)
    if not curves:
        raise ValueError("a curve needs a Formula; data alone are drawn by scatter")
    reaches = [r.at for r in rules] + [m.x for m in markers] + [m.y for m in markers]
    others = [value for value in reaches if isinstance(value, Formula)]
    setting = Setting([*curves.values(), *others], [x], sliders, fixed)
    known = setting.known[x]
    y_text, y_factor = display_unit(unit_of(curves), y_unit)
    x_text, x_factor = display_unit(unit_of({x: Formula("", known.symbol, known.unit, "")}), x_unit)

    across = Span.of(over, log)
    upwards = _height(curves, x, across, setting, rules, points, y_factor, y_log, y_over)
    plane = Plane(
        x=across,
        y=upwards,
        x_factor=x_factor,
        y_factor=y_factor,
        x_encoding=across.encoding("shown_x", quantity_title(known, x_title, x_text), x_factor),
        y_encoding=_y_encoding(upwards, titled(y_title, y_text), y_factor),
        setting=setting,
    )
    _inside(rules, plane)
    of_each = role_of_each(list(curves), roles)
    look = _look(of_each, points)

    def height_of(marker: Marker) -> str:
        if marker.on is None:
            return plane.expression(marker.y if marker.y is not None else np.nan)
        if marker.on not in curves:
            raise ValueError(f"marker {marker.label!r}: no curve {marker.on!r}; there are {', '.join(curves)}")
        return setting.vega(curves[marker.on], **{x: "datum.x"})

    layers = [
        *rule_layers(rules, plane),
        _curves(curves, x, plane, look),
        *_points(points, plane, look),
        *marker_layers(markers, plane, height_of),
    ]
    return assemble(layers, setting, description=description, title=title, height=height)


def scatter(
    points: Sequence[Points],
    *,
    x_title: str,
    y_title: str,
    description: str,
    log: bool = False,
    y_log: bool = False,
    title: str | None = None,
    height: int = 320,
) -> alt.LayerChart:
    """Data alone, from arrays; the titles carry their units.  Raises as :func:`curve`."""
    if not points:
        raise ValueError("nothing to draw: points is empty")
    columns = [p.columns() for p in points]
    xs = np.concatenate([c["x"] for c in columns])
    setting = Setting([], [], None, None)
    across = Span.of(_padded(xs, log), log)
    upwards = _around([v for c in columns for key, v in c.items() if key != "x"], y_log, None)
    plane = Plane(
        x=across,
        y=upwards,
        x_factor=1.0,
        y_factor=1.0,
        x_encoding=across.encoding("x", titled(x_title, "")),
        y_encoding=_y_encoding(upwards, titled(y_title, ""), 1.0),
        setting=setting,
    )
    layers = _points(points, plane, _look({}, points))
    return assemble(layers, setting, description=description, title=title, height=height)


def _padded(values: np.ndarray, log: bool) -> tuple[float, float]:
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


def _around(values: Sequence[np.ndarray], log: bool, fixed: tuple[float, float] | None) -> Span:
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
    return Span(low, high, log)


def _height(
    curves: Mapping[str, Formula],
    x: str,
    across: Span,
    setting: Setting,
    rules: Sequence[Rule],
    points: Sequence[Points],
    y_factor: float,
    y_log: bool,
    y_over: tuple[float, float] | None,
) -> Span:
    """The y axis in base units; on the way every formula is evaluated at the sliders' extremes."""
    seen: list[np.ndarray] = []
    for at in setting.extremes():
        for formula in curves.values():
            axes = {x: across.samples()}
            seen.append(setting.value(formula, at, **axes))
        for rule in rules:
            value = setting.value(rule.at, at) if isinstance(rule.at, Formula) else rule.at
            if rule.axis == "y":
                seen.append(np.asarray(value, dtype=np.float64))
    for p in points:
        seen.extend(v * y_factor for key, v in p.columns().items() if key != "x")
    ends = None if y_over is None else (y_over[0] * y_factor, y_over[1] * y_factor)
    return _around(seen, y_log, ends)


def _y_encoding(span: Span, title: str, factor: float) -> dict[str, Any]:
    encoding = span.encoding("shown_y", title, factor)
    encoding["scale"]["nice"] = True
    encoding["axis"] = value_axis(span.low / factor, span.high / factor, span.log)
    encoding["axis"].pop("labelFlush")
    return encoding


def _inside(rules: Sequence[Rule], plane: Plane) -> None:
    """ValueError for a vertical rule that the chart does not show when it opens."""
    for rule in rules:
        if rule.axis != "x":
            continue
        at = rule.at
        here = float(plane.setting.value(at, plane.setting.opening())) if isinstance(at, Formula) else at
        if not plane.x.low <= here <= plane.x.high:
            raise ValueError(
                f"rule {rule.label!r} opens at {here:g}, outside the axis "
                f"[{plane.x.low:g}, {plane.x.high:g}]"
            )


def _look(of_each: Mapping[str, str], points: Sequence[Points]) -> dict[str, Any]:
    """The scales of colour, dash and shape over all labels, and their common legend."""
    roles = {**of_each, **{p.label: p.role for p in points}}
    if len(roles) != len(of_each) + len(points):
        raise ValueError("two things in this chart have the same label")
    shared = {name: [k for k, v in roles.items() if v == name] for name in roles.values()}
    joined = {*of_each, *(p.label for p in points if p.line)}

    def dash(label: str) -> list[int]:
        of_role = shared[roles[label]]
        if len(joined) == 1:
            return [1, 0]
        if len(of_role) > 1:
            return list(_DASHES[of_role.index(label) % len(_DASHES)])
        return list(theme.role(roles[label]).dash)

    labels = list(roles)
    shapes = ["stroke" if label in joined else theme.role(roles[label]).shape for label in labels]
    ranges = {
        "color": list(theme.colours(roles).values()),
        "strokeDash": [dash(label) if label in joined else [1, 0] for label in labels],
        "shape": shapes,
    }
    return {
        channel: {
            "field": "series",
            "type": "nominal",
            "scale": {"domain": labels, "range": values},
            "legend": legend(labels),
        }
        for channel, values in ranges.items()
    }


def _curves(
    curves: Mapping[str, Formula], x: str, plane: Plane, look: Mapping[str, Any]
) -> dict[str, Any]:
    """The curves, and faint points along them that answer to the pointer."""
    columns = [f"curve_{i}" for i in range(len(curves))]
    transform: list[dict[str, Any]] = [
        {"calculate": plane.x.expression(), "as": "x"},
        {"calculate": f"datum.x / {plane.x_factor!r}", "as": "shown_x"},
    ]
    for column, formula in zip(columns, curves.values(), strict=True):
        names = {x: "datum.x"}
        expression = plane.setting.vega(formula, **names)
        transform.append({"calculate": f"({expression}) / {plane.y_factor!r}", "as": column})
    labels = dict(zip(columns, curves, strict=True))
    transform.append({"fold": columns, "as": ["column", "shown_y"]})
    transform.append({"calculate": f"{literal(labels)}[datum.column]", "as": "series"})
    position = {"x": plane.x_encoding, "y": plane.y_encoding}
    line = {
        "mark": {"type": "line", "clip": True},
        "encoding": {**position, "color": look["color"], "strokeDash": look["strokeDash"]},
    }
    told = [
        tooltip("shown_x", plane.x_encoding["title"]),
        tooltip("shown_y", plane.y_encoding["title"]),
    ]
    if len(curves) > 1:
        told.insert(0, {"field": "series", "type": "nominal", "title": " "})
    every = _EVERY if plane.x.step is None else plane.x.step
    hover = {
        "transform": [{"filter": f"datum.i % {every} === 0"}] if plane.x.step is None else [],
        "mark": {"type": "point", "clip": True, "opacity": 0, "size": 200, "aria": False},
        "encoding": {**position, "tooltip": told},
    }
    return {"data": plane.x.data(), "transform": transform, "layer": [line, hover]}


def _points(
    points: Sequence[Points], plane: Plane, look: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The layers of the data: bars through the points first, then points or lines."""
    layers: list[dict[str, Any]] = []
    x, y = {**plane.x_encoding, "field": "x"}, {**plane.y_encoding, "field": "y"}
    told = [
        {"field": "series", "type": "nominal", "title": " "},
        tooltip("x", x["title"]),
        tooltip("y", y["title"]),
    ]
    for p in points:
        data = {"data": {"values": p.rows()}}
        if p.low is not None:
            bar = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": look["color"]}
            layers.append({**data, "mark": {"type": "rule", "clip": True}, "encoding": bar})
        dots = {"x": x, "y": y, "color": look["color"], "shape": look["shape"], "tooltip": told}
        if p.line:
            line = {"x": x, "y": y, "color": look["color"], "strokeDash": look["strokeDash"]}
            layers.append({**data, "mark": {"type": "line", "clip": True}, "encoding": line})
            hidden = {"type": "point", "clip": True, "opacity": 0, "size": 200, "aria": False}
            layers.append({**data, "mark": hidden, "encoding": {"x": x, "y": y, "tooltip": told}})
        else:
            layers.append({**data, "mark": {"type": "point", "clip": True}, "encoding": dots})
    return layers
