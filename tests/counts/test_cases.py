"""Definitions of acceptance, one by one, and the cases that users reported about them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specdec_lib.acceptance import acceptance_for_tokens
from specdec_lib.counts import (
    AcceptanceCounts,
    ImpossibleCounts,
    NotCounted,
    ReadError,
    definitions,
    llama_cpp,
    plain,
    pool,
    read_acceptance,
    sglang,
    vllm,
)
from specdec_lib.formula import DomainError
from specdec_lib.formulas.acceptance import expected_tokens, mean_acceptance
from specdec_lib.formulas.counting import root_bias
from tests.counts.texts import LLAMA_LINE, SGLANG_LINE, VLLM_LINE

#: Every definition: source, metric, a value, what is needed beside it, and N by hand.
CONVERSIONS: list[tuple[str, str, Any, dict[str, float], float]] = [
    ("vLLM log", "mean acceptance length", 2.913, {}, 2.913),
    ("vLLM log before May 2025", "mean acceptance length", 1.913, {}, 2.913),
    # 44 of 161 in 23 steps
    ("vLLM log", "avg draft acceptance rate", 44 / 161, {"drafted": 161, "steps": 23}, 2.913),
    ("vLLM log", "per-position acceptance rate", [0.844, 0.599, 0.385, 0.271], {}, 3.099),
    ("vLLM Prometheus", "spec_decode_num_accepted_tokens", 44, {"steps": 23}, 2.913),
    ("vLLM response", "acceptance_histogram", [8, 0, 6, 6], {}, 2.5),
    ("SGLang", "spec_accept_length", 2.17, {}, 2.17),
    ("SGLang before April 2026", "spec_accept_rate", 0.5425, {"gamma": 3}, 2.17),
    ("SGLang", "spec_accept_rate", 0.39, {"gamma": 3}, 2.17),
    ("TensorRT-LLM", "acceptanceLength", 3.0, {}, 3.0),
    ("TensorRT-LLM", "acceptance_rate_threshold", 0.5, {"gamma": 4}, 3.0),
    ("llama.cpp", "draft acceptance", 0.64479, {"drafted": 259, "steps": 87}, 2.9195),
    ("llama.cpp", "mean acceptance length", 2.92, {}, 2.92),
    ("llama.cpp", "acceptance rate per position", [0.805, 0.632, 0.483], {}, 2.92),
    ("llama.cpp examples", "n_predict", 503, {"steps": 503 - 384}, 4.2269),
    ("EAGLE", "tau", 3.5, {}, 3.5),
    ("EAGLE", "n-alpha", [0.8, 0.5, 0.5], {}, 2.4),  # 1 + 0.8 + 0.4 + 0.2
    ("EAGLE-2 and EAGLE-3", "tau", 4.2, {}, 4.2),
    ("speculators", "EAL", 1.696, {}, 2.696),
    ("aiconfigurator", "nextn_accepted", 1.105, {}, 2.105),
    ("aiconfigurator before July 2026", "nextn_accept_rates", [0.85, 0.3, 0, 0, 0], {}, 2.105),
]

#: What gives no tokens per step by itself.
UNUSABLE = [
    ("vLLM Prometheus", "spec_decode_num_drafts"),
    ("vLLM Prometheus", "spec_decode_num_draft_tokens"),
]


@pytest.mark.parametrize(("source", "metric", "value", "beside", "tokens"), CONVERSIONS)
def test_each_definition_converts(
    source: str, metric: str, value: Any, beside: dict[str, float], tokens: float
) -> None:
    found = definitions.find(source, metric).tokens(value, **beside)
    assert found == pytest.approx(tokens, abs=5e-4)


@pytest.mark.parametrize(("source", "metric"), UNUSABLE)
def test_each_that_does_not_says_so(source: str, metric: str) -> None:
    with pytest.raises(NotCounted, match="num_accepted_tokens over"):
        definitions.find(source, metric).tokens(100)


def test_every_definition_is_tried() -> None:
    tried = {(source, metric) for source, metric, *_ in (*CONVERSIONS, *UNUSABLE)}
    assert tried == {(d.source, d.metric) for d in definitions.DEFINITIONS}


def test_a_definition_refuses_what_it_cannot_take() -> None:
    old = definitions.find("SGLang before April 2026", "spec_accept_rate")
    with pytest.raises(TypeError, match="gamma"):
        old.tokens(0.5)
    with pytest.raises(DomainError):
        old.tokens(1.2, gamma=3)
    with pytest.raises(DomainError, match="below 1"):
        old.tokens(0.2, gamma=3)
    with pytest.raises(DomainError, match="bonus missing"):
        definitions.find("llama.cpp", "mean acceptance length").tokens(0.9)
    with pytest.raises(TypeError, match="list by position"):
        definitions.find("EAGLE", "n-alpha").tokens(0.8)
    with pytest.raises(TypeError, match="is one number"):
        definitions.find("EAGLE", "tau").tokens([0.8])
    with pytest.raises(LookupError, match="no definition of vLLM"):
        definitions.find("vLLM", "alpha")


def test_m01_a_mean_length_without_the_bonus_is_found_and_mended() -> None:
    """Before pull request 17908 the same window printed 1.91 in place of 2.91."""
    old = VLLM_LINE.replace("length: 2.91", "length: 1.91")
    found = vllm.read_log(old)
    assert (found.steps, found.tokens) == (23, pytest.approx(2.913, abs=5e-4))
    assert any("1 is added" in caution for caution in found.cautions)
    # nothing is added twice, and the new meaning is no place for the old number
    assert not vllm.read_log(VLLM_LINE).cautions
    with pytest.raises(ValueError, match="no number of steps"):
        vllm.read_log(old, mean_has_bonus=True)
    with pytest.raises(ImpossibleCounts, match="bonus token missing"):
        AcceptanceCounts("vLLM", "by hand", gauge=0.8)


def test_m02_a_rate_that_counts_the_root() -> None:
    """Accept length 2.17 and rate 0.54 with 4 draft tokens: 1.17 of 3 accepted, a rate of 0.39."""
    found = sglang.read_log(SGLANG_LINE, num_draft_tokens=4)
    assert (found.length, found.tokens) == (3, 2.17)
    assert mean_acceptance(N=found.tokens, gamma=3) == pytest.approx(0.39, abs=5e-3)
    assert any("counts the root" in note for note in found.notes)
    # the length is found without the flag, and the new meaning does not fit
    assert sglang.read_log(SGLANG_LINE) == found
    with pytest.raises(ValueError, match="neither meaning"):
        sglang.read_log(SGLANG_LINE, num_draft_tokens=4, rate_has_root=False)
    new = sglang.read_log(SGLANG_LINE.replace("0.54", "0.39"), num_draft_tokens=4)
    assert any("since pull request 23530" in note for note in new.notes)
    # the bias is (k − m)/(k(k + 1)), zero only where all is accepted
    assert root_bias(N=2.17, gamma=3) == pytest.approx((3 - 1.17) / 12)
    # neither wrong use of 0.54 gives what the log says
    assert expected_tokens(alpha=0.54, gamma=3) == pytest.approx(1.99, abs=5e-3)
    assert definitions.find("SGLang", "spec_accept_rate").tokens(0.54, gamma=3) == 2.62


def test_m03_impossible_rates_trees_and_counts_one_too_low() -> None:
    with pytest.raises(ImpossibleCounts, match=r"1\.12 is above 1.*use the accept length"):
        sglang.read_log("accept len: 4.36, accept rate: 1.12,", num_draft_tokens=4)
    with pytest.raises(ImpossibleCounts, match=r"112 accepted of 100.*1\.12, above 1"):
        plain.read("drafted 100, accepted 112")
    tree = sglang.read_log(SGLANG_LINE, num_steps=3, num_draft_tokens=8)
    assert tree.tree and tree.tokens == 2.17
    with pytest.raises(NotCounted, match="use tokens per step"):
        tree.rate  # noqa: B018
    with pytest.raises(ImpossibleCounts, match="a tree was read as a chain"):
        plain.read("steps 100, drafted 700, accepted 117, length 3")
    info = {"spec_verify_ct": 20, "spec_num_correct_drafts": 30, "spec_num_proposed_drafts": 100}
    lifted = sglang.read_responses(json.dumps(info), ngram_counts_one_less=True)
    assert lifted.accepted == 50 and lifted.tokens == 3.5
    assert any("one accepted token a step is added" in note for note in lifted.notes)


def test_m04_short_outputs_count_tokens_behind_their_end() -> None:
    """Answers of 20 tokens at 4 a step have 5 steps; one of them can be 5 too high: 1.0 a step."""
    counts = AcceptanceCounts(
        "vLLM", "by hand", steps=50, drafted=250, accepted=155, length=5, requests=10, emitted=200
    )
    short, surplus = counts.warnings
    assert "5 steps a request are few" in short and "up to 1" in short
    assert "5 of the accepted tokens never came out" in surplus
    assert counts.tokens == 4.1 and counts.tokens_out == 4.0
    many = AcceptanceCounts("vLLM", "by hand", steps=500, accepted=155, requests=10)
    assert not many.warnings


def test_m04_the_usage_of_a_response_shows_tokens_that_never_came_out() -> None:
    """One answer of 20 tokens, the first of them the prefill's: 5 steps accepted 17 of 25 drafted
    tokens, of which 3 lie behind its end."""
    inner = {
        "mean_acceptance_length": 4.4,
        "num_spec_steps": 5,
        "num_accepted_draft_tokens": 17,
        "num_draft_tokens": 25,
        "num_spec_tokens": 5,
    }
    response = {"usage": {"completion_tokens": 20}, "metrics": {"speculative_decoding": inner}}
    found = read_acceptance(json.dumps(response))
    assert found.tokens == 4.4 and found.tokens_out == 3.8
    assert any("3 of the accepted tokens never came out" in warning for warning in found.warnings)
    assert any("5 steps a request are few" in warning for warning in found.warnings)
    # tokens of steps that drafted nothing are no tokens of the counted steps
    response["usage"] = {"completion_tokens": 40}
    assert read_acceptance(json.dumps(response)).tokens_out == 4.4
    with pytest.raises(ReadError, match="no completion token"):
        read_acceptance(json.dumps({**response, "usage": {"completion_tokens": 0}}))


@pytest.mark.parametrize(("k", "mean", "tokens"), [(2, 0.72, 2.44), (8, 0.416, 4.33)])
def test_m05_mean_rate_conditional_rate_and_length_are_three_things(
    k: int, mean: float, tokens: float
) -> None:
    """At α = 0.8 the mean rate depends on the length; the conditional rate does not."""
    found = plain.from_rates([0.8] * k, reading="conditional")
    assert found.tokens == pytest.approx(tokens, abs=5e-3)
    assert mean_acceptance(N=found.tokens, gamma=k) == pytest.approx(mean, abs=5e-4)
    assert acceptance_for_tokens(found.tokens, k) == pytest.approx(0.8)
    by_rate = definitions.find("SGLang", "spec_accept_rate").tokens(mean, gamma=k)
    assert by_rate == pytest.approx(tokens, abs=5e-3)


def test_m06_p_is_not_the_accepted_share() -> None:
    """p = 0.8 at length 8 accepts 3.329 tokens, 41.6 %; the worked log has 119 steps."""
    accepted = expected_tokens(alpha=0.8, gamma=8) - 1
    assert accepted == pytest.approx(3.329, abs=5e-4)
    assert accepted / 8 == pytest.approx(0.416, abs=5e-4)
    text = "n_predict = 503\nn_drafted = 426\nn_accept = 384\n"
    found = read_acceptance(text)
    assert found.steps == 119
    assert found.drafted is not None and found.accepted is not None
    assert found.drafted / 119 == pytest.approx(3.58, abs=5e-3)
    assert found.accepted / 119 == pytest.approx(3.23, abs=5e-3)
    assert found.tokens == pytest.approx(4.23, abs=5e-3)
    # the trap: 0.90 as α over 3.58 tokens
    assert expected_tokens(alpha=found.rate, gamma=426 / 119) == pytest.approx(3.8, abs=0.05)


def test_m07_pooled_steps_are_not_the_mean_of_prompts() -> None:
    found = plain.from_requests(steps=[10, 100], emitted=[40, 250])
    assert found.tokens == pytest.approx(290 / 110)
    (caution,) = found.cautions
    assert "3.25" in caution and "2.636" in caution
    # what every request agrees on needs no caution
    assert not plain.from_requests(steps=[10, 20], emitted=[30, 60]).cautions
    with pytest.raises(ImpossibleCounts, match="9 tokens from 10 steps"):
        plain.from_requests(steps=[10], emitted=[9])


def test_m08_27_per_cent_of_seven_is_no_fault() -> None:
    found = vllm.read_log(VLLM_LINE)
    assert (found.steps, found.drafted, found.accepted, found.length) == (23, 161, 44, 7)
    assert found.tokens == pytest.approx(1 + 44 / 23)
    assert found.tokens == pytest.approx(1 + sum(found.survival))
    assert found.rate == pytest.approx(0.273, abs=5e-4)
    # positions 5 to 7 add 0.26 tokens for 3 slots
    assert found.beyond(4) == pytest.approx(0.26, abs=5e-3)
    assert not found.warnings


def test_m11_a_list_is_read_as_told_and_short_ones_are_filled() -> None:
    default = [0.85, 0.3, 0, 0, 0]
    chain = plain.from_rates(default, reading="conditional", gamma=3)
    assert chain.tokens == pytest.approx(2.105)
    assert plain.from_rates(default, reading="survival", gamma=3).tokens == pytest.approx(2.15)
    short = plain.from_rates([0.85], reading="conditional", gamma=3)
    assert short.tokens == pytest.approx(1.85)
    assert short.cautions == ("2 positions were not given and count as 0",)
    with pytest.raises(TypeError):
        plain.from_rates(default)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="'conditional' or 'survival'"):
        plain.from_rates(default, reading="mean")


def test_m16_the_trainers_length_leaves_out_the_anchor() -> None:
    found = plain.from_rates([0.8, 0.7, 0.6], reading="conditional")
    assert found.tokens - 1 == pytest.approx(1.696)
    assert found.tokens == pytest.approx(2.696)
    note = definitions.find("speculators", "EAL").note
    assert "upper estimate" in note


def test_p10_two_profiles_are_not_exchangeable() -> None:
    """0.844 at position 1 of one run, 0.766 of the other; 0.525 as α would give 2.0, not 3.10."""
    four = plain.from_rates([0.844, 0.599, 0.385, 0.271], reading="survival")
    two = plain.from_rates([0.766, 0.545], reading="survival")
    assert four.tokens == pytest.approx(3.10, abs=0.01)
    assert two.tokens == pytest.approx(2.31, abs=0.01)
    assert expected_tokens(alpha=0.525, gamma=4) == pytest.approx(2.0, abs=0.05)
    with pytest.raises(ValueError, match=r"draft lengths \[2, 4\] do not mix"):
        pool([four, two])


def test_p18_a_flat_rate_hides_a_good_first_position() -> None:
    """n-gram: 27 % of 5 is 2.35 a step; EAGLE-3: 0.69 at position 1 and nothing after is 1.69."""
    ngram = definitions.find("SGLang", "spec_accept_rate").tokens(0.27, gamma=5)
    assert ngram == pytest.approx(2.35)
    head = plain.from_rates([0.69, 0, 0], reading="survival")
    assert head.tokens == pytest.approx(1.69)
    assert head.conditional == (0.69, 0.0)
    assert head.beyond(1) == 0
    flat = expected_tokens(alpha=0.23, gamma=1)
    assert flat < 1.69


def test_f08_rounds_and_length_from_counters() -> None:
    """371 tokens, 912 drafted, 313 accepted: 58 rounds, 15.7 drafted and 5.4 accepted in each."""
    found = llama_cpp.read_example("n_predict = 371\nn_drafted = 912\nn_accept  = 313\n")
    assert found.steps == 58
    assert found.drafted is not None and found.accepted is not None
    assert found.drafted / 58 == pytest.approx(15.7, abs=0.05)
    assert found.accepted / 58 == pytest.approx(5.4, abs=0.05)
    assert found.tokens == pytest.approx(6.4, abs=0.05)
    assert found.rate == pytest.approx(0.343, abs=5e-4)


def test_the_vectors_of_the_conversion_rules() -> None:
    line = read_acceptance(LLAMA_LINE)
    assert line.rate == pytest.approx(0.645, abs=5e-4) and line.tokens == pytest.approx(
        2.92, abs=5e-3
    )
    fixed = read_acceptance("drafted 161, accepted 44").with_fixed_length(7)
    assert (fixed.steps, fixed.tokens) == (23, pytest.approx(2.913, abs=5e-4))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": 0}, "nothing was drafted"),
        ({"steps": 10, "accepted": 31, "length": 3}, "tokens per step exceed 4"),
        ({"gauge": 4.2, "length": 3}, r"exceed draft length \+ 1 = 4"),
        ({"gauge": float("nan")}, "are no number"),
        ({"rates": (0.5, 0.6)}, "survival cannot rise"),
        ({"rates": (1.5,)}, "not within 0 and 1"),
        ({"steps": 10, "survived": (5, 6)}, "rise from 5 at position 1 to 6"),
        ({"steps": 10, "survived": (11,)}, "11 steps survived of 10"),
        ({"steps": 10, "survived": (5, 2), "accepted": 9}, "add up to 7 accepted tokens"),
        ({"steps": 10, "survived": (5, 2), "offered": (10,)}, "2 positions survived"),
        ({"steps": 10, "survived": (5, 2), "offered": (10, 1)}, "2 steps accepted it, 1 offered"),
        (
            {"steps": 10, "survived": (5,), "length": 1, "offered": (9,), "drafted": 8},
            "add up to 9",
        ),
        ({"steps": 10, "survived": (5, 1), "length": 1}, "2 positions exceed"),
        ({"steps": 1.5}, "no whole number"),
        ({"steps": True}, "no whole number"),
        ({"drafted": -1}, "cannot be counted"),
        ({"length": 0}, "nothing was drafted"),
    ],
)
def test_the_impossible_is_refused_with_its_reason(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ImpossibleCounts, match=message):
        AcceptanceCounts("x", "by hand", **fields)


def test_counts_show_what_they_hold() -> None:
    found = read_acceptance(VLLM_LINE)
    text, html = repr(found), found._repr_html_()
    for part in ("verify steps", "23", "2.913", "0.739", "follow from the printed digits"):
        assert part in text and part in html
    unknown = repr(read_acceptance("drafted 161, accepted 44"))
    assert "not known: plain counts: tokens per step need the verify steps" in unknown
