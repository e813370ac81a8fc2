"""Posteriors and decisions: against closed forms, and against what they claim in simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from specdec_lib.counts import AcceptanceCounts, NotCounted, Posterior, decide, read_acceptance
from tests.counts.texts import SGLANG_LINE


def counted(accepted: np.ndarray[Any, Any], k: int) -> AcceptanceCounts:
    """Counts of full drafts of k tokens."""
    survived = tuple(int(np.sum(accepted >= i)) for i in range(1, k + 1))
    steps = len(accepted)
    return AcceptanceCounts(
        "simulated", "simulated", steps=steps, drafted=steps * k, survived=survived, length=k
    )


def simulated(alphas: list[float], steps: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kept = rng.random((steps, len(alphas))) < np.asarray(alphas)
    return np.asarray(np.cumprod(kept, axis=1).sum(axis=1))


class TestPosterior:
    def test_means_are_those_of_the_betas(self) -> None:
        """7 of 10, then 3 of 7: (7 + ½)/(10 + 1) and (3 + ½)/(7 + 1)."""
        counts = AcceptanceCounts("x", "x", steps=10, survived=(7, 3), length=2)
        assert Posterior(counts).conditional_mean == pytest.approx((7.5 / 11, 3.5 / 8))
        assert Posterior(counts, prior="uniform").conditional_mean == pytest.approx((8 / 12, 4 / 9))
        mean = 1 + 7.5 / 11 + 7.5 / 11 * 3.5 / 8
        assert Posterior(counts).tokens().mean == pytest.approx(mean)
        assert Posterior(counts).tokens(1).mean == pytest.approx(1 + 7.5 / 11)
        assert Posterior(counts).tokens(0).mean == 1

    def test_intervals_are_those_of_a_beta_that_can_be_inverted(self) -> None:
        """One trial without success from a uniform prior: Beta(1, 2), whose distribution function
        is 1 − (1 − x)²."""
        counts = AcceptanceCounts("x", "x", steps=1, survived=(0,), length=1)
        (interval,) = Posterior(counts, prior="uniform", draws=200_000).conditional(0.9)
        assert interval.low == pytest.approx(1 - math.sqrt(0.95), abs=2e-3)
        assert interval.high == pytest.approx(1 - math.sqrt(0.05), abs=4e-3)
        assert interval.mean == pytest.approx(1 / 3)
        assert "to" in str(interval)

    def test_intervals_hold_the_truth_as_often_as_they_say(self) -> None:
        rng = np.random.default_rng(11)
        alphas = [0.8, 0.7, 0.5]
        truth = 1 + float(np.cumprod(alphas).sum())
        inside = 0
        for _ in range(400):
            counts = counted(simulated(alphas, 60, rng), 3)
            interval = Posterior(counts, draws=1500).tokens(level=0.8)
            inside += interval.low <= truth <= interval.high
        assert inside / 400 == pytest.approx(0.8, abs=0.06)  # three standard errors

    def test_the_same_counts_give_the_same_draws(self) -> None:
        counts = AcceptanceCounts("x", "x", steps=10, survived=(7, 3), length=2)
        assert Posterior(counts).tokens() == Posterior(counts).tokens()
        assert Posterior(counts, seed=1).tokens() != Posterior(counts).tokens()

    def test_survival_never_rises_in_any_draw(self) -> None:
        counts = AcceptanceCounts("x", "x", steps=5, survived=(1, 1, 0), length=3)
        posterior = Posterior(counts)
        assert np.all(np.diff(posterior.survival_draws, axis=1) <= 0)
        means = [interval.mean for interval in posterior.survival()]
        assert means == sorted(means, reverse=True)

    def test_changing_lengths_are_unbiased_where_offers_were_counted(self) -> None:
        """Without them survival at the last position would be near half of the truth."""
        rng = np.random.default_rng(5)
        alphas, steps = [0.8, 0.7, 0.6], 20_000
        drafted = rng.choice([1, 3], steps)
        accepted = np.minimum(simulated(alphas, steps, rng), drafted)
        survived = tuple(int(np.sum(accepted >= i)) for i in (1, 2, 3))
        offered = tuple(int(np.sum(drafted >= i)) for i in (1, 2, 3))
        plain = {"steps": steps, "drafted": int(drafted.sum()), "survived": survived, "length": 3}
        exact = AcceptanceCounts("x", "x", **plain, offered=offered)  # type: ignore[arg-type]
        biased = AcceptanceCounts("x", "x", **plain)  # type: ignore[arg-type]
        truth = np.cumprod(alphas)
        assert exact.survival == pytest.approx(truth, abs=0.02)
        assert Posterior(exact).conditional_mean == pytest.approx(alphas, abs=0.02)
        assert biased.survival[2] == pytest.approx(truth[2] / 2, abs=0.02)
        assert any("too low at later positions" in warning for warning in biased.warnings)
        assert not exact.warnings
        for interval, true in zip(Posterior(exact).survival(0.999), truth, strict=True):
            assert interval.low <= true <= interval.high

    def test_what_was_not_drafted_is_not_known(self) -> None:
        counts = AcceptanceCounts("x", "x", steps=10, survived=(7, 3), length=2)
        with pytest.raises(NotCounted, match="nothing about position 3"):
            Posterior(counts).tokens(3)

    def test_refuses_what_it_cannot_use(self) -> None:
        with pytest.raises(NotCounted, match="a mean alone"):
            Posterior(read_acceptance(SGLANG_LINE))
        tree = AcceptanceCounts("x", "x", steps=10, survived=(7, 3), tree=True)
        with pytest.raises(NotCounted, match="tree"):
            Posterior(tree)
        chain = AcceptanceCounts("x", "x", steps=10, survived=(7, 3))
        with pytest.raises(ValueError, match="jeffreys, uniform"):
            Posterior(chain, prior="flat")
        with pytest.raises(ValueError, match="needs draws"):
            Posterior(chain, draws=0)
        for level in (0.0, 1.0, float("nan")):
            with pytest.raises(ValueError, match="level"):
                Posterior(chain).tokens(level=level)


class TestDecide:
    COST = (1.0, 1.25, 1.5, 1.8)

    def test_many_steps_settle_it(self) -> None:
        """N = 1.8, 2.36, 2.696 over the costs: 1.44, 1.573, 1.498."""
        rng = np.random.default_rng(2)
        counts = counted(simulated([0.8, 0.7, 0.6], 20_000, rng), 3)
        found = decide(Posterior(counts), self.COST)
        assert found.gamma == 2 and found.runner_up == 3
        assert found.speedup == pytest.approx((1, 1.44, 1.573, 1.498), abs=0.02)
        assert found.probability[2] > 0.999
        assert sum(found.probability) == pytest.approx(1)
        assert found.more_steps == 0 and "enough steps" in str(found)

    def test_the_probability_is_that_of_the_posterior(self) -> None:
        """Length 1 beats none where α₁ > 0.7: for 7 of 10 a Beta(7.5, 3.5), drawn here anew."""
        counts = AcceptanceCounts("x", "x", steps=10, survived=(7,), length=1)
        found = decide(Posterior(counts), (1.0, 1.7))
        other = np.random.default_rng(99).beta(7.5, 3.5, 400_000)
        assert found.probability[1] == pytest.approx(np.mean(other > 0.7), abs=0.012)

    def test_the_steps_it_asks_for_decide_as_surely_as_wanted(self) -> None:
        """Length 2 against length 3 with speedups 0.7 % apart; at the asked-for size a plain
        comparison of the counts is right in the wanted share of repetitions."""
        alphas, cost = [0.8, 0.7, 0.6], (1.0, 1.3, 1.5, 1.725)
        rng = np.random.default_rng(8)
        survival = np.cumprod(alphas)
        ideal = AcceptanceCounts(
            "x", "x", steps=10**6, survived=tuple(int(s * 10**6) for s in survival), length=3
        )
        posterior = Posterior(ideal)
        few = AcceptanceCounts("x", "x", steps=250, survived=(200, 140, 84), length=3)
        asked = decide(Posterior(few), cost, certainty=0.9)
        assert asked.gamma == decide(posterior, cost).gamma == 2
        needed = int(asked.more_steps) + 250
        assert 300 < needed < 20_000
        right = 0
        for _ in range(300):
            accepted = simulated(alphas, needed, rng)
            speed = [np.mean(1 + np.minimum(accepted, g)) / cost[g] for g in range(4)]
            right += int(np.argmax(speed) == 2)
        assert right / 300 == pytest.approx(0.9, abs=0.06)
        assert "more steps tell it from 3" in str(asked)

    def test_a_few_equal_steps_are_not_certain(self) -> None:
        """Three steps that accepted everything: no spread among them, yet much is unknown."""
        counts = AcceptanceCounts("x", "x", steps=3, survived=(3, 3), length=2)
        found = decide(Posterior(counts), (1.0, 1.7, 2.4))
        assert found.more_steps > 0

    def test_lengths_that_are_equally_good_are_never_told_apart(self) -> None:
        """At the posterior mean, α = 0.75, length 1 gains exactly what it costs."""
        counts = AcceptanceCounts("x", "x", steps=2, survived=(2,), length=1)
        found = decide(Posterior(counts, prior="uniform"), (1.0, 1.75))
        assert math.isinf(found.more_steps) and "no measurement" in str(found)

    def test_refuses_what_it_cannot_use(self) -> None:
        posterior = Posterior(AcceptanceCounts("x", "x", steps=10, survived=(7, 3), length=2))
        with pytest.raises(NotCounted, match="costs go to draft length 3, counts to 2"):
            decide(posterior, self.COST)
        for cost in ((1.0,), (1.0, -1.0), (1.0, float("nan")), (0.0, 1.0)):
            with pytest.raises(ValueError, match="costs"):
                decide(posterior, cost)
        for certainty in (0.5, 1.0, 0.1):
            with pytest.raises(ValueError, match="certainty"):
                decide(posterior, (1.0, 1.5), certainty=certainty)


def test_p18_the_profile_with_one_good_position_is_best_at_one() -> None:
    """0.69 at position 1, nothing after: with any cost that grows, length 1 is the best."""
    counts = AcceptanceCounts("vLLM", "x", steps=1000, survived=(690, 0, 0), length=3)
    found = decide(Posterior(counts), (1.0, 1.3, 1.55, 1.8))
    assert found.gamma == 1 and found.probability[1] > 0.99


def test_m08_with_costs_a_shorter_draft_is_advised() -> None:
    """Positions 5 to 7 add 0.26 tokens; at 8 % of a step for each token three or four are best."""
    line = AcceptanceCounts(
        "vLLM", "x", steps=2300, survived=(1700, 1100, 600, 400, 300, 200, 100), length=7
    )
    found = decide(Posterior(line), [1 + 0.08 * gamma for gamma in range(8)])
    assert found.gamma in (3, 4)
