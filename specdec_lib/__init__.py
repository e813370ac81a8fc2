"""The price of speculative decoding: its equations, the facts they need, and the charts."""

from __future__ import annotations

from specdec_lib import formulas
from specdec_lib.catalog import Gpu, Model, gpu, model
from specdec_lib.formula import DomainError, Formula

__all__ = ["DomainError", "Formula", "Gpu", "Model", "formulas", "gpu", "model"]
