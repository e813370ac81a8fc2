"""Memory: whether weights and cache fit on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib.architecture import Architecture
from specdec_lib.catalog import Gpu
from specdec_lib.deployment import Deployment
from specdec_lib.formula import Formula
from specdec_lib.formulas import engine

#: Bytes of a parameter that is in no matrix: norms, biases and the like stay at 16 bits.
VECTOR_BYTES = 2


@dataclass(frozen=True, eq=False)
class Memory:
    """What the fullest device has to hold, in bytes; floats and a bool, or arrays of them.

    ``weights`` and ``cache`` add up to ``needed``; ``available`` is what the deployment may fill;
    ``warning`` says where that is not enough and what would help, and is None where it is.
    Activations, captured graphs and modules of multi-token prediction are not counted.
    """

    weights: float
    cache: Any
    needed: Any
    available: float
    fits: Any
    warning: str | None


def resident_weights(architecture: Architecture, deployment: Deployment) -> float:
    """Bytes of weights on one device: its share of every matrix, the whole router, its experts less
    those in slower memory, and all that is in no matrix."""
    total = 0.0
    for part in architecture.weights:
        if not part.stored or part.key == "mtp":
            continue
        devices = 1 if part.key == "router" else deployment.tp
        if part.key == "moe":
            devices = deployment.devices
        kept = 1.0
        if part.key == "moe" and deployment.offload is not None:
            kept -= deployment.offload.share
        total += part.bytes * kept / devices + part.layers * part.vectors * VECTOR_BYTES
    return total


def cache_law(architecture: Architecture, deployment: Deployment) -> Formula:
    """Bytes of the cache on one device, a Formula in B and S, as engines allocate it: windows of
    grouped attention are given room for the whole context."""
    token = sum(scan.layers * scan.token_bytes for scan in architecture.indexers)
    sequence = 0.0
    for core in architecture.attention:
        share = float(engine.entry_share(n_kv=core.cache_heads, tp=deployment.tp))
        token += core.layers * share * core.token_bytes(deployment.kv_cache)
        sequence += core.layers * share * core.sequence_bytes(deployment.kv_cache)
    law = engine.replica_cache.where(dp=deployment.dp, m_s=sequence)
    return law.where(m_c=token) if token else law.where(m_c=np.nextafter(0, 1))


def memory_use(
    weights: float, law: Formula, gpu: Gpu, deployment: Deployment, B: Any, S: Any
) -> Memory:
    """The memory of a step with B sequences of S context tokens."""
    cache = law(B=B, S=S)
    available = deployment.memory_share * gpu.memory
    needed = weights + cache
    fits = np.asarray(needed <= available)
    warning = None
    if not fits.all():
        most = float(np.max(needed))
        where = "" if fits.ndim == 0 else f"at {int(np.sum(~fits))} of {fits.size} points "
        warning = (
            f"{where}weights of {weights / 1e9:.4g} GB and a cache of {(most - weights) / 1e9:.4g} "
            f"GB need {most / 1e9:.4g} GB on each device; {available / 1e9:.4g} GB of "
            f"{gpu.name} are available. More devices (tp, ep), a narrower cache (kv_cache), fewer "
            "sequences or an offload would help."
        )
    return Memory(
        weights, cache, needed, available, bool(fits) if fits.ndim == 0 else fits, warning
    )
