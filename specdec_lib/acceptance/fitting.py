"""The curve behind measured tokens per step: one rate for all positions, or one that falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.acceptance.curve import AcceptanceCurve, Floats, whole
from specdec_lib.acceptance.depth import Decaying, Geometric
from specdec_lib.formula.domain import DomainError, as_float, check

#: Points along each parameter, what one look at them narrows the search to, and the looks.
_POINTS, _KEPT, _LOOKS = 41, 0.25, 16


def _measured(lengths: ArrayLike, tokens: ArrayLike) -> tuple[Floats, Floats]:
    gamma, found = whole("gamma", lengths), np.asarray(as_float("N", tokens))
    if gamma.ndim != 1 or gamma.shape != found.shape or not gamma.size:
        raise ValueError(
            f"draft lengths and tokens are two lists of equal length, not of the shapes "
            f"{gamma.shape} and {found.shape}"
        )
    check("a fit of acceptance", {"N": found})
    if np.any(gamma < 1):
        raise DomainError("gamma = 0 drafts nothing, and tells nothing of acceptance")
    if np.any(found > gamma + 1):
        worst = int(np.argmax(found - gamma))
        raise DomainError(
            f"{found[worst]:g} tokens per step exceed gamma + 1 = {gamma[worst] + 1:g}"
        )
    return gamma, found


def relative_errors(curve: AcceptanceCurve, lengths: ArrayLike, tokens: ArrayLike) -> Floats:
    """By draft length, how far the tokens of a curve lie off measured ones, relative to these.

    Raises as :func:`fit_decaying`.
    """
    gamma, found = _measured(lengths, tokens)
    return np.asarray(curve.tokens(gamma)) / found - 1


def root_mean_square(errors: ArrayLike) -> float:
    """The size of errors: the root of the mean of their squares.

    >>> root_mean_square([3.0, -4.0, 0.0, 0.0])
    2.5
    """
    return float(np.sqrt(np.mean(np.square(np.asarray(errors, dtype=np.float64)))))


def _searched(make: Any, parameters: int, gamma: Floats, found: Floats) -> tuple[float, ...]:
    """The parameters in [0, 1] of the least sum of squared relative errors, by looking at a grid
    over ever less around the best point so far."""
    low, high = np.zeros(parameters), np.ones(parameters)
    best = low
    for _ in range(_LOOKS):
        axes = [np.linspace(*ends, _POINTS) for ends in zip(low, high, strict=True)]
        grid = np.meshgrid(*axes, indexing="ij")
        curve: AcceptanceCurve = make(*grid)
        by_length = list(curve.by_length(int(gamma.max())))
        off = sum(
            np.square(by_length[int(length)] / tokens - 1)
            for length, tokens in zip(gamma, found, strict=True)
        )
        at = np.unravel_index(int(np.argmin(off)), np.shape(off))
        best = np.array([axis[place] for axis, place in zip(axes, at, strict=True)])
        reach = (high - low) * _KEPT
        low, high = np.clip(best - reach, 0, 1), np.clip(best + reach, 0, 1)
    return tuple(float(value) for value in best)


def fit_geometric(lengths: ArrayLike, tokens: ArrayLike) -> Geometric:
    """One acceptance rate for all positions, by least squares of the relative errors of the tokens.

    Arguments and errors as for :func:`fit_decaying`.

    >>> round(float(fit_geometric([1, 2], [1.5, 1.75]).alpha), 6)
    0.5
    """
    (alpha,) = _searched(Geometric, 1, *_measured(lengths, tokens))
    return Geometric(alpha)


def fit_decaying(lengths: ArrayLike, tokens: ArrayLike) -> Decaying:
    """A rate that falls by the same factor at every position, by least squares of the relative
    errors of the tokens.

    Parameters
    ----------
    lengths
        Draft lengths, whole numbers from 1 on.
    tokens
        Measured tokens per step of each, the bonus token included.

    Returns
    -------
    A :class:`Decaying` towards zero.  It cannot rise: where measured rates do, its decay is 1.

    Raises
    ------
    DomainError
        For tokens outside [1, γ + 1], or a length of zero.
    ValueError
        For lists of different lengths, or empty ones.

    Examples
    --------
    >>> fit_decaying([1, 2, 3], Decaying(0.8, 0.5).tokens([1, 2, 3]))
    Decaying(0.8, 0.5, end=0)
    """
    alpha, decay = _searched(Decaying, 2, *_measured(lengths, tokens))
    return Decaying(alpha, decay)
