"""Claims: a number in the prose, held against the number that the code computes.

A chapter prints a number in bold as the reader should see it, and asserts it in the same section:
``claim("29.2", half_of_the_experts)``.  What is printed must be what the value rounds to, so a
changed constant, equation or fact cannot leave a wrong sentence behind.
"""

from __future__ import annotations

import ast
import math
import re
from decimal import Decimal
from typing import Any

from specdec_lib.printed import MINUS, SPACES, ClaimError, parse_number, read

__all__ = ["ClaimError", "bold_numbers", "claim", "claimed_numbers", "parse_number"]


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
    return _short(number, 6).replace("-", "\u2212")


def _short(number: Decimal, digits: int) -> str:
    """Some significant digits, also of what no float holds."""
    held = float(number)
    return f"{held if math.isfinite(held) else number:.{digits}g}"


def claim(text: str, value: Any) -> None:
    """Assert that ``text``, a number as the prose prints it, is what ``value`` rounds to.

    ``value`` is in SI base units, or a plain ratio where the text has a percent sign.  Prints one
    line.  Raises ClaimError with the number that the text should show.

    >>> claim("29.2", 29.2259)
    29.2 ✓ computed 29.2259
    >>> claim("85 %", 0.8474)
    85 % ✓ computed 84.74 %
    """
    printed = read(text)
    number = _exact(text, value)
    off = abs(number - printed.value)
    # a computed 0.845 is a hair above or below it, and both neighbours are right then
    hair = 0.0 if _is_whole(value) else math.ulp(float(number))
    slack = printed.half_unit * Decimal("1e-9") + Decimal(hair)
    computed = _six(number / printed.scale) + printed.tail
    if off > printed.half_unit + slack:
        raise ClaimError(
            f"the text says {text}, computed {computed}: off by {_short(off, 3)} where "
            f"{_short(printed.half_unit, 3)} is allowed; the text should read "
            f"{printed.like(number)}"
        )
    print(f"{text} ✓ computed {computed}")


_BOLD = re.compile(r"\*\*(?!\s)(.+?)(?<!\s)\*\*|(?<!\w)__(?!\s)(.+?)(?<!\s)__(?!\w)", re.S)
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)|<!--.*?-->", re.M | re.S)
_LIKE_A_NUMBER = re.compile(rf"[≈~<>≤≥±+{MINUS}]?\s*\.?\d")


def _normal(text: str) -> str:
    """One spelling for spaces and minus signs, and no mathematics delimiters."""
    text = text.strip(" *_$").replace(r"\,", " ").replace(r"\%", "%")
    return re.sub(rf"[{SPACES}\n]+", " ", text).replace("-", "\u2212").strip()


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
