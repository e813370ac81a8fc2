"""Questions that users asked elsewhere, put to the command in their own numbers.

Each test carries the number of its case and asks for the answer in words.  Where a report gives no
acceptance, the test states one and says so.  Devices that the catalogue lacks are given as records.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Answer, specdec
from tests.counts.texts import LLAMA_EXAMPLE, SGLANG_LINE, VLLM_LINE

SHORT = ("--context", "1000")


def explain(*words: str, given: str | None = None) -> Answer:
    answer = specdec("explain", *words, given=given)
    assert answer.status == 0, answer.err
    return answer


def found(*words: str) -> dict[str, Any]:
    record: dict[str, Any] = explain(*words, "--json").json
    return record


def device(folder: Path, name: str, bf16: str, bandwidth: str, memory: str) -> str:
    """The path of a record of a device, its peak rate a remembered one."""
    path = folder / f"{name.replace(' ', '-')}.toml"
    path.write_text(
        f'name = "{name}"\nvendor = "its maker"\nsource = "the case; peak rate from memory"\n'
        f'kind = "assumed"\nretrieved = 2026-11-30\nbandwidth = "{bandwidth}"\n'
        f'memory = "{memory}"\n[peak]\nbf16 = "{bf16}"\n'
    )
    return str(path)


def deployment(folder: Path, *lines: str) -> str:
    path = folder / "deployment.toml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


# --- category 1: slower or faster than expected --------------------------------------------------


@pytest.mark.parametrize("batch", ["1", "4"])
def test_p01_a_small_moe_loses_at_small_batch(batch: str) -> None:
    """Qwen3-30B-A3B, two H100, SGLang, EAGLE-3 with a chain of three that commits 1.86 tokens."""
    words = ("--model", "qwen3-30b-a3b", "--gpu", "h100-sxm", "--tp", "2", "--engine", "sglang")
    words += ("--drafter", "eagle3", "--survival", "0.5,0.25,0.11", "--gamma", "3", *SHORT)
    record = found(*words, "--batch", batch)
    assert record["speedup"] < 1 and record["best_gamma"] <= 1
    assert record["tokens"] == pytest.approx(1.86)
    if batch == "1":
        assert record["step_ratio"] == pytest.approx(2.59, rel=0.25)
        shown = explain(*words, "--batch", batch).out
        assert "this verify pass 29.1, 3.64 times as many" in shown
        assert "grows most from 1 to 4 verified tokens: expert" in shown
        assert "slower than not speculating" in shown and "do not speculate here" in shown


def test_p03_a_dense_target_is_limited_by_its_drafter() -> None:
    """Llama-3.1-8B, one H100, an EAGLE head: two beat four beat seven; rates that fall with depth
    as a head's do."""
    rates = ",".join(f"{0.7 * 0.8**i:.4f}" for i in range(7))
    words = ("--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--drafter", "eagle3", *SHORT)
    words += ("--conditional", rates)
    two, four, seven = (found(*words, "--gamma", g)["speedup"] for g in "247")
    assert two > four > seven > 1
    shown = explain(*words, "--gamma", "7").out
    assert "Of drafting: " in shown and "overhead" in shown
    assert "a draft of 2 is best here" in shown or "a draft of 3 is best here" in shown


def test_p05_a_gain_shrinks_with_the_batch_and_a_load_is_no_batch(tmp_path: Path) -> None:
    """DeepSeek-R1 in FP8 on eight devices with one MTP token, and the plain step it was measured
    with, 55 ms."""
    slow = deployment(tmp_path, 'base = "typical"', "tp = 8", 'step_overhead = "48 ms"')
    words = ("--model", "deepseek-r1", "--gpu", "h200-sxm", "--drafter", "mtp", "--gamma", "1")
    words += ("--deployment", slow, "--survival", "0.815", *SHORT)
    gains = [found(*words, "--batch", b)["speedup"] for b in ("1", "8", "64")]
    assert gains[0] == pytest.approx(1.632, rel=0.15)
    assert gains == sorted(gains, reverse=True)
    shown = explain(*words).out
    assert "faster than not speculating" in shown and "Regime: overhead" in shown
    refused = specdec("explain", *words, "--qps", "2")
    assert refused.status == 2 and "--qps" in refused.err


