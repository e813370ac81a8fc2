"""DeepSeek-V4: its configuration as a stack of compressed attention, experts and streams."""

from __future__ import annotations

from dataclasses import replace

from specdec_lib.architecture.components import Weights, count
from specdec_lib.architecture.compressed import KINDS, WINDOW, CompressedAttention
from specdec_lib.architecture.experts import feed_forward
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import precision
from specdec_lib.architecture.stack import DraftProjection, Stack
from specdec_lib.architecture.traits import Traits
from specdec_lib.formulas import weights

FAMILIES: tuple[str, ...] = ("deepseek_v4",)

#: Feed-forward: every layer is routed.
TRAITS = Traits(expert_width="moe_intermediate_size", shared="number")


def read(fields: Fields) -> Stack:
    """The stack of a DeepSeek-V4 model."""
    kinds = _compressions(fields, fields.integer("num_hidden_layers"))
    fields.skip("dspark_markov_rank", "dspark_target_layer_ids")
    return _stacked(fields, kinds)


def read_stages(fields: Fields, stages: int) -> Stack:
    """Layers of such a model that draft for it: each attends to its window alone."""
    return _stacked(fields, [WINDOW] * stages)


def _stacked(fields: Fields, kinds: list[int]) -> Stack:
    """Layers of the given compressions."""
    fields.only("num_key_value_heads", 1, "one key-value head that all query heads share")
    fields.only("attention_bias", False, "biases of compressed attention are not read yet")
    hidden, layers = fields.integer("hidden_size"), len(kinds)
    heads, width = fields.integer("num_attention_heads"), fields.integer("head_dim")
    window = CompressedAttention(
        hidden,
        heads,
        width,
        fields.at_most("qk_rope_head_dim", high=width, of="values in a head"),
        fields.integer("q_lora_rank"),
        fields.integer("o_lora_rank"),
        fields.divisor("o_groups", whole=heads, of="attention heads"),
        fields.integer("sliding_window"),
        WINDOW,
        fields.integer("index_topk"),
        fields.integer("index_n_heads"),
        fields.integer("index_head_dim"),
    )
    fed = feed_forward(fields, TRAITS, hidden, layers)
    mixing, last = _streams(fields, hidden)
    plain = precision("bf16")
    attended = [replace(window, compression=kind) for kind in kinds]
    return Stack(
        hidden,
        tuple(zip(attended, fed, strict=True)),
        draft=(DraftProjection(hidden, norms=4, vectors=mixing + last), window, fed[-1]),
        beside=(Weights("other", layers, 0, mixing, plain), Weights("other", 1, 0, last, plain)),
    )


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
        if ratio not in KINDS:
            raise fields.error("compress_ratios", ratio, ", ".join(map(str, KINDS)))
    return listed[:layers]


def _streams(fields: Fields, hidden: int) -> tuple[int, int]:
    """Hyper-connections: parameters of the two mixings of the residual streams in a layer, and of
    the one before the head."""
    size = {"streams": fields.integer("hc_mult"), "H": hidden}
    layer = 2 * count(weights.hyper_connection, **size)
    return layer, count(weights.hyper_connection_head, **size)
