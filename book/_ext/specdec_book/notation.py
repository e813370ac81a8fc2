"""``{notation-table}``: every symbol of the book, from :data:`specdec_lib.symbols.SYMBOLS`."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from specdec_book.build_nodes import math, table
from specdec_book.sources import depend_on_library
from specdec_lib.formula import unit_text
from specdec_lib.symbols import SYMBOLS, Quantity


def row(known: Quantity) -> list[list[str | nodes.Node]]:
    """Symbol, keyword, meaning, unit and domain of one quantity."""
    keyword = nodes.literal("", known.keyword, ids=[f"symbol-{known.keyword}".lower()])
    return [
        [math(known.latex)],
        [keyword],
        [known.meaning],
        [unit_text(known.unit)],
        [known.domain],
    ]


class NotationTable(SphinxDirective):
    """The table of symbols, in the order of the notation."""

    def run(self) -> list[nodes.Node]:
        """The table's nodes."""
        depend_on_library(self.env)
        header = ("Symbol", "Keyword", "Meaning", "Unit", "Domain")
        return [table(header, map(row, SYMBOLS.values()), ["notation"])]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("notation-table", NotationTable)