def test_p05_where_a_gain_ends_is_said() -> None:
    words = ("--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--alpha", "0.4", "--gamma", "4")
    record = found(*words, "--batch", "1")
    ends = record["loses_from_batch"]
    assert record["speedup"] > 1 and ends is not None
    assert found(*words, "--batch", str(ends))["speedup"] <= 1
    assert f"stop paying near batch {ends}" in explain(*words, "--batch", "1").out


def test_p07_three_tokens_of_a_reused_module(tmp_path: Path) -> None:
    """DeepSeek-R1 on eight B200, TensorRT-LLM; rates of a module applied to its own output."""
    rates = ",".join(f"{0.943 * 0.733**i:.4f}" for i in range(7))
    words = ("--model", "deepseek-r1", "--gpu", "b200", "--tp", "8", "--ep", "2")
    words += ("--engine", "tensorrt-llm", "--drafter", "mtp", "--conditional", rates, *SHORT)
    record = found(*words)
    assert record["best_gamma"] in (2, 3, 4)
    assert found(*words, "--gamma", "3")["speedup"] == pytest.approx(2.16, rel=0.20)
    # relaxed acceptance is kept apart: counts of it are marked, and never the default
    lossy = specdec("acceptance", "-", "--lossy", given=json.dumps(_request())).out
    assert "relaxed acceptance commits tokens that the target would not" in lossy


def test_p09_a_plateau_is_no_magic_number(tmp_path: Path) -> None:
    gpu = device(tmp_path, "Strix Halo", "59 TFLOP/s", "256 GB/s", "128 GB")
    words = ("--model", "qwen3.6-35b-a3b", "--gpu", gpu, "--drafter", "mtp", "--context", "400")
    words += ("--survival", "0.779,0.583,0.444,0.349,0.279,0.226")
    record = found(*words)
    shortest, longest = record["plateau"]
    assert shortest <= record["best_gamma"] <= longest and shortest < longest
    shown = explain(*words).out
    assert f"drafts of {shortest} to {longest} are within 5 % of each other" in shown
    assert found(*words, "--gamma", "6")["speedup"] < found(*words, "--gamma", "3")["speedup"]


def test_p10_two_lists_give_two_lengths_of_acceptance(tmp_path: Path) -> None:
    """Gemma-4-26B-A4B on one small device: 3.10 and 2.31 tokens a round, and nearly one speed."""
    gpu = device(tmp_path, "GB10", "125 TFLOP/s", "273 GB/s", "128 GB")
    words = ("--model", "gemma-4-26b-a4b", "--gpu", gpu, "--drafter", "fraction:0.05", *SHORT)
    four = found(*words, "--survival", "0.844,0.599,0.385,0.271", "--gamma", "4")
    two = found(*words, "--survival", "0.766,0.545", "--gamma", "2")
    assert four["tokens"] == pytest.approx(3.10, abs=0.01)
    assert two["tokens"] == pytest.approx(2.31, abs=0.01)
    assert two["speedup"] / four["speedup"] == pytest.approx(1, abs=0.12)
    # the average of 52.5 % as one rate gives another number of tokens
    flat = found(*words, "--alpha", "0.525", "--gamma", "4")
    assert flat["tokens"] == pytest.approx(2.0, abs=0.05)


def test_p13_a_drafter_with_a_cache_of_its_own_is_told_apart() -> None:
    words = ("--model", "qwen3.6-27b", "--gpu", "rtx-4090", "--tp", "4", "--deployment", "typical")
    words += ("--drafter", "qwen3.6-27b-dspark", "--alpha", "0.85", "--gamma", "4")
    near, far = (found(*words, "--context", s) for s in ("1000", "185000"))
    assert far["drafting"]["kv"] > 100 * near["drafting"]["kv"]
    assert near["drafting"]["weights"] == far["drafting"]["weights"]
    shown = explain(*words, "--context", "185000").out
    assert "kv is the drafter's own cache and grows with context" in shown
    assert "grows with the context" in shown and "unsplit" in shown


def test_p15_a_draft_as_large_as_the_active_part(tmp_path: Path) -> None:
    """Nine billion dense parameters draft for seventeen active ones on a desktop."""
    gpu = device(tmp_path, "M4 Ultra", "57 TFLOP/s", "819 GB/s", "512 GB")
    words = ("--model", "qwen3.5-397b-a17b", "--gpu", gpu, "--drafter", "qwen3-8b", *SHORT)
    for alpha in ("0.4", "0.8"):
        assert found(*words, "--alpha", alpha, "--gamma", "3")["speedup"] < 1
    shown = explain(*words, "--alpha", "0.8", "--gamma", "3").out
    assert "slower than not speculating" in shown
    assert "of the" in shown and "active" in shown and "cannot bring more than" in shown
    assert "times as many (uniform routing)" in shown


