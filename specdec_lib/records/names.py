"""Names: finding a record by any of its names, and helping when there is none.

Case, spaces and punctuation do not count: ``"B200-SXM (HGX/DGX)"``, ``"b200 sxm hgx dgx"`` and
``"b200sxmhgxdgx"`` are one name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from specdec_lib.records.provenance import DataError

T = TypeVar("T")


class UnknownName(LookupError):
    """No record has this name; the message lists the near ones."""


def bare(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


class Index(Generic[T]):
    """Records by name, in the order in which they were added."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._records: dict[str, T] = {}
        self._known: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def records(self) -> tuple[T, ...]:
        """Every record, in order."""
        return tuple(self._records.values())

    def add(self, name: str, aliases: Iterable[str], record: T) -> None:
        """Enter a record; DataError if one of its names already means another record."""
        if name in self._records:
            raise DataError(name, f"is the name of two {self._what}s")
        names = {bare(alias): alias for alias in (name, *aliases)}
        for key, alias in names.items():
            if key in self._known:
                raise DataError(name, f"{alias!r} already names {self._known[key]}; choose another")
        self._known |= dict.fromkeys(names, name)
        self._records[name] = record

    def find(self, name: str) -> T:
        """The record of this name or alias.  Raises UnknownName, or TypeError for no text."""
        if not isinstance(name, str):
            raise TypeError(f"a {self._what} is found by its name, a text, not by {name!r}")
        wanted = self._known.get(bare(name))
        if wanted is not None:
            return self._records[wanted]
        near = self.near(name)
        hint = f"near ones are {', '.join(near)}" if near else f"there are {', '.join(self)}"
        raise UnknownName(f"no {self._what} is called {name!r}; {hint}")

    def near(self, name: str, most: int = 5) -> list[str]:
        """The names most like this one, best first, each record once."""
        wanted = bare(name)
        inside = [known for known in self._known if wanted and wanted in known]
        alike = difflib.get_close_matches(wanted, self._known, n=3 * most, cutoff=0.6)
        found = dict.fromkeys(self._known[known] for known in (*alike, *inside))
        return list(found)[:most]
