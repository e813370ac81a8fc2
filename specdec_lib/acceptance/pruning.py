"""Pruning, played out: what a first stage that drops drafted tokens does to the committed ones.

Dropping is not lossless by itself.  It is with a greedy target; with sampling it is where, given
the tokens before, the decision to keep a token does not depend on that token; else the draw behind
a drop must be mended.
"""

from __future__ import annotations

import functools
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.acceptance.verification import Played, check_lengths, draws, law_rows, play
from specdec_lib.formula.domain import as_float, check

Mend = Literal["none", "residual", "survivors"]


def draft_prune_and_verify(
    p: ArrayLike,
    q: ArrayLike,
    keep: ArrayLike,
    *,
    gamma: int,
    steps: int,
    rng: np.random.Generator,
    mend: Mend = "none",
) -> Played:
    """Steps of speculative sampling with a first stage, each token drawn and each verdict tossed.

    As :func:`~specdec_lib.acceptance.draft_and_verify`, but a draft is cut at the first token that
    the first stage drops, and the target draws the next token itself.

    Parameters
    ----------
    p, q
        What target and drafter expect next: probabilities by token, or one row of them for each
        token that may have come before.
    keep
        The chance that the first stage keeps a drafted token, in the same shape.
    gamma, steps, rng
        Draft length, from 0 on; steps in all, at least one; where the draws come from.
    mend
        "none": after a drop the target draws from p, as after a draft that was short.
        "residual": after a drop or a rejection it draws from what p has in excess of
        keep·min(p, q).  "survivors": kept tokens are verified against their own law, ∝ q·keep.

    Raises DomainError for what is no law or chance, ValueError for shapes, numbers or a ``mend``
    that do not fit.
    """
    target, drafter = law_rows("the target's law", "p", p), law_rows("the drafter's law", "q", q)
    kept = np.asarray(as_float("h", keep))
    if kept.ndim == 1:
        kept = np.tile(kept, (len(target), 1))
    if not target.shape == drafter.shape == kept.shape:
        raise ValueError(
            f"target, drafter and first stage share a vocabulary; their shapes are {target.shape}, "
            f"{drafter.shape} and {kept.shape}"
        )
    check("the first stage", {"h": kept})
    check_lengths(gamma, steps)
    if mend not in get_args(Mend):
        raise ValueError(f"mend = {mend!r}; it is one of {', '.join(get_args(Mend))}")
    laws = _Laws(target, drafter, kept, mend)
    followed = np.zeros(target.shape, dtype=np.int64)
    step = functools.partial(_step, laws, gamma=gamma, followed=followed, rng=rng)
    return Played(play(step, len(target), steps, rng), followed)


class _Laws:
    """By token before: the drafter's law and the first stage, the law against which kept tokens are
    verified, and the target's own draws after a drop, a rejection and a whole draft."""

    def __init__(self, target: Floats, drafter: Floats, keep: Floats, mend: Mend) -> None:
        self.target, self.drafter, self.keep = target, drafter, keep
        self.against = drafter
        if mend == "survivors":
            mass = drafter * keep
            total = mass.sum(axis=1, keepdims=True)
            self.against = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
        self.rejected = np.maximum(target - self.against, 0)
        self.dropped = target
        if mend == "residual":
            self.rejected = self.dropped = target - keep * np.minimum(target, drafter)


def _step(
    laws: _Laws,
    last: NDArray[np.int64],
    gamma: int,
    followed: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One step of every sequence: drafted tokens committed, and the last token committed."""
    count = len(last)
    passed_tokens = np.zeros(count, dtype=np.int64)
    going, before = np.ones(count, dtype=bool), last.copy()
    own = laws.target[before]
    for _ in range(gamma):
        guess = draws(laws.drafter[before], rng)
        kept = going & (rng.random(count) < laws.keep[before, guess])
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = laws.target[before, guess] / laws.against[before, guess]
        passed = kept & (rng.random(count) < chance)
        own = np.where((going & ~kept)[:, None], laws.dropped[before], own)
        own = np.where((kept & ~passed)[:, None], laws.rejected[before], own)
        np.add.at(followed, (before[passed], guess[passed]), 1)
        before = np.where(passed, guess, before)
        own = np.where(passed[:, None], laws.target[before], own)
        passed_tokens += passed
        going = passed
    following = draws(own, rng)
    np.add.at(followed, (before, following), 1)
    return passed_tokens, following
