"""Feed-forward: dense blocks, routed and shared experts, the router."""

from __future__ import annotations

from fractions import Fraction

from specdec_lib.architecture.components import Experts, Weights, count
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.formulas import weights


def dense(
    quantization: Quantization, *, layers: int, hidden: int, width: int, biases: bool = False
) -> tuple[Weights, ...]:
    """Gated feed-forward blocks of ``width`` in ``layers`` layers; nothing where there are none."""
    if layers == 0:
        return ()
    return (
        Weights(
            "dense_ffn",
            layers,
            count(weights.gated_ffn, H=hidden, H_ff=width),
            count(weights.ffn_biases, H=hidden, H_ff=width) if biases else 0,
            quantization["dense_ffn"],
        ),
    )


def routed(
    quantization: Quantization,
    *,
    layers: int,
    hidden: int,
    width: int,
    E: int,
    k: int,
    s: int = 0,
    biases: bool = False,
) -> tuple[tuple[Weights, ...], Experts | None]:
    """Router, routed and shared experts of ``width`` in ``layers`` layers.

    ``biases`` gives the router and every expert its biases.
    """
    if layers == 0:
        return (), None
    size = {"H": hidden, "H_ff": width}
    bias = count(weights.ffn_biases, **size) if biases else 0
    parts = [
        Weights(
            "router",
            layers,
            count(weights.router, E=E, H=hidden),
            E if biases else 0,
            quantization["router"],
        ),
        Weights(
            "moe",
            layers,
            count(weights.routed_parameters, E=E, **size),
            E * bias,
            quantization["moe"],
            used=Fraction(k, E),
        ),
    ]
    if s:
        shared = count(weights.shared_parameters, s=s, **size)
        parts.append(Weights("shared", layers, shared, 0, quantization["shared"]))
    each = count(weights.expert_parameters, **size)
    return tuple(parts), Experts(E, k, s, each, layers, quantization["moe"])
