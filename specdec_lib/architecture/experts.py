"""Feed-forward from a configuration: which layers are dense, which are routed, and how wide."""

from __future__ import annotations

from specdec_lib.architecture.feedforward import Dense, Mixture
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.patterns import routed_layers
from specdec_lib.architecture.stack import Block
from specdec_lib.architecture.traits import Traits

#: The settings by which families call the number of routed experts, of experts per token, and of
#: shared experts.
ROUTED = ("num_local_experts", "num_experts", "n_routed_experts")
USED = ("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts")
SHARED = ("n_shared_experts", "num_shared_experts")


def feed_forward(fields: Fields, traits: Traits, hidden: int, layers: int) -> tuple[Block, ...]:
    """The feed-forward block of each layer; without experts every layer is dense."""
    experts = fields.integer(*ROUTED, low=0) if traits.expert_width else 0
    routed = routed_layers(fields, layers, traits.routing) if experts else (False,) * layers
    if not experts:
        fields.skip(*ROUTED, *USED)
    elif not any(routed):
        name, found = fields.get(*ROUTED) or (ROUTED[0], experts)
        raise fields.error(name, found, "0, as the other settings leave no layer routed")
    plain: Block | None = None
    if not all(routed):
        plain = dense(fields, traits, hidden)
    fields.skip(traits.dense_width)
    sparse = mixture(fields, traits, hidden, experts) if any(routed) else None
    blocks = [sparse if here else plain for here in routed]
    return tuple(block for block in blocks if block is not None)


def dense(fields: Fields, traits: Traits, hidden: int) -> Dense:
    """A dense block."""
    biased = traits.ffn_bias and fields.flag(
        "mlp_bias", default=False, because="as the family has it"
    )
    return Dense(hidden, fields.integer(traits.dense_width), biased)


def mixture(fields: Fields, traits: Traits, hidden: int, experts: int) -> Mixture:
    """A routed block of ``experts`` experts and its shared ones."""
    width = fields.integer(traits.expert_width)
    used = fields.at_most(*USED, high=experts, of="experts")
    shared, gate = 0, False
    if traits.shared == "number":
        shared = width * fields.integer(*SHARED, low=0)
    elif traits.shared in ("width", "gated width"):
        shared = fields.integer("shared_expert_intermediate_size", low=0)
        gate = traits.shared == "gated width" and shared > 0
    elif traits.shared == "one":
        shared = width
    else:
        fields.only("shared_intermediate_size", 0, "the family has no shared experts")
    return Mixture(hidden, width, experts, used, shared, gate, biased=traits.expert_bias)
