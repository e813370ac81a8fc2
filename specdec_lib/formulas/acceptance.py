"""Acceptance: how many tokens a verify pass commits, and how often a drafted token survives.

Equations over vectors (acceptance per position, two distributions over a vocabulary) are made for
a given length; their elements are the symbols α₁, α₂, … and p₁, q₁, ….
"""

from __future__ import annotations

from sympy import Add, Eq, Expr, Max, Min, Mul, Piecewise, log

from specdec_lib.formula import Formula
from specdec_lib.symbols import (
    ONE,
    S_0,
    N,
    S,
    alpha,
    alpha_end,
    decay,
    drop,
    gamma,
    indexed,
    lenience,
    position,
    sigma,
    temperature,
)

expected_tokens = Formula(
    r"N(\alpha, \gamma)",
    Piecewise((gamma + 1, Eq(alpha, 1)), ((1 - alpha ** (gamma + 1)) / (1 - alpha), True)),
    ONE,
    "leviathan2023",
)
"""Expected tokens committed per step at one acceptance rate, the bonus token included."""

survival = Formula(r"\sigma_\gamma", alpha**gamma, ONE, "leviathan2023")
"""Chance that all of the first γ drafted tokens are accepted, at one acceptance rate."""

mean_acceptance = Formula(r"\bar\alpha", (N - 1) / gamma, ONE, "derived: acceptance")
"""Accepted over drafted tokens; it depends on the draft length, α does not."""

# --- a curve that changes with depth, context or request ----------------------------------------
extended_survival = Formula(r"\sigma_{i}", sigma * alpha, ONE, "leviathan2023")
"""Survival one position on: σ of the position before, times the acceptance of this one."""

extended_tokens = Formula(r"N_{i}", N + sigma, ONE, "leviathan2023")
"""Expected tokens of a draft one token longer: those before, and the new one if it survives."""

conditional_acceptance = Formula(
    r"\alpha_{2}",
    Piecewise((0, Eq(indexed("sigma", 1), 0)), (indexed("sigma", 2) / indexed("sigma", 1), True)),
    ONE,
    "derived: acceptance",
)
"""Acceptance of a position from its survival σ₂ and that of the position before, σ₁; zero where
nothing comes so far."""

depth_acceptance = Formula(
    r"\alpha_i",
    alpha_end + (alpha - alpha_end) * decay ** (position - 1),
    ONE,
    "derived: acceptance",
)
"""Acceptance at a depth, which goes from α at the first position towards α_∞; with α_∞ = 0 it falls
geometrically."""

context_acceptance = Formula(
    r"\alpha(S)",
    Max(0, alpha - drop * log(Max(1, S / S_0)) / log(2)),
    ONE,
    "derived: acceptance",
)
"""Acceptance in a context, which falls by the same amount with every doubling beyond S₀."""


def mixed_survival(kinds: int) -> Formula:
    """Survival over ``kinds`` of requests: shares ω₁, … of the steps, each with its survival σ₁, ….

    That the shares sum to one is the caller's part.  Raises ValueError for no kind at all.
    """
    if kinds < 1:
        raise ValueError(f"a mixture needs at least one kind of request, not {kinds}")
    parts = (indexed("share", j) * indexed("sigma", j) for j in range(1, kinds + 1))
    return Formula(r"\sigma", Add(*parts), ONE, "derived: acceptance")


def _survival(length: int) -> Expr:
    return Mul(*(indexed("alpha", i) for i in range(1, length + 1)))


def expected_tokens_per_position(gamma: int) -> Formula:
    """N = 1 + Σᵢ Πⱼ≤ᵢ αⱼ for a draft of ``gamma`` tokens with acceptance α₁ … α_γ by position.

    Raises ValueError for a negative length.
    """
    if gamma < 0:
        raise ValueError(f"a draft cannot have {gamma} tokens")
    survivals = [_survival(i) for i in range(1, gamma + 1)]
    return Formula(rf"N_{{{gamma}}}", Add(ONE, *survivals), ONE, "leviathan2023")


