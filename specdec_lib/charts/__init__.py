"""Charts: Formulas and arrays in, Altair charts out.

A curve is not stored as numbers: the chart carries its Formula as a Vega expression and computes
it where it is drawn, so that a slider moves the equation itself.  Every builder wants a
description, and checks each slider against the domains of the formulas before anything is drawn.
"""

from specdec_lib.charts.bars import bars
from specdec_lib.charts.cells import Cells
from specdec_lib.charts.grids import Sides, grid
from specdec_lib.charts.lines import curve, scatter
from specdec_lib.charts.marks import Marker, Points, Rule
from specdec_lib.charts.optimum import optimum
from specdec_lib.charts.renderer import MIME, ChartError, enable
from specdec_lib.charts.roofs import Layer, roofline
from specdec_lib.charts.shares import share_areas, share_bars
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.tiles import tiles

__all__ = [
    "MIME",
    "Cells",
    "ChartError",
    "Layer",
    "Marker",
    "Points",
    "Rule",
    "Sides",
    "Slider",
    "bars",
    "curve",
    "enable",
    "grid",
    "optimum",
    "roofline",
    "scatter",
    "share_areas",
    "share_bars",
    "tiles",
]
