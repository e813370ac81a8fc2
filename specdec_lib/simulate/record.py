"""Record: the rounds of a run, one number of each kind a round."""

from __future__ import annotations

from array import array

import numpy as np

from specdec_lib.acceptance.curve import Floats

#: What is noted of a round: sequences, drafted tokens of each, mean context, seconds, seconds of a
#: plain step in its place, tokens given to requests, and those of them that were drafted.
COLUMNS: tuple[str, ...] = (
    "batch",
    "gamma",
    "context",
    "seconds",
    "plain",
    "emitted",
    "accepted",
)


class Record:
    """Rounds as they are played; :meth:`columns` gives them as arrays."""

    def __init__(self) -> None:
        self._rows = array("d")
        #: Requests that were in line at the end.
        self.waiting = 0

    def add(self, *values: float) -> None:
        """Note a round, in the order of :data:`COLUMNS`."""
        self._rows.extend(values)

    def columns(self) -> dict[str, Floats]:
        """The rounds by column."""
        rows = np.frombuffer(self._rows, dtype=np.float64).reshape(-1, len(COLUMNS))
        return {name: rows[:, i].copy() for i, name in enumerate(COLUMNS)}
