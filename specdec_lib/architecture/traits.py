"""Traits: what the program text of each grouped-query family fixes beside its configuration, and
what it takes where the configuration is silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from specdec_lib.architecture.patterns import Routing


@dataclass(frozen=True)
class Traits:
    """The traits of one family.

    Parameters
    ----------
    bias, bias_setting, output_bias
        Whether queries, keys and values have biases unless ``bias_setting`` says otherwise, and
        whether the output has one with them.
    head_norms
        Norms of queries and keys: none, over a head, over all heads at once, or over a head where
        ``use_qk_norm`` is true.
    sinks
        Whether each head has an attention sink.
    output_gate
        Whether a query-sized matrix gates the output of attention.
    windows
        How sliding windows are stated: not at all, by ``use_sliding_window``, for every layer where
        ``sliding_window`` is, by ``layer_types``, as chunks, or by linear attention in between.
    ffn_bias
        Whether ``mlp_bias`` gives dense blocks biases.
    dense_width, expert_width
        Settings with the width of a dense block and of an expert; none for a family without
        experts.
    routing
        How routed layers are stated.
    shared
        How shared experts are stated: not at all, by number, by width, by width and with a gate, or
        always one.
    expert_bias
        Whether router and experts have biases.
    norm_vectors
        Vectors of one norm: 1, or 2 where it also shifts.
    head_bias
        Whether ``lm_head_bias`` may give the head a bias.
    draft_norms
        Norms of a module for multi-token prediction; 0 where its shape is not known.
    """

    bias: bool = False
    bias_setting: str = ""
    output_bias: bool = True
    head_norms: Literal["none", "head", "all", "stated"] = "none"
    sinks: bool = False
    output_gate: bool = False
    windows: Literal["none", "switch", "every layer", "listed", "chunks", "linear"] = "none"
    ffn_bias: bool = False
    dense_width: str = "intermediate_size"
    expert_width: str = ""
    routing: Routing = "all"
    shared: Literal["none", "number", "width", "gated width", "one"] = "none"
    expert_bias: bool = False
    norm_vectors: int = 1
    head_bias: bool = False
    draft_norms: int = 0


_QWEN3_MOE = Traits(
    bias_setting="attention_bias",
    head_norms="head",
    windows="switch",
    expert_width="moe_intermediate_size",
    routing="sparse step",
)
_QWEN_HYBRID = Traits(
    bias_setting="attention_bias",
    head_norms="head",
    output_gate=True,
    windows="linear",
    draft_norms=5,
)
_QWEN_HYBRID_MOE = replace(_QWEN_HYBRID, expert_width="moe_intermediate_size", shared="gated width")
_LLAMA4 = Traits(
    bias_setting="attention_bias",
    windows="chunks",
    dense_width="intermediate_size_mlp",
    expert_width="intermediate_size",
    routing="interleaved",
    shared="one",
)

TRAITS: Mapping[str, Traits] = {
    "llama": Traits(bias_setting="attention_bias", ffn_bias=True),
    "mistral": Traits(windows="every layer"),
    "qwen2": Traits(bias=True, output_bias=False, windows="switch"),
    "qwen2_moe": Traits(
        bias=True,
        bias_setting="qkv_bias",
        output_bias=False,
        windows="switch",
        expert_width="moe_intermediate_size",
        routing="sparse step",
        shared="gated width",
    ),
    "qwen3": Traits(bias_setting="attention_bias", head_norms="head", windows="switch"),
    "qwen3_moe": _QWEN3_MOE,
    "qwen3_next": replace(_QWEN_HYBRID_MOE, routing="sparse step"),
    "qwen3_5": _QWEN_HYBRID,
    "qwen3_5_text": _QWEN_HYBRID,
    "qwen3_5_moe": _QWEN_HYBRID_MOE,
    "qwen3_5_moe_text": _QWEN_HYBRID_MOE,
    "mixtral": Traits(windows="every layer", expert_width="intermediate_size"),
    "olmoe": Traits(
        bias_setting="attention_bias", head_norms="all", expert_width="intermediate_size"
    ),
    "phimoe": Traits(
        bias_setting="attention_bias",
        windows="every layer",
        expert_width="intermediate_size",
        norm_vectors=2,
        head_bias=True,
    ),
    "gpt_oss": Traits(
        bias=True,
        bias_setting="attention_bias",
        sinks=True,
        windows="listed",
        expert_width="intermediate_size",
        expert_bias=True,
    ),
    "minimax_m2": Traits(head_norms="all", expert_width="intermediate_size"),
    "glm4_moe": Traits(
        bias_setting="attention_bias",
        output_bias=False,
        head_norms="stated",
        expert_width="moe_intermediate_size",
        routing="prefix",
        shared="number",
        draft_norms=5,
    ),
    "llama4": _LLAMA4,
    "llama4_text": _LLAMA4,
}
