"""Threshold: shorten or stop where acceptance falls below a line, as the rule of thumb says.

The rule looks at acceptance alone.  What a drafted token costs is not in it, so that it speculates
where verification is dear and stops where it is nearly free.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from specdec_lib.control.policy import (
    Outcome,
    Policy,
    State,
    check_length,
    check_priced,
    check_share,
)
from specdec_lib.control.prices import Prices
from specdec_lib.formulas.counting import counted_rate

Rate = Literal["conditional", "drafted"]


class Threshold(Policy):
    """Drafts ``gamma`` tokens, fewer or none while the acceptance of a window lies below ``low``,
    more again where it lies above ``high``; between the two it stays as it is.

    Once off it pauses and then drafts short trials, so that off is not for ever: a drafter that has
    recovered is found, at the price of a trial now and then.

    Parameters
    ----------
    gamma
        The longest draft, which it starts with.
    low, high
        The 60 to 70 % of the rule by default.  Equal ones leave no hysteresis.
    window
        Judged tokens in an estimate; of 256 at 65 % the standard error is 3 %.
    shorten
        Whether it goes down token by token, or stops at once.
    pause
        Plain rounds before a trial; infinity never tries again, as one engine does.
    trial
        Judged tokens of a trial, drafted one at a time.
    rate
        "conditional": accepted over judged tokens, those after a rejection left out, which is α.
        "drafted": accepted over drafted tokens, as engines count; it falls with the draft length,
        so that a long draft looks worse than it is.

    Raises TypeError or ValueError for what lies outside its range.
    """

    def __init__(
        self,
        gamma: int,
        *,
        low: float = 0.60,
        high: float = 0.70,
        window: int = 256,
        shorten: bool = True,
        pause: float = 200,
        trial: int = 64,
        rate: Rate = "conditional",
    ) -> None:
        self.gamma = check_length("gamma", gamma, 1)
        self.low = check_share("low", low)
        self.high = check_share("high", high)
        if low > high:
            raise ValueError(f"low = {low:g} lies above high = {high:g}")
        self.window = check_length("window", window, 1)
        self.trial = check_length("trial", trial, 1)
        self.pause = check_share("pause", pause, 1, float("inf"))
        self.shorten = bool(shorten)
        if rate not in ("conditional", "drafted"):
            raise ValueError(f"rate = {rate!r}; it is 'conditional' or 'drafted'")
        self.rate: Rate = rate
        self._reset()

    def _reset(self) -> None:
        self.length = self.gamma
        self._idle = 0
        self._clear()

    def _clear(self) -> None:
        self._rounds: deque[tuple[int, int]] = deque()
        self._tried = self._passed = 0

    @property
    def name(self) -> str:
        """See :attr:`Policy.name`."""
        return f"threshold {self.gamma}"

    @property
    def estimate(self) -> float:
        """Acceptance in the window; 0 while nothing was judged."""
        return float(counted_rate(accepted=self._passed, drafted=self._tried))

    def start(self, prices: Prices) -> None:
        """See :meth:`Policy.start`."""
        check_priced(self.name, self.gamma, prices)
        self._reset()

    def choose(self, state: State) -> int:  # noqa: ARG002
        """The length in force; one token in a trial."""
        if self.length:
            return self.length
        return 1 if self._idle >= self.pause else 0

    def told(self, state: State, outcome: Outcome) -> None:
        """Count, and change the length where the window is full."""
        if outcome.gamma == 0:
            self._idle += 1
            return
        passed = outcome.total
        drafted = state.batch * outcome.gamma
        tried = outcome.judged if self.rate == "conditional" else drafted
        self._rounds.append((tried, passed))
        self._tried += tried
        self._passed += passed
        needed = self.window if self.length else self.trial
        while self._tried - self._rounds[0][0] >= needed:
            old = self._rounds.popleft()
            self._tried -= old[0]
            self._passed -= old[1]
        if self._tried >= needed:
            self._judge(self._passed / self._tried)

    def _judge(self, rate: float) -> None:
        step = 1 if self.shorten else self.gamma
        if not self.length:  # a trial is over: on again, or another pause
            self._idle = 0
            self._clear()
            self.length = min(step, self.gamma) if rate > self.high else 0
        elif rate < self.low:
            self._move(max(self.length - step, 0))
        elif rate > self.high:
            self._move(min(self.length + step, self.gamma))

    def _move(self, length: int) -> None:
        if length != self.length:
            # what the old length brought says nothing of the new one
            self.length, self._idle = length, 0
            self._clear()