def test_p17_the_union_of_experts_and_a_step_that_grows_slowly() -> None:
    """gpt-oss-120b on one MI300X: 111.2 of 128 experts at batch 64; 58.3 ms over 31.4 ms.  The
    context is that half way through answers of 1 024 tokens."""
    at = ("--model", "gpt-oss-120b", "--gpu", "mi300x", "--context", "1536")
    shown = explain(*at, "--alpha", "0.7", "--batch", "64").out
    assert "A plain step touches 111.2 of 128 routed experts" in shown
    prices = specdec("price", *at, "--batch", "64,256", "--json").json["points"]
    ratio = prices[1]["seconds"] / prices[0]["seconds"]
    assert ratio == pytest.approx(58.3 / 31.4, rel=0.25)


def test_p18_a_head_that_is_right_once() -> None:
    """Qwen3-Coder-30B-A3B in the shape of Qwen3-30B-A3B: 0.69 at position 1, nothing after; and an
    n-gram draft of five, of which 27 % were accepted."""
    words = ("--model", "qwen3-30b-a3b", "--gpu", "rtx-pro-6000-blackwell-server", *SHORT)
    head = (*words, "--drafter", "eagle3", "--survival", "0.69,0,0")
    record = found(*head, "--gamma", "3")
    assert record["best_gamma"] == 1 and record["speedup"] < 1
    assert record["tokens"] == pytest.approx(1.69)
    shown = explain(*head, "--gamma", "3").out
    assert "slower than not speculating" in shown and "a draft of 1 is best here" in shown
    # the forecast of one token stands by itself, with its own cost
    alone = explain(*head, "--gamma", "1").out
    assert "Drafting 1 at batch 1" in alone and "it costs" in alone
    flat = found(*words, "--drafter", "eagle3", "--alpha", "0.23")
    assert flat["best_gamma"] == 0
    ngram = found(*words, "--drafter", "n-gram", "--survival", "0.45,0.35,0.25,0.18,0.12",
                  "--gamma", "5")  # fmt: skip
    assert ngram["tokens"] == pytest.approx(2.35) and ngram["drafting"].get("weights", 0) == 0
    assert ngram["step_ratio"] > 1.5


def test_p19_a_block_in_one_pass_still_pays_its_verification() -> None:
    """The report has acceptance at two positions alone; behind them each token is taken to be half
    as likely.  At 64 streams the plan needs no such fall (tests/test_plan_cases.py)."""
    rates = ",".join(f"{r:.5f}" for r in (0.71, *(0.48 * 0.5**i for i in range(14))))
    words = ("--model", "qwen3-30b-a3b", "--gpu", "rtx-5090", "--survival", rates, *SHORT)
    words += ("--drafter", "qwen3.5-35b-a3b-dflash")
    for batch in ("8", "32", "64"):
        two, fifteen = (found(*words, "--batch", batch, "--gamma", g) for g in ("2", "15"))
        assert two["speedup"] > fifteen["speedup"]
        assert two["draft_seconds"] == pytest.approx(fifteen["draft_seconds"])
        assert fifteen["verify_seconds"] > two["verify_seconds"]
    assert "verified tokens: expert" in explain(*words, "--batch", "8", "--gamma", "15").out


def test_p21_a_measured_kernel_that_shares_nothing(tmp_path: Path) -> None:
    """Qwen3.6-27B on one R9700 with llama.cpp: passes of 2.81 and 3.59 plain steps."""
    gpu = device(tmp_path, "R9700", "191 TFLOP/s", "640 GB/s", "32 GB")
    words = ("--model", "qwen3.6-27b", "--gpu", gpu, "--drafter", "fraction:0", *SHORT)
    words += ("--conditional", "0.819,0.819,0.6")
    curve = deployment(tmp_path, "verify_curve = { 3 = 2.81, 4 = 3.59 }")
    measured = (*words, "--deployment", curve)
    assert found(*measured)["best_gamma"] == 0
    shown = explain(*measured, "--gamma", "3").out
    assert "every drafted token costs 0.86 plain steps to verify" in shown
    assert "small-batch kernels" in shown and "do not speculate here" in shown
    bound = explain(*words, "--deployment", "ideal")
    assert "a bound, not a forecast" in bound.out and "verify_curve" in bound.out


