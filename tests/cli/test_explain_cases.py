"""specdec explain, or the command that a question is for, on what users reported.

The answers are in plain words; the tests bear the names of the cases.  Devices that the catalogue
lacks are in test_plan_cases.py.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from specdec_lib.records.toml import load_toml
from tests.cli.shell import specdec


class Explained:
    """The answer to ``specdec explain`` in words and in numbers, each asked for when needed."""

    def __init__(self, *words: str) -> None:
        self._words = words

    @functools.cached_property
    def told(self) -> str:
        """The sentences."""
        answer = specdec("explain", *self._words)
        assert answer.status == 0, answer.err
        return answer.out

    @functools.cached_property
    def found(self) -> dict[str, Any]:
        """The numbers behind them."""
        numbers: dict[str, Any] = specdec("explain", *self._words, "--json").json
        return numbers


def explain(*words: str) -> Explained:
    """Ask once, in words or in numbers."""
    return Explained(*words)


def config(folder: Path, name: str) -> str:
    """A model of the catalogue as a config.json, for what is served in other formats."""
    path = folder / "config.json"
    path.write_text(json.dumps(load_toml(f"models/{name}.toml")["config"]))
    return str(path)


def test_p03_longer_drafts_lose_to_their_own_passes() -> None:
    """Llama-3.1-8B with EAGLE-1 on an H100: seven tokens are slower than two or three, though more
    are accepted, because each costs a pass and a head over the whole vocabulary."""
    rates = ",".join(f"{0.7 * 0.8**i:.4f}" for i in range(7))
    words = ("--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--drafter", "eagle1")
    words += ("--conditional", rates, "--context", "1000", "--gamma", "7")
    told = explain(*words)
    found = told.found
    assert found["best_gamma"] in (2, 3)
    assert "of a plain step; it may take" in told.told and "a draft of " in told.told
    assert found["draft_seconds"] > 0.8 * found["plain_seconds"]
    assert found["verify_seconds"] < 1.1 * found["plain_seconds"]


def test_p05_requests_per_second_are_no_batch() -> None:
    """DeepSeek-R1 with its module on eight devices: a load in requests a second is refused as a
    batch, and verification takes more of a larger one."""
    words = ("--model", "deepseek-r1", "--gpu", "h200", "--tp", "8", "--drafter", "mtp")
    words += ("--alpha", "0.815", "--gamma", "1")
    refused = specdec("explain", *words, "--batch", "1 QPS")
    assert refused.status == 2 and "'1 QPS' is not a valid integer" in refused.err
    told = explain(*words)
    one, eight = told.found, explain(*words, "--batch", "8").found
    assert one["speedup"] > 1 and one["tokens"] == pytest.approx(1.815)
    assert "What grows most from 1 to 2 verified tokens: expert" in told.told
    growth = [found["verify_seconds"] / found["plain_seconds"] for found in (one, eight)]
    assert growth[1] > growth[0]


def test_p07_one_user_drafts_a_few_with_the_own_module() -> None:
    """DeepSeek-R1 on eight B200 in TensorRT-LLM, one user: best at two to four tokens."""
    rates = ",".join(f"{0.94 * 0.86**i:.4f}" for i in range(7))
    words = ("--model", "deepseek-r1", "--gpu", "b200", "--tp", "8", "--engine", "tensorrt-llm")
    words += ("--drafter", "mtp", "--conditional", rates, "--context", "2000", "--gamma", "3")
    told = explain(*words)
    found = told.found
    assert found["best_gamma"] in (2, 3, 4)
    assert 1.6 < found["speedup"] < 2.6
    assert "Regime: overhead" in told.told


def test_p09_a_plateau_is_called_one() -> None:
    """A mixture with its module: several lengths within a few per cent, told as a range."""
    words = ("--model", "qwen3.6-35b-a3b", "--gpu", "rtx-5090", "--drafter", "mtp")
    words += ("--survival", "0.779,0.583,0.444,0.349,0.28,0.23", "--gamma", "3")
    told = explain(*words)
    found = told.found
    shortest, longest = found["plateau"]
    assert shortest <= found["best_gamma"] <= longest and shortest < longest
    assert f"lengths from {shortest} to {longest} are within 5 % of the best" in told.told


def test_p10_lists_of_positions_give_tokens() -> None:
    """Two runs with other drafts: 3.10 and 2.31 tokens, not 2.0 from the mean of 52.5 per cent."""
    words = ("--model", "gemma-4-26b-a4b", "--gpu", "rtx-5090")
    lists = {"4": "0.844,0.599,0.385,0.271", "2": "0.766,0.545"}
    tokens = {
        gamma: explain(*words, "--survival", rates, "--gamma", gamma).found["tokens"]
        for gamma, rates in lists.items()
    }
    assert tokens["4"] == pytest.approx(3.10, abs=0.01)
    assert tokens["2"] == pytest.approx(2.31, abs=0.01)


def test_p13_the_drafter_has_a_cache_of_its_own() -> None:
    """A block drafter whose layers see everything: its cost grows with the context and is not
    split."""
    words = ("--model", "qwen3.6-27b", "--gpu", "rtx-4090", "--tp", "4", "--gamma", "4")
    words += ("--drafter", "qwen3.6-27b-dspark", "--alpha", "0.85", "--context")
    told = explain(*words, "185000")
    near, far = explain(*words, "1000").found, told.found
    assert far["draft_seconds"] > near["draft_seconds"] + 3e-3  # 3.79 GB at 1.01 TB/s
    assert "grows with the context" in told.told and "unsplit" in told.told


def test_p17_experts_of_a_loaded_step() -> None:
    """gpt-oss-120b at a batch of 64 on an MI300X: the experts rule, nearly all are touched, and
    the price of more tokens is small."""
    words = ("--model", "gpt-oss-120b", "--gpu", "mi300x", "--alpha", "0.7", "--batch", "64")
    told = explain(*words)
    found = told.found
    assert found["regime"] == "expert" and "until all are touched" in told.told
    assert found["verify_seconds"] < 1.5 * found["plain_seconds"]


def test_p18_a_head_that_is_right_once_drafts_one(tmp_path: Path) -> None:
    """Qwen3-30B-A3B in NVFP4 with an EAGLE-3 head that is accepted at the first position only."""
    words = ("--model", config(tmp_path, "qwen3-30b-a3b"), "--precision", "nvfp4")
    words += ("--gpu", "RTX PRO 6000 Blackwell Server", "--drafter", "Qwen3-30B-A3B-EAGLE3")
    told = explain(*words, "--survival", "0.69,0,0", "--gamma", "3", "--gamma-max", "3")
    found = told.found
    assert found["speedup"] < 1 and found["best_gamma"] == 1
    assert found["tokens"] == pytest.approx(1.69)
    assert "slower than not speculating" in told.told and "a draft of 1 is best" in told.told


def test_p19_all_tokens_of_a_block_are_verified() -> None:
    """One pass drafts fifteen tokens; under load two of them are better than fifteen."""
    words = ("--model", "qwen3.5-35b-a3b", "--gpu", "b200", "--batch", "64")
    words += ("--drafter", "qwen3.5-35b-a3b-dflash", "--survival")
    two = explain(*words, "0.71,0.48", "--gamma", "2").found
    long = ",".join(f"{0.71 * 0.68**i:.5f}" for i in range(15))
    fifteen = explain(*words, long, "--gamma", "15").found
    assert two["tokens"] == pytest.approx(2.19)
    assert fifteen["verify_seconds"] > 1.1 * two["verify_seconds"]
    assert fifteen["best_gamma"] < 8


def test_p21_a_measured_curve_says_off_and_the_bound_says_it_is_one(tmp_path: Path) -> None:
    """Passes of 2.81 and 3.59 plain steps for three and four tokens: off.  Without them the answer
    is a bound, and says what to time."""
    words = ("--model", "qwen3.6-27b", "--gpu", "rtx-5090", "--drafter", "fraction:0")
    words += ("--conditional", "0.819,0.819,0.6", "--gamma", "3", "--gamma-max", "3")
    bound = explain(*words, "--deployment", "ideal")
    assert "a bound, not a forecast" in bound.told
    assert "time a step of width 1 and one of width" in bound.told
    served = tmp_path / "deployment.toml"
    served.write_text('name = "timed"\nverify_curve = { 3 = 2.81, 4 = 3.59 }\n')
    told = explain(*words, "--deployment", str(served))
    found = told.found
    assert found["best_gamma"] == 0 and "do not speculate here" in told.told


def test_c01_a_threshold_and_two_numbers_to_measure() -> None:
    """How to tune a mixture: break-even acceptance, and the two step times to take."""
    words = ("--model", "qwen3-30b-a3b", "--gpu", "h100-sxm", "--tp", "2", "--alpha", "0.6")
    told = explain(*words, "--drafter", "eagle3", "--gamma", "3")
    found = told.found
    assert f"break even at an acceptance of {found['break_even_alpha']:.2f}" in told.told
    assert "time a step of width 1 and one of width" in told.told


def test_c02_c03_a_chain_for_a_server_under_load() -> None:
    """How to run a chain in SGLang, and how many tokens are verified: steps k, top-k 1, k + 1."""
    words = ("schedule", "--model", "qwen3-8b", "--gpu", "h100-sxm", "--drafter", "eagle3")
    words += ("--alpha", "0.6", "--batch-max", "8", "--engine", "sglang")
    answer = specdec(*words)
    assert answer.status == 0, answer.err
    assert "--speculative-eagle-topk 1" in answer.err
    assert "--speculative-num-draft-tokens" in answer.err


def test_c06_zero_in_a_schedule_is_not_off() -> None:
    """A schedule with a zero warns that drafting nothing is dearer than not speculating."""
    words = ("schedule", "--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
    answer = specdec(*words, "--alpha", "0.7", "--batch-max", "64", "--engine", "vllm")
    assert answer.status == 0, answer.err
    assert any(
        entry[2] == 0 for entry in json.loads(answer.out)["num_speculative_tokens_per_batch_size"]
    )
    assert "start without" in answer.err and "49548" in answer.err


def test_c09_the_price_of_length_ends_where_all_experts_are_touched() -> None:
    """Verification is dear for a mixture at a small batch and cheap at a large one, whatever the
    length: the break-even acceptance falls."""
    words = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--alpha", "0.7", "--gamma", "3")
    few, many = (explain(*words, "--batch", batch).found for batch in ("8", "128"))
    assert many["break_even_alpha"] < few["break_even_alpha"] - 0.1


def test_f01_on_and_off_side_by_side() -> None:
    """A planner shows speculation as a decision: the plain step, the round, and no hidden rate."""
    words = ("--model", "deepseek-v3", "--gpu", "b200", "--tp", "8", "--drafter", "mtp")
    told = explain(*words, "--alpha", "0.8", "--gamma", "1")
    found = told.found
    assert "a plain step commits 1 in" in told.told and found["speedup"] > 1
    none = specdec("explain", *words, "--gamma", "1")
    assert none.status == 2 and "Acceptance is measured, never assumed" in none.err


def test_f02_modules_are_no_draft_length() -> None:
    """GLM-5.2 has one module and drafts five tokens with it."""
    words = ("--model", "glm-5.2", "--gpu", "b200", "--tp", "8", "--drafter", "mtp")
    found = explain(*words, "--alpha", "0.8", "--gamma", "5").found
    assert found["gamma"] == 5 and found["tokens"] == pytest.approx(sum(0.8**i for i in range(6)))


def test_f08_past_the_knee_of_a_small_device() -> None:
    """6.4 tokens a round and no gain: seventeen verified tokens take much longer than one where
    arithmetic is scarce, and a short draft is advised."""
    words = ("--model", "qwen3-32b", "--gpu", "l4", "--tp", "4", "--drafter", "qwen3-1.7b")
    found = explain(*words, "--alpha", "0.75", "--gamma", "16", "--batch", "8").found
    assert found["best_gamma"] < 8


def test_f09_factor_and_acceptance_apart(tmp_path: Path) -> None:
    """Weights behind a slow link: tokens, step ratio and speedup are three outputs."""
    served = tmp_path / "deployment.toml"
    served.write_text('name = "offloaded"\noffload = { share = 0.9, bandwidth = "64 GB/s" }\n')
    words = ("--model", "qwen3-30b-a3b", "--gpu", "rtx-5090", "--alpha", "0.7", "--gamma", "3")
    found = explain(*words, "--deployment", str(served)).found
    assert found["speedup"] == pytest.approx(found["tokens"] / found["step_ratio"], rel=1e-12)
    fast = explain(*words, "--deployment", "ideal").found
    assert found["plain_seconds"] > 5 * fast["plain_seconds"]
    assert found["tokens"] == fast["tokens"]
