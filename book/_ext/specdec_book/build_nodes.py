"""Docutils nodes for the pages that are made from the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def math(latex: str) -> nodes.math:
    """An equation in the line."""
    return nodes.math(latex, latex)


def display(latex: str, directive: SphinxDirective) -> nodes.math_block:
    """An equation of its own, without a number."""
    return nodes.math_block(
        latex, latex, docname=directive.env.docname, nowrap=False, number=None, label=None
    )


def inline(markdown: str, directive: SphinxDirective) -> list[nodes.Node]:
    """Text in Markdown, roles included, as the nodes of a line."""
    found, messages = directive.state.inline_text(markdown, directive.lineno)
    return [*found, *messages]


def paragraph(*parts: str | nodes.Node, classes: Sequence[str] = ()) -> nodes.paragraph:
    """A paragraph of plain text and nodes."""
    return nodes.paragraph("", "", *map(as_node, parts), classes=list(classes))


def as_node(part: str | nodes.Node) -> nodes.Node:
    """Plain text as a node."""
    return nodes.Text(part) if isinstance(part, str) else part


def bullets(items: Iterable[Sequence[str | nodes.Node]], classes: Sequence[str]) -> nodes.Node:
    """A list with one line of text and nodes an item."""
    lines = [nodes.list_item("", paragraph(*item)) for item in items]
    return nodes.bullet_list("", *lines, classes=list(classes))


def section(title: str, label: str, directive: SphinxDirective) -> nodes.section:
    """A section that a ``{ref}`` to ``label`` finds."""
    made = nodes.section("", nodes.title("", title), ids=[label], names=[label])
    directive.state.document.note_explicit_target(made, made)
    return made


def entry(label: str, kind: str, directive: SphinxDirective) -> nodes.container:
    """A block with an address of its own, for a ``{ref}`` with text of its own."""
    made = nodes.container(ids=[label], names=[label], classes=[kind])
    directive.state.document.note_explicit_target(made, made)
    return made


def here(label: str, what: str) -> nodes.reference:
    """The sign behind a name that links to the place itself."""
    return nodes.reference(
        "", "#", internal=True, refid=label, classes=["headerlink"], reftitle=f"Link to {what}"
    )


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Sequence[str | nodes.Node]]],
    classes: Sequence[str],
) -> nodes.table:
    """A table; a cell is a sequence of plain text and nodes."""
    group = nodes.tgroup("", cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    group += nodes.thead("", _row([[name] for name in header]))
    group += nodes.tbody("", *(_row(cells) for cells in rows))
    return nodes.table("", group, classes=["colwidths-auto", *classes])


def _row(cells: Sequence[Sequence[str | nodes.Node]]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", paragraph(*cell)) for cell in cells))
