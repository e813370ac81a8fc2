"""Policies that look at nothing they are told: one length, a schedule, and full knowledge."""

from __future__ import annotations

import numpy as np

from specdec_lib.control.policy import Policy, State, check_length, check_priced
from specdec_lib.control.prices import Prices
from specdec_lib.control.pricing import best_length, tokens_by_length
from specdec_lib.schedule import Schedule


class Fixed(Policy):
    """The same draft length in every round, whatever happens; 0 never speculates.

    Raises TypeError or ValueError for what is no draft length.
    """

    def __init__(self, gamma: int) -> None:
        self.gamma = check_length("gamma", gamma)

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        return f"fixed {self.gamma}" if self.gamma else "off"

    def start(self, prices: Prices) -> None:
        """See :meth:`Policy.start`."""
        check_priced(self.name, self.gamma, prices)

    def choose(self, state: State) -> int:  # noqa: ARG002
        """The length."""
        return self.gamma


class Scheduled(Policy):
    """The draft length that a Schedule has for the batch and, where it has contexts, for the mean
    context; 0 beyond its last of either.

    Raises TypeError for what is no Schedule.
    """

    def __init__(self, schedule: Schedule) -> None:
        if not isinstance(schedule, Schedule):
            raise TypeError(f"a scheduled policy needs a Schedule, not {schedule!r:.60}")
        self.schedule = schedule
        self._rows = np.atleast_2d(schedule.lengths.T).tolist()

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        return "schedule"

    def start(self, prices: Prices) -> None:
        """See :meth:`Policy.start`."""
        check_priced("the schedule", self.schedule.longest, prices)

    def choose(self, state: State) -> int:
        """The length of the schedule."""
        row = 0
        if self.schedule.contexts:
            row = int(np.searchsorted(self.schedule.contexts, state.context))
        if row == len(self._rows) or state.batch > self.schedule.batch_max:
            return 0
        return int(self._rows[row][state.batch - 1])


class Oracle(Policy):
    """The best length for the acceptance that the batch really has: what no engine can know, and
    what the others are measured against.

    In a closed loop of a fixed batch no policy can do better; where rounds change the batch of
    later ones it is the best of those that look one round ahead.
    """

    knows_truth = True

    def __init__(self) -> None:
        self._prices: Prices | None = None

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        return "oracle"

    def start(self, prices: Prices) -> None:
        """See :meth:`Policy.start`."""
        self._prices = prices

    def choose(self, state: State) -> int:
        """The best length.  Raises ValueError for a state without the truth."""
        if self._prices is None or state.truth is None:
            raise ValueError("an oracle must be started and told the truth: it is for simulations")
        tokens = tokens_by_length(state.truth[: self._prices.gamma_max].tolist())
        return best_length(tokens, self._prices.rounds(state.batch, state.context))[0]
