"""Where a datum comes from: its source, what kind of evidence it is, when it was read.

Every record in ``specdec_lib/data`` carries a :class:`Provenance`; a field of a record may carry
its own where it differs.  Nothing enters the library without one.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace

from specdec_lib.formula.domain import shown

#: The kinds of evidence, from a maker's print to a guess, and what each means.
KINDS: Mapping[str, str] = {
    "datasheet": "printed by the maker, read there or in the second source that is named",
    "config": "a field of the model's published configuration",
    "measured": "timed or counted on real hardware or a real model",
    "published": "stated by an author in an article, a paper, a model card or program text",
    "assumed": "taken from memory, from a secondary list, or scaled from another value",
}

#: How far a datum is trusted, where that was judged.
CONFIDENCES: tuple[str, ...] = ("high", "medium", "low")

#: The keys by which a record, or a field of one, states its provenance.
PROVENANCE_KEYS: tuple[str, ...] = ("source", "kind", "retrieved", "confidence", "notes")


class DataError(ValueError):
    """A record is not valid; the message names file, record and field and says what to do."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")


@dataclass(frozen=True)
class Provenance:
    """The origin of a datum: a readable citation, a kind out of :data:`KINDS`, the day it was read,
    how far it is trusted (None where nobody judged) and the traps that a user must know."""

    source: str
    kind: str
    retrieved: datetime.date
    confidence: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        table: Mapping[str, object],
        where: str,
        *,
        inherited: Provenance | None = None,
        citations: Mapping[str, str] | None = None,
    ) -> Provenance:
        """Read and check the provenance keys of a TOML table.

        ``where`` names file, record and field for errors.  A key that is absent is taken from
        ``inherited``, but notes are not: they belong to what they stand beside.  Source and notes
        may name one of the file's ``citations`` in braces.  Raises DataError.
        """
        given = {key: table[key] for key in PROVENANCE_KEYS if key in table}
        source = _text(given.get("source", inherited and inherited.source), "source", where)
        kind = _text(given.get("kind", inherited and inherited.kind), "kind", where)
        retrieved = given.get("retrieved", inherited and inherited.retrieved)
        confidence = given.get("confidence", inherited and inherited.confidence)
        notes = given.get("notes", [])
        if kind not in KINDS:
            raise DataError(where, f"kind: found {shown(kind)}; kinds are {', '.join(KINDS)}")
        if type(retrieved) is not datetime.date:
            raise DataError(
                where, f"retrieved: found {shown(retrieved)}; a date is needed: 2026-11-30"
            )
        if confidence is not None and confidence not in CONFIDENCES:
            raise DataError(
                where,
                f"confidence: found {shown(confidence)}; it is one of {', '.join(CONFIDENCES)}",
            )
        if not isinstance(notes, list) or not all(isinstance(n, str) and n for n in notes):
            raise DataError(where, f"notes: found {shown(notes)}; a list of sentences is needed")
        try:
            source, *notes = (text.format_map(citations or {}) for text in (source, *notes))
        except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
            raise DataError(where, f"names a citation that the file lacks: {error}") from error
        return cls(source, kind, retrieved, confidence, tuple(notes))

    def with_notes(self, notes: tuple[str, ...]) -> Provenance:
        """The same origin with other notes."""
        return replace(self, notes=notes)


def _text(value: object, key: str, where: str) -> str:
    if value is None:
        raise DataError(where, f"{key} is missing; every datum says where it comes from")
    if not isinstance(value, str) or not value.strip():
        raise DataError(where, f"{key}: found {shown(value)}; a non-empty text is needed")
    return value
