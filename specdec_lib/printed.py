"""Numbers as the prose prints them, read back: value, precision, unit and spelling."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from specdec_lib.prefixes import PREFIXES

__all__ = ["MINUS", "SPACES", "ClaimError", "Printed", "parse_number", "read"]


class ClaimError(AssertionError):
    """The number in the text is not what the value rounds to, or cannot be read as a number."""


SPACES = " \u00a0\u2009\u202f"
MINUS = "\u2212-"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_WORDS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
#: Nouns that change a number or name a unit, so that reading them as things counted misleads: each
#: with what to write.
_SPELLED_OUT = {
    **dict.fromkeys(("percent", "percentage", "permille"), "write %"),
    **dict.fromkeys(("thousands", "millions", "billions", "trillions"), "write the singular"),
    **dict.fromkeys(("dozen", "dozens", "hundred", "hundreds", "score"), "write digits"),
    **dict.fromkeys(("half", "third", "thirds", "quarter", "quarters"), "write decimals"),
    **dict.fromkeys(
        ("seconds", "minutes", "hours", "days", "weeks"), "write s behind an SI prefix"
    ),
    **dict.fromkeys(
        ("byte", "bytes", "bits", "flop", "flops"), "write B or FLOP behind an SI prefix"
    ),
    **dict.fromkeys(("watt", "watts", "joule", "joules"), "write W behind an SI prefix"),
}
_PREFIXED = re.compile("(kilo|mega|giga|tera|peta|milli|micro|nano)(bytes?|seconds?|flops?|watts?)")

#: A literal is a few digits; nothing in this book is above or below these powers of ten.
_LONGEST, _HIGHEST = 60, 99

_UNITS = ("FLOP/s", "FLOP/B", "B/s", "FLOP", "B", "s", "W")

_SIGN = rf"(?P<sign>[+{MINUS}]?)"
_WHOLE = rf"(?:[1-9]\d{{0,2}}(?:[{SPACES}]\d{{3}})+|0|[1-9]\d*)"
_RAISED = "(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
_SHIFT = rf"(?:[eE](?P<shift>[+{MINUS}]?\d+)|[{SPACES}]?[×·][{SPACES}]?10{_RAISED})?"
_TAIL = rf"(?![\d.])(?P<gap>[{SPACES}]?)(?P<unit>.*)"
_NUMBER = re.compile(rf"{_SIGN}(?P<mantissa>{_WHOLE}(?:\.(?P<decimals>\d+))?){_SHIFT}{_TAIL}")
_POWER = re.compile(rf"{_SIGN}10{_RAISED}{_TAIL}")


@dataclass(frozen=True)
class Printed:
    """A literal, taken apart: its exact value, half a unit of its last digit, and how it looks."""

    value: Decimal
    half_unit: Decimal
    scale: Decimal  # size of the printed unit
    decimals: int
    grouped: bool
    tail: str

    def like(self, number: Decimal) -> str:
        """``number`` written the way this literal is."""
        try:
            rounded = round(number / self.scale, self.decimals)
        except InvalidOperation:  # more digits than anyone would print
            return f"{number / self.scale:.3g}{self.tail}"
        text = f"{rounded:,f}" if self.grouped else f"{rounded:f}"
        return text.replace(",", "\u202f").replace("-", "\u2212") + self.tail


def _refuse(text: str, why: str) -> ClaimError:
    return ClaimError(f"{text!r} is no number that can be checked: {why}")


def _exponent(text: str, raised: str) -> int:
    exponent = int(raised.translate(_SUPERSCRIPTS).replace("\u2212", "-"))
    if abs(exponent) > _HIGHEST:
        raise _refuse(text, f"a power of ten beyond {_HIGHEST}")
    return exponent


def _unit_exponent(text: str, unit: str) -> int:
    """The power of ten that a unit, a percent sign or a word stands for."""
    word = unit.strip(SPACES)
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
    if word in _SPELLED_OUT:
        raise _refuse(text, f"{word!r} is no thing that is counted: {_SPELLED_OUT[word]}")
    if _PREFIXED.fullmatch(word):
        raise _refuse(text, f"{word!r} is a unit: write its symbol")
    if re.fullmatch(r"[a-zé]{4,}", word):  # "tokens", "experts": a count of something
        return 0
    known = ", ".join((*_UNITS, "%", "×", *_WORDS))
    raise _refuse(text, f"unit {word!r} is none of {known} (SI prefixes allowed) nor a plain noun")


def read(text: str) -> Printed:
    """A printed number taken apart; ClaimError for what is none, TypeError for what is no text."""
    if not isinstance(text, str):
        raise TypeError(f"a claim starts with the number as the prose prints it, not {text!r}")
    if len(text) > _LONGEST:
        raise _refuse(f"{text[:20]}…", f"it has {len(text)} characters; write {_LONGEST} at most")
    if re.search(r"\d,\d", text):
        raise _refuse(text, "a comma may separate thousands or decimals; write 10 945 or 1.5")
    power = _POWER.fullmatch(text)
    found = power or _NUMBER.fullmatch(text)
    if found is None:
        raise _refuse(text, "write digits with a decimal point, spaces between thousands")
    unit = _unit_exponent(text, found["unit"])
    scale, tail = Decimal(1).scaleb(unit), found["gap"] + found["unit"]
    negative = -1 if found["sign"] and found["sign"] in MINUS else 1
    if power is not None:
        # 10⁶ stands for a one and six zeros, exactly, not for anything that rounds to it
        shown = _exponent(text, found["raised"])
        value = Decimal(1).scaleb(shown)
        decimals = max(0, -shown)
        half = Decimal(5).scaleb(-1 - decimals)
        return Printed(negative * value * scale, half * scale, scale, decimals, False, tail)
    digits = re.sub(rf"[{SPACES}]", "", found["mantissa"])
    decimals = len(found["decimals"] or "")
    exponent = _exponent(text, found["shift"] or found["raised"] or "0")
    if exponent:
        tail = text[found.end("mantissa") :]
    scale = scale.scaleb(exponent)
    half = Decimal(5).scaleb(-1 - decimals)
    grouped = digits != found["mantissa"]
    value = negative * Decimal(digits) * scale
    return Printed(value, half * scale, scale, decimals, grouped, tail)


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
    printed = read(text)
    return float(printed.value), float(printed.half_unit)
