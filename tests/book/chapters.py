"""The chapters as the tests read them: cells, sections, prose and code."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Section:
    """What stands under one second-level heading (or before the first)."""

    title: str
    prose: str = ""
    code: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Chapter:
    """One notebook of the book."""

    path: Path
    notebook: nbformat.NotebookNode

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def prose(self) -> str:
        return "\n\n".join(c.source for c in self.notebook.cells if c.cell_type == "markdown")

    @property
    def code_cells(self) -> list[nbformat.NotebookNode]:
        return [c for c in self.notebook.cells if c.cell_type == "code"]

    @property
    def sections(self) -> list[Section]:
        found = [Section("")]
        for cell in self.notebook.cells:
            if cell.cell_type == "code":
                found[-1].code.append(cell.source)
                continue
            for line in cell.source.splitlines():
                if line.startswith("## "):
                    found.append(Section(line.removeprefix("## ").strip()))
                found[-1].prose += line + "\n"
            found[-1].prose += "\n"
        return found


def code_lines(source: str) -> int:
    """Lines of a cell that hold code: not blank, not a comment."""
    return sum(
        1 for line in source.splitlines() if line.strip() and not line.strip().startswith("#")
    )


def retyped_algebra(source: str) -> list[str]:
    """Arithmetic in a cell that looks like a formula typed again.

    Powers, exponentials, logarithms, roots and maxima are what the book's equations are made of
    and what a chapter's own arithmetic (a ratio, a change of unit) is not; nor may a chart carry an
    expression of its own.
    """
    suspicious = {
        "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "power",
        "float_power", "pow", "maximum", "minimum", "fmax", "fmin", "max", "min", "cumprod", "prod",
        "transform_calculate", "where",
    }  # fmt: skip
    modules = {"np", "numpy", "math", "sympy", "sp"}
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
            found.append("**")
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in suspicious:
                found.append(called.id)
            if isinstance(called, ast.Attribute) and called.attr in suspicious:
                plain = isinstance(called.value, ast.Name) and called.value.id in modules
                if plain or called.attr == "transform_calculate":
                    found.append(called.attr)
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "datum." in node.value
        ):
            found.append("a Vega expression")
    return found


@cache
def chapters() -> tuple[Chapter, ...]:
    """Every notebook that the table of contents names, in its order."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    files = [
        entry["file"] for part in contents.get("parts", []) for entry in part.get("chapters", [])
    ]
    paths = [ROOT / f"{file}.ipynb" for file in files]
    return tuple(
        Chapter(path, nbformat.read(path, as_version=4)) for path in paths if path.exists()
    )
