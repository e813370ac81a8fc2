"""The price of speculative decoding: its equations, the facts they need, and the charts."""

from __future__ import annotations

from specdec_lib import formulas
from specdec_lib.catalog import DrafterCard, Gpu, Model, drafter_card, gpu, model
from specdec_lib.cost import StepCost
from specdec_lib.deployment import Deployment
from specdec_lib.formula import DomainError, Formula

__all__ = [
    "Deployment",
    "DomainError",
    "DrafterCard",
    "Formula",
    "Gpu",
    "Model",
    "StepCost",
    "drafter_card",
    "formulas",
    "gpu",
    "model",
]
