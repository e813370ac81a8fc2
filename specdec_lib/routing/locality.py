"""Locality: how many independent tokens a run of successive ones is worth, and its exponent.

A count of distinct experts is turned into the number of independent tokens that would touch as
many, under whatever popularity the experts have.  Equal popularity gives the exponent of
:data:`specdec_lib.formulas.experts.local_experts`; a measured one gives an exponent that does not
contain the skew.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.routing.popularity import distinct_experts_by_popularity

Floats = NDArray[np.float64]

#: Halvings of the interval in which the number of tokens is sought: to the last bits of a float.
_HALVINGS = 80


def distinct_experts_of_runs(
    B: ArrayLike, T: ArrayLike, locality: ArrayLike, inclusion: ArrayLike
) -> Floats | float:
    """Expected distinct experts of B runs of T successive tokens: Σₑ 1 − (1 − pₑ)^(B·T^ℓ).

    Parameters
    ----------
    B, T, locality
        Runs, tokens of each, and the exponent ℓ; they broadcast.  For more than one run it is an
        extrapolation: runs are taken as independent, and every expert as equally local.
    inclusion
        Chance that one token uses each expert, on the last axis, as in
        :func:`specdec_lib.routing.distinct_experts_by_popularity`; its axes before the last
        broadcast with the others.

    Returns
    -------
    Array of the broadcast shape, or a float.

    Raises
    ------
    DomainError
        For a run or batch of less than one, an exponent outside [0, 1], or as that function.
    """
    given = {"B": as_float("B", B), "T": as_float("T", T)}
    given["locality"] = as_float("locality", locality)
    check("distinct experts of runs", given)
    worth = given["B"] * given["T"] ** given["locality"]
    return distinct_experts_by_popularity(worth, inclusion)


def independent_tokens(distinct: ArrayLike, inclusion: ArrayLike) -> Floats | float:
    """Independent tokens that touch as many experts as were counted: the skewed law, inverted.

    Parameters
    ----------
    distinct
        Counted or expected distinct experts; any shape.
    inclusion
        Chance that one token uses each expert, one row; see
        :func:`specdec_lib.routing.inclusion_probabilities`.

    Returns
    -------
    Array shaped like ``distinct``, or a float; infinite where every expert that is ever used has
    been touched.

    Raises
    ------
    DomainError
        For fewer than no experts, or more than are ever used; for an ``inclusion`` that is not one
        row or has a probability outside [0, 1].
    """
    chances = np.asarray(inclusion, dtype=np.float64)
    if chances.ndim != 1:
        raise DomainError(f"inclusion is one row of experts here, not of shape {chances.shape}")
    counted = np.asarray(as_float("A", distinct))
    check("independent tokens", {"A": counted})
    used = float(np.count_nonzero(chances))
    if np.any(counted > used):
        raise DomainError(
            f"{float(np.max(counted)):g} distinct experts were counted; only {used:g} are ever used"
        )
    low = np.zeros(counted.shape)
    high = np.ones(counted.shape)
    while np.any(short := (_touched(high, chances) < counted) & np.isfinite(high)):
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        if np.max(high) > 1e300:  # all that is left to touch rounds to nothing
            raise DomainError("a popularity too steep to be told apart from experts never used")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = _touched(middle, chances) < counted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found = np.where(counted == used, np.inf, np.where(counted == 0, 0.0, (low + high) / 2))
    return float(found) if found.ndim == 0 else found


def _touched(tokens: Floats, chances: Floats) -> Floats:
    return np.asarray(distinct_experts_by_popularity(tokens, chances))


def locality_exponents(
    tokens: ArrayLike, distinct: ArrayLike, inclusion: ArrayLike
) -> Floats | float:
    """The exponent ℓ that each count asks for alone: T tokens count for T^ℓ independent ones.

    Parameters
    ----------
    tokens, distinct
        Tokens of a run, more than one each, and the distinct experts that they touch; they
        broadcast.
    inclusion
        As in :func:`independent_tokens`; equal chances k/E give exponents that contain the skew.

    Raises DomainError for a run of at most one token, or as :func:`independent_tokens` does.
    """
    run = np.asarray(as_float("T", tokens))
    if np.any(run <= 1):
        raise DomainError("a single token says nothing about locality; leave it out")
    worth = np.asarray(independent_tokens(distinct, inclusion))
    exponents = np.log(worth) / np.log(run)
    return float(exponents) if exponents.ndim == 0 else np.asarray(exponents)


def fit_locality(tokens: ArrayLike, distinct: ArrayLike, inclusion: ArrayLike) -> float:
    """The exponent ℓ of a whole table of runs, by least squares of the logarithms.

    It is the slope, through the origin, of the logarithm of the independent tokens over that of
    the tokens, so that relative deviations count alike.  A run of one token lies on every such
    line and changes nothing.

    Arguments and errors as of :func:`locality_exponents`, but runs of one token may be among the
    ``tokens``.
    """
    run, counted = np.broadcast_arrays(as_float("T", tokens), as_float("A", distinct))
    check("locality", {"T": run})
    longer = run > 1
    if not np.any(longer):
        raise DomainError("a locality needs runs of more than one token")
    exponents = np.asarray(locality_exponents(run[longer], counted[longer], inclusion))
    if not np.all(np.isfinite(exponents)):
        raise DomainError("a run has touched every expert: such a count says nothing of locality")
    weight = np.log(run[longer]) ** 2
    return float(np.sum(weight * exponents) / np.sum(weight))
