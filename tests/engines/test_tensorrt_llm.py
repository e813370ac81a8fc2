"""TensorRT-LLM: its rule as its tests have it, and that it uses what the schedule says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdec_lib.engines import EngineRefuses, tensorrt_llm
from specdec_lib.schedule import CannotExpress, Schedule
from tests.engines.schedules import EVERY_BATCH, schedules

SCHEDULE = Schedule.from_ranges([(1, 16, 4), (17, 64, 2), (65, 128, 1)])


def rule(mapping: Any, batches: Any, limit: int = 4, **build: Any) -> list[int]:
    config = {"max_draft_len": limit, tensorrt_llm.MAPPING: mapping}
    return tensorrt_llm.lookup(config, batches, **build).tolist()


class TestRule:
    def test_a_key_is_the_last_batch_of_its_range(self) -> None:
        mapping = {4: 4, 8: 2, 32: 1}
        assert rule(mapping, [1, 4, 5, 8, 9, 32, 33, 4096]) == [4, 4, 2, 2, 1, 1, 0, 0]

    def test_a_floor_lifts_zeros_that_are_written_and_that_are_not(self) -> None:
        mapping = {4: 4, 8: 2, 32: 1}
        assert rule(mapping, [1, 8, 32, 33, 4096], floor=1) == [4, 2, 1, 1, 1]
        assert rule({4: 4, 8: 0}, [8], floor=1) == [1]
        assert rule({4: 4, 8: 0}, [8], floor=0) == [0]

    def test_before_pull_request_10860_a_key_was_the_first_batch(self) -> None:
        mapping = {1: 4, 4: 2, 8: 0}
        assert rule(mapping, [1, 3, 4, 7, 8, 999], keys="lower") == [4, 4, 2, 2, 0, 0]
        # the same mapping now means something else
        assert rule(mapping, [1, 3, 4, 7, 8, 999]) == [4, 2, 2, 0, 0, 0]

    def test_order_is_free_and_keys_may_be_text(self) -> None:
        assert rule({"64": 2, "16": 4}, [16, 17]) == [4, 2]

    @pytest.mark.parametrize(
        ("mapping", "message"),
        [
            ({4: 2, 8: 4}, "must hold max_draft_len, 4"),
            ({4: 4, 8: 5}, "exceeds max_draft_len"),
            ({0: 4}, "found 0"),
            ({4: -1}, "found -1"),
            ({}, "wanted is"),
            ([4, 4], "wanted is"),
            ({"4-8": 4}, "found '4-8'"),
        ],
    )
    def test_what_it_rejects(self, mapping: Any, message: str) -> None:
        with pytest.raises(EngineRefuses, match=message):
            rule(mapping, [1])

    def test_the_old_mapping_starts_at_one(self) -> None:
        with pytest.raises(EngineRefuses, match="it must be 1"):
            rule({4: 4}, [1], keys="lower")


def is_expressible(schedule: Schedule, floor: int, batches: Any) -> bool:
    wanted = schedule.length(batches)
    return bool(wanted.min() >= floor and wanted.max() == wanted[0] and wanted[0] > 0)


@settings(max_examples=200, deadline=None)
@given(
    schedules(),
    st.none() | st.integers(1, 4096),
    st.integers(0, 1),
    st.sampled_from(["upper", "lower"]),
)
def test_it_uses_what_the_schedule_says_or_names_what_it_cannot(
    schedule: Schedule, largest: int | None, floor: int, keys: str
) -> None:
    batches = np.arange(1, 4098) if largest is None else EVERY_BATCH[:largest]
    setting: dict[str, Any] = {"max_batch_size": largest, "floor": floor, "keys": keys}
    if is_expressible(schedule, floor, batches):
        config = yaml.safe_load(schedule.to_tensorrt_llm(**setting).yaml())
        used = tensorrt_llm.lookup(config, batches, floor=floor, keys=keys)
        assert used.tolist() == schedule.length(batches).tolist()
    else:
        with pytest.raises(CannotExpress):
            schedule.to_tensorrt_llm(**setting)


@settings(max_examples=100, deadline=None)
@given(schedules(longest=4, speedups=True), st.integers(0, 1), st.booleans())
def test_a_fit_is_the_best_that_does_not_rise(
    schedule: Schedule, floor: int, bounded: bool
) -> None:
    largest = schedule.batch_max if bounded else None
    try:
        config = schedule.to_tensorrt_llm(fit=True, floor=floor, max_batch_size=largest)
    except CannotExpress:
        assume(False)
        raise
    batches = np.arange(1, schedule.batch_max + 1)
    used = tensorrt_llm.lookup(config, batches, floor=floor)
    told = schedule.length(batches).copy()
    for loss in config.losses:
        told[loss.first - 1 : loss.last] = loss.given
    assert used.tolist() == told.tolist()
    if not config.losses or all(loss.first > schedule.batch_max for loss in config.losses):
        return
    table = schedule.speedups
    assert table is not None
    options, lengths = [], {*schedule.distinct, *([floor] if floor else [])}
    for first in lengths:
        if first < max(1, floor):
            continue
        rows = [g for g in lengths if floor <= g <= first]
        rest = table[rows, 1:].max(axis=0).sum()
        options.append(table[first, 0] + rest)
    reached = table[used, batches - 1].sum()
    # a wanted length that is allowed stays, though the table may know a better one
    assert reached <= max(options) + 1e-9
    kept = used == schedule.length(batches)
    assert np.all(kept | (used == used[0]) | (schedule.length(batches) > used[0])
                  | (schedule.length(batches) < floor))  # fmt: skip


def test_the_documents_example() -> None:
    config = SCHEDULE.to_tensorrt_llm(decoding_type="Eagle3", speculative_model="drafter")
    assert yaml.safe_load(config.yaml()) == {
        "speculative_config": {
            "decoding_type": "Eagle3",
            "max_draft_len": 4,
            "speculative_model": "drafter",
            "draft_len_schedule": {16: 4, 64: 2, 128: 1},
        }
    }


def test_names_that_are_no_plain_words_survive_the_text() -> None:
    for name in ("org/model: v1", "true", "~", "a\nb", "€", "- x", "1.4"):
        config = SCHEDULE.to_tensorrt_llm(speculative_model=name)
        assert yaml.safe_load(config.yaml())["speculative_config"]["speculative_model"] == name


class TestWhatItCannotExpress:
    def test_a_rising_length(self) -> None:
        rising = Schedule.from_ranges([(1, 4, 2), (5, 9, 4)])
        with pytest.raises(CannotExpress, match=r"must hold max_draft_len.*batch 5–9 wants 4"):
            rising.to_tensorrt_llm()

    def test_a_rising_length_is_fitted_by_its_speedups(self) -> None:
        """Drafting 3 at batch 1 costs 0.2 there and keeps the 0.7 that batches 2 and 3 gain."""
        table = [[1.0, 1.0, 1.0], [1.4, 1.3, 1.2], [1.0, 1.0, 1.0], [1.2, 1.6, 1.6]]
        schedule = Schedule.from_lengths([1, 3, 3], speedups=table)
        config = schedule.to_tensorrt_llm(fit=True)
        assert tensorrt_llm.lookup(config, [1, 2, 3, 4]).tolist() == [3, 3, 3, 0]
        (loss,) = config.losses
        assert (loss.first, loss.last, loss.given) == (1, 1, 3)
        assert loss.speedup == pytest.approx(0.2)
        # and where it is batch 1 that gains, the others give way
        table[3] = [0.1, 1.6, 1.6]
        other = Schedule.from_lengths([1, 3, 3], speedups=table).to_tensorrt_llm(fit=True)
        assert tensorrt_llm.lookup(other, [1, 2, 3, 4]).tolist() == [1, 1, 1, 0]

    def test_zero_where_the_floor_is_one(self) -> None:
        with pytest.raises(CannotExpress, match=r"at least 1.*129 and above wants 0"):
            SCHEDULE.to_tensorrt_llm(decoding_type="DraftTarget")
        # nothing to refuse where the engine never gets there
        config = SCHEDULE.to_tensorrt_llm(decoding_type="DraftTarget", max_batch_size=128)
        assert config["speculative_config"]["draft_len_schedule"] == {16: 4, 64: 2, 128: 1}
        fitted = SCHEDULE.to_tensorrt_llm(decoding_type="DraftTarget", fit=True)
        assert tensorrt_llm.lookup(fitted, 500, floor=1) == 1
        assert str(fitted.losses[0]).startswith("batch 129 and above: drafts 1 where 0 is wanted")

    def test_versions_between_two_meanings(self) -> None:
        with pytest.raises(CannotExpress, match="keys='lower' or keys='upper'"):
            SCHEDULE.to_tensorrt_llm("1.2")
        old = SCHEDULE.to_tensorrt_llm("1.2", keys="lower")
        assert old["speculative_config"]["draft_len_schedule"] == {1: 4, 17: 2, 65: 1, 129: 0}
        for version in ("new", "1", "1.x"):
            with pytest.raises(ValueError, match="is none"):
                SCHEDULE.to_tensorrt_llm(version)
        with pytest.raises(ValueError, match="'upper' or 'lower'"):
            SCHEDULE.to_tensorrt_llm(keys="middle")

    def test_a_context_axis_and_no_speculation(self) -> None:
        with pytest.raises(CannotExpress, match="context"):
            Schedule.from_lengths([[3, 1]], contexts=[1, 2]).to_tensorrt_llm()
        with pytest.raises(CannotExpress, match="never speculates"):
            Schedule.from_ranges([(1, 64, 0)]).to_tensorrt_llm()


def test_what_to_beware_of_is_said() -> None:
    mtp = SCHEDULE.to_tensorrt_llm(decoding_type="MTP")
    assert any("plain MTP" in warning for warning in mtp.warnings)
    budget = SCHEDULE.to_tensorrt_llm(max_batch_size=128, max_num_tokens=100)
    assert any("max_num_tokens = 100 admits only 33 of 64" in w for w in budget.warnings)
