"""JSON as engines and people leave it: one document, or one a line; whole or an error."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specdec_lib.counts.checks import LARGEST
from specdec_lib.counts.errors import ReadError


def documents(text: str, what: str) -> list[Any]:
    """The JSON documents of a text: one, or one a line.

    Raises ReadError, with line and column, for what is none or was cut off, for a key that stands
    twice in one object, and for numbers that JSON does not have.
    """
    try:
        return [_load(text)]
    except _NotJson as whole:
        lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for _, line in lines):
            raise ReadError(f"{what}: {whole}") from None
    found = []
    for number, line in lines:
        try:
            found.append(_load(line))
        except _NotJson as wrong:
            raise ReadError(f"{what}, line {number} of {len(lines)}: {wrong}") from None
    return found


class _NotJson(ValueError):
    """A text is not JSON."""


def _load(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _NotJson(
            f"no JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise _NotJson("JSON that is nested too deeply") from None
    except _NotJson:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise _NotJson(str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise _NotJson(f"the key {twice!r} stands twice in one object")
    return found


def _constant(name: str) -> float:
    raise _NotJson(f"{name} is no number of JSON")


def holding(documents: Sequence[Any], keys: set[str]) -> list[Mapping[str, Any]]:
    """Every object, at any depth, that holds all the ``keys``; not what lies inside one."""
    return [found for document in documents for found in _walk(document, keys)]


def _walk(value: Any, keys: set[str]) -> Iterator[Mapping[str, Any]]:
    todo = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, Mapping):
            if keys <= here.keys():
                yield here
            else:
                todo.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            todo.extend(reversed(here))


def count(table: Mapping[str, Any], key: str, where: str) -> int:
    """The counter ``key``.  ReadError where it is missing or no whole number from zero on."""
    if key not in table:
        raise ReadError(f"{where}: {key} is missing")
    return as_count(table[key], f"{where}: {key}")


def optional_count(table: Mapping[str, Any], key: str, where: str) -> int | None:
    """The counter ``key``, None where it is missing or null."""
    return None if table.get(key) is None else count(table, key, where)


def as_count(value: Any, where: str) -> int:
    """A whole number from zero on; ReadError for anything else."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ReadError(f"{where}: found {value!r:.60}; wanted is a whole number from 0 on")
    return value


def number(table: Mapping[str, Any], key: str, where: str) -> float:
    """The number ``key``.  ReadError where it is missing or none."""
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReadError(f"{where}: {key}: found {value!r:.60}; wanted is a number")
    if (isinstance(value, int) and abs(value) > LARGEST) or not math.isfinite(value):
        raise ReadError(f"{where}: {key}: found {value!r:.60}; wanted is a number")
    return float(value)


def optional_number(table: Mapping[str, Any], key: str, where: str) -> float | None:
    """The number ``key``, None where it is missing or null."""
    return None if table.get(key) is None else number(table, key, where)


def row(table: Mapping[str, Any], key: str, where: str) -> tuple[int, ...]:
    """A list of counters, or an object of them by index as text; missing indices are zero."""
    value = table.get(key)
    if isinstance(value, list):
        return tuple(as_count(item, f"{where}: {key}[{i}]") for i, item in enumerate(value))
    if isinstance(value, Mapping):
        pairs = {index(key, f"{where}: {key}"): item for key, item in value.items()}
        top = max(pairs, default=-1)
        return tuple(as_count(pairs.get(i, 0), f"{where}: {key}[{i}]") for i in range(top + 1))
    raise ReadError(f"{where}: {key}: found {value!r:.60}; wanted is a list of counters")


#: A draft is not longer than this; a larger index is no position.
LONGEST_DRAFT = 4096


def index(text: str, where: str) -> int:
    """The position that a key stands for; ReadError for a key that is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and int(text) <= LONGEST_DRAFT):
        raise ReadError(f"{where}: {text!r:.60} is no index of a histogram")
    return int(text)


def survivors(histogram: Sequence[int]) -> tuple[int, ...]:
    """Steps that accepted at least 1, 2, … tokens, from those that accepted exactly 0, 1, …."""
    tails = list(itertools.accumulate(reversed(histogram)))
    return tuple(reversed(tails[:-1]))


def agree(where: str, **values: tuple[float | None, float, float]) -> None:
    """Raise ReadError unless each printed value is the computed one, within a tolerance.

    ``values`` maps a field to (printed, computed, tolerance); a printed None was not there.
    """
    for field, (printed, computed, tolerance) in values.items():
        if printed is not None and abs(printed - computed) > tolerance:
            raise ReadError(
                f"{where}: {field} is {printed:g}, but the counts beside it give {computed:g}: "
                "were they cut, or do they come from different times?"
            )
