"""Popularity: distinct experts where some are more popular, by a sum and by simulation.

These are sums over a vector of experts, so they are functions and not Formulas.  The uniform law
is :data:`specdec_lib.formulas.experts.distinct_experts`; with equal popularity they agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.formula.domain import (
    DomainError,
    as_float,
    as_scalar,
    check,
    floats,
    require_one_shape,
)

Floats = NDArray[np.float64]

#: How far a sum of shares or chances may be from a whole number by rounding alone.
_ROUNDING = 1e-9


def inclusion_probabilities(popularity: ArrayLike, k: float) -> Floats:
    """Chance that one token uses each expert, from the experts' shares of all assignments.

    Parameters
    ----------
    popularity
        Non-negative weights of the experts on the last axis, any scale; counts will do.
    k
        Experts per token.

    Returns
    -------
    Array shaped like ``popularity``; it sums to k over the last axis.

    Raises
    ------
    DomainError
        For a negative weight, no weight at all, or an expert so popular that k times its share
        exceeds one: no token uses an expert twice, so such shares are not those of a top-k router.
    TypeError
        For weights that are no real numbers, or more than one k.
    """
    weights = np.asarray(floats("popularity (weights of the experts)", popularity))
    if weights.ndim == 0 or weights.shape[-1] == 0:
        raise DomainError("popularity needs at least one expert on its last axis")
    k = as_scalar("k", k)
    check("inclusion probabilities", {"k": k, "E": float(weights.shape[-1])})
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise DomainError("popularity must be finite and not negative for every expert")
    most = weights.max(axis=-1, keepdims=True)
    if not np.all(most > 0):
        raise DomainError("popularity is zero for every expert")
    weights = weights / most  # so that no sum overflows
    inclusion = k * weights / weights.sum(axis=-1, keepdims=True)
    # a share may exceed 1/k by rounding alone, as with k = E
    if np.any(inclusion > 1 + _ROUNDING):
        expert = tuple(int(i) for i in np.argwhere(inclusion > 1 + _ROUNDING)[0])
        raise DomainError(
            f"expert {expert[-1]} takes {inclusion[expert] / k:.3g} of all assignments, more than "
            f"the 1/k = {1 / k:.3g} that top-{k:g} routing can give one expert"
        )
    return np.asarray(np.minimum(inclusion, 1.0))


def distinct_experts_by_popularity(n: ArrayLike, inclusion: ArrayLike) -> Floats | float:
    """Expected distinct experts that n independent tokens touch: Σₑ 1 − (1 − pₑ)ⁿ.

    Parameters
    ----------
    n
        Tokens in a step; any shape.
    inclusion
        Chance pₑ that one token uses expert e, on the last axis; the axes before it broadcast
        with ``n`` (layers, say).  See :func:`inclusion_probabilities`.

    Returns
    -------
    Array of the broadcast shape of ``n`` and ``inclusion`` without its last axis, or a float.

    Raises
    ------
    DomainError
        For tokens below zero or a probability outside [0, 1].
    TypeError
        For what is no real number.
    ValueError
        For shapes that do not broadcast.
    """
    # one expert (E = k = 1) of the uniform law, with p in the place of k/E
    touched = -np.expm1(_log_missed("distinct experts by popularity", n, inclusion)).sum(axis=-1)
    return float(touched) if touched.ndim == 0 else np.asarray(touched)


def _log_missed(title: str, n: ArrayLike, inclusion: ArrayLike) -> Floats:
    """Logarithm of the chance (1 − pₑ)ⁿ that n tokens leave expert e untouched; experts on the last
    axis."""
    p = np.asarray(as_float("inclusion", inclusion))
    if p.ndim == 0 or p.shape[-1] == 0:
        raise DomainError("inclusion needs at least one expert on its last axis")
    tokens = np.asarray(as_float("n", n))
    check(title, {"n": tokens, "inclusion": p})
    require_one_shape(title, {"n": tokens, "inclusion, but for its experts,": p[..., 0]})
    tokens = tokens[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(tokens == 0, 0.0, tokens * np.log1p(-p))


def simulate_distinct_experts(
    n: int, E: int, k: int, trials: int, seed: int | np.random.Generator
) -> NDArray[np.int64]:
    """Distinct experts that n tokens touched, in each of ``trials`` simulated steps.

    Every token draws k of E experts without replacement, all sets alike.  Returns an integer array
    of shape (trials,).  Raises DomainError for k > E or fewer than one trial, TypeError for counts
    that are no integers.
    """
    for name, count in (("n", n), ("E", E), ("k", k), ("trials", trials)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise TypeError(f"{name} is a count, so an integer, not {count!r}")
    check("simulated experts", {"n": float(n), "E": float(E), "k": float(k)})
    if trials < 1:
        raise DomainError(f"trials = {trials}: at least one is needed")
    generator = np.random.default_rng(seed)
    touched = np.zeros((trials, E), dtype=bool)
    # a token at a time, so that memory stays trials × E; the k smallest of E random keys are a
    # uniform draw without replacement
    for _ in range(n):
        chosen = np.argpartition(generator.random((trials, E)), k - 1, axis=-1)[:, :k]
        np.put_along_axis(touched, chosen, True, axis=-1)
    distinct: NDArray[np.int64] = touched.sum(axis=-1, dtype=np.int64)
    return distinct


def moment_z_scores(sample: ArrayLike, mean: float, variance: float) -> tuple[float, float]:
    """How far a sample's mean and variance lie from those of a law, in standard errors.

    Parameters
    ----------
    sample
        Independent draws, such as :func:`simulate_distinct_experts` returns.
    mean, variance
        What the law says.

    Returns
    -------
    (z of the mean, z of the variance).  If the law is right, each is about a standard normal
    number.  The error of the variance is taken from the fourth moment of the sample, so that the
    draws need not be normal.

    Raises
    ------
    DomainError
        For a sample of fewer than two draws, or a law or a sample without spread, where a standard
        error is zero.
    TypeError
        For what is no real number.
    """
    draws = np.asarray(floats("sample (draws)", sample))
    mean, variance = (_one(name, v) for name, v in (("mean", mean), ("variance", variance)))
    if draws.ndim != 1 or draws.size < 2:
        raise DomainError(f"a sample is one row of at least two draws, not shape {draws.shape}")
    if not np.all(np.isfinite(draws)):
        raise DomainError("a draw of the sample is not finite")
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (draws - draws.mean()) ** 2
        spread = float(squares.var())
    if not np.isfinite(spread):
        raise DomainError("the sample is too wide: its fourth moment goes beyond floating point")
    if not (np.isfinite(mean) and 0 < variance < np.inf):
        raise DomainError(f"no standard error with mean {mean:g} and variance {variance:g}")
    if spread == 0:
        raise DomainError("the sample has no spread, so its variance has no standard error")
    off = float(draws.mean()) - mean, float(draws.var(ddof=1)) - variance
    count = float(draws.size)
    return off[0] / float(np.sqrt(variance / count)), off[1] / float(np.sqrt(spread / count))


def _one(name: str, value: float) -> float:
    """One real number that is no symbol of the notation."""
    number = floats(name, value)
    if np.ndim(number) != 0:
        raise TypeError(f"{name} is one number, not an array")
    return float(number)


def skew_equivalent_tokens(n: ArrayLike, inclusion: ArrayLike) -> Floats | float:
    """Tokens that the uniform law would need to touch as many experts as n skewed ones do.

    Shapes as in :func:`distinct_experts_by_popularity`; experts that are never used count as
    experts of the layer.  Raises as that function does, and DomainError where a token uses less
    than one expert.
    """
    title = "skew-equivalent tokens"
    missed = _log_missed(title, n, inclusion)
    p = np.asarray(as_float("inclusion", inclusion))
    experts, k = p.shape[-1], p.sum(axis=-1)
    k = np.where(np.abs(k - 1) <= _ROUNDING, 1.0, k)
    check(title, {"k": k})
    share = -np.expm1(missed).mean(axis=-1)
    most = missed.max(axis=-1, keepdims=True)
    highest = np.where(np.isfinite(most), most, 0.0)  # −∞ where all experts are certain
    with np.errstate(divide="ignore", invalid="ignore"):
        # few experts are touched, or few are missed: each logarithm is exact where the other is not
        few = np.log1p(-share)
        many = highest[..., 0] + np.log(np.exp(missed - highest).mean(axis=-1))
        uniform = np.log1p(-np.minimum(k / experts, 1.0))
        tokens = np.where(share < 0.5, few, many) / uniform + 0.0  # no tokens are 0, not −0
    # where a token touches every expert the layer is uniform
    tokens = np.where(np.isinf(uniform), np.asarray(as_float("n", n)), tokens)
    return float(tokens) if tokens.ndim == 0 else np.asarray(tokens)
