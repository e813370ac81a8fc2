"""Components: what a model is made of, counted.

A component is either :class:`Weights`, matrices that a step reads once, or a part of attention that
works on the cache, a :class:`Core` or an :class:`Indexer`.  Each says in how many layers it is
found.  Components of one key are priced together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypedDict

from specdec_lib.architecture.precision import Precision, element_bytes
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention

#: The keys of components, in the order in which a step meets them.
KEYS: tuple[str, ...] = (
    "embedding",
    "attn_proj",
    "indexer",
    "attn_core",
    "router",
    "moe",
    "shared",
    "dense_ffn",
    "head",
    "other",
    "draft",
)


def count(formula: Formula, **values: int) -> int:
    """A formula of parameters at whole numbers, as a whole number.

    Raises ValueError beyond 2⁵³, where floating point no longer counts one by one.
    """
    value = float(formula(**values))
    if not value.is_integer() or value > 2**53:
        raise ValueError(
            f"{formula.title} = {value!r} at {values} is no exact count; no model is so large"
        )
    return int(value)


@dataclass(frozen=True)
class Weights:
    """Weights of one kind.

    Parameters
    ----------
    key
        One of :data:`KEYS`.
    layers
        Layers that have them.
    matrices, vectors
        Parameters per layer: in matrices, which a step multiplies with, and in all the rest.
    precision
        Format of the matrices.
    used
        Share that one token uses: k/E for routed experts, 1 otherwise.
    stored
        False for a head that is the embedding once more: it is read, but not counted twice.
    """

    key: str
    layers: int
    matrices: int
    vectors: int
    precision: Precision
    used: Fraction = Fraction(1)
    stored: bool = True

    def __post_init__(self) -> None:
        if self.key not in KEYS:
            raise ValueError(f"no component {self.key!r}; there are {', '.join(KEYS)}")

    @property
    def matrix_parameters(self) -> int:
        """Parameters in matrices over all layers: what the cost counts."""
        return self.layers * self.matrices

    @property
    def parameters(self) -> int:
        """Stored parameters over all layers."""
        return self.layers * (self.matrices + self.vectors) if self.stored else 0

    @property
    def active_parameters(self) -> int:
        """Stored parameters that one token uses."""
        return int(self.parameters * self.used)

    @property
    def read_parameters(self) -> int:
        """Parameters that a step with one token reads, stored elsewhere or not; an embedding is
        looked up and not read."""
        if self.key == "embedding":
            return 0
        return int(self.layers * (self.matrices + self.vectors) * self.used)

    @property
    def bytes(self) -> float:
        """Bytes of the matrices over all layers."""
        return self.matrix_parameters * self.precision.bytes


@dataclass(frozen=True)
class Experts:
    """The mixture of experts of a model, in the symbols of the notation.

    ``E`` routed experts of ``P_e`` parameters in matrices, ``k`` of them per token, and ``s``
    shared ones of the same size, in each of ``layers`` layers; ``s`` is a fraction where a shared
    expert's width is no multiple of a routed one's.
    """

    E: int
    k: int
    s: float
    P_e: int
    layers: int
    precision: Precision

    @property
    def b(self) -> float:
        """Bytes per weight of a routed expert."""
        return self.precision.bytes


class Coefficients(TypedDict):
    """f in FLOP per (query, context) pair, m_c in bytes per cache entry and m_q in bytes per query
    token, all per layer: what ``formulas.attention.intensity`` takes beside T and S."""

    f: float
    m_c: float
    m_q: float


@dataclass(frozen=True)
class Core(ABC):
    """The attention core of some layers: queries against the cache."""

    key: ClassVar[str] = "attn_core"
    #: Format of the cache unless another is asked for.
    cache: ClassVar[str] = "bf16"

    layers: int

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of attention in a word or two."""

    @property
    @abstractmethod
    def entries(self) -> Formula:
        """Cache entries that a query meets, a Formula in the context S."""

    @abstractmethod
    def coefficients(
        self, *, cache: str | None = None, query: str = "bf16", output: bool = True
    ) -> Coefficients:
        """f, m_c and m_q of one layer.

        ``cache`` and ``query`` are formats of an element ("bf16", "fp8"); None is the format in
        which this kind is served.  ``output`` counts the output written beside the query read.
        """

    def entries_read(self, spread: float = 0.0) -> Formula:  # noqa: ARG002
        """Cache entries that the T query tokens of a sequence read between them, a Formula in S
        and, where an indexer selects for each of them, in T; ``spread`` is the exponent of
        :data:`specdec_lib.formulas.engine.selected_by_all`."""
        return self.entries

    @property
    def cache_heads(self) -> int:
        """Heads that devices can share out among them, each with its part of a cache entry; 1 where
        all query heads share one entry, which every device must then hold."""
        return 1

    @property
    def tiled_heads(self) -> int:
        """Query heads that meet one shared cache entry, so that a kernel works on whole tiles of
        their rows; 0 where none do."""
        return 0

    def token_bytes(self, cache: str | None = None) -> float:
        """Bytes that a context token adds to the cache of one layer, as engines allocate it: a
        sliding window is given room for the whole context."""
        m_c = self.coefficients(cache=cache)["m_c"]
        return float(attention.token_bytes(m_c=m_c, compression=1))

    def sequence_bytes(self, cache: str | None = None) -> float:  # noqa: ARG002
        """Bytes of one layer that a sequence occupies whatever its length."""
        return 0.0

    def moved_bytes(self, S: Any, cache: str | None = None) -> Any:
        """Bytes of one sequence's cache in one layer that a step over S context tokens moves."""
        m_c = self.coefficients(cache=cache)["m_c"]
        return attention.entry_bytes(m_c=m_c, S=self.entries(S=S))


@dataclass(frozen=True)
class Indexer:
    """What scores the cache to select entries: ``i_h`` heads of width ``i_d`` over one key for
    every ``compression`` context tokens.

    A key's elements are in the format ``element``; ``scale`` bytes are stored beside each key.
    """

    key: ClassVar[str] = "indexer"

    layers: int
    i_h: int
    i_d: int
    compression: int
    element: str
    scale: int = 0

    @property
    def entries(self) -> Formula:
        """Keys that are scored, a Formula in the context S."""
        return attention.scanned_entries.where(compression=self.compression)

    @property
    def pair_work(self) -> float:
        """FLOPs per (query, key) pair."""
        return float(attention.indexer_pair_work(i_h=self.i_h, i_d=self.i_d))

    @property
    def key_bytes(self) -> float:
        """Bytes of one key."""
        b_kv = element_bytes(self.element)
        if self.scale:
            return float(attention.scaled_key_bytes(i_d=self.i_d, b_kv=b_kv, b_scale=self.scale))
        return float(attention.indexer_key_bytes(i_d=self.i_d, b_kv=b_kv))

    @property
    def token_bytes(self) -> float:
        """Bytes that a context token adds to the keys of one layer."""
        return float(attention.token_bytes(m_c=self.key_bytes, compression=self.compression))

    def moved_bytes(self, S: Any) -> Any:
        """Bytes of one sequence's keys in one layer that a step over S context tokens reads."""
        return attention.entry_bytes(m_c=self.key_bytes, S=self.entries(S=S))


Component = Weights | Core | Indexer
