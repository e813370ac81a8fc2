"""What routing does to A(n): each kernel learnt from balanced routing, then asked about a skew.

Every series, one kernel with one model, has its own t_0 and eta_m here, so that differences between
kernels do not hide which law of A(n) holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from specdec_lib.evidence.fitting import Floats, Score, relative_errors, score
from specdec_lib.evidence.layer_laws import fit_layers, predicted
from specdec_lib.evidence.moe_layers import Layers, below_knee, screened
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.formulas.roofline import kernel_time

SERIES = ("gpu", "engine", "kernel", "format", "model")
SKEWED = "power_law_1.01"

#: Fewest rows from which a series' two values are learnt.
FEWEST = 4


def series(timed: Layers | None = None) -> Iterator[tuple[Layers, Layers]]:
    """The balanced and the skewed rows of every screened series below its compute knee."""
    timed = screened() if timed is None else timed
    for _, rows in timed.groups(*SERIES):
        yield below_knee(rows), below_knee(rows, SKEWED)


def routing_scores(timed: Layers | None = None) -> tuple[Score, ...]:
    """Which law of A(n) holds under which routing.

    min(n·k, E) fitted to each series' balanced rows; both laws on its skewed rows with what the
    balanced ones taught, nothing fitted; and both fitted to the skewed rows.
    """
    found = list(series(timed))
    taught = [(fit_layers(even), skewed) for even, skewed in found if len(even) >= FEWEST]
    fits = [skewed for _, skewed in found if len(skewed) >= FEWEST]

    def told(law: str) -> Floats:
        return np.concatenate(
            [relative_errors(predicted(rows, fit, law), rows.seconds) for fit, rows in taught]
        )

    def own(law: str) -> Floats:
        return np.concatenate([fit_layers(rows, law).errors for rows in fits])

    return (
        score("balanced rows: min(nk, E)", np.concatenate([fit.errors for fit, _ in taught])),
        score("skewed rows, taught by balanced ones: uniform", told("uniform")),
        score("skewed rows, taught by balanced ones: min(nk, E)", told("balanced")),
        score("skewed rows: uniform", own("uniform")),
        score("skewed rows: min(nk, E)", own("balanced")),
    )


class Touched(NamedTuple):
    """Experts that skewed routing touched, from its times, beside the uniform law."""

    gpu: str
    model: str
    format: str
    n: float
    implied: float
    uniform: float


def implied_experts(timed: Layers | None = None) -> tuple[Touched, ...]:
    """How many experts the skewed rows must have read, given what their kernel takes for one."""
    found = []
    for even, rows in series(timed):
        if len(even) < FEWEST or not len(rows):
            continue
        fit = fit_layers(even)
        one, two = (
            kernel_time(
                work=0, traffic=rows.traffic(np.full(len(rows), experts)), peak=rows.peak,
                bandwidth=rows.bandwidth, eta_c=1, **fit.values,
            )
            for experts in (1.0, 2.0)
        )  # fmt: skip
        implied = 1 + (rows.seconds - one) / (two - one)  # the law is a straight line in A
        uniform = rows.of(distinct_experts)
        found += [
            Touched(str(rows.gpu[i]), str(rows.model[i]), str(rows.format[i]), *map(float, three))
            for i, three in enumerate(zip(rows.n, implied, uniform, strict=True))
        ]
    return tuple(found)
