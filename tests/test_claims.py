"""Claims: what a printed number allows, what is refused, and how prose and code are paired."""

from __future__ import annotations

import math
import re
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib.claims import ClaimError, bold_numbers, claim, claimed_numbers, parse_number

THIN, NARROW, NO_BREAK = "\u2009", "\u202f", "\u00a0"


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("29.2", 29.2, 0.05),
        ("0", 0, 0.5),
        ("0.85", 0.85, 0.005),
        ("0.850", 0.85, 0.0005),
        ("10 945", 10945, 0.5),
        (f"10{THIN}945", 10945, 0.5),
        (f"10{NARROW}945", 10945, 0.5),
        (f"10{NO_BREAK}945", 10945, 0.5),
        ("1 048 576", 1048576, 0.5),
        ("10945", 10945, 0.5),
        ("1 234.5", 1234.5, 0.05),
        ("85 %", 0.85, 0.005),
        ("85%", 0.85, 0.005),
        ("58.9 %", 0.589, 0.0005),
        ("1.3×", 1.3, 0.05),
        ("1.97 µs", 1.97e-6, 0.5e-8),
        ("1.97 μs", 1.97e-6, 0.5e-8),  # the Greek letter in place of the micro sign
        ("19.8µs", 19.8e-6, 0.5e-7),
        ("5.6 ms", 5.6e-3, 0.5e-4),
        ("3 s", 3, 0.5),
        ("3.35 TB/s", 3.35e12, 0.5e10),
        ("989.4 TFLOP/s", 989.4e12, 0.5e11),
        ("4.5 PFLOP/s", 4.5e15, 0.5e14),
        ("562.5 FLOP/B", 562.5, 0.05),
        ("576 B", 576, 0.5),
        ("25.2 MB", 25.2e6, 0.5e5),
        ("700 W", 700, 0.5),
        ("−0.3", -0.3, 0.05),
        ("-0.3", -0.3, 0.05),
        ("+2", 2, 0.5),
        ("1.2e5", 1.2e5, 0.05e5),
        ("1.2E-5", 1.2e-5, 0.05e-5),
        ("1.2 × 10⁵", 1.2e5, 0.05e5),
        ("1.2·10⁻⁵", 1.2e-5, 0.05e-5),
        ("10⁶", 1e6, 0.5),
        ("10⁻³", 1e-3, 0.5e-3),
        ("284 billion", 284e9, 0.5e9),
        ("25.2 million", 25.2e6, 0.05e6),
        ("43 tokens", 43, 0.5),
    ],
)
def test_numbers_are_read_with_the_precision_they_show(
    text: str, value: float, half: float
) -> None:
    read, allowed = parse_number(text)
    assert read == pytest.approx(value, rel=1e-15)
    assert allowed == pytest.approx(half, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "10,945",  # thousands or a decimal comma?
        "1,5",
        "10.945,3",
        ".5",
        "5.",
        "007",
        "00.5",
        "1.2.3",
        "12 34",
        "1 0000",
        "1234 567",
        "≈ 29",
        "about 29",
        "2–3",
        "2 of 3",
        "8x7B",
        "70 Bytes",
        "3 m",
        "3 min",
        "5 GiB",
        "5 kg",
        "29.2 29.3",
        "",
        "many",
        "1e",
        "10⁶⁻",
        "½",
        "１２",  # full-width digits
        "−",
        "85 percent",  # 0.85, not 85
        "3 minutes",
        "3 kilobytes",
        "2 thirds",
        "3 dozen",
        "4 millions",
        "10^6",
        "1e100",
    ],
)
def test_what_is_ambiguous_or_no_number_is_refused(text: str) -> None:
    with pytest.raises(ClaimError, match="no number that can be checked"):
        parse_number(text)
    with pytest.raises(ClaimError):
        claim(text, 1.0)


@pytest.mark.parametrize(
    "text",
    ["10^99999", "10⁹⁹⁹⁹⁹⁹⁹⁹⁹", "10⁻⁹⁹⁹⁹⁹⁹⁹⁹⁹", "1e999999999", "2 × 10⁹⁹⁹⁹⁹⁹⁹⁹⁹", "1" * 100_000],
    ids=lambda text: text[:12],
)
def test_absurd_numbers_are_refused_at_once(text: str) -> None:
    began = time.perf_counter()
    with pytest.raises(ClaimError, match="no number that can be checked"):
        parse_number(text)
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    "value",
    [1e40, -1e300, 10**400, 10**5000],
    ids=lambda v: f"{v:.0e}"[:9] if isinstance(v, float) else "int",
)
def test_a_value_far_from_the_text_is_a_claim_that_fails(value: float) -> None:
    """Beyond the digits of a Decimal there is still a message, with the power of ten."""
    with pytest.raises(ClaimError, match=r"the text says 1 000, computed .*e\+(40|300|400|5000)"):
        claim("1 000", value)


