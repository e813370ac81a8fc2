"""Engine: rounds of drafting and verifying, played one after the other under a policy.

What it leaves out: prompts are read in no time, a batch drafts one length, a step is priced at the
mean context of its batch, and changing the length costs nothing.
"""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import dataclass

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control import Outcome, Policy, Prices, State
from specdec_lib.control.two_stage import staged_time
from specdec_lib.simulate.drafting import Coins, judged, right_tokens
from specdec_lib.simulate.lengths import counted
from specdec_lib.simulate.load import Open
from specdec_lib.simulate.population import Phase
from specdec_lib.simulate.record import Record
from specdec_lib.simulate.slots import Slots
from specdec_lib.simulate.workload import Workload


@dataclass(frozen=True)
class Until:
    """When a run ends: after so many rounds, seconds or served requests, whichever comes first.

    Raises TypeError or ValueError for what is no such limit.
    """

    rounds: int = 10_000
    seconds: float = math.inf
    requests: float = math.inf

    def __post_init__(self) -> None:
        counted("rounds", self.rounds)
        for name in ("seconds", "requests"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} = {getattr(self, name)!r}: it must be above zero")


class Engine:
    """One engine, one workload, one policy, one seed.

    Prices must reach as far as the workload's contexts.  Raises ValueError where they do not fit
    together.
    """

    def __init__(self, prices: Prices, workload: Workload, policy: Policy, seed: int) -> None:
        low, high = workload.contexts
        if not prices.contexts[0] <= low <= high <= prices.contexts[-1]:
            raise ValueError(
                f"contexts of {low} to {high} tokens do not lie within the prices, "
                f"{prices.contexts[0]:g} to {prices.contexts[-1]:g}"
            )
        self.longest = int(min(prices.gamma_max, workload.population.longest))
        self.prices, self.workload = prices, workload
        self.policy = copy.deepcopy(policy)
        self.policy.start(prices)
        arrivals, requests, drafts = np.random.SeedSequence(seed).spawn(3)
        # streams of their own, so that every policy meets the same requests at the same times
        self._arrivals = workload.load.arrivals(np.random.default_rng(arrivals))
        self._next = next(self._arrivals)
        self.slots = Slots(workload, requests)
        self._coins = Coins(np.random.default_rng(drafts))
        self._tables = workload.population.tables(prices.contexts, self.longest)
        self._edges = np.asarray(prices.contexts)
        self.now = 0.0
        self.record = Record()

    def play(self, until: Until) -> Record:
        """Play rounds until the end; what they brought."""
        phases = list(self.workload.population.phases)
        served = 0
        for _ in range(until.rounds):
            if self.now >= until.seconds or served >= until.requests:
                break
            self._admit(until.seconds)
            if not self.slots.active:
                break  # nobody comes any more before the end
            while len(phases) > 1 and phases[1].start <= self.now:
                phases.pop(0)
                self._tables.pop(0)
            served += self._round(phases[0])
        if self._is_open:
            waiting = itertools.chain([self._next], self._arrivals)
            self.record.waiting = sum(
                1 for _ in itertools.takewhile(lambda come: come <= self.now, waiting)
            )
        return self.record

    @property
    def _is_open(self) -> bool:
        return isinstance(self.workload.load, Open)

    def _admit(self, end: float) -> None:
        """Fill free places with those who have come; where nobody is served, wait for the next."""
        slots, limit = self.slots, self.workload.load.batch
        if not slots.active and self._next > self.now:
            if self._next >= end:
                return
            self.now = self._next
        while slots.active < limit and self._next <= self.now:
            slots.admit(self._next if self._is_open else self.now, self.now)
            self._next = next(self._arrivals)

    def _survival(self, phase: Phase) -> Floats:
        """Survival by position of the active requests: one row where all have the same."""
        table = self._tables[0]
        if table.shape[:2] == (1, 1):
            return np.asarray(table[0, 0])
        count = self.slots.active
        shares = np.cumsum(phase.shares)[:-1]
        kind = np.searchsorted(shares, self.slots.quantile[:count], side="right")
        if table.shape[1] > 1:
            place = np.searchsorted(self._edges, self.slots.context[:count], side="left")
            return np.asarray(table[kind, np.minimum(place, table.shape[1] - 1)])
        return np.asarray(table[kind, 0])

    def _round(self, phase: Phase) -> int:
        """One round; how many requests ended with it."""
        slots, prices, policy = self.slots, self.prices, self.policy
        batch = slots.active
        context = slots.total / batch
        survival = self._survival(phase)
        truth = None
        if policy.knows_truth:
            truth = survival if survival.ndim == 1 else survival.mean(axis=0)
        state = State(batch, context, self.now, truth)
        gamma = policy.choose(state)
        if gamma > self.longest:
            raise ValueError(
                f"{policy.name} drafts {gamma} tokens; acceptance and prices are known up to "
                f"{self.longest}"
            )
        plain = prices.seconds(batch, 0, context)
        if gamma == 0:
            accepted, seconds = np.zeros(batch, dtype=np.int64), plain
        else:
            right = right_tokens(survival[..., :gamma], self._coins, batch)
            accepted, verified = judged(right, gamma, policy.stage, self._coins)
            if verified is None or policy.stage is None:
                seconds = prices.seconds(batch, gamma, context)
            else:
                full = prices.verify_total(batch, int(verified.sum()), context)
                drafting = float(prices.drafting(batch, context)[gamma])
                seconds = float(staged_time(policy.stage.cost, plain, full, drafting))
        self.now += seconds
        total = int(accepted.sum())
        policy.told(state, Outcome(gamma, accepted, total, seconds))
        given, emitted, used = accepted + 1, total + batch, total
        if not slots.endless:
            given = np.minimum(given, slots.left[:batch])
            emitted = int(given.sum())
            if emitted < total + batch:  # some end within their draft
                used = int(np.minimum(accepted, given).sum())
        self.record.add(batch, gamma, context, seconds, plain, emitted, used)
        return slots.commit(given, emitted, self.now)
