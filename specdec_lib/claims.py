"""Claims: a number in the prose, held against the number that the code computes.

A chapter prints a number in bold as the reader should see it, and asserts it in the same section:
``claim("29.2", half_of_the_experts)``.  What is printed must be what the value rounds to, so a
changed constant, equation or fact cannot leave a wrong sentence behind.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from specdec_lib.prefixes import PREFIXES

__all__ = ["ClaimError", "bold_numbers", "claim", "claimed_numbers", "parse_number"]


class ClaimError(AssertionError):
    """The number in the text is not what the value rounds to, or cannot be read as a number."""


_SPACES = " \u00a0\u2009\u202f"
_MINUS = "\u2212-"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_WORDS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_UNITS = ("FLOP/s", "FLOP/B", "B/s", "FLOP", "B", "s", "W")

_SIGN = rf"(?P<sign>[+{_MINUS}]?)"
_WHOLE = rf"(?:[1-9]\d{{0,2}}(?:[{_SPACES}]\d{{3}})+|0|[1-9]\d*)"
_RAISED = "(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
_SHIFT = rf"(?:[eE](?P<shift>[+{_MINUS}]?\d+)|[{_SPACES}]?[×·][{_SPACES}]?10{_RAISED})?"
_TAIL = rf"(?![\d.])(?P<gap>[{_SPACES}]?)(?P<unit>.*)"
_NUMBER = re.compile(rf"{_SIGN}(?P<mantissa>{_WHOLE}(?:\.(?P<decimals>\d+))?){_SHIFT}{_TAIL}")
_POWER = re.compile(rf"{_SIGN}10{_RAISED}{_TAIL}")


@dataclass(frozen=True)
class _Printed:
    """A literal, taken apart: its exact value, half a unit of its last digit, and how it looks."""

    value: Decimal
    half_unit: Decimal
    scale: Decimal  # size of the printed unit
    decimals: int
    grouped: bool
    tail: str

    def like(self, number: Decimal) -> str:
        """``number`` written the way this literal is."""
        rounded = round(number / self.scale, self.decimals)
        text = f"{rounded:,f}" if self.grouped else f"{rounded:f}"
        return text.replace(",", "\u202f").replace("-", "\u2212") + self.tail


def _refuse(text: str, why: str) -> ClaimError:
    return ClaimError(f"{text!r} is no number that can be checked: {why}")


def _exponent(text: str) -> int:
    return int(text.translate(_SUPERSCRIPTS).replace("\u2212", "-"))


def _unit_exponent(text: str, unit: str) -> int:
    """The power of ten that a unit, a percent sign or a word stands for."""
    word = unit.strip(_SPACES)
    if word in ("", "×"):
        return 0
    if word == "%":
        return -2
    if word in _WORDS:
        return _WORDS[word]
    for known in _UNITS:
        prefix = word.removesuffix(known)
        if word.endswith(known) and prefix in PREFIXES:
            return PREFIXES[prefix]
    if re.fullmatch(r"[a-zé]{4,}", word):  # "tokens", "experts": a count of something
        return 0
    known = ", ".join((*_UNITS, "%", "×", *_WORDS))
    raise _refuse(text, f"unit {word!r} is none of {known} (SI prefixes allowed) nor a plain noun")


def _parse(text: str) -> _Printed:
    if not isinstance(text, str):
        raise TypeError(f"a claim starts with the number as the prose prints it, not {text!r}")
    if re.search(r"\d,\d", text):
        raise _refuse(text, "a comma may separate thousands or decimals; write 10 945 or 1.5")
    power = _POWER.fullmatch(text)
    found = power or _NUMBER.fullmatch(text)
    if found is None:
        raise _refuse(text, "write digits with a decimal point, spaces between thousands")
    unit = _unit_exponent(text, found["unit"])
    scale, tail = Decimal(1).scaleb(unit), found["gap"] + found["unit"]
    negative = -1 if found["sign"] and found["sign"] in _MINUS else 1
    if power is not None:
        # 10⁶ stands for a one and six zeros, exactly, not for anything that rounds to it
        shown = _exponent(found["raised"])
        value = Decimal(1).scaleb(shown)
        decimals = max(0, -shown)
        half = Decimal(5).scaleb(-1 - decimals)
        return _Printed(negative * value * scale, half * scale, scale, decimals, False, tail)
    digits = re.sub(rf"[{_SPACES}]", "", found["mantissa"])
    decimals = len(found["decimals"] or "")
    exponent = _exponent(found["shift"] or found["raised"] or "0")
    if exponent:
        tail = text[found.end("mantissa") :]
    scale = scale.scaleb(exponent)
    half = Decimal(5).scaleb(-1 - decimals)
    grouped = digits != found["mantissa"]
    value = negative * Decimal(digits) * scale
    return _Printed(value, half * scale, scale, decimals, grouped, tail)


def parse_number(text: str) -> tuple[float, float]:
    """The value of a printed number in base units, and half a unit of its last digit.

    Thousands are set apart by a (thin, no-break) space, the decimal mark is a point; a percent
    sign, "×", an SI prefix before s, B, FLOP, FLOP/s, B/s, FLOP/B or W, the words thousand to
    trillion, and a plain noun may follow.  Raises ClaimError for anything else.

    >>> parse_number("29.2")
    (29.2, 0.05)
    >>> parse_number("10 945 tokens")
    (10945.0, 0.5)
    >>> parse_number("85 %")
    (0.85, 0.005)
    >>> parse_number("1.97 µs")
    (1.97e-06, 5e-09)
    >>> parse_number("−0.3"), parse_number("1.2e5"), parse_number("10⁶")
    ((-0.3, 0.05), (120000.0, 5000.0), (1000000.0, 0.5))
    """
    printed = _parse(text)
    return float(printed.value), float(printed.half_unit)


def _is_whole(value: Any) -> bool:
    """Whether a number is of an integer type; every array has an __index__, so its type decides."""
    if hasattr(value, "dtype"):
        return bool(value.dtype.kind in "iu")
    return hasattr(value, "__index__")


def _exact(text: str, value: Any) -> Decimal:
    """A computed number as an exact decimal; ClaimError for what is none."""
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    wrong = isinstance(value, (str, bytes, bytearray, bool)) or kind not in "iuf"
    if wrong or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"claim({text!r}, …) takes one computed number, not {value!r:.60}")
    if _is_whole(value):
        return Decimal(int(value))
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"claim({text!r}, …) takes one computed number, not {value!r:.60}"
        ) from None
    if not math.isfinite(number):
        raise ClaimError(f"the text says {text}, computed {number}: not a finite number")
    return Decimal(number)


def _six(number: Decimal) -> str:
    """Six significant digits, or a whole number as it is."""
    if number == number.to_integral_value() and abs(number) < 10**15:
        return str(int(number)).replace("-", "\u2212")
    return f"{float(number):.6g}".replace("-", "\u2212")


def claim(text: str, value: Any) -> None:
    """Assert that ``text``, a number as the prose prints it, is what ``value`` rounds to.

    ``value`` is in SI base units, or a plain ratio where the text has a percent sign.  Prints one
    line.  Raises ClaimError with the number that the text should show.

    >>> claim("29.2", 29.2259)
    29.2 ✓ computed 29.2259
    >>> claim("85 %", 0.8474)
    85 % ✓ computed 84.74 %
    """
    printed = _parse(text)
    number = _exact(text, value)
    off = abs(number - printed.value)
    # a computed 0.845 is a hair above or below it, and both neighbours are right then
    hair = 0.0 if _is_whole(value) else math.ulp(float(number))
    slack = printed.half_unit * Decimal("1e-9") + Decimal(hair)
    computed = _six(number / printed.scale) + printed.tail
    if off > printed.half_unit + slack:
        raise ClaimError(
            f"the text says {text}, computed {computed}: off by {float(off):.3g} where "
            f"{float(printed.half_unit):.3g} is allowed; the text should read "
            f"{printed.like(number)}"
        )
    print(f"{text} ✓ computed {computed}")


_BOLD = re.compile(r"\*\*(?!\s)(.+?)(?<!\s)\*\*|(?<!\w)__(?!\s)(.+?)(?<!\s)__(?!\w)", re.S)
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)|<!--.*?-->", re.M | re.S)
_LIKE_A_NUMBER = re.compile(rf"[≈~<>≤≥±+{_MINUS}]?\s*\.?\d")


def _normal(text: str) -> str:
    """One spelling for spaces and minus signs, and no mathematics delimiters."""
    text = text.strip(" *_$").replace(r"\,", " ").replace(r"\%", "%")
    return re.sub(rf"[{_SPACES}\n]+", " ", text).replace("-", "\u2212").strip()


def bold_numbers(markdown: str) -> list[str]:
    """The bold spans of a text that start like a number, in order; code does not count.

    A sign, "≈" or "<" before the digits still makes a number.  Spaces and minus signs are brought
    to one spelling, as in :func:`claimed_numbers`.

    >>> bold_numbers("Half are reached at **29.2** tokens, **not** at `**43**`.")
    ['29.2']
    """
    found = _BOLD.finditer(_CODE.sub("", markdown))
    spans = (_normal(span[1] or span[2]) for span in found)
    return [span for span in spans if _LIKE_A_NUMBER.match(span)]


def claimed_numbers(source: str) -> list[str]:
    """The numbers that the calls of ``claim`` in some Python code assert, in order.

    Raises ClaimError for a call whose number is not written out: a claim that is computed cannot
    be paired with the prose.

    >>> claimed_numbers('claim("29.2", x); sd.claims.claim("6", 6)')
    ['29.2', '6']
    """
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", None))
        if name != "claim":
            continue
        given = [*node.args, *(k.value for k in node.keywords if k.arg == "text")]
        first = given[0] if given else None
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            raise ClaimError(f"line {node.lineno}: write the number of claim(…) out as text")
        found.append((node.lineno, node.col_offset, _normal(first.value)))
    return [text for _, _, text in sorted(found)]
