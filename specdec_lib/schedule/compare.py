"""Schedules side by side: where they want different lengths, as those of a low and a high α do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from specdec_lib.schedule.cell import ScheduleError, span
from specdec_lib.schedule.table import Schedule


@dataclass(frozen=True)
class Difference:
    """A range of batches in which schedules want different lengths, in their order.

    ``context`` is the last context of the row, None without a context axis.
    """

    first: int
    last: int
    lengths: tuple[int, ...]
    context: int | None = None

    def __str__(self) -> str:
        where = f"batch {span(self.first, self.last)}"
        where += "" if self.context is None else f", context to {self.context}"
        return f"{where}: {' or '.join(map(str, self.lengths))}"


def differences(schedules: Iterable[Schedule]) -> tuple[Difference, ...]:
    """Where ``schedules`` differ, up to the largest batch of any of them.

    Raises ScheduleError for fewer than two, and for schedules with other contexts.
    """
    known = list(schedules)
    if len(known) < 2:
        raise ScheduleError("a comparison needs two schedules at least")
    if len({schedule.contexts for schedule in known}) > 1:
        raise ScheduleError("schedules with other contexts cannot be compared: take .at(context=…)")
    batches = np.arange(1, max(schedule.batch_max for schedule in known) + 1)
    found = []
    for context in known[0].contexts or (None,):
        rows = [s if context is None else s.at(context) for s in known]
        table = np.stack([row.length(batches) for row in rows])
        changes = (np.flatnonzero(np.any(np.diff(table), axis=0)) + 1).tolist()
        for start, end in itertools.pairwise([0, *changes, len(batches)]):
            lengths = tuple(int(length) for length in table[:, start])
            if len(set(lengths)) > 1:
                found.append(Difference(start + 1, end, lengths, context))
    return tuple(found)
