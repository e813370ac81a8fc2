"""Acceptance as people measure it: curves of survival, and rates behind tokens per step."""

from __future__ import annotations

from specdec_lib.acceptance.curve import AcceptanceCurve
from specdec_lib.acceptance.depth import Decaying, Geometric
from specdec_lib.acceptance.mixing import ByContext, Mixture, WithContext
from specdec_lib.acceptance.positions import Counts, PerPosition
from specdec_lib.acceptance.rate import acceptance_for_tokens

__all__ = [
    "AcceptanceCurve",
    "ByContext",
    "Counts",
    "Decaying",
    "Geometric",
    "Mixture",
    "PerPosition",
    "WithContext",
    "acceptance_for_tokens",
]
