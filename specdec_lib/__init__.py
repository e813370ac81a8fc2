"""The price of speculative decoding: its equations, the facts they need, and the charts."""

from __future__ import annotations

from specdec_lib import calibrate, control, counts, drafters, engines, formulas, simulate
from specdec_lib.acceptance import (
    AcceptanceCurve,
    ByContext,
    Decaying,
    Geometric,
    Mixture,
    PerPosition,
    WithContext,
)
from specdec_lib.catalog import DrafterCard, Gpu, Model, drafter_card, gpu, model
from specdec_lib.cost import StepCost
from specdec_lib.counts import AcceptanceCounts, read_acceptance
from specdec_lib.deployment import Deployment
from specdec_lib.formula import DomainError, Formula
from specdec_lib.plan import Plan
from specdec_lib.schedule import CannotExpress, Schedule

__all__ = [
    "AcceptanceCounts",
    "AcceptanceCurve",
    "ByContext",
    "CannotExpress",
    "Decaying",
    "Deployment",
    "DomainError",
    "DrafterCard",
    "Formula",
    "Geometric",
    "Gpu",
    "Mixture",
    "Model",
    "PerPosition",
    "Plan",
    "Schedule",
    "StepCost",
    "WithContext",
    "calibrate",
    "control",
    "counts",
    "drafter_card",
    "drafters",
    "engines",
    "formulas",
    "gpu",
    "model",
    "read_acceptance",
    "simulate",
]
