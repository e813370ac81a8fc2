"""Routing that is not uniform: distinct experts over a measured popularity, and by simulation.

These are sums over a vector of experts, so they are functions and not Formulas.  The uniform law
is :data:`specdec_lib.formulas.experts.distinct_experts`; with equal popularity they agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.formulas.experts import tokens_to_cover

Floats = NDArray[np.float64]


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
    """
    weights = np.asarray(popularity, dtype=np.float64)
    if weights.ndim == 0 or weights.shape[-1] == 0:
        raise DomainError("popularity needs at least one expert on its last axis")
    check("inclusion probabilities", {"k": as_float("k", k), "E": np.float64(weights.shape[-1])})
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise DomainError("popularity must be finite and not negative for every expert")
    total = weights.sum(axis=-1, keepdims=True)
    if not np.all(total > 0):
        raise DomainError("popularity is zero for every expert")
    inclusion = k * weights / total
    # a share may exceed 1/k by rounding alone, as with k = E
    if np.any(inclusion > 1 + 1e-9):
        expert = tuple(int(i) for i in np.argwhere(inclusion > 1 + 1e-9)[0])
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
    """
    p = np.asarray(inclusion, dtype=np.float64)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise DomainError("inclusion needs at least one expert on its last axis")
    if not np.all((p >= 0) & (p <= 1)):
        raise DomainError("an inclusion probability lies outside [0, 1]")
    tokens = np.asarray(as_float("n", n))
    check("distinct experts by popularity", {"n": tokens})
    with np.errstate(divide="ignore", invalid="ignore"):
        # one expert (E = k = 1) of the uniform law, with p in the place of k/E
        exponent = np.where(tokens[..., None] == 0, 0.0, tokens[..., None] * np.log1p(-p))
    touched = -np.expm1(exponent).sum(axis=-1)
    return float(touched) if touched.ndim == 0 else np.asarray(touched)


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
    """
    draws = np.asarray(sample, dtype=np.float64)
    if draws.ndim != 1 or draws.size < 2:
        raise DomainError(f"a sample is one row of at least two draws, not shape {draws.shape}")
    squares = (draws - draws.mean()) ** 2
    spread = float(squares.var())
    if not np.all(np.isfinite(draws)):
        raise DomainError("a draw of the sample is not finite")
    if not (np.isfinite(mean) and 0 < variance < np.inf):
        raise DomainError(f"no standard error with mean {mean:g} and variance {variance:g}")
    if spread == 0:
        raise DomainError("the sample has no spread, so its variance has no standard error")
    off = float(draws.mean()) - mean, float(draws.var(ddof=1)) - variance
    count = float(draws.size)
    return off[0] / float(np.sqrt(variance / count)), off[1] / float(np.sqrt(spread / count))


def skew_equivalent_tokens(n: ArrayLike, inclusion: ArrayLike) -> Floats | float:
    """Tokens that the uniform law would need to touch as many experts as n skewed ones do.

    Shapes as in :func:`distinct_experts_by_popularity`; experts that are never used count as
    experts of the layer.  Raises DomainError as that function does.
    """
    p = np.asarray(inclusion, dtype=np.float64)
    touched = distinct_experts_by_popularity(n, p)
    experts = p.shape[-1]
    k = np.minimum(p.sum(axis=-1), experts)
    return tokens_to_cover(coverage=np.asarray(touched) / experts, E=experts, k=k)  # type: ignore[no-any-return]
