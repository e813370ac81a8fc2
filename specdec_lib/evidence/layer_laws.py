"""MoE layers below their compute knee: one fixed time and one efficiency, and how many experts.

The law is t₀ + A(n)·P_e·b/(η_m·β).  What A(n) is depends on the routing; its rivals are a cost
that is linear in tokens and one that reads every expert at any batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from specdec_lib.evidence.fitting import (
    FIXED_TIME,
    MEMORY,
    Fit,
    Floats,
    Score,
    fitted,
    relative_errors,
    score,
)
from specdec_lib.evidence.moe_layers import Layers, below_knee, fastest, screened
from specdec_lib.formulas.experts import balanced_experts, distinct_experts
from specdec_lib.formulas.locality import assigned_experts
from specdec_lib.formulas.roofline import kernel_time

Law = Callable[[Layers], Floats]

#: How many experts n tokens touch, by the name of the law.
LAWS: Mapping[str, Law] = {
    "balanced": lambda timed: timed.of(balanced_experts),
    "uniform": lambda timed: timed.of(distinct_experts),
    "linear": lambda timed: timed.of(assigned_experts),
    "all experts": lambda timed: timed.E,
}

#: The values of the law, and those of a roofline without a fixed time.
FREE = {"t_0": FIXED_TIME, "eta_m": MEMORY}


def fit_layers(timed: Layers, law: str = "balanced", *, fixed_time: bool = True) -> Fit:
    """One t_0 in seconds and one eta_m for all these rows; t_0 is zero without ``fixed_time``."""
    free = FREE if fixed_time else {"eta_m": MEMORY}
    return fitted(kernel_time, free, timed.seconds, **_given(timed, law, fixed_time))


def _given(timed: Layers, law: str, fixed_time: bool = True) -> dict[str, object]:
    given: dict[str, object] = {
        "work": 0.0,  # below the knee the arithmetic hides behind the reading
        "traffic": timed.traffic(LAWS[law](timed)),
        "peak": timed.peak,
        "bandwidth": timed.bandwidth,
        "eta_c": 1.0,
    }
    return given if fixed_time else {**given, "t_0": 0.0}


def predicted(timed: Layers, fit: Fit, law: str = "balanced") -> Floats:
    """Seconds of each row by the fitted values."""
    fixed_time = "t_0" in fit.values
    return np.broadcast_to(
        kernel_time(**_given(timed, law, fixed_time), **fit.values), timed.seconds.shape
    )


def held_against(routing: str = "balanced") -> Layers:
    """The rows of the bars: screened kernels, the fastest at each point, below the knee."""
    return fastest(below_knee(screened(), routing))


class DeviceFit(NamedTuple):
    """One fixed time and one efficiency of a device, and how well they describe its rows."""

    gpu: str
    engine: str
    rows: int
    microseconds: float
    eta_m: float
    median: float
    p90: float


def device_fits(timed: Layers | None = None, *, by_engine: bool = False) -> tuple[DeviceFit, ...]:
    """One (t_0, eta_m) for every accelerator over models and precisions, or for each engine too.

    By engine all its screened rows count, by accelerator alone the fastest kernel at each point.
    """
    if timed is None:
        timed = below_knee(screened()) if by_engine else held_against()
    names = ("gpu", "engine") if by_engine else ("gpu",)
    found = []
    for key, rows in timed.groups(*names):
        fit = fit_layers(rows)
        off = score(key[0], fit.errors)
        t_0, eta_m = fit.values["t_0"], fit.values["eta_m"]
        engine = key[1] if by_engine else "fastest"
        found.append(DeviceFit(key[0], engine, len(fit), t_0 * 1e6, eta_m, off.median, off.p90))
    return tuple(found)


def left_out_errors(timed: Layers, law: str = "balanced", *, fixed_time: bool = True) -> Floats:
    """Signed relative errors of each row, predicted by the rows of the other models on its device.

    Raises ValueError where a device has one model only.
    """
    errors = np.full(len(timed), np.nan)
    for device in np.unique(timed.gpu):
        for name in np.unique(timed.model[timed.gpu == device]):
            own = (timed.gpu == device) & (timed.model == name)
            others = timed.keep((timed.gpu == device) & (timed.model != name))
            if not len(others):
                raise ValueError(f"{device} has no model but {name} to learn from")
            rows = timed.keep(own)
            fit = fit_layers(others, law, fixed_time=fixed_time)
            errors[own] = relative_errors(predicted(rows, fit, law), rows.seconds)
    return errors


def rivals(timed: Layers | None = None) -> tuple[Score, ...]:
    """The law and its rivals on models left out of their fits: linear in tokens, every expert,
    the uniform law, and the law without a fixed time."""
    timed = held_against() if timed is None else timed
    scores = [score(law, left_out_errors(timed, law)) for law in LAWS]
    bare = left_out_errors(timed, "balanced", fixed_time=False)
    return (*scores, score("balanced, no fixed time", bare))


def left_out_scores(timed: Layers | None = None, by: str = "gpu") -> tuple[Score, ...]:
    """The score of left-out models by a column: ``"gpu"``, ``"model"`` or ``"format"``."""
    timed = held_against() if timed is None else timed
    errors = left_out_errors(timed)
    column = getattr(timed, by)
    return tuple(score(str(one), errors[column == one]) for one in np.unique(column))
