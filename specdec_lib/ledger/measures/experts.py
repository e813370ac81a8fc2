"""Measures of a layer of experts by itself: slopes, prices, knees and its free band."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib import catalog
from specdec_lib.architecture import Experts
from specdec_lib.formulas import experts, roofline

__all__ = [
    "dense_free_band",
    "dense_knee",
    "expert_drafted_price",
    "expert_free_band",
    "expert_knee",
    "expert_price",
    "intensity_slope",
]

#: Batches among which a free band is looked for: beyond the far knee of every model here.
_BATCHES = np.arange(1, 10_001)


def _layer(name: str) -> Experts:
    layer = catalog.model(name).experts
    if layer is None:
        raise ValueError(f"{name} has no experts")
    return layer


def _ridge(layer: Experts, device: str) -> float:
    return float(catalog.gpu(device).ridge(layer.precision.peak))


def _verify_ratio(name: str, device: str, B: ArrayLike, T: int) -> NDArray[np.float64]:
    """A verify pass of T tokens over a plain step, in the time of a layer's experts."""
    layer = _layer(name)
    shape = {"E": layer.E, "k": layer.k, "s": layer.s, "b": layer.b}
    return np.asarray(experts.verify_ratio(B=B, T=T, **shape, ridge=_ridge(layer, device)))


def intensity_slope(*, model: str, n: float, shared: bool = True) -> float:
    """Slope of the intensity of a layer of experts at n tokens, of its final slope."""
    layer = _layer(model)
    s = layer.s if shared else 0
    return float(experts.moe_relative_slope(n=n, E=layer.E, k=layer.k, s=s))


def expert_price(*, model: str, n: float, shared: bool = True) -> float:
    """Price of a marginal token in the expert reads, relative to an average one, at n tokens."""
    layer = _layer(model)
    s = layer.s if shared else 0
    return float(experts.marginal_price(n=n, E=layer.E, k=layer.k, s=s))


def expert_drafted_price(*, model: str, gpu: str, gamma: int, B: float | None = None) -> float:
    """What each of γ drafted tokens adds to the time of a layer's experts, in plain ones.

    Without a batch it is taken at the edge, where B·(γ + 1) tokens are E/k.
    """
    if B is None:
        layer = _layer(model)
        B = float(experts.expert_knee(E=layer.E, k=layer.k)) / (gamma + 1)
    return float((_verify_ratio(model, gpu, B, gamma + 1) - 1) / gamma)


def expert_knee(*, model: str, gpu: str) -> float:
    """Tokens from which a layer of experts is compute-bound."""
    layer = _layer(model)
    return float(
        experts.moe_knee(E=layer.E, k=layer.k, s=layer.s, b=layer.b, ridge=_ridge(layer, gpu))
    )


def dense_knee(*, model: str, gpu: str) -> float:
    """Tokens from which a dense layer in the format of the model's experts is compute-bound."""
    layer = _layer(model)
    return float(roofline.weight_knee(b=layer.b, ridge=_ridge(layer, gpu)))


def expert_free_band(*, model: str, gpu: str, T: int, within: float) -> float:
    """How many batches verify T tokens within that fraction of a plain step, in the experts."""
    ratio = _verify_ratio(model, gpu, _BATCHES, T)
    return float(np.count_nonzero(ratio <= 1 + within))


def dense_free_band(*, model: str, gpu: str, T: int, within: float) -> float:
    """The same for a dense layer in the format of the model's experts."""
    layer = _layer(model)
    ratio = roofline.verify_ratio(B=_BATCHES, T=T, b=layer.b, ridge=_ridge(layer, gpu))
    return float(np.count_nonzero(ratio <= 1 + within))
