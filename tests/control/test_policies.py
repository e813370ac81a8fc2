"""Policies on hand-made traces, where the right decision is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib.control import (
    FirstStage,
    Fixed,
    Oracle,
    Outcome,
    Policy,
    Priced,
    Prices,
    Scheduled,
    State,
    Threshold,
    TwoStage,
)
from tests.settings_of_runs import V4, dense, v4

STATE = State(8, 4096.0)
PRICES = Prices(V4, (1024, 131_072), 8)


def outcome(gamma: int, accepted: list[int], seconds: float = 1.0) -> Outcome:
    return Outcome(gamma, np.array(accepted), sum(accepted), seconds)


def feed(policy: Policy, accepted: Any, rounds: int, state: State = STATE) -> list[int]:
    """Rounds in which every sequence could accept as many tokens as ``accepted()`` says."""
    used = []
    for _ in range(rounds):
        gamma = policy.choose(state)
        right = [min(accepted(), gamma) for _ in range(state.batch)]
        seconds = float(PRICES.rounds(state.batch, state.context)[gamma])
        policy.told(state, outcome(gamma, right, seconds))
        used.append(gamma)
    return used


def test_an_outcome_counts_by_position() -> None:
    """Of four drafts of 3, two accept nothing, one 2 and one all."""
    found = outcome(3, [0, 2, 3, 0])
    assert found.reaching.tolist() == [4, 2, 2, 1]
    assert found.judged == 1 + 3 + 3 + 1


def test_a_schedule_is_followed_by_batch_and_context() -> None:
    table = [[4, 2], [4, 2], [3, 0]]
    schedule = sd.Schedule.from_lengths(table, contexts=(4096, 65_536))
    policy = Scheduled(schedule)
    policy.start(PRICES)
    points = [(1, 100), (3, 4096), (3, 4097), (1, 65_536), (1, 65_537), (4, 100)]
    assert [policy.choose(State(b, s)) for b, s in points] == [4, 3, 0, 2, 0, 0]
    flat = Scheduled(sd.Schedule.from_ranges([(1, 2, 5), (3, 4, 1)]))
    assert [flat.choose(State(b, 1e6)) for b in (1, 2, 3, 5)] == [5, 5, 1, 0]


class TestThreshold:
    def test_it_stays_between_its_lines(self) -> None:
        policy = Threshold(1, window=80)
        policy.start(PRICES)
        # 65 % of judged tokens: 13 of every 20
        rights = iter(([1] * 13 + [0] * 7) * 1000)
        assert set(feed(policy, lambda: next(rights), 200)) == {1}
        assert policy.estimate == pytest.approx(0.65, abs=0.03)

    def test_a_step_down_shortens_and_a_step_up_lengthens(self) -> None:
        policy = Threshold(3, window=64, pause=10, trial=16)
        policy.start(PRICES)
        assert set(feed(policy, lambda: 9, 20)) == {3}
        down = feed(policy, lambda: 0, 200)
        first = [down.index(length) for length in (2, 1, 0)]
        assert first == sorted(first) and first[-1] < 60
        assert down.count(1) > 1 and 0 in down[-10:]  # it tries again and again
        up = feed(policy, lambda: 9, 200)
        assert up[-1] == 3

    def test_stopping_at_once(self) -> None:
        policy = Threshold(3, window=64, shorten=False, pause=10, trial=16)
        policy.start(PRICES)
        used = feed(policy, lambda: 0, 60)
        assert set(used[: used.index(0)]) == {3} and set(used[used.index(0) :]) == {0, 1}
        assert feed(policy, lambda: 9, 60)[-1] == 3

    def test_off_for_ever_where_it_never_tries_again(self) -> None:
        policy = Threshold(3, window=64, shorten=False, pause=float("inf"))
        policy.start(PRICES)
        feed(policy, lambda: 0, 100)
        assert set(feed(policy, lambda: 9, 3000)) == {0}

    def test_the_engines_rate_falls_with_the_length(self) -> None:
        """Half of the drafts accept 7 of 7, half none: 7/8 of the judged, half of the drafted."""
        rates = {}
        for rate in ("conditional", "drafted"):
            policy = Threshold(7, low=0, window=64, rate=rate)  # type: ignore[arg-type]
            policy.start(PRICES)
            rights = iter([7, 0] * 1000)
            feed(policy, lambda rights=rights: next(rights), 50)  # type: ignore[misc]
            rates[rate] = policy.estimate
        assert rates == pytest.approx({"conditional": 7 / 8, "drafted": 1 / 2})


class TestPriced:
    def test_it_finds_the_best_length_of_a_steady_acceptance(self) -> None:
        rng = np.random.default_rng(1)
        state, policy = State(32, 4096.0), Priced(gamma_max=8, half_life=2000)
        policy.start(PRICES)
        used = feed(policy, lambda: int(rng.geometric(0.25)) - 1, 600, state)
        best = v4(0.75).best(B=32, S=4096, gamma_max=8).gamma
        low, high = v4(0.75).plateau(B=32, S=4096, gamma_max=8, within=0.01)
        assert low <= best <= high
        assert np.mean([low <= gamma <= high for gamma in used[300:]]) > 0.9

    def test_it_goes_off_where_drafts_fail_and_on_again(self) -> None:
        state, policy = State(32, 4096.0), Priced(half_life=2000)
        policy.start(PRICES)
        feed(policy, lambda: 9, 200, state)
        assert policy.length == 8
        dead = feed(policy, lambda: 0, 600, state)
        assert policy.length == 0 and dead[-300:].count(0) > 270
        assert any(dead[-300:])  # trials go on
        assert policy.lost <= policy.budget * policy.elapsed * 1.2
        back = feed(policy, lambda: 9, 600, state)
        assert back[-1] == 8

    def test_it_follows_the_batch_at_once(self) -> None:
        """A burst from 1 to 8 sequences, where experts make drafts dear: no round is lost."""
        rng = np.random.default_rng(2)
        policy = Priced(budget=0)
        policy.start(PRICES)
        policy._estimate.prior = 0.62
        policy._renew()
        draw = lambda: int(rng.geometric(0.38)) - 1  # noqa: E731
        best = {B: v4(0.62).best(B=B, S=4096).gamma for B in (1, 8, 40)}
        assert best[1] > 0 and best[8] == 0 and best[40] > 1
        for B in (1, 8, 40, 8):
            used = feed(policy, draw, 5, State(B, 4096.0))
            assert (used[0] > 0) == (best[B] > 0)

    def test_it_follows_the_context(self) -> None:
        """Where a longer context changes what pays, so does the length, with no word of it."""
        plan = dense(0.8)
        prices = Prices(plan, (1024, 131_072), 8)
        lengths = {}
        for S in (1024.0, 131_072.0):
            policy = Priced(budget=0, prior=0.8, weight=1e6)
            policy.start(prices)
            lengths[S] = policy.choose(State(128, S))
            assert lengths[S] == plan.best(B=128, S=S, gamma_max=8).gamma
        assert lengths[1024.0] != lengths[131_072.0]

    def test_without_a_budget_it_never_tries(self) -> None:
        policy = Priced(budget=0, prior=0.1, weight=100)
        policy.start(PRICES)
        assert set(feed(policy, lambda: 9, 500)) == {0}
        assert policy.trials == 0 and policy.lost == 0


class TestTwoStage:
    def test_without_a_stage_it_is_the_priced_policy(self) -> None:
        made = []
        for policy in (Priced(), TwoStage(None)):
            rng = np.random.default_rng(3)
            policy.start(PRICES)
            made.append(feed(policy, lambda rng=rng: int(rng.geometric(0.3)) - 1, 400))
        assert made[0] == made[1] and any(made[0])

    def test_it_drafts_further_where_a_stage_takes_the_waste_away(self) -> None:
        lengths = {}
        for name, stage in (("plain", None), ("pruned", FirstStage(0.0, 1.0, 0.0))):
            policy = TwoStage(stage, prior=0.75, weight=1e6, budget=0)
            policy.start(PRICES)
            lengths[name] = policy.choose(STATE)
        assert lengths["pruned"] > lengths["plain"]


def test_an_oracle_takes_the_best_length_of_the_truth() -> None:
    oracle = Oracle()
    with pytest.raises(ValueError, match="started"):
        oracle.choose(STATE)
    oracle.start(PRICES)
    for alpha in (0.3, 0.75, 0.9):
        for B in (1, 8, 64):
            truth = alpha ** np.arange(1, 9)
            found = oracle.choose(State(B, 4096.0, 0.0, truth))
            assert found == v4(alpha).best(B=B, S=4096, gamma_max=8).gamma


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Fixed(-1), "gamma = -1"),
        (lambda: Fixed(1.5), "1.5"),  # type: ignore[arg-type]
        (lambda: Threshold(0), "gamma = 0"),
        (lambda: Threshold(3, low=0.8), "low = 0.8"),
        (lambda: Threshold(3, high=float("nan")), "high = nan"),
        (lambda: Threshold(3, rate="mean"), "'mean'"),  # type: ignore[arg-type]
        (lambda: Priced(budget=2), "budget = 2"),
        (lambda: Priced(half_life=0), "half_life = 0"),
        (lambda: Scheduled([3, 2]), "needs a Schedule"),  # type: ignore[arg-type]
        (lambda: TwoStage(0.1), "first stage"),  # type: ignore[arg-type]
        (lambda: Fixed(9).start(PRICES), "prices end at 8"),
        (lambda: Priced(12).start(PRICES), "prices end at 8"),
    ],
)
def test_impossible_settings_are_refused(make: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        make()
