"""Architecture: a model's configuration taken apart into components and counted.

A configuration is read by its family's reader (:mod:`~specdec_lib.architecture.families`) to a
stack of blocks (:mod:`~specdec_lib.architecture.stack`), which are counted as components
(:mod:`~specdec_lib.architecture.components`) at the precisions that its quantization block states
(:mod:`~specdec_lib.architecture.quantization`).
"""

from __future__ import annotations

from specdec_lib.architecture.architecture import Architecture
from specdec_lib.architecture.card import DRAFTER_KINDS, DrafterCard
from specdec_lib.architecture.components import (
    KEYS,
    Coefficients,
    Component,
    Core,
    Experts,
    Indexer,
    Weights,
)
from specdec_lib.architecture.drafting import read_head
from specdec_lib.architecture.families import READERS
from specdec_lib.architecture.fields import ConfigError
from specdec_lib.architecture.model import Headline, Model
from specdec_lib.architecture.precision import PRECISIONS, Precision, precision

__all__ = [
    "DRAFTER_KINDS",
    "KEYS",
    "PRECISIONS",
    "READERS",
    "Architecture",
    "Coefficients",
    "Component",
    "ConfigError",
    "Core",
    "DrafterCard",
    "Experts",
    "Headline",
    "Indexer",
    "Model",
    "Precision",
    "Weights",
    "precision",
    "read_head",
]
