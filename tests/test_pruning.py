"""Pruning in simulation: when dropping drafted tokens leaves the target's law, and when it does
not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specdec_lib.acceptance import draft_and_verify, draft_prune_and_verify
from specdec_lib.formula import DomainError
from specdec_lib.formulas import speculation

STEPS = 60_000
P, Q, KEEP = [0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.9, 0.4, 0.1]


def played(p: Any, q: Any, keep: Any, gamma: int = 1, **options: Any) -> Any:
    rng = np.random.default_rng(7)
    return draft_prune_and_verify(p, q, keep, gamma=gamma, steps=STEPS, rng=rng, **options)


def first_tokens(p: Any, q: Any, keep: Any, **options: Any) -> Any:
    """The law of the first token that a step commits: that after a drop, or the drafted one.  With
    one drafted token and laws that do not look back, the rest of the committed ones are from p."""
    found = played(p, q, keep, **options)
    total = found.followed.sum(axis=0)
    bonus = found.kept.sum() * np.asarray(p)  # one more of each draft that passed whole
    return (total - bonus) / STEPS


def test_the_counterexample() -> None:
    """p = q = (½, ½), only token a is kept and the bonus comes from p: (¾, ¼)."""
    assert first_tokens([0.5, 0.5], [0.5, 0.5], [1, 0]) == pytest.approx([0.75, 0.25], abs=0.01)


def test_pruning_by_value_follows_its_law_and_that_is_not_p() -> None:
    found = first_tokens(P, Q, KEEP)
    names = {f"{k}_{i}": v for k, vs in zip("pqh", (P, Q, KEEP), strict=True)
             for i, v in enumerate(vs, start=1)}  # fmt: skip
    law = [speculation.pruned_law(3, token)(**names) for token in (1, 2, 3)]
    assert found == pytest.approx(law, abs=0.01)
    assert np.abs(np.array(law) - P).max() > 0.02


@pytest.mark.parametrize("mend", ["residual", "survivors"])
@pytest.mark.parametrize("gamma", [1, 4])
def test_both_mends_leave_the_law(mend: Any, gamma: int) -> None:
    p = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    q = [[0.2, 0.2, 0.6], [0.4, 0.2, 0.4], [0.8, 0.1, 0.1]]
    found = played(p, q, KEEP, gamma, mend=mend)
    assert found.law_after == pytest.approx(np.array(p), abs=0.012)
    bare = played(p, q, KEEP, gamma)
    assert np.abs(bare.law_after - p).max() > 0.02


@pytest.mark.parametrize("keep", [0.0, 0.3, 1.0])
def test_a_decision_that_does_not_see_the_token_is_lossless(keep: float) -> None:
    assert played(P, Q, [keep] * 3, gamma=3).law == pytest.approx(P, abs=0.01)


def test_a_greedy_target_is_left_as_it_is_whatever_is_dropped() -> None:
    assert played([0, 1, 0], Q, KEEP, gamma=3).law.tolist() == [0, 1, 0]


def test_a_stage_that_keeps_all_is_plain_verification() -> None:
    plain = draft_and_verify(P, Q, gamma=3, steps=STEPS, rng=np.random.default_rng(3))
    assert played(P, Q, [1, 1, 1], gamma=3).tokens.mean() == pytest.approx(
        plain.tokens.mean(), abs=0.02
    )
    assert not played(P, Q, [0, 0, 0], gamma=3).kept.any()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keep": [0.5, 1.2, 0]}, "1.2"),
        ({"keep": [0.5, 0.5]}, "share a vocabulary"),
        ({"q": [0.5, 0.4, 0.4]}, "sum to"),
        ({"mend": "hope"}, "'hope'"),
        ({"gamma": -1}, "gamma = -1"),
    ],
)
def test_what_is_no_law_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises((DomainError, ValueError), match=said):
        played(**({"p": P, "q": Q, "keep": KEEP} | changes))
