"""Composed: what a model and a drafter have in common, being made of components."""

from __future__ import annotations

from specdec_lib.architecture.components import Component, Core, Indexer, Weights


class Composed:
    """Something made of ``components``, in the order in which a pass meets them."""

    components: tuple[Component, ...]

    @property
    def weights(self) -> tuple[Weights, ...]:
        """The components that are weights."""
        return tuple(part for part in self.components if isinstance(part, Weights))

    @property
    def attention(self) -> tuple[Core, ...]:
        """The attention cores, one for each kind of layer; each works on a cache of its own."""
        return tuple(part for part in self.components if isinstance(part, Core))

    @property
    def indexers(self) -> tuple[Indexer, ...]:
        """The indexers that select cache entries."""
        return tuple(part for part in self.components if isinstance(part, Indexer))
