"""Regimes: what takes most of a step of the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.cost import StepCost
from specdec_lib.cost.grid import cut, slices

#: What a step may be bound by.
REGIMES: tuple[str, ...] = ("overhead", "expert", "weight", "kv", "compute")

#: Components whose reading is that of the context.
_CACHE = ("attn_core", "indexer")


def shares(cost: StepCost, B: Any, T: Any, S: Any) -> dict[str, Floats]:
    """Seconds of a step by regime; they add up to the step.

    "expert", "weight" and "kv" are the reading of routed experts, of all other weights and of the
    context; "compute" is what computes longer than it reads; "overhead" what does neither: fixed
    times and the exchange between devices.
    """
    breakdown = cost.breakdown(B=B, T=T, S=S)
    shape = np.broadcast_shapes(*(np.shape(share.seconds) for share in breakdown.values()))
    found = {name: np.zeros(shape) for name in REGIMES}
    for key, share in breakdown.items():
        if key in ("overhead", "communication"):
            found["overhead"] += share.seconds
            continue
        computing = np.asarray(share.bound) == "compute"
        reading = "kv" if key in _CACHE else "expert" if key == "moe" else "weight"
        found["compute"] += np.where(computing, share.seconds, 0.0)
        found[reading] += np.where(computing, 0.0, share.seconds)
    return found


def codes(cost: StepCost, B: Floats, T: Floats, S: Floats) -> Any:
    """The largest share at every point, as places in :data:`REGIMES`; slice by slice."""
    shape = np.broadcast_shapes(B.shape, T.shape, S.shape)
    B, T, S = (a.reshape((1,) * (len(shape) - a.ndim) + a.shape) for a in (B, T, S))
    found = np.empty(shape, dtype=np.int8)
    for where in slices(shape):
        here = shares(cost, *(cut(a, where, shape) for a in (B, T, S)))
        part = np.argmax(np.stack([here[name] for name in REGIMES]), axis=0)
        found[where] = part
    return found