def test_p23_acceptance_moves_tokens_and_not_time(tmp_path: Path) -> None:
    gpu = device(tmp_path, "M3 Ultra", "57 TFLOP/s", "819 GB/s", "512 GB")
    words = ("--model", "deepseek-v4-flash", "--gpu", gpu, "--drafter", "mtp", "--gamma", "1")
    low, high = (found(*words, "--alpha", alpha) for alpha in ("0.82", "0.88"))
    assert high["tokens"] - low["tokens"] == pytest.approx(0.06)
    assert high["verify_seconds"] == low["verify_seconds"]
    shown = explain(*words, "--alpha", "0.88").out
    assert "A round commits 1.88 tokens in" in shown and "to verify" in shown
    assert "must commit as many tokens" in shown and "grows most" in shown


# --- category 2: how long, and whether at all ----------------------------------------------------

MOE = ("--model", "qwen3-30b-a3b", "--gpu", "h100-sxm", "--tp", "2", "--engine", "sglang")


def test_c01_break_even_by_cell_and_the_two_times_to_measure() -> None:
    words = (*MOE, "--drafter", "eagle3", "--alpha", "0.6")
    points = specdec("plan", *words, "--batch", "1,8,64", "--context", "1000,8000", "--json").json
    assert len(points["points"]) == 6
    assert all(point["break_even"] > 0 for point in points["points"])
    shown = explain(*words, "--batch", "8", "--gamma", "3").out
    assert "break even at an acceptance of" in shown
    assert "time a step of width 1 and one of width γ + 1" in shown


def test_c02_a_tree_of_32_beyond_the_captured_graphs(tmp_path: Path) -> None:
    """Qwen3-8B, one A800 (an A100 with slower links), graphs for two requests of 32 tokens."""
    capped = deployment(tmp_path, 'base = "typical"', 'engine = "SGLang"', "max_graph_tokens = 64")
    words = ("--model", "qwen3-8b", "--gpu", "a100-sxm-80gb", "--deployment", capped, *SHORT)
    words += ("--drafter", "eagle3", "--alpha", "0.6", "--gamma", "31", "--gamma-max", "31")
    shown = explain(*words, "--batch", "3").out
    assert "The pass has 96 tokens (3 × 32), but graphs are captured up to 64" in shown
    assert "a short chain instead of a tree" in shown
    assert 2 <= found(*words, "--batch", "3")["best_gamma"] <= 4
    assert "graphs are captured" not in explain(*words, "--batch", "2").out
    chain = specdec("schedule", "--model", "qwen3-8b", "--gpu", "a100-sxm-80gb", "--alpha", "0.6",
                    "--gamma-max", "3", "--batch-max", "8", "--engine", "sglang",
                    "--cuda-graph-sizes", "1,2,4,8", "--fit")  # fmt: skip
    assert chain.status == 0 and "--speculative-eagle-topk 1" in chain.err


def test_c03_flags_of_a_chain() -> None:
    """γ drafted tokens are γ steps, one branch, and γ + 1 verified tokens."""
    answer = specdec("schedule", "--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--alpha", "0.7",
                     "--drafter", "eagle3", "--gamma-max", "3", "--floor", "3", "--batch-max",
                     "4", "--engine", "sglang", "--cuda-graph-sizes", "1,2,4")  # fmt: skip
    assert answer.status == 0, answer.err
    for flag in ("--speculative-num-steps 3", "--speculative-eagle-topk 1",
                 "--speculative-num-draft-tokens 4"):  # fmt: skip
        assert flag in answer.err


def test_c06_zero_inside_dynamic_speculation_has_its_price() -> None:
    words = ("schedule", "--model", "qwen3.5-122b-a10b", "--gpu", "h200-sxm", "--tp", "8")
    words += ("--alpha", "0.5", "--drafter", "mtp", "--gamma-max", "2", "--batch-max", "256")
    plain, taxed = (specdec(*words, "--engine", "vllm", *more)
                    for more in ((), ("--idle-tax", "0.2")))  # fmt: skip
    assert "length 0 inside dynamic speculation" in plain.err
    assert "drafting nothing with speculation enabled is taken to cost 20 %" in taxed.err
    assert plain.status == taxed.status == 0


