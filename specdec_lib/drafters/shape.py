"""Shapes: what a drafter with a model is made of, and the step cost of one of its passes.

A head is trained for its target and borrows from it: an embedding, often the vocabulary's matrix,
sometimes the layout of its experts.  So its shape is known only beside a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from specdec_lib.architecture import Architecture, Component, DrafterCard, Experts, Model, Weights
from specdec_lib.architecture.components import count
from specdec_lib.cost import StepCost
from specdec_lib.deployment import Deployment, Routing
from specdec_lib.formulas.drafters import feature_projection
from specdec_lib.formulas.weights import vocabulary_matrix

#: Hidden states that the first EAGLE head, and modules for multi-token prediction, read side by
#: side: that of the target and the embedding.
_PAIR = 2


@dataclass(frozen=True)
class Shape:
    """A drafter's model: its architecture and what there is to say about it.

    ``block`` is the width of its only pass; None for one token a pass.
    """

    name: str
    architecture: Architecture
    block: int | None = None
    longest: int | None = None
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def active_bytes(architecture: Architecture) -> float:
    """Bytes of weights that one token reads: of routed experts its share alone, the head whether
    stored or borrowed; embeddings are looked up."""
    return float(
        sum(
            part.matrix_parameters * part.used * Fraction(part.precision.bytes)
            for part in architecture.weights
            if part.key != "embedding"
        )
    )


def of_card(card: DrafterCard, target: Model) -> Shape:
    """The shape of a card's drafter beside a target.

    Raises ValueError for a card without a model, or with experts of another layout than the
    target's.
    """
    if card.kind == "ngram":
        raise ValueError(f"{card.name} has no model; drafters.ngram() is what you want")
    warnings: tuple[str, ...] = ()
    if card.targets and target.name not in card.targets:
        warnings = (
            f"{card.name} is listed as a drafter for {', '.join(card.targets)}, not for "
            f"{target.name}",
        )
    experts = _experts(card.name, card.components, target)
    parts = _architecture(card.components, target, card.vocabulary, experts)
    # the heads of Medusa each read the same hidden state; a block has a position for every token
    block = None if card.block is None else 1 if card.kind == "medusa" else card.block
    return Shape(card.name, parts, block, card.block, warnings, card.assumptions)


def own_module(target: Model) -> Shape:
    """The target's own module for multi-token prediction, with the target's head.

    One module may draft any number of tokens, applied to its own output.  Raises ValueError where
    the module of this family is not known.
    """
    parts = target.architecture.mtp
    if not parts:
        raise ValueError(
            f"the module for multi-token prediction of {target.name} is not known; name another "
            "drafter, or give drafters.fraction(…)"
        )
    warnings: tuple[str, ...] = ()
    if not target.mtp_modules:
        warnings = (
            f"the configuration of {target.name} counts no module for multi-token prediction; this "
            "is the one that its family builds",
        )
    name = f"{target.name}'s own module"
    components = (*parts, *_borrowed_head(target))
    experts = _experts(name, components, target)
    architecture = _architecture(components, target, target.vocabulary, experts)
    return Shape(name, architecture, None, None, warnings)


def first_eagle(target: Model) -> Shape:
    """An EAGLE head of the first kind: one layer of the target's own, a projection of hidden state
    and embedding to one, and the target's whole head.

    Raises ValueError for a target whose layers are not all dense and alike.
    """
    shape = target.architecture
    if target.experts is not None or len(shape.attention) != 1:
        raise ValueError(
            f"a first EAGLE head is one layer of its target, and the layers of {target.name} are "
            "not all dense and alike; give the card of its head"
        )
    [core] = shape.attention
    layer = [
        replace(part, layers=1)
        for part in shape.weights
        if part.key in ("attn_proj", "dense_ffn") and part.layers == shape.layers
    ]
    projection = Weights(
        "other",
        1,
        count(feature_projection, features=_PAIR, H=target.hidden_size),
        0,
        shape.precision("attn_proj"),
    )
    attention: list[Component] = [replace(core, layers=1)]
    components = (projection, *layer, *attention, *_borrowed_head(target))
    architecture = _architecture(components, target, target.vocabulary, None)
    return Shape(f"EAGLE head for {target.name}", architecture)


def of_model(model: Model) -> Shape:
    """A model of its own."""
    return Shape(model.name, model.architecture, assumptions=model.assumptions)


def with_vocabulary(shape: Shape, words: int) -> Shape:
    """The same drafter, scoring only ``words`` of its vocabulary; ValueError where it has fewer."""
    full = shape.architecture.vocabulary
    if not 1 <= words <= full:
        raise ValueError(f"{shape.name} scores {full} words, which cannot be reduced to {words}")

    def reduced(part: Component) -> Component:
        if not isinstance(part, Weights) or part.key != "head" or not part.matrices:
            return part
        width = part.matrices // full
        return replace(part, matrices=count(vocabulary_matrix, V=words, H=width))

    parts = tuple(reduced(part) for part in shape.architecture.components)
    return replace(
        shape, architecture=replace(shape.architecture, components=parts, vocabulary=words)
    )


def one_pass(shape: Shape, target: StepCost, served: Deployment) -> StepCost:
    """The step cost of a pass on the target's accelerator, ``served`` so: without the fixed time of
    a step, which is the target's, and without a curve measured on the target."""
    experts, of_target = shape.architecture.experts, target.model.experts
    alike = experts is not None and of_target is not None and experts.E == of_target.E
    deployment = replace(
        served,
        name=f"{served.name}, drafting",
        step_overhead=0.0,
        verify_curve=None,
        offload=None,
        max_graph_tokens=None,
        routing=served.routing if alike else Routing(),
    )
    return StepCost(Model(shape.name, shape.architecture), target.gpu, deployment)


# --- parts ---------------------------------------------------------------------------------------


def _borrowed_head(target: Model) -> list[Weights]:
    return [
        replace(part, stored=False)
        for part in target.architecture.weights
        if part.key == "head" and part.matrices
    ]


def _experts(name: str, components: Sequence[Component], target: Model) -> Experts | None:
    """The layout of a head's experts, which is its target's."""
    routed = [part for part in components if isinstance(part, Weights) and part.key == "moe"]
    if not routed:
        return None
    found = target.experts
    if found is None or any(part.used != Fraction(found.k, found.E) for part in routed):
        raise ValueError(
            f"{name} has routed experts, and {target.name} none of the same layout to share"
        )
    return replace(found, layers=sum(part.layers for part in routed))


def _architecture(
    components: Sequence[Component],
    target: Model,
    vocabulary: int | None,
    experts: Experts | None,
) -> Architecture:
    """A head as an architecture; its projections count with what else it has."""
    parts = tuple(
        replace(part, key="other") if isinstance(part, Weights) and part.key == "draft" else part
        for part in components
    )
    return Architecture(
        family="drafter",
        hidden_size=target.hidden_size,
        layers=max((part.layers for part in parts if not isinstance(part, Weights)), default=1),
        vocabulary=vocabulary or target.vocabulary,
        components=parts,
        experts=experts,
        tied=False,
        mtp_modules=0,
        mtp=(),
        assumptions=(),
    )
