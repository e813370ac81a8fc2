"""Binding: a bound Formula computes what the unbound one does, to the last digit and the shape."""

from __future__ import annotations

import time

import dask.array as da
import mpmath
import numpy as np
import pytest
import sympy

from specdec_lib import symbols
from specdec_lib.formula import DomainError, Formula
from specdec_lib.formulas import acceptance, attention, experts
from specdec_lib.symbols import FLOP, ONE
from tests.points import MODULE_LEVEL, random_points
from tests.vega_runtime import evaluate_in_vega


def rare_experts(n: int, E: float) -> float:
    """E(1 − (1 − 1/E)ⁿ) at 60 digits, without the library."""
    with mpmath.workdps(60):
        return float(E * (1 - (1 - mpmath.mpf(1) / E) ** n))


class TestNoDigitIsLost:
    @pytest.mark.parametrize("n", [2, 3, 7])
    @pytest.mark.parametrize("E", [1e9, 1e15])
    def test_few_tokens_and_rare_experts(self, n: int, E: float) -> None:
        """1 − (1 − 10⁻⁹)² keeps 8 digits where a bound exponent hides what cancels."""
        whole, exact = experts.distinct_experts, pytest.approx(rare_experts(n, E), rel=1e-15)
        assert whole.where(n=n)(E=E, k=1) == whole.where(E=E)(n=n, k=1) == exact
        assert evaluate_in_vega(whole.where(n=n).vega(E="datum.E", k=1), [{"E": E}]) == [exact]
        assert evaluate_in_vega(whole.where(E=E, k=1).vega(n="datum.n"), [{"n": n}]) == [exact]

    def test_nearly_certain_acceptance(self) -> None:
        """1 + α + … + α⁷ at α = 1 − 10⁻¹² is 8 − 28·10⁻¹² but for terms of 10⁻²³."""
        bound = acceptance.expected_tokens.where(gamma=7)
        alpha = 1 - 1e-12
        assert bound(alpha=alpha) == pytest.approx(8 - 28 * (1 - alpha), rel=1e-15)
        assert evaluate_in_vega(bound.vega(alpha="datum.a"), [{"a": alpha}])[0] == pytest.approx(
            8 - 28 * (1 - alpha), rel=1e-14
        )

    @pytest.mark.parametrize("name", MODULE_LEVEL)
    def test_every_formula_bound_one_by_one_and_whole(self, name: str) -> None:
        formula = MODULE_LEVEL[name]
        for point in random_points(formula, count=3, seed=5):
            free = formula(**point)
            for keyword in point:
                rest = {key: value for key, value in point.items() if key != keyword}
                assert formula.where(**{keyword: point[keyword]})(**rest) == free
            assert formula.where(**point)() == free

    def test_logarithms_of_fractions_near_one(self) -> None:
        """ln(1 − 10⁻⁹) = −10⁻⁹ − ½·10⁻¹⁸, so half coverage takes ln 2·10⁹ tokens."""
        half = experts.tokens_to_cover.where(E=1e9, k=1, coverage=0.5)
        hand = np.log(2) * 1e9 * (1 - 0.5e-9)
        assert half() == pytest.approx(hand, rel=1e-15)
        assert evaluate_in_vega(half.vega(), [{}])[0] == pytest.approx(hand, rel=1e-15)

    def test_a_negative_logarithm_behind_a_sign(self) -> None:
        """−ln(3/4), with no room for two signs in a row."""
        law = Formula("x", -sympy.log(1 - symbols.k / symbols.E), ONE, "derived: test")
        bound = law.where(E=8, k=2)
        assert evaluate_in_vega(bound.vega(), [{}]) == [pytest.approx(np.log(4 / 3), rel=1e-15)]
        assert bound() == pytest.approx(np.log(4 / 3), rel=1e-15)


class TestLargeNumbers:
    def test_powers_that_nobody_could_write_out(self) -> None:
        """(125/128)^(10⁹) exactly has three billion digits."""
        started = time.perf_counter()
        bound = experts.distinct_experts.where(n=10**9).where(E=256, k=6)
        assert bound() == 256 and evaluate_in_vega(bound.vega(), [{}]) == [256]
        assert "256" in bound.latex()
        assert acceptance.expected_tokens.where(alpha=0.5, gamma=1e300)() == 2
        assert time.perf_counter() - started < 10

    def test_whole_numbers_beyond_64_bits(self) -> None:
        assert attention.full_entries.where(S=2**70)() == 2.0**70
        assert experts.distinct_experts.where(E=1e30)(n=2, k=1) == pytest.approx(2)

    def test_a_number_beyond_floating_point(self) -> None:
        with pytest.raises(DomainError, match=r"n .*beyond floating point"):
            experts.distinct_experts.where(n=10**400)
        with pytest.raises(DomainError, match="n = inf"):
            experts.distinct_experts.where(n=sympy.Integer(10) ** 400)


