"""Random points inside the domain of every symbol, for the tests of all Formulas."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import sympy

from specdec_lib import formulas
from specdec_lib.formula import Formula
from specdec_lib.symbols import UNITS, Quantity

MODULE_LEVEL = formulas.all_formulas()

#: Formulas made for a given length, at a small one.
MADE = {
    "acceptance.expected_tokens_per_position(3)": formulas.acceptance.expected_tokens_per_position(
        3
    ),
    "acceptance.expected_tokens_from_survival(3)": (
        formulas.acceptance.expected_tokens_from_survival(3)
    ),
    "acceptance.overlap(3)": formulas.acceptance.overlap(3),
    "acceptance.residual(3, 2)": formulas.acceptance.residual(3, 2),
    "acceptance.committed_law(3, 2)": formulas.acceptance.committed_law(3, 2),
    "acceptance.tempered('q', 3, 2)": formulas.acceptance.tempered("q", 3, 2),
    "acceptance.lenient_overlap(3)": formulas.acceptance.lenient_overlap(3),
    "acceptance.lenient_law(3, 2)": formulas.acceptance.lenient_law(3, 2),
    "price.blended_price(2)": formulas.price.blended_price(2),
    "acceptance.mixed_survival(2)": formulas.acceptance.mixed_survival(2),
    "speculation.two_stage_length(4)": formulas.speculation.two_stage_length(4),
    "speculation.mean_verify(2)": formulas.speculation.mean_verify(2),
    "speculation.pruned_law(3, 2)": formulas.speculation.pruned_law(3, 2),
    "speculation.mended_residual(3, 2)": formulas.speculation.mended_residual(3, 2),
    "speculation.survivors_law(3, 2)": formulas.speculation.survivors_law(3, 2),
}
EVERY_FORMULA = MODULE_LEVEL | MADE


def _draw(known: Quantity, rng: np.random.Generator) -> float:
    """Uniform in a bounded domain; over many orders of magnitude in an unbounded one."""
    if not math.isinf(known.high):
        return float(known.low + (known.high - known.low) * rng.uniform(1e-6, 1 - 1e-6))
    low = max(known.low, 1e-4)
    return float(np.exp(rng.uniform(np.log(low), np.log(1e5))))


def random_points(formula: Formula, count: int, seed: int) -> list[dict[str, float]]:
    """``count`` points at which the Formula has a finite value."""
    rng = np.random.default_rng(seed)
    points: list[dict[str, float]] = []
    for _ in range(50 * count):
        point = {known.keyword: _draw(known, rng) for known in formula.inputs}
        if "k" in point and "E" in point:
            point["k"] = 1 + (point["E"] - 1) * rng.uniform(0, 1)
        try:
            formula(**point)
        except ValueError:
            continue  # a budget or root that does not exist there
        points.append(point)
        if len(points) == count:
            return points
    raise AssertionError(f"found only {len(points)} points for {formula.title}")


def exact_value(formula: Formula, point: dict[str, float]) -> sympy.Expr:
    """SymPy's value of the right-hand side at 30 digits, from the exact floats."""
    values = {known.symbol: sympy.Float(point[known.keyword], 60) for known in formula.inputs}
    return formula.rhs.subs(dict.fromkeys(UNITS, 1)).xreplace(values).evalf(30)


def conditioned_scale(formula: Formula, point: dict[str, float]) -> float:
    """max(|f|, Σ|xᵢ·∂f/∂xᵢ|): what one relative rounding of every input can amount to."""
    names = [known.keyword for known in formula.inputs]
    bare = formula.rhs.subs(dict.fromkeys(UNITS, 1))
    function = sympy.lambdify([known.symbol for known in formula.inputs], bare, "mpmath")
    with mpmath.workdps(60):
        at = [mpmath.mpf(point[name]) for name in names]
        value = function(*at)
        if mpmath.isinf(value):
            return 1.0
        step = mpmath.mpf(10) ** -25
        total = mpmath.mpf(0)
        for i, x in enumerate(at):
            moved = [*at[:i], x * (1 + step), *at[i + 1 :]]
            total += abs((function(*moved) - value) / step)
        return float(max(abs(value), total))
