"""Measures of the speedup and its best length, with a drafter that takes a tenth of a step."""

from __future__ import annotations

import numpy as np

from specdec_lib import drafters
from specdec_lib.acceptance import Geometric
from specdec_lib.ledger.measures.steps import step
from specdec_lib.plan import Plan

__all__ = [
    "batches_without",
    "best_length",
    "best_length_change",
    "coins_over_formula",
    "rise_of_the_gain",
    "stopping_acceptance",
]


def _plan(model: str, gpu: str, engine: str, alpha: object) -> Plan:
    return Plan(step(model, gpu, engine), drafters.fraction(0.10), Geometric(alpha))


def best_length(*, model: str, gpu: str, engine: str, alpha: float, B: int, S: int) -> float:
    """The best draft length, 0 where not speculating is best."""
    return float(_plan(model, gpu, engine, alpha).best(B=B, S=S).gamma)


def best_length_change(
    *, model: str, gpu: str, engine: str, alpha: float, B: list[int], S: list[int]
) -> float:
    """The best draft length at the second of two places less that at the first."""
    first, second = _plan(model, gpu, engine, alpha).best(B=np.array(B), S=np.array(S)).gamma
    return float(second - first)


def batches_without(
    *, model: str, gpu: str, engine: str, alpha: float, B: list[int], S: int
) -> float:
    """At how many of the batches from the first to the second not speculating is best."""
    batches = np.arange(B[0], B[1] + 1)
    best = _plan(model, gpu, engine, alpha).best(B=batches, S=S)
    return float(np.count_nonzero(best.gamma == 0))


def rise_of_the_gain(*, model: str, gpu: str, engine: str, alpha: float, S: int) -> float:
    """By what the best speedup rises again after its lowest point so far, as a factor: 1 for a
    benefit that never rises with the batch, which goes up to 4 096."""
    gains = _plan(model, gpu, engine, alpha).best(B=np.arange(1, 4097), S=S).speedup
    return float(np.max(gains / np.minimum.accumulate(gains)))


def stopping_acceptance(*, model: str, gpu: str, engine: str, B: int, S: int) -> float:
    """The least acceptance, to half a per cent, at which any draft length pays."""
    rates = np.linspace(0, 1, 201)
    pays = _plan(model, gpu, engine, rates).best(B=B, S=S).gamma > 0
    return float(rates[pays.argmax()])


def coins_over_formula(
    *, model: str, gpu: str, engine: str, alpha: float, gamma: int, B: int, S: int
) -> float:
    """Speedup of a hundred thousand rounds played with coins over that of the formula."""
    plan = _plan(model, gpu, engine, alpha)
    round_ = plan.round(gamma=gamma, B=B, S=S)
    coins = np.random.default_rng(10).random((100_000, gamma)) < alpha
    tokens = 1 + np.logical_and.accumulate(coins, axis=1).sum(axis=1)
    played = tokens.sum() * round_.C_0 / (len(tokens) * round_.seconds)
    return float(played / round_.speedup)
