"""Bars: one number a name, or several, side by side; dots where the axis is logarithmic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from specdec_lib import theme
from specdec_lib.charts.axes import around, value_axis
from specdec_lib.charts.checks import finite, nothing_below_zero
from specdec_lib.charts.frame import FORMAT, assemble, legend, role_of_each, tooltip
from specdec_lib.charts.renderer import significant
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, titled, unit_of
from specdec_lib.formula import Formula

__all__ = ["bars"]

#: Height of one bar in pixels.
_BAR = 22

Value = Formula | float


def bars(
    values: Mapping[str, Value] | Mapping[str, Mapping[str, Value]],
    *,
    roles: str | Mapping[str, str],
    value_title: str,
    description: str,
    value_unit: str | None = None,
    log: bool = False,
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    title: str | None = None,
) -> alt.LayerChart:
    """Values by name, top to bottom, each printed at the end of its bar.

    ``values`` maps a name to a Formula or a number, or to several of them by series
    (``{"B200": {"FP8": …, "FP4": …}}``); ``roles`` is one role for all or a role for each series
    (for each name where there are no series).  Formulas of the ``sliders`` are evaluated in the
    reader's browser; numbers are in base units if Formulas stand beside them, otherwise in the
    unit that ``value_title`` says.  With ``log`` dots replace the bars, whose length would mean
    nothing.  Raises as :func:`specdec_lib.charts.curve`.
    """
    rows, nested = _rows(values)
    formulas = {f"{name} {series}": v for name, series, v in rows if isinstance(v, Formula)}
    setting = Setting(formulas.values(), [], sliders, fixed)
    base = unit_of(formulas) if formulas else "1"
    unit, factor = display_unit(base, value_unit)
    heading = titled(value_title, unit)
    seen = [_values(rows, setting, at, log) / factor for at in setting.extremes()]
    span = around(seen, log, None)

    names = list(dict.fromkeys(name for name, _, _ in rows))
    keys = list(dict.fromkeys(series if nested else name for name, series, _ in rows))
    look = role_of_each(keys, roles)
    expressions = ", ".join(
        setting.vega(v) if isinstance(v, Formula) else repr(significant(float(v)))
        for _, _, v in rows
    )
    data = [{"i": i, "name": name, "series": series} for i, (name, series, _) in enumerate(rows)]
    transform = [
        {"calculate": f"[{expressions}][datum.i] / {factor!r}", "as": "value"},
        {"calculate": f"format(datum.value, '{FORMAT}')", "as": "words"},
    ]
    scale: dict[str, Any] = {"domain": [span.low, _roomy(span.low, span.high, log)], "nice": False}
    scale |= {"type": "log"} if log else {}
    place: dict[str, Any] = {
        "y": {
            "field": "name",
            "type": "nominal",
            "title": None,
            "scale": {"domain": names} | ({} if log else {"paddingInner": 0.25}),
            "axis": {"grid": False, "labelLimit": 130},
        }
    }
    if nested:
        place["yOffset"] = {"field": "series", "type": "nominal", "scale": {"domain": keys}}
    length = {
        "field": "value",
        "type": "quantitative",
        "title": heading,
        "scale": scale,
        "axis": {**value_axis(span.low, span.high, log), "labelFlush": False},
    }
    told = [{"field": field, "type": "nominal", "title": " "} for field in ("name", "series")]
    told = [*(told if nested else told[:1]), tooltip("value", heading)]
    colour = {
        "field": "series" if nested else "name",
        "type": "nominal",
        "scale": theme.scale(look).to_dict(),
        "legend": legend(keys, []) if nested else None,
    }
    mark = {"type": "point", "size": 90} if log else {"type": "bar", "cornerRadiusEnd": 2}
    encoding = {**place, "x": length}
    layers = [
        {"mark": mark, "encoding": {**encoding, "color": colour, "tooltip": told}},
        {
            "mark": {"type": "text", "align": "left", "dx": 8 if log else 4, "aria": False},
            "encoding": {**encoding, "text": {"field": "words", "type": "nominal"}},
        },
    ]
    whole = {"data": {"values": data}, "transform": transform, "layer": layers}
    height = len(rows) * _BAR + 10 * len(names)
    return assemble([whole], setting, description=description, title=title, height=height)


def _rows(values: Mapping[str, Any]) -> tuple[list[tuple[str, str, Value]], bool]:
    """(name, series, value) of each bar, and whether there are series."""
    if not values:
        raise ValueError("nothing to draw: values is empty")
    nested = {isinstance(value, Mapping) for value in values.values()}
    if len(nested) > 1:
        raise ValueError("either every name has series or none has")
    if nested == {False}:
        return [(name, "", value) for name, value in values.items()], False
    return [(n, key, value) for n, group in values.items() for key, value in group.items()], True


def _values(
    rows: list[tuple[str, str, Value]], setting: Setting, at: Mapping[str, float], log: bool
) -> np.ndarray:
    """The value of each bar in base units with the sliders ``at`` their values, all drawable."""
    where = ", ".join(f"{key} = {value:g}" for key, value in at.items())
    hint = f" (sliders at {where})" if where else ""
    values = []
    for name, series, value in rows:
        what = f"values[{name!r}]" + (f"[{series!r}]" if series else "") + hint
        number = setting.number(value, at) if isinstance(value, Formula) else value
        values.append(finite(number, what))
        if log:
            nothing_below_zero(values[-1], what, "log=True")
    return np.array(values)


def _roomy(low: float, high: float, log: bool) -> float:
    """The end of the axis, with room for the number behind the longest bar."""
    return high * (high / low) ** 0.25 if log else high + 0.22 * (high - low)
