"""Compressed attention: DeepSeek-V4, whose layers are of three kinds.

Every layer attends to a sliding window.  A layer with a compression of 4 (CSA) adds the compressed
entries that its indexer selects, one with a compression of 128 (HCA) adds all of its compressed
entries, one with 0 adds none.  A cache entry is key and value in one, shared by all heads.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from specdec_lib.architecture.components import (
    Coefficients,
    Component,
    Core,
    Indexer,
    Layers,
    Weights,
    count,
)
from specdec_lib.architecture.feedforward import routed
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights

FAMILIES: tuple[str, ...] = ("deepseek_v4",)

WINDOW, CSA, HCA = 0, 4, 128
_KINDS = {WINDOW: "sliding window", CSA: "CSA", HCA: "HCA"}
#: Windows that overlap in a compressed entry.
_OVERLAP = {CSA: 2, HCA: 1}

#: In the 8-bit cache a one-byte scale covers 64 values, and an entry's scales are padded to 8.
_SCALED_VALUES, _SCALE_PADDING = 64, 8


@dataclass(frozen=True)
class CompressedCore(Core):
    """``n_h`` query heads on entries of ``d`` values, the last ``d_r`` of them rotary.

    ``compression`` is 0, 4 or 128 context tokens an entry and ``topk`` the entries that an indexer
    selects.  Served with an 8-bit cache that keeps the rotary part at 16 bits.
    """

    cache: ClassVar[str] = "fp8"

    n_h: int
    d: int
    d_r: int
    window: int
    compression: int
    topk: int

    @property
    def kind(self) -> str:
        """Sliding window, CSA or HCA."""
        return _KINDS[self.compression]

    @property
    def entries(self) -> Formula:
        """Window entries, and the compressed ones that this kind of layer reads."""
        known = {"window": self.window}
        if self.compression == WINDOW:
            return attention.window_entries.where(**known)
        known["compression"] = self.compression
        if self.compression == CSA:
            return attention.compressed_selected_entries.where(topk=self.topk, **known)
        return attention.compressed_entries.where(**known)

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


def _scale_bytes(values: int) -> int:
    """Bytes of the scales of an entry's ``values`` 8-bit values, padding included."""
    scales = -(-values // _SCALED_VALUES)
    return -(-scales // _SCALE_PADDING) * _SCALE_PADDING


def read(fields: Fields, quantization: Quantization) -> Layers:
    """The layers of a DeepSeek-V4 model."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    fields.only("num_key_value_heads", 1, "one key-value head that all query heads share")
    fields.only("attention_bias", False, "biases of compressed attention are not read yet")
    shape = {
        "H": hidden,
        "n_h": fields.integer("num_attention_heads"),
        "d": fields.integer("head_dim"),
        "d_q": fields.integer("q_lora_rank"),
        "d_o": fields.integer("o_lora_rank"),
        "o_groups": fields.integer("o_groups"),
    }
    attended: list[Component] = []
    for compression, number in sorted(Counter(_compressions(fields, layers)).items()):
        attended += _attention(fields, quantization, compression, number, shape)
    experts = fields.integer("n_routed_experts")
    blocks, mixture = routed(
        quantization,
        layers=layers,
        hidden=hidden,
        width=fields.integer("moe_intermediate_size"),
        E=experts,
        k=fields.at_most("num_experts_per_tok", high=experts, of="experts"),
        s=fields.integer("n_shared_experts", low=0),
    )
    streams = _streams(fields, quantization, hidden, layers)
    return Layers((*attended, *blocks, *streams), mixture)


def _compressions(fields: Fields, layers: int) -> list[int]:
    """The compression of each layer; entries beyond belong to modules of multi-token prediction."""
    listed = fields.integers("compress_ratios")
    modules = fields.integer("num_nextn_predict_layers", low=0)
    if len(listed) < layers:
        raise fields.error("compress_ratios", f"{len(listed)} entries", f"{layers}, one a layer")
    if len(listed) > layers + modules:
        beyond = f"the last {len(listed) - layers} entries of compress_ratios"
        fields.assume(f"{beyond} belong to draft modules, of which {modules} is stated")
    for ratio in listed:
        if ratio not in _KINDS:
            raise fields.error("compress_ratios", ratio, ", ".join(map(str, _KINDS)))
    return listed[:layers]


def _attention(
    fields: Fields,
    quantization: Quantization,
    compression: int,
    layers: int,
    shape: dict[str, int],
) -> list[Component]:
    """Projections, core and, in a CSA layer, the indexer of layers of one kind."""
    hidden, d, d_q, n_h = shape["H"], shape["d"], shape["d_q"], shape["n_h"]
    topk, i_h = fields.integer("index_topk"), fields.integer("index_n_heads")
    i_d = fields.integer("index_head_dim")
    matrices = count(weights.compressed_projection, **shape)
    vectors = d_q + d + n_h  # norms of the low-rank query and of the entry, and sinks
    pooled = [] if compression == WINDOW else [d]  # widths that a compressor pools to
    if compression == CSA:
        matrices += count(weights.indexer_projection, H=hidden, d_q=d_q, i_h=i_h, i_d=i_d)
        pooled.append(i_d)
    for width in pooled:
        overlap = _OVERLAP[compression]
        matrices += count(weights.compressor, H=hidden, overlap=overlap, d=width)
        vectors += count(
            weights.compressor_vectors, compression=compression, overlap=overlap, d=width
        )
    window, d_r = fields.integer("sliding_window"), fields.integer("qk_rope_head_dim")
    core = CompressedCore(layers, n_h, d, d_r, window, compression, topk)
    projections = Weights("attn_proj", layers, matrices, vectors, quantization["attn_proj"])
    scan = [Indexer(layers, i_h, i_d, compression, "fp4")] if compression == CSA else []
    return [projections, core, *scan]


def _streams(
    fields: Fields, quantization: Quantization, hidden: int, layers: int
) -> tuple[Weights, ...]:
    """Hyper-connections: two mixings of the residual streams a layer, and one before the head."""
    size = {"streams": fields.integer("hc_mult"), "H": hidden}
    mixing = 2 * count(weights.hyper_connection, **size)
    last = count(weights.hyper_connection_head, **size)
    return (
        Weights("other", layers, 0, mixing, quantization["other"]),
        Weights("other", 1, 0, last, quantization["other"]),
    )
