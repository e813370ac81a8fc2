"""Families of grouped-query attention whose layers differ in shape: MiMo-V2-Flash and Gemma 4."""

from __future__ import annotations

from dataclasses import replace

from specdec_lib.architecture.components import count
from specdec_lib.architecture.experts import ROUTED, USED, feed_forward
from specdec_lib.architecture.feedforward import Dense, Mixture
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.grouped import GroupedAttention
from specdec_lib.architecture.patterns import FULL, SLIDING, flags, listed
from specdec_lib.architecture.stack import Block, Stack
from specdec_lib.architecture.traits import Traits
from specdec_lib.formulas import weights

_MIMO = Traits(expert_width="moe_intermediate_size", routing="prefix and step")


def read_mimo(fields: Fields) -> Stack:
    """MiMo-V2-Flash: sliding layers have more key-value heads than full ones, and sinks; a value
    is narrower than a key."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    fields.only("attention_bias", False, "biases of this family are not read yet")
    fields.only("add_full_attention_sink_bias", False, "sinks are in sliding layers alone")
    n_h = fields.integer("num_attention_heads")
    d, d_v = fields.integer("head_dim"), fields.integer("v_head_dim")
    n_kv = fields.divisor("num_key_value_heads", whole=n_h, of="attention heads")
    full = GroupedAttention(hidden, n_h, n_kv, d, d_v=d_v)
    swa_h = fields.integer("swa_num_attention_heads")
    sinks = swa_h if fields.flag("add_swa_attention_sink_bias") else 0
    slide = GroupedAttention(
        hidden,
        swa_h,
        fields.divisor("swa_num_key_value_heads", whole=swa_h, of="sliding attention heads"),
        fields.integer("swa_head_dim"),
        fields.integer("sliding_window"),
        d_v=fields.integer("swa_v_head_dim"),
        vectors=sinks,
    )
    slides = flags(fields, "hybrid_layer_pattern", layers)
    if slides is None:
        raise fields.error("hybrid_layer_pattern", None, f"{layers} entries of 0 or 1")
    fields.skip("sliding_window_size", "attention_chunk_size")
    fields.only("n_shared_experts", 0, "the family has no shared experts")
    fed = feed_forward(fields, _MIMO, hidden, layers)
    return Stack(
        hidden,
        tuple((slide if s else full, block) for s, block in zip(slides, fed, strict=True)),
    )


def read_gemma(fields: Fields) -> Stack:
    """Gemma 4: full layers have wider and fewer heads than sliding ones and may take their values
    from their keys; a routed block stands beside a dense one in every layer."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    fields.only("attention_bias", False, "biases of this family are not read yet")
    fields.only("num_kv_shared_layers", 0, "layers that share keys and values are not read yet")
    fields.only("hidden_size_per_layer_input", 0, "embeddings by layer are not read yet")
    fields.only("use_double_wide_mlp", False, "wider blocks of some layers are not read yet")
    fields.skip("vocab_size_per_layer_input")
    n_h, d = fields.integer("num_attention_heads"), fields.integer("head_dim")
    slide = GroupedAttention(
        hidden,
        n_h,
        fields.divisor("num_key_value_heads", whole=n_h, of="attention heads"),
        d,
        fields.integer("sliding_window"),
        vectors=count(weights.head_norms, d=d),
    )
    wide = fields.integer("global_head_dim")
    same = fields.flag("attention_k_eq_v", default=False, because="keys and values are apart")
    n_kv = slide.n_kv
    if same:
        n_kv = fields.divisor("num_global_key_value_heads", whole=n_h, of="attention heads")
    vectors = count(weights.head_norms, d=wide)
    full = replace(slide, n_kv=n_kv, d=wide, window=None, vectors=vectors, shared=same)
    kinds = listed(fields, "layer_types", layers, (SLIDING, FULL))
    if kinds is None:
        fields.assume("layer_types is not stated: every sixth layer attends to the whole context")
        kinds = tuple(SLIDING if (layer + 1) % 6 else FULL for layer in range(layers))
    fed: tuple[Block, ...] = (Dense(hidden, fields.integer("intermediate_size")),)
    norms = 4
    if fields.flag("enable_moe_block", default=False, because="no layer is routed"):
        experts = fields.integer(*ROUTED)
        width = fields.integer("moe_intermediate_size")
        used = fields.at_most(*USED, high=experts, of="experts")
        # the router scales its input by channel, and the output of each expert
        fed += (Mixture(hidden, width, experts, used, scales=hidden + experts),)
        norms = 7
    else:
        fields.skip(*ROUTED, *USED, "moe_intermediate_size")
    stacked = tuple((full if kind == FULL else slide, *fed) for kind in kinds)
    return Stack(hidden, stacked, norms=norms)
