"""The settings in which policies are tested: a gutter, a dense model, and a made-up engine."""

from __future__ import annotations

import specdec_lib as sd

V4_COST = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
DENSE_COST = sd.StepCost(sd.model("llama-3.1-8b"), sd.gpu("h100-sxm"))


def v4(alpha: float, c: float = 0.10) -> sd.Plan:
    """Experts at small batch: at B = 8 and α = 0.6 every draft loses."""
    return sd.Plan(V4_COST, sd.drafters.fraction(c), sd.Geometric(alpha))


def dense(alpha: float, c: float = 0.10) -> sd.Plan:
    """A dense model, whose verify tokens are nearly free at small batch."""
    return sd.Plan(DENSE_COST, sd.drafters.fraction(c), sd.Geometric(alpha))


V4 = v4(0.75)