def test_a_number_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="starts with the number as the prose prints it"):
        claim(29.2, 29.2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("29.2", (29.2259, 29.15, 29.25, 29.1501), (29.1499, 29.2501, -29.2, 0.0)),
        ("0.85", (0.847, 0.845, 0.855), (0.8449, 0.8551)),
        ("10 945", (10945, 10945.3, 10944.5), (10946, 10944, 10945.6)),
        ("85 %", (0.85, 0.8474, 0.8549), (0.8449, 0.8551, 85.0)),
        ("1.97 µs", (1.968e-6, 1.97e-6), (1.964e-6, 1.976e-6, 1.97, 1.97e-3)),
        ("−0.3", (-0.3, -0.27, -0.34), (0.3, -0.24, -0.36)),
        ("10⁶", (10**6, 1e6 + 0.4), (10**6 + 1, 1.4e6)),
        ("0", (0, 0.0, 0.4, -0.4), (1, 0.6)),
    ],
)
def test_a_claim_holds_to_half_a_unit_of_its_last_digit(
    text: str, right: tuple[float, ...], wrong: tuple[float, ...]
) -> None:
    for value in right:
        claim(text, value)
    for value in wrong:
        with pytest.raises(ClaimError, match="the text says"):
            claim(text, value)


def test_counted_numbers_are_exact() -> None:
    claim("284 332 000 001", 284_332_000_001)
    with pytest.raises(ClaimError):
        claim("284 332 000 001", 284_332_000_000)
    claim("9007199254740993", 2**53 + 1)  # more digits than a float has
    with pytest.raises(ClaimError):
        claim("9007199254740993", 2**53)


@pytest.mark.parametrize(
    "value",
    [
        6,
        6.0,
        np.float64(6),
        np.float32(6),
        np.int64(6),
        np.array(6.0),
        Fraction(6),
        sympy.Integer(6),
    ],
)
def test_any_single_number_can_be_claimed(value: object) -> None:
    claim("6", value)


