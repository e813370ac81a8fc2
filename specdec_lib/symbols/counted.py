"""The symbols of what engines count, and of how sure a count makes; a part of the notation.

They are entered in the table of :mod:`specdec_lib.symbols`, which has all the others.
"""

from __future__ import annotations

from specdec_lib.notation import declare
from specdec_lib.quantity import ONE

# --- counters ----------------------------------------------------------------------------------
steps = declare("steps", r"n_{\mathrm{step}}", ONE, "verify steps that were counted", positive=True)
drafted = declare("drafted", r"n_{\mathrm{draft}}", ONE, "drafted tokens that were verified")
accepted = declare("accepted", r"n_{\mathrm{acc}}", ONE, "drafted tokens that were accepted")
emitted = declare("emitted", r"n_{\mathrm{out}}", ONE, "tokens that the counted steps committed")
requests = declare("requests", r"n_{\mathrm{req}}", ONE, "requests that were counted", low=1)
rate = declare("rate", r"\bar\alpha", ONE, "accepted over drafted tokens", high=1)
rooted_rate = declare(
    "rooted_rate",
    r"\hat\alpha",
    ONE,
    "committed tokens over verified ones, the root of the draft among both",
    high=1,
)
offered = declare(
    "offered", r"n_{\mathrm{off}}", ONE, "steps in which a position could be accepted"
)

# --- certainty ---------------------------------------------------------------------------------
prior = declare("prior", "a_0", ONE, "pseudo-counts of a prior on each side", positive=True)
quantile = declare("quantile", "z_q", ONE, "standard normal quantile of a wanted certainty")
deviation = declare("deviation", "s_x", ONE, "standard deviation of a value over the steps")
gap = declare("gap", r"\Delta", ONE, "difference of two means", positive=True)

# --- schedules ---------------------------------------------------------------------------------
tax = declare("tax", r"\tau", ONE, "what enabled but idle speculation adds to a plain step")
token_budget = declare("token_budget", r"n_{\max}", ONE, "tokens that a step may hold", low=1)

#: (smaller, larger, why): what must hold between two of them.
RELATIONS: tuple[tuple[str, str, str], ...] = (
    ("accepted", "drafted", "what was not drafted cannot be accepted"),
    ("accepted", "offered", "what was not offered cannot be accepted"),
    ("accepted", "emitted", "what is accepted comes out"),
)
