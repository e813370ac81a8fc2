"""Feed-forward: dense blocks, routed and shared experts, the router."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdec_lib.architecture.components import Component, Experts, Weights, count
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.architecture.stack import Block
from specdec_lib.formulas import weights


@dataclass(frozen=True)
class Dense(Block):
    """A feed-forward block of width ``H_ff``, ``gated`` in most families."""

    H: int
    H_ff: int
    biased: bool = False
    gated: bool = True

    @property
    def matrices(self) -> int:
        """Parameters of its matrices."""
        formula = weights.gated_ffn if self.gated else weights.plain_ffn
        return count(formula, H=self.H, H_ff=self.H_ff)

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """One component."""
        biases = count(weights.ffn_biases, H=self.H, H_ff=self.H_ff) if self.biased else 0
        form = quantization.at("dense_ffn", where, draft=draft)
        return (Weights("dense_ffn", len(where), self.matrices, biases, form),)


@dataclass(frozen=True)
class Mixture(Block):
    """``E`` routed experts of width ``H_ff``, ``k`` of them per token, and shared ones.

    Parameters
    ----------
    shared
        Width of all shared experts together; 0 where there are none.
    shared_gate
        Whether a vector gates their output.
    biased
        Whether the router and every expert have biases.
    gated
        Whether an expert has a gate matrix beside the one up and the one down.
    scales
        Further vectors of the router.
    """

    H: int
    H_ff: int
    E: int
    k: int
    shared: int = 0
    shared_gate: bool = False
    biased: bool = False
    gated: bool = True
    scales: int = 0

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """Router, routed experts, and shared ones if any."""
        one = Dense(self.H, self.H_ff, gated=self.gated).matrices
        bias = count(weights.ffn_biases, H=self.H, H_ff=self.H_ff) if self.biased else 0
        layers = len(where)
        parts = [
            Weights(
                "router",
                layers,
                count(weights.router, E=self.E, H=self.H),
                (self.E if self.biased else 0) + self.scales,
                quantization.at("router", where, draft=draft),
            ),
            Weights(
                "moe",
                layers,
                count(weights.routed_parameters, E=self.E, P_e=one),
                self.E * bias,
                quantization.at("moe", where, draft=draft),
                used=Fraction(self.k, self.E),
            ),
        ]
        if self.shared:
            always = Dense(self.H, self.shared, gated=self.gated).matrices
            form = quantization.at("shared", where, draft=draft)
            gate = self.H if self.shared_gate else 0
            parts.append(Weights("shared", layers, always, gate, form))
        return tuple(parts)

    def mixture(self, where: Sequence[int], quantization: Quantization) -> Experts:
        """E, k, s and the parameters of an expert in its matrices."""
        each = Dense(self.H, self.H_ff, gated=self.gated).matrices
        whole, rest = divmod(self.shared, self.H_ff)
        s = self.shared / self.H_ff if rest else whole
        form = quantization.at("moe", where)
        return Experts(self.E, self.k, s, each, len(where), form)
