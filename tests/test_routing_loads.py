"""Simulated routing with favourites, and the fullest device, against laws and hand counts."""

from __future__ import annotations

import numpy as np
import pytest

from specdec_lib import routing
from specdec_lib.formula import DomainError
from specdec_lib.formulas.experts import distinct_experts, distinct_experts_variance
from specdec_lib.routing import loads


class TestSimulation:
    def test_every_token_uses_k_experts(self) -> None:
        chances = routing.inclusion_probabilities(np.arange(1.0, 17.0), k=4)
        hits = loads.simulate_touched(1, chances, trials=500, seed=1)
        assert np.all(hits.sum(axis=-1) == 4)

    def test_every_expert_keeps_its_chance(self) -> None:
        chances = routing.inclusion_probabilities([1.0, 2, 3, 4, 6, 8], k=2)
        trials = 40_000
        share = loads.simulate_touched(1, chances, trials, seed=2).mean(axis=0)
        error = np.sqrt(chances * (1 - chances) / trials)
        assert np.all(np.abs(share - chances) < 4.5 * error)

    @pytest.mark.parametrize("n", [2, 8, 32])
    def test_the_mean_is_that_of_the_skewed_law(self, n: int) -> None:
        chances = routing.inclusion_probabilities(1 / np.arange(1.0, 65.0), k=2)
        counted = loads.simulate_touched(n, chances, trials=4000, seed=n).sum(axis=-1)
        mean = routing.distinct_experts_by_popularity(n, chances)
        assert abs(counted.mean() - mean) < 4.5 * counted.std() / np.sqrt(4000)

    def test_equal_chances_are_uniform_routing(self) -> None:
        counted = loads.simulate_touched(16, np.full(64, 4 / 64), trials=4000, seed=5).sum(axis=-1)
        mean = distinct_experts(n=16, E=64, k=4)
        variance = distinct_experts_variance(n=16, E=64, k=4)
        scores = routing.moment_z_scores(counted, mean, variance)
        assert max(np.abs(scores)) < 4.5

    def test_no_tokens_touch_nothing(self) -> None:
        assert not loads.simulate_touched(0, [0.5, 0.5], trials=3, seed=0).any()

    def test_same_seed_same_steps(self) -> None:
        first, second = (loads.simulate_touched(3, [0.5] * 4, 20, seed=7) for _ in range(2))
        assert np.array_equal(first, second)

    @pytest.mark.parametrize(
        ("n", "inclusion", "trials", "error", "message"),
        [
            (1.5, [0.5, 0.5], 9, TypeError, "n is a count"),
            (True, [0.5, 0.5], 9, TypeError, "n is a count"),
            (-1, [0.5, 0.5], 9, DomainError, "n = -1"),
            (1, [0.5, 0.5], 0, DomainError, "trials = 0"),
            (1, [0.5, 0.6], 9, DomainError, "sum to 1.1"),
            (1, [0.0, 0.0], 9, DomainError, "sum to 0"),
            (1, [1.5, 0.5], 9, DomainError, "probabilities"),
            (1, [[0.5, 0.5]], 9, DomainError, "one row"),
        ],
    )
    def test_refuses(
        self, n: int, inclusion: list[float], trials: int, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            loads.simulate_touched(n, inclusion, trials, seed=0)


class TestFullestDevice:
    def test_by_hand(self) -> None:
        hits = np.array([[1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]], dtype=bool)
        assert loads.fullest_device(hits, G=2).tolist() == [2, 2]
        assert loads.fullest_device(hits, G=3).tolist() == [2, 2]
        assert loads.fullest_device(hits, G=6).tolist() == [1, 1]

    def test_one_device_has_them_all(self) -> None:
        hits = loads.simulate_touched(4, [0.25] * 16, trials=50, seed=0)
        assert np.array_equal(loads.fullest_device(hits, G=1), hits.sum(axis=-1))

    def test_lies_between_the_mean_and_all(self) -> None:
        hits = loads.simulate_touched(8, [1 / 16] * 64, trials=200, seed=3)
        fullest, all_of_them = loads.fullest_device(hits, G=8), hits.sum(axis=-1)
        assert np.all(fullest >= all_of_them / 8) and np.all(fullest <= 8)

    def test_refuses(self) -> None:
        with pytest.raises(DomainError, match="do not divide among G = 3"):
            loads.fullest_device(np.zeros((2, 8), dtype=bool), G=3)
        with pytest.raises(TypeError, match="boolean"):
            loads.fullest_device(np.zeros((2, 8)), G=2)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="G is a count"):
            loads.fullest_device(np.zeros((2, 8), dtype=bool), G=2.0)  # type: ignore[arg-type]
