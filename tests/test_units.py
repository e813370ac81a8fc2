"""Every Formula scales as its unit says when FLOP, byte and second change their size."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from specdec_lib.symbols import BYTE, FLOP, SECOND, UNITS
from tests.points import EVERY_FORMULA, random_points


@pytest.mark.parametrize("name", EVERY_FORMULA)
def test_value_scales_as_its_unit(name: str) -> None:
    formula = EVERY_FORMULA[name]
    symbols = [known.symbol for known in formula.inputs]
    function = sympy.lambdify([*symbols, *UNITS], formula.rhs, "mpmath")
    rng = np.random.default_rng(7)
    for point in random_points(formula, count=5, seed=3):
        sizes = dict(zip((FLOP, BYTE, SECOND), np.exp(rng.uniform(-2, 2, 3)), strict=True))
        values = [point[known.keyword] for known in formula.inputs]
        scaled = [
            value * float(known.unit.subs(sizes))
            for value, known in zip(values, formula.inputs, strict=True)
        ]
        before = float(function(*values, 1, 1, 1))
        after = float(function(*scaled, *sizes.values()))
        factor = float(formula.unit.subs(sizes))
        assert after == pytest.approx(before * factor, rel=1e-9, abs=1e-12 * factor), point


def test_a_bare_number_in_the_place_of_a_unit_is_noticed() -> None:
    """The check above bites: 2·n/b without its FLOP does not scale as FLOP/B."""
    from specdec_lib.formulas.roofline import weight_intensity

    bare = weight_intensity.rhs.subs(FLOP, 1)
    assert bare.subs(FLOP, 3) != 3 * bare
    assert weight_intensity.rhs.subs(FLOP, 3) == 3 * bare
