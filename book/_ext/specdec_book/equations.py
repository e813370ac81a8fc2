"""``{formula-list}``: every Formula of the library, by module, each with an address of its own.

A page refers to one with ``{ref}`text <formula-experts-distinct-experts>```.
"""

from __future__ import annotations

import inspect
from functools import cache
from itertools import groupby
from types import ModuleType

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from specdec_book.build_nodes import (
    bullets,
    display,
    entry,
    here,
    inline,
    math,
    paragraph,
    section,
)
from specdec_book.sources import depend_on_library
from specdec_lib import formulas
from specdec_lib.formula import Formula, unit_text
from specdec_lib.symbols import Quantity

#: What a Formula states as its source when the book derives it: "derived: experts".
DERIVED = "derived:"


def module_of(topic: str) -> ModuleType:
    """The module of a topic."""
    return getattr(formulas, topic)  # type: ignore[no-any-return]


def address(name: str) -> str:
    """The label of a formula: ``experts.expert_tax`` is at ``formula-experts-expert-tax``."""
    return "formula-" + name.replace(".", "-").replace("_", "-")


@cache
def described(topic: str) -> dict[str, str]:
    """The docstring under each formula of a module, as one line."""
    analyzer = ModuleAnalyzer.for_module(module_of(topic).__name__)
    found = analyzer.find_attr_docs()
    return {name: " ".join(" ".join(lines).split()) for (_, name), lines in found.items()}


def paragraphs_of(module: ModuleType) -> list[str]:
    """The docstring of a module, its first line ending as a sentence."""
    text = inspect.cleandoc(module.__doc__ or "")
    return [" ".join(part.split()) for part in text.split("\n\n")]


def input_line(known: Quantity) -> list[str | nodes.Node]:
    """A symbol, what it means and in which unit."""
    unit = unit_text(known.unit)
    return [math(known.latex), f" {known.meaning}" + (f", in {unit}" if unit != "1" else "")]


class FormulaList(SphinxDirective):
    """A section a module, and in it its formulas."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        depend_on_library(self.env)
        described.cache_clear()
        grouped = groupby(
            formulas.all_formulas().items(), key=lambda item: item[0].partition(".")[0]
        )
        return [self._module(topic, dict(found)) for topic, found in grouped]

    def _module(self, topic: str, found: dict[str, Formula]) -> nodes.section:
        made = section(topic.capitalize(), f"formulas-{topic}", self)
        for text in paragraphs_of(module_of(topic)):
            made += nodes.paragraph("", "", *self._prose(text))
        made += [self._formula(name, formula) for name, formula in found.items()]
        return made

    def _prose(self, text: str) -> list[nodes.Node]:
        """A docstring as text: its references to Python objects become their names."""
        return inline(text.replace(":mod:`", "`").replace(":func:`", "`"), self)

    def _formula(self, name: str, formula: Formula) -> nodes.container:
        label = address(name)
        made = entry(label, "formula", self)
        made += paragraph(nodes.strong("", "", nodes.literal("", name)), " ", here(label, name))
        text = described(name.partition(".")[0]).get(name.partition(".")[2])
        if text:
            made += nodes.paragraph("", "", *self._prose(text))
        made += display(formula.latex(), self)
        made += bullets(map(input_line, formula.inputs), ["formula-inputs"])
        unit = unit_text(formula.unit)
        made += paragraph(
            "A plain number" if unit == "1" else f"In {unit}",
            "; ",
            *self._source(formula.source),
            ".",
            classes=["formula-source"],
        )
        return made

    def _source(self, source: str) -> list[nodes.Node]:
        """Where a formula comes from: a chapter of the book, or a work of the bibliography."""
        if not source.startswith(DERIVED):
            return [nodes.Text("from "), *inline(f"{{cite:t}}`{source}`", self)]
        chapter = source.removeprefix(DERIVED).strip()
        if f"book/{chapter}" in self.env.found_docs:
            return [nodes.Text("derived in "), *inline(f"{{doc}}`/book/{chapter}`", self)]
        return [nodes.Text(f"derived in the book ({chapter})")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("formula-list", FormulaList)
