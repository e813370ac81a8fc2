"""Latent attention (MLA) with shared and routed experts: DeepSeek-V3, Kimi-K2.

At decode the up-projections of keys and values are absorbed: all heads attend to one latent entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from specdec_lib.architecture.components import Coefficients, Core, Layers, Weights, count
from specdec_lib.architecture.feedforward import dense, routed
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights

FAMILIES: tuple[str, ...] = ("deepseek_v3", "kimi_k2")


@dataclass(frozen=True)
class LatentCore(Core):
    """``n_h`` query heads on one cache entry of ``d_c`` latent and ``d_r`` rotary values."""

    n_h: int
    d_c: int
    d_r: int

    @property
    def kind(self) -> str:
        """Latent attention."""
        return "latent"

    @property
    def entries(self) -> Formula:
        """The whole context."""
        return attention.full_entries

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


def read(fields: Fields, quantization: Quantization) -> Layers:
    """The layers of a model of these families."""
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    fields.skip("num_key_value_heads")  # stated, and without meaning for a latent cache
    fields.only("attention_bias", False, "biases of latent attention are not read yet")
    n_h = fields.integer("num_attention_heads")
    d_c, d_r = fields.integer("kv_lora_rank"), fields.integer("qk_rope_head_dim")
    shape = {
        "H": hidden,
        "n_h": n_h,
        "d_c": d_c,
        "d_r": d_r,
        "d_n": fields.integer("qk_nope_head_dim"),
        "d_v": fields.integer("v_head_dim"),
    }
    if fields.get("q_lora_rank") is None:
        matrices, norms = count(weights.latent_direct_projection, **shape), d_c
    else:
        d_q = fields.integer("q_lora_rank")
        matrices, norms = count(weights.latent_projection, d_q=d_q, **shape), d_q + d_c
    projections = Weights("attn_proj", layers, matrices, norms, quantization["attn_proj"])

    sparse = routed_layers(fields, layers)
    experts = fields.integer("n_routed_experts", "num_experts", "num_local_experts")
    blocks, mixture = routed(
        quantization,
        layers=sparse,
        hidden=hidden,
        width=fields.integer("moe_intermediate_size"),
        E=experts,
        k=fields.at_most("num_experts_per_tok", high=experts, of="experts"),
        s=fields.integer("n_shared_experts", low=0),
    )
    width = fields.integer("intermediate_size")
    plain = dense(quantization, layers=layers - sparse, hidden=hidden, width=width)
    return Layers((projections, LatentCore(layers, n_h, d_c, d_r), *plain, *blocks), mixture)


def routed_layers(fields: Fields, layers: int) -> int:
    """How many layers are routed: those after a dense prefix, every ``moe_layer_freq``-th."""
    prefix = fields.integer("first_k_dense_replace", low=0)
    step = fields.integer("moe_layer_freq", default=1, because="every later layer is routed")
    return sum(layer >= prefix and layer % step == 0 for layer in range(layers))
