"""Tables of measurements: CSV files of ``specdec_lib/data/measured``, checked cell by cell.

What a table's columns hold, and where its rows come from, its entry in ``manifest.toml`` says.  A
table that disagrees with its entry is refused, with file, row and column.
"""

from __future__ import annotations

import csv
import functools
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdec_lib.formula.domain import shown
from specdec_lib.records.names import Index
from specdec_lib.records.provenance import DataError, Provenance
from specdec_lib.records.toml import Bounds, Record, base_unit, listed_tables, quantity

FOLDER = "measured"
MANIFEST = f"{FOLDER}/manifest.toml"


@dataclass(frozen=True)
class Field:
    """One column of a table: its meaning, and for numbers the printed unit and the SI bounds.

    ``name`` is what the column is called once it is in its SI unit; texts have no ``bounds``.
    """

    name: str
    meaning: str
    unit: str | None
    bounds: Bounds | None
    optional: bool

    def read(self, cell: str, where: str) -> str | float:
        """A cell as a text or a number in its SI unit, a blank optional number as NaN.

        Raises DataError for a cell that is blank and must not be, or lies outside the bounds.
        """
        if not cell.strip():
            if not self.optional:
                raise DataError(where, "is blank; a value is needed")
            return "" if self.bounds is None else math.nan
        return cell if self.bounds is None else quantity(f"{cell} {self.unit}", self.bounds, where)


@dataclass(frozen=True, eq=False)
class Table:
    """A measured table: read-only columns of equal length, and where they come from.

    ``table["seconds"]`` is a column: float64 in its SI unit, or texts.
    """

    name: str
    meaning: str
    columns: Mapping[str, NDArray[Any]]
    fields: tuple[Field, ...]
    provenance: Provenance
    licence: str
    credit: str

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A column; KeyError naming those there are."""
        if column not in self.columns:
            raise KeyError(
                f"{self.name} has no column {column!r}; it has {', '.join(self.columns)}"
            )
        return self.columns[column]


def _field(key: str, table: object, where: str) -> Field:
    if not isinstance(table, dict) or not isinstance(table.get("meaning"), str):
        raise DataError(where, f"found {shown(table)}; a table with a meaning is needed")
    unread = set(table) - {"meaning", "unit", "least", "most", "optional", "name"}
    if unread:
        raise DataError(where, f"does not know {', '.join(sorted(unread))}; check the spelling")
    unit, bounds = table.get("unit"), None
    if unit is not None:
        if "least" not in table or "most" not in table:
            raise DataError(where, "holds numbers, so it must state the least and the most")
        bounds = Bounds(base_unit(unit, where), float(table["least"]), float(table["most"]))
    return Field(
        table.get("name", key), table["meaning"], unit, bounds, bool(table.get("optional"))
    )


def read_rows(
    file: str, text: str, fields: Mapping[str, Field]
) -> Iterator[tuple[str | float, ...]]:
    """The rows of a CSV text as values in the order of ``fields``.

    Raises DataError, naming file and row, for a header that is not that of the fields, a row of
    another length or one that is there twice, and a cell that its field refuses.
    """
    lines = csv.reader(io.StringIO(text), strict=True)
    header = next(lines, [])
    if header != list(fields):
        raise DataError(file, f"has columns {', '.join(header)}; it must have {', '.join(fields)}")
    seen: dict[tuple[str, ...], int] = {}
    for number, cells in enumerate(lines, start=2):
        where = f"{file}, row {number}"
        if len(cells) != len(fields):
            raise DataError(where, f"has {len(cells)} cells; the header has {len(fields)}")
        first = seen.setdefault(tuple(cells), number)
        if first != number:
            raise DataError(where, f"is row {first} over again; remove one")
        yield tuple(
            field.read(cell, f"{where}, {key}")
            for (key, field), cell in zip(fields.items(), cells, strict=True)
        )


def read_table(where: str, entry: Mapping[str, Any], citations: Mapping[str, str]) -> Table:
    """Read the table of an entry of the manifest; DataError where the two do not agree."""
    record = Record(f"{where}, {entry.get('name')}", dict(entry), citations)
    columns = record.take("columns", dict)
    fields = {key: _field(key, c, f"{record.where}, {key}") for key, c in columns.items()}
    listed, count = record.texts("files"), record.take("rows", int)
    name, meaning = record.take("name", str), record.take("meaning", str)
    licence, credit = record.take("licence", str), record.take("credit", str)
    record.finish()
    rows: list[tuple[str | float, ...]] = []
    for file in listed:
        path = files("specdec_lib").joinpath("data", FOLDER, file)
        try:
            rows += read_rows(file, path.read_text(encoding="utf-8"), fields)
        except (OSError, UnicodeError, csv.Error) as error:
            raise DataError(file, f"cannot be read as CSV: {error}") from error
    if len(rows) != count:
        raise DataError(record.where, f"has {len(rows)} rows; the manifest says {count}")
    arrays: dict[str, NDArray[Any]] = {}
    for field, values in zip(fields.values(), zip(*rows, strict=True), strict=True):
        array = np.array(values, dtype=np.str_ if field.bounds is None else np.float64)
        array.setflags(write=False)
        arrays[field.name] = array
    return Table(
        name, meaning, MappingProxyType(arrays), tuple(fields.values()),
        record.provenance, licence, credit,
    )  # fmt: skip


@functools.cache
def _index() -> Index[str]:
    index: Index[str] = Index("measured table")
    for entry in listed_tables(MANIFEST, "table")[0]:
        index.add(str(entry.get("name")), (), str(entry.get("name")))
    return index


@functools.cache
def _read(name: str) -> Table:
    """A table is read when it is first asked for, so that a bad one spoils no other."""
    entries, shared, citations = listed_tables(MANIFEST, "table")
    (entry,) = (entry for entry in entries if entry.get("name") == name)
    return read_table(MANIFEST, {**shared, **entry}, citations)


def table(name: str) -> Table:
    """The measured table of this name; UnknownName, listing near ones, if there is none.

    >>> float(table("mla-multi-query")["seconds"][0])
    0.000601
    """
    return _read(_index().find(name))


def tables() -> tuple[Table, ...]:
    """Every measured table, in the order of the manifest."""
    return tuple(_read(name) for name in _index())
