"""Reference values: what others have published or measured, for chapters to hold the book against.

A :class:`Reference` has constants, keyed by symbol so that they go straight into a Formula
(``formula(n=64, **published("moe-roofline").constants)``), or columns of a table, or both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from specdec_lib.formula import unit_text
from specdec_lib.formula.domain import shown
from specdec_lib.records.names import Index
from specdec_lib.records.provenance import DataError, Provenance
from specdec_lib.records.toml import (
    Bounds,
    Datum,
    Record,
    base_unit,
    checked_citations,
    load_toml,
    quantity,
)
from specdec_lib.symbols import SYMBOLS


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table in its SI unit; ``values`` is a read-only float64 array."""

    values: NDArray[np.float64]
    unit: str
    meaning: str


@dataclass(frozen=True, eq=False)
class Reference:
    """A set of values with one origin.

    ``constants`` maps keywords of the notation to SI values; ``columns`` maps names to columns of
    equal length, and ``reference["n"]`` is the array of one.  ``data`` holds the constants with
    their own provenance where it differs.
    """

    name: str
    meaning: str
    constants: Mapping[str, float]
    columns: Mapping[str, Column]
    provenance: Provenance
    data: Mapping[str, Datum]

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """The values of a column; KeyError naming the columns there are."""
        if column not in self.columns:
            known = ", ".join(self.columns) or "none"
            raise KeyError(f"{self.name} has no column {column!r}; it has {known}")
        return self.columns[column].values


def _bounds(keyword: str) -> Bounds | None:
    """What a constant may be: the unit and the domain that the notation gives its symbol."""
    known = SYMBOLS.get(keyword)
    if known is None:
        return None
    low = math.nextafter(known.low, math.inf) if known.low_open else known.low
    return Bounds(unit_text(known.unit), low, known.high)


def _column(where: str, name: str, table: object) -> Column:
    # a column that states what it holds is not the symbol of its name
    known = None if isinstance(table, dict) and "meaning" in table else _bounds(name)
    if not isinstance(table, dict):
        raise DataError(
            where, f"found {shown(table)}; a table of unit, meaning and values is needed"
        )
    unread = set(map(str, table)) - {"unit", "meaning", "values"}
    if unread:
        raise DataError(where, f"does not know {', '.join(sorted(unread))}; check the spelling")
    meaning = table.get("meaning", SYMBOLS[name].meaning if known else None)
    if not isinstance(meaning, str):
        raise DataError(where, f"{name!r} is no symbol, so the column must state its meaning")
    stated = table.get("unit", "1")
    if not isinstance(stated, str):
        raise DataError(f"{where}, unit", f"found {shown(stated)}; a text is needed")
    bounds = known or Bounds(base_unit(stated, where), 0)
    listed = table.get("values", [])
    if not isinstance(listed, list) or not listed:
        raise DataError(where, "has no values")
    values = [
        quantity(_with_unit(v, stated), bounds, f"{where}[{i}]") for i, v in enumerate(listed)
    ]
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return Column(array, bounds.unit, meaning)


def _with_unit(value: object, unit: str) -> object:
    """A number as a record would print it; what is none stays what it is, and is refused."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{shown(value)} {unit}" if number else value


def read_reference(where: str, name: str, table: object, citations: Mapping[str, str]) -> Reference:
    """Read one record; raises DataError where it is not valid."""
    record = Record(f"{where}, {name}", table, citations)
    meaning = record.take("meaning", str)
    data = record.data("constants", _bounds) if record.has("constants") else {}
    tables = record.take("columns", dict, default={})
    columns = {key: _column(f"{record.where}, {key}", key, tables[key]) for key in tables}
    record.finish()
    if not data and not columns:
        raise DataError(record.where, "has neither constants nor columns")
    if len({len(column.values) for column in columns.values()}) > 1:
        raise DataError(record.where, "has columns of different lengths")
    return Reference(
        name,
        meaning,
        MappingProxyType({key: datum.value for key, datum in data.items()}),
        MappingProxyType(columns),
        record.provenance,
        MappingProxyType(data),
    )


@functools.cache
def _index(file: str, what: str) -> Index[Reference]:
    index: Index[Reference] = Index(what)
    tables = load_toml(file)
    citations = checked_citations(file, tables.pop("citations", {}))
    for name, table in tables.items():
        index.add(name, (), read_reference(file, name, table, citations))
    return index


def published(name: str) -> Reference:
    """Constants or a table that others have published.

    >>> published("calculator").constants["P_a"]
    107000000.0

    Raises UnknownName, which lists the near names.
    """
    return _index("published.toml", "published record").find(name)


def measured(name: str) -> Reference:
    """What others have timed or counted.

    >>> float(measured("distinct-experts")["one_sequence"].max())
    55.05

    Raises UnknownName, which lists the near names.
    """
    return _index("measured.toml", "measured record").find(name)


def references() -> tuple[Reference, ...]:
    """Every published record, then every measured one."""
    files = (("published.toml", "published record"), ("measured.toml", "measured record"))
    return tuple(record for file, what in files for record in _index(file, what).records())
