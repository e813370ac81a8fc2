"""Speculation: the speedup, what acceptance must reach, what a draft may cost, and verification in
two stages."""

from __future__ import annotations

from sympy import Add, Eq, Integer, Min, Piecewise, cancel, sqrt

from specdec_lib.formula import Formula
from specdec_lib.formulas.acceptance import expected_tokens, residual
from specdec_lib.symbols import (
    C_0,
    ONE,
    SECOND,
    B,
    C,
    C_draft,
    C_pass,
    C_verify,
    N,
    T,
    alpha,
    c,
    dC,
    gamma,
    indexed,
    keep_bad,
    keep_good,
    phi,
    sigma,
    t_pass,
    t_round,
    target_speedup,
)
from specdec_lib.symbols.adapting import wrong

_PRICE = "derived: speedup"
_DRAFT = "derived: drafting"
_STAGES = "derived: two-stage"

speedup = Formula(r"\mathrm{Sp}", N * C_0 / (C_verify + C_draft), ONE, "leviathan2023")
"""Tokens per second with speculation over those without."""

_free = speedup.rhs.subs({C_verify: C_0, C_draft: c * gamma * C_0})
free_speedup = Formula(
    r"\mathrm{Sp}_{\mathrm{free}}(\alpha, \gamma)",
    Piecewise(
        (cancel(_free.subs(N, gamma + 1)), Eq(alpha, 1)),
        (expected_tokens.general * cancel(_free / N), True),
    ),
    ONE,
    "derived: roofline",
    using=(expected_tokens,),
)
"""Speedup where a verify pass costs no more than a plain step, C_verify = C₀, and every drafted
token a fraction c of one: an upper bound for any engine."""

hurdle = Formula(r"\alpha_{\min}(1)", C_verify / C_0 - 1 + c, ONE, _PRICE)
"""Acceptance that one drafted token must exceed to pay; above 1 it cannot pay."""

break_even_tokens = Formula(r"N_{\min}", (C_verify + C_draft) / C_0, ONE, _PRICE)
"""Expected tokens per step at which the speedup is one, for any draft length."""

break_even_pair = Formula(
    r"\alpha_{\min}(2)", (sqrt(4 * break_even_tokens.rhs - 3) - 1) / 2, ONE, _PRICE
)
"""Acceptance at which two drafted tokens break even: the root of 1 + α + α² = N_min."""

equal_throughput_tokens = Formula(
    r"N_{\parallel}", T * (C_verify + C_draft) / C, ONE, "derived: routing"
)
"""Expected tokens per step and sequence at which verifying T tokens of each of B sequences brings
as many tokens a second as a plain step of T·B sequences, which takes the time C."""

draft_budget = Formula(
    r"C_{\mathrm{draft}}^{\max}", N * C_0 / target_speedup - C_verify, SECOND, _PRICE
)
"""The most that drafting may cost for a wanted speedup; negative where none is reachable."""

fraction_budget = Formula(
    r"c_{\max}",
    (N / target_speedup - C_verify / C_0) / gamma,
    ONE,
    _PRICE,
)
"""The same for one drafted token, as a fraction of a plain step."""

token_time = Formula(r"\mathrm{TPOT}", (C_verify + C_draft) / N, SECOND, _PRICE)
"""Mean time between two tokens of a request."""

throughput = Formula(r"\Theta", B * N / (C_verify + C_draft), 1 / SECOND, _PRICE)
"""Tokens per second of all requests together."""

marginal_return = Formula(r"\rho", sigma * C / (N * dC), ONE, _PRICE)
"""What one more drafted token brings over what it costs: extend while it is at least one.

A local rule: where the cost is not convex in the draft length it can stop too early.
"""

# --- what drafting costs -----------------------------------------------------------------------
fraction_draft = Formula(r"C_{\mathrm{draft}}", c * gamma * C_0, SECOND, _DRAFT)
"""A drafter that is a fraction of the target: c of a plain step for each drafted token."""

serial_draft = Formula(
    r"C_{\mathrm{draft}}",
    Piecewise((0, Eq(gamma, 0)), (gamma * (C_pass + t_pass) + t_round, True)),
    SECOND,
    _DRAFT,
)
"""A drafter that makes one pass a token, each after the one before."""

block_draft = Formula(
    r"C_{\mathrm{draft}}",
    Piecewise((0, Eq(gamma, 0)), (C_pass + t_pass + t_round, True)),
    SECOND,
    _DRAFT,
)
"""A drafter that drafts its whole block in one pass, however much of it is verified."""

draft_fraction = Formula("c", C_draft / (gamma * C_0), ONE, _DRAFT)
"""What a drafted token costs, as a fraction of a plain step; undefined without a draft."""

draft_share = Formula(
    r"1 - \frac{\mathrm{Sp}}{\mathrm{Sp}_{c=0}}", C_draft / (C_verify + C_draft), ONE, _DRAFT
)
"""Share of a round that drafting takes: by so much the speedup falls short of that of a drafter
which guesses as well and costs nothing, whatever the acceptance."""

lookup_draft = Formula(
    r"C_{\mathrm{draft}}", Piecewise((0, Eq(gamma, 0)), (t_round, True)), SECOND, _DRAFT
)
"""A drafter without a model, which takes time on the host alone."""

