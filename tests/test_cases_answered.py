"""Every question of ``tests/cases.toml`` is answered by tests that there are.

The tests are looked up in the syntax trees, so that nothing is imported or run.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CASES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests/cases.toml").read_text())

#: The questions that were collected, by the letter of their kind.
COLLECTED = {
    "P": (1, 3, 5, 7, 9, 10, 13, 15, 17, 18, 19, 21, 23),
    "C": (1, 2, 3, 6, 7, 9),
    "M": (1, 2, 3, 4, 5, 6, 7, 8, 11, 16),
    "F": (1, 2, 3, 4, 8, 9),
    "B": (1, 2, 3, 4, 5, 10),
    "J": tuple(range(1, 13)),
}

#: A test whose name begins with the number of a case, as in test_p01_… or TestP01.
NUMBERED = re.compile(r"[Tt]est_?([PCMFBJpcmfbj]\d\d)(?=_|$)")


@functools.cache
def defined(file: str) -> frozenset[str]:
    """The tests of a file as pytest names them, without parameters: ``name`` or ``Class::name``."""
    names = set()
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            inner = (item for item in node.body if isinstance(item, ast.FunctionDef))
            names |= {f"{node.name}::{item.name}" for item in inner}
    return frozenset(name for name in names if name.split("::")[-1].startswith("test_"))


def test_the_list_is_complete() -> None:
    assert set(CASES) == {f"{kind}{n:02}" for kind, ns in COLLECTED.items() for n in ns}
    assert len(CASES) == 53


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_answered(case: str) -> None:
    entry = CASES[case]
    assert set(entry) - {"reason"} == {"asks", "status", "tests"}
    assert entry["asks"].strip()
    assert entry["status"] in ("met", "partly")
    assert ("reason" in entry) == (entry["status"] == "partly"), "what is missing has a reason"
    assert entry["tests"], "no test answers it"
    for test in entry["tests"]:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), f"{file} is not there"
        assert name in defined(file), f"{file} has no test {name}"


def test_a_test_that_carries_a_number_answers_that_case() -> None:
    """A number that is on no list would be a case that nobody counts."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in defined(path.relative_to(ROOT).as_posix()):
            for number in NUMBERED.findall(name):
                assert number.upper() in CASES, f"{path.name}::{name}"