def test_c07_a_budget_that_admits_ten() -> None:
    words = ("schedule", "--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--alpha", "0.8",
             "--gamma-max", "2", "--floor", "2", "--batch-max", "32", "--engine", "vllm",
             "--max-num-seqs", "32", "--max-num-batched-tokens", "32")  # fmt: skip
    answer = specdec(*words)
    assert "10" in answer.err and "32" in answer.err and "tokens" in answer.err
    assert answer.status == 1 or "warning" in answer.err


def test_c09_a_cost_that_rises_with_the_length_until_experts_are_all_read() -> None:
    words = ("--model", "qwen3-30b-a3b", "--gpu", "h100-sxm", "--deployment", "ideal")
    words += ("--alpha", "0.6", "--gamma", "3", *SHORT)
    small, large = (explain(*words, "--batch", batch).out for batch in ("1", "128"))
    assert "3.64 times as many" in small and "read no more" not in small
    assert "further tokens read no more" in large
    assert "break even at an acceptance of" in small


# --- category 3: what a metric means -------------------------------------------------------------


def _request(**changes: Any) -> dict[str, Any]:
    inner = {"num_spec_steps": 5, "num_accepted_draft_tokens": 17, "num_draft_tokens": 25}
    inner |= {"num_spec_tokens": 5, **changes}
    return {"usage": {"completion_tokens": 20}, "metrics": {"speculative_decoding": inner}}


def test_m01_a_mean_without_its_bonus() -> None:
    old = VLLM_LINE.replace("length: 2.91", "length: 1.91")
    shown = specdec("acceptance", "-", given=old).out
    assert "tokens per step" in shown and "2.913" in shown and "1 is added" in shown
    assert "1 is added" not in specdec("acceptance", "-", given=VLLM_LINE).out


def test_m02_a_rate_with_the_root_in_it() -> None:
    shown = specdec("acceptance", "-", "--num-draft-tokens", "4", given=SGLANG_LINE)
    assert "2.17" in shown.out and "counts the root of the draft" in shown.out
    record = specdec("acceptance", "-", "--json", "--num-draft-tokens", "4", given=SGLANG_LINE).json
    assert (record["tokens"] - 1) / record["length"] == pytest.approx(0.39)


def test_m03_a_rate_above_one_and_a_tree() -> None:
    refused = specdec("acceptance", "-", given=SGLANG_LINE.replace("0.54", "1.12"))
    assert refused.status == 1 and "1.12 is above 1, which cannot be" in refused.err
    tree = specdec("acceptance", "-", "--num-steps", "3", "--num-draft-tokens", "8",
                   given=SGLANG_LINE)  # fmt: skip
    assert tree.status == 0 and "a tree" in tree.out


def test_m04_tokens_behind_the_end_of_an_answer() -> None:
    shown = specdec("acceptance", "-", given=json.dumps(_request())).out
    assert "3 of the accepted tokens never came out; tokens per step are 3.8" in shown
    assert "5 steps a request are few" in shown


@pytest.mark.parametrize(("gamma", "tokens"), [("2", 2.44), ("8", 4.33)])
def test_m05_one_rate_two_lengths(gamma: str, tokens: float) -> None:
    words = ("--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--alpha", "0.8", "--gamma", gamma)
    assert found(*words)["tokens"] == pytest.approx(tokens, abs=5e-3)
    given = ("--conditional", ",".join(["0.8"] * int(gamma)))
    same = found(*words[:4], *given, "--gamma", gamma)
    assert same["tokens"] == pytest.approx(tokens, abs=5e-3)


def test_m06_an_example_of_llama_cpp() -> None:
    record = specdec("acceptance", "-", "--json", given=LLAMA_EXAMPLE).json
    assert record["steps"] == 119 and record["tokens"] == pytest.approx(4.23, abs=5e-3)
    assert record["drafted"] / 119 == pytest.approx(3.58, abs=5e-3)
    assert record["accepted"] / 119 == pytest.approx(3.23, abs=5e-3)


def test_m07_short_and_long_prompts_are_pooled() -> None:
    """10 and 100 rounds gave 40 and 250 tokens, the prefill's not among them."""
    parts = [_request(num_spec_steps=steps, num_accepted_draft_tokens=tokens - steps,
                      num_draft_tokens=5 * steps)
             for steps, tokens in ((10, 40), (100, 250))]  # fmt: skip
    for part, tokens in zip(parts, (41, 251), strict=True):
        part["usage"]["completion_tokens"] = tokens
    shown = specdec("acceptance", "-", given=json.dumps(parts)).out
    assert "2.636" in shown and "3.25" in shown and "weighs short and long parts alike" in shown


