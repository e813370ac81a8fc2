"""Measures of acceptance and of drafting: how acceptance changes with depth, what a round costs."""

from __future__ import annotations

import numpy as np

from specdec_lib import catalog, drafters
from specdec_lib.acceptance import Geometric, PerPosition
from specdec_lib.catalog import measured
from specdec_lib.formulas import speculation
from specdec_lib.ledger.measures.steps import step
from specdec_lib.plan import Plan

__all__ = [
    "budget_decides",
    "curves_with_falling_rate",
    "curves_with_falling_survival",
    "model_over_head",
]

#: The curves that were counted within one run, so that their positions compare.
_WITHIN_A_RUN = (
    "qwen36-mtp",
    "qwen36-dflash",
    "llama-eagle3",
    "minimax-m3",
    "llama-eagle3-five",
    "minicpm3",
    "mtp-eight",
)
#: Targets and the head or module that each would draft with.
_OWN = {
    "deepseek-v3": "mtp",
    "deepseek-v4-flash": "mtp",
    "qwen3.6-35b-a3b": "mtp",
    "llama-3.1-70b": "eagle3",
    "qwen3-8b": "eagle3",
    "qwen3-235b-a22b": "eagle3",
    "gpt-oss-120b": "eagle3",
}
#: Targets and the independent model that would draft in place of a head.
_MODELS = {
    "llama-3.1-8b": "llama-3.2-1b",
    "llama-3.1-70b": "llama-3.2-1b",
    "qwen3-8b": "qwen3-0.6b",
    "qwen3-32b": "qwen3-0.6b",
    "qwen3-235b-a22b": "qwen3-0.6b",
}


def _curves() -> list[tuple[PerPosition, np.ndarray]]:
    found = []
    for name in _WITHIN_A_RUN:
        record = measured(f"survival-{name}")
        for column in list(record.columns)[1:]:  # after the position
            found.append((PerPosition.survivals(record[column]), np.asarray(record["position"])))
    return found


def curves_with_falling_survival() -> float:
    """Share of the counted curves in which fewer drafts survive at every further position."""
    falls = [np.all(np.diff(curve.survival(position)) <= 0) for curve, position in _curves()]
    return float(np.mean(falls))


def curves_with_falling_rate() -> float:
    """Share of the counted curves whose last conditional rate is below the first."""
    rates = [curve.rates(position) for curve, position in _curves()]
    return float(np.mean([rate[-1] < rate[0] for rate in rates]))


def budget_decides(*, engine: str, share: float) -> float:
    """Share of plans in which a draft of three within that share of a plain step wins and a dearer
    one loses: seven targets on a B200 with their own heads, five batches, three acceptances."""
    grid = {"gamma": 3, "B": np.array([1, 4, 16, 64, 256]), "S": 4096}
    right = []
    for name, kind in _OWN.items():
        target = step(name, "b200", engine)
        drafter = drafters.named(kind, target.model)
        plan = Plan(target, drafter, Geometric(np.array([[0.6], [0.75], [0.9]])))
        spent = speculation.draft_fraction(
            C_draft=plan.draft.seconds(**grid), gamma=1, C_0=target(B=grid["B"], T=1, S=4096)
        )
        right.append((spent <= share) == (plan.speedup(**grid) > 1))
    return float(np.mean(right))


def model_over_head(*, engine: str, B: int, S: int) -> float:
    """The least cost of drafting three tokens with an independent model over that with an EAGLE-3
    head, over five targets on a B200."""
    ratios = []
    for name, small in _MODELS.items():
        target = step(name, "b200", engine)
        model, head = (
            drafters.named(kind, catalog.model(name)).on(target).seconds(gamma=3, B=B, S=S)
            for kind in (small, "eagle3")
        )
        ratios.append(model / head)
    return float(min(ratios))
