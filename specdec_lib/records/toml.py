"""Records: TOML tables of ``specdec_lib/data`` read field by field, with units and provenance.

A quantity is written as its source prints it, ``"2250 TFLOP/s"``, and read to SI without rounding
on the way.  What is misspelt, lacks a unit or a source, or is out of range raises
:class:`~specdec_lib.records.provenance.DataError` and never becomes a number.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any, NamedTuple

from specdec_lib.formula.domain import shown
from specdec_lib.prefixes import exponent
from specdec_lib.records.provenance import PROVENANCE_KEYS, DataError, Provenance

#: The SI units of records, and under which other names a source may print each.
BASES: dict[str, tuple[str, ...]] = {
    "1": (),
    "B": (),
    "B/s": (),
    "FLOP": (),
    "FLOP/s": ("OP/s",),  # integer operations compare with floating-point ones in a roofline
    "FLOP/B": (),
    "s": (),
    "W": (),
}
_BINARY = {"KiB": Decimal(2) ** 10, "MiB": Decimal(2) ** 20, "GiB": Decimal(2) ** 30}


def factor(printed: str, unit: str) -> Decimal | None:
    """What a ``printed`` unit, ``"TB/s"`` or ``"MiB"``, is in the SI unit ``unit``; None if it is
    not one of its multiples."""
    if unit == "B" and printed in _BINARY:
        return _BINARY[printed]
    for base in (unit, *BASES[unit]):
        try:
            return Decimal(10) ** exponent(printed, base)
        except ValueError:
            continue
    return None


def base_unit(printed: str, where: str) -> str:
    """The SI unit that a printed one is a multiple of; DataError for one that no record uses."""
    for unit in BASES:
        if factor(printed, unit) is not None:
            return unit
    raise DataError(where, f"found unit {printed!r}; it must be one of {', '.join(BASES)}")


@dataclass(frozen=True)
class Datum:
    """A value in its SI unit and where it comes from."""

    value: float
    unit: str
    provenance: Provenance


class Bounds(NamedTuple):
    """What a quantity may be: its SI unit and the least and the largest plausible value.

    Bounds are tight enough to catch a wrong prefix.
    """

    unit: str
    low: float
    high: float = math.inf


def quantity(text: object, bounds: Bounds, where: str) -> float:
    """Read ``"8.0 TB/s"``, or a bare number where the unit is 1, to its SI unit.

    Raises DataError for what is no number, has another unit or lies outside ``bounds``.
    """
    unit, low, high = bounds
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise DataError(where, f"found {shown(text)}; a quantity is needed, like '1 {unit}'")
    number, _, printed = (
        (str(text) if isinstance(text, str) else shown(text)).strip().partition(" ")
    )
    scale = factor(printed or "1", unit)
    if scale is None:
        raise DataError(
            where, f"found {shown(text)}; it must be in {unit}, with or without a prefix"
        )
    try:
        value = float(Decimal(number) * scale)
    except (ArithmeticError, ValueError):  # no number, or one beyond all bounds
        raise DataError(where, f"found {shown(text)}; {number!r} is no number") from None
    if not (math.isfinite(value) and low <= value <= high):
        raise DataError(where, f"found {shown(text)}; it must lie in [{low:g}, {high:g}] {unit}")
    return value


class Record:
    """One TOML table being read; :meth:`finish` refuses the keys that nothing has asked for."""

    def __init__(self, where: str, table: object, citations: Mapping[str, str] | None = None):
        if not isinstance(table, dict):
            raise DataError(where, f"found {shown(table)}; a table is needed")
        self.where = where
        self._table: dict[str, Any] = table
        self._citations = citations or {}
        self._read: set[str] = set(PROVENANCE_KEYS)
        self.provenance = Provenance.read(table, where, citations=citations)

    def take(self, field: str, kind: type, *, default: Any = None) -> Any:
        """A field of a plain TOML type; a default of None makes it required."""
        self._read.add(field)
        value = self._table.get(field, default)
        if value is None:
            raise DataError(self.where, f"{field} is missing")
        if type(value) is not kind or (kind is str and not str(value).strip()):
            raise DataError(
                f"{self.where}, {field}", f"found {shown(value)}; {kind.__name__} is needed"
            )
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts, empty where the field is absent."""
        found = self.take(field, list, default=[])
        if not all(isinstance(text, str) and text.strip() for text in found):
            raise DataError(f"{self.where}, {field}", f"found {shown(found)}; texts are needed")
        return tuple(found)

    def has(self, field: str) -> bool:
        """Whether the record states the field."""
        return field in self._table

    def datum(self, field: str, bounds: Bounds) -> Datum:
        """A required quantity, with its own provenance where the field states one."""
        self._read.add(field)
        if field not in self._table:
            raise DataError(self.where, f"{field} is missing")
        return self._datum(field, self._table[field], bounds, self._inherited)

    def data(self, field: str, bounds: Callable[[str], Bounds | None]) -> dict[str, Datum]:
        """A table of quantities by name; it may state a provenance of its own.

        ``bounds`` says what a name may hold, and is None for a name that it does not know.
        """
        found = self.take(field, dict)
        where = f"{self.where}, {field}"
        origin = self._inherited
        if any(key in found for key in PROVENANCE_KEYS):
            origin = Provenance.read(found, where, inherited=origin, citations=self._citations)
        data: dict[str, Datum] = {}
        for name, value in found.items():
            if name in PROVENANCE_KEYS:
                continue
            known = bounds(name)
            if known is None:
                raise DataError(where, f"does not know {name!r}; check the spelling")
            data[name] = self._datum(f"{field}.{name}", value, known, origin)
        return data

    @property
    def _inherited(self) -> Provenance:
        """What a field without a provenance of its own has: the record's, less its notes."""
        return self.provenance.with_notes(())

    def _datum(self, field: str, value: object, bounds: Bounds, origin: Provenance) -> Datum:
        where = f"{self.where}, {field}"
        if isinstance(value, dict):
            unknown = set(value) - {"value", *PROVENANCE_KEYS}
            if unknown or "value" not in value:
                raise DataError(where, f"found {sorted(value)}; it has value and provenance only")
            origin = Provenance.read(value, where, inherited=origin, citations=self._citations)
            value = value["value"]
        return Datum(quantity(value, bounds, where), bounds.unit, origin)

    def finish(self) -> None:
        """Raise DataError for a key that was never read: it is misspelt or not supported."""
        unread = sorted(set(self._table) - self._read)
        if unread:
            raise DataError(self.where, f"does not know {', '.join(unread)}; check the spelling")


