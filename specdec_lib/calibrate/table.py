"""Tables: measurements from CSV, one a row.

Columns: B, S and, for a pass of the target alone, T; gamma and N for speculation; and what was
measured, with its unit in the name.  A row fills one of the measured columns::

    B, T, S, ms
    1, 1, 4096, 6.1
    8, 4, 4096, 9.8
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from typing import Any

from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.prefixes import PREFIXES

#: What may be measured, by column: the method of Measurement, its argument, and seconds in one.
_TIMES: Mapping[str, tuple[str, str]] = {
    "": ("step", "seconds"),
    "round_": ("round", "seconds"),
    "tpot_": ("token_time", "seconds"),
}
_UNITS: Mapping[str, float] = {
    "seconds": 1.0,
    **{f"{p}s": float(f"1e{PREFIXES[p]}") for p in ("m", "µ")},
    "us": float(f"1e{PREFIXES['µ']}"),
}
_MEASURED: dict[str, tuple[str, str, float]] = {
    f"{prefix}{unit}": (*what, scale)
    for prefix, what in _TIMES.items()
    for unit, scale in _UNITS.items()
}
_MEASURED |= {
    "ratio": ("ratio", "ratio", 1.0),
    "speedup": ("speedup", "speedup", 1.0),
    "tokens_per_second": ("throughput", "tokens_per_second", 1.0),
    "decode_tokens_per_second": ("throughput", "tokens_per_second", 1.0),
}

#: What each method takes beside B and S, and what of it a row must state.
_TAKES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "step": (frozenset({"T"}), frozenset({"T"})),
    "round": (frozenset({"gamma"}), frozenset({"gamma"})),
    "ratio": (frozenset({"gamma"}), frozenset({"gamma"})),
    "speedup": (frozenset({"gamma", "N"}), frozenset({"gamma", "N"})),
    "token_time": (frozenset({"gamma", "N"}), frozenset()),
    "throughput": (frozenset({"gamma", "N"}), frozenset()),
}

#: Every column that a table may have; "id" names a row.
COLUMNS: tuple[str, ...] = ("id", "B", "T", "S", "gamma", "N", *_MEASURED)

_KNOWN = {name.casefold(): name for name in COLUMNS}


def read_table(
    text: str, *, name: str = "table", throughput: str | None = None
) -> list[Measurement]:
    """The measurements of a CSV text.

    ``name`` is what errors and sources call it; ``throughput`` says of what the tokens per second
    in it are, "decode" or "whole", where the column itself does not (decode_tokens_per_second).

    Raises CalibrationError with every row that is none, by its line.
    """
    rows = _rows(text, name)
    if not rows:
        raise CalibrationError([f"{name}: no rows under its head; a row a measurement is needed"])
    found: list[Measurement] = []
    problems: list[str] = []
    for line, cells in rows:
        try:
            found.append(_measurement(cells, f"line {line} of {name}", throughput))
        except CalibrationError as error:
            problems += error.problems
        except (TypeError, ValueError) as error:
            problems.append(str(error))
    if problems:
        raise CalibrationError(problems)
    return found


def _rows(text: str, name: str) -> list[tuple[int, dict[str, str]]]:
    """Line number and cells by column; the head is checked."""
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), strict=True)
    head: list[str] | None = None
    found = []
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if head is None:
                head = _head(cells, name)
                continue
            if len(cells) != len(head):
                raise CalibrationError(
                    [
                        f"line {reader.line_num} of {name}: {len(cells)} cells under {len(head)} "
                        f"columns ({', '.join(head)})"
                    ]
                )
            filled = zip(head, cells, strict=True)
            found.append((reader.line_num, {key: cell for key, cell in filled if cell}))
    except csv.Error as error:
        raise CalibrationError([f"line {reader.line_num} of {name}: no CSV: {error}"]) from None
    if head is None:
        raise CalibrationError([f"{name} is empty; a table with the columns B, T, S, ms is needed"])
    return found


def _head(cells: list[str], name: str) -> list[str]:
    unknown = [cell for cell in cells if cell.casefold() not in _KNOWN]
    if unknown:
        shown = ", ".join(repr(cell)[:40] for cell in unknown)
        raise CalibrationError(
            [f"{name}: no column {shown}; a table may have {', '.join(COLUMNS)}"]
        )
    head = [_KNOWN[cell.casefold()] for cell in cells]
    twice = sorted({column for column in head if head.count(column) > 1})
    if twice:
        raise CalibrationError([f"{name}: the column {', '.join(twice)} is there twice"])
    missing = [column for column in ("B", "S") if column not in head]
    if missing:
        raise CalibrationError([f"{name}: the column {', '.join(missing)} is missing"])
    if not set(head) & set(_MEASURED):
        raise CalibrationError(
            [f"{name}: nothing measured; one of the columns {', '.join(_MEASURED)} is needed"]
        )
    return head


def _measurement(cells: dict[str, str], where: str, throughput: str | None) -> Measurement:
    row = f"{cells['id']}, {where}" if "id" in cells else where
    measured = [column for column in cells if column in _MEASURED]
    if len(measured) != 1:
        found = " and ".join(measured) or "none"
        raise CalibrationError([f"{row}: one measured value is needed; filled are {found}"])
    [column] = measured
    kind, argument, scale = _MEASURED[column]
    numbers = {key: _number(cells[key], f"{row}: {key}") for key in cells if key != "id"}
    given: dict[str, Any] = {key: v for key, v in numbers.items() if key not in _MEASURED}
    takes, needs = _TAKES[kind]
    missing = sorted(({"B", "S"} | needs) - set(given))
    if missing:
        raise CalibrationError([f"{row}: {', '.join(missing)} is missing for {column}"])
    if "T" in given and "T" not in takes:
        _refuse_width(given, column, row)
        del given["T"]
    beyond = sorted(set(given) - takes - {"B", "S"})
    if kind == "step" and given.get("gamma") == 0:
        beyond = [key for key in beyond if key != "gamma"]
        del given["gamma"]
    if beyond:
        raise CalibrationError(
            [
                f"{row}: {column} is of a pass of the target alone and has no {', '.join(beyond)}; "
                "a round of drafting and verifying is round_ms"
                if kind == "step"
                else f"{row}: {column} does not depend on {', '.join(beyond)}; leave it empty"
            ]
        )
    if kind == "throughput":
        given["of"] = "decode" if column.startswith("decode") else throughput
    make = getattr(Measurement, kind)
    made: Measurement = make(**given, **{argument: numbers[column] * scale}, row=row)
    return made


def _refuse_width(given: Mapping[str, Any], column: str, row: str) -> None:
    """A width beside a draft length says the same, or one of them is wrong."""
    wanted = given.get("gamma", 0.0) + 1
    if given["T"] != wanted:
        raise CalibrationError(
            [
                f"{row}: T = {given['T']:g} beside gamma = {wanted - 1:g} in a row of {column}: a "
                f"verify pass has T = gamma + 1 = {wanted:g}; leave T empty or mend one of them"
            ]
        )


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise CalibrationError([f"{where}: {cell!r:.40} is no number"]) from None
    if not math.isfinite(value) or "_" in cell:
        raise CalibrationError([f"{where}: {cell!r:.40} is no number"])
    return value
