"""Input and output: texts, tables for people, JSON for programs, words on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from tabulate import tabulate

#: The flag that every command has.
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def read_text(path: str) -> str:
    """The text of a file, or of standard input for "-".  Raises ValueError for what is no text."""
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is no text in UTF-8 ({error.reason})") from None


def say(*words: str) -> None:
    """Tell the user something that is no part of the result."""
    for word in words:
        click.echo(word, err=True)


def print_json(value: Any) -> None:
    """Print a result as JSON.  What is infinite or undefined is null: JSON has no word for it."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(columns: Mapping[str, Sequence[Any]]) -> None:
    """Print columns of equal length, numbers to four significant digits."""
    shown = {title: [_cell(value) for value in column] for title, column in columns.items()}
    right = [
        "right" if all(value is None or _is_number(value) for value in column) else "left"
        for column in columns.values()
    ]
    click.echo(
        tabulate(shown, headers="keys", tablefmt="simple", disable_numparse=True, colalign=right)
        if any(map(len, columns.values()))
        else "  ".join(columns)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if not _is_number(value):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.4g}"
    digits = 4 - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{max(digits, 0)}f}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
