"""The price of speculative decoding: its equations, the facts they need, and the charts."""

from __future__ import annotations

from specdec_lib import counts, engines, formulas
from specdec_lib.catalog import DrafterCard, Gpu, Model, drafter_card, gpu, model
from specdec_lib.cost import StepCost
from specdec_lib.counts import AcceptanceCounts, read_acceptance
from specdec_lib.deployment import Deployment
from specdec_lib.formula import DomainError, Formula
from specdec_lib.schedule import CannotExpress, Schedule

__all__ = [
    "AcceptanceCounts",
    "CannotExpress",
    "Deployment",
    "DomainError",
    "DrafterCard",
    "Formula",
    "Gpu",
    "Model",
    "Schedule",
    "StepCost",
    "counts",
    "drafter_card",
    "engines",
    "formulas",
    "gpu",
    "model",
    "read_acceptance",
]
