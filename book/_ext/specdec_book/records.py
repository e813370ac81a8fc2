"""How a fact is written on its page: where a value comes from, and the value in a cell."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes

from specdec_book.numbers import grouped
from specdec_lib.catalog import Datum, Provenance

Cell = Sequence[str | nodes.Node]

ASSUMED, NONE = "assumed", "–"


def origin(provenance: Provenance) -> str:
    """A source with its kind, its day and how far it is trusted."""
    trusted = f", confidence {provenance.confidence}" if provenance.confidence else ""
    day = provenance.retrieved.isoformat()
    return f"{provenance.source} ({provenance.kind}, read {day}{trusted})"


def remark(provenance: Provenance, record: Provenance) -> str:
    """What a value of a record says beside the record: a source of its own, and its notes."""
    same = (provenance.source, provenance.kind) == (record.source, record.kind)
    own = [] if same else [origin(provenance)]
    return "; ".join([*own, *(note.removesuffix(".") for note in provenance.notes)])


def value_cell(datum: Datum | None, size: float) -> Cell:
    """A value in its column's unit, slanted where it is assumed."""
    if datum is None:
        return [NONE]
    text = grouped(float(f"{datum.value / size:.6g}"))
    return [nodes.emphasis("", text) if datum.provenance.kind == ASSUMED else text]
