"""Readers: every format gives the counts that it holds, and says what it cannot give."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lib.counts import (
    AcceptanceCounts,
    ImpossibleCounts,
    NotCounted,
    ReadError,
    llama_cpp,
    plain,
    pool,
    read_acceptance,
    recognise,
    sglang,
    tensorrt_llm,
    vllm,
)
from tests.counts.texts import (
    EVERY_FORMAT,
    LLAMA_EXAMPLE,
    LLAMA_LINE,
    LLAMA_OLD_LINE,
    PLAIN,
    SGLANG_LINE,
    SGLANG_RESPONSE,
    SGLANG_SCRAPE,
    SGLANG_SERVER_INFO,
    TRTLLM_ITERATIONS,
    TRTLLM_PLAIN_SCRAPE,
    TRTLLM_REQUEST,
    TRTLLM_SCRAPE,
    VLLM_BENCH,
    VLLM_LATER,
    VLLM_LINE,
    VLLM_REQUEST,
    VLLM_SCRAPE,
)

#: Format, and steps, drafted, accepted, survivors and N by hand.
HELD: dict[str, tuple[Any, Any, Any, Any, float]] = {
    "vLLM log": (23, 161, 44, (17, 11, 6, 4, 3, 2, 1), 2.913),
    "vLLM or llama.cpp Prometheus": (100, 300, 135, (72, 41, 22), 2.35),
    "vLLM per-request JSON": (20, 60, 30, (12, 12, 6), 2.5),
    "vLLM bench JSON": (100, 300, 135, (72, 41, 22), 2.35),
    "SGLang log": (None, None, None, None, 2.17),
    "SGLang Prometheus": (None, None, None, None, 2.17),
    "SGLang server info": (None, None, None, None, 2.17),
    "SGLang meta_info": (20, 60, 30, (12, 12, 6), 2.5),
    "TensorRT-LLM Prometheus": (30, 45, 30, (21, 9), 2.0),
    "TensorRT-LLM iteration JSON": (9, 27, 16, None, 1 + 16 / 9),
    "TensorRT-LLM per-request JSON": (20, 60, 30, (12, 12, 6), 2.5),
    "TensorRT-LLM block statistics": (20, None, 30, (12, 12, 6), 2.5),
    "llama.cpp server log": (87, 259, 167, (70, 55, 42), 2.92),
    "llama.cpp example counters": (119, 426, 384, None, 4.227),
    "plain counts": (23, 161, 44, None, 2.913),
}


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_format_is_recognised_and_read(name: str) -> None:
    text = EVERY_FORMAT[name]
    assert recognise(text)[0] == name
    found = read_acceptance(text)
    steps, drafted, accepted, survived, tokens = HELD[name]
    assert (found.steps, found.drafted, found.accepted) == (steps, drafted, accepted)
    assert found.survived == survived
    assert found.tokens == pytest.approx(tokens, abs=5e-4)


def test_every_format_is_tried() -> None:
    assert set(HELD) == set(EVERY_FORMAT)


class TestVllm:
    def test_two_scrapes_give_what_lies_between(self) -> None:
        between = vllm.read_prometheus(VLLM_LATER, since=VLLM_SCRAPE)
        assert (between.steps, between.drafted, between.accepted) == (10, 30, 14)
        assert between.survived == (8, 4, 2)
        assert between.tokens == pytest.approx(2.4)
        assert "counted between two scrapes" in between.notes
        assert read_acceptance(VLLM_LATER, since=VLLM_SCRAPE) == between

    def test_a_restart_between_scrapes_is_noticed(self) -> None:
        with pytest.raises(ImpossibleCounts, match="fell between the scrapes"):
            vllm.read_prometheus(VLLM_SCRAPE, since=VLLM_LATER)
        with pytest.raises(ImpossibleCounts, match="nothing was drafted"):
            vllm.read_prometheus(VLLM_SCRAPE, since=VLLM_SCRAPE)

    def test_engines_are_added_up_and_models_are_not(self) -> None:
        two = VLLM_SCRAPE + VLLM_SCRAPE.replace('engine="0"', 'engine="1"')
        found = vllm.read_prometheus(two)
        assert (found.steps, found.survived) == (200, (144, 82, 44))
        models = VLLM_SCRAPE + VLLM_SCRAPE.replace('model_name="m"', 'model_name="other"')
        with pytest.raises(ReadError, match="2 models, m, other"):
            vllm.read_prometheus(models)
        assert vllm.read_prometheus(models, labels={"model_name": "other"}).steps == 100
        with pytest.raises(ReadError, match="same series: two scrapes"):
            vllm.read_prometheus(VLLM_SCRAPE + VLLM_SCRAPE)

    def test_the_counters_of_llama_cpps_server_are_the_same(self) -> None:
        found = read_acceptance(VLLM_SCRAPE.replace("vllm:", "llamacpp:"))
        assert found.engine == "llama.cpp" and found.steps == 100
        with pytest.raises(ReadError, match="two engines"):
            vllm.read_prometheus(VLLM_SCRAPE + VLLM_SCRAPE.replace("vllm:", "llamacpp:"))

    def test_a_scrape_without_positions_gives_tokens_and_says_so(self) -> None:
        lines = [line for line in VLLM_SCRAPE.splitlines(True) if "per_pos" not in line]
        found = vllm.read_prometheus("".join(lines))
        assert found.tokens == pytest.approx(2.35) and "no counter by position" in found.notes
        with pytest.raises(NotCounted, match="not counted by position"):
            found.survival  # noqa: B018

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('position="1"} 41.0\n', 'position="1"} 40.0\n', "add up to 134 accepted tokens"),
            ('position="1"', 'position="x"', "no position but 'x'"),
            ('position="1"', 'position="5"', "do not run from 0"),
            ("135.0", "NaN", "found nan"),
            ("135.0", "-1", "found -1"),
            ("135.0", "135.5", "found 135.5"),
            ("135.0", "many", "'many' is no number"),
            ('{engine="0",model_name="m"} 135.0', '{engine="0} 135.0', "are no labels"),
            ("num_drafts_total{", "other_total{", "num_drafts is missing"),
            ("135.0", "1350.0", "above 1"),
        ],
    )
    def test_a_damaged_scrape_names_what_is_wrong(self, old: str, new: str, message: str) -> None:
        assert old in VLLM_SCRAPE
        with pytest.raises(ReadError, match=message):
            vllm.read_prometheus(VLLM_SCRAPE.replace(old, new))

    def test_log_lines_are_pooled_and_idle_ones_left_out(self) -> None:
        idle = (
            "SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 0.00 "
            "tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, "
            "Per-position acceptance rate: nan, nan, Avg Draft acceptance rate: nan%\n"
        )
        found = vllm.read_log(VLLM_LINE + "other\n" + idle + VLLM_LINE)
        assert (found.steps, found.accepted) == (46, 88)
        assert "1 of 3 lines drafted nothing and are left out" in found.notes
        with pytest.raises(ReadError, match="none of the 1 lines"):
            vllm.read_log(idle)

    def test_a_newer_line_may_hold_more_fields(self) -> None:
        more = VLLM_LINE.replace(
            "Accepted throughput", "Current speculative depth: 7, Accepted throughput"
        )
        assert vllm.read_log(more) == vllm.read_log(VLLM_LINE)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("Accepted: 44 tokens, ", "", "'Accepted' is missing"),
            ("0.739, 0.478,", "0.000 across all positions,", "'Per-position acceptance rate'"),
            ("27.3%", "47.3%", "give 0.273292"),
            ("0.739", "0.999", "no number of steps gives"),
            ("2.91,", "3.91,", "no number of steps gives"),
            ("44 tokens", "944 tokens", "cannot be"),
        ],
    )
    def test_a_damaged_line_names_what_is_wrong(self, old: str, new: str, message: str) -> None:
        assert old in VLLM_LINE
        with pytest.raises(ReadError, match=f"line 1.*{message}"):
            vllm.read_log(VLLM_LINE.replace(old, new))

    def test_requests_are_pooled_from_lines_lists_and_depths(self) -> None:
        lines = "\n".join([json.dumps(VLLM_REQUEST)] * 3)
        nested = json.dumps({"all": [[VLLM_REQUEST], {"x": VLLM_REQUEST}, VLLM_REQUEST]})
        for text in (lines, nested):
            found = vllm.read_requests(text)
            assert (found.steps, found.requests, found.survived) == (60, 3, (36, 36, 18))

    def test_drafts_of_each_step_make_survival_unbiased(self) -> None:
        """Two steps of 1 and two of 3 tokens; the third position was offered twice."""
        inner = {
            "acceptance_histogram": [1, 2, 0, 1],
            "num_spec_steps": 4,
            "num_accepted_draft_tokens": 5,
            "num_draft_tokens": 8,
            "num_spec_tokens": 3,
            "per_step_drafted": [1, 3, 1, 3],
        }
        found = vllm.read_requests(json.dumps(inner))
        assert found.offered == (4, 2, 2)
        assert found.survival == (0.75, 0.5, 0.5)
        del inner["per_step_drafted"]
        biased = vllm.read_requests(json.dumps(inner))
        assert biased.survival == (0.75, 0.25, 0.25)
        assert any("were never drafted" in warning for warning in biased.warnings)

    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("num_spec_steps", 19, "acceptance_histogram is 20"),
            ("num_accepted_draft_tokens", 29, "add up to 30"),
            ("num_accepted_draft_tokens", 90, "add up to 30|above 1"),
            ("num_draft_tokens", 29, "above 1"),
            ("mean_acceptance_length", 3.5, "mean_acceptance_length is 3.5"),
            ("draft_acceptance_rate", 0.9, "draft_acceptance_rate is 0.9"),
            ("num_spec_tokens", 2, "a tree was read as a chain"),
            ("acceptance_histogram", [8, 0, "x", 6], r"acceptance_histogram\[2\]: found 'x'"),
            ("acceptance_histogram", {"a": 1}, "no index"),
            ("num_spec_steps", True, "found True"),
            ("num_spec_steps", 2.5, "found 2.5"),
            ("num_spec_steps", None, "found None"),
        ],
    )
    def test_a_damaged_request_names_the_field(self, field: str, value: Any, message: str) -> None:
        table = dict(VLLM_REQUEST["metrics"]["speculative_decoding"])  # type: ignore[index]
        table[field] = value
        with pytest.raises(ReadError, match=message):
            vllm.read_requests(json.dumps(table))

    def test_histograms_by_draft_length_leave_unoffered_positions_out(self) -> None:
        """The same four steps as above: of length 1, one rejected and one accepted; of length 3,
        one that accepted a token and one that accepted all."""
        inner: dict[str, Any] = {
            "acceptance_histogram": [1, 2, 0, 1],
            "acceptance_histogram_by_draft_length": {"1": [1, 1], "3": [0, 1, 0, 1]},
            "num_spec_steps": 4,
            "num_accepted_draft_tokens": 5,
            "num_draft_tokens": 8,
            "num_spec_tokens": 3,
        }
        found = vllm.read_requests(json.dumps(inner))
        assert found.offered == (4, 2, 2)
        assert found.survival == (0.75, 0.5, 0.5)
        assert not any("never drafted" in warning for warning in found.warnings)
        sparse = {"1": {"0": 1, "1": 1}, "3": {"1": 1, "3": 1}}
        again = {**inner, "acceptance_histogram_by_draft_length": sparse}
        assert vllm.read_requests(json.dumps(again)) == found
        for value, message in (
            ([1, 1], "wanted are histograms by length"),
            ({"1": [1, 1, 1], "3": [0, 1]}, "more than 1 of 1 drafted tokens"),
            ({"1": [1, 1], "3": [0, 1, 0, 0]}, "sum of .* is 3, but the counts .* give 4"),
            ({"2": [1, 1], "3": [0, 1, 0, 1]}, "drafted tokens of .* is 10"),
            ({"1": [0, 2], "3": [1, 0, 0, 1]}, None),
            ({"1": [0, 2], "3": [0, 1, 0, 1]}, "not of the same steps|add up"),
            ({"one": [1, 1]}, "'one' is no index"),
            ({"1": 5}, "found 5; wanted is a list"),
        ):
            text = json.dumps({**inner, "acceptance_histogram_by_draft_length": value})
            if message is None:  # the same totals, so it may be
                assert vllm.read_requests(text).accepted == 5
                continue
            with pytest.raises(ReadError, match=message):
                vllm.read_requests(text)

    def test_a_histogram_may_be_an_object(self) -> None:
        table = dict(VLLM_REQUEST["metrics"]["speculative_decoding"])  # type: ignore[index]
        table["acceptance_histogram"] = {"0": 8, "2": 6, "3": 6}
        assert vllm.read_requests(json.dumps(table)).survived == (12, 12, 6)

    def test_bench_rates_may_be_shares_or_per_cent(self) -> None:
        whole = vllm.read_bench(json.dumps(VLLM_BENCH))
        shares = {**VLLM_BENCH, "spec_decode_acceptance_rate": 0.45}
        assert vllm.read_bench(json.dumps(shares)) == whole
        for field, value, message in (
            ("spec_decode_acceptance_rate", 55.0, "acceptance_rate is 0.55"),
            ("spec_decode_per_position_acceptance_rates", [0.725, 0.41, 0.22], "no whole step"),
        ):
            with pytest.raises(ReadError, match=message):
                vllm.read_bench(json.dumps({**VLLM_BENCH, field: value}))


class TestSglang:
    def test_lines_are_weighted_by_their_requests(self) -> None:
        text = (
            "Decode batch, #running-req: 1, accept len: 3.00, accept rate: 0.75,\n"
            "Decode batch, #running-req: 3, accept len: 2.00, accept rate: 0.50,\n"
        )
        found = sglang.read_log(text)
        assert found.gauge == pytest.approx(2.25) and found.length == 3
        assert any("weighted by running requests" in note for note in found.notes)

    def test_a_gauge_says_what_it_cannot(self) -> None:
        found = read_acceptance(SGLANG_LINE)
        for ask in ("rate", "survival", "histogram", "tokens_out"):
            with pytest.raises(NotCounted):
                getattr(found, ask)
        assert any("holds no counts" in note for note in found.notes)

    def test_gauges_that_differ_are_not_averaged(self) -> None:
        two = SGLANG_SCRAPE + 'sglang:spec_accept_length{model_name="m",rank="1"} 3.0\n'
        with pytest.raises(ReadError, match=r"2 values, 2\.17, 3"):
            sglang.read_prometheus(two)
        assert sglang.read_prometheus(two, labels={"rank": "1"}).tokens == 3

    @pytest.mark.parametrize("value", ["-0.39", "NaN"])
    def test_a_rate_that_is_none_is_refused(self, value: str) -> None:
        with pytest.raises(ReadError, match="is no rate"):
            sglang.read_prometheus(SGLANG_SCRAPE.replace("0.39", value))

    def test_the_mean_of_a_servers_information(self) -> None:
        text = json.dumps(SGLANG_SERVER_INFO)
        found = read_acceptance(text)
        assert (found.tokens, found.length) == (2.17, 3)
        assert any("since the server's start" in note for note in found.notes)
        with pytest.raises(ReadError, match="speculative_num_steps is 3 in the text, but 5"):
            sglang.read_server_info(text, num_steps=5)
        bare = {"internal_states": [{"avg_spec_accept_length": 2.17}] * 2}
        assert sglang.read_server_info(json.dumps(bare)).length is None
        assert sglang.read_server_info(json.dumps(bare), num_draft_tokens=4).length == 3
        tree = sglang.read_server_info(json.dumps(bare), num_steps=3, num_draft_tokens=8)
        assert tree.tree and tree.tokens == 2.17
        for states, message in (
            ([{"avg_spec_accept_length": None}], "null or 0 in every state"),
            ([{"avg_spec_accept_length": 0}], "null or 0 in every state"),
            (
                [{"avg_spec_accept_length": 2}, {"avg_spec_accept_length": 3}],
                "2 states say .* 2, 3",
            ),
            ([{"avg_spec_accept_length": "2"}], "state 1: .*found '2'; wanted is a number"),
            ([{"avg_spec_accept_length": 0.5}], "bonus token missing"),
            ([{"avg_spec_accept_length": 9}], r"exceed draft length \+ 1 = 4"),
        ):
            with pytest.raises(ReadError, match=message):
                sglang.read_server_info(
                    json.dumps({**SGLANG_SERVER_INFO, "internal_states": states})
                )

    def test_older_names_of_a_response(self) -> None:
        info = {
            "completion_tokens": 7,
            "spec_verify_ct": 3,
            "spec_accept_token_num": 3,
            "spec_draft_token_num": 21,
            "spec_accept_histogram": [1, 1, 1, 0, 0, 0, 0, 0],
        }
        found = sglang.read_responses(json.dumps([{"meta_info": info}, SGLANG_RESPONSE]))
        # the second has other names and is of another server: the first names that are found count
        assert found.steps == 20
        old = sglang.read_responses(json.dumps({"meta_info": info}))
        assert (old.steps, old.tokens, old.survived) == (3, 2.0, (2, 1, 0, 0, 0, 0, 0))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (SGLANG_LINE.replace("2.17", "2.1"), "line 1: 'accept len' is damaged"),
            (SGLANG_LINE.replace("0.54", "0.5"), "line 1: 'accept rate' is damaged"),
            (SGLANG_LINE.replace("#running-req: 1", "#running-req: x"), "'#running-req'"),
            (SGLANG_LINE.replace("#running-req: 1", "#running-req: 0"), "none of the 1 lines"),
            (SGLANG_LINE.replace("2.17", "0.17"), "below 1"),
            (SGLANG_LINE.replace("0.54", "0.77"), "neither meaning"),
        ],
    )
    def test_a_damaged_line_names_what_is_wrong(self, text: str, message: str) -> None:
        with pytest.raises(ReadError, match=message):
            sglang.read_log(text)

    def test_a_length_that_the_rate_leaves_open_is_not_guessed(self) -> None:
        """All accepted: a rate of 1 says nothing about the length but its least."""
        found = sglang.read_log("accept len: 1.00, accept rate: 0.00,")
        assert found.length is None
        assert any("could be 1, 2, 3" in caution for caution in found.cautions)
        settled = sglang.read_log("accept len: 1.00, accept rate: 0.00,", num_draft_tokens=4)
        assert settled.length == 3


class TestTensorrtLlm:
    def test_positions_that_were_not_offered_do_not_count_as_rejected(self) -> None:
        found = read_acceptance(TRTLLM_SCRAPE)
        assert found.offered == (30, 15) and found.survival == (0.7, 0.6)
        assert not any("never drafted" in warning for warning in found.warnings)

    def test_totals_without_steps_give_a_rate_alone(self) -> None:
        found = read_acceptance(TRTLLM_PLAIN_SCRAPE)
        assert found.rate == pytest.approx(0.45)
        with pytest.raises(NotCounted, match="need the verify steps"):
            found.tokens  # noqa: B018
        fixed = read_acceptance(TRTLLM_PLAIN_SCRAPE, length=3)
        assert (fixed.steps, fixed.tokens) == (100, pytest.approx(2.35))
        with pytest.raises(ImpossibleCounts, match="no whole number of steps of 7"):
            read_acceptance(TRTLLM_PLAIN_SCRAPE, length=7)

    def test_iterations_are_weighted_by_their_requests(self) -> None:
        """The mean of the two printed lengths would be 2, of all four 1.25."""
        found = read_acceptance(json.dumps(TRTLLM_ITERATIONS))
        assert found.tokens == pytest.approx(1 + 16 / 9)
        assert "2 of 4 iterations drafted nothing and are left out" in found.notes

    def test_an_iteration_that_contradicts_itself_is_refused(self) -> None:
        bad = json.loads(json.dumps(TRTLLM_ITERATIONS))
        bad[0]["specDecodingStats"]["acceptanceLength"] = 2.0
        with pytest.raises(ReadError, match="iteration 1: acceptanceLength is 2"):
            tensorrt_llm.read_iterations(json.dumps(bad))
        bad[1]["specDecodingStats"]["numAcceptedTokens"] = 1
        bad[0]["specDecodingStats"]["acceptanceLength"] = 3.0
        with pytest.raises(ReadError, match="iteration 2: 0 drafted and 1 accepted"):
            tensorrt_llm.read_iterations(json.dumps(bad))

    def test_two_scrapes(self) -> None:
        first = 'tokens_total{token_position="0",worker="0"}'
        later = TRTLLM_SCRAPE.replace(f"drafted_{first} 10", f"drafted_{first} 14")
        later = later.replace(f"accepted_{first} 8", f"accepted_{first} 9")
        between = tensorrt_llm.read_prometheus(later, since=TRTLLM_SCRAPE)
        assert (between.steps, between.offered, between.survived) == (4, (4, 0), (1, 0))

    def test_half_of_the_positions_is_an_error(self) -> None:
        half = "".join(line for line in TRTLLM_SCRAPE.splitlines(True) if "accepted" not in line)
        with pytest.raises(ReadError, match="must both be there"):
            tensorrt_llm.read_prometheus(half)

    def test_a_length_that_changes_is_not_read_as_one(self) -> None:
        assert read_acceptance(json.dumps(TRTLLM_REQUEST)).length is None


class TestLlamaCpp:
    def test_requests_are_pooled(self) -> None:
        found = llama_cpp.read_server(LLAMA_LINE + "other\n" + LLAMA_LINE)
        assert (found.steps, found.requests) == (174, 2)

    def test_a_drafters_statistics_line_counts_nothing_twice(self) -> None:
        statistics = (
            "I statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     "
            "87, #acc drafts =    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = "
            "2.92, #acc rate/pos = (0.805, 0.632, 0.483)\n"
        )
        assert llama_cpp.read_server(LLAMA_LINE + statistics) == llama_cpp.read_server(LLAMA_LINE)

    def test_an_old_line_gives_a_rate_alone(self) -> None:
        found = read_acceptance(LLAMA_OLD_LINE)
        assert found.rate == pytest.approx(171 / 297)
        with pytest.raises(NotCounted):
            found.tokens  # noqa: B018
        assert read_acceptance(LLAMA_OLD_LINE, length=3).tokens == pytest.approx(1 + 171 / 99)
        with pytest.raises(ReadError, match="give length"):
            llama_cpp.read_server(LLAMA_OLD_LINE * 2)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (LLAMA_LINE.replace("0.64479", "0.74479"), "draft acceptance is 0.74479"),
            (LLAMA_LINE.replace("2.92", "3.92"), "no number of steps"),
            (LLAMA_LINE.replace("167 accepted", "accepted"), "line 1: accepted and generated"),
            (LLAMA_LINE.replace("0.483)", "0.483"), "line 1: what follows the counts is damaged"),
            (LLAMA_EXAMPLE.replace("384", "38x"), "n_accept: found '38x'"),
            (LLAMA_EXAMPLE.replace("n_predict = 503\n", ""), "n_predict is missing"),
            (LLAMA_EXAMPLE.replace("503", "103"), "each step emits one token more"),
            (LLAMA_EXAMPLE * 2, "stands 2 times"),
        ],
    )
    def test_damage_is_named(self, text: str, message: str) -> None:
        with pytest.raises(ReadError, match=message):
            read_acceptance(text)


class TestPlain:
    def test_names_and_numbers_in_several_hands(self) -> None:
        for text in (
            PLAIN,
            "steps=23 drafted=161 accepted=44 length=7",
            "steps: 23\ndrafted: 161\naccepted: 44\nlength: 7\n",
            '{"steps": 23, "drafted": 161, "accepted": 44, "length": 7}',
        ):
            assert plain.read(text) == plain.read(PLAIN)

    def test_a_histogram_gives_the_rest(self) -> None:
        found = plain.read('{"histogram": [8, 0, 6, 6]}')
        assert (found.steps, found.accepted, found.survived) == (20, 30, (12, 12, 6))
        assert found.histogram == (8, 0, 6, 6)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("steps 23, steps 24", "stands twice"),
            ("steps 23, accepted x", "found 'x'"),
            ("steps 23, drafts 4", "drafts is not one of"),
            ("steps 23, accepted -4", "found '-4'"),
            ("steps 23 / accepted 4", "found '/'|no name with a number"),
            ('{"steps": 1, "steps": 2}', "'steps' stands twice"),
            ('{"steps": NaN}', "NaN is no number"),
            ('{"steps": 3, "histogram": [1, 1]}', "holds 2 steps, not 3"),
            ('{"survived": [1], "histogram": [1, 1]}', "not both"),
            ("{}", "there are none"),
        ],
    )
    def test_damage_is_named(self, text: str, message: str) -> None:
        with pytest.raises(ReadError, match=message):
            plain.read(text)


def test_what_is_no_acceptance_is_told_with_what_it_is() -> None:
    for text, message in (
        ("", "the text is empty"),
        ("hello", "no known count of acceptance"),
        ('{"a": 1, "b": 2}', r"this JSON \(a, b\) holds no known count"),
        (VLLM_LINE + SGLANG_LINE, "holds vLLM log and SGLang log"),
    ):
        with pytest.raises(ReadError, match=message):
            read_acceptance(text)
    with pytest.raises(TypeError, match="from text, not from bytes"):
        read_acceptance(b"steps 1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"vLLM log: .*'length'"):
        read_acceptance(VLLM_LINE, length=3)


# --- printed digits ------------------------------------------------------------------------------


def printed_line(accepted: np.ndarray[Any, Any], drafted: np.ndarray[Any, Any], k: int) -> str:
    """A vLLM line as the engine prints it."""
    steps = len(accepted)
    rates = ", ".join(f"{np.sum(accepted >= i) / steps:.3f}" for i in range(1, k + 1))
    return (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted.sum() / steps:.2f}, "
        f"Accepted: {accepted.sum()} tokens, Drafted: {drafted.sum()} tokens, "
        f"Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted.sum() / drafted.sum():.1f}%"
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 8), st.integers(1, 20_000), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_a_line_of_full_drafts_gives_back_its_steps(
    k: int, steps: int, alpha: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    accepted = np.cumprod(rng.random((steps, k)) < alpha, axis=1).sum(axis=1)
    found = vllm.read_log(printed_line(accepted, np.full(steps, k), k))
    assert found.steps == steps and found.accepted == accepted.sum()
    assert found.survived is not None
    exact = [int(np.sum(accepted >= i)) for i in range(1, k + 1)]
    if steps < 1000:
        assert list(found.survived) == exact
    assert np.all(np.abs(np.array(found.survived) - exact) <= 1 + 0.001 * steps)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 8), st.integers(1, 3000), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_a_line_of_changing_drafts_is_right_or_says_how_wrong(
    k: int, steps: int, alpha: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    drafted = rng.integers(1, k + 1, steps)
    accepted = np.minimum(np.cumprod(rng.random((steps, k)) < alpha, axis=1).sum(axis=1), drafted)
    found = vllm.read_log(printed_line(accepted, drafted, k))
    assert found.accepted == accepted.sum() and found.drafted == drafted.sum()
    assert found.steps is not None
    if found.steps == steps:
        return
    told = [c for c in (*found.cautions, *found.notes) if "the digits allow" in c or "if each" in c]
    assert told, "steps that are not certain are said to be"
    assert (
        found.tokens == pytest.approx(1 + accepted.sum() / steps, abs=0.0101) or not found.accepted
    )


# --- fuzz ----------------------------------------------------------------------------------------


def reads_soundly(text: str) -> AcceptanceCounts | None:
    """Nothing but ReadError comes out, or counts that could have been counted."""
    try:
        found = read_acceptance(text)
    except ReadError:
        return None
    repr(found)
    try:
        tokens = found.tokens
    except NotCounted:
        return found
    assert tokens >= 1 - 0.006
    if found.length is not None:
        assert tokens <= found.length + 1.006
    return found


CUTTABLE = {name: text for name, text in EVERY_FORMAT.items() if name != "plain counts"}


@pytest.mark.parametrize("name", CUTTABLE)
def test_a_text_that_is_cut_anywhere_gives_no_other_number(name: str) -> None:
    whole = read_acceptance(CUTTABLE[name])
    for end in range(len(CUTTABLE[name])):
        found = reads_soundly(CUTTABLE[name][:end])
        if found is None:
            continue
        for field in ("steps", "drafted", "accepted", "survived", "length", "gauge"):
            left = getattr(found, field)
            assert left is None or left == getattr(whole, field), (end, field)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(EVERY_FORMAT)),
    st.lists(
        st.tuples(st.integers(0, 2000), st.sampled_from("dir"), st.characters(codec="utf-8")),
        min_size=1,
        max_size=6,
    ),
)
def test_damaged_texts_never_crash_a_reader(name: str, edits: list[tuple[int, str, str]]) -> None:
    text = EVERY_FORMAT[name]
    for place, kind, letter in edits:
        at = place % (len(text) + 1)
        keep = at + (kind in "dr")
        text = text[:at] + ("" if kind == "d" else letter) + text[keep:]
    reads_soundly(text)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [*" \n,:={}[]\"()%/-", "0", "1", "7", "1e999", "0.5", "null", "9" * 5000,
             *(word for text in EVERY_FORMAT.values() for word in text.split())]
        ),
        max_size=40,
    ).map(" ".join)
)  # fmt: skip
def test_arbitrary_texts_never_crash_a_reader(text: str) -> None:
    reads_soundly(text)


def test_deep_and_huge_json_is_refused() -> None:
    for text in ("[" * 100_000, '{"steps":' * 50_000, '{"steps": ' + "9" * 5000 + "}"):
        assert reads_soundly(text) is None


READERS: list[Callable[[str], AcceptanceCounts]] = [
    vllm.read_prometheus, vllm.read_log, vllm.read_requests, vllm.read_bench, sglang.read_log,
    sglang.read_prometheus, sglang.read_responses, sglang.read_server_info,
    tensorrt_llm.read_prometheus,
    tensorrt_llm.read_iterations, tensorrt_llm.read_requests, tensorrt_llm.read_block_file,
    llama_cpp.read_server, llama_cpp.read_example, plain.read,
]  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["", *EVERY_FORMAT])
def test_a_reader_given_another_format_says_so(
    reader: Callable[[str], AcceptanceCounts], name: str
) -> None:
    text = EVERY_FORMAT.get(name, "")
    if name and recognise(text)[1] is reader:
        return
    with pytest.raises(ReadError):
        reader(text)


def test_pooling_refuses_what_does_not_mix() -> None:
    chain = AcceptanceCounts("x", "x", steps=10, drafted=30, accepted=12, length=3)
    short = AcceptanceCounts("x", "x", steps=10, drafted=20, accepted=12, length=2)
    relaxed = AcceptanceCounts("x", "x", steps=10, drafted=30, accepted=20, length=3, lossy=True)
    gauge = AcceptanceCounts("x", "x", gauge=2.0, length=3)
    for parts, message in (
        ([], "no counts"),
        ([chain, short], r"draft lengths \[2, 3\]"),
        ([chain, relaxed], "exact and relaxed"),
        ([chain, gauge], "a gauge alone"),
    ):
        with pytest.raises(ReadError, match=message):
            pool(parts)
    assert any("relaxed acceptance" in warning for warning in relaxed.warnings)
