"""Draft and verify, played out: what a step commits when both models are known laws over tokens."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.formula.domain import DomainError, as_float, check

#: How far the probabilities of a law may sum from 1: the rounding of what was typed.
_ROUNDING = 1e-9

#: From the last tokens of some sequences, what a step commits in each and the tokens they end with.
Step = Callable[[NDArray[np.int64]], tuple[NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True)
class Played:
    """What a simulation committed.

    ``kept`` is the number of drafted tokens that each step accepted, ``followed`` counts how often
    token y (column) was committed after token x (row).
    """

    kept: NDArray[np.int64]
    followed: NDArray[np.int64]

    @property
    def tokens(self) -> Floats:
        """Tokens that each step committed: those kept, and one of the target's own."""
        return (self.kept + 1).astype(np.float64)

    @property
    def law(self) -> Floats:
        """Committed tokens by kind, as shares of all."""
        shares: Floats = self.followed.sum(axis=0) / float(self.followed.sum())
        return shares

    @property
    def law_after(self) -> Floats:
        """Committed tokens by kind, as shares of all that came after each token (row)."""
        each = self.followed.astype(np.float64)
        shares: Floats = each / each.sum(axis=1, keepdims=True)
        return shares


def law_rows(title: str, keyword: str, law: ArrayLike) -> Floats:
    """A law over tokens as a row for each token before.

    Raises DomainError for what is no law, ValueError for another shape.
    """
    rows = np.asarray(as_float(keyword, law))
    if rows.ndim == 1:
        rows = np.tile(rows, (len(rows), 1))
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or not rows.size:
        raise ValueError(
            f"{title} is one probability a token, or a square of them, one row for each token "
            f"before; not of the shape {np.shape(law)}"
        )
    check(title, {keyword: rows})
    total = rows.sum(axis=1)
    if np.any(np.abs(total - 1) > _ROUNDING):
        raise DomainError(f"{title}: the probabilities sum to {total.min():g}, not to 1")
    return rows


def draws(rows: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """One token from each row of weights, which need not sum to one."""
    edges = rows.cumsum(axis=1)
    coins = rng.random((len(rows), 1)) * edges[:, -1:]
    return np.asarray((coins >= edges).sum(axis=1), dtype=np.int64)


def draft_and_verify(
    p: ArrayLike, q: ArrayLike, *, gamma: int, steps: int, rng: np.random.Generator
) -> Played:
    """Steps of speculative sampling, each token drawn and each verdict tossed.

    A thousand sequences are written side by side, each from a token of its own.  In a step the
    drafter draws ``gamma`` tokens, one after the other; the target keeps each with the chance
    min(1, p/q) until one falls, draws in its place from what p has in excess of q, or, where all
    are kept, one more token from p.

    Parameters
    ----------
    p, q
        What target and drafter expect next: probabilities by token, or one row of them for each
        token that may have come before.
    gamma
        Draft length, from 0 on.
    steps
        Steps in all; at least one.
    rng
        Where the draws come from.

    Raises DomainError for what is no law, ValueError for shapes or numbers that do not fit.
    """
    target, drafter = law_rows("the target's law", "p", p), law_rows("the drafter's law", "q", q)
    if target.shape != drafter.shape:
        raise ValueError(
            f"target and drafter share a vocabulary, not {len(target)} and {len(drafter)} tokens"
        )
    check_lengths(gamma, steps)
    followed = np.zeros(target.shape, dtype=np.int64)
    step = functools.partial(_step, target, drafter, gamma=gamma, followed=followed, rng=rng)
    return Played(play(step, len(target), steps, rng), followed)


def check_lengths(gamma: int, steps: int) -> None:
    """Raise ValueError for a draft shorter than nothing or no step at all."""
    if gamma < 0 or steps < 1:
        raise ValueError(f"gamma = {gamma} and steps = {steps}: from 0 and from 1 on")


def play(step: Step, words: int, steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Drafted tokens committed in each of ``steps`` steps over a vocabulary of ``words``.

    ``step`` takes the last token of up to a thousand sequences and gives what each commits and
    ends with.  Sequences go on from step to step, so that a step starts where verification left
    the last.
    """
    played: list[NDArray[np.int64]] = []
    last = rng.integers(words, size=min(1000, steps))
    while steps:
        committed, last = step(last[:steps])
        played.append(committed)
        steps -= len(last)
    return np.concatenate(played)


def _step(
    target: Floats,
    drafter: Floats,
    last: NDArray[np.int64],
    gamma: int,
    followed: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One step of every sequence: drafted tokens kept, and the last token committed."""
    kept = np.zeros(len(last), dtype=np.int64)
    drafting, before = np.ones(len(last), dtype=bool), last.copy()
    fallen = np.zeros(len(last), dtype=bool)
    for _ in range(gamma):
        guess = draws(drafter[before], rng)
        chance = target[before, guess] / drafter[before, guess]
        passed = drafting & (rng.random(len(last)) < chance)
        fallen |= drafting & ~passed
        drafting = passed
        np.add.at(followed, (before[passed], guess[passed]), 1)
        before = np.where(passed, guess, before)
        kept += passed
    excess = np.maximum(target - drafter, 0)
    own = np.where(fallen[:, None], excess[before], target[before])
    following = draws(own, rng)
    np.add.at(followed, (before, following), 1)
    return kept, following
