"""Policies beside each other in simulation: what each may lose, and what none can win."""

from __future__ import annotations

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib import Geometric
from specdec_lib.control import FirstStage, Fixed, Oracle, Policy, Priced, Scheduled, Threshold
from specdec_lib.control import TwoStage as Staged
from specdec_lib.simulate import Closed, Open, Population, Report, Workload, run
from tests.settings_of_runs import V4, dense, v4


def played(plan: sd.Plan, batch: int, policy: Policy, **how: int) -> Report:
    return run(plan, Workload(Closed(batch), 4096), policy, **({"rounds": 1500} | how))


@pytest.mark.parametrize("alpha", [0.1, 0.6, 0.75, 0.9])
@pytest.mark.parametrize("batch", [1, 8, 32])
@pytest.mark.parametrize("make", [v4, dense])
def test_the_priced_policy_loses_no_more_than_its_exploration(
    alpha: float, batch: int, make: object
) -> None:
    """Against never speculating, in every stationary setting: its budget, and four deviations."""
    policy = Priced()
    found = played(make(alpha), batch, policy)  # type: ignore[operator]
    assert found.lost <= policy.budget * found.seconds * 1.05
    assert found.speedup >= 1 - policy.budget - 4 * found.speedup_error


@pytest.mark.parametrize("alpha", [0.6, 0.75, 0.9])
@pytest.mark.parametrize("batch", [1, 8, 32])
def test_the_oracle_is_not_beaten_beyond_noise(alpha: float, batch: int) -> None:
    plan = v4(alpha)
    best = played(plan, batch, Oracle())
    assert abs(best.speedup - plan.best(B=batch, S=4096).speedup) <= 4 * best.speedup_error + 1e-9
    for policy in (Fixed(1), Fixed(4), Threshold(4), Priced()):
        other = played(plan, batch, policy)
        noise = 4 * np.hypot(best.speedup_error, other.speedup_error)
        assert other.speedup <= best.speedup + noise, policy


def test_in_the_gutter_fixed_and_threshold_lose_and_priced_does_not() -> None:
    """Experts at B = 8, with an acceptance that the rule of thumb calls good: off is best there."""
    plan = v4(0.73)
    assert plan.best(B=8, S=4096).gamma == 0
    fixed, threshold, priced = (played(plan, 8, p) for p in (Fixed(3), Threshold(3), Priced()))
    assert fixed.speedup < 0.95 and threshold.speedup < 0.95
    assert priced.speedup > 0.985
    assert priced.by_length[0] > 0.9 * priced.seconds


def test_the_rule_stops_where_speculation_would_pay() -> None:
    """A dense model at a small batch pays at 50 %; the rule of thumb calls that too little."""
    plan = dense(0.5)
    assert plan.best(B=4, S=4096).speedup > 1.2
    threshold, priced = (played(plan, 4, p) for p in (Threshold(3), Priced()))
    assert threshold.speedup < 1.1 < 1.2 < priced.speedup


def failing(start: float, end: float) -> Population:
    return Population([Geometric(0.8)]).then(start, [Geometric(0)]).then(end, [Geometric(0.8)])


def test_a_drafter_that_fails_and_recovers() -> None:
    """Dense, 16 sequences: a policy that adapts stops soon after the failure, and comes back."""
    work = Workload(Closed(16), 4096, acceptance=failing(20, 40))
    for policy in (Fixed(4), Threshold(4), Priced(), Threshold(4, pause=float("inf"))):
        found = run(dense(0.8), work, policy, seconds=60, rounds=20_000, trace=True)
        rounds = found.trace
        assert rounds is not None
        ends = rounds["seconds"].cumsum()
        shares = []
        for low, high in ((10, 20), (30, 40), (50, 60)):
            inside = (ends > low) & (ends <= high)
            shares.append(float(np.average(rounds["gamma"][inside] > 0,
                                           weights=rounds["seconds"][inside])))  # fmt: skip
        if isinstance(policy, Fixed):
            assert shares == [1, 1, 1]
        elif isinstance(policy, Threshold) and policy.pause == float("inf"):
            assert shares[0] > 0.95 and shares[1] == shares[2] == 0
        else:
            assert shares[0] > 0.9 and shares[1] < 0.35 and shares[2] > 0.9, found.policy


def test_a_schedule_and_a_burst() -> None:
    """Arrivals in bursts move the batch through the gutter: a schedule by batch beats every fixed
    length, and the priced policy comes near to it without being told the acceptance."""
    plan = v4(0.7)
    work = Workload(Open(3, 64, peak=60, period=8, length=2), 2048, 128)
    schedule = plan.schedule(batch_max=64, context=2048, gamma_max=8)
    reports = {
        policy.name: run(plan, work, policy, rounds=3000, gamma_max=8)
        for policy in (Fixed(0), Fixed(1), Fixed(4), Scheduled(schedule), Priced(), Oracle())
    }
    fixed = max(reports[name].speedup for name in ("off", "fixed 1", "fixed 4"))
    assert reports["schedule"].speedup > fixed
    assert reports["priced"].speedup > 1
    assert reports["priced"].speedup > 0.96 * reports["oracle"].speedup
    assert reports["schedule"].speedup == pytest.approx(reports["oracle"].speedup, rel=0.02)


def test_a_first_stage_pays_in_the_gutter() -> None:
    """Where waste is dear, taking it away before the full pass turns a loss into a gain."""
    plan = v4(0.73)
    pruned = played(plan, 8, Staged(FirstStage(0.05, 0.95, 0.2)))
    assert pruned.speedup > 1.02 > played(plan, 8, Oracle()).speedup
    dear = played(plan, 8, Staged(FirstStage(0.9, 0.95, 0.2)))
    assert dear.speedup > 1 - 0.01 - 4 * dear.speedup_error


def test_a_stage_that_is_absent_changes_nothing() -> None:
    one, two = played(V4, 16, Priced()), played(V4, 16, Staged(None))
    assert one == two
