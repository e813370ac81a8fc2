"""Maps of the best draft length: for every cell all lengths are tried where the chart is drawn.

The chart carries two kinds of Formula, the time of a step and the speedup, each once: Vega works
out the step for every cell and every length, takes that without a draft as the price, and keeps the
length with the greatest speedup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from specdec_lib import theme
from specdec_lib.charts.cells import Cells
from specdec_lib.charts.frame import FORMAT, assemble
from specdec_lib.charts.menus import Menus
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.formula import Formula

__all__ = ["optimum"]

#: The most speedups that a move of a slider works out, to stay within a frame.
MOST_SPEEDUPS = 6000

#: Two lengths whose speedups differ by less, relative to the larger, are the same: the shorter one
#: is the best.
TIE = 1e-12

#: What the steps and the speedup hand to each other, and so has no other source.
_INNER = ("gamma", "T", "C_0", "C_verify")

_HEADING = "best draft length γ*; grey: no draft"


def optimum(
    speedup: Formula,
    steps: Formula | Mapping[tuple[str, ...], Formula],
    x: Cells,
    y: Cells,
    *,
    description: str,
    longest: int = 16,
    menus: Sequence[str] = (),
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    title: str | None = None,
    height: int = 360,
) -> alt.LayerChart:
    """The best draft length of 0 … ``longest`` in every cell, found in the reader's browser.

    ``speedup`` is a Formula in γ, C_0, C_verify and more; ``steps`` the time of a step, a Formula
    in T and more, or one for each combination of choices in ``menus``, which the reader picks
    among.  C_verify is the step at T = γ + 1, C_0 that at T = 1.  The other symbols come from the
    axes, which are lists of values, from ``sliders`` or from ``fixed``.  Lengths whose speedups
    agree within 1e-12 count as equal, and the shorter one is taken.

    Raises as :func:`specdec_lib.charts.curve`, and ValueError for menus without a step for every
    combination or more speedups than can be worked out within a frame.
    """
    choices = Menus.of(menus, steps)
    setting = _setting(speedup, choices.values, x, y, sliders, fixed)
    columns, rows = x.numbers.size, y.numbers.size
    asked = columns * rows * (longest + 1)
    if not longest >= 1 or asked > MOST_SPEEDUPS:
        raise ValueError(
            f"{columns} × {rows} cells with drafts of 0 to {longest} tokens are {asked} speedups; "
            f"a chart works out {MOST_SPEEDUPS} at most, and needs a longest draft of at least 1"
        )
    _check(speedup, choices.values, x, y, setting, longest)

    known_x, known_y = setting.known[x.keyword], setting.known[y.keyword]
    places = {x.keyword: "datum.x", y.keyword: "datum.y", "gamma": "datum.gamma"}
    step = choices.chosen(
        {at: setting.vega(formula, **places, T="datum.T") for at, formula in choices.items.items()}
    )
    gain = setting.vega(speedup, **places, C_0="datum.C_0", C_verify="datum.C_verify")
    transform: list[dict[str, Any]] = [
        *x.transform("x", f"datum.i % {columns}", known_x),
        *y.transform("y", f"floor(datum.i / {columns})", known_y),
        {"calculate": f"sequence({longest + 1})", "as": "gamma"},
        {"flatten": ["gamma"]},
        {"calculate": "datum.gamma + 1", "as": "T"},
        {"calculate": step, "as": "C_verify"},
        # the step without a draft, which each cell has as its first row, is the plain one
        {
            "window": [{"op": "first_value", "field": "C_verify", "as": "C_0"}],
            "groupby": ["i"],
            "sort": [{"field": "gamma", "order": "ascending"}],
        },
        {"calculate": f"datum.gamma === 0 ? 1 : {gain}", "as": "gain"},
        {"calculate": f"datum.gain * (1 - {TIE!r} * datum.gamma)", "as": "merit"},
        {"aggregate": [{"op": "argmax", "field": "merit", "as": "best"}], "groupby": ["i"]},
        *(
            {"calculate": f"datum.best.{field}", "as": name}
            for name, field in (
                ("x", "x"),
                ("y", "y"),
                ("x_words", "x_words"),
                ("y_words", "y_words"),
                ("length", "gamma"),
                ("speedup", "gain"),
            )
        ),
        {"calculate": f"format(datum.speedup, '{FORMAT}')", "as": "words"},
    ]
    position = {**x.channels("x", known_x, False), **y.channels("y", known_y, False)}
    told = [
        {"field": "x_words", "type": "nominal", "title": x.heading(known_x)},
        {"field": "y_words", "type": "nominal", "title": y.heading(known_y)},
        {"field": "length", "type": "nominal", "title": "best draft length"},
        {"field": "words", "type": "nominal", "title": "speedup"},
    ]
    printed = {
        **position,
        "text": {"field": "length", "type": "nominal"},
        "color": _ink(longest),
        # two digits in a narrow cell are small ones
        "size": {"value": {"expr": f"width > {columns * 22} ? 12 : 9"}},
    }
    layers = [
        {
            "mark": {"type": "rect"},
            "encoding": {**position, "color": _colour(longest), "tooltip": told},
        },
        {"mark": {"type": "text", "aria": False}, "encoding": printed},
    ]
    data = {"sequence": {"start": 0, "stop": columns * rows, "step": 1, "as": "i"}}
    whole = {"data": data, "transform": transform, "layer": layers}
    chart = assemble([whole], setting, description=description, title=title, height=height)
    return choices.added(chart)


def _setting(
    speedup: Formula,
    steps: Sequence[Formula],
    x: Cells,
    y: Cells,
    sliders: Mapping[str, Slider] | None,
    fixed: Mapping[str, float] | None,
) -> Setting:
    """The sources of all symbols; ValueError where a Formula lacks what ties the two together."""
    of_speedup = {known.keyword for known in speedup.inputs}
    if not {"gamma", "C_0", "C_verify"} <= of_speedup:
        raise ValueError(
            f"{speedup.title} depends on {', '.join(sorted(of_speedup))}; a speedup needs gamma, "
            "C_0 and C_verify: substitute the tokens and the cost of drafting alone"
        )
    for step in steps:
        if "T" not in {known.keyword for known in step.inputs}:
            raise ValueError(f"{step.title} does not depend on the verify width T")
    for axis in (x, y):
        if axis.count is not None:
            raise ValueError(f"{axis.keyword}: a map of lengths has single values, not intervals")
    return Setting([*steps, speedup], [x.keyword, y.keyword, *_INNER], sliders, fixed)


def _check(
    speedup: Formula,
    steps: Sequence[Formula],
    x: Cells,
    y: Cells,
    setting: Setting,
    longest: int,
) -> None:
    """Everything is in its domain at the extremes of the sliders, every step a positive time."""
    axes = {x.keyword: x.numbers[None, :, None], y.keyword: y.numbers[:, None, None]}
    axes |= {"gamma": np.arange(longest + 1), "T": np.arange(longest + 1) + 1}
    axes |= {"C_0": np.ones(()), "C_verify": np.ones(())}
    for formula in (*steps, speedup):
        inputs = {known.keyword for known in formula.inputs}
        here = {key: value for key, value in axes.items() if key in inputs}
        seen = []
        for at in setting.extremes():
            relevant = {key: value for key, value in at.items() if key in inputs}
            if relevant in seen:
                continue
            seen.append(relevant)
            values = setting.value(formula, at, **here)
            if formula is not speedup and not np.all(np.isfinite(values) & (values > 0)):
                raise ValueError(f"{formula.title} is not a positive time everywhere on the map")


def _colour(longest: int) -> dict[str, Any]:
    """Grey where no draft is best; else by length on a logarithmic scale, since the difference
    between one token and two matters more than that between eleven and twelve."""
    marks = [length for length in (1, 2, 4, 8, 16, 32) if length <= longest]
    return {
        "condition": {"test": "datum.length === 0", "value": theme.role_colour("threshold")},
        "field": "length",
        "type": "quantitative",
        "scale": {"type": "log", "scheme": "viridis", "domain": [1, max(longest, 2)]},
        "legend": {
            "title": _HEADING,
            "gradientLength": 220,
            "values": marks,
            "format": "d",
            "titleLimit": 300,
        },
    }


def _ink(longest: int) -> dict[str, Any]:
    """Black letters on the lighter part of the colours."""
    light = f"datum.length > {float(max(longest, 2) ** 0.55)!r}"
    return {"condition": {"test": light, "value": "#000000"}, "value": "#ffffff"}
