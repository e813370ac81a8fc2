"""Locality: what a further verify token costs where the tokens of a sequence share experts."""

from __future__ import annotations

from sympy import Eq, Piecewise

from specdec_lib.formula import Formula
from specdec_lib.formulas.experts import local_experts, marginal_price
from specdec_lib.symbols import ONE, B, E, T, k, locality, n, s

_HERE = "derived: routing"

assigned_experts = Formula(r"A_{\mathrm{alone}}(n)", n * k, ONE, _HERE)
"""Expert reads of n tokens that share none: the law of a cost that is linear in tokens."""

independent_tokens = Formula(r"n_\ell(B, T)", B * T**locality, ONE, _HERE)
"""Independent tokens that touch as many experts as B sequences of T tokens that share some."""

local_tax = Formula(
    r"\tau_\ell(B, T)", (local_experts.rhs + s) / (k + s), ONE, _HERE, using=(local_experts,)
)
"""Expert bytes of a step with B sequences of T tokens over those of one token, with locality."""

local_price = Formula(
    r"r_\ell(B, T)",
    Piecewise(
        (0, Eq(k, E)),
        (locality * marginal_price.general.subs(n, B * T**locality), True),
    ),
    ONE,
    _HERE,
    using=(local_experts,),
)
"""Price of a marginal verify token with locality while the experts are memory-bound: ∂log/∂log T
at fixed B of the expert bytes.  It is ℓ times the price of independent tokens at B·T^ℓ of them."""