class TestShape:
    def test_a_symbol_that_cancels_still_gives_its_shape(self) -> None:
        """The price is 0 wherever every expert is touched by every token."""
        price = experts.marginal_price.where(k=8, E=8)
        assert [known.keyword for known in price.inputs] == ["n", "s"]
        values = price(n=[1, 2, 3], s=[[1], [2]])
        assert values.dtype == np.float64 and values.shape == (2, 3) and not values.any()

    def test_a_product_with_nothing(self) -> None:
        none = experts.distinct_experts.where(n=symbols.s * symbols.B).where(s=0)
        assert none(B=[1, 2, 3], E=8, k=2).tolist() == [0, 0, 0]

    def test_cases_that_are_whole_numbers_are_float64(self) -> None:
        steps = Formula("f", sympy.Piecewise((1, symbols.n < 2), (3, True)), ONE, "derived: test")
        values = steps(n=[1, 2])
        assert values.dtype == np.float64 and values.tolist() == [1, 3]

    def test_bound_formulas_stay_lazy(self) -> None:
        lazy = experts.distinct_experts.where(E=256, k=6)(n=da.arange(6, chunks=2))
        assert isinstance(lazy, da.Array) and lazy.chunks == ((2, 2, 2),)
        assert lazy.compute()[1] == 6


class TestChains:
    def test_a_symbol_that_comes_back_means_what_it_now_stands_for(self) -> None:
        """n becomes B·T, then T becomes n: the last n is no token count of the first."""
        chained = experts.distinct_experts.where(n=symbols.B * symbols.T).where(T=symbols.n)
        assert {known.keyword for known in chained.inputs} == {"B", "n", "E", "k"}
        assert chained(B=2, n=4, E=16, k=2) == experts.distinct_experts(n=8, E=16, k=2)

    def test_exchanged_symbols(self) -> None:
        bytes_of = attention.latent_context_bytes
        swapped = bytes_of.where(d_c=symbols.d_r, d_r=symbols.d_c).where(d_r=512)
        assert swapped(d_c=64, b_kv=2) == bytes_of(d_c=512, d_r=64, b_kv=2)

    def test_every_symbol_on_the_way_keeps_its_domain(self) -> None:
        chained = experts.distinct_experts.where(n=symbols.B * symbols.T).where(B=symbols.s)
        with pytest.raises(DomainError, match=r"B = 0.5 is outside"):
            chained(s=0.5, T=2, E=8, k=2)
        with pytest.raises(DomainError, match="T = 0 is outside"):
            chained(s=1, T=0, E=8, k=2)

    def test_contradictions_are_found_when_they_are_bound(self) -> None:
        with pytest.raises(DomainError, match="k = 9 exceeds E = 8"):
            experts.distinct_experts.where(E=8).where(k=9)
        with pytest.raises(DomainError, match="n = -1"):
            experts.distinct_experts.where(n=symbols.B - 3).where(B=2)


class TestForeignValues:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (sympy.Symbol("x"), "symbol x that is not of the notation"),
            (symbols.B * sympy.Symbol("n"), "symbol n that is not of the notation"),
            (sympy.I, "no real number"),
            ("2", "must be a real number"),
            (True, "must be a real number"),
            (experts.expert_knee, "must be a real number"),
        ],
    )
    def test_refused(self, value: object, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            experts.distinct_experts.where(n=value)

    def test_units_and_elements_of_vectors_are_of_the_notation(self) -> None:
        assert symbols.indexed("p", 2) in (
            acceptance.expected_tokens.where(alpha=symbols.indexed("p", 2)).rhs.free_symbols
        )
        assert experts.distinct_experts.where(n=2 * FLOP)(E=8, k=2) == pytest.approx(3.5)

    @pytest.mark.parametrize("value", [sympy.oo, sympy.nan, -1, -sympy.Rational(1, 3)])
    def test_numbers_outside_the_domain(self, value: object) -> None:
        with pytest.raises(DomainError, match="n = "):
            experts.distinct_experts.where(n=value)
