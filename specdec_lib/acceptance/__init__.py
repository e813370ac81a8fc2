"""Acceptance as people measure it: curves of survival, and rates behind tokens per step."""

from __future__ import annotations

from specdec_lib.acceptance.curve import AcceptanceCurve
from specdec_lib.acceptance.depth import Decaying, Geometric
from specdec_lib.acceptance.fitting import (
    fit_decaying,
    fit_geometric,
    relative_errors,
    root_mean_square,
)
from specdec_lib.acceptance.mixing import ByContext, Mixture, WithContext
from specdec_lib.acceptance.positions import Counts, PerPosition
from specdec_lib.acceptance.pruning import Mend, draft_prune_and_verify
from specdec_lib.acceptance.rate import acceptance_for_tokens
from specdec_lib.acceptance.verification import Played, draft_and_verify

__all__ = [
    "AcceptanceCurve",
    "ByContext",
    "Counts",
    "Decaying",
    "Geometric",
    "Mend",
    "Mixture",
    "PerPosition",
    "Played",
    "WithContext",
    "acceptance_for_tokens",
    "draft_and_verify",
    "draft_prune_and_verify",
    "fit_decaying",
    "fit_geometric",
    "relative_errors",
    "root_mean_square",
]
