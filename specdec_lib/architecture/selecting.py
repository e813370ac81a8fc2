"""Selecting: cores whose query heads all meet one cache entry, of which an indexer may select."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from specdec_lib.architecture.components import Core
from specdec_lib.formula import Formula
from specdec_lib.formulas import engine


@dataclass(frozen=True)
class SharedEntryCore(Core):
    """``n_h`` query heads on one shared entry for every token or few."""

    n_h: int

    @property
    @abstractmethod
    def selection(self) -> tuple[Formula, int] | None:
        """Entries that are met, a Formula in S and in the number ``topk`` that an indexer selects,
        and that number; None where nothing is selected."""

    def entries_read(self, spread: float = 0.0) -> Formula:
        """Up to T times as many selected entries where T tokens select; see
        :meth:`Core.entries_read`."""
        if self.selection is None:
            return self.entries
        law, topk = self.selection
        return law.where(topk=engine.selected_by_all.where(topk=topk, spread=spread).rhs)

    @property
    def tiled_heads(self) -> int:
        """All query heads."""
        return self.n_h
