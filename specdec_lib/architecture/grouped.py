"""Grouped-query attention, full, in sliding windows or in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdec_lib.architecture.components import Coefficients, Component, Core, Weights, count
from specdec_lib.architecture.modules import GROUPED
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.architecture.quantization import Quantization
from specdec_lib.architecture.stack import Block
from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, weights


@dataclass(frozen=True)
class GroupedCore(Core):
    """``n_h`` query heads that share ``n_kv`` key-value heads of width ``d``.

    A ``window`` of None is the whole context; in ``chunked`` attention the context is cut into
    pieces of that size, of which a query meets its own, at most the whole of it.  ``d_v`` is the
    width of a value where it differs.
    """

    n_h: int
    n_kv: int
    d: int
    window: int | None = None
    chunked: bool = False
    d_v: int | None = None

    @property
    def kind(self) -> str:
        """Full, in a sliding window or in chunks."""
        if self.window is None:
            return "grouped"
        return "chunked" if self.chunked else "sliding window"

    @property
    def entries(self) -> Formula:
        """The whole context, or as much of it as the window holds."""
        if self.window is None:
            return attention.full_entries
        return attention.window_entries.where(window=self.window)

    @property
    def cache_heads(self) -> int:
        """The key-value heads."""
        return self.n_kv

    def coefficients(
        self, *, cache: str | None = None, query: str = "bf16", output: bool = True
    ) -> Coefficients:
        """Keys and values for each key-value head; see :meth:`Core.coefficients`."""
        b_kv, b_q = element_bytes(cache or self.cache), element_bytes(query)
        heads = {"n_h": self.n_h, "d": self.d}
        if self.d_v is None:
            moved = attention.grouped_query_output_bytes
            f = attention.grouped_pair_work(**heads)
            m_c = attention.grouped_context_bytes(n_kv=self.n_kv, d=self.d, b_kv=b_kv)
        else:
            moved = attention.split_query_output_bytes.where(d_v=self.d_v)
            f = attention.split_pair_work(d_v=self.d_v, **heads)
            m_c = attention.split_context_bytes(n_kv=self.n_kv, d=self.d, d_v=self.d_v, b_kv=b_kv)
        if not output:
            moved = attention.grouped_query_bytes
        return {"f": f, "m_c": m_c, "m_q": moved(b_q=b_q, **heads)}


@dataclass(frozen=True)
class GroupedAttention(Block):
    """Projections and core of a layer.

    Parameters
    ----------
    n_h, n_kv, d, d_v, window, chunked
        As in :class:`GroupedCore`.
    vectors
        Parameters of biases, norms and sinks.
    gated
        Whether a second query-sized matrix gates the output.
    shared
        Whether one matrix makes both keys and values.
    """

    H: int
    n_h: int
    n_kv: int
    d: int
    window: int | None = None
    chunked: bool = False
    d_v: int | None = None
    vectors: int = 0
    gated: bool = False
    shared: bool = False

    @property
    def matrices(self) -> int:
        """Parameters of the projections."""
        size = {"H": self.H, "n_h": self.n_h, "n_kv": self.n_kv, "d": self.d}
        if self.d_v is not None:
            return count(weights.split_projection, d_v=self.d_v, **size)
        if self.gated:
            return count(weights.gated_projection, **size)
        formula = weights.shared_projection if self.shared else weights.grouped_projection
        return count(formula, **size)

    def core(self, layers: int) -> GroupedCore:
        """The attention core of so many layers."""
        shape = (self.n_h, self.n_kv, self.d, self.window, self.chunked, self.d_v)
        return GroupedCore(layers, *shape)

    def components(
        self, where: Sequence[int], quantization: Quantization, *, draft: bool = False
    ) -> tuple[Component, ...]:
        """Projections and core."""
        form = quantization.at("attn_proj", where, GROUPED, draft=draft)
        layers = len(where)
        projections = Weights("attn_proj", layers, self.matrices, self.vectors, form)
        return projections, self.core(layers)
