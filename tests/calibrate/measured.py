"""Measurements that are made: by a deployment that is known, with noise that is seeded."""

from __future__ import annotations

from typing import Any

import numpy as np

import specdec_lib as sd
from specdec_lib.calibrate import Measurement

GPU = sd.gpu("b200")
DENSE = sd.model("llama-3.1-8b")
MIXTURE = sd.model("deepseek-v4-flash")
BASE = sd.Deployment.typical(GPU)

#: Batches and widths that reach from the overhead to the arithmetic.
POINTS = tuple((B, T) for B in (1, 16, 128, 512) for T in (1, 4))


def steps(
    cost: sd.StepCost, points: Any = POINTS, S: float = 4096, noise: float = 0.0, seed: int = 0
) -> list[Measurement]:
    """Step times of a cost at points (B, T), each off by a lognormal factor."""
    off = np.exp(noise * np.random.default_rng(seed).standard_normal(len(points)))
    return [
        Measurement.step(B=B, T=T, S=S, seconds=cost(B=B, T=T, S=S) * factor, row=f"row {i}")
        for i, ((B, T), factor) in enumerate(zip(points, off, strict=True))
    ]
