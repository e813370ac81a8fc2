"""The families of grouped-query attention: their configurations as a stack of blocks.

Llama, Mistral, Qwen2 to Qwen3.6, Mixtral, OLMoE, Phi-3.5-MoE, gpt-oss, MiniMax-M2, GLM-4.5 and
Llama 4, each by its :class:`~specdec_lib.architecture.traits.Traits`.
"""

from __future__ import annotations

from dataclasses import replace

from specdec_lib.architecture.components import count
from specdec_lib.architecture.experts import feed_forward
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.grouped import GroupedAttention
from specdec_lib.architecture.patterns import (
    CHUNKED,
    FULL,
    LINEAR,
    SLIDING,
    attention_kinds,
    flags,
)
from specdec_lib.architecture.recurrent import LinearAttention
from specdec_lib.architecture.stack import Block, DraftProjection, Stack
from specdec_lib.architecture.traits import Traits
from specdec_lib.formulas import weights

_FAMILY = "as the family has it"


def read(fields: Fields, traits: Traits) -> Stack:
    """The stack of a model of the family that has these traits."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    full = full_attention(fields, traits, hidden)
    attended = _attention(fields, traits, layers, full)
    fed = feed_forward(fields, traits, hidden, layers)
    draft: tuple[Block, ...] = ()
    if traits.draft_norms:
        draft = (DraftProjection(hidden, traits.draft_norms), full, fed[-1])
    return Stack(
        hidden,
        tuple(zip(attended, fed, strict=True)),
        norms=2 * traits.norm_vectors,
        last_norm=traits.norm_vectors,
        draft=draft,
        head_bias=traits.head_bias and fields.flag("lm_head_bias", default=False, because=_FAMILY),
    )


def full_attention(fields: Fields, traits: Traits, hidden: int) -> GroupedAttention:
    """Attention of one layer over the whole context."""
    n_h = fields.integer("num_attention_heads")
    n_kv = fields.divisor(
        "num_key_value_heads",
        whole=n_h,
        of="attention heads",
        default=n_h,
        because="num_attention_heads, as without grouping",
    )
    d = _head_width(fields, hidden, n_h)
    vectors = _vectors(fields, traits, hidden, n_h, n_kv, d)
    gated = traits.output_gate
    if fields.has("attn_output_gate"):
        gated = fields.flag("attn_output_gate")
    return GroupedAttention(hidden, n_h, n_kv, d, vectors=vectors, gated=gated)


def _head_width(fields: Fields, hidden: int, heads: int) -> int:
    if fields.get("head_dim") is None and hidden % heads:
        raise fields.error("head_dim", None, f"a width; {hidden} is no multiple of {heads} heads")
    because = "hidden_size / num_attention_heads"
    return fields.integer("head_dim", default=hidden // heads, because=because)


def _vectors(fields: Fields, traits: Traits, hidden: int, n_h: int, n_kv: int, d: int) -> int:
    """Biases, norms and sinks of one layer."""
    heads = {"n_h": n_h, "n_kv": n_kv, "d": d}
    vectors = n_h if traits.sinks else 0
    norms = traits.head_norms
    if norms == "stated":
        stated = fields.flag("use_qk_norm", default=False, because=_FAMILY)
        norms = "head" if stated else "none"
    if norms != "none":
        fields.only("use_qk_norm", True, "the family has norms of queries and keys")
    if norms == "head":
        vectors += count(weights.head_norms, d=d)
    if norms == "all":
        fields.only("qk_norm_type", "per_layer", "a norm over all heads at once")
        vectors += count(weights.wide_norms, **heads)
    biased = traits.bias
    if traits.bias_setting:
        biased = fields.flag(traits.bias_setting, default=traits.bias, because=_FAMILY)
    if biased and traits.output_bias:
        vectors += count(weights.grouped_biases, H=hidden, **heads)
    elif biased:
        vectors += count(weights.input_biases, **heads)
    return vectors


def _attention(
    fields: Fields, traits: Traits, layers: int, full: GroupedAttention
) -> tuple[Block, ...]:
    """The attention of each layer, of which ``full`` is the one over the whole context."""
    if traits.windows == "switch":
        return _switched(fields, layers, full)
    if traits.windows == "every layer":
        window = fields.integer("sliding_window") if fields.get("sliding_window") else None
        return (replace(full, window=window),) * layers
    if traits.windows == "listed":
        every_other = tuple((SLIDING, FULL)[layer % 2] for layer in range(layers))
        why = "every other layer slides, the first one does"
        kinds = attention_kinds(fields, layers, (SLIDING, FULL), every_other, why)
        return _sliding(fields, full, kinds)
    if traits.windows == "chunks":
        return _chunked(fields, layers, full)
    if traits.windows == "linear":
        return _linear(fields, layers, full)
    fields.only("sliding_window", 0, "the family has no sliding windows")
    return (full,) * layers


def _sliding(fields: Fields, full: GroupedAttention, kinds: tuple[str, ...]) -> tuple[Block, ...]:
    """Attention by kind, full or sliding."""
    if SLIDING not in kinds:
        fields.skip("sliding_window")
        return (full,) * len(kinds)
    slide = replace(full, window=fields.integer("sliding_window"))
    return tuple(full if kind == FULL else slide for kind in kinds)


def _switched(fields: Fields, layers: int, full: GroupedAttention) -> tuple[Block, ...]:
    """Sliding windows behind ``use_sliding_window``, in the layers that ``layer_types`` lists."""
    slides = fields.flag("use_sliding_window", default=False, because=_FAMILY)
    kinds = attention_kinds(fields, layers, (SLIDING, FULL), (FULL,) * layers, "")
    if slides and not fields.has("layer_types"):
        raise fields.error("layer_types", None, f"{layers} kinds, as use_sliding_window is true")
    if SLIDING in kinds and not slides:
        raise fields.error("layer_types", SLIDING, f"{FULL}, as use_sliding_window is not true")
    return _sliding(fields, full, kinds)


def _chunked(fields: Fields, layers: int, full: GroupedAttention) -> tuple[Block, ...]:
    """Attention in chunks, but for the layers without rotary position."""
    fields.skip("no_rope_layer_interval")
    if not fields.get("attention_chunk_size"):
        fields.assume("attention_chunk_size is not stated: every layer attends to the context")
        return (full,) * layers
    chunk = replace(full, window=fields.integer("attention_chunk_size"), chunked=True)
    rotary = fields.get("no_rope_layers")
    if rotary and rotary[1] and not fields.has("layer_types"):
        turned = flags(fields, "no_rope_layers", layers) or ()
        return tuple(chunk if rotates else full for rotates in turned)
    fourth = tuple(CHUNKED if (layer + 1) % 4 else FULL for layer in range(layers))
    why = "every fourth layer attends to the whole context, the others to their chunk"
    kinds = attention_kinds(fields, layers, (CHUNKED, FULL), fourth, why)
    return tuple(full if kind == FULL else chunk for kind in kinds)


def _linear(fields: Fields, layers: int, full: GroupedAttention) -> tuple[Block, ...]:
    """Linear attention but for every fourth layer or so."""
    interval, why = 4, "every fourth layer attends, the others are linear"
    if fields.get("full_attention_interval"):
        interval, why = fields.integer("full_attention_interval"), ""
    otherwise = tuple(LINEAR if (i + 1) % interval else FULL for i in range(layers))
    kinds = attention_kinds(fields, layers, (LINEAR, FULL), otherwise, why)
    linear = delta(fields, full.H) if LINEAR in kinds else full
    return tuple(full if kind == FULL else linear for kind in kinds)


def delta(fields: Fields, hidden: int) -> LinearAttention:
    """GatedDeltaNet by the settings that name its heads."""
    n_k, n_v = fields.integer("linear_num_key_heads"), fields.integer("linear_num_value_heads")
    if n_v % n_k:
        raise fields.error("linear_num_value_heads", n_v, f"a multiple of {n_k} key heads")
    d_k, d_v = fields.integer("linear_key_head_dim"), fields.integer("linear_value_head_dim")
    taps = fields.integer("linear_conv_kernel_dim")
    state = fields.get("mamba_ssm_dtype")
    if state is not None and state[1] != "float32":
        raise fields.error("mamba_ssm_dtype", state[1], "'float32'")
    return LinearAttention("GatedDeltaNet", hidden, n_k, n_v, d_k, d_v, taps)