def load_toml(path: str) -> dict[str, Any]:
    """A file below ``specdec_lib/data`` as a dict; DataError with its name if it is no TOML."""
    file = files("specdec_lib").joinpath("data", *path.split("/"))
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # bad syntax, no text, too long or too deep
        raise DataError(path, f"is not TOML: {error}") from error


def listed_tables(
    path: str, name: str
) -> tuple[list[dict[str, Any]], dict[str, Any], Mapping[str, str]]:
    """The tables ``[[name]]`` of a file, what it states for all of them, and its citations.

    Raises DataError where the file has no such tables, or citations that are no texts.
    """
    rest = load_toml(path)
    tables, citations = rest.pop(name, None), rest.pop("citations", {})
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DataError(f"{path}, {name}", f"found {shown(tables)}; tables [[{name}]] are needed")
    return tables, rest, checked_citations(path, citations)


def checked_citations(path: str, found: object) -> Mapping[str, str]:
    """The citations of a file, texts by name; DataError if they are not."""
    if isinstance(found, dict) and all(isinstance(text, str) for text in found.values()):
        return found
    raise DataError(f"{path}, citations", f"found {shown(found)}; texts by name are needed")


def title(path: str, table: object) -> str:
    """File and name of a record, for errors."""
    name = table.get("name") if isinstance(table, Mapping) else None
    return f"{path}, {name if isinstance(name, str) else shown(name)}"


def data_files(folder: str) -> list[str]:
    """The TOML files of a folder below ``specdec_lib/data``, in alphabetical order."""
    entries = files("specdec_lib").joinpath("data", folder).iterdir()
    return sorted(f"{folder}/{entry.name}" for entry in entries if entry.name.endswith(".toml"))
