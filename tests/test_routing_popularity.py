"""Routing over a popularity, and by simulation, against the uniform law and hand counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import routing
from specdec_lib.formula import DomainError
from specdec_lib.formulas.experts import distinct_experts, distinct_experts_variance


class TestPopularity:
    def test_equal_popularity_is_the_uniform_law(self) -> None:
        inclusion = routing.inclusion_probabilities(np.ones(256), k=6)
        n = np.array([0, 1, 2, 8, 64, 1e6])
        skewed = routing.distinct_experts_by_popularity(n, inclusion)
        assert np.allclose(skewed, distinct_experts(n=n, E=256, k=6), rtol=1e-12)

    def test_by_hand(self) -> None:
        # two tokens, chances 1, ½ and ½: 1 + ¾ + ¾
        assert routing.distinct_experts_by_popularity(2, [1, 0.5, 0.5]) == 2.5

    @given(st.lists(st.floats(0.5, 1.5), min_size=8, max_size=8), st.integers(1, 100))
    def test_skew_never_touches_more_experts(self, weights: list[float], n: int) -> None:
        inclusion = routing.inclusion_probabilities(weights, k=2)
        skewed = routing.distinct_experts_by_popularity(n, inclusion)
        assert skewed <= distinct_experts(n=n, E=8, k=2) + 1e-9

    def test_layers_broadcast_with_tokens(self) -> None:
        layers = routing.inclusion_probabilities(np.array([[1.0, 1, 2], [1, 1, 1]]), k=1)
        table = routing.distinct_experts_by_popularity(np.array([1, 2, 5])[:, None], layers)
        assert table.shape == (3, 2)
        assert table[0].tolist() == [1.0, 1.0]

    def test_skewed_tokens_count_for_fewer_uniform_ones(self) -> None:
        inclusion = routing.inclusion_probabilities(np.arange(1.0, 65.0), k=4)
        equivalent = routing.skew_equivalent_tokens(np.array([1, 8, 32]), inclusion)
        assert equivalent[0] == pytest.approx(1)
        assert np.all(equivalent[1:] < [8, 32])

    @pytest.mark.parametrize("n", [1e-6, 0.5, 1, 40, 1000, 1e5, 1e7])
    @pytest.mark.parametrize(("E", "k"), [(256, 6), (8, 1), (8, 7), (3, 1), (1, 1), (8, 8)])
    def test_uniform_tokens_count_for_themselves(self, n: float, E: int, k: int) -> None:
        """Also where all but 10⁻¹⁰⁰ of an expert is touched, or next to none, or all at once."""
        inclusion = routing.inclusion_probabilities(np.ones(E), k=k)
        assert routing.skew_equivalent_tokens(n, inclusion) == pytest.approx(n, rel=1e-12)

    def test_skewed_tokens_near_full_coverage_by_hand(self) -> None:
        """Of two experts with chances 3/4 and 1/4 the rare one is missed last: ½(3/4)ⁿ of the layer
        is missed, so m = (n·ln(4/3) + ln 2)/ln 2 where (1/4)ⁿ is nothing."""
        equivalent = routing.skew_equivalent_tokens([200, 5000], [0.75, 0.25])
        by_hand = (np.array([200, 5000]) * np.log(4 / 3) + np.log(2)) / np.log(2)
        assert equivalent == pytest.approx(by_hand, rel=1e-14)

    def test_certain_experts_count_for_one_token(self) -> None:
        equivalent = routing.skew_equivalent_tokens([0, 1, 9], [1.0, 1.0, 0.0])
        assert str(equivalent[0]) == "0.0" and equivalent == pytest.approx([0, 1, 1], rel=1e-14)

    def test_a_chance_within_rounding_of_one_expert(self) -> None:
        thirds = np.nextafter(1 / 3, 0) * np.ones(3)
        assert thirds.sum() < 1
        assert routing.skew_equivalent_tokens(2, thirds) == pytest.approx(2, rel=1e-12)
        with pytest.raises(DomainError, match=r"k = 0.9 is outside"):
            routing.skew_equivalent_tokens(2, [0.3, 0.3, 0.3])

    def test_weights_whose_sum_overflows(self) -> None:
        inclusion = routing.inclusion_probabilities([1.5e308, 1.5e308, 0], k=1)
        assert inclusion.tolist() == [0.5, 0.5, 0]

    @pytest.mark.parametrize(
        "wrong", [["1", "2"], [True, False], np.ma.masked_array([1.0, 2.0], mask=[0, 1]), [1j, 1]]
    )
    def test_refuses_what_is_no_number(self, wrong: object) -> None:
        for call in (
            lambda: routing.inclusion_probabilities(wrong, 1),
            lambda: routing.inclusion_probabilities([1, 1], wrong),
            lambda: routing.distinct_experts_by_popularity(wrong, [0.5, 0.5]),
            lambda: routing.distinct_experts_by_popularity(1, wrong),
            lambda: routing.skew_equivalent_tokens(wrong, [0.5, 0.5]),
            lambda: routing.skew_equivalent_tokens(1, wrong),
            lambda: routing.moment_z_scores(wrong, 1, 1),
            lambda: routing.moment_z_scores([1, 2], wrong, 1),
            lambda: routing.moment_z_scores([1, 2], 1, wrong),
        ):
            with pytest.raises(TypeError, match=r"real number|masked values"):
                call()

    def test_refuses_arrays_for_one_number_and_shapes_that_do_not_broadcast(self) -> None:
        with pytest.raises(TypeError, match=r"k .*takes one number, not an array"):
            routing.inclusion_probabilities([1, 1], [1, 1])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="mean is one number"):
            routing.moment_z_scores([1, 2], [1.0], 1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"do not broadcast: n \(3,\), inclusion.* \(2,\)"):
            routing.distinct_experts_by_popularity([1, 2, 3], np.full((2, 4), 0.5))

    @pytest.mark.parametrize(
        ("popularity", "k", "message"),
        [
            ([1.0, -1.0], 1, "not negative"),
            ([0.0, 0.0], 1, "zero for every expert"),
            ([8.0, 1.0, 1.0], 2, "expert 0 takes 0.8 of all assignments"),
            ([1.0, 1.0], 3, "k = 3 exceeds E = 2"),
            ([], 1, "at least one expert"),
            ([float("nan"), 1.0], 1, "finite"),
        ],
    )
    def test_refuses(self, popularity: list[float], k: int, message: str) -> None:
        with pytest.raises(DomainError, match=message):
            routing.inclusion_probabilities(popularity, k)

    def test_refuses_probabilities_and_tokens_outside_their_domain(self) -> None:
        with pytest.raises(DomainError, match=r"outside \[0, 1\]"):
            routing.distinct_experts_by_popularity(1, [1.2, 0.1])
        with pytest.raises(DomainError, match="n = -1"):
            routing.distinct_experts_by_popularity(-1, [0.5, 0.5])


class TestSimulation:
    @pytest.mark.parametrize("n", [1, 2, 8, 64])
    def test_agrees_with_mean_and_variance(self, n: int) -> None:
        trials = 20_000
        touched = routing.simulate_distinct_experts(n, E=256, k=6, trials=trials, seed=n)
        mean = distinct_experts(n=n, E=256, k=6)
        variance = distinct_experts_variance(n=n, E=256, k=6)
        assert abs(touched.mean() - mean) <= 4 * np.sqrt(variance / trials) + 1e-12
        if variance > 0:
            # the variance of a sample variance, for a nearly normal count
            assert touched.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / trials))

    def test_same_seed_same_steps(self) -> None:
        first, second = (
            routing.simulate_distinct_experts(4, E=16, k=2, trials=50, seed=1) for _ in range(2)
        )
        assert np.array_equal(first, second)

    def test_every_token_uses_k_different_experts(self) -> None:
        assert set(routing.simulate_distinct_experts(1, E=7, k=7, trials=9, seed=0)) == {7}
        assert set(routing.simulate_distinct_experts(0, E=7, k=3, trials=9, seed=0)) == {0}

    def test_refuses(self) -> None:
        with pytest.raises(TypeError, match="n is a count"):
            routing.simulate_distinct_experts(1.5, E=8, k=2, trials=9, seed=0)  # type: ignore[arg-type]
        with pytest.raises(DomainError, match="k = 9 exceeds E = 8"):
            routing.simulate_distinct_experts(1, E=8, k=9, trials=9, seed=0)
        with pytest.raises(DomainError, match="trials = 0"):
            routing.simulate_distinct_experts(1, E=8, k=2, trials=0, seed=0)


class TestZScores:
    def test_by_hand(self) -> None:
        # mean 3 against 2 with error √(4/4); squares 9, 1, 1, 9 have mean 5 and variance 16, so
        # the sample variance 20/3 against 4 has error √(16/4)
        of_mean, of_variance = routing.moment_z_scores([0, 2, 4, 6], mean=2, variance=4)
        assert of_mean == pytest.approx(1)
        assert of_variance == pytest.approx((20 / 3 - 4) / 2)

    def test_are_standard_normal_under_the_law(self) -> None:
        generator = np.random.default_rng(3)
        scores = np.array(
            [
                routing.moment_z_scores(generator.exponential(size=4000), mean=1, variance=1)
                for _ in range(400)
            ]
        )
        assert np.all(np.abs(scores.mean(axis=0)) < 4 / 20 + 0.1)  # skewed draws: a small bias
        assert np.all(np.abs(scores.std(axis=0) - 1) < 0.2)

    def test_notice_a_wrong_law(self) -> None:
        touched = routing.simulate_distinct_experts(8, E=256, k=6, trials=4000, seed=5)
        balanced = 8 * 6
        of_mean, of_variance = routing.moment_z_scores(touched, mean=balanced, variance=1)
        assert of_mean < -50 and of_variance > 10

    @pytest.mark.parametrize(
        ("sample", "mean", "variance", "message"),
        [
            ([1.0], 1, 1, "at least two draws"),
            ([[1.0, 2.0]], 1, 1, "shape"),
            ([1.0, 2.0], 1, 0, "variance 0"),
            ([6.0, 6.0], 6, 1, "no spread"),
            ([float("nan"), 1.0], 1, 1, "not finite"),
            ([1e200, -1e200, 0], 1, 1, "too wide"),
        ],
    )
    def test_refuses(self, sample: list[float], mean: float, variance: float, message: str) -> None:
        with pytest.raises(DomainError, match=message):
            routing.moment_z_scores(sample, mean, variance)
