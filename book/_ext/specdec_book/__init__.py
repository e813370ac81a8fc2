"""The book's own Sphinx machinery: charts without a network, and pages made from the library.

- :mod:`assets` writes the scripts and styles of the site, Vega and MathJax among them;
- :mod:`pages` says which page loads what;
- :mod:`notation`, :mod:`equations` and :mod:`facts` make the appendices from the library,
  :mod:`exercises` the index of exercises from the chapters, and :mod:`landing` the chart of the
  landing page.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from specdec_book import assets, equations, exercises, facts, landing, notation, pages, sources


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx."""
    for part in (sources, assets, pages, notation, equations, facts, exercises, landing):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
