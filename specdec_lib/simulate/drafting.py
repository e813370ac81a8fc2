"""Drafting: how far the drafts of a batch get, drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control import FirstStage

Ints = NDArray[np.int64]

#: Numbers drawn at a time.
BLOCK = 1 << 16


class Coins:
    """Uniform random numbers, drawn in blocks: a draw of a few costs a microsecond."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._block = rng.random(BLOCK)
        self._used = 0

    def take(self, count: int) -> Floats:
        """``count`` numbers in [0, 1); not to be written to."""
        if self._used + count > len(self._block):
            self._block = self._rng.random(max(BLOCK, count))
            self._used = 0
        found = self._block[self._used : self._used + count]
        self._used += count
        return found


class Judged(NamedTuple):
    """Tokens of each sequence's draft: ``accepted`` by both stages, and ``verified`` in the full
    pass."""

    accepted: Ints
    verified: Ints | None


def right_tokens(survival: Floats, coins: Coins, count: int) -> Ints:
    """How many tokens of each draft the target would accept before the first that it would not.

    ``survival`` is [position] for all sequences, or [sequence, position].
    """
    tossed = coins.take(count)
    if survival.ndim == 1:
        # survival falls, so that the positions at which it exceeds a coin are the first ones
        rising = survival[::-1]
        return np.asarray(len(rising) - rising.searchsorted(tossed, side="right"))
    return np.asarray((survival > tossed[:, None]).sum(axis=1))


def judged(right: Ints, gamma: int, stage: FirstStage | None, coins: Coins) -> Judged:
    """What becomes of drafts of γ tokens of which the first ``right`` ones are right.

    A first stage keeps right tokens and wrong ones with chances of its own and cuts a draft at the
    first that it does not keep; after a wrong token all count as wrong.
    """
    accepted = np.minimum(right, gamma)
    if stage is None:
        return Judged(accepted, None)
    good = _run(stage.keep_good, coins, len(right))
    bad = _run(stage.keep_bad, coins, len(right))
    cut = good < accepted
    passed = np.where(cut, good, accepted)
    behind = np.minimum(bad, gamma - accepted)
    return Judged(passed, np.where(cut, good, accepted + behind))


def _run(keep: float, coins: Coins, count: int) -> Ints:
    """How many tokens in a row are kept when each is with the chance ``keep``."""
    tossed = coins.take(count)
    if keep >= 1:
        return np.full(count, np.iinfo(np.int64).max)
    if keep <= 0:
        return np.zeros(count, dtype=np.int64)
    # the run is n or longer with chance keepⁿ, and a coin lies below that as often
    run = np.log(np.maximum(tossed, np.finfo(np.float64).tiny)) / np.log(keep)
    return np.asarray(np.floor(np.minimum(run, 1e9)), dtype=np.int64)
