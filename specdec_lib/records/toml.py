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
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from typing import Any, NamedTuple

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
        raise DataError(where, f"found {text!r}; a quantity is needed, like '1 {unit}'")
    number, _, printed = str(text).strip().partition(" ")
    scale = factor(printed or "1", unit)
    if scale is None:
        raise DataError(where, f"found {text!r}; it must be in {unit}, with or without a prefix")
    try:
        value = float(Decimal(number) * scale)
    except InvalidOperation:
        raise DataError(where, f"found {text!r}; {number!r} is no number") from None
    if not (math.isfinite(value) and low <= value <= high):
        raise DataError(where, f"found {text!r}; it must lie in [{low:g}, {high:g}] {unit}")
    return value


class Record:
    """One TOML table being read; :meth:`finish` refuses the keys that nothing has asked for."""

    def __init__(self, where: str, table: object, citations: Mapping[str, str] | None = None):
        if not isinstance(table, dict):
            raise DataError(where, f"found {table!r}; a table is needed")
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
            raise DataError(f"{self.where}, {field}", f"found {value!r}; {kind.__name__} is needed")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts, empty where the field is absent."""
        found = self.take(field, list, default=[])
        if not all(isinstance(text, str) and text.strip() for text in found):
            raise DataError(f"{self.where}, {field}", f"found {found!r}; texts are needed")
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
    text = files("specdec_lib").joinpath("data", *path.split("/")).read_text(encoding="utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(path, f"is not TOML: {error}") from error


def data_files(folder: str) -> list[str]:
    """The TOML files of a folder below ``specdec_lib/data``, in alphabetical order."""
    entries = files("specdec_lib").joinpath("data", folder).iterdir()
    return sorted(f"{folder}/{entry.name}" for entry in entries if entry.name.endswith(".toml"))
