"""Configurations that state no family: read by the settings that they do state.

What a family's program text would fix beside them, biases, norms of queries and keys, sinks and
gates, is not counted unless a setting states it; the reading is listed as an assumption.
"""

from __future__ import annotations

from dataclasses import replace

from specdec_lib.architecture import deepseek_v4, latent, plain
from specdec_lib.architecture.experts import ROUTED
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.stack import Stack
from specdec_lib.architecture.traits import Traits

_BESIDE = "norms of queries and keys, sinks and gates are not counted, biases only where stated"


def read(fields: Fields) -> Stack:
    """The stack of a model by its settings."""
    if fields.has("compress_ratios"):
        fields.assume("model_type is not stated: read by its fields as compressed attention")
        return deepseek_v4.read(fields)
    if fields.has("kv_lora_rank"):
        sparse = fields.has("index_topk")
        kind = "sparse latent attention" if sparse else "latent attention"
        fields.assume(f"model_type is not stated: read by its fields as {kind}")
        return latent.read(fields, sparse=sparse)
    kind, traits = _traits(fields)
    fields.assume(f"model_type is not stated: read by its fields as {kind}; {_BESIDE}")
    return plain.read(fields, traits)


def _traits(fields: Fields) -> tuple[str, Traits]:
    """The traits that the settings tell of grouped attention, in words and as such."""
    traits = Traits(
        bias_setting="attention_bias" if fields.has("attention_bias") else "",
        head_norms="stated" if fields.has("use_qk_norm") else "none",
        ffn_bias=fields.has("mlp_bias"),
    )
    words = ["grouped attention"]
    if fields.has("linear_num_value_heads"):
        traits, words = replace(traits, windows="linear"), ["linear and grouped attention"]
    elif fields.has("sliding_window"):
        if not fields.has("layer_types") and not fields.has("use_sliding_window"):
            accepted = "layer_types or use_sliding_window, or model_type, beside it"
            raise fields.error("sliding_window", fields.get("sliding_window"), accepted)
        switched = fields.has("use_sliding_window")
        traits = replace(traits, windows="switch" if switched else "listed")
        words = ["grouped attention in sliding windows"]
    if any(map(fields.has, ROUTED)) and fields.integer(*ROUTED, low=0):
        width = "moe_intermediate_size"
        width = width if fields.has(width) else "intermediate_size"
        traits = replace(traits, expert_width=width, routing="stated")
        if fields.has("n_shared_experts"):
            traits = replace(traits, shared="number")
        elif fields.has("shared_expert_intermediate_size"):
            traits = replace(traits, shared="width")
        words.append("experts")
    return " with ".join(words), traits
