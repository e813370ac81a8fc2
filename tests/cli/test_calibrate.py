"""``specdec calibrate``: from a table to a deployment file that every other command takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import specdec_lib as sd
from specdec_lib.deployment import read_deployment
from tests.cli.shell import as_process, specdec

WHERE = ("--model", "llama-3.1-8b", "--gpu", "b200")
TABLE = "B,T,S,ms\n1,1,4096,6.0\n64,4,4096,12.0\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "steps.csv"
    path.write_text(TABLE)
    return str(path)


def test_end_to_end(table: str, tmp_path: Path) -> None:
    mine = str(tmp_path / "mine.toml")
    answer = specdec("calibrate", table, *WHERE, "-o", mine)
    assert answer.status == 0, answer.err
    assert "fixed_time" in answer.out and "determined" in answer.out
    assert "as before" in answer.out
    assert f"--deployment {mine}" in answer.err

    read = read_deployment(mine, sd.gpu("b200"))
    assert "line 2 of steps.csv" in read.sources["step_overhead"].source
    price = specdec("price", *WHERE, "--deployment", mine, "--json")
    [point] = price.json["points"]
    [shown] = [row for row in specdec("calibrate", table, *WHERE, "--json").json["rows"]
               if row["B"] == 1]  # fmt: skip
    assert point["seconds"] == pytest.approx(shown["fitted"], rel=1e-6)
    assert point["seconds"] == pytest.approx(6e-3, rel=0.03)
    plan = specdec("plan", *WHERE, "--alpha", "0.7", "--deployment", mine)
    assert plan.status == 0, plan.err


def test_json(table: str) -> None:
    found = specdec("calibrate", table, *WHERE, "--json").json
    fixed = found["parameters"]["fixed_time"]
    assert fixed["determined"] is True
    assert fixed["low"] < fixed["value"] < fixed["high"]
    assert fixed["rows"] == ["line 2 of steps.csv", "line 3 of steps.csv"]
    assert [row["measured"] for row in found["rows"]] == pytest.approx([6e-3, 12e-3])


def test_from_standard_input_as_a_process() -> None:
    answer = as_process("calibrate", "-", *WHERE, given=TABLE)
    assert answer.status == 0, answer.err
    assert "line 2 of standard input" in answer.out


def test_it_starts_from_the_deployment_that_is_given(table: str) -> None:
    found = specdec("calibrate", table, *WHERE, "--deployment", "ideal", "--json").json
    assert set(found["parameters"]) == {"memory_efficiency", "compute_efficiency"}


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        ("B,S,tokens_per_second\n1,4096,150\n", (), 1, "Is it of decoding alone"),
        ("B,T,S,ms\n1,1,4096,0.6\n", (), 1, "line 2 of standard input.*full bandwidth"),
        ("B,T,S,ms\n1,1,4096,6\n", ("--fit", "pass_overhead"), 1, "no row says anything"),
        ("B,T,S,ms\n1,1,4096,6\n", ("--fit", "speed"), 2, "speed"),
        ("B,S,gamma,ratio\n1,4096,3,1.6\n", (), 1, "say what drafted"),
        ("B,T,S,ms\n1,1,4096,6\n", ("--noise", "0"), 2, "noise"),
    ],
)
def test_mistakes(text: str, words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("calibrate", "-", *WHERE, *words, given=text)
    assert answer.status == status
    assert answer.out == ""
    assert re.search(said, answer.err), answer.err


def test_throughput_and_speedups_with_a_drafter() -> None:
    text = "B,S,gamma,N,tokens_per_second\n8,4096,,,1300\n8,4096,3,2.4,2000\n"
    answer = specdec(
        "calibrate", "-", *WHERE, "--throughput", "decode", "--drafter", "fraction:0.1", given=text
    )
    assert answer.status == 0, answer.err
    assert "gamma = 3" in answer.out


def test_nothing_is_written_where_nothing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    answer = specdec("calibrate", "-", *WHERE, "-o", str(path), given="B,T,S,ms\n1,1,1,x\n")
    assert answer.status == 1
    assert not path.exists()