@pytest.mark.parametrize(
    "value", ["6", b"6", True, None, [6], np.array([6.0]), 6j, sympy.Symbol("x")]
)
def test_what_is_no_single_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="takes one computed number"):
        claim("6", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_never_holds(value: float) -> None:
    with pytest.raises(ClaimError, match="not a finite number"):
        claim("6", value)


@pytest.mark.parametrize(
    ("text", "value", "line"),
    [
        ("29.2", 29.22589, "29.2 ✓ computed 29.2259"),
        ("85 %", 0.847412, "85 % ✓ computed 84.7412 %"),
        ("1.97 µs", 1.968e-6, "1.97 µs ✓ computed 1.968 µs"),
        ("10 945", 10944.8113, "10 945 ✓ computed 10944.8"),
        ("1.2 × 10⁵", 123456.0, "1.2 × 10⁵ ✓ computed 1.23456 × 10⁵"),
        ("−0.3", -0.25, "−0.3 ✓ computed −0.25"),
        ("16777216", 16777216, "16777216 ✓ computed 16777216"),
        ("284 billion", 284332000000, "284 billion ✓ computed 284.332 billion"),
    ],
)
def test_a_claim_prints_one_line(
    text: str, value: float, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    claim(text, value)
    assert capsys.readouterr().out == line + "\n"


@pytest.mark.parametrize(
    ("text", "value", "reads"),
    [
        ("29.3", 29.2259, "29.2"),
        ("10 940", 10944.8, f"10{NARROW}945"),
        ("84 %", 0.8474, "85 %"),
        ("1.9 µs", 1.968e-6, "2.0 µs"),
        ("0.3", -0.31, "−0.3"),
        ("1.1e5", 123456.0, "1.2e5"),
        ("5.00 TB/s", 3.35e12, "3.35 TB/s"),
    ],
)
def test_a_failure_says_how_the_text_should_read(text: str, value: float, reads: str) -> None:
    with pytest.raises(ClaimError) as failure:
        claim(text, value)
    message = str(failure.value)
    assert message.startswith(f"the text says {text}, computed ")
    assert message.endswith(f"the text should read {reads}")
    claim(reads, value)  # and that text would hold


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_number_printed_to_some_digits_claims_itself(value: float, decimals: int) -> None:
    text = f"{value:,.{decimals}f}".replace(",", NARROW)
    claim(text, value)
    read, half = parse_number(text)
    assert abs(read - value) <= half * (1 + 1e-9) + 1e-15 * abs(value)
    step = 1.001 * 2 * half
    with pytest.raises(ClaimError):
        claim(text, read + step)
    with pytest.raises(ClaimError):
        claim(text, read - step)


@given(st.floats(1e-12, 1e15), st.integers(0, 8))
def test_a_number_in_powers_of_ten_claims_itself(value: float, decimals: int) -> None:
    text = f"{value:.{decimals}e}"
    claim(text, value)
    with pytest.raises(ClaimError):
        claim(text, value * 11)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        value, half = parse_number(text)
    except ClaimError:
        return
    assert math.isfinite(value)
    assert half > 0
    assert re.search("[0-9]", text)


@pytest.mark.parametrize(
    ("markdown", "numbers"),
    [
        ("plain 29.2 and *29.2*", []),
        ("half at **29.2** tokens", ["29.2"]),
        ("__29.2__ too", ["29.2"]),
        (f"**10{NARROW}945** and **10 945**", ["10 945", "10 945"]),
        ("**-0.3** and **−0.3**", ["−0.3", "−0.3"]),
        ("**$29.2$** in mathematics", ["29.2"]),
        ("**≈ 29**, **<3**, **.5**", ["≈ 29", "<3", ".5"]),
        ("**Not 3** of them, **words**", []),
        ("| a | b |\n|---|---|\n| **6** | **11.86** |", ["6", "11.86"]),
        ("# Heading with **43**\n\n- item **1.97 µs**", ["43", "1.97 µs"]),
        ("code `**29.2**` and\n\n```python\nx = 2**3**2\n```\n**7**", ["7"]),
        ("<!-- **29.2** -->", []),
        ("**85\n%** over two lines", ["85 %"]),
        ("two **3**/**4** close", ["3", "4"]),
        ("**2 of 3** starts like a number", ["2 of 3"]),
        ("***8*** bold and italic", ["8"]),
        ("snake__1__case", []),
    ],
)
def test_bold_numbers_are_found_in_prose_only(markdown: str, numbers: list[str]) -> None:
    assert bold_numbers(markdown) == numbers


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("x = 1", []),
        ('claim("29.2", half)', ["29.2"]),
        (
            'claim("29.2", half)\nclaims.claim("6", a); sd.claims.claim("−0.3", b)',
            ["29.2", "6", "−0.3"],
        ),
        ('claim(text="29.2", value=half)', ["29.2"]),
        (f'claim("10{NARROW}945", n)', ["10 945"]),
        ('for a in b:\n    claim("6", a)', ["6"]),
        ('print("claim(29)")  # claim("7", 7)', []),
        ('disclaim("5", 5)', []),
    ],
)
def test_claimed_numbers_are_read_off_the_code(source: str, numbers: list[str]) -> None:
    assert claimed_numbers(source) == numbers


@pytest.mark.parametrize("source", ["claim(f'{x}', x)", "claim(x, y)", "claim(29.2, y)", "claim()"])
def test_a_claim_that_cannot_be_paired_is_refused(source: str) -> None:
    with pytest.raises(ClaimError, match="write the number"):
        claimed_numbers(source)


def test_prose_and_code_pair_whatever_space_they_use() -> None:
    prose = bold_numbers(f"from **10{THIN}945** to **−0.3** and **85{NO_BREAK}%**")
    code = claimed_numbers('claim("10 945", a)\nclaim("-0.3", b)\nclaim("85 %", c)')
    assert prose == code


def test_arrays_without_axes_are_not_cut_to_whole_numbers() -> None:
    claim("5.7", np.array(5.7))
    with pytest.raises(ClaimError):
        claim("5", np.array(5.7))
    for no_number in (np.True_, np.complex128(1 + 5j), bytearray(b"5")):
        with pytest.raises(TypeError):
            claim("1", no_number)
