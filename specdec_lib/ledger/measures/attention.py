"""Measures of attention: what a token of context takes, and where its core is compute-bound."""

from __future__ import annotations

from specdec_lib import catalog
from specdec_lib.formulas import attention

__all__ = ["cache_bytes", "core_crossing", "latent_bytes", "latent_crossing", "query_over_cache"]

#: The latent and its rotary part in every MLA of the catalogue.
_LATENT = {"d_c": 512, "d_r": 64}


def latent_bytes(*, b_kv: float) -> float:
    """Bytes that MLA keeps of a context token in a layer, at a size of its elements."""
    return float(attention.latent_context_bytes(**_LATENT, b_kv=b_kv))


def cache_bytes(*, model: str) -> float:
    """Bytes that a model keeps of a context token, on average over its layers, as it is served."""
    architecture = catalog.model(model).architecture
    return architecture.kv_bytes_per_token() / architecture.layers


def query_over_cache(*, n_h: int, b_kv: float) -> float:
    """m_q/m_c of MLA with a bf16 query, which is counted alone."""
    moved = attention.latent_query_bytes(**_LATENT, n_h=n_h, b_q=2)
    return float(moved / attention.latent_context_bytes(**_LATENT, b_kv=b_kv))


def latent_crossing(*, gpu: str, n_h: int, b_kv: float) -> float:
    """Query tokens from which the core of MLA is compute-bound at long context."""
    return float(
        attention.crossing_width_long_context(
            ridge=catalog.gpu(gpu).ridge("bf16"),
            f=attention.latent_pair_work(**_LATENT, n_h=n_h),
            m_c=attention.latent_context_bytes(**_LATENT, b_kv=b_kv),
        )
    )


def core_crossing(*, model: str, kind: str, gpu: str, S: int) -> float:
    """Query tokens from which the core of a model's layers of a kind is compute-bound.

    Raises ValueError for a kind of layer that the model has not.
    """
    for core in catalog.model(model).architecture.attention:
        if core.kind == kind:
            return float(
                attention.crossing_width(
                    S=core.entries(S=S),
                    ridge=catalog.gpu(gpu).ridge("bf16"),
                    **core.coefficients(),
                )
            )
    raise ValueError(f"{model} has no layers of the kind {kind!r}")
