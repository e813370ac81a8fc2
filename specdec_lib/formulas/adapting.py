"""Adapting: what a policy estimates while it serves, and what a trial of it costs."""

from __future__ import annotations

from sympy import Min, Rational, sqrt

from specdec_lib.formula import Formula
from specdec_lib.symbols import ONE, SECOND, C_draft, C_verify, N, alpha
from specdec_lib.symbols.adapting import half_life, pace, weight
from specdec_lib.symbols.counted import accepted, offered, quantile

_HERE = "derived: adapting"

shrunk_acceptance = Formula(
    r"\hat\alpha_i", (weight * alpha + accepted) / (weight + offered), ONE, _HERE
)
"""Acceptance of a position from ``accepted`` of ``offered`` trials, drawn towards α, which counts
for ``weight`` trials: α itself without a trial, the plain ratio after many."""

optimistic_acceptance = Formula(
    r"\alpha_i^{+}",
    Min(1, alpha + quantile * sqrt(alpha * (1 - alpha) / (offered + 1))),
    ONE,
    _HERE,
)
"""What an acceptance estimated as α from so many trials may well be: z_q standard deviations of a
Beta law above it.  As old trials are forgotten it rises, until a new trial is worth its price."""

forgetting = Formula(r"\lambda_{1/2}", Rational(1, 2) ** (1 / half_life), ONE, _HERE)
"""What a draft, or a round, leaves of the weight of everything before it."""

round_loss = Formula(r"\Delta t", C_verify + C_draft - N * pace, SECOND, _HERE)
"""Time that a trial took beyond what its tokens take by the choice in force (for a policy that is
off, plain steps); negative where it gained.  Summed over the trials it is what exploring cost."""
