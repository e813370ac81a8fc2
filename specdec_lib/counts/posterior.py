"""Posterior: what counts say about acceptance, and how surely.

A chain stops at its first rejection, so that the steps are trials of the first position, those that
it survived are trials of the second, and so on: conditional on how many come so far, acceptance at
each position is a binomial of its own.  Under independent Beta priors the posterior is exact and a
product of Betas.  The default prior is Jeffreys', Beta(½, ½); "uniform" is Beta(1, 1).

Where the draft length changes, only the steps that offered a position are its trials.  How many of
these survived up to it is not counted; it is taken as offered × survival so far, which holds if the
length was not chosen by what would be accepted.

Steps of one request resemble each other, so that counts from few requests say less than the same
number from many; no count tells how much less, and the posterior is then too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdec_lib.counts.counts import AcceptanceCounts, tokens_from_survival
from specdec_lib.counts.errors import NotCounted
from specdec_lib.formulas.acceptance import expected_tokens_from_survival
from specdec_lib.formulas.counting import posterior_mean

Floats = NDArray[np.float64]

#: Pseudo-counts on each side by the name of the prior.
PRIORS: dict[str, float] = {"jeffreys": 0.5, "uniform": 1.0}

#: Draws from which intervals and probabilities are taken; the seed makes them the same every time.
DRAWS, SEED = 20_000, 20_260_101


@dataclass(frozen=True)
class Interval:
    """A central credible interval: a mean, and the quantiles around it."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


class Posterior:
    """Beta posteriors of the acceptance at each position of a chain.

    Parameters
    ----------
    counts
        With steps and survivors by position.
    prior
        "jeffreys" or "uniform".
    draws, seed
        Of the sample from which intervals and probabilities are taken.

    Raises NotCounted for counts without survivors by position, and for trees.
    """

    def __init__(
        self,
        counts: AcceptanceCounts,
        *,
        prior: str = "jeffreys",
        draws: int = DRAWS,
        seed: int = SEED,
    ) -> None:
        if prior not in PRIORS:
            raise ValueError(f"the prior is one of {', '.join(PRIORS)}, not {prior!r}")
        if counts.tree:
            raise NotCounted(f"{counts.found}: a tree has no acceptance by position of a chain")
        if counts.survived is None or counts.steps is None:
            raise NotCounted(
                f"{counts.found}: a posterior needs steps and survivors by position; a mean alone "
                "does not tell how sure it is"
            )
        if draws < 1:
            raise ValueError(f"a sample needs draws, not {draws}")
        self.counts = counts
        self.prior = prior
        self.successes = np.asarray(counts.survived, dtype=np.float64)
        self.trials = _trials(counts)
        weight = PRIORS[prior]
        rng = np.random.default_rng(seed)
        shape = (draws, len(self.successes))
        failures = self.trials - self.successes
        #: Draws of α₁, α₂, …: ``[draw, position − 1]``.
        self.conditional_draws: Floats = rng.beta(self.successes + weight, failures + weight, shape)
        #: Draws of σ₁, σ₂, …: ``[draw, position − 1]``.
        self.survival_draws: Floats = np.asarray(
            np.cumprod(self.conditional_draws, axis=1), dtype=np.float64
        )

    @property
    def length(self) -> int:
        """The longest draft about which the counts say anything."""
        return len(self.successes)

    @property
    def conditional_mean(self) -> tuple[float, ...]:
        """The exact posterior means of α₁, α₂, …."""
        means = posterior_mean(
            prior=PRIORS[self.prior], accepted=self.successes, offered=self.trials
        )
        return tuple(float(mean) for mean in means)

    def conditional(self, level: float = 0.9) -> tuple[Interval, ...]:
        """Acceptance at each position, with its interval of probability ``level``."""
        columns = self.conditional_draws.T
        means = self.conditional_mean
        return tuple(_interval(c, level, m) for c, m in zip(columns, means, strict=True))

    def survival(self, level: float = 0.9) -> tuple[Interval, ...]:
        """Survival to each position, with its interval of probability ``level``."""
        means = np.cumprod(self.conditional_mean)
        return tuple(
            _interval(c, level, float(m)) for c, m in zip(self.survival_draws.T, means, strict=True)
        )

    def tokens_draws(self, gamma: int) -> Floats:
        """Draws of N for a draft of ``gamma`` tokens.

        Raises NotCounted beyond the longest draft that was counted: what was never drafted was
        never accepted or rejected, and to go on is an extrapolation that the caller must make.
        """
        if not 0 <= gamma <= self.length:
            raise NotCounted(
                f"{self.counts.found}: drafts of {self.length} tokens were counted, which say "
                f"nothing about position {gamma}; measure with a longer draft, or extrapolate with "
                "an acceptance curve of your own"
            )
        if gamma == 0:
            return np.ones(len(self.survival_draws))
        columns = {f"sigma_{i + 1}": self.survival_draws[:, i] for i in range(gamma)}
        return np.asarray(expected_tokens_from_survival(gamma)(**columns), dtype=np.float64)

    def tokens(self, gamma: int | None = None, level: float = 0.9) -> Interval:
        """N for a draft of ``gamma`` tokens, by default the longest that was counted."""
        wanted = self.length if gamma is None else gamma
        draws = self.tokens_draws(wanted)
        mean = tokens_from_survival(np.cumprod(self.conditional_mean[:wanted]).tolist())
        return _interval(draws, level, mean)


def _trials(counts: AcceptanceCounts) -> Floats:
    """Steps that survived up to each position and offered it."""
    assert counts.survived is not None and counts.steps is not None
    before = np.array([counts.steps, *counts.survived[:-1]], dtype=np.float64)[
        : len(counts.survived)
    ]
    if counts.offered is None:
        return before
    offered = np.asarray(counts.offered, dtype=np.float64)
    survived = np.asarray(counts.survived, dtype=np.float64)
    share = np.divide(survived, offered, out=np.zeros_like(survived), where=offered > 0)
    reached = np.concatenate([[1.0], share[:-1]])
    # never fewer trials than successes, which rounding or chance could make
    return np.asarray(np.maximum(offered * reached, survived), dtype=np.float64)


def _interval(draws: Any, level: float, mean: float) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"a level lies within 0 and 1, not {level}")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high))
