"""Every Formula computes the same number in NumPy, in SymPy at 30 digits, and in Vega."""

from __future__ import annotations

import numpy as np
import pytest

from tests.points import EVERY_FORMULA, conditioned_scale, exact_value, random_points
from tests.vega_runtime import evaluate_in_vega

TOLERANCE = 1e-12


@pytest.mark.parametrize("name", EVERY_FORMULA)
def test_numpy_sympy_and_vega_agree(name: str) -> None:
    formula = EVERY_FORMULA[name]
    points = random_points(formula, count=16, seed=len(name))
    by_keyword = {key: np.array([point[key] for point in points]) for key in points[0]}
    in_numpy = np.broadcast_to(formula(**by_keyword), len(points))
    fields = {key: f"datum.{key}" for key in by_keyword}
    in_vega = evaluate_in_vega(formula.vega(**fields), points)
    for point, numpy_value, vega_value in zip(points, in_numpy, in_vega, strict=True):
        exact = float(exact_value(formula, point))
        allowed = TOLERANCE * conditioned_scale(formula, point)
        if np.isinf(exact):
            assert numpy_value == vega_value == exact, point
        else:
            assert abs(numpy_value - exact) <= allowed, (point, numpy_value, exact)
            assert abs(vega_value - exact) <= allowed, (point, vega_value, exact)


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("experts.distinct_experts", {"n": 1e-9, "E": 256.0, "k": 6.0}),
        ("experts.distinct_experts", {"n": 3.0, "E": 1e9, "k": 1.0}),
        ("experts.distinct_experts", {"n": 0.0, "E": 8.0, "k": 8.0}),
        ("experts.distinct_experts", {"n": 2.0, "E": 8.0, "k": 8.0}),
        ("experts.routed_intensity", {"n": 1e-9, "E": 256.0, "k": 6.0, "b": 0.5}),
        ("experts.routed_intensity", {"n": 0.0, "E": 256.0, "k": 6.0, "b": 0.5}),
        ("experts.marginal_price", {"n": 1e-7, "E": 256.0, "k": 6.0, "s": 0.0}),
        ("acceptance.expected_tokens", {"alpha": 1 - 1e-12, "gamma": 7.0}),
        ("acceptance.expected_tokens", {"alpha": 1.0, "gamma": 7.0}),
        ("acceptance.expected_tokens", {"alpha": 0.0, "gamma": 7.0}),
        ("acceptance.expected_tokens", {"alpha": 1e-20, "gamma": 0.0}),
    ],
)
def test_no_digits_are_lost_near_singular_points(name: str, point: dict[str, float]) -> None:
    formula = EVERY_FORMULA[name]
    exact = float(exact_value(formula, point))
    fields = {key: f"datum.{key}" for key in point}
    assert formula(**point) == pytest.approx(exact, rel=TOLERANCE)
    assert evaluate_in_vega(formula.vega(**fields), [point])[0] == pytest.approx(
        exact, rel=TOLERANCE
    )
