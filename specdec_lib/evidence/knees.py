"""Where MoE layers turn compute-bound: against the ridge, and with a hard or a rounded corner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from specdec_lib.evidence.fitting import COMPUTE, FIXED_TIME, MEMORY, Fit, fitted, score
from specdec_lib.evidence.moe_layers import Layers, fastest, screened
from specdec_lib.formula import Formula
from specdec_lib.formulas.experts import balanced_experts, moe_knee
from specdec_lib.formulas.roofline import kernel_time, ridge_point, smooth_kernel_time

#: A kernel on the roofline, by how its corner is taken.
CORNERS: Mapping[str, Formula] = {"hard": kernel_time, "smooth": smooth_kernel_time}

#: At the corner a rounded roofline takes √2 times as long as a hard one; so this is where the knee
#: of a measured curve is read.
AT_KNEE = float(np.sqrt(2))


def whole_curve(timed: Layers, corner: str = "smooth") -> Fit:
    """One t_0, eta_m and eta_c for these rows, below the knee and above."""
    return fitted(
        CORNERS[corner],
        {"t_0": FIXED_TIME, "eta_m": MEMORY, "eta_c": COMPUTE},
        timed.seconds,
        work=timed.work(),
        traffic=timed.traffic(timed.of(balanced_experts)),
        peak=timed.peak,
        bandwidth=timed.bandwidth,
    )


def balanced_curves(timed: Layers | None = None) -> Layers:
    """The fastest screened kernel at every token count, with balanced routing."""
    timed = screened() if timed is None else timed
    return fastest(timed.keep(timed.routing == "balanced"))


class Corner(NamedTuple):
    """A corner's fit to a device's rows at one format: efficiencies and absolute relative errors
    over all rows, and over those from the point where every expert is touched."""

    gpu: str
    format: str
    corner: str
    rows: int
    microseconds: float
    eta_m: float
    eta_c: float
    median: float
    p90: float
    median_beyond: float


def corners(timed: Layers | None = None) -> tuple[Corner, ...]:
    """Hard and rounded corner for every device and format over its models."""
    found = []
    for (device, stored), rows in balanced_curves(timed).groups("gpu", "format"):
        for corner in CORNERS:
            fit = whole_curve(rows, corner)
            off = score(corner, fit.errors)
            beyond = score(corner, fit.errors[rows.assignments >= 1])
            t_0, eta_m, eta_c = fit.values.values()
            found.append(
                Corner(
                    device, stored, corner, len(fit), t_0 * 1e6, eta_m, eta_c, off.median, off.p90,
                    beyond.median,
                )
            )  # fmt: skip
    return tuple(found)


class Knee(NamedTuple):
    """Tokens at which a layer's measured time is √2 times that of reading every expert, and tokens
    at which its arithmetic would be at the ridge; ``early`` is how many times sooner it comes.

    ``top_rate`` is the largest share of the peak that the layer reached at any token count.
    """

    gpu: str
    model: str
    format: str
    measured: float
    ridge: float
    early: float
    top_rate: float


def knees(timed: Layers | None = None) -> tuple[Knee, ...]:
    """The knee of every curve that is measured past it.

    The time of reading every expert is the shortest measured one with all of them touched.  Between
    the token counts that were timed, the square of time grows with that of tokens, as it does on
    the rounded roofline.
    """
    found = []
    for key, rows in balanced_curves(timed).groups("gpu", "model", "format"):
        device, name, stored = key
        full = rows.keep(rows.of(balanced_experts) == rows.E)
        full = full.keep(np.argsort(full.n))
        if not len(full):
            continue
        above = full.seconds > AT_KNEE * full.seconds.min()
        if not above.any() or above[0]:
            continue
        last = int(np.argmax(above))
        pair = slice(last - 1, last + 1)
        squared = np.interp(
            AT_KNEE**2, (full.seconds[pair] / full.seconds.min()) ** 2, full.n[pair] ** 2
        )
        measured = float(np.sqrt(squared))
        ridge = float(
            moe_knee(
                ridge=ridge_point(peak=full.peak[0], bandwidth=full.bandwidth[0]),
                b=full.b[0], E=full.E[0], k=full.k[0], s=0,
            )
        )  # fmt: skip
        top = float(np.max(full.work() / (full.peak * full.seconds)))
        found.append(Knee(device, name, stored, measured, ridge, ridge / measured, top))
    return tuple(found)
