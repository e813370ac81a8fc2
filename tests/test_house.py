"""The house: which module may import which, how long one may be, and what none may contain."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
from pathlib import Path

import pytest

from specdec_lib import formulas

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "specdec_lib"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

#: What each part of the package may import of the package.  A part not named here fails, so that
#: a new module finds its place first.
MAY_IMPORT: dict[str, set[str]] = {
    "prefixes": set(),
    "quantity": set(),
    "notation": {"quantity"},
    "symbols": {"notation", "quantity"},
    "formula": {"quantity", "symbols"},
    "formulas": {"formula", "symbols"},
    "routing": {"formula", "formulas"},
    "acceptance": {"formula", "formulas"},
    "records": {"formula", "prefixes", "symbols"},
    "architecture": {"formula", "formulas", "records"},
    "cards": {"architecture", "records"},
    "catalog": {"architecture", "cards", "formulas", "records"},
    "deployment": {
        "architecture",
        "catalog",
        "formula",
        "formulas",
        "records",
        "routing",
        "symbols",
    },
    "cost": {"architecture", "catalog", "deployment", "formula", "formulas", "symbols"},
    "drafters": {
        "acceptance",
        "architecture",
        "catalog",
        "cost",
        "deployment",
        "formula",
        "formulas",
        "symbols",
    },
    "plan": {"acceptance", "cost", "drafters", "formula", "formulas", "schedule", "symbols"},
    "evidence": {"architecture", "catalog", "formula", "formulas", "records"},
    "control": {"acceptance", "cost", "formula", "formulas", "plan", "schedule", "symbols"},
    "simulate": {"acceptance", "control", "formulas", "plan"},
    "calibrate": {
        "architecture",
        "catalog",
        "cost",
        "counts",
        "deployment",
        "drafters",
        "formula",
        "formulas",
        "prefixes",
        "records",
    },
    "cli": {
        "formulas",
        "acceptance",
        "architecture",
        "calibrate",
        "catalog",
        "control",
        "cost",
        "counts",
        "deployment",
        "drafters",
        "engines",
        "plan",
        "records",
        "schedule",
        "simulate",
    },
    "__main__": {"cli"},
    "ledger": {
        "acceptance",
        "architecture",
        "catalog",
        "cost",
        "deployment",
        "drafters",
        "formulas",
        "plan",
        "records",
    },
    "schedule": {"formulas"},
    "engines": {"formulas", "schedule"},
    "counts": {"acceptance", "formula", "formulas"},
    "printed": {"prefixes"},
    "claims": {"printed"},
    "colour": set(),
    "theme": {"colour"},
    "charts": {"formula", "prefixes", "symbols", "theme"},
}

LONGEST_MODULE = 250


def part_of(module: str) -> str:
    """The part of the house: the first name below the package."""
    return [*module.split("."), ""][1]


def imported(path: Path) -> set[str]:
    """The parts of the package that a module imports, read off its syntax tree."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise AssertionError(f"{path}: relative import; the house uses absolute ones")
            module = node.module or ""
            if module == "specdec_lib":
                found |= {alias.name for alias in node.names}
            elif module.startswith("specdec_lib."):
                found.add(part_of(module))
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found |= {part_of(name) for name in names if name.startswith("specdec_lib.")}
    return found


def third_party(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    names = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("module", [m for m in MODULES if m != "specdec_lib"])
def test_imports_follow_the_house(module: str) -> None:
    part = part_of(module)
    assert part in MAY_IMPORT, f"{module}: say in MAY_IMPORT what this part may import"
    beyond = imported(MODULES[module]) - MAY_IMPORT[part] - {part}
    assert not beyond, f"{module} imports {sorted(beyond)}; {part} may import {MAY_IMPORT[part]}"


def test_the_allowed_imports_have_no_cycle() -> None:
    settled: set[str] = set()
    while len(settled) < len(MAY_IMPORT):
        ready = {p for p, needs in MAY_IMPORT.items() if needs <= settled} - settled
        assert ready, f"a cycle among {sorted(set(MAY_IMPORT) - settled)}"
        settled |= ready


@pytest.mark.parametrize("module", [m for m in MODULES if part_of(m) == "formulas"])
def test_formulas_are_equations_only(module: str) -> None:
    assert third_party(MODULES[module]) <= {"sympy", "specdec_lib", "__future__"}


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_small(module: str) -> None:
    lines = len(MODULES[module].read_text().splitlines())
    assert lines <= LONGEST_MODULE, f"{module} has {lines} lines; split it by topic"


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_a_drawer(module: str) -> None:
    assert not re.search(r"(util|helper|misc|common)s?$", module), module


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_docstrings(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text())
    assert ast.get_docstring(tree), f"{module} has no docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            nested = node not in tree.body and not any(
                isinstance(c, ast.ClassDef) and not c.name.startswith("_") and node in c.body
                for c in tree.body
            )
            if not nested:
                assert ast.get_docstring(node), f"{module}.{node.name} has no docstring"


def tracked_files() -> list[Path]:
    """The files of the project: what git tracks or would track; all but caches without git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = listed.stdout.splitlines() if listed.returncode == 0 else []
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_file_is_large() -> None:
    large = {str(f.relative_to(ROOT)): f.stat().st_size for f in tracked_files()}
    assert not {name: size for name, size in large.items() if size > 200_000}


def test_no_file_names_a_place_of_one_machine() -> None:
    """Spelt in pieces, so that this test does not find itself."""
    places = ["/" + "work/", "/" + "root/", "../" + "shared", "/" + "tmp/brief"]
    for file in tracked_files():
        text = file.read_text(errors="ignore")
        for place in places:
            assert place not in text, f"{file.relative_to(ROOT)} names {place}"


def described_names(path: Path) -> set[str]:
    """The module-level names that have a docstring of their own under them."""
    body = ast.parse(path.read_text()).body
    return {
        target.id
        for statement, following in itertools.pairwise(body)
        if isinstance(statement, ast.Assign)
        and isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


@pytest.mark.parametrize("name", formulas.all_formulas())
def test_every_formula_says_what_it_means(name: str) -> None:
    topic, _, formula = name.partition(".")
    assert formula in described_names(PACKAGE / "formulas" / f"{topic}.py")
