"""Routing that is not uniform: popular experts, neighbours that share them, devices that get most.

The uniform law is :data:`specdec_lib.formulas.experts.distinct_experts`; here are sums over a
measured popularity (:mod:`~specdec_lib.routing.popularity`), the exponent of successive tokens
(:mod:`~specdec_lib.routing.locality`) and simulated steps (:mod:`~specdec_lib.routing.loads`).
"""

from __future__ import annotations

from specdec_lib.routing import loads, locality
from specdec_lib.routing.popularity import (
    distinct_experts_by_popularity,
    inclusion_probabilities,
    moment_z_scores,
    simulate_distinct_experts,
    skew_equivalent_tokens,
)

__all__ = [
    "distinct_experts_by_popularity",
    "inclusion_probabilities",
    "loads",
    "locality",
    "moment_z_scores",
    "simulate_distinct_experts",
    "skew_equivalent_tokens",
]
