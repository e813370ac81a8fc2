"""plan.schedule: what a plan wants at every batch, made into a table."""

from __future__ import annotations

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib.formula import DomainError
from specdec_lib.schedule import ScheduleError

COST = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
PLAN = sd.Plan(COST, sd.drafters.fraction(0.10), sd.Geometric(0.75))
BATCHES = np.arange(1, 201)


def test_it_is_the_best_length_at_every_batch() -> None:
    made = PLAN.schedule(batch_max=200, context=4096)
    best = PLAN.best(B=BATCHES, S=4096)
    assert made.lengths.tolist() == best.gamma.tolist()
    assert made.length(201) == 0
    for cell in made.cells:
        inside = slice(cell.first - 1, cell.last)
        assert cell.speedup == pytest.approx(best.speedup[inside].mean(), rel=1e-12)
        assert cell.reason == "expert-bound"


def test_rows_by_context_are_the_schedules_of_their_longest() -> None:
    both = PLAN.schedule(batch_max=64, context=[4096, 131072])
    for context in both.contexts:
        alone = PLAN.schedule(batch_max=64, context=context)
        assert both.at(context).lengths.tolist() == alone.lengths.tolist()


def test_few_lengths_and_a_minimum_gain_are_kept() -> None:
    made = PLAN.schedule(batch_max=200, context=4096, most=2, gain=0.03)
    assert len(made.distinct) <= 2
    free = PLAN.best(B=BATCHES, S=4096).speedup
    given = PLAN.speedup(gamma=made.lengths, B=BATCHES, S=4096)
    assert (given <= free * (1 + 1e-12)).all() and (given >= 0.85 * free).all()


def test_hysteresis_lies_between_the_two_directions() -> None:
    up, down = (
        PLAN.schedule(batch_max=200, context=4096, gain=0.02, falling=falling).lengths
        for falling in (False, True)
    )
    assert (up != down).any()
    values = [PLAN.speedup(gamma=lengths, B=BATCHES, S=4096) for lengths in (up, down)]
    best = PLAN.best(B=BATCHES, S=4096).speedup
    assert all((best / value <= 1.02 * (1 + 1e-12)).all() for value in values)


def test_c06_the_tax_of_idle_speculation_moves_the_break_even() -> None:
    """Case C06: where zero costs 10 %, a draft that loses less than that is better than none."""
    weak = sd.Plan(COST, sd.drafters.fraction(0.10), sd.Geometric(0.68))
    free = weak.schedule(batch_max=16, context=4096).lengths
    taxed = weak.schedule(batch_max=16, context=4096, idle_tax=0.10).lengths
    assert (free == 0).any() and (taxed >= free).all() and (taxed[free == 0] > 0).any()
    floor = weak.schedule(batch_max=16, context=4096, shortest=1)
    assert floor.lengths.min() >= 1


def test_sensitivity_marks_exactly_the_batches_that_differ() -> None:
    ends = sd.Geometric(0.7), sd.Geometric(0.8)
    found = PLAN.sensitivity(low=ends[0], high=ends[1], batch_max=64, context=4096)
    marked = np.zeros(64, dtype=bool)
    for first, last, context, lengths in found.differing:
        assert context == 0 and len(set(lengths)) > 1
        marked[first - 1 : last] = True
    every = [
        sd.Plan(COST, PLAN.drafter, curve).best(B=BATCHES[:64], S=4096).gamma
        for curve in (ends[0], PLAN.acceptance, ends[1])
    ]
    differ = (every[0] != every[1]) | (every[2] != every[1])
    assert marked.tolist() == differ.tolist()
    assert found.settled == pytest.approx(1 - differ.mean())


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"batch_max": 0}, DomainError, "batch_max = 0"),
        ({"batch_max": 10**9}, DomainError, "batch_max"),
        ({"batch_max": 1.5}, TypeError, "batch_max = 1.5"),
        ({"batch_max": True}, DomainError, "batch_max"),
        ({"context": -1}, DomainError, "S"),
        ({"context": [4096, 1024]}, ScheduleError, "contexts must increase"),
        ({"shortest": 20}, ScheduleError, "lengths from 20"),
        ({"most": 0}, DomainError, "most = 0"),
        ({"most": "3"}, TypeError, "most = '3' is no whole number"),
        ({"most": True}, DomainError, "most = True"),
        ({"shortest": None}, TypeError, "shortest = None"),
        ({"gamma_max": True}, TypeError, "gamma_max = True"),
        ({"gain": "0.1"}, TypeError, "gain"),
        ({"gain": [0.1]}, TypeError, "gain"),
        ({"idle_tax": True}, TypeError, "idle_tax"),
        ({"falling": "yes"}, TypeError, "falling = 'yes'"),
        ({"gain": -0.1}, ScheduleError, "minimum gain"),
        ({"idle_tax": -3.0}, DomainError, "tax"),
    ],
)
def test_bad_input(options: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        PLAN.schedule(**{"batch_max": 16, "context": 4096, **options})


def test_one_acceptance_at_a_time() -> None:
    several = sd.Plan(COST, PLAN.drafter, sd.Geometric([0.7, 0.8]))
    with pytest.raises(DomainError, match="one acceptance"):
        several.schedule(batch_max=4, context=4096)
