"""Acceptance: how many tokens a verify pass commits, and how often a drafted token survives.

Equations over vectors (acceptance per position, two distributions over a vocabulary) are made for
a given length; their elements are the symbols α₁, α₂, … and p₁, q₁, ….
"""

from __future__ import annotations

from sympy import Add, Eq, Expr, Max, Min, Mul, Piecewise

from specdec_lib.formula import Formula
from specdec_lib.symbols import ONE, N, alpha, gamma, indexed

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


def overlap(vocabulary: int) -> Formula:
    """α = Σₓ min(p(x), q(x)) over a ``vocabulary`` of that many tokens.

    The elements are p₁ … p_v and q₁ … q_v; that each sums to one is the caller's part.  Raises
    ValueError for an empty vocabulary.
    """
    shared = (Min(indexed("p", x), indexed("q", x)) for x in _tokens(vocabulary))
    return Formula(r"\alpha", Add(*shared), ONE, "leviathan2023")


def residual(vocabulary: int, token: int) -> Formula:
    """Probability of ``token`` in the draw that follows a rejection: ∝ max(p − q, 0).

    Raises ValueError for an empty vocabulary or a token outside it.
    """
    tokens = _tokens(vocabulary)
    if token not in tokens:
        raise ValueError(f"token {token} is not one of 1 … {vocabulary}")
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
