"""Loads: simulated steps of a router with favourites, and the device that gets the most experts.

What a step waits for is a maximum over devices, which has no short formula; it is counted here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.formula.domain import DomainError, check

Hits = NDArray[np.bool_]


def simulate_touched(
    n: int, inclusion: ArrayLike, trials: int, seed: int | np.random.Generator
) -> Hits:
    """Which experts n independent tokens touch, in each of ``trials`` simulated steps.

    Every token draws exactly k different experts, k being the sum of ``inclusion``, and uses each
    expert with exactly its own chance: the chances are laid end to end in random order and cut at
    k points one apart, from a random start.

    Parameters
    ----------
    n
        Tokens in a step.
    inclusion
        Chance that one token uses each expert, one row that sums to a whole number; see
        :func:`specdec_lib.routing.inclusion_probabilities`.
    trials, seed
        Simulated steps, and a seed or generator.

    Returns
    -------
    Boolean array of shape (trials, experts).

    Raises
    ------
    DomainError
        For chances that are not one row of probabilities, or do not sum to a whole number; for
        fewer than no tokens or one trial.
    TypeError
        For counts that are no integers.
    """
    for name, count in (("n", n), ("trials", trials)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise TypeError(f"{name} is a count, so an integer, not {count!r}")
    check("simulated experts", {"n": np.float64(n)})
    if trials < 1:
        raise DomainError(f"trials = {trials}: at least one is needed")
    chances = np.asarray(inclusion, dtype=np.float64)
    if chances.ndim != 1 or not np.all((chances >= 0) & (chances <= 1)):
        raise DomainError("inclusion is one row of probabilities in [0, 1]")
    k = round(float(chances.sum()))
    if k < 1 or abs(float(chances.sum()) - k) > 1e-6:
        raise DomainError(
            f"the chances sum to {chances.sum():g}; a token uses a whole number of experts"
        )
    generator = np.random.default_rng(seed)
    touched = np.zeros((trials, chances.size), dtype=bool)
    # a token at a time, so that memory stays trials × experts
    for _ in range(n):
        order = np.argsort(generator.random(touched.shape), axis=-1)
        ends = np.cumsum(chances[order], axis=-1)
        ends *= k / ends[:, -1:]  # k cuts fall in, whatever the rounding
        cuts = np.floor(ends - generator.random((trials, 1)))
        chosen = np.diff(cuts, axis=-1, prepend=-1.0) > 0
        np.put_along_axis(touched, order, np.take_along_axis(touched, order, -1) | chosen, -1)
    return touched


def fullest_device(touched: Hits, G: int) -> NDArray[np.int64]:
    """Distinct experts that the fullest of G devices reads, in each step.

    Parameters
    ----------
    touched
        Whether each expert is touched, experts on the last axis, as :func:`simulate_touched`
        returns.  Devices hold equal blocks of experts in this order.
    G
        Devices; they must divide the experts.

    Returns
    -------
    Integer array of the shape of ``touched`` without its last axis.

    Raises
    ------
    DomainError
        For devices that do not divide the experts.
    TypeError
        For ``touched`` that is not boolean or a G that is no integer.
    """
    hits = np.asarray(touched)
    if hits.dtype != np.bool_ or hits.ndim == 0:
        raise TypeError("touched says of each expert whether it is touched: a boolean array")
    if isinstance(G, bool) or not isinstance(G, int | np.integer):
        raise TypeError(f"G is a count of devices, so an integer, not {G!r}")
    experts = hits.shape[-1]
    if G < 1 or experts % G:
        raise DomainError(f"{experts} experts do not divide among G = {G} devices")
    on_each = hits.reshape(*hits.shape[:-1], G, experts // G).sum(axis=-1, dtype=np.int64)
    return np.asarray(on_each.max(axis=-1))
