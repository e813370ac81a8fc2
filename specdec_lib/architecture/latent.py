"""Latent attention (MLA), with or without a sparse selection (DSA): DeepSeek-V2 to V3.2, Kimi-K2,
GLM-4.7-Flash and GLM-5.

At decode the up-projections of keys and values are absorbed: all heads attend to one latent entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specdec_lib.architecture.components import (
    Coefficients,
    Component,
    Indexer,
    Weights,
    count,
)
from specdec_lib.architecture.experts import feed_forward
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.modules import LATENT
from specdec_lib.architecture.patterns import listed
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.architecture.selecting import SharedEntryCore
from specdec_lib.architecture.stack import Block, DraftProjection, Stack
from specdec_lib.architecture.traits import Traits
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights

FAMILIES: tuple[str, ...] = (
    "deepseek_v2",
    "deepseek_v3",
    "kimi_k2",
    "kimi_k25",
    "glm4_moe_lite",
)
SPARSE_FAMILIES: tuple[str, ...] = ("deepseek_v32", "glm_moe_dsa")

#: Feed-forward of these families.
TRAITS = Traits(expert_width="moe_intermediate_size", routing="prefix and step", shared="number")

#: An indexer's key is kept in fp8 with one 4-byte scale.
_KEY_FORMAT, _KEY_SCALE = "fp8", 4


@dataclass(frozen=True)
class LatentCore(SharedEntryCore):
    """``n_h`` query heads on one cache entry of ``d_c`` latent and ``d_r`` rotary values; on the
    ``topk`` entries that an indexer selects, unless that is None."""

    d_c: int
    d_r: int
    topk: int | None = None

    @property
    def kind(self) -> str:
        """Latent attention, or DSA where entries are selected."""
        return "latent" if self.topk is None else "DSA"

    @property
    def entries(self) -> Formula:
        """The whole context, or the selected entries."""
        if self.topk is None:
            return attention.full_entries
        return attention.selected_entries.where(topk=self.topk)

    @property
    def selection(self) -> tuple[Formula, int] | None:
        """All entries are selected, if any."""
        return None if self.topk is None else (attention.selected_entries, self.topk)

    def coefficients(
        self, *, cache: str | None = None, query: str = "bf16", output: bool = True
    ) -> Coefficients:
        """In the absorbed form; see :meth:`Core.coefficients`."""
        moved = attention.latent_query_output_bytes if output else attention.latent_query_bytes
        shape = {"d_c": self.d_c, "d_r": self.d_r}
        b_kv = element_bytes(cache or self.cache)
        return {
            "f": attention.latent_pair_work(n_h=self.n_h, **shape),
            "m_c": attention.latent_context_bytes(b_kv=b_kv, **shape),
            "m_q": moved(n_h=self.n_h, b_q=element_bytes(query), **shape),
        }


@dataclass(frozen=True)
class LatentAttention(Block):
    """Projections, core and indexer of a layer.

    ``d_q`` is the rank of the query, None where it is projected in one step.  ``topk`` entries are
    selected by an indexer of ``i_h`` heads of width ``i_d``, the layer's own unless ``borrowed``.
    """

    H: int
    n_h: int
    d_c: int
    d_r: int
    d_n: int
    d_v: int
    d_q: int | None = None
    topk: int | None = None
    i_h: int = 0
    i_d: int = 0
    borrowed: bool = False

    @property
    def _indexed(self) -> bool:
        return self.topk is not None and not self.borrowed

    @property
    def matrices(self) -> int:
        """Parameters of the projections, the indexer's included."""
        size = {"H": self.H, "n_h": self.n_h, "d_c": self.d_c, "d_r": self.d_r}
        size |= {"d_n": self.d_n, "d_v": self.d_v}
        if self.d_q is None:
            return count(weights.latent_direct_projection, **size)
        whole = count(weights.latent_projection, d_q=self.d_q, **size)
        if self._indexed:
            shape = {"d_q": self.d_q, "i_h": self.i_h, "i_d": self.i_d}
            whole += count(weights.sparse_indexer_projection, H=self.H, **shape)
        return whole

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """Projections, core and, where the layer has its own, the indexer."""
        layers = len(where)
        vectors = self.d_c + (self.d_q or 0)  # norms of the latent and of the low-rank query
        form = quantization.at("attn_proj", where, LATENT, draft=draft)
        core = LatentCore(layers, self.n_h, self.d_c, self.d_r, self.topk)
        if not self._indexed:
            return Weights("attn_proj", layers, self.matrices, vectors, form), core
        vectors += count(weights.sparse_indexer_vectors, i_d=self.i_d)
        scan = Indexer(layers, self.i_h, self.i_d, 1, _KEY_FORMAT, _KEY_SCALE)
        return Weights("attn_proj", layers, self.matrices, vectors, form), core, scan


def read(fields: Fields, *, sparse: bool = False) -> Stack:
    """The stack of a model of these families; ``sparse`` ones select entries by an indexer."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    attended = latent_layers(fields, hidden, layers, sparse=sparse)
    fed = feed_forward(fields, TRAITS, hidden, layers)
    last = replace(attended[-1], borrowed=False)
    draft = (DraftProjection(hidden, norms=5), last, fed[-1])
    return Stack(hidden, tuple(zip(attended, fed, strict=True)), draft=draft)


def latent_layers(
    fields: Fields, hidden: int, layers: int, *, sparse: bool
) -> tuple[LatentAttention, ...]:
    """The attention of each layer."""
    # stated, and without meaning for a latent cache
    fields.skip("num_key_value_heads", "head_dim", "qk_head_dim")
    fields.only("attention_bias", False, "biases of latent attention are not read yet")
    block = LatentAttention(
        hidden,
        fields.integer("num_attention_heads"),
        fields.integer("kv_lora_rank"),
        fields.integer("qk_rope_head_dim"),
        fields.integer("qk_nope_head_dim"),
        fields.integer("v_head_dim"),
        None if fields.get("q_lora_rank") is None else fields.integer("q_lora_rank"),
    )
    if not sparse:
        return (block,) * layers
    if block.d_q is None:
        raise fields.error("q_lora_rank", None, "a rank; the indexer's queries come from it")
    topk = fields.integer("index_topk")
    i_h, i_d = fields.integer("index_n_heads"), fields.integer("index_head_dim")
    block = replace(block, topk=topk, i_h=i_h, i_d=i_d)
    return tuple(replace(block, borrowed=here) for here in _borrowed(fields, layers))


def _borrowed(fields: Fields, layers: int) -> tuple[bool, ...]:
    """Which layers take over the selection of an earlier one, as ``indexer_types`` says."""
    kinds = listed(fields, "indexer_types", layers, ("full", "shared"))
    spaced = ("index_topk_freq", "index_skip_topk_offset", "index_topk_pattern")
    if kinds is not None:
        fields.skip(*spaced)
        return tuple(kind == "shared" for kind in kinds)
    for name in spaced:
        if fields.has(name):
            raise fields.error(name, fields.get(name), "indexer_types, one word a layer, beside it")
    return (False,) * layers
