"""The acceptance rate behind measured tokens per step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib.acceptance import acceptance_for_tokens
from specdec_lib.formula import DomainError
from specdec_lib.formulas.acceptance import expected_tokens
from specdec_lib.formulas.speculation import break_even_pair, hurdle


@given(st.floats(0, 1), st.floats(0.5, 32))
def test_inverts_the_expected_tokens(alpha: float, gamma: float) -> None:
    tokens = expected_tokens(alpha=alpha, gamma=gamma)
    if tokens < 1 or tokens > gamma + 1:  # by rounding alone
        return
    again = expected_tokens(alpha=acceptance_for_tokens(tokens, gamma), gamma=gamma)
    assert again == pytest.approx(tokens, rel=1e-12)


def test_by_hand() -> None:
    assert acceptance_for_tokens(1.75, 2) == pytest.approx(0.5, rel=1e-12)
    assert acceptance_for_tokens([1, 8], 7).tolist() == [0.0, 1.0]
    assert acceptance_for_tokens(np.array([[1.2], [1.4]]), [1, 1]).shape == (2, 2)


def test_break_even_of_one_and_two_tokens_are_the_closed_forms() -> None:
    price = {"C_verify": 1.5, "C_0": 1.0}
    one = acceptance_for_tokens(1.5 + 0.1, 1)
    assert one == pytest.approx(hurdle(**price, c=0.1), rel=1e-12)
    two = acceptance_for_tokens(1.5 + 0.2, 2)
    assert two == pytest.approx(break_even_pair(**price, C_draft=0.2), rel=1e-12)


@pytest.mark.parametrize(
    ("tokens", "gamma", "message"),
    [
        (0.9, 3, "N = 0.9"),
        (4.1, 3, r"exceed gamma \+ 1 = 4"),
        (1.0, 0, "drafts nothing"),
        (float("nan"), 3, "N = nan"),
    ],
)
def test_refuses_what_no_acceptance_gives(tokens: float, gamma: float, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        acceptance_for_tokens(tokens, gamma)
