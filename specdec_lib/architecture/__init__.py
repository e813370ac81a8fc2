"""Architecture: a model's configuration taken apart into components and counted.

One module a group of families (:mod:`~specdec_lib.architecture.grouped`,
:mod:`~specdec_lib.architecture.latent`, :mod:`~specdec_lib.architecture.compressed`); what they
share is in the others.
"""

from __future__ import annotations

from specdec_lib.architecture.architecture import Architecture
from specdec_lib.architecture.components import (
    KEYS,
    Coefficients,
    Component,
    Core,
    Experts,
    Indexer,
    Weights,
)
from specdec_lib.architecture.fields import ConfigError
from specdec_lib.architecture.model import Headline, Model
from specdec_lib.architecture.precision import PRECISIONS, Precision, precision

__all__ = [
    "KEYS",
    "PRECISIONS",
    "Architecture",
    "Coefficients",
    "Component",
    "ConfigError",
    "Core",
    "Experts",
    "Headline",
    "Indexer",
    "Model",
    "Precision",
    "Weights",
    "precision",
]
