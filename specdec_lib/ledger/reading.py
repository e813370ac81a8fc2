"""Reads ``data/claims.toml``; what is not a claim with trials that can be held is refused."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from specdec_lib.ledger.claim import ENGINES, Claim, Part, Trial
from specdec_lib.ledger.measures import MEASURES
from specdec_lib.ledger.verdict import VERDICTS
from specdec_lib.records.provenance import DataError
from specdec_lib.records.toml import Record, listed_tables

FILE = "claims.toml"


@functools.cache
def ledger() -> tuple[Claim, ...]:
    """Every claim of the book, in order.  Raises DataError, naming claim and field, where the file
    is not valid."""
    tables, shared, citations = listed_tables(FILE, "claim")
    found = [_claim(Record(f"{FILE}, {t.get('name')}", {**shared, **t}, citations)) for t in tables]
    names = [claim.name for claim in found]
    if len(set(names)) < len(names):
        raise DataError(FILE, "holds a claim twice")
    return tuple(found)


def _claim(record: Record) -> Claim:
    parts = [_part(table, record) for table in record.take("part", list)]
    claim = Claim(
        name=record.take("name", str),
        statement=record.take("statement", str),
        derivation=record.take("derivation", str),
        conditions=record.take("conditions", str),
        chapters=record.texts("chapters"),
        parts=tuple(parts),
        stated=_verdict(record.take("verdict", str), record.where),
    )
    record.finish()
    return claim


def _part(table: dict[str, Any], claim: Record) -> Part:
    where = f"{claim.where}, {table.get('says')}"
    own = Record(where, {**_origin(claim), **table})
    trials = tuple(_trial(found, own) for found in own.take("trial", list))
    if not trials:
        raise DataError(where, "has no trial; nothing would decide it")
    part = Part(own.take("says", str), trials, _verdict(own.take("verdict", str), where))
    own.finish()
    return part


def _trial(table: dict[str, Any], part: Record) -> Trial:
    where = f"{part.where}, {table.get('measure')}"
    own = Record(where, {**_origin(part), **table})
    measure, at = own.take("measure", str), own.take("at", dict, default={})
    if measure not in MEASURES:
        raise DataError(where, f"is no measure; there are {', '.join(MEASURES)}")
    try:
        inspect.signature(MEASURES[measure]).bind(**at)
    except TypeError as error:
        raise DataError(where, f"cannot be taken there: {error}") from None
    bounds = {
        name: float(own.take(name, float)) if own.has(name) else None
        for name in ("at_least", "at_most")
    }
    if all(bound is None for bound in bounds.values()):
        raise DataError(where, "has neither at_least nor at_most; every value would pass")
    engine = own.take("engine", str)
    if engine not in ENGINES:
        raise DataError(where, f"engine is one of {', '.join(ENGINES)}, not {engine!r}")
    trial = Trial(
        engine=engine,
        says=own.take("says", str),
        measure=measure,
        at=at,
        printed=own.take("value", str),
        stated=own.take("holds", bool),
        **bounds,
    )
    own.finish()
    return trial


def _origin(record: Record) -> dict[str, Any]:
    """Provenance for what stands inside a record without one of its own."""
    origin = record.provenance
    return {"source": origin.source, "kind": origin.kind, "retrieved": origin.retrieved}


def _verdict(text: str, where: str) -> str:
    if text not in VERDICTS:
        raise DataError(where, f"verdict is one of {', '.join(VERDICTS)}, not {text!r}")
    return text
