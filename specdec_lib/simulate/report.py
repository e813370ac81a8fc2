"""Report: what a run brought, as numbers with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control import Prices
from specdec_lib.formulas.speculation import speedup
from specdec_lib.plan.regimes import REGIMES

#: Runs of rounds whose means give the uncertainty of a ratio, and the fewest rounds in one.
RUNS, SHORTEST = 50, 10

#: Quantiles of the seconds a token that requests see.
TAIL: tuple[float, ...] = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Report:
    """What a policy made of a workload.

    Attributes
    ----------
    policy, seed
        What was played.
    rounds, seconds
        Rounds, and their seconds; the time in which nobody was served is not among these.
    emitted, drafted, accepted
        Tokens that requests got, that were drafted, and that requests got of these.  An accepted
        token behind the end of its request counts as wasted.
    speedup
        The seconds that plain steps of the same batches and contexts would have taken for the same
        tokens, over those that passed.
    speedup_error
        Its standard error, from the means of runs of rounds; NaN for a run too short for one.
    batch, gamma
        Mean batch and draft length, by rounds.
    served, waiting
        Requests that were answered, and that stood in line at the end.
    tpot, wait
        Seconds a token and seconds in line of the served requests: their mean, and quantiles of
        them by :data:`TAIL`.  In a run that served none, those of the requests in service.
    lost
        Seconds that trials of the policy lost, by its own account.
    by_length, by_regime
        Seconds by draft length, and by what ruled the target's step; no regimes for a plan on a
        Formula.
    trace
        The rounds by column, if they were wanted: see :data:`specdec_lib.simulate.record.COLUMNS`.
    """

    policy: str
    seed: int
    rounds: int
    seconds: float
    emitted: int
    drafted: int
    accepted: int
    speedup: float
    speedup_error: float
    batch: float
    gamma: float
    served: int
    waiting: int
    tpot: Mapping[str, float]
    wait: Mapping[str, float]
    lost: float
    by_length: Mapping[int, float]
    by_regime: Mapping[str, float]
    trace: Mapping[str, Floats] | None = field(default=None, repr=False, compare=False)

    @property
    def bonus(self) -> int:
        """Tokens of the target's own: one of each sequence and round, but for ends of requests."""
        return self.emitted - self.accepted

    @property
    def wasted(self) -> int:
        """Drafted tokens that no request got."""
        return self.drafted - self.accepted

    @property
    def throughput(self) -> float:
        """Tokens per second of all requests together, while any was served."""
        return self.emitted / self.seconds

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Bounds between which the speedup of an endless run lies with a confidence ``level``.

        Raises ValueError for a level that is none.
        """
        if not 0 < level < 1:
            raise ValueError(f"level = {level!r}: it must lie between 0 and 1")
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.speedup_error
        return self.speedup - reach, self.speedup + reach

    def __str__(self) -> str:
        error = "" if math.isnan(self.speedup_error) else f" ± {self.speedup_error:.2g}"
        return (
            f"{self.policy}: {self.speedup:.4g}{error} times plain steps, {self.throughput:.4g} "
            f"tokens/s, {self.tpot['p50'] * 1e3:.4g} ms a token (99 %: "
            f"{self.tpot['p99'] * 1e3:.4g}), {self.wasted} of {self.drafted} drafted tokens wasted"
        )


def ratio(needed: Floats, passed: Floats) -> tuple[float, float]:
    """The ratio of two sums, and its standard error from the sums of runs of rounds."""
    value = float(needed.sum() / passed.sum())
    runs = min(RUNS, len(needed) // SHORTEST)
    if runs < 10:
        return value, math.nan
    edges = np.linspace(0, len(needed), runs + 1).astype(int)[:-1]
    above, below = np.add.reduceat(needed, edges), np.add.reduceat(passed, edges)
    spread = float(((above - value * below) ** 2).sum()) * runs / (runs - 1)
    return value, math.sqrt(spread) / float(passed.sum())


def described(values: ArrayLike) -> dict[str, float]:
    """Mean and tail of some numbers; NaN where there are none."""
    numbers = np.asarray(values, dtype=np.float64)
    names = [f"p{100 * share:g}" for share in TAIL]
    if not numbers.size:
        return dict.fromkeys(("mean", *names), math.nan)
    found = np.quantile(numbers, TAIL).tolist()
    return {"mean": float(numbers.mean()), **dict(zip(names, found, strict=True))}


def plain_seconds(columns: Mapping[str, Floats]) -> Floats:
    """By round, the seconds of plain steps for its tokens: the round's own, times its speedup."""
    won = speedup(
        N=columns["emitted"] / columns["batch"],
        C_0=columns["plain"],
        C_verify=columns["seconds"],
        C_draft=0.0,
    )
    return np.asarray(won * columns["seconds"])


def regime_seconds(columns: Mapping[str, Floats], prices: Prices) -> dict[str, float]:
    """Seconds by what ruled the target's step."""
    grid = np.asarray(prices.contexts)
    near = np.argmin(np.abs(np.log(grid[:, None] / np.unique(columns["context"]))), axis=0)
    places = near[np.unique(columns["context"], return_inverse=True)[1]]
    keys = np.stack([columns["batch"], columns["gamma"], places])
    kinds, which = np.unique(keys, axis=1, return_inverse=True)
    totals = np.bincount(which.ravel(), weights=columns["seconds"])
    found: dict[str, float] = {}
    for (batch, gamma, place), seconds in zip(kinds.T.tolist(), totals.tolist(), strict=True):
        code = prices.regime(int(batch), int(gamma), grid[int(place)])
        if code is not None:
            found[REGIMES[code]] = found.get(REGIMES[code], 0.0) + seconds
    return {name: found[name] for name in REGIMES if name in found}


def summed(columns: Mapping[str, Floats]) -> dict[str, Any]:
    """The totals and means of a report that the rounds alone give.  Raises ValueError for none."""
    if not len(columns["seconds"]):
        raise ValueError("no round was played: no request came before the end")
    value, error = ratio(plain_seconds(columns), columns["seconds"])
    lengths = columns["gamma"].astype(int)
    by_length = np.bincount(lengths, weights=columns["seconds"])
    return {
        "rounds": len(lengths),
        "seconds": float(columns["seconds"].sum()),
        "emitted": int(columns["emitted"].sum()),
        "drafted": int((columns["gamma"] * columns["batch"]).sum()),
        "accepted": int(columns["accepted"].sum()),
        "speedup": value,
        "speedup_error": error,
        "batch": float(columns["batch"].mean()),
        "gamma": float(columns["gamma"].mean()),
        "by_length": {int(g): float(by_length[g]) for g in np.unique(lengths)},
    }
