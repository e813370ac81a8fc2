"""Choosing lengths: against exhaustive search, and by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from specdec_lib.schedule import ScheduleError
from specdec_lib.schedule.choose import (
    best_lengths,
    bounded,
    choose_lengths,
    few_lengths,
    follow,
    hysteresis,
    only,
    taxed,
    with_minimum_gain,
)

tables = st.tuples(st.integers(1, 7), st.integers(1, 9)).flatmap(
    # few distinct values, so that ties occur
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.5, 0.9, 1.0, 1.2, 1.5]))
)


@given(tables)
def test_best_is_the_shortest_of_the_best(speedup: np.ndarray[Any, Any]) -> None:
    for batch, length in enumerate(best_lengths(speedup)):
        column = speedup[:, batch].tolist()
        assert column[length] == max(column)
        assert length == column.index(max(column))


def test_ties_within_rounding_go_to_the_shorter() -> None:
    assert best_lengths([[1.0], [1.0 + 1e-13], [1.0 + 2e-13]]).tolist() == [0]
    assert best_lengths([[1.0], [1.0 + 1e-11]]).tolist() == [1]


@settings(max_examples=200)
@given(tables, st.integers(1, 4))
def test_few_lengths_are_exact(speedup: np.ndarray[Any, Any], most: int) -> None:
    """Every set of at most that many lengths is tried."""
    sets = [
        chosen
        for size in range(1, min(most, len(speedup)) + 1)
        for chosen in itertools.combinations(range(len(speedup)), size)
    ]
    value = {chosen: speedup[list(chosen)].max(axis=0).sum() for chosen in sets}
    highest = max(value.values())
    ties = [chosen for chosen in sets if value[chosen] >= highest * (1 - 1e-9)]
    assert few_lengths(speedup, most) == min(ties, key=lambda chosen: (len(chosen), chosen))


def test_few_lengths_is_no_greedy_choice() -> None:
    """The best single length, 1, is in no best pair: greedy search would keep it."""
    speedup = [[1.0, 0.0, 0.0], [0.7, 0.7, 0.7], [0.0, 1.0, 1.0]]
    assert few_lengths(speedup, 1) == (1,)
    assert few_lengths(speedup, 2) == (0, 2)


def test_few_lengths_over_contexts_and_with_forbidden_ones() -> None:
    speedup = np.array([[[1.0, 1.0]], [[2.0, 0.5]], [[0.5, 3.0]]])
    assert few_lengths(speedup, 1) == (2,)  # 3.5 over both contexts
    assert few_lengths(bounded(speedup, longest=1), 1) == (1,)
    with pytest.raises(ScheduleError, match="no 1 lengths are allowed"):
        few_lengths([[1.0, -np.inf], [-np.inf, 1.0]], 1)
    with pytest.raises(ScheduleError, match="at least one length"):
        few_lengths(speedup, 0)


@given(tables, st.floats(0, 0.6), st.booleans())
def test_minimum_gain_by_a_plain_walk(
    speedup: np.ndarray[Any, Any], gain: float, falling: bool
) -> None:
    order = list(range(speedup.shape[1]))[:: -1 if falling else 1]
    best = [int(np.argmax(speedup[:, batch])) for batch in range(speedup.shape[1])]
    wanted: dict[int, int] = {}
    current: int | None = None
    for batch in order:
        column = speedup[:, batch].tolist()
        if gain == 0:
            current = best[batch]
        elif current is None:
            current = next(g for g in range(len(column)) if column[g] * (1 + gain) >= max(column))
        elif column[current] * (1 + gain) < max(column):
            current = best[batch]
        wanted[batch] = current
    found = with_minimum_gain(speedup, gain, falling=falling)
    assert found.tolist() == [wanted[batch] for batch in range(speedup.shape[1])]


def test_a_gain_keeps_the_loss_below_it() -> None:
    rng = np.random.default_rng(3)
    speedup = rng.uniform(0.5, 2, (6, 40, 3))
    lengths = with_minimum_gain(speedup, 0.1)
    used = np.take_along_axis(speedup, lengths[None], axis=0)[0]
    assert np.all(used * 1.1 >= speedup.max(axis=0))
    assert np.sum(np.diff(lengths, axis=0) != 0) < np.sum(
        np.diff(best_lengths(speedup), axis=0) != 0
    )


def test_hysteresis_has_a_band() -> None:
    """Length 2 is best to batch 3, length 1 above; 5 % apart at batches 3 and 4."""
    speedup = np.array(
        [[1.0] * 6, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [1.6, 1.4, 1.25, 1.25, 1.2, 1.0]]
    )
    up, down = hysteresis(speedup, 0.06)
    assert up.tolist() == [2, 2, 2, 2, 1, 1]
    assert down.tolist() == [2, 2, 1, 1, 1, 1]
    # within the band the length stays what it is
    assert follow(up, down, [1, 3, 4, 3, 5, 4, 3, 4, 2, 4]).tolist() == [
        2,
        2,
        2,
        2,
        1,
        1,
        1,
        1,
        2,
        2,
    ]
    # without hysteresis it would switch at each crossing
    best = best_lengths(speedup)
    assert follow(best, best, [3, 4, 3, 4]).tolist() == [2, 1, 2, 1]
    assert follow(up, down, [3, 4, 3, 4]).tolist() == [2, 2, 2, 2]


def test_follow_refuses_what_it_cannot_follow() -> None:
    with pytest.raises(ScheduleError, match="1 to 2"):
        follow([1, 2], [1, 2], [3])
    with pytest.raises(ScheduleError, match="two rows"):
        follow([1, 2], [1], [1])


def test_an_idle_tax_moves_the_choice() -> None:
    """A length that loses 10 % beats drafting nothing at a tax of 20 %: 0.9 > 1/1.2."""
    speedup = [[1.0, 1.0], [0.9, 0.8]]
    assert best_lengths(speedup).tolist() == [0, 0]
    assert best_lengths(taxed(speedup, 0.2)).tolist() == [1, 0]
    assert taxed(speedup, 0.25)[0].tolist() == [0.8, 0.8]
    assert taxed(bounded(speedup, shortest=1), 0.2)[0].tolist() == [-np.inf, -np.inf]


def test_bounds_and_sets() -> None:
    speedup = [[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]
    assert best_lengths(bounded(speedup, shortest=1)).tolist() == [2, 1]
    assert best_lengths(bounded(speedup, longest=1)).tolist() == [1, 0]
    assert best_lengths(only(speedup, (1,))).tolist() == [1, 1]
    with pytest.raises(ScheduleError, match="have 0 to 2"):
        bounded(speedup, shortest=3)
    with pytest.raises(ScheduleError, match="lengths from 2 to 1"):
        bounded(speedup, shortest=2, longest=1)
    with pytest.raises(ScheduleError, match="have 0 to 2"):
        only(speedup, (3,))


def test_everything_together() -> None:
    rng = np.random.default_rng(5)
    speedup = rng.uniform(0.5, 2, (8, 30))
    lengths = choose_lengths(speedup, tax=0.3, shortest=1, longest=5, most=2, gain=0.05)
    assert set(lengths.tolist()) <= set(range(1, 6)) and len(set(lengths.tolist())) <= 2
    assert choose_lengths(speedup).tolist() == best_lengths(speedup).tolist()


@pytest.mark.parametrize(
    "speedup", [[1.0, 2.0], np.empty((0, 2)), [[np.nan]], [[np.inf]], [[-np.inf], [-np.inf]]]
)
def test_refuses_what_is_no_table(speedup: Any) -> None:
    with pytest.raises(ScheduleError):
        best_lengths(speedup)


def test_refuses_a_gain_that_is_none() -> None:
    for gain in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ScheduleError, match="minimum gain"):
            with_minimum_gain([[1.0]], gain)
