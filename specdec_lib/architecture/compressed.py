"""Compressed attention: DeepSeek-V4, whose layers are of three kinds.

Every layer attends to a sliding window.  A layer with a compression of 4 (CSA) adds the compressed
entries that its indexer selects, one with a compression of 128 (HCA) adds all of its compressed
entries, one with 0 adds none.  A cache entry is key and value in one, shared by all heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from specdec_lib.architecture.components import (
    Coefficients,
    Component,
    Indexer,
    Weights,
    count,
)
from specdec_lib.architecture.modules import LATENT
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.architecture.selecting import SharedEntryCore
from specdec_lib.architecture.stack import Block
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights

WINDOW, CSA, HCA = 0, 4, 128
KINDS = {WINDOW: "sliding window", CSA: "CSA", HCA: "HCA"}
#: Windows that overlap in a compressed entry.
_OVERLAP = {CSA: 2, HCA: 1}

#: In the 8-bit cache a one-byte scale covers 64 values, and an entry's scales are padded to 8.
_SCALED_VALUES, _SCALE_PADDING = 64, 8


@dataclass(frozen=True)
class CompressedCore(SharedEntryCore):
    """``n_h`` query heads on entries of ``d`` values, the last ``d_r`` of them rotary.

    ``compression`` is 0, 4 or 128 context tokens an entry and ``topk`` the entries that an indexer
    selects.  Served with an 8-bit cache that keeps the rotary part at 16 bits.
    """

    cache: ClassVar[str] = "fp8"

    d: int
    d_r: int
    window: int
    compression: int
    topk: int

    @property
    def kind(self) -> str:
        """Sliding window, CSA or HCA."""
        return KINDS[self.compression]

    @property
    def entries(self) -> Formula:
        """Window entries, and the compressed ones that this kind of layer reads."""
        if self.selection is not None:
            law, topk = self.selection
            return law.where(topk=topk)
        if self.compression == WINDOW:
            return attention.window_entries.where(window=self.window)
        return attention.compressed_entries.where(window=self.window, compression=self.compression)

    @property
    def selection(self) -> tuple[Formula, int] | None:
        """The compressed entries of a CSA layer."""
        if self.compression != CSA:
            return None
        law = attention.compressed_selected_entries.where(window=self.window, compression=CSA)
        return law, self.topk

    def coefficients(
        self, *, cache: str | None = None, query: str = "bf16", output: bool = True
    ) -> Coefficients:
        """The rotary part of an entry keeps 16 bits; see :meth:`Core.coefficients`."""
        moved = attention.grouped_query_output_bytes if output else attention.grouped_query_bytes
        b_kv = element_bytes(cache or self.cache)
        b_r = element_bytes("bf16")
        scales = _scale_bytes(self.d - self.d_r) if b_kv < b_r else 0
        return {
            "f": attention.grouped_pair_work(n_h=self.n_h, d=self.d),
            "m_c": attention.mixed_context_bytes(
                d=self.d, d_r=self.d_r, b_kv=b_kv, b_r=max(b_kv, b_r), b_scale=scales
            ),
            "m_q": moved(n_h=self.n_h, d=self.d, b_q=element_bytes(query)),
        }

    def token_bytes(self, cache: str | None = None) -> float:
        """A share of a compressed entry; the window does not grow."""
        if self.compression == WINDOW:
            return 0.0
        m_c = self.coefficients(cache=cache)["m_c"]
        return float(attention.token_bytes(m_c=m_c, compression=self.compression))

    def sequence_bytes(self, cache: str | None = None) -> float:
        """The window."""
        m_c = self.coefficients(cache=cache)["m_c"]
        return float(attention.entry_bytes(m_c=m_c, S=self.window))


@dataclass(frozen=True)
class CompressedAttention(Block):
    """Projections, core and, in a CSA layer, the indexer of a layer.

    The output is projected in ``o_groups`` groups of heads to a rank ``d_o`` each; the other
    symbols are those of :class:`CompressedCore` and of the indexer, ``i_h`` heads of width ``i_d``.
    """

    H: int
    n_h: int
    d: int
    d_r: int
    d_q: int
    d_o: int
    o_groups: int
    window: int
    compression: int
    topk: int
    i_h: int
    i_d: int

    @property
    def _pooled(self) -> tuple[int, ...]:
        """The widths that compressors pool to: the entry, and the indexer's key."""
        if self.compression == WINDOW:
            return ()
        return (self.d, self.i_d) if self.compression == CSA else (self.d,)

    @property
    def matrices(self) -> int:
        """Parameters of projections, compressors and indexer."""
        size = {"H": self.H, "n_h": self.n_h, "d": self.d, "d_q": self.d_q, "d_o": self.d_o}
        whole = count(weights.compressed_projection, o_groups=self.o_groups, **size)
        if self.compression == CSA:
            shape = {"d_q": self.d_q, "i_h": self.i_h, "i_d": self.i_d}
            whole += count(weights.indexer_projection, H=self.H, **shape)
        for width in self._pooled:
            overlap = _OVERLAP[self.compression]
            whole += count(weights.compressor, H=self.H, overlap=overlap, d=width)
        return whole

    @property
    def vectors(self) -> int:
        """Norms of the low-rank query and of the entry, sinks, and what compressors have."""
        whole = self.d_q + self.d + self.n_h
        for width in self._pooled:
            size = {"compression": self.compression, "overlap": _OVERLAP[self.compression]}
            whole += count(weights.compressor_vectors, d=width, **size)
        return whole

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """Projections, core and indexer."""
        layers = len(where)
        form = quantization.at("attn_proj", where, LATENT, draft=draft)
        projections = Weights("attn_proj", layers, self.matrices, self.vectors, form)
        shape = (self.n_h, self.d, self.d_r, self.window, self.compression, self.topk)
        core = CompressedCore(layers, *shape)
        if self.compression != CSA:
            return projections, core
        return projections, core, Indexer(layers, self.i_h, self.i_d, CSA, "fp4")


def _scale_bytes(values: int) -> int:
    """Bytes of the scales of an entry's ``values`` 8-bit values, padding included."""
    scales = -(-values // _SCALED_VALUES)
    return -(-scales // _SCALE_PADDING) * _SCALE_PADDING
