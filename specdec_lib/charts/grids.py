"""Grids: a Formula over two axes, as cells coloured by value or by their side of a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from specdec_lib import theme
from specdec_lib.charts.cells import Cells, Named
from specdec_lib.charts.checks import finite, nothing_below_zero
from specdec_lib.charts.frame import FORMAT, assemble, legend
from specdec_lib.charts.renderer import significant
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, literal, titled, unit_of
from specdec_lib.formula import Formula

__all__ = ["Sides", "grid"]

#: The most cells of a grid, so that a slider redraws it within a frame.
MOST_CELLS = 800

#: Up to this many columns the number stands in each cell, also on a narrow page.
MOST_PRINTED = 8

#: Numbers in the cells of rows with names, which leave less room: three significant digits.
SHORT = ",.3~r"


@dataclass(frozen=True)
class Sides:
    """Two sides of a threshold: cells below ``at``, and cells at or above it.

    ``at`` is a number or a Formula, in base units; each side is its label and its role.  Raises
    ValueError for a number that is not finite.
    """

    at: Formula | float
    below: tuple[str, str]
    above: tuple[str, str]

    def __post_init__(self) -> None:
        if not isinstance(self.at, Formula):
            finite(self.at, "sides: at")


def grid(
    formula: Formula | Mapping[str, Formula],
    x: Cells,
    y: Cells | None = None,
    *,
    value_title: str,
    description: str,
    sides: Sides | None = None,
    value_unit: str | None = None,
    value_log: bool = False,
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    title: str | None = None,
    height: int = 320,
) -> alt.LayerChart:
    """A Formula over two axes, evaluated in the reader's browser; or several over one, a row each.

    With ``sides`` each cell takes the colour of its side, and where there are few columns the
    number stands in it, ∞ where there is none; otherwise the colour says the value, on a
    logarithmic scale if ``value_log``.  Raises as :func:`specdec_lib.charts.curve`, and ValueError
    for more cells than can be redrawn within a frame.
    """
    threshold = [sides.at] if sides is not None and isinstance(sides.at, Formula) else []
    formulas, down = _rows(formula, y)
    axes = [axis.keyword for axis in (x, down) if axis.keyword is not None]
    setting = Setting([*formulas, *threshold], axes, sliders, fixed)
    columns, rows = x.numbers.size, down.numbers.size
    digits = SHORT if y is None else FORMAT
    if columns * rows > MOST_CELLS:
        raise ValueError(f"{columns} × {rows} cells are too many; {MOST_CELLS} at most")
    unit, factor = display_unit(unit_of(_titled(formula, value_title)), value_unit)
    ends = _ends(formulas, threshold, x, down, setting)

    known_x, known_y = setting.known[x.keyword], setting.known.get(down.keyword or "")
    places = dict(zip(axes, ("datum.x", "datum.y"), strict=False))
    each = [setting.vega(one, **places) for one in formulas]
    expression = f"[{', '.join(each)}][floor(datum.i / {columns})]" if y is None else each[0]
    transform: list[dict[str, Any]] = [
        *x.transform("x", f"datum.i % {columns}", known_x),
        *down.transform("y", f"floor(datum.i / {columns})", known_y),
        {"calculate": expression, "as": "base_value"},
        {"calculate": f"datum.base_value / {factor!r}", "as": "value"},
        {
            "calculate": f"isFinite(datum.value) ? format(datum.value, '{digits}') : '∞'",
            "as": "words",
        },
    ]
    heading = titled(value_title, unit)
    single = x.count is None and down.count is None
    position = {**x.channels("x", known_x, single), **down.channels("y", known_y, single)}
    told = [
        {"field": "x_words", "type": "nominal", "title": x.heading(known_x)},
        {"field": "y_words", "type": "nominal", "title": down.heading(known_y)},
        {"field": "words", "type": "nominal", "title": heading},
    ]
    if sides is None:
        colour = _by_value(heading, value_log, [end / factor for end in ends])
    else:
        at = setting.vega(sides.at) if isinstance(sides.at, Formula) else repr(float(sides.at))
        named = f"{literal(sides.below[0])} : {literal(sides.above[0])}"
        transform.append({"calculate": f"datum.base_value < {at} ? {named}", "as": "side"})
        colour = _by_side(sides)
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rect"}, "encoding": {**position, "color": colour, "tooltip": told}}
    ]
    if sides is not None and single and columns <= MOST_PRINTED:
        text = {"field": "words", "type": "nominal"}
        printed = {**position, "text": text, "color": _ink(sides)}
        layers.append({"mark": {"type": "text", "aria": False}, "encoding": printed})
    data = {"sequence": {"start": 0, "stop": columns * rows, "step": 1, "as": "i"}}
    whole = {"data": data, "transform": transform, "layer": layers}
    return assemble([whole], setting, description=description, title=title, height=height)


def _titled(formula: Formula | Mapping[str, Formula], title: str) -> dict[str, Formula]:
    return dict(formula) if isinstance(formula, Mapping) else {title: formula}


def _rows(
    formula: Formula | Mapping[str, Formula], y: Cells | None
) -> tuple[list[Formula], Cells | Named]:
    """The Formulas and the vertical axis: that of one Formula, or one with a row for each."""
    if isinstance(formula, Mapping):
        if y is not None:
            raise ValueError("several Formulas have a row each: leave the second axis out")
        return list(formula.values()), Named(tuple(formula))
    if y is None:
        raise ValueError("one Formula needs a second axis; several need none, by their labels")
    return [formula], y


def _ends(
    formulas: list[Formula], threshold: list[Formula], x: Cells, y: Cells | Named, setting: Setting
) -> tuple[float, float]:
    """The least and the greatest finite value over the extremes of the sliders, so that the
    colours keep their meaning while a slider moves; DomainError where there is no value."""
    axes = {x.keyword: x.numbers[None, :]}
    if y.keyword is not None:
        axes[y.keyword] = y.numbers[:, None]
    seen = []
    for at in setting.extremes():
        seen += [setting.value(formula, at, **axes) for formula in formulas]
        for line in threshold:
            setting.number(line, at)
    values = np.concatenate([np.ravel(value) for value in seen])
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise ValueError("the grid has nothing to show: no value is finite")
    return float(finite.min()), float(finite.max())


def _by_value(heading: str, log: bool, ends: list[float]) -> dict[str, Any]:
    if log:
        nothing_below_zero(ends, f"the value of the cells, {heading!r},", "value_log=True")
    scale: dict[str, Any] = {"scheme": "viridis", "domain": [significant(end) for end in ends]}
    if log:
        scale["type"] = "log"
    return {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "legend": {"title": heading, "gradientLength": 220},
    }


def _by_side(sides: Sides) -> dict[str, Any]:
    labels = dict([sides.below, sides.above])
    shown = legend(list(labels), [])
    if shown is None:
        raise ValueError(f"the two sides have the same label, {sides.below[0]!r}")
    return {
        "field": "side",
        "type": "nominal",
        "scale": theme.scale(labels).to_dict(),
        "legend": {**shown, "symbolType": "square", "symbolSize": 160},
    }


def _ink(sides: Sides) -> dict[str, Any]:
    """Black or white letters, whichever is easier to read on the colour of each side."""
    below, above = (theme.ink_on(theme.role_colour(role)) for _, role in (sides.below, sides.above))
    here = f"datum.side === {literal(sides.below[0])}"
    return {"condition": {"test": here, "value": below}, "value": above}
