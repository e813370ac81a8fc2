"""Linear attention: layers whose memory is a state of fixed size, GatedDeltaNet, Kimi Delta
Attention and Mamba-2.

A step reads and writes the state of every sequence once, whatever the context.  What the short
convolution keeps, a few tokens of its input, is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from specdec_lib.architecture.components import Coefficients, Component, Core, Weights, count
from specdec_lib.architecture.modules import LINEAR
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.architecture.stack import Block
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights

Kind = Literal["GatedDeltaNet", "KDA", "Mamba-2"]

#: FLOPs per state element and token: a multiply-add to read what is remembered under the key, one
#: to write and one to read for the query; Mamba-2 writes without reading first.
_FLOPS: dict[Kind, int] = {"GatedDeltaNet": 6, "KDA": 6, "Mamba-2": 4}


@dataclass(frozen=True)
class StateCore(Core):
    """A state of ``n_v`` heads, each ``d_k`` by ``d_v``, kept in fp32."""

    cache: ClassVar[str] = "fp32"

    rule: Kind
    n_v: int
    d_k: int
    d_v: int

    @property
    def kind(self) -> str:
        """The rule by which the state is written."""
        return self.rule

    @property
    def entries(self) -> Formula:
        """One state, however long the context."""
        return attention.recurrent_entries

    @property
    def cache_heads(self) -> int:
        """The value heads, each with its own state."""
        return self.n_v

    def coefficients(
        self,
        *,
        cache: str | None = None,  # noqa: ARG002
        query: str = "bf16",  # noqa: ARG002
        output: bool = True,  # noqa: ARG002
    ) -> Coefficients:
        """The state is the one entry: f FLOPs per token, and m_c bytes to read and write it.

        It keeps its own format whatever that of the cache; queries and outputs are small beside it
        and not counted.  See :meth:`Core.coefficients`.
        """
        shape = {"n_v": self.n_v, "d_k": self.d_k, "d_v": self.d_v}
        b_s = element_bytes(self.cache)
        return {
            "f": attention.state_work(T=1, f_s=_FLOPS[self.rule], **shape),
            "m_c": attention.state_bytes(state_passes=2, b_s=b_s, **shape),
            "m_q": 0.0,
        }

    def token_bytes(self, cache: str | None = None) -> float:  # noqa: ARG002
        """Nothing."""
        return 0.0

    def sequence_bytes(self, cache: str | None = None) -> float:  # noqa: ARG002
        """The state."""
        b_s = element_bytes(self.cache)
        shape = {"n_v": self.n_v, "d_k": self.d_k, "d_v": self.d_v}
        return float(attention.state_bytes(state_passes=1, b_s=b_s, **shape))


@dataclass(frozen=True)
class LinearAttention(Block):
    """Projections and state of a layer.

    ``n_k`` key heads, or in Mamba-2 groups of heads, of width ``d_k``; ``n_v`` value heads of width
    ``d_v``; ``taps`` tokens under the short convolution.
    """

    rule: Kind
    H: int
    n_k: int
    n_v: int
    d_k: int
    d_v: int
    taps: int

    @property
    def _parameters(self) -> tuple[int, int]:
        """In matrices and in vectors."""
        size = {"n_v": self.n_v, "d_v": self.d_v}
        if self.rule == "KDA":
            return (
                count(weights.channel_projection, H=self.H, **size),
                count(weights.channel_vectors, taps=self.taps, **size),
            )
        if self.rule == "Mamba-2":
            size |= {"s_groups": self.n_k, "d_k": self.d_k}
            return (
                count(weights.mamba_projection, H=self.H, **size),
                count(weights.mamba_vectors, taps=self.taps, **size),
            )
        size |= {"n_k": self.n_k, "d_k": self.d_k}
        return (
            count(weights.delta_projection, H=self.H, **size),
            count(weights.delta_vectors, taps=self.taps, **size),
        )

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """Projections and state."""
        form = quantization.at("attn_proj", where, LINEAR, draft=draft)
        return (
            Weights("attn_proj", len(where), *self._parameters, form),
            StateCore(len(where), self.rule, self.n_v, self.d_k, self.d_v),
        )
