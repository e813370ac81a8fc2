"""Numbers as a table of facts prints them: six significant digits, prefixes, thin spaces."""

from __future__ import annotations

import math
from collections.abc import Iterable

from specdec_lib.prefixes import PREFIXES

THIN = "\N{NARROW NO-BREAK SPACE}"
_PREFIX_OF = {power: prefix for prefix, power in reversed(PREFIXES.items())}


def grouped(value: float) -> str:
    """A number with its thousands apart.

    >>> grouped(8000.0).replace(THIN, " "), grouped(25.2e6).replace(THIN, " "), grouped(0.53125)
    ('8 000', '25 200 000', '0.53125')
    """
    decimals = max(0, 6 - len(str(int(abs(value)))))
    text = f"{value:,.{decimals}f}" if abs(value) >= 1 else f"{value:.6g}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(",", THIN).replace("-", "\N{MINUS SIGN}")


def common_unit(values: Iterable[float], unit: str) -> tuple[str, float]:
    """The unit for a column of values, prefix included, and its size: that of the least of them.

    >>> common_unit([3.08e-5, 1.046e-3], "s"), common_unit([1.0, 512.0], "1")
    (('µs', 1e-06), ('1', 1.0))
    """
    sizes = [abs(value) for value in values if value != 0]
    if unit in ("1", "FLOP/B") or not sizes:
        return unit, 1.0
    power = _power(min(sizes), unit)
    return _PREFIX_OF[power] + unit, 10.0**power


def _power(size: float, unit: str) -> int:
    """The power of ten of the prefix that reads best before a value of some size."""
    least = -9 if unit == "s" else 0  # no one counts in thousandths of a byte
    return min(max(3 * math.floor(math.log10(size) / 3), least), max(_PREFIX_OF))


def with_unit(value: float, unit: str) -> str:
    """A number in base units behind the prefix that reads best.

    >>> with_unit(3.35e12, "B/s"), with_unit(1.98e-5, "s"), with_unit(6.0, "1")
    ('3.35 TB/s', '19.8 µs', '6')
    """
    if unit == "1":
        return grouped(value)
    if value == 0 or unit == "FLOP/B":
        return f"{grouped(value)} {unit}"
    rounded = float(f"{value:.6g}")
    power = _power(abs(rounded), unit)
    return f"{grouped(float(f'{rounded / 10.0**power:.6g}'))} {_PREFIX_OF[power]}{unit}"
