"""Families of linear attention with another kind in between: Nemotron-H and Kimi Linear."""

from __future__ import annotations

from specdec_lib.architecture.experts import ROUTED, SHARED, USED, feed_forward
from specdec_lib.architecture.feedforward import Dense, Mixture
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.grouped import GroupedAttention
from specdec_lib.architecture.latent import latent_layers
from specdec_lib.architecture.recurrent import LinearAttention
from specdec_lib.architecture.stack import Block, Stack
from specdec_lib.architecture.traits import Traits

#: What a letter of Nemotron-H's pattern, or a word of its list, means.
_KINDS = {"M": "mamba", "*": "attention", "E": "moe", "-": "mlp"}
_WORDS = {"linear_attention": "mamba", "full_attention": "attention"}


def read_nemotron(fields: Fields) -> Stack:
    """Nemotron-H: each layer is one block, Mamba-2, attention, experts or a dense one, with one
    norm; blocks have no gate."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    kinds = _nemotron_kinds(fields, layers)
    readers = {
        "mamba": _mamba,
        "attention": _nemotron_attention,
        "moe": _nemotron_experts,
        "mlp": _nemotron_dense,
    }
    blocks = {kind: readers[kind](fields, hidden) for kind in dict.fromkeys(kinds)}
    fields.skip("intermediate_size", *ROUTED, *USED, *SHARED)
    return Stack(hidden, tuple((blocks[kind],) for kind in kinds), norms=1)


def _nemotron_kinds(fields: Fields, layers: int) -> list[str]:
    name, pattern = fields.get("hybrid_override_pattern", "layers_block_type") or (
        "hybrid_override_pattern",
        None,
    )
    if isinstance(pattern, str):
        pattern = [_KINDS.get(letter, letter) for letter in pattern]
    accepted = f"{layers} of {', '.join(f'{k} ({v})' for k, v in _KINDS.items())}"
    if not isinstance(pattern, list) or len(pattern) != layers:
        raise fields.error(name, pattern, accepted)
    kinds = [_WORDS.get(kind, kind) if isinstance(kind, str) else str(kind) for kind in pattern]
    for kind in kinds:
        if kind not in _KINDS.values():
            raise fields.error(name, kind, accepted)
    return kinds


def _mamba(fields: Fields, hidden: int) -> Block:
    fields.only("use_bias", False, "biases of its projections are not read yet")
    fields.only("mamba_proj_bias", False, "biases of its projections are not read yet")
    fields.only("use_conv_bias", True, "a bias of its convolution")
    state = fields.get("mamba_ssm_cache_dtype")
    if state is not None and state[1] != "float32":
        raise fields.error("mamba_ssm_cache_dtype", state[1], "'float32'")
    heads, width = fields.integer("mamba_num_heads"), fields.integer("mamba_head_dim")
    groups, size = fields.integer("n_groups", "mamba_n_groups"), fields.integer("ssm_state_size")
    taps = fields.integer("conv_kernel", "mamba_d_conv")
    fields.skip("mamba_hidden_act")
    return LinearAttention("Mamba-2", hidden, groups, heads, size, width, taps)


def _nemotron_attention(fields: Fields, hidden: int) -> Block:
    fields.only("attention_bias", False, "biases of this family are not read yet")
    fields.only("sliding_window", 0, "the family has no sliding windows")
    n_h = fields.integer("num_attention_heads")
    n_kv = fields.divisor("num_key_value_heads", whole=n_h, of="attention heads")
    return GroupedAttention(hidden, n_h, n_kv, fields.integer("head_dim"))


def _nemotron_experts(fields: Fields, hidden: int) -> Block:
    fields.only("moe_latent_size", 0, "experts of a latent width are not read yet")
    experts = fields.integer(*ROUTED)
    used = fields.at_most(*USED, high=experts, of="experts")
    shared = fields.integer("moe_shared_expert_intermediate_size", low=0)
    fields.only(SHARED[0], 1, "one shared expert of its own width")
    width = fields.integer("moe_intermediate_size")
    return Mixture(hidden, width, experts, used, shared, gated=False)


def _nemotron_dense(fields: Fields, hidden: int) -> Block:
    fields.only("mlp_bias", False, "biases of dense blocks are not read yet")
    return Dense(hidden, fields.integer("intermediate_size"), gated=False)


_KIMI = Traits(expert_width="moe_intermediate_size", routing="prefix and step", shared="number")


def read_kimi(fields: Fields) -> Stack:
    """Kimi Linear: Kimi Delta Attention, and latent attention without rotary position between."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    for name, accepted in (
        ("routed_expert_hidden_size", hidden),
        ("mla_use_output_gate", False),
        ("attn_res_block_size", 0),
    ):
        fields.only(name, accepted, "this variant of the family is not read yet")
    linear = fields.get("linear_attn_config")
    if linear is None or not isinstance(linear[1], dict):
        found = None if linear is None else linear[1]
        raise fields.error("linear_attn_config", found, "a table of kda_layers and their shape")
    shape = fields.within("linear_attn_config", linear[1])
    shape.only("use_full_rank_gate", False, "a gate of full rank is not read yet")
    heads, width = shape.integer("num_heads"), shape.integer("head_dim")
    taps = shape.integer("short_conv_kernel_size")
    delta = LinearAttention("KDA", hidden, heads, heads, width, width, taps)
    numbers = shape.integers("kda_layers")  # counted from 1
    if not set(numbers) <= set(range(1, layers + 1)):
        raise shape.error("kda_layers", numbers, f"numbers from 1 to {layers}")
    shape.skip("full_attn_layers")
    latent = latent_layers(fields, hidden, layers, sparse=False)
    attended = [delta if i + 1 in numbers else block for i, block in enumerate(latent)]
    fed = feed_forward(fields, _KIMI, hidden, layers)
    return Stack(hidden, tuple(zip(attended, fed, strict=True)))
