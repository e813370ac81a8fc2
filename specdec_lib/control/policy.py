"""Policy: what chooses the draft length of every round, and what it sees and hears.

To port a policy into an engine: build it once, call :meth:`Policy.start` with its prices, ask
:meth:`Policy.choose` before every round and tell it the outcome afterwards.  It holds counters of a
few dozen numbers and never waits for anything.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control.prices import Prices
from specdec_lib.control.stage import FirstStage


class State(NamedTuple):
    """What is known before a round.

    ``batch`` sequences, their mean ``context`` in tokens, and the ``time`` in seconds.  ``truth``
    is the mean survival of the batch at positions 1, 2, …, which only a simulation knows; it is
    there for a policy that ``knows_truth``, which the Oracle does.
    """

    batch: int
    context: float
    time: float = 0.0
    truth: Floats | None = None


class Outcome(NamedTuple):
    """What a round of drafts of ``gamma`` tokens brought.

    ``accepted`` are the accepted tokens of each sequence, from 0 to γ, and ``total`` their sum;
    ``seconds`` is what the round took.
    """

    gamma: int
    accepted: NDArray[np.int64]
    total: int
    seconds: float

    @property
    def judged(self) -> int:
        """Drafted tokens but for those behind a rejection."""
        return int(np.minimum(self.accepted + 1, self.gamma).sum())

    @property
    def reaching(self) -> NDArray[np.int64]:
        """Sequences of which 0, 1, …, γ tokens or more were accepted: at position i those of place
        i − 1 were judged, and those of place i accepted."""
        # sequences by accepted tokens; from the end they add up to those with so many or more
        by_count = np.bincount(self.accepted, minlength=self.gamma + 1)
        return np.asarray(by_count[::-1].cumsum()[::-1], dtype=np.int64)


class Policy(ABC):
    """Chooses a draft length, round by round.

    One policy serves one engine.  ``stage`` is the first stage that prunes its drafts, if any;
    ``knows_truth`` says that it is for simulations, which tell it the truth.
    """

    stage: FirstStage | None = None
    knows_truth: bool = False
    label: str = ""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables."""

    def called(self, label: str) -> Self:
        """The same policy under a label of its own in reports: for two of one kind."""
        found = copy.deepcopy(self)
        found.label = label
        return found

    def start(self, prices: Prices) -> None:
        """Forget everything and serve with these prices.  Raises ValueError where policy and prices
        do not fit together."""
        del prices

    @abstractmethod
    def choose(self, state: State) -> int:
        """The tokens to draft for each sequence in the coming round; 0 is a plain step."""

    def told(self, state: State, outcome: Outcome) -> None:
        """Hear what the round that was chosen for ``state`` brought."""
        del state, outcome

    def __repr__(self) -> str:
        return f"<policy {self.name}>"


def check_length(what: str, gamma: int, least: int = 0) -> int:
    """A draft length that is whole.  Raises TypeError or ValueError, saying ``what`` it is."""
    if isinstance(gamma, bool) or not isinstance(gamma, int | np.integer):
        raise TypeError(f"{what} = {gamma!r:.60} is no whole number of tokens")
    if gamma < least:
        raise ValueError(f"{what} = {gamma}: it must be {least} or more")
    return int(gamma)


def check_share(what: str, value: float, low: float = 0.0, high: float = 1.0) -> float:
    """A number in a closed range.  Raises TypeError or ValueError, saying ``what`` it is."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
        raise TypeError(f"{what} = {value!r:.60} is no number")
    if not low <= value <= high:
        raise ValueError(f"{what} = {value:g}: it must lie in [{low:g}, {high:g}]")
    return float(value)


def check_priced(policy: str, gamma: int, prices: Prices) -> None:
    """Raise ValueError where a policy may draft further than its prices go."""
    if gamma > prices.gamma_max:
        raise ValueError(
            f"{policy} drafts up to {gamma} tokens, but prices end at {prices.gamma_max}: raise "
            "gamma_max, or draft less (drafter and acceptance may know no more)"
        )