def test_m08_a_low_percentage_at_seven(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(VLLM_LINE)
    words = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--acceptance", str(log))
    words += ("--gamma", "7", "--batch", "16")
    record = found(*words)
    assert record["tokens"] == pytest.approx(1 + 44 / 23)
    assert record["best_gamma"] <= 4
    assert f"a draft of {record['best_gamma']} is best here" in explain(*words).out


def test_m11_conditional_or_survival_must_be_said() -> None:
    words = ("--model", "deepseek-v3", "--gpu", "h200-sxm", "--tp", "8", "--gamma", "3")
    chain = found(*words, "--conditional", "0.85,0.3,0")
    assert chain["tokens"] == pytest.approx(2.105)
    assert found(*words, "--survival", "0.85,0.3,0")["tokens"] == pytest.approx(2.15)
    silent = specdec("explain", *words)
    assert silent.status == 2 and "Acceptance is measured, never assumed" in silent.err
    short = specdec("explain", *words, "--conditional", "0.85")
    assert short.status == 1 and "goes up to 1" in short.err


def test_m16_rates_of_a_training_run() -> None:
    words = ("--model", "qwen3-8b", "--gpu", "h100-sxm", "--conditional", "0.8,0.7,0.6")
    assert found(*words, "--gamma", "3")["tokens"] == pytest.approx(2.696)


# --- category 4: what cost calculators were asked for --------------------------------------------


def test_f01_on_against_off_with_every_default_named() -> None:
    answer = explain("--model", "deepseek-v3", "--gpu", "h200-sxm", "--tp", "8", "--alpha", "0.8")
    assert "than not speculating" in answer.out and "a plain step commits 1 in" in answer.out
    assert "defaults in force" in answer.err and "--drafter fraction:0.10" in answer.err


def test_f02_one_module_drafts_five_tokens() -> None:
    words = ("--model", "glm-5.2", "--gpu", "b200", "--tp", "8", "--drafter", "mtp")
    words += ("--alpha", "0.9", *SHORT)
    assert found(*words)["best_gamma"] > 1
    assert "Drafting 5 at batch 1" in explain(*words, "--gamma", "5").out


def test_f08_sixteen_tokens_on_a_small_device(tmp_path: Path) -> None:
    """Qwen2.5-Coder-32B, in the shape of Qwen3-32B, on an M4 Pro: 371 tokens in 58 rounds; 0.44 s
    to verify 17 tokens and 0.15 s to draft, on a plain step of 0.091 s."""
    gpu = device(tmp_path, "M4 Pro", "9.2 TFLOP/s", "273 GB/s", "64 GB")
    log = "n_predict = 371\nn_drafted = 912\nn_accept  = 313\n"
    record = specdec("acceptance", "-", "--json", given=log).json
    assert record["steps"] == 58 and record["tokens"] == pytest.approx(6.4, abs=0.05)
    curve = deployment(tmp_path, f"verify_curve = {{ 17 = {0.44 / 0.091:.3f} }}")
    words = ("--model", "qwen3-32b", "--gpu", gpu, "--deployment", curve, *SHORT)
    words += ("--drafter", f"fraction:{0.15 / 16 / 0.091:.4f}", "--alpha", "0.862")
    measured = found(*words, "--gamma", "16")
    assert measured["speedup"] == pytest.approx(1.0, abs=0.05)
    assert measured["best_gamma"] < 8
    assert f"a draft of {measured['best_gamma']} is best here" in explain(*words, "--gamma",
                                                                          "16").out  # fmt: skip


def test_f09_offloaded_experts_and_three_outputs(tmp_path: Path) -> None:
    path = deployment(tmp_path, "[offload]", 'bandwidth = "64 GB/s"', "share = 0.9")
    words = ("--model", "qwen3-30b-a3b", "--gpu", "rtx-4090", "--alpha", "0.8", "--gamma", "3")
    kept, moved = found(*words, "--deployment", "ideal"), found(*words, "--deployment", path)
    assert moved["plain_seconds"] > 3 * kept["plain_seconds"]
    for name in ("tokens", "step_ratio", "speedup"):
        assert moved[name] > 0
    assert moved["speedup"] == pytest.approx(moved["tokens"] / moved["step_ratio"])
