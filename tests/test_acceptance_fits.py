"""Fits of acceptance to measured tokens, and draft and verify played out, against other routes."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdec_lib import Decaying, DomainError, Geometric
from specdec_lib.acceptance import (
    acceptance_for_tokens,
    draft_and_verify,
    fit_decaying,
    fit_geometric,
    relative_errors,
    root_mean_square,
)
from specdec_lib.catalog import measured
from specdec_lib.formulas import acceptance

MEASURED = Path(__file__).parent / "data" / "acceptance_curves.csv"
#: The records of the package that hold the same curves.
BY_POSITION = (
    "survival-qwen36-mtp",
    "survival-qwen36-dflash",
    "survival-llama-eagle3",
    "survival-llama-eagle3-five",
    "survival-minimax-m3",
    "survival-minicpm3",
    "survival-mtp-eight",
)
BY_LENGTH = ("tokens-by-length-inferencex",)


def rows() -> list[dict[str, Any]]:
    with MEASURED.open() as file:
        return list(csv.DictReader(file))


def tokens_of(row: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([float(v) for v in row["values"].split()])
    tokens = values if row["kind"] == "tokens" else 1 + np.cumsum(values)
    return np.arange(1, len(tokens) + 1), tokens


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['drafter'][:20]} {row['dataset']}")
def test_the_fit_is_that_of_an_independent_program(row: dict[str, Any]) -> None:
    fitted = fit_decaying(*tokens_of(row))
    assert float(fitted.alpha) == pytest.approx(float(row["alpha"]), abs=6e-5)
    assert float(fitted.decay) == pytest.approx(float(row["decay"]), abs=6e-5)


def test_how_well_both_laws_describe_the_measured_curves() -> None:
    """What the docstring of Decaying and the chapter say."""
    one, falling = [], []
    for row in rows():
        at = tokens_of(row)
        one.append(relative_errors(fit_geometric(*at), *at))
        falling.append(relative_errors(fit_decaying(*at), *at))
    for errors, worst, whole, single in (
        (one, 0.0904, 0.0334, 0.147),
        (falling, 0.0292, 0.0130, 0.0614),
    ):
        each = [math.sqrt(sum(e * e for e in of_one) / len(of_one)) for of_one in errors]
        assert max(each) == pytest.approx(worst, abs=1e-4)
        assert root_mean_square(each) == pytest.approx(whole, abs=1e-4)
        assert max(abs(e) for of_one in errors for e in of_one) == pytest.approx(single, abs=1e-3)


def test_the_package_carries_the_same_curves() -> None:
    kept = [
        (record[column].tolist(), "survival" if "position" in record.columns else "tokens")
        for record in map(measured, (*BY_POSITION, *BY_LENGTH))
        for column in record.columns
        if column not in ("position", "gamma")
    ]
    listed = [([float(v) for v in row["values"].split()], row["kind"]) for row in rows()]
    assert sorted(kept) == sorted(listed)
    assert len(kept) == 24


def test_fits_find_what_was_put_in() -> None:
    lengths = np.arange(1, 9)
    for alpha in (0.0, 0.33, 0.8, 1.0):
        assert float(fit_geometric(lengths, Geometric(alpha).tokens(lengths)).alpha) == (
            pytest.approx(alpha, abs=1e-6)
        )
    found = fit_decaying(lengths, Decaying(0.83, 0.91).tokens(lengths))
    assert (float(found.alpha), float(found.decay)) == pytest.approx((0.83, 0.91), abs=1e-5)
    # one length: the closed inverse
    assert float(fit_geometric([5], [2.9]).alpha) == pytest.approx(
        acceptance_for_tokens(2.9, 5), abs=1e-6
    )


def test_relative_errors_by_hand() -> None:
    assert relative_errors(Geometric(0.5), [1, 2], [1.0, 2.0]) == pytest.approx([0.5, -0.125])
    assert root_mean_square([3, -4, 0, 0]) == 2.5


class TestDraftAndVerify:
    P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])  # they share 0.6
    STEPS = 100_000

    def test_commits_the_law_of_the_target_and_the_tokens_of_the_closed_form(self) -> None:
        played = draft_and_verify(
            self.P, self.Q, gamma=3, steps=self.STEPS, rng=np.random.default_rng(1)
        )
        total = played.followed.sum()
        assert total == played.tokens.sum()
        deviation = np.sqrt(self.P * (1 - self.P) / total)
        assert np.all(np.abs(played.law - self.P) < 4 * deviation)
        assert played.tokens.mean() == pytest.approx(1 + 0.6 + 0.36 + 0.216, abs=0.015)
        for kept, share in enumerate((0.4, 0.24, 0.144, 0.216)):
            assert np.mean(played.kept == kept) == pytest.approx(share, abs=0.006)

    def test_every_row_of_a_law_with_memory_stays(self) -> None:
        p = np.array([[0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
        q = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]])
        played = draft_and_verify(p, q, gamma=4, steps=self.STEPS, rng=np.random.default_rng(2))
        came = played.followed.sum(axis=1, keepdims=True)
        deviation = np.sqrt(p * (1 - p) / came)
        assert np.all(np.abs(played.law_after - p) <= 4 * deviation)

    def test_limits(self) -> None:
        def kept(p: Any, q: Any, gamma: int) -> set[int]:
            rng = np.random.default_rng(3)
            return set(draft_and_verify(p, q, gamma=gamma, steps=2500, rng=rng).kept.tolist())

        assert kept(self.P, self.P, 5) == {5}  # equal laws: all of it, and the bonus token
        assert kept([1, 0], [0, 1], 5) == {0}
        assert kept(self.P, self.Q, 0) == {0}
        rng = np.random.default_rng(3)
        assert len(draft_and_verify(self.P, self.Q, gamma=1, steps=2500, rng=rng).kept) == 2500

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({"p": [0.5, 0.4]}, DomainError, "sum to 0.9"),
            ({"p": [1.5, -0.5]}, DomainError, "p = "),
            ({"p": [[0.5, 0.5]]}, ValueError, "a square"),
            ({"p": [0.5, 0.25, 0.25]}, ValueError, "share a vocabulary"),
            ({"gamma": -1}, ValueError, "gamma = -1"),
            ({"steps": 0}, ValueError, "steps = 0"),
        ],
    )
    def test_refuses(self, given: dict[str, Any], error: type[Exception], message: str) -> None:
        usual = {"p": [0.5, 0.5], "q": [0.4, 0.6], "gamma": 2, "steps": 10}
        with pytest.raises(error, match=message):
            draft_and_verify(**(usual | given), rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fit_decaying([1, 2], [1.5]), ValueError, "two lists of equal length"),
        (lambda: fit_decaying([], []), ValueError, "two lists of equal length"),
        (lambda: fit_geometric([0, 1], [1, 1.5]), DomainError, "drafts nothing"),
        (lambda: fit_geometric([1, 2], [1.5, 3.2]), DomainError, r"exceed gamma \+ 1 = 3"),
        (lambda: fit_geometric([1], [0.5]), DomainError, "N = 0.5"),
        (lambda: fit_geometric([1.5], [1.5]), DomainError, "no whole number"),
    ],
)
def test_fits_refuse_what_no_step_commits(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


class TestLawsOverTokens:
    P, Q = {"p_1": 0.5, "p_2": 0.3, "p_3": 0.2}, {"q_1": 0.2, "q_2": 0.2, "q_3": 0.6}

    @pytest.mark.parametrize("temperature", [0.1, 0.7, 1.0, 5.0])
    def test_a_tempered_law_sums_to_one_and_sharpens(self, temperature: float) -> None:
        law = [acceptance.tempered("p", 3, x)(**self.P, temperature=temperature) for x in (1, 2, 3)]
        assert sum(law) == pytest.approx(1, rel=1e-12)
        assert (law[0] > 0.5) == (temperature < 1)

    @pytest.mark.parametrize("lenience", [0.05, 0.3, 0.6, 0.9, 1.0])
    def test_a_lenient_rule_never_exceeds_its_bound(self, lenience: float) -> None:
        law = [
            acceptance.lenient_law(3, x)(**self.P, **self.Q, lenience=lenience) for x in (1, 2, 3)
        ]
        assert sum(law) == pytest.approx(1, rel=1e-12)
        for chance, true in zip(law, self.P.values(), strict=True):
            assert chance <= true / lenience * (1 + 1e-12)
        exact = acceptance.overlap(3)(**self.P, **self.Q)
        passed = acceptance.lenient_overlap(3)(**self.P, **self.Q, lenience=lenience)
        assert passed > exact or lenience == 1.0
        if lenience == 1.0:
            assert law == pytest.approx(list(self.P.values()), rel=1e-12)

    def test_refuses_what_is_no_law(self) -> None:
        with pytest.raises(ValueError, match="'p' or 'q'"):
            acceptance.tempered("h", 3, 1)
        with pytest.raises(ValueError, match="token 4 is not one of"):
            acceptance.tempered("q", 3, 4)
        with pytest.raises(ValueError, match="at least one token"):
            acceptance.lenient_overlap(0)
