"""The expert tax: distinct experts, the intensity of a mixture-of-experts layer, its knees, and
the price of a marginal token.

Routing is top-k of E without replacement, uniform and independent between tokens, unless a formula
says otherwise; routing by a measured popularity is in :mod:`specdec_lib.routing`.
"""

from __future__ import annotations

import sympy
from sympy import Eq, Max, Min, Piecewise, log, oo, sqrt

from specdec_lib.formula import Formula
from specdec_lib.formulas.roofline import MULTIPLY_ADD, roofline_time, weight_knee
from specdec_lib.symbols import (
    BYTE,
    FLOP,
    ONE,
    SECOND,
    B,
    E,
    G,
    P_e,
    T,
    b,
    coverage,
    k,
    locality,
    n,
    s,
    t_0,
    t_e,
)

_HERE = "derived: experts"
_miss = 1 - k / E  # the chance that one token leaves a given expert untouched
_missed = Formula("q_1", _miss, ONE, _HERE)

distinct_experts = Formula("A(n)", E * (1 - _miss**n), ONE, _HERE)
"""Expected distinct routed experts that n tokens touch."""

balanced_experts = Formula(r"\hat A(n)", Min(n * k, E), ONE, _HERE)
"""Distinct routed experts where no two assignments meet until all experts are touched: the most
that n tokens can touch, and what a benchmark with balanced routing makes them touch."""

# Written around q₂ = q₁²(1 − δ), which does not cancel where E·q₁ⁿ + E(E−1)·q₂ⁿ − E²·q₁²ⁿ would.
_pair = k / ((E - 1) * (E - k))
distinct_experts_variance = Formula(
    r"\mathrm{Var}[A(n)]",
    Piecewise(
        (0, Eq(k, E)),
        (
            Max(0, E * _miss**n * (1 - _miss**n - (E - 1) * _miss**n * (1 - (1 - _pair) ** n))),
            True,
        ),
    ),
    ONE,
    _HERE,
    using=(_missed,),
)
"""Its variance; zero at one token, where rounding must not make it negative."""

distinct_experts_deviation = Formula(
    r"\mathrm{sd}[A(n)]",
    sqrt(distinct_experts_variance.rhs),
    ONE,
    _HERE,
    using=(distinct_experts_variance,),
)
"""Its standard deviation: how far a single step strays from the expected count."""

expert_knee = Formula(r"n_{E/k}", E / k, ONE, _HERE)
"""Tokens at which the routed assignments n·k equal the experts E."""

tokens_to_cover = Formula(
    r"n_\chi",
    Piecewise(
        (1, Eq(coverage, 1) & Eq(k, E)),
        (oo, Eq(coverage, 1)),
        (log(1 - coverage) / log(_miss), True),
    ),
    ONE,
    _HERE,
)
"""Tokens after which an expected share χ of the routed experts has been touched."""

expert_tax = Formula(
    r"\tau(n)", (distinct_experts.rhs + s) / (k + s), ONE, _HERE, using=(distinct_experts,)
)
"""Expert bytes of a step with n tokens over those of a step with one."""

_routed_work = MULTIPLY_ADD * n * k
_layer_work = MULTIPLY_ADD * n * (k + s)

routed_intensity_start = Formula(
    r"I_{\mathrm{routed}}(0)", MULTIPLY_ADD * k / (-log(_miss) * E * b), FLOP / BYTE, _HERE
)
"""Where the intensity of the routed experts starts: about 2/b, not zero."""

routed_intensity = Formula(
    r"I_{\mathrm{routed}}(n)",
    Piecewise(
        (routed_intensity_start.rhs, Eq(n, 0)), (_routed_work / (b * distinct_experts.rhs), True)
    ),
    FLOP / BYTE,
    _HERE,
    using=(distinct_experts,),
)
"""FLOPs per expert byte of the routed experts alone."""

routed_slope_start = Formula(
    r"I'_{\mathrm{routed}}(0)", MULTIPLY_ADD * k / (2 * E * b), FLOP / BYTE, _HERE
)
"""Slope of the routed intensity at no tokens: half the final one."""

routed_slope_end = Formula(
    r"I'_{\mathrm{routed}}(\infty)", MULTIPLY_ADD * k / (E * b), FLOP / BYTE, _HERE
)
"""Slope of the routed intensity once every expert is touched."""

_read = distinct_experts.rhs + s  # what a step reads, in experts
moe_intensity = Formula(
    r"I_{\mathrm{MoE}}(n)",
    Piecewise((routed_intensity_start.rhs, Eq(n, 0) & Eq(s, 0)), (_layer_work / (b * _read), True)),
    FLOP / BYTE,
    _HERE,
    using=(distinct_experts,),
)
"""FLOPs per expert byte of a layer with k of E routed and s shared experts."""

moe_slope_end = Formula(
    r"I'_{\mathrm{MoE}}(\infty)", MULTIPLY_ADD * (k + s) / ((E + s) * b), FLOP / BYTE, _HERE
)
"""Slope of the layer's intensity once every expert is touched."""

