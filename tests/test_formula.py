"""Formula: what it shows, what it computes, and what it refuses."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import symbols
from specdec_lib.formula import DomainError, Formula
from specdec_lib.formula.latex import unit_text
from specdec_lib.formulas import acceptance, attention, experts, roofline
from specdec_lib.symbols import BYTE, FLOP, ONE, SECOND
from tests.points import EVERY_FORMULA, MODULE_LEVEL, random_points
from tests.vega_runtime import evaluate_in_vega


class TestRendering:
    def test_shows_its_equation_in_the_notation_of_the_book(self) -> None:
        assert experts.distinct_experts._repr_latex_() == (
            r"$\displaystyle A(n) = E \left(1 - \left(1 - \frac{k}{E}\right)^{n}\right)$"
        )

    def test_counted_constants_carry_their_unit(self) -> None:
        assert attention.latent_pair_work.latex() == (
            r"f = 2 n_h \left(2 d_c + d_r\right)\,\mathrm{FLOP}"
        )

    def test_sub_formulas_are_shown_by_their_left_hand_side(self) -> None:
        assert "A(n) + s" in experts.moe_intensity.latex()

    def test_cases_that_are_only_limits_are_not_shown_but_others_are(self) -> None:
        assert "cases" not in acceptance.expected_tokens.latex()
        assert "cases" in attention.crossing_width.latex()

    @pytest.mark.parametrize("name", EVERY_FORMULA)
    def test_every_formula_is_printed_without_a_keyword(self, name: str) -> None:
        """No Python name such as eta_m or b_kv reaches the page."""
        printed = EVERY_FORMULA[name].latex().partition(" = ")[2]
        for known in EVERY_FORMULA[name].inputs:
            if known.keyword not in known.latex:
                assert known.keyword not in printed, printed

    @pytest.mark.parametrize(
        ("unit", "text"),
        [(ONE, "1"), (FLOP / BYTE, "FLOP/B"), (SECOND, "s"), (BYTE / SECOND, "B/s")],
    )
    def test_units_as_text(self, unit: sympy.Expr, text: str) -> None:
        assert unit_text(unit) == text

    def test_every_formula_has_a_source_and_a_docstring_worthy_name(self) -> None:
        for name, formula in MODULE_LEVEL.items():
            assert formula.source.strip(), name
            assert formula.lhs.strip(), name


class TestComputing:
    def test_scalars_give_a_float(self) -> None:
        assert type(experts.distinct_experts(n=1, E=256, k=6)) is float

    def test_broadcasts_over_open_grids(self) -> None:
        n, k = np.arange(5.0)[:, None], np.array([1.0, 2.0, 4.0])
        grid = experts.distinct_experts(n=n, E=16, k=k)
        assert grid.shape == (5, 3)
        for i, j in np.ndindex(grid.shape):
            assert grid[i, j] == experts.distinct_experts(n=i, E=16, k=k[j])

    @pytest.mark.parametrize("name", MODULE_LEVEL)
    def test_every_formula_broadcasts(self, name: str) -> None:
        """Each argument on an axis of its own, against the same points one by one."""
        formula = MODULE_LEVEL[name]
        first, second = random_points(formula, count=2, seed=11)
        # apart by less than the room between symbols that bound each other
        for low, high in (("k", "E"), ("d_r", "d"), ("accepted", "offered")):
            if low in first and high in first:
                first |= {low: 2.0, high: 16.0}
                second |= {low: 10.0, high: 96.0}
        keys = list(first)[:4]
        grid = {
            key: np.array([first[key], first[key] + (second[key] - first[key]) / 8]).reshape(
                [2 if axis == place else 1 for axis in range(len(keys))]
            )
            for place, key in enumerate(keys)
        }
        values = formula(**(first | grid))
        assert values.shape == (2,) * len(keys)
        for index in np.ndindex(values.shape):
            point = {key: grid[key].ravel()[i] for key, i in zip(keys, index, strict=True)}
            assert values[index] == pytest.approx(formula(**(first | point)), rel=1e-14)

    def test_integers_do_not_overflow_or_truncate(self) -> None:
        big = np.array([10**6], dtype=np.int32)
        assert roofline.weight_work(P=big, n=big)[0] == 2e12

    def test_an_argument_that_drops_out_still_gives_its_shape(self) -> None:
        bound = experts.distinct_experts.where(E=4, k=4)
        assert bound(n=[1.0, 2.0]).tolist() == [4.0, 4.0]

    @given(st.lists(st.floats(0, 1e6), min_size=1, max_size=8))
    def test_an_array_is_computed_like_its_elements(self, values: list[float]) -> None:
        together = experts.distinct_experts(n=values, E=64, k=4)
        assert together.tolist() == [experts.distinct_experts(n=v, E=64, k=4) for v in values]

    @given(st.floats(0, 1), st.floats(0, 64))
    def test_tokens_lie_between_one_and_the_draft_and_its_bonus(self, a: float, g: float) -> None:
        tokens = acceptance.expected_tokens(alpha=a, gamma=g)
        assert tokens * (1 + 1e-12) >= 1 and tokens <= (g + 1) * (1 + 1e-12)

    @given(st.floats(0, 1))
    def test_a_draft_of_no_tokens_commits_exactly_one(self, alpha: float) -> None:
        assert acceptance.expected_tokens(alpha=alpha, gamma=0) == 1


class TestDask:
    def test_stays_lazy_and_gives_the_same_numbers(self) -> None:
        n = da.arange(1, 1001, chunks=100)
        lazy = experts.distinct_experts(n=n, E=256, k=6)
        assert isinstance(lazy, da.Array) and lazy.chunks == n.chunks
        eager = experts.distinct_experts(n=np.arange(1, 1001), E=256, k=6)
        assert np.array_equal(lazy.compute(), eager)

    def test_broadcasts_with_other_chunks(self) -> None:
        T, S = da.arange(1, 9, chunks=4)[:, None], da.arange(1, 7, chunks=2) * 1000
        lazy = attention.intensity(T=T, S=S, f=100, m_c=2, m_q=3)
        eager = attention.intensity(
            T=np.arange(1, 9)[:, None], S=np.arange(1, 7) * 1000, f=100, m_c=2, m_q=3
        )
        assert np.array_equal(lazy.compute(), eager)

    def test_domain_is_checked_when_it_computes(self) -> None:
        lazy = experts.distinct_experts(n=da.from_array(np.array([1.0, -1.0])), E=8, k=2)
        with pytest.raises(DomainError, match="n = -1"):
            lazy.compute()

    def test_relations_are_checked_between_lazy_arguments(self) -> None:
        k = da.from_array(np.array([2.0, 9.0]))
        with pytest.raises(DomainError, match="k = 9 exceeds E = 8"):
            experts.distinct_experts(n=1, E=8, k=k).compute()


class TestBinding:
    def test_numbers(self) -> None:
        bound = experts.distinct_experts.where(E=256, k=6)
        assert [known.keyword for known in bound.inputs] == ["n"]
        assert bound(n=2) == experts.distinct_experts(n=2, E=256, k=6)

    def test_expressions_over_other_symbols(self) -> None:
        step = experts.distinct_experts.where(n=symbols.B * symbols.T)
        assert {known.keyword for known in step.inputs} == {"B", "T", "E", "k"}
        assert step(B=4, T=2, E=256, k=6) == experts.distinct_experts(n=8, E=256, k=6)

    def test_domain_still_holds_for_what_is_bound(self) -> None:
        with pytest.raises(DomainError, match="k = 6 exceeds E = 4"):
            experts.distinct_experts.where(E=4)(n=1, k=6)
        with pytest.raises(DomainError, match="n = -2"):
            experts.distinct_experts.where(n=symbols.B - 4)(B=2, E=8, k=2)

    def test_bound_in_two_steps(self) -> None:
        twice = experts.distinct_experts.where(n=symbols.B * symbols.T).where(T=2, E=256, k=6)
        assert twice(B=4) == experts.distinct_experts(n=8, E=256, k=6)

    def test_expressions_are_put_in_all_at_once(self) -> None:
        exchanged = attention.grouped_context_bytes.where(n_kv=symbols.d, d=symbols.n_kv)
        assert exchanged.rhs == attention.grouped_context_bytes.rhs

    def test_the_unbound_formula_is_left_alone(self) -> None:
        experts.distinct_experts.where(E=256)
        assert len(experts.distinct_experts.inputs) == 3

    def test_arrays_are_refused(self) -> None:
        with pytest.raises(TypeError, match="one number, not an array"):
            experts.distinct_experts.where(n=[1, 2])


class TestRefusing:
    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"n": -1, "E": 8, "k": 2}, r"n = -1 is outside \[0, ∞\) \(tokens in a step\)"),
            ({"n": [1, 2, float("nan")], "E": 8, "k": 2}, "n = nan at index 2"),
            ({"n": float("inf"), "E": 8, "k": 2}, "n = inf"),
            ({"n": 1, "E": 4, "k": 6}, "k = 6 exceeds E = 4"),
            ({"n": 1, "E": 0, "k": 0}, "E = 0"),
        ],
    )
    def test_values_outside_the_domain(self, values: dict[str, object], message: str) -> None:
        with pytest.raises(DomainError, match=message):
            experts.distinct_experts(**values)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"n": 1, "E": 8}, r"missing k \(experts per token\)"),
            ({"n": 1, "E": 8, "k": 2, "experts": 3}, "no symbol experts here; it takes n, E, k"),
            ({"n": "1", "E": 8, "k": 2}, "must be a real number"),
            ({"n": True, "E": 8, "k": 2}, "must be a real number"),
            ({"n": 1 + 2j, "E": 8, "k": 2}, "must be a real number"),
            ({"n": None, "E": 8, "k": 2}, "must be a real number"),
            ({"n": np.ma.masked_array([1.0], mask=[True]), "E": 8, "k": 2}, "fill or drop"),
            ({"n": [1.0, np.ma.masked], "E": 8, "k": 2}, "fill or drop"),
            ({"n": [1.0, [True, 2]], "E": 8, "k": 2}, "must be a real number"),
            ({"n": [1.0, np.True_], "E": 8, "k": 2}, "must be a real number"),
            ({"n": [[1, 2], [3]], "E": 8, "k": 2}, r"n \(tokens in a step\) must be a real number"),
        ],
    )
    def test_what_is_no_number_or_no_symbol(self, values: dict[str, object], message: str) -> None:
        with pytest.raises(TypeError, match=message):
            experts.distinct_experts(**values)

    def test_shapes_that_do_not_broadcast(self) -> None:
        with pytest.raises(ValueError, match=r"A\(n\): shapes .*: n \(3,\), E \(2,\)$"):
            experts.distinct_experts(n=[1, 2, 3], E=[4, 5], k=2)

    def test_whole_numbers_of_any_size(self) -> None:
        assert roofline.weight_work(P=2**64, n=[1, 2**65]).tolist() == [2.0**65, 2.0**130]
        with pytest.raises(
            DomainError, match=r"n .tokens in a step.: .1, 1000.* goes beyond floating point"
        ):
            experts.distinct_experts(n=[1, 10**400], E=8, k=2)
        with pytest.raises(DomainError, match="a number of thousands of digits goes beyond"):
            experts.distinct_experts(n=10**5000, E=8, k=2)

    @pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
    def test_acceptance_outside_zero_and_one(self, alpha: float) -> None:
        with pytest.raises(DomainError, match="acceptance rate"):
            acceptance.expected_tokens(alpha=alpha, gamma=3)

    def test_a_value_that_does_not_exist(self) -> None:
        with pytest.raises(DomainError, match="no finite value"):
            acceptance.mean_acceptance(N=1, gamma=0)
        with pytest.raises(DomainError, match="no finite value"):
            acceptance.mean_acceptance(N=2, gamma=0)

    def test_positional_arguments(self) -> None:
        with pytest.raises(TypeError):
            experts.distinct_experts(1, 8, 2)  # type: ignore[call-arg]

    @pytest.mark.parametrize(("E", "k"), [(256, 6), (8, 8), (1e9, 1)])
    def test_vega_of_bound_symbols(self, E: float, k: float) -> None:
        """A known base is a number in the chart, not an expression to be worked out there."""
        whole, bound = experts.distinct_experts, experts.distinct_experts.where(E=E, k=k)
        points = [{"n": n} for n in (0.0, 1.0, 1.5, 64.0, 1e6)]
        drawn = evaluate_in_vega(bound.vega(n="datum.n"), points)
        exact = [whole(**point, E=E, k=k) for point in points]
        assert drawn == pytest.approx(exact, rel=1e-12)
        assert k == E or "log(1 +" not in bound.vega()

    def test_vega_names(self) -> None:
        with pytest.raises(ValueError, match="not a Vega signal or field"):
            experts.distinct_experts.vega(n="datum.n); alert(1", E="datum.E")
        for experts_are_called in ({}, {"E": "E"}, {"E": "PI"}):
            with pytest.raises(ValueError, match="constant of Vega's own"):
                experts.distinct_experts.vega(n="datum.n", **experts_are_called)
        for word in ("null", "true", "false", "undefined", "this", "datum", "new.n", "NaN"):
            with pytest.raises(ValueError, match="of Vega's own"):
                experts.distinct_experts.vega(n=word, E="slots")
        with pytest.raises(TypeError, match="no symbol m"):
            experts.distinct_experts.vega(m="m")
        for array in ([1.0, 2.0], True, None):
            with pytest.raises(TypeError, match=r"k .experts per token."):
                experts.distinct_experts.vega(k=array, E="slots")
        with pytest.raises(DomainError, match="k = 9 exceeds E = 8"):
            experts.distinct_experts.vega(k=9, E=8)
        with pytest.raises(DomainError, match="k = 9 exceeds E = 8"):
            experts.distinct_experts.where(E=8).vega(k=9)
        with pytest.raises(DomainError, match="k = -1"):
            experts.distinct_experts.vega(k=-1)


class TestLimits:
    """Limits by SymPy on the equation itself, against what NumPy gives at and near the point."""

    def test_tokens_as_acceptance_goes_to_one(self) -> None:
        g = sympy.Symbol("g", positive=True)
        general = acceptance.expected_tokens.general.subs(symbols.gamma, g)
        assert sympy.limit(general, symbols.alpha, 1, "-") == g + 1

    def test_experts_for_no_and_for_many_tokens(self) -> None:
        law = experts.distinct_experts.where(E=256, k=6).rhs
        assert sympy.limit(law, symbols.n, 0) == 0
        assert sympy.limit(law, symbols.n, sympy.oo) == 256
        assert experts.distinct_experts(n=1e9, E=256, k=6) == 256

    def test_one_token_touches_k_experts(self) -> None:
        assert sympy.simplify(experts.distinct_experts.rhs.subs(symbols.n, 1)) == symbols.k

    def test_routed_intensity_starts_where_its_limit_is_with_half_the_final_slope(self) -> None:
        series = sympy.series(experts.routed_intensity.general, symbols.n, 0, 2).removeO()
        start, slope = series.coeff(symbols.n, 0), series.coeff(symbols.n, 1)
        assert sympy.simplify(start - experts.routed_intensity_start.rhs) == 0
        assert sympy.simplify(slope - experts.routed_slope_start.rhs) == 0
        assert sympy.simplify(2 * slope - experts.routed_slope_end.rhs) == 0

    def test_variance_is_the_textbook_occupancy_variance(self) -> None:
        n, E, k = symbols.n, symbols.E, symbols.k
        q1, q2 = 1 - k / E, (E - k) * (E - k - 1) / (E * (E - 1))
        textbook = E * q1**n + E * (E - 1) * q2**n - E**2 * q1 ** (2 * n)
        for point in ({n: 3, E: 17, k: 4}, {n: 40, E: 256, k: 6}, {n: 2, E: 5, k: 4}):
            ours = experts.distinct_experts_variance.rhs.subs(point)
            assert sympy.simplify(ours - textbook.subs(point)) == 0

    def test_attention_limits(self) -> None:
        S, T = symbols.S, symbols.T
        rhs = attention.intensity.rhs
        assert sympy.limit(rhs, S, sympy.oo) == attention.intensity_long_context.rhs
        assert sympy.limit(rhs, T, sympy.oo) == attention.intensity_wide_verify.rhs

    def test_crossings_lie_on_the_ridge(self) -> None:
        values = {"ridge": 281.25, "f": 139264, "m_c": 576, "m_q": 73728}
        rest = {key: values[key] for key in ("f", "m_c", "m_q")}
        T = attention.crossing_width(S=4096, **values)
        assert attention.intensity(T=T, S=4096, **rest) == pytest.approx(281.25)
        S = attention.crossing_context(T=2, **values)
        assert attention.intensity(T=2, S=S, **rest) == pytest.approx(281.25)

    def test_elasticity_is_the_logarithmic_slope(self) -> None:
        smooth = roofline.elasticity(
            roofline.smooth_roofline_time.where(work=2 * symbols.n * FLOP), "n", "r"
        )
        point = {"traffic": 3, "peak": 4, "bandwidth": 2, "eta_c": 0.5, "eta_m": 1}
        time = [roofline.smooth_roofline_time(work=2 * n, **point) for n in (5.0, 5.0 * (1 + 1e-6))]
        slope = np.log(time[1] / time[0]) / np.log1p(1e-6)
        assert smooth(n=5.0, **point) == pytest.approx(slope, rel=1e-5)

    @pytest.mark.parametrize("n", [1, 126, 128, 400, 5000])
    def test_elasticity_of_a_power_by_hand(self, n: int) -> None:
        """Of 256(1 − qⁿ) it is n·ln(1/q)·qⁿ/(1 − qⁿ), however large 125ⁿ and 128ⁿ are."""
        touched = experts.distinct_experts.where(E=256, k=6)
        price = roofline.elasticity(touched, "n", "r")
        x = n * np.log(128 / 125)
        assert price(n=n) == pytest.approx(x / np.expm1(x), rel=1e-13)
        assert evaluate_in_vega(price.vega(n="datum.n"), [{"n": n}])[0] == pytest.approx(
            x / np.expm1(x), rel=1e-12
        )

    def test_elasticity_of_a_symbol_that_is_not_there(self) -> None:
        with pytest.raises(TypeError, match="has no symbol S"):
            roofline.elasticity(roofline.weight_time, "S", "r")


def test_committed_law_is_the_target() -> None:
    """Symbolically for two tokens: whatever p and q are, verification commits p."""
    p, q = sympy.symbols("p q", positive=True)
    for higher in (True, False):  # which of the two distributions puts more on the first token
        law = acceptance.committed_law(2, 1).rhs.subs(
            {
                symbols.indexed("p", 1): p,
                symbols.indexed("p", 2): 1 - p,
                symbols.indexed("q", 1): q,
                symbols.indexed("q", 2): 1 - q,
            }
        )
        gap = sympy.Symbol("gap", positive=True)
        law = law.subs(p, q + gap) if higher else law.subs(q, p + gap)
        expected = q + gap if higher else p
        assert sympy.simplify(law.rewrite(sympy.Piecewise) - expected) == 0


def test_a_new_formula_needs_no_registration() -> None:
    """What a contributor writes: four fields, and everything above works."""
    double = Formula("2P", 2 * symbols.P, ONE, "derived: roofline")
    assert double(P=3) == 6 and double.vega(P="datum.P") == "2*datum.P"
