"""Prices: the table against the cost model that it was made from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib.control import FirstStage, Prices, expected_seconds, total_lengths
from specdec_lib.formulas import speculation
from tests.settings_of_runs import V4, V4_COST


@pytest.mark.parametrize("B", [1, 5, 32, 100])
@pytest.mark.parametrize("S", [600, 4096.5, 30_000])
def test_rounds_are_those_of_the_plan(B: int, S: float) -> None:
    found = Prices(V4, (512, 32_768), 8).rounds(B, S)
    wanted = [V4.round(gamma=gamma, B=B, S=S).seconds for gamma in range(9)]
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(("B", "drafted"), [(1, 3), (7, 17), (16, 33), (100, 317)])
def test_the_full_pass_is_priced_by_its_total_length(B: int, drafted: int) -> None:
    prices = Prices(V4, (4096, 4096), 8)
    wanted = V4_COST(B=B, T=1 + drafted / B, S=4096)
    assert prices.verify_total(B, drafted, 4096) == pytest.approx(wanted, rel=1e-4)
    if B <= 16:
        assert prices.verify_total(B, drafted, 4096) == pytest.approx(wanted, rel=1e-12)


def test_one_length_is_one_row_of_all() -> None:
    prices = Prices(V4, (1000, 3000), 6)
    assert prices.seconds(8, 4, 1777) == pytest.approx(prices.rounds(8, 1777)[4], rel=1e-12)
    assert prices.regime(8, 0, 1000) is not None


def test_prices_travel_without_their_plan() -> None:
    prices = Prices(V4, (1000, 3000), 4).prepare([3])
    sent = pickle.loads(pickle.dumps(prices))
    assert sent.rounds(3, 2000).tolist() == prices.rounds(3, 2000).tolist()
    with pytest.raises(RuntimeError, match="batch 4"):
        sent.rounds(4, 2000)


def test_what_lies_outside_is_refused() -> None:
    prices = Prices(V4, (1000, 3000), 4)
    with pytest.raises(sd.DomainError, match="999"):
        prices.rounds(8, 999)
    with pytest.raises(sd.DomainError, match="no range"):
        Prices(V4, (3000, 1000))


class TestFirstStage:
    def test_mean_survivors_are_those_of_the_closed_form(self) -> None:
        stage, rates = FirstStage(0.1, 0.9, 0.2), [0.7] * 6
        table = stage.lengths(rates)
        means = table @ np.arange(7)
        for gamma in range(7):
            wanted = speculation.two_stage_length(gamma)
            known = {"alpha": 0.7, "keep_good": 0.9, "keep_bad": 0.2}
            inputs = {q.keyword: known[q.keyword] for q in wanted.inputs}
            assert means[gamma] == pytest.approx(wanted(**inputs), rel=1e-12)
        assert table.sum(axis=1) == pytest.approx(np.ones(7), rel=1e-12)

    def test_total_lengths_by_hand(self) -> None:
        # two drafts of 0 or 2: 0, 2 or 4 in all
        found = total_lengths(np.array([0.5, 0.0, 0.5]), 2)
        assert found == pytest.approx([0.25, 0, 0.5, 0, 0.25], abs=1e-12)

    def test_the_mean_of_the_cost_is_not_the_cost_of_the_mean(self) -> None:
        """By hand for one sequence: the survivors' law, against the mean of the passes' times."""
        prices, stage, rates = Prices(V4, (4096, 4096), 3), FirstStage(0.1, 0.8, 0.1), [0.6] * 3
        times = [V4_COST(B=1, T=1 + length, S=4096) for length in range(4)]
        shares = stage.lengths(rates)[3]
        law = speculation.mean_verify(4)
        mean = law(**{f"share_{i + 1}": shares[i] for i in range(4)},
                   **{f"C_{i + 1}": times[i] for i in range(4)})  # fmt: skip
        drafting = V4.round(gamma=3, B=1, S=4096).C_draft
        found = expected_seconds(prices, stage, rates, 1, 4096)
        assert found[3] == pytest.approx(0.1 * times[0] + mean + drafting, rel=1e-12)
        at_mean = V4_COST(B=1, T=1 + shares @ np.arange(4), S=4096)
        assert mean < at_mean * (1 - 1e-3)  # experts: concave in the tokens

    @pytest.mark.parametrize("wrong", [(-0.1, 1, 1), (0.1, 1.1, 0), (0.1, 0.5, float("nan"))])
    def test_impossible_stages_are_refused(self, wrong: tuple[float, float, float]) -> None:
        with pytest.raises(sd.DomainError):
            FirstStage(*wrong)
