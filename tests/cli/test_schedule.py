"""specdec schedule: what engines load, from a shell."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

import specdec_lib as sd
from specdec_lib.engines import sglang, tensorrt_llm, vllm
from tests.cli.shell import as_process, specdec

V4 = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
WORDS = ("schedule", *V4, "--alpha", "0.75")
BATCHES = np.arange(1, 601)


def wanted(**options: object) -> sd.Schedule:
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    plan = sd.Plan(cost, sd.drafters.fraction(0.1), sd.Geometric(0.75))
    return plan.schedule(batch_max=512, context=4096, **options)


def test_vllm_gets_what_the_plan_wants_and_nothing_else_is_on_standard_output() -> None:
    answer = as_process(*WORDS, "--engine", "vllm")
    assert answer.status == 0
    config = json.loads(answer.out)
    assert np.array_equal(vllm.lookup(config, BATCHES), wanted().length(BATCHES))
    assert "length 0 inside dynamic speculation" in answer.err


def test_tensorrt_llm_gets_the_best_that_does_not_rise_and_hears_what_it_loses() -> None:
    refused = specdec(*WORDS, "--engine", "tensorrt-llm")
    assert refused.status == 1 and refused.out == ""
    assert "the first range must hold max_draft_len" in refused.err
    answer = specdec(*WORDS, "--engine", "TensorRT-LLM", "--fit")
    config = yaml.safe_load(answer.out)["speculative_config"]
    used = tensorrt_llm.lookup(config, BATCHES)
    assert used[0] == config["max_draft_len"]
    assert "lost: batch 1: drafts" in answer.err


def test_sglang_gets_slots_for_its_graphs() -> None:
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    text = ",".join(map(str, sizes))
    answer = specdec(*WORDS, "--engine", "sglang", "--cuda-graph-sizes", text, "--fit")
    config = json.loads(answer.out)
    used = sglang.lookup(config, np.array(sizes), cuda_graph_sizes=sizes)
    speedups = wanted().speedups
    assert speedups is not None
    padded = [(low, high) for low, high in zip([0, *sizes], sizes, strict=False)]
    best = [speedups[:, low:high].mean(axis=1).argmax() for low, high in padded]
    assert used.tolist() == best
    assert "flags: --speculative-adaptive" in answer.err


def test_without_an_engine_it_is_a_table() -> None:
    answer = specdec(*WORDS, "--most", "3", "--gain", "0.02")
    assert answer.out.rstrip("\n") == repr(wanted(most=3, gain=0.02))
    record = specdec(*WORDS, "--json").json
    ranges = record["rows"][0]["ranges"]
    assert [(r["first"], r["last"], r["length"]) for r in ranges] == [
        (cell.first, cell.last, cell.length) for cell in wanted().cells
    ]


def test_several_contexts_are_rows() -> None:
    record = specdec(*WORDS, "--context", "4096,32768", "--json").json
    assert [row["context"] for row in record["rows"]] == [4096, 32768]
    refused = specdec(*WORDS, "--context", "4096,32768", "--engine", "vllm")
    assert refused.status == 1 and "context" in refused.err


def test_sensitivity_says_where_acceptance_matters() -> None:
    ends = ("--alpha-low", "0.7", "--alpha-high", "0.8")
    answer = specdec(*WORDS, *ends, "--batch-max", "64", "--json")
    (at_thirty,) = (r for r in answer.json["differing"] if r["first"] <= 30 <= r["last"])
    assert at_thirty["lengths"] == [5, 6, 7]
    assert "the three agree at" in answer.err


def test_with_json_an_engine_has_its_explanations_too() -> None:
    record = specdec(*WORDS, "--engine", "vllm", "--json").json
    assert record["engine"]["config"]["num_speculative_tokens"] == wanted().longest
    assert record["engine"]["explanations"] and record["engine"]["warnings"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--engine", "llama.cpp"), 2, "vllm, sglang and tensorrt-llm"),
        (("--fit",), 2, "--fit is for an --engine"),
        (("--max-num-seqs", "32"), 2, "--max-num-seqs is for another engine"),
        (("--engine", "vllm", "--cuda-graph-sizes", "1,2"), 2, "--cuda-graph-sizes"),
        (("--alpha-low", "0.6"), 2, "go together"),
        (("--alpha-low", "0.8", "--alpha-high", "0.9"), 2, "must lie between"),
        (("--batch-max", "0"), 2, "batch-max"),
        (("--gain", "-1"), 1, "minimum gain"),
        (("--gain", "nan"), 1, "minimum gain"),
        (("--floor", "30"), 1, "lengths from 30"),
        (("--idle-tax", "-2"), 1, "-2"),
        (("--gamma-max", "0", "--engine", "vllm"), 1, "never speculates"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec(*WORDS, *words)
    assert (answer.status, answer.out) == (status, "")
    assert said in answer.err