# --- a cheap first stage that prunes the draft -------------------------------------------------
kept = Formula(r"P_{\mathrm{keep}}", alpha * keep_good + (1 - alpha) * keep_bad, ONE, _STAGES)
"""Chance that the first stage keeps a token whose predecessors were all right."""

survivor_acceptance = Formula(
    r"\alpha'",
    Piecewise((0, Eq(kept.rhs, 0)), (alpha * keep_good / kept.rhs, True)),
    ONE,
    _STAGES,
)
"""Acceptance of a token that the first stage kept."""

two_stage_tokens = Formula(r"N_2", expected_tokens.rhs.subs(alpha, alpha * keep_good), ONE, _STAGES)
"""Expected tokens committed per step when the draft is cut at the first token not kept."""

two_stage_time = Formula("C_2", phi * C_0 + C_verify + C_draft, SECOND, _STAGES)
"""Time of a round with a first stage of cost φ·C₀ before the full pass."""

two_stage_speedup = Formula(r"\mathrm{Sp}_2", N * C_0 / two_stage_time.rhs, ONE, _STAGES)
"""Speedup with a first stage of cost φ·C₀; C_verify is the mean over the survivors' lengths."""


kept_right = Formula(r"\sigma'_{i}", sigma * alpha * keep_good, ONE, _STAGES)
"""Chance that a draft is kept and right one position on: σ of the position before, times the chance
that the target accepts the next token and the first stage keeps it."""

kept_wrong = Formula(r"\varsigma_{i}", keep_bad * (wrong + (1 - alpha) * sigma), ONE, _STAGES)
"""Chance that a draft is kept one position on though wrong somewhere: after a token that the target
would reject, all later ones count as such."""


def mean_verify(lengths: int) -> Formula:
    """Mean time of the full pass where the survivors' total length has ``lengths`` values, with the
    shares ω₁, ω₂, … of the rounds and the times C₁, C₂, …: E[C(Σγ′)], not C(E[Σγ′]).

    That the shares sum to one is the caller's part.  Raises ValueError for no length at all.
    """
    if lengths < 1:
        raise ValueError(f"a mean needs at least one length, not {lengths}")
    parts = (indexed("share", j) * indexed("C", j) for j in range(1, lengths + 1))
    return Formula(r"\mathrm{E}[C(\Sigma\gamma')]", Add(*parts), SECOND, _STAGES)


def two_stage_length(gamma: int) -> Formula:
    """Expected tokens of a draft of ``gamma`` that reach the full pass, cut at the first not kept.

    After a token that the target would reject, all later ones count as such.  Raises ValueError
    for a negative length.
    """
    if gamma < 0:
        raise ValueError(f"a draft cannot have {gamma} tokens")
    right, false = ONE, Integer(0)  # kept so far, and all right or not
    total = Integer(0)
    for _ in range(gamma):
        before = {sigma: right, wrong: false}
        right, false = (law.rhs.subs(before, simultaneous=True) for law in (kept_right, kept_wrong))
        total += right + false
    return Formula(rf"\mathrm{{E}}[\gamma'_{{{gamma}}}]", total, ONE, _STAGES)


def pruned_law(vocabulary: int, token: int) -> Formula:
    """Probability that a position commits ``token`` when a first stage drops drafted tokens by
    their value (it keeps x with probability h(x)) and nothing mends it: in general not p.

    After a drop the token is drawn from p, after a rejection from the residual.  Raises
    ValueError as :func:`specdec_lib.formulas.acceptance.residual`.
    """
    after_rejection = residual(vocabulary, token).rhs
    tokens = range(1, vocabulary + 1)
    p, q, h = ({x: indexed(letter, x) for x in tokens} for letter in "pqh")
    dropped = Add(*(q[x] * (1 - h[x]) for x in tokens))
    rejected = Add(*(h[x] * (q[x] - Min(p[x], q[x])) for x in tokens))
    accepted = h[token] * Min(p[token], q[token])
    rhs = accepted + dropped * p[token] + rejected * after_rejection
    return Formula(rf"P^{{\mathrm{{pruned}}}}_{{{token}}}", rhs, ONE, _STAGES)


def mended_residual(vocabulary: int, token: int) -> Formula:
    """Probability of ``token`` in the draw after a drop or a rejection that makes pruning by value
    lossless: ∝ p(x) − h(x)·min(p(x), q(x)).

    Raises ValueError for an empty vocabulary or a token outside it.
    """
    residual(vocabulary, token)  # the same arguments are refused
    left = {
        x: indexed("p", x) - indexed("h", x) * Min(indexed("p", x), indexed("q", x))
        for x in range(1, vocabulary + 1)
    }
    total = Add(*left.values())
    rhs = Piecewise((0, Eq(total, 0)), (left[token] / total, True))
    return Formula(rf"\tilde p_{{{token}}}", rhs, ONE, _STAGES)


def survivors_law(vocabulary: int, token: int) -> Formula:
    """The law of a drafted token that the first stage kept: q′(x) ∝ q(x)·h(x).

    Verifying against q′ in place of q is lossless too.  Raises ValueError for an empty vocabulary
    or a token outside it.
    """
    residual(vocabulary, token)  # the same arguments are refused
    mass = {x: indexed("q", x) * indexed("h", x) for x in range(1, vocabulary + 1)}
    total = Add(*mass.values())
    rhs = Piecewise((0, Eq(total, 0)), (mass[token] / total, True))
    return Formula(rf"q'_{{{token}}}", rhs, ONE, _STAGES)
