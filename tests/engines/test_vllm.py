"""vLLM: its rule as executed on the release, and that it uses what the schedule says."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lib.engines import EngineRefuses, vllm
from specdec_lib.schedule import CannotExpress, Schedule
from tests.engines.schedules import EVERY_BATCH, schedules

RANGES = [(1, 16, 4), (17, 64, 2), (65, 128, 1)]
SCHEDULE = Schedule.from_ranges(RANGES)


def rule(entries: Any, batches: Any, limit: int = 3) -> list[int]:
    config = {"num_speculative_tokens": limit, vllm.LIST: entries}
    return vllm.lookup(config, batches).tolist()


class TestRule:
    """Outcomes of the validator of release 0.33.0, executed with num_speculative_tokens = 3."""

    def test_a_gap_takes_the_k_before_it_and_the_tail_the_last(self) -> None:
        entries = [[1, 16, 3], [32, 64, 2]]
        assert rule(entries, [1, 16, 17, 31, 32, 64, 65, 128]) == [3, 3, 3, 3, 2, 2, 2, 2]

    def test_order_is_free_and_long_lengths_are_clamped(self) -> None:
        assert rule([[17, 64, 2], [1, 16, 9]], [16, 17]) == [3, 2]

    def test_zero_stays_zero(self) -> None:
        assert rule([[1, 16, 3], [17, 64, 0]], [17, 64, 65, 4096]) == [0, 0, 0, 0]

    def test_texts_of_numbers_are_taken(self) -> None:
        assert rule([["1", "16", "3"]], [16]) == [3]

    @pytest.mark.parametrize(
        ("entries", "message"),
        [
            ({"1-16": 3}, "wanted is a list"),
            ([], "wanted is a list"),
            ([[2, 16, 3]], "starts at 2"),
            ([[1, 16, 3], [16, 64, 2]], "overlap at batch 16"),
            ([[1, 16, -1]], "found -1"),
            ([[0, 16, 3]], "found 0"),
            ([[1, 16, 3.5]], "found 3.5"),
            ([[1, 16, 0, 4096, 3]], "an entry is"),
            ([[9, 1, 3]], "ends before it starts"),
        ],
    )
    def test_what_it_rejects(self, entries: Any, message: str) -> None:
        with pytest.raises(EngineRefuses, match=message):
            rule(entries, [1])

    def test_data_parallelism_leaves_the_static_length(self) -> None:
        config = {"num_speculative_tokens": 3, vllm.LIST: [[1, 16, 0]]}
        assert vllm.lookup(config, [1, 99], data_parallel=2).tolist() == [3, 3]

    def test_refuses_what_is_no_batch(self) -> None:
        with pytest.raises(ValueError, match="from 1 on"):
            rule([[1, 16, 3]], [0])


@settings(max_examples=150, deadline=None)
@given(schedules(), st.none() | st.integers(1, 4096))
def test_the_engine_uses_what_the_schedule_says(schedule: Schedule, largest: int | None) -> None:
    batches = EVERY_BATCH if largest is None else EVERY_BATCH[:largest]
    wanted = schedule.length(batches)
    # what is written survives the text in which it travels
    config = json.loads(schedule.to_vllm(max_num_seqs=largest).json())
    assert vllm.lookup(config, batches).tolist() == wanted.tolist()
    # and no length is left to the engine's clamping
    assert all(k <= config["num_speculative_tokens"] for _, _, k in config.get(vllm.LIST, []))


@settings(max_examples=60, deadline=None)
@given(schedules(speedups=True), st.integers(1, 6))
def test_a_fit_is_what_the_engine_uses_and_tells_every_loss(schedule: Schedule, limit: int) -> None:
    config = schedule.to_vllm(fit=True, num_speculative_tokens=limit, max_num_seqs=4096)
    used = vllm.lookup(config, EVERY_BATCH)
    wanted = schedule.length(EVERY_BATCH)
    told = wanted.copy()
    for loss in config.losses:
        assert loss.last is not None
        told[loss.first - 1 : loss.last] = loss.given
        assert np.all(wanted[loss.first - 1 : loss.last] == loss.wanted)
    assert used.tolist() == told.tolist()
    table = schedule.speedups
    assert table is not None
    options = sorted({g for g in schedule.distinct if g <= limit} | {limit})
    for batch in range(0, schedule.batch_max, 97):
        if wanted[batch] > limit:
            allowed = {g: table[g, batch] for g in options}
            assert table[used[batch], batch] == max(allowed.values())


def test_the_documents_example() -> None:
    config = SCHEDULE.to_vllm(method="eagle3", model="drafter", max_num_seqs=1024)
    assert dict(config) == {
        "method": "eagle3",
        "model": "drafter",
        "num_speculative_tokens": 4,
        vllm.LIST: [[1, 16, 4], [17, 64, 2], [65, 128, 1], [129, 1024, 0]],
    }
    assert config.losses == ()
    # without the closing range batch 300 would draft one token
    open_ended = {**config, vllm.LIST: config[vllm.LIST][:-1]}
    assert vllm.lookup(open_ended, 300) == 1 and vllm.lookup(config, 300) == 0


def test_one_length_for_all_is_a_static_config() -> None:
    schedule = Schedule.from_ranges([(1, 256, 3)])
    config = schedule.to_vllm(method="mtp", max_num_seqs=256)
    assert dict(config) == {"method": "mtp", "num_speculative_tokens": 3}
    assert not config.warnings


def test_c06_drafting_nothing_is_not_the_same_as_no_speculation() -> None:
    config = Schedule.from_ranges([(1, 4, 2), (5, 512, 0)]).to_vllm()
    assert any("not the same as no speculation" in warning for warning in config.warnings)
    never = Schedule.from_ranges([(1, 4, 2)]).to_vllm(max_num_seqs=4)
    assert not any("not the same" in warning for warning in never.warnings)


def test_c07_a_token_budget_admits_fewer_sequences() -> None:
    """32 tokens hold ⌊32/3⌋ = 10 sequences of three tokens each."""
    schedule = Schedule.from_ranges([(1, 32, 2)])
    config = schedule.to_vllm(max_num_seqs=32, max_num_batched_tokens=32)
    (warning,) = config.warnings
    assert "admits only 10 of 32 sequences" in warning and "raise it to 96" in warning
    assert not schedule.to_vllm(max_num_seqs=32, max_num_batched_tokens=96).warnings
    # captured sizes must hold whole sequences
    (dead,) = schedule.to_vllm(max_num_seqs=32, capture_sizes=[1, 2, 4, 8, 32, 128]).warnings
    assert "no captured size is a multiple of 3 tokens" in dead
    (short,) = schedule.to_vllm(max_num_seqs=32, capture_sizes=[3, 48]).warnings
    assert "48 tokens, which are 16 sequences" in short
    assert not schedule.to_vllm(max_num_seqs=32, capture_sizes=[3, 96]).warnings


class TestWhatItCannotExpress:
    def test_lengths_above_its_own_maximum(self) -> None:
        with pytest.raises(CannotExpress, match="batch 1–16 wants 4 and would get 3"):
            SCHEDULE.to_vllm(num_speculative_tokens=3)
        fitted = SCHEDULE.to_vllm(num_speculative_tokens=3, fit=True)
        assert vllm.lookup(fitted, [16, 17]).tolist() == [3, 2]
        assert str(fitted.losses[0]).startswith("batch 1–16: drafts 3 where 4 is wanted")

    def test_data_parallelism(self) -> None:
        with pytest.raises(CannotExpress, match=r"data parallelism.*129 and above wants 0"):
            SCHEDULE.to_vllm(data_parallel=2)
        fitted = SCHEDULE.to_vllm(data_parallel=2, fit=True)
        assert vllm.LIST not in fitted
        assert {loss.given for loss in fitted.losses} == {fitted["num_speculative_tokens"]}

    def test_the_best_fixed_length_and_its_loss(self) -> None:
        """Length 2 gives 1.5 on the mean, length 1 1.4; it loses 0.4 where 1 is wanted."""
        table = [[1.0, 1.0], [1.2, 1.6], [1.8, 1.2]]
        schedule = Schedule.from_lengths([2, 1], speedups=table)
        fitted = schedule.to_vllm(data_parallel=2, max_num_seqs=2, fit=True)
        assert fitted["num_speculative_tokens"] == 2
        (loss,) = fitted.losses
        assert (loss.first, loss.last, loss.wanted, loss.given) == (2, 2, 1, 2)
        assert loss.speedup == pytest.approx(0.4)
        worse = Schedule.from_lengths([1, 0], speedups=[[1.0, 1.0], [1.1, 0.5]])
        with pytest.raises(CannotExpress, match="none is better than 0"):
            worse.to_vllm(data_parallel=2, max_num_seqs=2, fit=True)

    def test_methods_of_the_first_model_runner(self) -> None:
        with pytest.raises(CannotExpress, match="drops the list for method 'dspark'"):
            SCHEDULE.to_vllm(method="dspark", model_runner=1)
        assert vllm.LIST in SCHEDULE.to_vllm(method="dspark", model_runner=2)
        assert vllm.LIST in SCHEDULE.to_vllm(method="eagle3", model_runner=1)
        assert any("dspark" in w for w in SCHEDULE.to_vllm(method="dspark").warnings)

    def test_a_context_axis(self) -> None:
        by_context = Schedule.from_lengths([[3, 1], [2, 0]], contexts=[4096, 32768])
        with pytest.raises(CannotExpress, match=r"write one row, schedule.at\(context="):
            by_context.to_vllm()
        assert by_context.at(4096).to_vllm()["num_speculative_tokens"] == 3
        fitted = by_context.to_vllm(fit=True)
        assert vllm.lookup(fitted, [1, 2]).tolist() == [1, 0]
        assert any("shortest length of any context" in word for word in fitted.explanations)
        table = np.ones((4, 2, 2))
        table[2] = 1.5
        known = Schedule.from_lengths([[3, 1], [2, 0]], contexts=[4096, 32768], speedups=table)
        assert vllm.lookup(known.to_vllm(fit=True), [1, 2]).tolist() == [2, 2]

    def test_no_speculation_at_all(self) -> None:
        with pytest.raises(CannotExpress, match="without a speculative config"):
            Schedule.from_ranges([(1, 64, 0)]).to_vllm()

    def test_an_unknown_setting(self) -> None:
        with pytest.raises(TypeError, match="top_k"):
            SCHEDULE.to_vllm(top_k=4)
