"""Architecture: a model as a list of components, with the sums that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

from specdec_lib.architecture.components import (
    KEYS,
    Component,
    Core,
    Experts,
    Indexer,
    Weights,
)
from specdec_lib.architecture.precision import Precision


@dataclass(frozen=True)
class Architecture:
    """A model's parts, counted.

    ``components`` stand in the order in which a step meets them; ``experts`` is None for a dense
    model; ``mtp_modules`` counts modules of multi-token prediction, which no sum here includes;
    ``assumptions`` lists what the configuration left open and how it was filled.
    """

    family: str
    hidden_size: int
    layers: int
    vocabulary: int
    components: tuple[Component, ...]
    experts: Experts | None
    tied: bool
    mtp_modules: int
    assumptions: tuple[str, ...]

    @property
    def weights(self) -> tuple[Weights, ...]:
        """The components that are weights."""
        return tuple(part for part in self.components if isinstance(part, Weights))

    @property
    def attention(self) -> tuple[Core, ...]:
        """The attention cores, one for each kind of layer."""
        return tuple(part for part in self.components if isinstance(part, Core))

    @property
    def indexers(self) -> tuple[Indexer, ...]:
        """The indexers that select cache entries."""
        return tuple(part for part in self.components if isinstance(part, Indexer))

    @property
    def total_parameters(self) -> int:
        """Every stored parameter, modules of multi-token prediction excluded."""
        return sum(part.parameters for part in self.weights)

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses, the input embedding included."""
        return sum(part.active_parameters for part in self.weights)

    def matrix_parameters(self, key: str) -> int:
        """Parameters in the matrices of all components of a key: what the cost counts.

        0 where the model has none; ValueError for a key that does not exist.
        """
        if key not in KEYS:
            raise ValueError(f"no component {key!r}; there are {', '.join(KEYS)}")
        return sum(part.matrix_parameters for part in self.weights if part.key == key)

    def precision(self, key: str) -> Precision:
        """The precision of the matrices of a component; ValueError if the model has none."""
        for part in self.weights:
            if part.key == key and part.matrices:
                return part.precision
        present = dict.fromkeys(part.key for part in self.weights if part.matrices)
        raise ValueError(f"no matrices under {key!r}; there are {', '.join(present)}")
