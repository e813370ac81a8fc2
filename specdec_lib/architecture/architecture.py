"""Architecture: a model as a list of components, with the sums that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdec_lib.architecture.components import KEYS, Component, Experts
from specdec_lib.architecture.composed import Composed
from specdec_lib.architecture.precision import Precision


@dataclass(frozen=True)
class Architecture(Composed):
    """A model's parts, counted.

    Parameters
    ----------
    family
        The ``model_type`` by whose rules the configuration was read.
    components
        In the order in which a step meets them.
    experts
        None for a dense model.
    tied
        Whether the head is the embedding once more.
    mtp_modules
        How many modules of multi-token prediction the configuration counts; no draft length.
    mtp
        The components of one such module as the family builds it, whether or not this model has
        one; no sum here includes them.  Empty for a family whose module is not known.  Embedding
        and head are those of the model.
    assumptions
        What the configuration left open and how it was filled.
    """

    family: str
    hidden_size: int
    layers: int
    vocabulary: int
    components: tuple[Component, ...]
    experts: Experts | None
    tied: bool
    mtp_modules: int
    mtp: tuple[Component, ...]
    assumptions: tuple[str, ...]

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
        """The precision of the matrices of a component.

        ValueError if the model has none, or has it in several precisions: then each of its
        :attr:`weights` says its own.
        """
        found = dict.fromkeys(p.precision for p in self.weights if p.key == key and p.matrices)
        if len(found) == 1:
            return next(iter(found))
        if found:
            names = ", ".join(form.name for form in found)
            raise ValueError(f"{key!r} is in several precisions: {names}; ask each of its weights")
        present = dict.fromkeys(part.key for part in self.weights if part.matrices)
        raise ValueError(f"no matrices under {key!r}; there are {', '.join(present)}")

    # --- the cache -------------------------------------------------------------------------------

    def kv_bytes_per_token(self, cache: str | None = None) -> float:
        """Bytes that one more context token adds to the cache of one sequence, over all layers.

        As engines allocate it: a sliding window is given room for the whole context, which is more
        than a step reads (:meth:`moved_cache_bytes`).  ``cache`` is the format of an element; None
        is the format in which each kind of attention is served.
        """
        keys = sum(scan.layers * scan.token_bytes for scan in self.indexers)
        return keys + sum(core.layers * core.token_bytes(cache) for core in self.attention)

    def state_bytes(self, cache: str | None = None) -> float:
        """Bytes that one sequence occupies whatever its length, over all layers: recurrent states,
        and windows that do not grow."""
        return sum(core.layers * core.sequence_bytes(cache) for core in self.attention)

    def moved_cache_bytes(self, S: Any, cache: str | None = None) -> Any:
        """Bytes of one sequence's cache that a step over ``S`` context tokens moves, over all
        layers: windows and selections count as far as they reach, states are read and written."""
        keys = sum(scan.layers * scan.moved_bytes(S) for scan in self.indexers)
        return keys + sum(core.layers * core.moved_bytes(S, cache) for core in self.attention)
