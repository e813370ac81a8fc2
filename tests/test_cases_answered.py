"""Every question of users that the book answers has a test that exists; cases.toml has the list."""

from __future__ import annotations

import ast
import functools
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES: dict[str, dict[str, Any]] = tomllib.loads(
    ROOT.joinpath("tests", "cases.toml").read_text(encoding="utf-8")
)
#: By topic: numbers, choosing, metrics, calculators, tools of the book, configurations.
NAMES = {
    "P": (1, 3, 5, 7, 9, 10, 13, 15, 17, 18, 19, 21, 23),
    "C": (1, 2, 3, 6, 7, 9),
    "M": (1, 2, 3, 4, 5, 6, 7, 8, 11, 16),
    "F": (1, 2, 3, 4, 8, 9),
    "B": (1, 2, 3, 4, 5, 10),
    "J": tuple(range(1, 13)),
}


def test_all_cases_are_listed() -> None:
    assert sorted(CASES) == sorted(f"{t}{n:02}" for t, numbers in NAMES.items() for n in numbers)
    assert len(CASES) == 53


@functools.cache
def named_in(file: str) -> frozenset[str]:
    """The tests of a file, those of classes after the class's name."""
    path = ROOT / file
    assert path.is_file(), f"there is no {file}"
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return frozenset(found)


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_tests(name: str) -> None:
    answered = CASES[name]["answered_by"]
    assert answered, f"{name} has no test"
    for test in answered:
        file, _, called = test.partition("::")
        assert called in named_in(file), f"{name}: there is no {test}"
        assert called.rpartition("::")[2].startswith("test_")
        assert name.lower() in called.lower(), f"{test} does not bear the name of {name}"


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_what_is_missing_or_nothing(name: str) -> None:
    assert set(CASES[name]) <= {"answered_by", "missing"}
    assert CASES[name].get("missing", "something").strip()


def test_decisions_are_answered_in_plain_words_too() -> None:
    """By specdec explain, or by the command that the question is for."""
    for name in CASES:
        if name[0] in "PC" and name != "C07":  # a question of an engine's own budget
            assert any("tests/cli/" in test for test in CASES[name]["answered_by"]), name
