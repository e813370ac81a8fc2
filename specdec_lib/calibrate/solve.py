"""Solve: the most likely point of a fit, and how far each parameter could be from it.

Least squares on the logarithms of what was measured, each row weighted with its noise, and on the
parameters themselves, each weighted with the width of what was known before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specdec_lib.cost.grid import Floats

#: The share of probability that an interval holds.
LEVEL = 0.8

#: The relative change that ends the search: far below what any noise leaves open.
_ENOUGH = 1e-9

#: How near to a limit counts as at it.
_AT_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution, by parameter: its point, the ends of its interval, the share of the variance
    before that the rows took away, all rows and (first axis) each row by itself; and by row the
    residual, ln(predicted/measured)."""

    theta: Floats
    low: Floats
    high: Floats
    learned: Floats
    alone: Floats
    residual: Floats
    spread: float


def solve(
    residual: Callable[[Floats], Floats],
    noise: Floats,
    width: Floats,
    low: Floats,
    high: Floats,
) -> Solution:
    """The point that minimises Σ(residual/noise)² + Σ(θ/width)² between ``low`` and ``high``.

    ``spread`` is by how much the rows lie further from it than their noise explains, at least 1;
    the intervals are wider by as much.
    """
    from scipy.optimize import least_squares  # half a second that only a fit should wait for

    if not len(width):
        missed, none = residual(np.empty(0)), np.empty(0)
        return Solution(none, none, none, none, np.empty((len(noise), 0)), missed, 1.0)

    def weighted(theta: Floats) -> Floats:
        return np.concatenate([residual(theta) / noise, theta / width])

    found = least_squares(
        weighted, np.zeros(len(width)), bounds=(low, high), method="dogbox",
        xtol=_ENOUGH, ftol=_ENOUGH, gtol=_ENOUGH,
    )  # fmt: skip
    theta, rows = np.asarray(found.x), np.asarray(found.jac[: len(noise)])
    missed = residual(theta)
    spread = _spread(missed / noise, rows, width)
    before = np.diag(width**-2)
    bent = rows.T @ rows / spread**2 + before
    slope = rows.T @ (missed / noise) / spread**2 + theta / width**2
    at_low, at_high = theta - low < _AT_LIMIT, high - theta < _AT_LIMIT
    ends = _intervals(theta, bent, slope, at_low, at_high, low, high)
    left = np.diag(np.linalg.inv(bent)) / width**2
    strength = (rows * width / spread) ** 2
    alone = strength / (1 + strength.sum(axis=1, keepdims=True))
    return Solution(theta, *ends, np.clip(1 - left, 0.0, 1.0), alone, missed, spread)


def _spread(scaled: Floats, rows: Floats, width: Floats) -> float:
    """Root mean square of the residuals over the noise, for the rows that no parameter takes up."""
    taken = np.trace(rows @ np.linalg.inv(rows.T @ rows + np.diag(width**-2)) @ rows.T)
    free = len(scaled) - taken
    return max(1.0, float(np.sqrt((scaled**2).sum() / free))) if free >= 1 else 1.0


def _intervals(
    theta: Floats,
    bent: Floats,
    slope: Floats,
    at_low: np.ndarray,
    at_high: np.ndarray,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Floats]:
    """The ends of the shortest intervals of a normal law that is cut at the limits."""
    from scipy.stats import norm  # as above

    free = ~(at_low | at_high)
    deviation = 1 / np.sqrt(1 / np.diag(np.linalg.inv(bent)))
    if free.any():
        deviation[free] = np.sqrt(np.diag(np.linalg.inv(bent[np.ix_(free, free)])))
    centre = np.where(free, theta, theta - slope * deviation**2)
    below, above = norm.cdf((low - centre) / deviation), norm.cdf((high - centre) / deviation)
    inside = above - below
    reach = deviation * norm.ppf((1 + LEVEL * inside) / 2)
    lower, upper = theta - reach, theta + reach
    # what lies beyond a limit is taken from the other side
    over, under = at_high | (upper > high), at_low | (lower < low)
    cut_low = centre + deviation * norm.ppf(above - LEVEL * inside)
    cut_high = centre + deviation * norm.ppf(below + LEVEL * inside)
    return (
        np.where(under, low, np.where(over, np.minimum(cut_low, theta), lower)),
        np.where(over, high, np.where(under, np.maximum(cut_high, theta), upper)),
    )
