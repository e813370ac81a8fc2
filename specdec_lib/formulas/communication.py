"""Communication: what the devices of a deployment exchange in a step, and how long it takes.

A collective operation has a latency and moves its payload over each device's link; a device sends
nothing to itself.
"""

from __future__ import annotations

from sympy import Piecewise, oo

from specdec_lib.formula import Formula
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.symbols import BYTE, ONE, SECOND, D, E, G, H, V, b_x, k, link, n, t_c, traffic

_HERE = "derived: step"

# --- payloads ------------------------------------------------------------------------------------
activation_bytes = Formula(r"Q_x", n * H * b_x, BYTE, _HERE)
"""The hidden states of n tokens: what a split layer adds up over its devices."""

logit_bytes = Formula(r"Q_{\mathrm{logits}}", n * V * b_x, BYTE, _HERE)
"""The scores of the whole vocabulary for n tokens: what a split head gathers."""

devices_reached = Formula(
    r"D_k", distinct_experts.rhs.subs({n: k, k: 1}, simultaneous=True).subs(E, G), ONE, _HERE
)
"""Devices on which the k experts of a token lie: k draws among G devices, which is the occupancy of
experts once more."""

dispatch_bytes = Formula(
    r"Q_{\mathrm{dispatch}}",
    activation_bytes.rhs / D * devices_reached.rhs,
    BYTE,
    _HERE,
    using=(activation_bytes, devices_reached),
)
"""What each of D devices sends: the hidden states of its share of the tokens, once to every device
on which one of the token's experts lies."""

# --- times ---------------------------------------------------------------------------------------
all_reduce_time = Formula(
    r"t_{\mathrm{reduce}}", t_c + 2 * (1 - 1 / D) * traffic / link, SECOND, "thakur2005"
)
"""Adding up a payload that every device holds: each sends and receives it less its own part, once
to add and once to share."""

exchange_time = Formula(
    r"t_{\mathrm{exchange}}", t_c + (1 - 1 / D) * traffic / link, SECOND, "thakur2005"
)
"""An all-to-all or all-gather of a payload, of which a device keeps its own part."""

# --- where a message is long enough to count ---------------------------------------------------
_there = "derived: parallelism"
_split = D / (D - 1)  # bytes of a payload over those that a device passes on

reduce_knee = Formula(
    r"n_{\mathrm{reduce}}",
    Piecewise((t_c * link * _split / (2 * H * b_x), D > 1), (oo, True)),
    ONE,
    _there,
)
"""Tokens whose hidden states take as long to add up over D devices as the latency: below, more
tokens are nearly free to exchange.  Infinite for one device, which exchanges nothing."""

dispatch_knee = Formula(
    r"n_{\mathrm{dispatch}}",
    Piecewise((t_c * link * D * _split / (H * b_x * devices_reached.rhs), D > 1), (oo, True)),
    ONE,
    _there,
    using=(devices_reached,),
)
"""Tokens, of all D devices together, whose way to their experts takes as long as its latency."""
