"""Acceptance curves: against a simulation of draft and verify, limits, bounds, measurements."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import (
    AcceptanceCurve,
    ByContext,
    Decaying,
    DomainError,
    Geometric,
    Mixture,
    PerPosition,
    WithContext,
)
from specdec_lib.formulas.acceptance import expected_tokens

MEASURED = Path(__file__).parent / "data" / "acceptance_curves.csv"
STEPS = 200_000


def simulated_tokens(rates: Callable[[np.random.Generator, int], list[float]], gamma: int) -> float:
    """Mean tokens a step of ``STEPS`` steps: a drafted token is kept if the coin of its own rate
    says so and all before it were, and one more token comes from the target."""
    rng = np.random.default_rng(17)
    coins = rng.random((STEPS, gamma))
    kept = np.zeros(STEPS)
    for step in range(STEPS):
        for coin, rate in zip(coins[step], rates(rng, step), strict=False):
            if coin >= rate:
                break
            kept[step] += 1
    return 1 + float(kept.mean())


#: A curve, the rate of each position by hand, and a context for those that need one.
CURVES: dict[str, tuple[AcceptanceCurve, Callable[..., list[float]], float | None]] = {
    "geometric": (Geometric(0.7), lambda _, __: [0.7] * 4, None),
    "conditional": (
        PerPosition.conditional([0.9, 0.5, 0.4, 0.2]),
        lambda _, __: [0.9, 0.5, 0.4, 0.2],
        None,
    ),
    "survivals": (
        PerPosition.survivals([0.8, 0.6, 0.3, 0.0]),
        lambda _, __: [0.8, 0.75, 0.5, 0.0],
        None,
    ),
    "repeated": (
        PerPosition.conditional([0.9, 0.5], beyond="repeat"),
        lambda _, __: [0.9, 0.5, 0.5, 0.5],
        None,
    ),
    "decaying": (Decaying(0.9, 0.5), lambda _, __: [0.9, 0.45, 0.225, 0.1125], None),
    "rising": (Decaying(0.4, 0.5, end=0.8), lambda _, __: [0.4, 0.6, 0.7, 0.75], None),
    "mixture": (
        Mixture([Geometric(0.95), Geometric(0.2)], [0.25, 0.75]),
        lambda _, step: [0.95 if step % 4 == 0 else 0.2] * 4,
        None,
    ),
    "with context": (WithContext(0.8, drop=0.1, start=1000), lambda _, __: [0.6] * 4, 4000.0),
    "by context": (
        # halfway, in doublings, between the two
        ByContext({1024: Geometric(0.9), 16384: Geometric(0.3)}),
        lambda _, step: [0.9 if step % 2 == 0 else 0.3] * 4,
        4096.0,
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_tokens_are_those_of_a_simulation(name: str) -> None:
    curve, rates, context = CURVES[name]
    expected = curve.tokens(4, context)
    deviation = 2.0 / math.sqrt(STEPS)  # of a mean of numbers between 0 and 4
    assert simulated_tokens(rates, 4) == pytest.approx(expected, abs=4 * deviation)


@pytest.mark.parametrize("name", CURVES)
def test_bounds_and_shape_of_every_curve(name: str) -> None:
    curve, _, context = CURVES[name]
    lengths = np.arange(5)
    tokens, survival = curve.tokens(lengths, context), curve.survival(lengths, context)
    assert tokens[0] == survival[0] == 1.0  # no draft commits exactly the bonus token
    assert np.all((tokens >= 1) & (tokens <= lengths + 1))
    assert np.all(np.diff(survival) <= 0)
    assert np.diff(tokens) == pytest.approx(survival[1:], rel=1e-12)  # N = 1 + Σ σ
    assert np.all(np.diff(tokens, 2) <= 1e-15)  # concave in the draft length
    for_one = [curve.tokens(int(g), context) for g in lengths]
    assert for_one == tokens.tolist()
    by_length = [float(t) for t in curve.by_length(4, curve.context(context))]
    assert by_length == tokens.tolist()


@given(st.floats(0, 1), st.integers(0, 40))
def test_a_geometric_curve_is_a_sum_of_powers(alpha: float, gamma: int) -> None:
    by_hand = math.fsum(alpha**i for i in range(gamma + 1))
    assert Geometric(alpha).tokens(gamma) == pytest.approx(by_hand, rel=1e-12)
    assert 1 <= Geometric(alpha).tokens(gamma) <= gamma + 1


def test_limits() -> None:
    assert Geometric([0, 1]).tokens(7).tolist() == [1.0, 8.0]
    assert Decaying(0.6, 1.0).tokens(9) == pytest.approx(Geometric(0.6).tokens(9), rel=1e-12)
    assert Decaying(0.6, 0.0).tokens(9) == pytest.approx(1.6)
    assert Mixture([Geometric(0.4)], [1.0]).tokens(5) == pytest.approx(Geometric(0.4).tokens(5))
    assert WithContext(0.3, drop=0.3).tokens(9, 1e9) == 1.0


def test_tokens_are_not_clipped_at_gamma() -> None:
    """An error of other tools: a draft accepted whole commits its bonus token too."""
    assert Geometric(1.0).tokens(4) == 5.0
    assert PerPosition.survivals([1, 1, 1]).tokens(3) == 4.0


def test_parameters_broadcast() -> None:
    alphas = np.array([0.5, 0.9])[:, None]
    by_hand = np.array([[1.5, 1.75], [1.9, 2.71]])
    assert Geometric(alphas).tokens([1, 2]) == pytest.approx(by_hand)
    assert Decaying([0.5, 0.9], 0.5).tokens(2).shape == (2,)
    assert PerPosition.conditional(np.ones((3, 5))).tokens(3).shape == (5,)
    mixed = Mixture([Geometric(0.9), Geometric(0.1)], [np.array([0.0, 1.0]), np.array([1.0, 0.0])])
    assert mixed.survival(1).tolist() == [0.1, 0.9]
    near = WithContext(0.8, drop=0.05, start=4096)
    assert near.tokens(1, S=[[4096], [16384]]) == pytest.approx(np.array([[1.8], [1.7]]))


def test_the_two_lists_that_engines_print_are_not_the_same() -> None:
    """Case M11: five rates folded as a chain give 1.105 accepted tokens, read as survivals 1.15."""
    printed = [0.85, 0.3, 0.0]
    assert PerPosition.conditional(printed).tokens(3) == pytest.approx(2.105)
    assert PerPosition.survivals(printed).tokens(3) == pytest.approx(2.15)
    with pytest.raises(TypeError, match=r"PerPosition\.conditional"):
        PerPosition(printed)


def test_mean_rates_of_different_lengths_do_not_compare() -> None:
    """Case M05: the mean rate falls with the draft length, the conditional rate does not."""
    curve = Geometric(0.8)
    assert curve.tokens([2, 8]) == pytest.approx([2.44, 4.33], abs=5e-3)
    means = (curve.tokens([2, 8]) - 1) / [2, 8]
    assert means == pytest.approx([0.72, 0.416], abs=5e-4)
    assert curve.rates([1, 2, 8]) == pytest.approx([0.8, 0.8, 0.8])


def test_per_token_probability_is_not_the_accepted_fraction() -> None:
    """Case M06: p = 0.8 over 8 tokens accepts 41.6 %; and a log of 503 tokens, 384 of 426 drafted
    ones accepted, has 119 steps of 4.23 tokens, which its 90 % as a rate do not give."""
    accepted = Geometric(0.8).tokens(8) - 1
    assert accepted == pytest.approx(3.329, abs=1e-3)
    assert accepted / 8 == pytest.approx(0.416, abs=5e-4)
    steps = 503 - 384
    assert steps == 119
    assert 426 / steps == pytest.approx(3.58, abs=5e-3)
    assert 503 / steps == pytest.approx(4.23, abs=5e-3)
    assert expected_tokens(alpha=0.90, gamma=426 / steps) == pytest.approx(3.84, abs=0.02)


def test_lists_of_an_engine_become_tokens() -> None:
    """Cases P10, P18, P19, M08, M16: lists by position, and what they say."""
    four = PerPosition.survivals([0.844, 0.599, 0.385, 0.271])
    assert four.tokens(4) == pytest.approx(3.10, abs=0.01)
    assert Geometric(0.525).tokens(4) == pytest.approx(2.0, abs=0.05)  # the trap of the mean
    assert PerPosition.survivals([0.766, 0.545]).tokens(2) == pytest.approx(2.31, abs=0.01)
    assert PerPosition.survivals([0.69, 0, 0]).tokens(3) == pytest.approx(1.69)
    assert PerPosition.survivals([0.71, 0.48]).tokens(2) == pytest.approx(2.19)
    ascend = PerPosition.survivals([0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043])
    assert ascend.tokens(7) == pytest.approx(1 + 44 / 23, abs=2e-3)
    assert PerPosition.conditional([0.8, 0.7, 0.6]).tokens(3) == pytest.approx(2.696)


def test_counts_stay_with_their_curve() -> None:
    counted = PerPosition.from_counts(23, [17, 11, 6, 4, 3, 2, 1])
    assert counted.tokens(7) == pytest.approx(1 + 44 / 23)
    assert counted.counts is not None
    assert counted.counts.steps == 23
    assert sum(counted.counts.accepted) == 44
    assert PerPosition.survivals([0.5]).counts is None


def test_beyond_what_was_measured() -> None:
    known = [0.8, 0.4]
    with pytest.raises(DomainError, match="knows 2 positions, not 3"):
        PerPosition.survivals(known).tokens(3)
    assert PerPosition.survivals(known, beyond="zero").tokens(9) == pytest.approx(2.2)
    repeated = PerPosition.survivals(known, beyond="repeat")
    assert repeated.survival([3, 4]) == pytest.approx([0.2, 0.1])
    dead = PerPosition.conditional([0.0], beyond="repeat")
    assert dead.tokens(5) == 1.0


def test_a_mixture_looks_as_if_acceptance_rose_with_depth() -> None:
    """A mean rate misleads: none gives the tokens of both short and long drafts."""
    mixed = Mixture([Geometric(0.9), Geometric(0.5)], [0.5, 0.5])
    rates = mixed.rates(np.arange(1, 30))
    assert np.all(np.diff(rates) > 0)
    assert rates[0] == pytest.approx(0.7)
    assert rates[-1] == pytest.approx(0.9, abs=1e-3)
    assert mixed.tokens(16) > 1.2 * Geometric(0.7).tokens(16)


def test_decay_describes_measured_curves() -> None:
    """What the docstring of Decaying says of the curves in the tests' data."""
    with MEASURED.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    errors = []
    for row in rows:
        values = np.array([float(v) for v in row["values"].split()])
        tokens = values if row["kind"] == "tokens" else 1 + np.cumsum(values)
        lengths = np.arange(1, len(tokens) + 1)
        fitted = Decaying(float(row["alpha"]), float(row["decay"])).tokens(lengths)
        errors.append(math.sqrt(np.mean((fitted / tokens - 1) ** 2)))
        assert row["source"]
    assert max(errors) < 0.03
    assert math.sqrt(np.mean(np.square(errors))) == pytest.approx(0.013, abs=5e-4)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Geometric(1.12), DomainError, "alpha = 1.12"),  # case M03: nothing is clamped
        (lambda: Geometric(float("nan")), DomainError, "alpha = nan"),
        (lambda: Geometric("0.8"), TypeError, "real number"),
        (lambda: Geometric(0.8).tokens(2.5), DomainError, "no whole number"),
        (lambda: Geometric(0.8).tokens(-1), DomainError, "no whole number"),
        (lambda: Geometric(0.8).survival([0, np.inf]), DomainError, "no whole number"),
        (lambda: Geometric(0.8).rates(0), DomainError, "count from 1"),
        (lambda: Decaying(0.8, 1.1), DomainError, "decay = 1.1"),
        (lambda: Decaying(0.8, 0.9, end=-0.1), DomainError, "alpha_end"),
        (lambda: PerPosition.conditional([]), DomainError, "at least one position"),
        (lambda: PerPosition.conditional([0.5, 1.2]), DomainError, "position 2: alpha = 1.2"),
        (lambda: PerPosition.survivals([0.5, 0.6]), DomainError, "rises at position 2"),
        (lambda: PerPosition.survivals([0.5], beyond="last"), ValueError, "'zero' or 'repeat'"),
        (lambda: PerPosition.from_counts(10, [11]), DomainError, "accepted 11 times"),
        (lambda: PerPosition.from_counts(10, [5, 6]), DomainError, "position 2 was accepted 6"),
        (lambda: PerPosition.from_counts(0, [0]), DomainError, "at least 1"),
        (lambda: PerPosition.from_counts(10, [2.5]), DomainError, "no whole number"),
        (lambda: Mixture([Geometric(0.5)], [0.9]), DomainError, "sum to 0.9"),
        (lambda: Mixture([Geometric(0.5)], [0.5, 0.5]), ValueError, "1 curves and 2 shares"),
        (lambda: Mixture([0.5], [1.0]), TypeError, "acceptance curves"),
        (lambda: Mixture([], []), ValueError, "0 curves"),
        (lambda: Mixture([Geometric(0.5)] * 2, [1.5, -0.5]), DomainError, "share = 1.5"),
        (lambda: WithContext(0.8, drop=0.1).tokens(2), TypeError, "give S"),
        (lambda: WithContext(0.8, drop=0.1, start=0), DomainError, "S_0 = 0"),
        (lambda: WithContext(0.8, drop=0.1).tokens(2, -5), DomainError, "S = -5"),
        (lambda: ByContext({1024: Geometric(0.5)}), ValueError, "two or more"),
        (lambda: ByContext({0: Geometric(0.5), 9: Geometric(0.5)}), DomainError, "S_0 = 0"),
        (lambda: ByContext({1: 0.5, 9: 0.5}), TypeError, "acceptance curve"),
    ],
)
def test_bad_input_never_becomes_a_number(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()
