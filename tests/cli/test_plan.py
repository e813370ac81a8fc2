"""specdec plan: the best draft length from a shell."""

from __future__ import annotations

import numpy as np
import pytest

import specdec_lib as sd
from tests.cli.shell import as_process, specdec

V4 = ("--model", "deepseek-v4-flash", "--gpu", "b200")
IDEAL = (*V4, "--deployment", "ideal")


def test_the_published_optimum_of_the_ideal_engine() -> None:
    """Worked out apart from this project: α = 0.75, c = 0.10, 4 096 tokens of context."""
    batch = "1,2,4,8,11,16,32,43,64,100,128,256,512,1024,4096,16384"
    answer = as_process("plan", *IDEAL, "--alpha", "0.75", "--batch", batch, "--json")
    assert answer.status == 0
    lengths = [point["gamma"] for point in answer.json["points"]]
    assert lengths == [2, 1, 1, 1, 1, 4, 6, 5, 5, 4, 4, 4, 3, 2, 1, 0]
    assert "--drafter fraction:0.10 --gamma-max 16" in answer.err


def test_break_even_is_where_the_speedup_is_one() -> None:
    points = specdec("plan", *IDEAL, "--alpha", "0.8", "--batch", "1,64", "--json").json["points"]
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    for point in points:
        plan = sd.Plan(cost, sd.drafters.fraction(0.1), sd.Geometric(point["break_even"]))
        speedup = plan.speedup(gamma=point["gamma"], B=point["B"], S=point["S"])
        assert speedup == pytest.approx(1, rel=1e-9)


def test_off_is_length_zero_with_the_break_even_of_one_token() -> None:
    words = (*IDEAL, "--alpha", "0.2", "--batch", "8", "--json")
    (point,) = specdec("plan", *words).json["points"]
    assert point["gamma"] == 0 and point["speedup"] == 1
    assert point["break_even"] == pytest.approx(point["hurdle"], rel=1e-9)
    (never,) = specdec("plan", *words, "--gamma-max", "0").json["points"]
    assert never["gamma"] == 0 and never["hurdle"] is None


@pytest.mark.parametrize(
    "words",
    [
        ("--conditional", "0.78,0.75,0.76"),
        ("--survival", f"0.78,{0.78 * 0.75},{0.78 * 0.75 * 0.76}"),
    ],
)
def test_acceptance_by_position(words: tuple[str, str]) -> None:
    answer = specdec("plan", *IDEAL, *words, "--batch", "32", "--json")
    (point,) = answer.json["points"]
    survivals = np.cumprod([0.78, 0.75, 0.76])[: point["gamma"]]
    assert point["tokens"] == pytest.approx(1 + survivals.sum(), rel=1e-12)
    assert "drafts of up to 3 tokens were tried" in answer.err


def test_a_drafter_of_the_catalogue() -> None:
    words = ("plan", "--model", "qwen3-8b", "--gpu", "h100-sxm", "--alpha", "0.7", "--json")
    named = specdec(*words, "--drafter", "eagle3").json
    assert named["drafter"] == "Qwen3-8B-EAGLE3"
    own = specdec(*words, "--drafter", "qwen3-0.6b").json
    assert own["drafter"] == "Qwen3-0.6B"


def test_the_table_has_a_row_for_each_point() -> None:
    answer = specdec("plan", *IDEAL, "--alpha", "0.75", "--batch", "1-3", "--context", "512,4096")
    rows = [line.replace("4 096", "4096").split() for line in answer.out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [[b, s] for b in "123" for s in ("512", "4096")]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "found none of them"),
        (("--alpha", "0.7", "--survival", "0.7"), 2, "--alpha and --survival"),
        (("--alpha", "1.2"), 1, "1.2"),
        (("--alpha", "nan"), 1, "nan"),
        (("--alpha", "high"), 2, "'high' is not a valid float"),
        (("--survival", "0.5,0.6"), 1, "survival rises at position 2"),
        (("--conditional", "0.5,,0.6"), 2, "no list of rates"),
        (("--alpha", "0.7", "--drafter", "magic"), 1, "magic"),
        (("--alpha", "0.7", "--drafter", "fraction:-1"), 1, "-1"),
        (("--alpha", "0.7", "--drafter", "fraction:x"), 1, "such as fraction:0.10"),
        (("--alpha", "0.7", "--gamma-max", "-1"), 2, "gamma-max"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("plan", *V4, *words)
    assert (answer.status, answer.out) == (status, "")
    assert said in answer.err
