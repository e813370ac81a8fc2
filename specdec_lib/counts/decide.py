"""Deciding: how probable it is that a draft length is the best, and how many steps would settle it.

Costs come from outside: seconds of a step for every draft length from 0 on, drafting and
verification together, or anything proportional to them.  Only their ratios count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdec_lib.counts.errors import NotCounted
from specdec_lib.counts.posterior import Posterior
from specdec_lib.formulas.counting import steps_to_decide
from specdec_lib.formulas.speculation import speedup

Floats = NDArray[np.float64]

#: Speedups this close, relative, are the same: no measurement separates them.
TIE = 1e-9


@dataclass(frozen=True)
class Decision:
    """Which draft length the counts favour, and how firmly.

    Attributes
    ----------
    gamma
        The length with the highest expected speedup.
    speedup
        Expected speedup of each length from 0 on.
    probability
        For each length from 0 on, that it is the best.
    runner_up
        The length that is hardest to tell from ``gamma``.
    more_steps
        Verify steps that are still missing until ``gamma`` is told from every other length with the
        wanted certainty; zero where it is, infinity where two lengths are equally good.
    """

    gamma: int
    speedup: tuple[float, ...]
    probability: tuple[float, ...]
    runner_up: int
    more_steps: float

    def __str__(self) -> str:
        text = (
            f"draft length {self.gamma}: speedup {self.speedup[self.gamma]:.3f}, the best with "
            f"probability {self.probability[self.gamma]:.2f}"
        )
        if self.more_steps == 0:
            return f"{text}; enough steps are counted"
        if math.isinf(self.more_steps):
            return f"{text}; {self.runner_up} is as good, and no measurement will tell them apart"
        return f"{text}; about {self.more_steps:.0f} more steps tell it from {self.runner_up}"


def decide(posterior: Posterior, cost: Sequence[float], *, certainty: float = 0.95) -> Decision:
    """The best draft length by counts and costs.

    Parameters
    ----------
    posterior
        Of the counted acceptance.
    cost
        Seconds of a step that drafts 0, 1, 2, … tokens; no longer drafts than were counted.
    certainty
        Probability, between one half and one, with which the best must be told from each other.

    Raises NotCounted for costs of longer drafts than were counted, and ValueError for costs that
    are no times.
    """
    costs = _checked(cost, posterior)
    draws = np.stack(
        [
            _speedup(posterior.tokens_draws(gamma), costs[0], costs[gamma])
            for gamma in range(len(costs))
        ]
    )
    means = draws.mean(axis=1)
    top = draws.max(axis=0)
    # equal ones count for the shorter, as everywhere
    winners = np.argmax(draws >= top * (1 - TIE), axis=0)
    probability = np.bincount(winners, minlength=len(costs)) / draws.shape[1]
    gamma = int(np.argmax(means >= means.max() * (1 - TIE)))
    needed, runner_up = _steps_needed(posterior, costs, gamma, certainty)
    have = posterior.counts.steps or 0
    return Decision(
        gamma,
        tuple(float(mean) for mean in means),
        tuple(float(p) for p in probability),
        runner_up,
        max(0.0, math.ceil(needed) - have) if math.isfinite(needed) else math.inf,
    )


def _checked(cost: Sequence[float], posterior: Posterior) -> Floats:
    costs = np.asarray(cost, dtype=np.float64)
    if costs.ndim != 1 or len(costs) < 2:
        raise ValueError("costs are a list, of a plain step and of one draft length at least")
    if not np.all(np.isfinite(costs) & (costs > 0)):
        raise ValueError(f"costs must be times above zero, not {cost!r:.60}")
    if len(costs) - 1 > posterior.length:
        raise NotCounted(
            f"costs go to draft length {len(costs) - 1}, counts to {posterior.length}: acceptance "
            "beyond is not known; leave the longer ones out, or measure them"
        )
    return costs


def _speedup(tokens: Any, plain: float, step: float) -> Any:
    return speedup(N=tokens, C_0=plain, C_verify=step, C_draft=0.0)


def _steps_needed(
    posterior: Posterior, costs: Floats, gamma: int, certainty: float
) -> tuple[float, int]:
    """Steps that tell ``gamma`` from every other length, and the length that needs the most.

    A step that would accept j tokens of a long draft commits 1 + min(j, g) of a draft of g, so the
    speedup of a length is the mean of a quantity of single steps, and the difference of two lengths
    has a standard deviation per step.  The posterior means say how often each j occurs; the plain
    counts would call three steps of one outcome certain.
    """
    if not 0.5 < certainty < 1:
        raise ValueError(f"a certainty lies between one half and one, not {certainty}")
    share = _shares(posterior)
    accepted = np.arange(len(share))
    worth = np.stack(
        [
            np.asarray(_speedup(1.0 + np.minimum(accepted, g), costs[0], costs[g]))
            for g in range(len(costs))
        ]
    )
    quantile = NormalDist().inv_cdf(certainty)
    worst, hardest = 0.0, gamma
    for other in range(len(costs)):
        if other == gamma:
            continue
        difference = worth[gamma] - worth[other]
        gap = float(share @ difference)
        deviation = math.sqrt(max(float(share @ (difference - gap) ** 2), 0.0))
        if abs(gap) <= TIE * float(worth[gamma] @ share):
            return math.inf, other
        needed = float(steps_to_decide(quantile=quantile, deviation=deviation, gap=abs(gap)))
        if needed > worst or hardest == gamma:
            worst, hardest = needed, other
    return worst, hardest


def _shares(posterior: Posterior) -> Floats:
    """Share of the steps that would accept exactly 0, 1, 2, … tokens of a draft of full length."""
    survival = np.cumprod(posterior.conditional_mean)
    return np.asarray(-np.diff([1.0, *survival, 0.0]), dtype=np.float64)
