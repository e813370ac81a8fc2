"""specdec price: the step cost from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import specdec_lib as sd
from specdec_lib.deployment import write_deployment
from tests.cli.shell import as_process, specdec

V4 = ("--model", "deepseek-v4-flash", "--gpu", "b200")


def test_as_a_process_the_result_alone_is_on_standard_output() -> None:
    answer = as_process("price", *V4, "--batch", "8", "--width", "4", "--json")
    assert answer.status == 0
    (point,) = answer.json["points"]
    cost = sd.StepCost(
        sd.model("deepseek-v4-flash"), sd.gpu("b200"), sd.Deployment.typical(sd.gpu("b200"))
    )
    assert point["seconds"] == cost(B=8, T=4, S=4096)
    shares = [part["seconds"] for part in point["components"].values()]
    assert sum(shares) == pytest.approx(point["seconds"], rel=1e-12)
    assert (
        "defaults in force: --deployment typical --tp 1 --ep 1 --dp 1 --engine vLLM" in answer.err
    )


def test_one_point_is_told_by_components_and_several_by_ratio() -> None:
    one = specdec("price", *V4, "--deployment", "ideal", "--batch", "8", "--width", "4")
    assert one.out.splitlines()[0].split() == [
        "component",
        "GFLOP",
        "MB",
        "µs",
        "%",
        "waits",
        "for",
    ]
    assert one.out.splitlines()[-1].split()[0] == "step"
    many = specdec("price", *V4, "--batch", "1,8", "--width", "1-3", "--context", "512")
    rows = [line.split() for line in many.out.splitlines()[2:]]
    assert [row[:3] for row in rows] == [[b, "512", t] for b in "18" for t in "123"]
    assert [row[4] for row in rows if row[2] == "1"] == ["1.000", "1.000"]


def test_defaults_are_named_only_where_they_are_in_force() -> None:
    answer = specdec("price", *V4, "--deployment", "ideal", "--tp", "8", "--ep", "8", "--dp", "1")
    assert "defaults in force" not in answer.err
    assert "bound, not a forecast" in answer.err


def test_a_configuration_by_its_path(tmp_path: Path) -> None:
    shape = {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "vocab_size": 128256,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(shape))
    words = ("price", "--model", str(path), "--gpu", "b200", "--deployment", "ideal", "--json")
    answer = specdec(*words)
    named = specdec("price", "--model", "llama-3.1-8b", *words[3:])
    assert answer.json["points"] == named.json["points"]
    assert "head_dim" in answer.err
    half = specdec(*words, "--precision", "fp8").json["points"][0]
    whole = answer.json["points"][0]["components"]["dense_ffn"]
    assert half["components"]["dense_ffn"]["bytes"] == whole["bytes"] / 2


def test_a_deployment_file(tmp_path: Path) -> None:
    gpu = sd.gpu("b200")
    path = tmp_path / "mine.toml"
    write_deployment(sd.Deployment.typical(gpu, step_overhead=3e-3, tp=4), path)
    answer = specdec("price", *V4, "--deployment", str(path), "--json")
    mine = sd.Deployment.typical(gpu, step_overhead=3e-3, tp=4)
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), gpu, mine)
    assert answer.json["points"][0]["seconds"] == cost(B=1, T=1, S=4096)
    wider = specdec("price", *V4, "--deployment", str(path), "--tp", "8", "--json")
    assert wider.json["points"][0]["seconds"] < answer.json["points"][0]["seconds"]


def test_what_does_not_fit_is_warned_of_and_priced_all_the_same() -> None:
    answer = specdec("price", "--model", "deepseek-v3", "--gpu", "h100-sxm", "--json")
    assert answer.status == 0 and answer.json["points"][0]["seconds"] > 0
    assert "need" in answer.json["warnings"][0] and "warning:" in answer.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--model", "nope", "--gpu", "b200"), 1, "no model is called 'nope'"),
        (("--model", "deepseek-v4-flsh", "--gpu", "b200"), 1, "DeepSeek-V4-Flash"),
        (("--model", "missing.json", "--gpu", "b200"), 1, "missing.json: there is no such file"),
        ((*V4[:3], "b20"), 1, "B200"),
        ((*V4, "--batch", "0"), 2, "0 is less than 1"),
        ((*V4, "--batch", "many"), 2, "'many' is no whole number"),
        ((*V4, "--batch", "8-1"), 2, "runs backwards"),
        ((*V4, "--batch", "1-99999999"), 2, "more than"),
        ((*V4, "--batch", "9" * 30), 2, "larger than anything"),
        ((*V4, "--width", "1.5"), 2, "'1.5' is no whole number"),
        ((*V4, "--tp", "0"), 2, "0 is not in the range"),
        ((*V4, "--tp", "2", "--ep", "3"), 1, "ep = 3 does not fit"),
        ((*V4, "--deployment", "nowhere.toml"), 1, "nowhere.toml: No such file"),
        ((*V4, "--deployment", "ideal", "--engine", "vLLM"), 1, "for a typical deployment"),
        ((*V4, "--engine", "llama"), 1, "llama"),
        ((*V4, "--kv-dtype", "fp3"), 1, "fp3"),
        ((*V4, "--precision", "fp8"), 1, "--precision is for a configuration"),
        (("--gpu", "b200"), 2, "Missing option '--model'"),
        ((*V4, "--what"), 2, "No such option"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("price", *words)
    assert answer.status == status
    assert answer.out == ""
    assert said in answer.err and "Traceback" not in answer.err


def test_a_mistake_leaves_no_traceback_in_a_process() -> None:
    answer = as_process("price", "--model", "nope", "--gpu", "b200")
    assert answer.status == 1 and answer.err.startswith("Error: no model is called 'nope'")


def test_help_has_examples() -> None:
    assert "specdec price --model deepseek-v4-flash" in specdec("price", "--help").out
    assert "specdec models" in specdec("--help").out
    assert specdec("--version").out.startswith("specdec, version ")
