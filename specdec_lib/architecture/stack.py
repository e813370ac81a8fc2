"""Stack: a model as blocks, layer by layer, and the components that they add up to.

A family's reader says which blocks each layer has; equal blocks are counted together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from specdec_lib.architecture.components import Component, Experts, Indexer, Weights, count
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.formulas import weights


@dataclass(frozen=True)
class Block(ABC):
    """One part of a layer.  Two blocks are equal if they have the same shape."""

    @abstractmethod
    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """The components of this block in the layers ``where``, counted from 0; ``draft`` says
        that they are modules for multi-token prediction."""

    def mixture(self, where: Sequence[int], quantization: Quantization) -> Experts | None:  # noqa: ARG002
        """The mixture of experts of those layers; None for a block without experts."""
        return None


@dataclass(frozen=True)
class Stack:
    """What a family's reader returns.

    Parameters
    ----------
    hidden
        Width of the residual stream.
    layers
        The blocks of each layer.
    norms, last_norm
        Vectors of that width in the norms of a layer, and in the norm before the head.
    draft
        The blocks of one module for multi-token prediction; empty where the family's are not known.
    beside
        Components beside the layers.
    head_bias
        Whether the head has a bias for each word.
    """

    hidden: int
    layers: tuple[tuple[Block, ...], ...]
    norms: int = 2
    last_norm: int = 1
    draft: tuple[Block, ...] = ()
    beside: tuple[Component, ...] = ()
    head_bias: bool = False


@dataclass(frozen=True)
class DraftProjection(Block):
    """What a module for multi-token prediction has beside its layer: a projection of hidden state
    and embedding from width ``H``, ``norms`` norms, those of the layer included, and ``vectors``
    further parameters."""

    H: int
    norms: int
    vectors: int = 0

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """The projection; it stays at 16 bits."""
        del draft
        matrices = count(weights.draft_projection, H=self.H)
        vectors = self.vectors + count(weights.layer_norms, norms=self.norms, H=self.H)
        return (Weights("draft", len(where), matrices, vectors, quantization.at("draft")),)


def assemble(
    stack: Stack, quantization: Quantization
) -> tuple[tuple[Component, ...], Experts | None]:
    """The components of all layers, and the mixture of experts if there is one.

    Raises ValueError for routed blocks of two shapes, which no model has.
    """
    places: dict[Block, list[int]] = {}
    for layer, blocks in enumerate(stack.layers):
        for block in blocks:
            places.setdefault(block, []).append(layer)
    parts = [p for block, at in places.items() for p in block.components(at, quantization)]
    mixtures = [found for block, at in places.items() if (found := block.mixture(at, quantization))]
    if len(mixtures) > 1:
        raise ValueError(f"experts of {len(mixtures)} shapes in one model are not counted")
    size = count(weights.layer_norms, norms=stack.norms, H=stack.hidden)
    last = count(weights.layer_norms, norms=stack.last_norm, H=stack.hidden)
    other = quantization.at("other")
    parts += [Weights("other", len(stack.layers), 0, size, other), *stack.beside]
    parts.append(Weights("other", 1, 0, last, other))
    return merged(parts), mixtures[0] if mixtures else None


def assemble_draft(stack: Stack, quantization: Quantization) -> tuple[Component, ...]:
    """The components of one module for multi-token prediction, which counts as a layer beyond the
    last."""
    beyond = [len(stack.layers)]
    parts = [p for b in stack.draft for p in b.components(beyond, quantization, draft=True)]
    return merged(parts)


def merged(parts: Iterable[Component]) -> tuple[Component, ...]:
    """Components of the same shape as one, in the order in which each first appears."""
    layers: dict[Component, int] = {}
    for part in parts:
        if isinstance(part, Weights | Indexer) or part.layers:
            shape = replace(part, layers=0)
            layers[shape] = layers.get(shape, 0) + part.layers
    return tuple(replace(shape, layers=number) for shape, number in layers.items())
