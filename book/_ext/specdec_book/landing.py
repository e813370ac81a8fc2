"""``{landing-chart}``: the live chart of the landing page, made from the library like all others.

A page in Markdown stores no outputs, so the chart is put together when the page is: the same
Formulas, checked by the same builder, computed in the reader's browser.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from specdec_book.sources import depend_on_library
from specdec_lib import catalog, charts, theme
from specdec_lib.charts.myst import figure
from specdec_lib.charts.renderer import MIME, mimebundle
from specdec_lib.formulas import experts, roofline

DESCRIPTION = (
    "Time of a verify pass over that of a plain step against the batch, for the experts of "
    "DeepSeek-V4-Flash on a B200 and a dense layer of their size: with four tokens a sequence the "
    "dense layer is free up to a batch of 37 and rises to four at 150; the experts cost three and "
    "a half steps for a few sequences, are free for several hundred, and rise last of all."
)


def verify_chart() -> dict[str, object]:
    """What checking T tokens costs, by batch, as Vega-Lite."""
    model, gpu = catalog.model("deepseek-v4-flash"), catalog.gpu("b200")
    layer = model.experts
    if layer is None:
        raise ValueError(f"{model.name} has no experts; the landing chart needs a mixture")
    theme.register()
    chart = charts.curve(
        {"a dense layer": roofline.verify_ratio, "its mixture of experts": experts.verify_ratio},
        x="B",
        over=(1, 1e4),
        log=True,
        roles={"a dense layer": "dense", "its mixture of experts": "moe"},
        x_title="batch, sequences in a step",
        y_title="verify pass, in plain steps",
        y_over=(0, 6),
        sliders={"T": charts.Slider(2, 6, 1, value=4, label="T, tokens checked in one pass")},
        fixed={
            "E": layer.E,
            "k": layer.k,
            "s": layer.s,
            "b": layer.b,
            "ridge": gpu.ridge(layer.precision.peak),
        },
        rules=[charts.Rule(1, "free", axis="y", show_value=False)],
        description=DESCRIPTION,
        height=280,
    )
    spec: dict[str, object] = mimebundle(chart.to_dict())[MIME]
    return spec


class LandingChart(SphinxDirective):
    """The chart as a figure that the page's script draws."""

    def run(self) -> list[nodes.Node]:
        """The figure's node."""
        depend_on_library(self.env)
        return [nodes.raw("", figure(verify_chart()), format="html", classes=["output"])]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("landing-chart", LandingChart)
