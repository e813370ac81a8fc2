"""Components: what a model is made of, counted.

A component is either :class:`Weights`, matrices that a step reads once, or a part of attention that
works on the cache, a :class:`Core` or an :class:`Indexer`.  Each says in how many layers it is
found.  Components of one key are priced together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypedDict

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
)


def count(formula: Formula, **values: int) -> int:
    """A formula of parameters at whole numbers, as a whole number.

    Raises ValueError beyond 2⁵³, where floating point no longer counts one by one.
    """
    value = float(formula(**values))
    if not value.is_integer() or value > 2**53:
        raise ValueError(f"{formula.title} = {value!r} at {values} is no exact count")
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
    def bytes(self) -> float:
        """Bytes of the matrices over all layers."""
        return self.matrix_parameters * self.precision.bytes


@dataclass(frozen=True)
class Experts:
    """The mixture of experts of a model, in the symbols of the notation.

    ``E`` routed experts of ``P_e`` parameters in matrices, ``k`` of them per token, and ``s``
    shared ones of the same size, in each of ``layers`` layers.
    """

    E: int
    k: int
    s: int
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


@dataclass(frozen=True)
class Indexer:
    """What scores the cache to select entries: ``i_h`` heads of width ``i_d`` over one key for
    every ``compression`` context tokens."""

    key: ClassVar[str] = "indexer"

    layers: int
    i_h: int
    i_d: int
    compression: int
    element: str

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
        return float(attention.indexer_key_bytes(i_d=self.i_d, b_kv=element_bytes(self.element)))


Component = Weights | Core | Indexer


class Layers(NamedTuple):
    """What a family's reader returns: the components of its layers, and its experts if any."""

    components: tuple[Component, ...]
    experts: Experts | None = None
