"""Counting: tokens per step from what engines count and call acceptance, what certainty counts
give, and the budgets of an engine's schedule.

Engines use one word for several quantities.  Each equation here turns one of them into N, the
tokens committed per step with the bonus token included.
"""

from __future__ import annotations

from sympy import Eq, Piecewise

from specdec_lib.formula import Formula
from specdec_lib.formulas.acceptance import mean_acceptance
from specdec_lib.symbols import ONE, B, N, gamma
from specdec_lib.symbols.counted import (
    accepted,
    deviation,
    drafted,
    emitted,
    gap,
    offered,
    prior,
    quantile,
    rate,
    requests,
    rooted_rate,
    steps,
    tax,
    token_budget,
)

_HERE = "derived: monitoring"
_SCHEDULE = "derived: schedules"

# --- tokens per step ---------------------------------------------------------------------------
counted_tokens = Formula("N", 1 + accepted / steps, ONE, _HERE)
"""From counters: accepted tokens over verify steps, and the bonus token."""

emitted_tokens = Formula("N", emitted / steps, ONE, _HERE)
"""From the tokens that came out; free of accepted tokens that were thrown away behind an end of
sequence."""

emitted_steps = Formula(r"n_{\mathrm{step}}", emitted - accepted, ONE, _HERE)
"""Steps behind a count of emitted and accepted tokens: each step emits one more than it accepts."""

counted_rate = Formula(
    r"\bar\alpha", Piecewise((0, Eq(drafted, 0)), (accepted / drafted, True)), ONE, _HERE
)
"""The mean acceptance rate; it falls with the draft length where acceptance does not."""

rated_tokens = Formula("N", 1 + rate * drafted / steps, ONE, _HERE)
"""From a mean acceptance rate and the drafted tokens per step."""

length_tokens = Formula("N", 1 + rate * gamma, ONE, _HERE)
"""From a mean acceptance rate where every step drafts γ tokens in a chain."""

drafts_tokens = Formula("N", 1 + accepted, ONE, _HERE)
"""From accepted tokens per step, the bonus token left out."""

rooted_tokens = Formula("N", rooted_rate * (gamma + 1), ONE, _HERE)
"""From a rate that counts the root of the draft in numerator and denominator."""

unrooted_rate = Formula(r"\bar\alpha", (rooted_tokens.rhs - 1) / gamma, ONE, _HERE)
"""The mean acceptance rate behind a rate that counts the root.  Where nothing is accepted that rate
still reads 1/(γ+1); below it this is negative, and the rate was no such rate."""

root_bias = Formula(r"\hat\alpha - \bar\alpha", N / (gamma + 1) - mean_acceptance.rhs, ONE, _HERE)
"""What counting the root adds to the mean acceptance rate; zero where everything is accepted."""

end_bias = Formula(r"\Delta N_{\max}", gamma * requests / steps, ONE, _HERE)
"""The most by which N is too high where tokens behind the end of a sequence count as accepted: the
last step of each request can hold γ of them."""

# --- certainty ---------------------------------------------------------------------------------
posterior_mean = Formula(
    r"\mathrm{E}[\alpha_i]", (prior + accepted) / (2 * prior + offered), ONE, _HERE
)
"""Mean of an acceptance rate after ``accepted`` of ``offered`` trials, by a Beta(a₀, a₀) prior."""

steps_to_decide = Formula(r"n_{\mathrm{step}}", (quantile * deviation / gap) ** 2, ONE, _HERE)
"""Steps after which a mean difference of that size is wider than the noise of its own estimate."""

# --- schedules ---------------------------------------------------------------------------------
idle_speedup = Formula(r"\mathrm{Sp}(0)", 1 / (1 + tax), ONE, _SCHEDULE)
"""Speedup of drafting nothing in an engine that was started with speculation."""

step_tokens = Formula("n", B * (gamma + 1), ONE, _SCHEDULE)
"""Tokens in a step of B sequences that draft γ tokens each: those, and one more of each."""

admitted_batch = Formula(r"B_{\max}", token_budget / (gamma + 1), ONE, _SCHEDULE)
"""Sequences that a step's token budget admits: the whole part of it."""
