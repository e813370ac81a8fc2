"""Plain counts, written by hand or by a harness: names and numbers, or rates by position."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.counts.combine import pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ImpossibleCounts, ReadError
from specdec_lib.counts.jsontext import as_count, documents, optional_count, row, survivors

ENGINE = "plain counts"

NAMES = ("steps", "drafted", "accepted", "length", "emitted", "requests")
LISTS = ("survived", "offered", "histogram")

_PAIR = re.compile(r"\b([a-z_]+)\s*[=:]?\s*([^\s,;=:]+)")


def read(text: str) -> AcceptanceCounts:
    """Counts as ``steps 23, drafted 161, accepted 44, length 7``, or as a JSON object of these
    names, which may also hold ``survived``, ``offered`` and ``histogram`` by position.

    Raises ReadError for a name that is not one of these, and for a value that is no count.
    """
    if text.lstrip().startswith("{"):
        (table, *more) = documents(text, "plain counts")
        if more or not isinstance(table, Mapping):
            raise ReadError("plain counts are one JSON object")
        return from_table(table)
    table = {}
    rest = _PAIR.sub("", text)
    if rest.strip(" \t\r\n,;"):
        raise ReadError(f"plain counts: {rest.strip()!r:.60} is no name with a number")
    for name, value in _PAIR.findall(text):
        if name in table:
            raise ReadError(f"plain counts: {name} stands twice")
        if not (value.isascii() and value.isdecimal() and len(value) <= 16):
            raise ReadError(f"plain counts: {name}: found {value!r:.40}; wanted is a whole number")
        table[name] = int(value)
    return from_table(table)


def from_table(table: Mapping[str, Any]) -> AcceptanceCounts:
    """Counts from a mapping with the names of :func:`read`."""
    unknown = sorted(set(map(str, table)) - {*NAMES, *LISTS})
    if unknown:
        raise ReadError(
            f"plain counts: {', '.join(unknown)} is not one of {', '.join((*NAMES, *LISTS))}"
        )
    values: dict[str, Any] = {n: optional_count(table, n, "plain counts") for n in NAMES}
    lists: dict[str, Any] = {
        n: row(table, n, "plain counts") for n in LISTS if table.get(n) is not None
    }
    histogram = lists.pop("histogram", None)
    if histogram is not None:
        if "survived" in lists:
            raise ReadError("plain counts: give survived or histogram, not both")
        if values["steps"] not in (None, sum(histogram)):
            raise ImpossibleCounts(
                f"plain counts: the histogram holds {sum(histogram)} steps, not {values['steps']}"
            )
        values["steps"], lists["survived"] = sum(histogram), survivors(histogram)
    if not table:
        raise ReadError("plain counts: there are none")
    return AcceptanceCounts(ENGINE, "plain counts", **values, **lists)


def from_rates(
    rates: Sequence[float],
    *,
    reading: str,
    gamma: int | None = None,
    engine: str = ENGINE,
) -> AcceptanceCounts:
    """Survival from a list of rates by position.

    ``reading`` must be said, for a list does not tell: "conditional" rates, each given that all
    before it were accepted, or "survival".  ``gamma`` takes the first so many; a shorter list is
    filled with zeros, with a caution.
    """
    if reading not in ("conditional", "survival"):
        raise ValueError(f"reading is 'conditional' or 'survival', not {reading!r}")
    values = [float(rate) for rate in rates]
    length = len(values) if gamma is None else gamma
    if length < 1:
        raise ReadError("a list of rates needs at least one position")
    missing = length - len(values)
    values = (values + [0.0] * missing)[:length]
    for i, rate in enumerate(values, 1):
        if not 0 <= rate <= 1:
            raise ImpossibleCounts(f"position {i}: a rate of {rate} is not within 0 and 1")
    if reading == "conditional":
        values = list(itertools.accumulate(values, lambda before, rate: before * rate))
    cautions = () if missing <= 0 else (f"{missing} positions were not given and count as 0",)
    return AcceptanceCounts(
        engine,
        f"{reading} rates by position",
        rates=tuple(values),
        length=length,
        notes=(f"read as {reading} rates",),
        cautions=cautions,
    )


def from_requests(steps: Sequence[int], emitted: Sequence[int]) -> AcceptanceCounts:
    """Counts pooled from the verify steps and the emitted tokens of each request.

    Each step emits one token more than it accepts; tokens that no step emitted, such as the one of
    the prefill, must not be among them.
    """
    if len(steps) != len(emitted) or not len(steps):
        raise ReadError(f"{len(steps)} counts of steps and {len(emitted)} of tokens do not pair")
    parts = []
    for i, (s, e) in enumerate(zip(steps, emitted, strict=True), 1):
        rounds, tokens = as_count(s, f"request {i}: steps"), as_count(e, f"request {i}: emitted")
        if tokens < rounds:
            raise ImpossibleCounts(f"request {i}: {tokens} tokens from {rounds} steps")
        parts.append(
            AcceptanceCounts(
                ENGINE,
                "steps and emitted tokens",
                steps=rounds,
                accepted=tokens - rounds,
                emitted=tokens,
                requests=1,
            )
        )
    return pool(parts)