moe_relative_slope = Formula(
    r"\frac{I'_{\mathrm{MoE}}(n)}{I'_{\mathrm{MoE}}(\infty)}",
    Piecewise(
        (1, Eq(k, E)),
        (sympy.Rational(1, 2), Eq(n, 0) & Eq(s, 0)),
        ((E + s) * (_read - n * sympy.diff(_read, n)) / _read**2, True),
    ),
    ONE,
    _HERE,
    using=(distinct_experts,),
)
"""Slope of the layer's intensity relative to its final one: 1 where a token uses all experts."""

sparsity_slope = Formula(
    r"\frac{I'_{\mathrm{MoE}}(\infty)}{I'_{\mathrm{dense}}}", (k + s) / (E + s), ONE, _HERE
)
"""Final slope of a MoE layer's intensity over that of a dense layer of the same size."""

moe_knee = Formula(r"n_{\mathrm{MoE}}", weight_knee.rhs * (E + s) / (k + s), ONE, _HERE)
"""Tokens from which a MoE layer with all experts touched is compute-bound."""

marginal_price = Formula(
    "r(n)",
    Piecewise(
        (ONE, Eq(n, 0) & Eq(s, 0)),
        (0, Eq(k, E)),
        (n * sympy.diff(distinct_experts.rhs, n) / (distinct_experts.rhs + s), True),
    ),
    ONE,
    _HERE,
    using=(distinct_experts,),
)
"""Price of a marginal token relative to an average one while the experts are memory-bound."""

layer_parameters = Formula(r"P_{\mathrm{MoE}}", (E + s) * P_e, ONE, _HERE)
"""Parameters of all experts of a layer: what a dense layer of the same size reads every step."""

experts_work = Formula(r"W_{\mathrm{MoE}}", _layer_work * P_e, FLOP, _HERE)
"""FLOPs of a MoE layer's experts in a step with n tokens."""

experts_traffic = Formula(
    r"Q_{\mathrm{MoE}}",
    P_e * b * (distinct_experts.rhs + s),
    BYTE,
    _HERE,
    using=(distinct_experts,),
)
"""Expert bytes of a MoE layer in a step with n tokens."""

experts_time = Formula(
    r"t_{\mathrm{MoE}}(n)",
    roofline_time.where(work=experts_work.rhs, traffic=experts_traffic.rhs, eta_c=1, eta_m=1).rhs,
    SECOND,
    _HERE,
    using=(distinct_experts,),
)
"""Roofline time of a MoE layer's experts."""

_plain = Formula("A(B)", distinct_experts.rhs.subs(n, B), ONE, _HERE)
_verify = Formula(r"A(B\,T)", distinct_experts.rhs.subs(n, B * T), ONE, _HERE)
_filled = (k + s) * B / weight_knee.rhs  # expert reads that computing a plain step would hide

verify_ratio = Formula(
    r"\frac{t_{\mathrm{MoE}}(B\,T)}{t_{\mathrm{MoE}}(B)}",
    Max(_verify.rhs + s, T * _filled) / Max(_plain.rhs + s, _filled),
    ONE,
    _HERE,
    using=(_plain, _verify),
)
"""Time of a MoE layer's experts in a verify pass of width T over that in a plain step."""

measured_layer_time = Formula(
    r"t_{\mathrm{layer}}",
    t_0 + t_e * distinct_experts.rhs,
    SECOND,
    _HERE,
    using=(distinct_experts,),
)
"""The law that measured kernels follow below their compute knee."""

balanced_layer_time = Formula(
    r"\hat t_{\mathrm{layer}}",
    t_0 + t_e * balanced_experts.rhs,
    SECOND,
    _HERE,
    using=(balanced_experts,),
)
"""The same law for balanced routing, which is what published kernel tables time."""

measured_layer_price = Formula(
    r"r_{\mathrm{layer}}(n)",
    Piecewise(
        (ONE, Eq(n, 0) & Eq(t_0, 0)),
        (0, Eq(k, E)),
        (t_e * n * sympy.diff(distinct_experts.rhs, n) / measured_layer_time.rhs, True),
    ),
    ONE,
    _HERE,
    using=(measured_layer_time, distinct_experts),
)
"""Price of a marginal token where a layer has a fixed time beside that of its experts."""

local_experts = Formula(r"A_\ell(B, T)", distinct_experts.rhs.subs(n, B * T**locality), ONE, _HERE)
"""Distinct experts when the T tokens of a sequence touch like T^ℓ independent ones.

For more than one sequence, B·T^ℓ is an extrapolation.
"""

device_experts = Formula("A_G(n)", distinct_experts.rhs / G, ONE, _HERE, using=(distinct_experts,))
"""Mean distinct experts that each of G devices loads; the step waits for the largest."""

expert_parallel_knee = Formula(
    r"n_{\mathrm{EP}}", weight_knee.rhs * (E / G + s) / (k + s), ONE, _HERE
)
"""Tokens a device from which its E/G experts and replicated shared ones are compute-bound."""
