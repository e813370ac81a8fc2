"""Which page loads what: chart scripts where there is a chart, and nothing that needs a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from specdec_book.assets import CHARTS

#: Marks a page with a chart; specdec_lib.charts.myst writes it.
CHART = 'class="vega-chart"'
SCRIPTS = ("vega.js", "config.js", "charts.js")
#: The kernel in the browser that Jupyter Book always prepares: it comes from elsewhere, and the
#: book's charts compute without one.
FOREIGN = ("thebe",)
NO_SUMMARIES = (
    "if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
)


def has_chart(doctree: nodes.document) -> bool:
    """Whether a page holds a chart to draw."""
    return any(CHART in node.astext() for node in doctree.findall(nodes.raw))


def load_charts(
    app: Sphinx, _page: str, _template: str, _context: dict[str, Any], doctree: Any
) -> None:
    """Let a page with charts load what draws them, after everything else."""
    if isinstance(doctree, nodes.document) and has_chart(doctree):
        for place, script in enumerate(SCRIPTS):
            app.add_js_file(f"{CHARTS}/{script}", priority=800 + place, loading_method="defer")


def search_from_disk(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _doctree: Any
) -> None:
    """Let a search in a book opened from the disk list its finds without their summaries: a browser
    fetches no page from the disk."""
    if page == "search":
        app.add_js_file(None, body=NO_SUMMARIES, priority=600)


def _identity(script: Any) -> str:
    """What a script is: the text of an inline one, the file of another."""
    return str(script.attributes.get("body") or script.filename)


def tidy_scripts(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Leave out foreign scripts, and the repetitions that extensions of the theme cause."""
    kept: dict[str, Any] = {}
    for script in context.get("script_files", []):
        what = _identity(script)
        if not any(name in what.lower() for name in FOREIGN):
            kept.setdefault(what, script)
    context["script_files"] = list(kept.values())


def setup(app: Sphinx) -> None:
    """Style every page; decide its scripts when it is written."""
    app.add_css_file(f"{CHARTS}/book.css", priority=900)
    app.add_js_file(f"{CHARTS}/equations.js", priority=790, loading_method="defer")
    app.connect("html-page-context", load_charts)
    app.connect("html-page-context", search_from_disk)
    app.connect("html-page-context", tidy_scripts, priority=900)
