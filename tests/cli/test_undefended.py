"""Whatever is given to whatever option, the command answers: no traceback, and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from specdec_lib.cli import main
from tests.cli.shell import specdec

#: Words that make each command run; an option under test stands above them.
WHOLE: dict[str, dict[str, str]] = {
    "price": {"--model": "qwen3-30b-a3b", "--gpu": "b200"},
    "plan": {"--model": "qwen3-30b-a3b", "--gpu": "b200", "--alpha": "0.7", "--batch": "1"},
    "schedule": {"--model": "qwen3-30b-a3b", "--gpu": "b200", "--alpha": "0.7", "--batch-max": "4"},
    "explain": {"--model": "qwen3-30b-a3b", "--gpu": "b200", "--alpha": "0.7"},
    "simulate": {
        "--model": "qwen3-8b", "--gpu": "b200", "--alpha": "0.7", "--rounds": "20",
        "--policy": "fixed:2", "--seeds": "1", "--workers": "1",
    },
}  # fmt: skip
STATED = ("--conditional", "--survival", "--acceptance")
WORDS = ("", "nan", "-1", "1e400", "9" * 30, "x" * 5000, "\x00")

OPTIONS = [
    (name, option.opts[0])
    for name, command in main.commands.items()
    for option in command.params
    if isinstance(option, click.Option) and not option.is_flag
]


def answered(*words: str, of: str = "") -> None:
    answer = specdec(*words)
    assert answer.status in (0, 1, 2), words
    if answer.status:
        assert answer.out == "", f"half an answer of {words}"
        assert re.search(r"^Error: \S", answer.err, re.MULTILINE), words
        assert "Traceback" not in answer.err
        assert len(answer.err) < 2500, f"{len(answer.err)} characters about {of}"


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_absurd_value_is_refused_with_a_message(command: str, option: str) -> None:
    given = dict(WHOLE.get(command, {}))
    if option in STATED:
        del given["--alpha"]
    for word in WORDS:
        words = [part for pair in (given | {option: word}).items() for part in pair]
        more = ["-"] if command == "acceptance" else []
        answered(command, *words, *more, of=option)


#: Files that are none of what is wanted: their name, and what is in them.
FILES = {
    "binary.toml": b"\xff\xfe\x00", "binary.json": b"\xff\xfe\x00", "empty.toml": b"",
    "empty.json": b"", "list.json": b"[]", "nan.json": b'{"hidden_size": NaN}',
    "deep.json": b"[" * 100_000, "deep.toml": b"x=" + b"[" * 5000, "open.toml": b"x = [[[",
    "number.toml": b"name = 5", "engine.toml": b'base = "typical"\nengine = 5',
    "degree.toml": b'tp = "two"', "curve.toml": b"verify_curve = { a = 1 }",
    "huge.toml": b"verify_curve = { 2 = 1e400 }", "share.toml": b'offload = { share = "x" }',
    "rate.toml": b'memory_efficiency = "x"', "base.toml": b"base = [1]",
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_kind_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    for option in ("--model", "--gpu", "--deployment", "--acceptance"):
        given = dict(WHOLE["explain"])
        if option == "--acceptance":
            del given["--alpha"]
        words = [part for pair in (given | {option: str(path)}).items() for part in pair]
        answered("explain", *words, of=f"{option} {name}")
        if not FILES[name] and option == "--deployment":
            continue  # a deployment that states nothing is the ideal engine
        assert specdec("explain", *words).status == 1, f"{option} {name}"
    answered("acceptance", str(path), of=name)
    assert specdec("acceptance", str(path)).status == 1


def test_an_unknown_word_is_a_mistake_of_usage() -> None:
    for words in (("nothing",), ("price", "--nothing", "1")):
        answer = specdec(*words)
        assert answer.status == 2 and ("No such" in answer.err or "unexpected" in answer.err)
    near = specdec("price", "--model", "qwen3-30b", "--gpu", "b200")
    assert near.status == 1 and "Qwen3-30B-A3B" in near.err
