"""Bad input of drafters and of what they stand on: refused by name, and never a number."""

from __future__ import annotations

import numpy as np
import pytest

from specdec_lib import drafters
from specdec_lib.deployment import VerifyCurve
from specdec_lib.formula import DomainError

MASKED = np.ma.masked_array([0.5, 0.6], mask=[False, True])
NO_NUMBERS = [None, "0.5", b"1", [], [0.1, 0.2], {}, True, 1 + 0j, MASKED, np.array([])]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("make", [drafters.fraction, drafters.ngram])
def test_what_is_not_one_number(make: object, value: object) -> None:
    with pytest.raises(TypeError, match=r"\bc\b|t_round"):
        make(value)  # type: ignore[operator]


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("make", [drafters.fraction, drafters.ngram])
def test_numbers_outside_the_domain(make: object, value: float) -> None:
    with pytest.raises(DomainError, match=r"c = |t_round = "):
        make(value)  # type: ignore[operator]


@pytest.mark.parametrize("name", [None, 3, b"mtp", ["mtp"], np.nan])
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(TypeError, match="found by its name"):
        drafters.named(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1_0", "٣", "nan", "inf", "0x1", "1,5", ""])
def test_a_fraction_is_written_as_people_write_numbers(text: str) -> None:
    with pytest.raises((ValueError, LookupError), match="fraction"):
        drafters.named(f"fraction:{text}")


@pytest.mark.parametrize("text", ["0.1", ".1", "1e-1", " 0.10"])
def test_and_read_as_such(text: str) -> None:
    assert repr(drafters.named(f"fraction:{text}")) == "fraction(0.1)"


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True, None, [], MASKED])
def test_devices_and_words_are_counted(value: object) -> None:
    with pytest.raises(ValueError, match="tp = "):
        drafters.mtp(tp=value)  # type: ignore[arg-type]
    if value is not None:
        with pytest.raises(ValueError, match="vocabulary = "):
            drafters.mtp(vocabulary=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, "2.8", b"1", [2.8], True, MASKED])
def test_a_verify_curve_is_of_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="verify curve, ratio"):
        VerifyCurve({3: value})  # type: ignore[dict-item]
