"""SGLang: its rule as executed on the release, and that it uses what the schedule says."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdec_lib.engines import EngineRefuses, sglang, sglang_flags
from specdec_lib.schedule import CannotExpress, Schedule
from tests.engines.schedules import EVERY_BATCH, schedules

SCHEDULE = Schedule.from_ranges([(1, 16, 4), (17, 64, 2), (65, 128, 1)])
POWERS = [1, 2, 4, 8, 16, 32, 64]
SLOTS = {str(key): {"candidate_steps": [steps]} for key, steps in ((1, 3), (16, 2), (64, 0))}


def rule(config: Any, batches: Any, sizes: Any = ()) -> list[int]:
    return sglang.lookup(config, batches, cuda_graph_sizes=sizes).tolist()


class TestRule:
    def test_a_batch_is_padded_to_the_next_graph(self) -> None:
        """Executed on release 0.5.23: 9 runs in the graph of 16, 63 in that of 64."""
        assert rule(SLOTS, [9, 63], POWERS) == [2, 0]
        assert rule(SLOTS, [9, 63]) == [3, 2]

    def test_beyond_the_largest_graph_nothing_is_padded(self) -> None:
        assert sglang.padded([64, 65, 100], POWERS).tolist() == [64, 65, 100]

    def test_below_the_first_key_the_first_slot_applies(self) -> None:
        assert rule({"8": {"candidate_steps": [2]}}, [1, 8]) == [2, 2]

    @pytest.mark.parametrize(
        ("config", "message"),
        [
            ({"1-16": {"candidate_steps": [3]}}, "'1-16'"),
            ({"1.5": {"candidate_steps": [3]}}, "'1.5'"),
            ({"-1": {"candidate_steps": [3]}}, "'-1'"),
            ({}, "no key that is a batch size"),
            ({"candidate_steps": [1, 3, 7]}, "'candidate_steps'"),
            ({"1": {"candidate_steps": []}}, "must be a list"),
            ({"1": {"candidate_steps": [-1]}}, "found -1"),
            ({"1": {"candidate_steps": [2.5]}}, "found 2.5"),
            ({"1": 3}, "must be a list"),
        ],
    )
    def test_what_it_rejects(self, config: Any, message: str) -> None:
        with pytest.raises(EngineRefuses, match=message):
            rule(config, [1])

    def test_settings_beside_the_slots_are_passed_over(self) -> None:
        assert rule({"ema_alpha": 0.2, "1": {"candidate_steps": [3]}}, [5]) == [3]

    def test_several_candidates_pin_nothing(self) -> None:
        with pytest.raises(ValueError, match="only a single candidate pins"):
            rule({"1": {"candidate_steps": [1, 3]}}, [1])


sizes_of_graphs = st.sets(st.integers(1, 512), max_size=12)


@settings(max_examples=100, deadline=None)
@given(schedules(), st.none() | st.integers(1, 4096))
def test_with_its_own_graphs_every_schedule_is_expressed(
    schedule: Schedule, largest: int | None
) -> None:
    batches = EVERY_BATCH if largest is None else EVERY_BATCH[:largest]
    assume(schedule.length(batches).max() > 0)
    config = schedule.to_sglang(max_running_requests=largest)
    at = config.flags.index("--cuda-graph-bs-decode")
    sizes = [int(size) for size in config.flags[at + 1 :]]
    used = rule(json.loads(config.json()), batches, sizes)
    assert used == schedule.length(batches).tolist()


@settings(max_examples=150, deadline=None)
@given(schedules(speedups=True), sizes_of_graphs)
def test_it_uses_what_the_schedule_says_or_names_what_it_cannot(
    schedule: Schedule, sizes: set[int]
) -> None:
    wanted = schedule.length(EVERY_BATCH)
    graphs = sglang.padded(EVERY_BATCH, sizes)
    same = all(len(set(wanted[graphs == graph].tolist())) == 1 for graph in sizes)
    if same:
        assert rule(schedule.to_sglang(sizes), EVERY_BATCH, sizes) == wanted.tolist()
        return
    with pytest.raises(CannotExpress, match="wants"):
        schedule.to_sglang(sizes)
    try:
        fitted = schedule.to_sglang(sizes, fit=True)
    except CannotExpress:
        return  # nothing is left to draft
    used = np.array(rule(fitted, EVERY_BATCH, sizes))
    told = wanted.copy()
    for loss in fitted.losses:
        told[loss.first - 1 : loss.last] = loss.given
    assert used.tolist() == told.tolist()
    table = schedule.speedups
    assert table is not None
    for graph in sizes:
        inside = np.flatnonzero(graphs == graph)
        if len(set(wanted[inside].tolist())) > 1:
            known = inside[inside < schedule.batch_max]
            options = {g: table[g, known].sum() for g in schedule.distinct}
            assert options[int(used[inside[0]])] == pytest.approx(max(options.values()))


def test_the_documents_example() -> None:
    config = SCHEDULE.to_sglang([1, 2, 4, 8, 16, 32, 64, 128])
    assert dict(config) == {
        "1": {"candidate_steps": [4]},
        "17": {"candidate_steps": [2]},
        "65": {"candidate_steps": [1]},
        "129": {"candidate_steps": [0]},
    }
    assert "--cuda-graph-bs-decode" not in config.flags


def test_a_bound_between_graphs_is_named() -> None:
    with pytest.raises(CannotExpress, match=r"batch 9–16 wants 4 and would get 2; capture the end"):
        SCHEDULE.to_sglang([8, 64, 128])


def test_c03_a_chain_of_k_is_k_steps_and_k_plus_one_tokens() -> None:
    flags = SCHEDULE.to_sglang().flags
    pairs = dict(zip(flags[3::2], flags[4::2], strict=False))
    assert pairs["--speculative-num-steps"] == "4"
    assert pairs["--speculative-eagle-topk"] == "1"
    assert pairs["--speculative-num-draft-tokens"] == "5"
    assert sglang_flags.draft_length(4, 1, 5) == 4
    with pytest.raises(ValueError, match="are a tree"):
        sglang_flags.draft_length(3, 1, 8)
    with pytest.raises(ValueError, match="no flags"):
        sglang_flags.chain(0)


def test_c02_a_tree_with_graphs_to_batch_two() -> None:
    found = sglang_flags.check_flags(6, 10, 32, batch=4, cuda_graph_sizes=[1, 2])
    tokens, tree, graphs = found
    assert "32 tokens" in tokens and "128 a step" in tokens
    assert "--speculative-num-draft-tokens 7" in tree and "2 to 4" in tree
    assert "graphs end at batch 2" in graphs
    assert sglang_flags.check_flags(3, 1, 4, batch=4, cuda_graph_sizes=[1, 2, 4]) == ()


class TestWhatItCannotExpress:
    @pytest.mark.parametrize(
        "setting", [{"attention_dp": True}, {"algorithm": "DFLASH"}, {"algorithm": "NGRAM"}]
    )
    def test_a_changing_length_where_it_is_static(self, setting: dict[str, Any]) -> None:
        with pytest.raises(CannotExpress, match="keeps the static length"):
            SCHEDULE.to_sglang(**setting)
        fitted = SCHEDULE.to_sglang(fit=True, **setting)
        assert "--speculative-adaptive" not in fitted.flags
        assert fitted.losses
        one = Schedule.from_ranges([(1, 64, 3)])
        assert not one.to_sglang(max_running_requests=64, **setting).losses

    def test_a_context_axis(self) -> None:
        by_context = Schedule.from_lengths([[3, 1]], contexts=[4096, 32768])
        with pytest.raises(CannotExpress, match="context"):
            by_context.to_sglang()

    def test_no_speculation_at_all(self) -> None:
        with pytest.raises(CannotExpress, match="never speculates"):
            Schedule.from_ranges([(1, 64, 0)]).to_sglang()

    def test_graph_sizes_that_are_none(self) -> None:
        with pytest.raises(EngineRefuses, match="captured batch sizes"):
            SCHEDULE.to_sglang([0, 8])


def test_batches_beyond_the_graphs_are_warned_of() -> None:
    config = SCHEDULE.to_sglang([16, 64], max_running_requests=128)
    assert any("graphs end at batch 64" in warning for warning in config.warnings)
