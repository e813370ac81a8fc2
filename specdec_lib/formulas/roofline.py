"""The roofline: arithmetic intensity, ridge point, the time of a component, and its elasticity."""

from __future__ import annotations

import sympy
from sympy import Max, Min, Piecewise

from specdec_lib.formula import Formula
from specdec_lib.symbols import (
    BYTE,
    FLOP,
    ONE,
    SECOND,
    B,
    P,
    T,
    b,
    bandwidth,
    eta_c,
    eta_m,
    intensity,
    n,
    peak,
    ridge,
    t_0,
    traffic,
    work,
)

#: FLOPs of one multiply-add.
MULTIPLY_ADD: sympy.Expr = 2 * FLOP

arithmetic_intensity = Formula("I", work / traffic, FLOP / BYTE, "williams2009")
"""FLOPs that a component does for each byte it moves."""

ridge_point = Formula("R", peak / bandwidth, FLOP / BYTE, "williams2009")
"""The intensity from which an accelerator's arithmetic, not its memory, sets the pace."""

attainable_rate = Formula(
    r"\pi(I)", Min(peak, bandwidth * intensity), FLOP / SECOND, "williams2009"
)
"""The most FLOPs a second that a component of intensity I can reach."""

roofline_time = Formula(
    r"t", Max(work / (eta_c * peak), traffic / (eta_m * bandwidth)), SECOND, "williams2009"
)
"""Time of a component whose reading and computing overlap wholly; η = 1 is the ideal engine."""

smooth_roofline_time = Formula(
    r"\tilde t",
    sympy.sqrt((work / (eta_c * peak)) ** 2 + (traffic / (eta_m * bandwidth)) ** 2),
    SECOND,
    "derived: roofline",
)
"""The same with a rounded corner, as real kernels have."""

kernel_time = Formula(r"t_{\mathrm{kernel}}", t_0 + roofline_time.rhs, SECOND, "derived: roofline")
"""A kernel that first spends a fixed time, then is on the roofline."""

smooth_kernel_time = Formula(
    r"\tilde t_{\mathrm{kernel}}", t_0 + smooth_roofline_time.rhs, SECOND, "derived: roofline"
)
"""The same with a rounded corner."""

weight_work = Formula(r"W_{\mathrm{weights}}", MULTIPLY_ADD * P * n, FLOP, "derived: roofline")
"""FLOPs of the weights in a step: every parameter meets every token once."""

weight_traffic = Formula(r"Q_{\mathrm{weights}}", P * b, BYTE, "derived: roofline")
"""Bytes of the weights, read once a step whatever its tokens."""

weight_intensity = Formula(
    r"I_{\mathrm{dense}}(n)", weight_work.rhs / weight_traffic.rhs, FLOP / BYTE, "derived: roofline"
)
"""FLOPs per weight byte of a dense layer: free of its size."""

weight_time = Formula(
    r"t_{\mathrm{dense}}(n)",
    roofline_time.where(work=weight_work.rhs, traffic=weight_traffic.rhs, eta_c=1, eta_m=1).rhs,
    SECOND,
    "derived: roofline",
)
"""Roofline time of the weights in a step with n tokens."""

weight_knee = Formula(r"n_{\mathrm{dense}}", ridge * b / MULTIPLY_ADD, ONE, "derived: roofline")
"""Tokens from which the weights of a dense layer are compute-bound."""

free_batch = Formula(r"B_{\mathrm{free}}(T)", weight_knee.rhs / T, ONE, "derived: roofline")
"""Largest batch at which a verify pass of width T reads the weights no longer than a plain step."""

_filled = B / weight_knee.rhs  # how far a plain step of B tokens fills the band below the knee
verify_ratio = Formula(
    r"\frac{t_{\mathrm{dense}}(B\,T)}{t_{\mathrm{dense}}(B)}",
    Max(1, T * _filled) / Max(1, _filled),
    ONE,
    "derived: roofline",
)
"""Time of the weights in a verify pass of width T over that in a plain step of the same batch."""

smooth_weight_time = Formula(
    r"\tilde t_{\mathrm{dense}}(n)",
    smooth_roofline_time.where(
        work=weight_work.rhs, traffic=weight_traffic.rhs, eta_c=1, eta_m=1
    ).rhs,
    SECOND,
    "derived: roofline",
)
"""The same time with a corner that is rounded: at the knee it is √2 times the hard one."""

smooth_verify_ratio = Formula(
    r"\frac{\tilde t_{\mathrm{dense}}(B\,T)}{\tilde t_{\mathrm{dense}}(B)}",
    sympy.sqrt(1 + (T * _filled) ** 2) / sympy.sqrt(1 + _filled**2),
    ONE,
    "derived: roofline",
)
"""The ratio of verify pass to plain step on the rounded roofline."""


def elasticity(formula: Formula, keyword: str, lhs: str) -> Formula:
    """∂log F/∂log x of a Formula F by one of its symbols, as a Formula with left-hand side ``lhs``.

    It is the price of a marginal unit of x relative to an average one: 0 where more x is free, 1
    where it costs what the average does.  At the corner of a maximum, where there is no
    derivative, it is that of one of the two branches.  Raises TypeError for a symbol that F does
    not have.
    """
    names = {known.keyword: known.symbol for known in formula.inputs}
    if keyword not in names:
        raise TypeError(f"{formula.title} has no symbol {keyword}; it has {', '.join(names)}")
    x = names[keyword]

    def relative_slope(branch: sympy.Expr) -> sympy.Expr:
        slope = x * sympy.diff(branch, x) / branch
        # simplifying (125/128)ⁿ would part it into 125ⁿ and 128ⁿ, which overflow
        powers = any(x in power.exp.free_symbols for power in branch.atoms(sympy.Pow))
        return slope if powers else sympy.simplify(slope)

    branches = sympy.piecewise_fold(formula.rhs.replace(Max, _as_piecewise))
    if isinstance(branches, Piecewise):
        rhs = Piecewise(*((relative_slope(e), condition) for e, condition in branches.args))
    else:
        rhs = relative_slope(branches)
    return Formula(lhs, rhs, ONE, formula.source)


def _as_piecewise(*terms: sympy.Expr) -> sympy.Expr:
    """A maximum as the cases of which term rules."""
    *rest, last = sorted(terms, key=sympy.default_sort_key)
    return Piecewise(
        *((t, sympy.And(*(t >= other for other in terms if other != t))) for t in rest),
        (last, True),
    )


weight_elasticity = elasticity(weight_time, "n", r"r_{\mathrm{dense}}(n)")
"""Price of a marginal token of a dense layer: 0 below the knee, 1 above it."""

smooth_weight_elasticity = elasticity(smooth_weight_time, "n", r"\tilde r_{\mathrm{dense}}(n)")
"""The same price on the rounded roofline: ½ at the knee, and never quite 0."""
