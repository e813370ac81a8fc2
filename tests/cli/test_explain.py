"""specdec explain: user cases answered in plain words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import specdec_lib as sd
from tests.cli.shell import specdec
from tests.cli.test_acceptance import LOG


def test_p01_a_small_moe_at_small_batch() -> None:
    """Case P01: Qwen3-30B-A3B on two H100 is slower with three drafted tokens, because of its
    experts; one token at most."""
    words = ("explain", "--model", "qwen3-30b-a3b", "--gpu", "h100-sxm", "--tp", "2")
    words += ("--engine", "sglang", "--alpha", "0.5", "--gamma", "3", "--batch", "4")
    found = specdec(*words, "--json").json
    assert found["speedup"] < 1 and found["best_gamma"] <= 1
    assert max(found["grows"], key=found["grows"].get) == "expert"
    shown = specdec(*words).out
    assert "slower than not speculating" in shown and "touches more of them" in shown


def test_p23_tokens_and_seconds_are_told_apart() -> None:
    """Case P23: a better drafter moves the tokens of a round, not its seconds."""
    words = ("explain", "--model", "deepseek-v4-flash", "--gpu", "b200", "--gamma", "3", "--json")
    low, high = (specdec(*words, "--alpha", alpha).json for alpha in ("0.82", "0.88"))
    assert low["verify_seconds"] == high["verify_seconds"]
    assert high["tokens"] - low["tokens"] == pytest.approx(
        sum(0.88**i - 0.82**i for i in range(4)), rel=1e-9
    )


def test_m08_acceptance_from_a_log_and_a_shorter_draft(tmp_path: Path) -> None:
    """Case M08: at a draft of 7 the last positions are worth little; fewer are best."""
    path = tmp_path / "server.log"
    path.write_text(LOG)
    words = ("explain", "--model", "deepseek-v4-flash", "--gpu", "b200", "--gamma", "7")
    answer = specdec(*words, "--acceptance", str(path), "--batch", "16", "--json")
    assert answer.json["tokens"] == pytest.approx(1 + 44 / 23, rel=1e-12)
    assert 1 <= answer.json["best_gamma"] <= 4
    assert "acceptance by position of drafts of 7 tokens" in answer.err


def test_p15_a_draft_model_as_large_as_the_active_part() -> None:
    """Case P15: 9 billion parameters draft for 17 billion active ones; the warning says so."""
    words = ("explain", "--model", "qwen3.5-397b-a17b", "--gpu", "b200", "--tp", "8")
    words += ("--deployment", "ideal", "--drafter", "qwen3-8b", "--alpha", "0.6", "--gamma", "3")
    answer = specdec(*words)
    assert answer.status == 0 and "Beware" in answer.out and "active" in answer.out


def test_the_numbers_are_those_of_the_plan() -> None:
    words = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
    found = specdec("explain", *words, "--alpha", "0.75", "--gamma", "4", "--json").json
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    plain, verify = cost(B=1, T=1, S=4096), cost(B=1, T=5, S=4096)
    assert found["plain_seconds"] == plain and found["verify_seconds"] == verify
    assert found["step_ratio"] == pytest.approx(verify / plain + 0.4, rel=1e-12)
    tokens = sum(0.75**i for i in range(5))
    assert found["speedup"] == pytest.approx(tokens / (verify / plain + 0.4), rel=1e-12)
    assert found["draft_budget"] == pytest.approx(tokens * plain - verify, rel=1e-9)
    assert sum(found["shares"].values()) == pytest.approx(1, rel=1e-12)
    assert json.dumps(found, allow_nan=False)


def test_where_nothing_pays_it_says_off() -> None:
    words = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
    shown = specdec("explain", *words, "--alpha", "0.1", "--batch", "8").out
    assert "do not speculate here" in shown


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "found none of them"),
        (("--alpha", "0.5", "--gamma", "0"), 2, "gamma"),
        (("--alpha", "0.5", "--batch", "x"), 2, "'x' is not a valid integer"),
        (("--survival", "0.5,0.3", "--gamma", "3"), 1, "goes up to 2"),
        (("--acceptance", "nowhere.log"), 1, "nowhere.log: No such file"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("explain", "--model", "deepseek-v4-flash", "--gpu", "b200", *words)
    assert (answer.status, answer.out) == (status, "")
    assert said in answer.err
