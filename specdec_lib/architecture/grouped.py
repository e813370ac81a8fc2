"""Grouped-query attention, full or in sliding windows: Llama, Qwen3, Mixtral, gpt-oss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specdec_lib.architecture.components import (
    Coefficients,
    Core,
    Experts,
    Layers,
    Weights,
    count,
)
from specdec_lib.architecture.feedforward import dense, routed
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights


@dataclass(frozen=True)
class GroupedCore(Core):
    """``n_h`` query heads that share ``n_kv`` key-value heads of width ``d``; a ``window`` of None
    is the whole context."""

    n_h: int
    n_kv: int
    d: int
    window: int | None = None

    @property
    def kind(self) -> str:
        """Full or in a sliding window."""
        return "grouped" if self.window is None else "sliding window"

    @property
    def entries(self) -> Formula:
        """The whole context, or as much of it as the window holds."""
        if self.window is None:
            return attention.full_entries
        return attention.window_entries.where(window=self.window)

    def coefficients(
        self, *, cache: str | None = None, query: str = "bf16", output: bool = True
    ) -> Coefficients:
        """Keys and values for each key-value head; see :meth:`Core.coefficients`."""
        moved = attention.grouped_query_output_bytes if output else attention.grouped_query_bytes
        b_kv = element_bytes(cache or self.cache)
        return {
            "f": attention.grouped_pair_work(n_h=self.n_h, d=self.d),
            "m_c": attention.grouped_context_bytes(n_kv=self.n_kv, d=self.d, b_kv=b_kv),
            "m_q": moved(n_h=self.n_h, d=self.d, b_q=element_bytes(query)),
        }


@dataclass(frozen=True)
class Traits:
    """What the program text of a family fixes, and what it takes where its configuration is silent.

    ``attention_bias`` and ``ffn_bias`` are the defaults of a setting, None where there is no such
    setting and no bias; ``windows`` is how sliding windows are stated.
    """

    head_norms: bool = False
    sinks: bool = False
    attention_bias: bool | None = None
    ffn_bias: bool | None = None
    windows: Literal["none", "switch", "every layer", "listed"] = "none"
    #: the setting that holds an expert's width; None for a family without experts
    expert_width: str | None = None


TRAITS: Mapping[str, Traits] = {
    "llama": Traits(attention_bias=False, ffn_bias=False),
    "qwen3": Traits(head_norms=True, attention_bias=False, windows="switch"),
    "qwen3_moe": Traits(
        head_norms=True,
        attention_bias=False,
        windows="switch",
        expert_width="moe_intermediate_size",
    ),
    "mixtral": Traits(windows="every layer", expert_width="intermediate_size"),
    "gpt_oss": Traits(
        sinks=True, attention_bias=True, windows="listed", expert_width="intermediate_size"
    ),
}


def read(fields: Fields, quantization: Quantization, traits: Traits) -> Layers:
    """The layers of a model of the family that has these traits."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    n_h = fields.integer("num_attention_heads")
    n_kv = fields.integer(
        "num_key_value_heads", default=n_h, because="num_attention_heads, as without grouping"
    )
    if n_h % n_kv:
        raise fields.error("num_key_value_heads", n_kv, f"a divisor of {n_h} attention heads")
    d = _head_width(fields, hidden, n_h)
    projections = Weights(
        "attn_proj",
        layers,
        count(weights.grouped_projection, H=hidden, n_h=n_h, n_kv=n_kv, d=d),
        _attention_vectors(fields, traits, hidden, n_h, n_kv, d),
        quantization["attn_proj"],
    )
    windows = Counter(_windows(fields, traits, layers))
    cores = [GroupedCore(number, n_h, n_kv, d, window) for window, number in windows.items()]
    feed_forward, experts = _feed_forward(fields, quantization, traits, hidden, layers)
    return Layers((projections, *cores, *feed_forward), experts)


def _head_width(fields: Fields, hidden: int, heads: int) -> int:
    if fields.get("head_dim") is None and hidden % heads:
        raise fields.error("head_dim", None, f"a width; {hidden} is no multiple of {heads} heads")
    because = "hidden_size / num_attention_heads"
    return fields.integer("head_dim", default=hidden // heads, because=because)


def _attention_vectors(
    fields: Fields, traits: Traits, hidden: int, n_h: int, n_kv: int, d: int
) -> int:
    """Biases, norms and sinks of one layer."""
    vectors = n_h if traits.sinks else 0
    if traits.head_norms:
        vectors += count(weights.head_norms, d=d)
    if traits.attention_bias is not None and fields.flag(
        "attention_bias", default=traits.attention_bias, because="as the family has it"
    ):
        vectors += count(weights.grouped_biases, H=hidden, n_h=n_h, n_kv=n_kv, d=d)
    return vectors


def _windows(fields: Fields, traits: Traits, layers: int) -> list[int | None]:
    """The window of each layer; None is the whole context."""
    whole: list[int | None] = [None] * layers
    if traits.windows == "switch":
        if fields.flag("use_sliding_window", default=False, because="as the family has it"):
            raise fields.error("use_sliding_window", True, "false; its windows are not read yet")
        fields.skip("sliding_window")
    if traits.windows == "every layer" and fields.get("sliding_window"):
        return [fields.integer("sliding_window")] * layers
    if traits.windows != "listed":
        return whole
    window = fields.integer("sliding_window")
    kinds = ("sliding_attention", "full_attention")
    listed = fields.words("layer_types", kinds)
    if listed is None:
        fields.assume("layer_types is not stated: every other layer slides, the first one does")
        listed = [kinds[layer % 2] for layer in range(layers)]
    if len(listed) != layers:
        raise fields.error("layer_types", f"{len(listed)} entries", f"{layers}, one a layer")
    return [window if kind == "sliding_attention" else None for kind in listed]


def _feed_forward(
    fields: Fields, quantization: Quantization, traits: Traits, hidden: int, layers: int
) -> tuple[tuple[Weights, ...], Experts | None]:
    if traits.expert_width is None:
        biased = traits.ffn_bias is not None and fields.flag(
            "mlp_bias", default=traits.ffn_bias, because="as the family has it"
        )
        width = fields.integer("intermediate_size")
        blocks = dense(quantization, layers=layers, hidden=hidden, width=width, biases=biased)
        return blocks, None
    sparse = (
        _routed_layers(fields, layers) if traits.expert_width != "intermediate_size" else layers
    )
    parts, experts = routed(
        quantization,
        layers=sparse,
        hidden=hidden,
        width=fields.integer(traits.expert_width),
        E=(E := fields.integer("num_local_experts", "num_experts", "n_routed_experts")),
        k=fields.at_most("num_experts_per_tok", "experts_per_token", high=E, of="experts"),
        biases=traits.sinks,
    )
    if sparse == layers:
        fields.skip("intermediate_size")
        return parts, experts
    width = fields.integer("intermediate_size")
    return (
        *dense(quantization, layers=layers - sparse, hidden=hidden, width=width),
        *parts,
    ), experts


def _routed_layers(fields: Fields, layers: int) -> int:
    """How many layers are routed: every ``decoder_sparse_step``-th but those listed as dense."""
    step = fields.integer("decoder_sparse_step", default=1, because="every layer is routed")
    plain = set(fields.integers("mlp_only_layers", default=[], because="no layer is dense"))
    return sum(layer not in plain and (layer + 1) % step == 0 for layer in range(layers))
