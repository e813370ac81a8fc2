"""Locality: counts turned into independent tokens, and the exponent fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import routing
from specdec_lib.catalog import measured
from specdec_lib.formula import DomainError
from specdec_lib.formulas.experts import local_experts, tokens_to_cover
from specdec_lib.routing import locality

UNIFORM = np.full(256, 8 / 256)


class TestIndependentTokens:
    def test_equal_chances_have_a_closed_form(self) -> None:
        counted = np.array([0.0, 1, 8, 55.05, 200, 255.9])
        closed = tokens_to_cover(coverage=counted / 256, E=256, k=8)
        assert np.allclose(locality.independent_tokens(counted, UNIFORM), closed, rtol=1e-9)

    def test_by_hand(self) -> None:
        # chances 1, ½, ½: two tokens touch 1 + ¾ + ¾
        assert locality.independent_tokens(2.5, [1, 0.5, 0.5]) == pytest.approx(2, rel=1e-12)

    @given(
        st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6),
        st.floats(0.1, 200.0),
    )
    def test_inverts_the_skewed_law(self, weights: list[float], n: float) -> None:
        chances = routing.inclusion_probabilities(weights, k=1)
        touched = routing.distinct_experts_by_popularity(n, chances)
        if touched < 5.999:  # beyond, the count itself has lost the digits
            assert locality.independent_tokens(touched, chances) == pytest.approx(n, rel=1e-6)

    def test_all_experts_take_for_ever(self) -> None:
        assert locality.independent_tokens(3, [0.5, 0.5, 0.5, 0]) == np.inf

    @pytest.mark.parametrize(
        ("distinct", "inclusion", "message"),
        [
            (-1.0, [0.5, 0.5], "A = -1"),
            (2.5, [0.5, 0.5, 0.0], "only 2 are ever used"),
            (1.0, [[0.5, 0.5]], "one row"),
            (1.0, [0.5, 1.5], r"outside \[0, 1\]"),
        ],
    )
    def test_refuses(self, distinct: float, inclusion: list[float], message: str) -> None:
        with pytest.raises(DomainError, match=message):
            locality.independent_tokens(distinct, inclusion)


class TestRuns:
    def test_equal_chances_are_the_uniform_law_with_locality(self) -> None:
        run, batch = np.array([1, 2, 7]), np.array([1, 5])[:, None]
        found = locality.distinct_experts_of_runs(batch, run, 0.74, UNIFORM)
        law = local_experts(B=batch, T=run, locality=0.74, E=256, k=8)
        assert np.allclose(found, law, rtol=1e-12)

    def test_by_hand(self) -> None:
        # two runs of four tokens at ℓ = ½ are worth four: 1 + 15/16 + 15/16
        assert locality.distinct_experts_of_runs(2, 4, 0.5, [1, 0.5, 0.5]) == 2.875

    @pytest.mark.parametrize(
        ("B", "T", "exponent", "message"),
        [(0.5, 1, 0.5, "B = 0.5"), (1, 0, 0.5, "T = 0"), (1, 2, 1.1, "locality = 1.1")],
    )
    def test_refuses(self, B: float, T: float, exponent: float, message: str) -> None:
        with pytest.raises(DomainError, match=message):
            locality.distinct_experts_of_runs(B, T, exponent, UNIFORM)


class TestExponent:
    @pytest.mark.parametrize("exponent", [0.4, 0.74, 1.0])
    def test_recovers_the_exponent_of_made_up_counts(self, exponent: float) -> None:
        run = np.array([1, 2, 5, 16])
        counted = local_experts(B=1, T=run, E=256, k=8, locality=exponent)
        each = locality.locality_exponents(run[1:], counted[1:], UNIFORM)
        assert np.allclose(each, exponent, rtol=1e-9)
        assert locality.fit_locality(run, counted, UNIFORM) == pytest.approx(exponent, rel=1e-9)

    def test_longer_runs_weigh_more(self) -> None:
        # ℓ = ½ at two tokens and 1 at four: weights 1 and 4 after dividing by (ln 2)²
        counted = local_experts(B=1, T=np.array([2, 4]), E=256, k=8, locality=np.array([0.5, 1.0]))
        assert locality.fit_locality([2, 4], counted, UNIFORM) == pytest.approx(0.9, rel=1e-9)

    def test_of_the_counted_model(self) -> None:
        """0.74 against the uniform law, 0.79 against the law of its own popularity."""
        record, shares = measured("distinct-experts"), measured("expert-popularity")["share"]
        skewed = routing.inclusion_probabilities(shares, k=8)
        runs = record["n"], record["one_sequence"]
        assert locality.fit_locality(*runs, UNIFORM) == pytest.approx(0.74, abs=0.005)
        assert locality.fit_locality(*runs, skewed) == pytest.approx(0.79, abs=0.005)
        strangers = routing.distinct_experts_by_popularity(record["n"], skewed)
        assert np.allclose(strangers, record["many_sequences"], rtol=2e-3)

    def test_refuses(self) -> None:
        with pytest.raises(DomainError, match="a single token"):
            locality.locality_exponents(1, 8.0, UNIFORM)
        with pytest.raises(DomainError, match="more than one token"):
            locality.fit_locality([1], [8.0], UNIFORM)
        with pytest.raises(DomainError, match="touched every expert"):
            locality.fit_locality([2, 4], [12.0, 256.0], UNIFORM)
        with pytest.raises(ValueError, match="broadcast"):
            locality.fit_locality([2, 4], [12.0, 20.0, 30.0], UNIFORM)
