"""The roofline: what rate a machine reaches at each arithmetic intensity, with layers on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from specdec_lib.charts.checks import finite, nothing_below_zero
from specdec_lib.charts.lines import curve
from specdec_lib.charts.marks import Marker
from specdec_lib.charts.sliders import Slider
from specdec_lib.formula import Formula

__all__ = ["Layer", "roofline"]


@dataclass(frozen=True)
class Layer:
    """A layer on the roofline: its ``intensity``, a number or a Formula, under one ``machine``.

    Without ``machine`` it stands under the first one.  Raises ValueError for a number that is not
    finite and positive.
    """

    intensity: Formula | float
    label: str
    role: str
    machine: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.intensity, Formula):
            what = f"layer {self.label!r}: intensity"
            nothing_below_zero(finite(self.intensity, what), what, "the layer")


def roofline(
    rate: Formula,
    machines: Mapping[str, Mapping[str, float]],
    layers: Sequence[Layer] = (),
    *,
    roles: str | Mapping[str, str],
    description: str,
    x: str = "intensity",
    over: tuple[float, float] = (1.0, 1e4),
    y_title: str = "attainable rate",
    y_unit: str = "TFLOP/s",
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    title: str | None = None,
    height: int = 380,
) -> alt.LayerChart:
    """The ``rate`` that each machine attains against the arithmetic intensity ``x``, log-log.

    ``machines`` maps a label to the values that bind ``rate`` to it
    (``{"peak": 989e12, "bandwidth": 3.35e12}``); the remaining symbol is the axis.  Each of the
    ``layers`` stands on the roof of its machine at its intensity, with its name along a line down
    to the axis; intensities that are Formulas move with the ``sliders``.  Raises as
    :func:`specdec_lib.charts.curve`.
    """
    if not machines:
        raise ValueError("a roofline needs a machine")
    roofs = {label: rate.where(**values) for label, values in machines.items()}
    first = next(iter(roofs))
    markers = [
        Marker(one.intensity, one.label, one.role, on=one.machine or first, drop=True)
        for one in layers
    ]
    return curve(
        roofs,
        x=x,
        over=over,
        roles=roles,
        y_title=y_title,
        y_unit=y_unit,
        description=description,
        log=True,
        y_log=True,
        sliders=sliders,
        fixed=fixed,
        markers=markers,
        title=title,
        height=height,
    )
