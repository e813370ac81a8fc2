"""The symbols of the published calculator of best draft lengths; a part of the notation.

They are entered in the table of :mod:`specdec_lib.symbols`, which has all the others.
"""

from __future__ import annotations

from specdec_lib.notation import declare
from specdec_lib.quantity import BYTE, FLOP, ONE

P_a = declare("P_a", "P_a", ONE, "parameters of one layer's attention projections", positive=True)
b_a = declare("b_a", "b_a", BYTE, "bytes per weight of the attention projections", positive=True)
ridge_projection = declare(
    "ridge_projection",
    r"R_{\mathrm{proj}}",
    FLOP / BYTE,
    "ridge point at the precision of the attention projections",
    positive=True,
)
ridge_expert = declare(
    "ridge_expert",
    r"R_{\mathrm{exp}}",
    FLOP / BYTE,
    "ridge point at the precision of the experts",
    positive=True,
)
ridge_core = declare(
    "ridge_core",
    r"R_{\mathrm{core}}",
    FLOP / BYTE,
    "ridge point at the precision of the attention core",
    positive=True,
)
