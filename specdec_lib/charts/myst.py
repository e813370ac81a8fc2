"""How a page of the book holds a chart: MyST-NB's plug-in for the outputs of the renderer.

The page gets a frame of the chart's height, its description, and its specification as inert JSON;
the book's own script draws the chart into the frame.  Where no script runs, the description shows.
"""

from __future__ import annotations

import html
import json
from typing import Any, ClassVar

from docutils import nodes

from specdec_lib.charts.renderer import MIME

__all__ = ["VegaLiteRenderer", "figure"]

#: Height in pixels that is kept free for a chart that states none, so that nothing jumps.
_USUAL_HEIGHT = 300


def figure(spec: dict[str, Any]) -> str:
    """The HTML of a chart that is still to be drawn."""
    label = str(spec["description"])
    height = spec.get("height")
    reserved = height if isinstance(height, int) else _USUAL_HEIGHT
    # a closing tag inside the JSON must not end the script element
    inert = json.dumps(spec, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<figure class="vega-chart" aria-label="{html.escape(label)}">'
        f'<div class="vega-target" style="min-height:{reserved}px">'
        f'<p class="vega-instead">{html.escape(label, quote=False)}</p></div>'
        f'<script type="application/json">{inert}</script>'
        "</figure>"
    )


class VegaLiteRenderer:
    """MyST-NB's mime renderer for charts; it is found by its entry point in pyproject.toml."""

    #: Of a chart's two outputs the page takes the JSON, in every builder.
    mime_priority_overrides: ClassVar = [("*", MIME, 5)]

    @staticmethod
    def handle_mime(_renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The nodes of one output; None for what is not a chart."""
        if inline or data.mime_type != MIME:
            return None
        spec = data.content if isinstance(data.content, dict) else json.loads(data.content)
        return [nodes.raw("", figure(spec), format="html", classes=["output", "vegalite"])]
