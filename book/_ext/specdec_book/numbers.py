"""Numbers as a table of facts prints them: six significant digits, prefixes, thin spaces."""

from __future__ import annotations

import math

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
    least = -9 if unit == "s" else 0  # no one counts in thousandths of a byte
    power = max(3 * math.floor(math.log10(abs(rounded)) / 3), least)
    power = min(power, max(_PREFIX_OF))
    return f"{grouped(float(f'{rounded / 10.0**power:.6g}'))} {_PREFIX_OF[power]}{unit}"
