"""specdec simulate: policies beside each other from a shell."""

from __future__ import annotations

import pytest

import specdec_lib as sd
from tests.cli.shell import specdec

V4 = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
SHORT = ("--seeds", "2", "--rounds", "400", "--workers", "1")


def test_a_fixed_length_has_the_speedup_of_the_plan() -> None:
    words = ("--alpha", "0.75", "--batch", "32", "--policy", "fixed:4", "--policy", "off", "--json")
    answer = specdec("simulate", *V4, *SHORT, *words)
    assert answer.status == 0
    fixed, off = answer.json["policies"]
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    plan = sd.Plan(cost, sd.drafters.fraction(0.1), sd.Geometric(0.75))
    assert fixed["speedup"] == pytest.approx(plan.speedup(gamma=4, B=32, S=4096), rel=0.02)
    assert off["speedup"] == pytest.approx(1) and off["off"] == pytest.approx(100)
    runs = answer.json["runs"]
    assert [(run["policy"], run["seed"]) for run in runs[:2]] == [("fixed 4", 0), ("fixed 4", 1)]
    assert all(run["emitted"] == run["accepted"] + run["bonus"] for run in runs)
    assert "4 of 4 runs done" in answer.err and "fraction:0.10" in answer.err


def test_the_table_has_a_row_for_each_policy() -> None:
    answer = specdec("simulate", *V4, *SHORT, "--alpha", "0.73")
    names = [line.split("  ")[0] for line in answer.out.splitlines()[2:]]
    assert names == ["off", "fixed 3", "threshold 3", "schedule", "priced", "oracle"]
    assert "--policy schedule" in answer.err


def test_an_open_loop_whose_acceptance_changes() -> None:
    words = ("--alpha", "1", "--then", "1:0", "--rate", "50", "--output", "64", "--seconds", "2")
    every = ("--policy", "fixed:2", "--policy", "two-stage:0.1,0.9,0.2", "--json")
    answer = specdec("simulate", *V4, *SHORT, *words, *every, "--rounds", "5000")
    (run, _, staged, _) = answer.json["runs"]
    assert 0.2 < run["accepted"] / run["drafted"] < 0.8 and run["seconds"] < 2.1
    assert run["served"] > 20 and staged["policy"] == "two-stage 0.1, 0.9, 0.2"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--policy", "magic"), 2, "'magic' is no policy"),
        (("--policy", "fixed:x"), 2, "'fixed:x' is no policy"),
        (("--policy", "fixed:40"), 1, "prices end at 16"),
        (("--policy", "two-stage:0.1,2,0"), 1, "2"),
        (("--then", "soon:0.4"), 2, "'soon:0.4' is no change"),
        (("--then", "5:1.4"), 1, "1.4"),
        (("--rate", "10"), 1, "must end"),
        (("--rate", "-1", "--output", "5"), 1, "rate = -1"),
        (("--batch", "0"), 2, "batch"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("simulate", *V4, *SHORT, "--alpha", "0.7", *words)
    assert (answer.status, answer.out) == (status, "")
    assert said in answer.err
