"""How far the y axis of a line chart reaches, and what is refused because it lies beyond."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from specdec_lib.charts.axes import Span, around
from specdec_lib.charts.checks import finite, nothing_below_zero, within
from specdec_lib.charts.marks import Marker, Points, Rule
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.setting import Setting
from specdec_lib.formula import Formula

__all__ = ["check_inside", "check_points", "extent", "rounded_ends"]


def extent(
    curves: Mapping[str, Formula],
    x: str,
    across: Span,
    setting: Setting,
    marks: Sequence[Rule | Marker],
    points: Sequence[Points],
    factor: float,
    log: bool,
    over: tuple[float, float] | None,
) -> tuple[Span, bool]:
    """The y axis in base units, and whether a curve may leave it.

    Without ``over`` it has room for every curve, reference line, marker and datum at the extremes
    of the sliders, at which every formula is evaluated on the way.  Raises ValueError for what a
    logarithmic axis cannot show.
    """
    seen: list[np.ndarray] = []
    for at in setting.extremes():
        where = ", ".join(f"{key} = {value:g}" for key, value in at.items())
        for label, formula in curves.items():
            seen.append(setting.value(formula, at, **{x: across.samples()}))
            if log:
                name = f"curve {label!r}" + (f" (sliders at {where})" if where else "")
                nothing_below_zero(seen[-1], name, "y_log=True")
        seen.extend(np.asarray(value) for value in _levels(marks, setting, at, log))
    check_points(points, False, log)
    for p in points:
        seen.extend(v * factor for key, v in p.columns().items() if key != "x")
    ends = None if over is None else (over[0] * factor, over[1] * factor)
    leaves = over is not None or not all(np.all(np.isfinite(values)) for values in seen)
    span = around(seen, log, ends)
    if over is None and not log:
        low, high = rounded_ends(span.low / factor, span.high / factor)
        span = Span(low * factor, high * factor)
    return span, leaves


def _levels(
    marks: Sequence[Rule | Marker], setting: Setting, at: Mapping[str, float], log: bool
) -> list[float]:
    """The heights of the reference lines and markers that state one; Formulas may be infinite."""
    found = []
    for mark in marks:
        if isinstance(mark, Rule):
            position = setting.number(mark.at, at)  # off the domain it raises, on either axis
            level = position if mark.axis == "y" else None
        else:
            setting.number(mark.x, at)
            level = None if mark.y is None else setting.number(mark.y, at)
        if level is not None:
            if log:
                nothing_below_zero(level, f"{_name(mark)}: its height", "y_log=True")
            found.append(level)
    return found


def _name(mark: Rule | Marker) -> str:
    return f"{type(mark).__name__.lower()} {mark.label!r}"


def check_points(points: Sequence[Points], x_log: bool, y_log: bool) -> None:
    """ValueError for data that a logarithmic axis cannot show."""
    for p in points:
        for name, column in p.columns().items():
            if x_log if name == "x" else y_log:
                axis = "log=True" if name == "x" else "y_log=True"
                nothing_below_zero(column, f"points {p.label!r}: {name}", axis)


def check_inside(
    rules: Sequence[Rule],
    markers: Sequence[Marker],
    points: Sequence[Points],
    plane: Plane,
    x: str,
    curves: Mapping[str, Formula],
) -> None:
    """ValueError for a mark or data that the chart does not show when it opens."""
    setting, opening = plane.setting, plane.setting.opening()
    across = (plane.x.low, plane.x.high)  # in base units, as over= states them
    size = plane.y_factor  # and y in the unit shown, as y_over= does
    upwards = (plane.y.low / size, plane.y.high / size)
    for rule in rules:
        at = setting.number(rule.at, opening)
        name = f"rule {rule.label!r} opens at"
        if rule.axis == "x":
            within(at, *across, name, "widen over=, or move it")
        else:
            within(at / size, *upwards, name, "widen y_over=, or move it")
    for marker in markers:
        at = setting.number(marker.x, opening)
        name = f"marker {marker.label!r} opens at"
        within(at, *across, f"{name} {x} =", "widen over=, or move it")
        if marker.y is not None:
            level = setting.number(marker.y, opening)
        elif marker.on in curves:
            level = float(setting.value(curves[str(marker.on)], opening, **{x: np.asarray(at)}))
        else:
            there = ", ".join(map(repr, curves))
            raise ValueError(f"marker {marker.label!r}: no curve {marker.on!r}; there are {there}")
        finite(level, f"marker {marker.label!r}: its height")
        within(level / size, *upwards, f"{name} a height of", "widen y_over=, or move it")
    for p in points:
        for name, column in p.columns().items():
            if p.line and name != "x":
                continue  # a line is cut where it leaves the frame, like a curve
            unit = plane.x_factor if name == "x" else 1.0  # data come in the units shown
            ends, remedy = (across, "over=") if name == "x" else (upwards, "y_over=")
            for end in (column.min(), column.max()):
                what = f"points {p.label!r}: {name} reaches to"
                within(float(end) * unit, *ends, what, f"widen {remedy}, or leave rows out")


def rounded_ends(low: float, high: float) -> tuple[float, float]:
    """The ends of a linear axis moved outwards to round numbers, a tenth or so of it at most.

    >>> rounded_ends(0.0, 36.7), rounded_ends(-0.3, 0.97)
    ((0.0, 40.0), (-0.3, 1.0))
    """
    rough = (high - low) / 10
    power = 10.0 ** math.floor(math.log10(rough))
    steps = zip((50**0.5, 10**0.5, 2**0.5, 0.0), (10, 5, 2, 1), strict=True)
    step = power * next(size for least, size in steps if rough / power >= least)
    ends = (math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")