def expected_tokens_from_survival(gamma: int) -> Formula:
    """N = 1 + Σᵢ σᵢ for a draft of ``gamma`` tokens with survivals σ₁ … σ_γ.

    Raises ValueError for a negative length.
    """
    if gamma < 0:
        raise ValueError(f"a draft cannot have {gamma} tokens")
    survivals = [indexed("sigma", i) for i in range(1, gamma + 1)]
    return Formula(rf"N_{{{gamma}}}", Add(ONE, *survivals), ONE, "leviathan2023")


def _tokens(vocabulary: int) -> range:
    if vocabulary < 1:
        raise ValueError(f"a vocabulary needs at least one token, not {vocabulary}")
    return range(1, vocabulary + 1)


def _checked(vocabulary: int, token: int) -> range:
    tokens = _tokens(vocabulary)
    if token not in tokens:
        raise ValueError(f"token {token} is not one of 1 … {vocabulary}")
    return tokens


def overlap(vocabulary: int) -> Formula:
    """α = Σₓ min(p(x), q(x)) over a ``vocabulary`` of that many tokens.

    The elements are p₁ … p_v and q₁ … q_v; that each sums to one is the caller's part.  Raises
    ValueError for an empty vocabulary.
    """
    shared = (Min(indexed("p", x), indexed("q", x)) for x in _tokens(vocabulary))
    return Formula(r"\alpha", Add(*shared), ONE, "leviathan2023")


def tempered(keyword: str, vocabulary: int, token: int) -> Formula:
    """Probability of ``token`` when a law over a ``vocabulary`` is sampled at a temperature.

    The elements p₁ … p_v, or q₁ … q_v as ``keyword`` says, are the probabilities at temperature 1;
    that they sum to one is the caller's part.  Raises ValueError for an empty vocabulary, a token
    outside it, or another keyword.
    """
    if keyword not in ("p", "q"):
        raise ValueError(f"a law over tokens is 'p' or 'q', not {keyword!r}")
    weights = {x: indexed(keyword, x) ** (1 / temperature) for x in _checked(vocabulary, token)}
    rhs = weights[token] / Add(*weights.values())
    return Formula(rf"{keyword}_{{{token}}}(\tau)", rhs, ONE, "ackley1985")


def residual(vocabulary: int, token: int) -> Formula:
    """Probability of ``token`` in the draw that follows a rejection: ∝ max(p − q, 0).

    Raises ValueError for an empty vocabulary or a token outside it.
    """
    tokens = _checked(vocabulary, token)
    excess = {x: Max(indexed("p", x) - indexed("q", x), 0) for x in tokens}
    total = Add(*excess.values())
    rhs = Piecewise((0, Eq(total, 0)), (excess[token] / total, True))
    return Formula(rf"p'_{{{token}}}", rhs, ONE, "leviathan2023")


def committed_law(vocabulary: int, token: int) -> Formula:
    """Probability that a verified position commits ``token``: accepted as drafted, or drawn from
    the residual after a rejection.  It equals p: verification does not change the output.

    Raises ValueError as :func:`residual`.
    """
    after_rejection = residual(vocabulary, token).rhs
    accepted = Min(indexed("p", token), indexed("q", token))
    rejected = 1 - overlap(vocabulary).rhs
    return Formula(rf"P_{{{token}}}", accepted + rejected * after_rejection, ONE, "leviathan2023")


def lenient_overlap(vocabulary: int) -> Formula:
    """Acceptance where a drafted token passes with min(1, p/λq): more than the exact rule accepts.

    Lossy for λ < 1: see :func:`lenient_law`.  Raises ValueError for an empty vocabulary.
    """
    shared = (Min(indexed("p", x) / lenience, indexed("q", x)) for x in _tokens(vocabulary))
    return Formula(r"\alpha_\lambda", Add(*shared), ONE, "leviathan2023")


def lenient_law(vocabulary: int, token: int) -> Formula:
    """Probability that a position commits ``token`` under the lenient rule, the draw after a
    rejection as in :func:`residual`.  It equals p for λ = 1 alone; nowhere does it exceed p/λ.

    Raises ValueError as :func:`residual`.
    """
    after_rejection = residual(vocabulary, token).rhs
    accepted = Min(indexed("p", token) / lenience, indexed("q", token))
    rejected = 1 - lenient_overlap(vocabulary).rhs
    rhs = accepted + rejected * after_rejection
    return Formula(rf"P_{{\lambda,{token}}}", rhs, ONE, "derived: acceptance")
