"""Schedule: ranges, look-up, what is refused, and how it looks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specdec_lib as sd
from specdec_lib.schedule import Cell, Schedule, ScheduleError, differences

#: The schedule of the three engines' documents: 4 to batch 16, 2 to 64, 1 to 128, none above.
RANGES = [(1, 16, 4), (17, 64, 2), (65, 128, 1)]
SCHEDULE = Schedule.from_ranges(RANGES)


def test_ranges_are_inclusive_and_end() -> None:
    assert SCHEDULE.length([1, 16, 17, 64, 65, 128, 129, 10**9]).tolist() == [
        4,
        4,
        2,
        2,
        1,
        1,
        0,
        0,
    ]
    assert SCHEDULE.length(16) == 4 and isinstance(SCHEDULE.length(16), int)
    assert SCHEDULE.batch_max == 128
    assert SCHEDULE.distinct == (1, 2, 4)
    assert SCHEDULE.longest == 4


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_a_length_for_every_batch_comes_back(lengths: list[int]) -> None:
    schedule = Schedule.from_lengths(lengths)
    assert schedule.length(np.arange(1, len(lengths) + 1)).tolist() == lengths
    assert schedule.lengths.tolist() == lengths
    # neighbours of one length are one range
    assert all(
        a.length != b.length for a, b in zip(schedule.cells, schedule.cells[1:], strict=False)
    )
    assert sum(cell.batches for cell in schedule.cells) == len(lengths)


@given(
    st.integers(1, 4).flatmap(
        lambda rows: st.lists(
            st.lists(st.integers(0, 5), min_size=rows, max_size=rows), min_size=1, max_size=20
        )
    )
)
def test_contexts_are_rows(table: list[list[int]]) -> None:
    contexts = [1000 * (i + 1) for i in range(len(table[0]))]
    schedule = Schedule.from_lengths(table, contexts=contexts)
    batches = np.arange(1, len(table) + 1)[:, None]
    assert schedule.length(batches, contexts).tolist() == table
    assert schedule.length(batches, np.array(contexts) - 999).tolist() == table
    assert schedule.at(contexts[-1]).length(batches[:, 0]).tolist() == [row[-1] for row in table]
    assert schedule.length(1, contexts[-1] + 1) == 0


def test_speedups_margins_and_reasons_are_per_range() -> None:
    speedups = [[1.0, 1.0, 1.0], [1.5, 1.3, 0.8], [1.1, 1.4, 0.9]]
    schedule = Schedule.from_lengths(
        [1, 1, 0], speedups=speedups, reasons=["expert", "kv", "compute"]
    )
    first, second = schedule.cells
    assert (first.span, first.length, first.reason) == ("1–2", 1, "expert, kv")
    assert (first.speedup, first.margin) == (pytest.approx(1.4), pytest.approx(-0.1))
    assert (second.span, second.length, second.reason) == ("3", 0, "compute")
    assert (second.speedup, second.margin) == (1.0, pytest.approx(0.1))


def test_equality_looks_at_everything() -> None:
    assert Schedule.from_ranges(RANGES) == SCHEDULE
    assert hash(Schedule.from_ranges(RANGES)) == hash(SCHEDULE)
    assert Schedule.from_ranges(RANGES, name="x") != SCHEDULE
    assert Schedule.from_ranges([*RANGES[:2], (65, 128, 0)]) != SCHEDULE
    lengths = [1, 0]
    one, other = [[1.0, 1], [2, 1]], [[1.0, 1], [3, 1]]
    assert Schedule.from_lengths(lengths, speedups=one) == Schedule.from_lengths(
        lengths, speedups=one
    )
    assert Schedule.from_lengths(lengths, speedups=one) != Schedule.from_lengths(lengths)
    assert Schedule(Schedule.from_lengths(lengths).rows, speedups=np.array(one)) != Schedule(
        Schedule.from_lengths(lengths).rows, speedups=np.array(other)
    )
    assert SCHEDULE != "schedule"


def test_the_speedups_of_a_schedule_cannot_be_changed() -> None:
    given_table = np.ones((2, 2))
    schedule = Schedule.from_lengths([1, 0], speedups=given_table)
    given_table[:] = 7
    assert schedule.speedups is not None and schedule.speedups.max() == 1
    with pytest.raises(ValueError):
        schedule.speedups[0, 0] = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schedule.from_ranges([]), "at least one range"),
        (lambda: Schedule.from_ranges([(2, 16, 3)]), "must start at batch 1"),
        (lambda: Schedule.from_ranges([(1, 16, 3), (32, 64, 2)]), "no range holds batch 17–31"),
        (lambda: Schedule.from_ranges([(1, 16, 3), (16, 64, 2)]), "1–16 and 16–64 overlap"),
        (lambda: Schedule.from_ranges([(1, 16, -1)]), "cannot have -1 tokens"),
        (lambda: Schedule.from_ranges([(1, 0, 1)]), "ends before it starts"),
        (lambda: Schedule.from_ranges([(0, 4, 1)]), "counted from 1"),
        (lambda: Schedule.from_ranges([(1, 4, 2.5)]), "2.5 is no whole number"),  # type: ignore[list-item]
        (lambda: Schedule.from_ranges([(1, 4, True)]), "True is no whole number"),
        (lambda: Cell(1, 4, 2, float("nan")), "speedup = nan"),
        (lambda: Cell(1, 4, 2, -1.0), "a speedup of -1.0"),
        (lambda: Schedule.from_lengths([1.5, 2]), "whole numbers, not float64"),
        (lambda: Schedule.from_lengths([[1, 2]]), r"shape \(1, 2\)"),
        (lambda: Schedule.from_lengths([1, -2]), "cannot have -2 tokens"),
        (lambda: Schedule.from_lengths([[1, 2]], contexts=[5, 5]), "contexts must increase"),
        (lambda: Schedule.from_lengths([1, 2], speedups=[[1, 1]]), "length 1 has no speedup"),
        (lambda: Schedule.from_lengths([0], speedups=[[np.nan]]), "finite"),
        (lambda: Schedule.from_lengths([0], speedups=[[1.0, 2.0]]), r"shape \(1, 2\)"),
        (lambda: Schedule.from_lengths([0, 1], reasons=["x"]), r"reasons have shape \(1,\)"),
        (lambda: Schedule((SCHEDULE.rows[0],), (1, 2)), "1 rows for 2 ranges of contexts"),
        (
            lambda: Schedule((SCHEDULE.rows[0], (Cell(1, 4, 1),)), (1, 2)),
            r"end at \[4, 128\]",
        ),
        (
            lambda: Schedule.from_ranges(RANGES, speedups=np.ones((3, 128))),
            "length 4 has no speedup",
        ),
    ],
)
def test_refuses_what_is_no_schedule(make: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        make()


def test_look_up_refuses_what_is_no_batch_or_context() -> None:
    for batch in (0, -1, 1.5, "16", [1, 0], float("nan")):
        with pytest.raises(ScheduleError):
            SCHEDULE.length(batch)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no context axis"):
        SCHEDULE.length(1, 5)
    by_context = Schedule.from_lengths([[1, 2]], contexts=[10, 20])
    with pytest.raises(TypeError, match="needs a context"):
        by_context.length(1)
    with pytest.raises(ScheduleError, match="beyond 20"):
        by_context.at(21)
    with pytest.raises(ScheduleError, match="take one row"):
        by_context.cells  # noqa: B018
    assert SCHEDULE.at(5) is SCHEDULE


def test_text_and_table_show_the_ranges_and_only_what_is_known() -> None:
    schedule = Schedule.from_ranges(
        [Cell(1, 16, 4, 1.5, 0.25, "expert <tax>"), (17, 64, 2)],
        name="V4 on B200",
        assumptions=["α = 0.75"],
        notes=["a note"],
    )
    text = repr(schedule)
    assert "V4 on B200" in text and "1–16" in text and "1.500" in text and "+0.250" in text
    assert "above batch 64: 0" in text and "assumed: α = 0.75" in text and "note: a note" in text
    html = schedule._repr_html_()
    assert "expert &lt;tax&gt;" in html and "<caption>V4 on B200</caption>" in html
    assert "speedup" not in repr(SCHEDULE)
    both = repr(Schedule.from_lengths([[1, 2]], contexts=[10, 20]))
    assert "context 1–10" in both and "context 11–20" in both
    assert "above batch 1 or context 20: 0" in both


def test_it_is_a_public_name() -> None:
    assert sd.Schedule is Schedule


def test_schedules_of_a_low_and_a_high_acceptance_are_told_apart() -> None:
    low = Schedule.from_ranges([(1, 4, 2), (5, 16, 0)])
    middle = Schedule.from_ranges([(1, 4, 2), (5, 32, 1)])
    assert [str(d) for d in differences([low, middle])] == ["batch 5–32: 0 or 1"]
    high = Schedule.from_ranges([(1, 8, 3), (9, 32, 1)])
    found = differences([low, middle, high])
    assert [(d.first, d.last, d.lengths) for d in found] == [
        (1, 4, (2, 2, 3)),
        (5, 8, (0, 1, 3)),
        (9, 32, (0, 1, 1)),
    ]
    assert differences([low, low]) == ()
    one = Schedule.from_lengths([[1, 2], [1, 0]], contexts=[10, 20])
    other = Schedule.from_lengths([[1, 2], [1, 1]], contexts=[10, 20])
    (only,) = differences([one, other])
    assert str(only) == "batch 2, context to 20: 0 or 1"
    with pytest.raises(ScheduleError, match="two schedules"):
        differences([low])
    with pytest.raises(ScheduleError, match="other contexts"):
        differences([low, one])
