"""Curves: Formulas over an axis, computed inside the chart, with data beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from specdec_lib.charts.axes import Span, around, padded, value_axis
from specdec_lib.charts.extent import check_inside, check_points, extent, rounded_ends
from specdec_lib.charts.frame import assemble, role_of_each
from specdec_lib.charts.marks import Marker, Points, Rule
from specdec_lib.charts.overlays import marker_layers, rule_layers
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.room import Room
from specdec_lib.charts.series import curve_layer, look_of, point_layers
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, quantity_title, titled, unit_of
from specdec_lib.formula import Formula, unit_text

__all__ = ["curve", "scatter"]


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
    x_text, x_factor = display_unit(unit_text(known.unit), x_unit)

    across = Span.of(over, log)
    upwards, leaves = extent(
        curves, x, across, setting, [*rules, *markers], points, y_factor, y_log, y_over
    )
    plane = Plane(
        x=across,
        y=upwards,
        x_factor=x_factor,
        y_factor=y_factor,
        x_encoding=across.encoding("shown_x", quantity_title(known, x_title, x_text), x_factor),
        y_encoding=_y_encoding(upwards, titled(y_title, y_text), y_factor),
        setting=setting,
        leaves=leaves,
        room=Room(height),
    )
    check_inside(rules, markers, points, plane, x, curves)
    _note_what_is_drawn(curves, x, points, plane)
    look = look_of(role_of_each(list(curves), roles), points)

    def height_of(marker: Marker) -> str:
        if marker.y is not None:
            return plane.expression(marker.y)
        return setting.vega(curves[str(marker.on)], **{x: "datum.x"})

    layers = [
        *rule_layers(rules, plane),
        curve_layer(curves, x, plane, look),
        *point_layers(points, plane, look),
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
    check_points(points, log, y_log)
    columns = [p.columns() for p in points]
    xs = np.concatenate([c["x"] for c in columns])
    setting = Setting([], [], None, None)
    across = Span.of(padded(xs, log), log)
    upwards = around([v for c in columns for key, v in c.items() if key != "x"], y_log, None)
    if not y_log:
        upwards = Span(*rounded_ends(upwards.low, upwards.high))
    plane = Plane(
        x=across,
        y=upwards,
        x_factor=1.0,
        y_factor=1.0,
        x_encoding=across.encoding("x", titled(x_title, "")),
        y_encoding=_y_encoding(upwards, titled(y_title, ""), 1.0),
        setting=setting,
    )
    layers = point_layers(points, plane, look_of({}, points))
    first = layers[0]["encoding"]
    for side, encoding in (("x", plane.x_encoding), ("y", plane.y_encoding)):
        first[side] |= {"axis": encoding["axis"], "scale": encoding["scale"]}
    return assemble(layers, setting, description=description, title=title, height=height)


def _y_encoding(span: Span, title: str, factor: float) -> dict[str, Any]:
    encoding = span.encoding("shown_y", title, factor)
    encoding["axis"] = value_axis(span.low / factor, span.high / factor, span.log)
    encoding["axis"].pop("labelFlush")
    return encoding


def _note_what_is_drawn(
    curves: Mapping[str, Formula], x: str, points: Sequence[Points], plane: Plane
) -> None:
    """Tell the plane's room for labels where curves and data stand as the chart opens."""
    at, opening = plane.x.samples(), plane.setting.opening()
    for formula in curves.values():
        values = plane.setting.value(formula, opening, **{x: at})
        plane.room.add_path(*plane.shares(at, values))
    for p in points:
        columns = p.columns()
        shares = plane.shares(columns["x"] * plane.x_factor, columns["y"] * plane.y_factor)
        (plane.room.add_path if p.line else plane.room.add_points)(*shares)
