"""SI prefixes: the one table by which numbers are shown in other than base units and read back.

Code computes in base units throughout; an axis in ms or a claim in TB/s goes through here.
"""

from __future__ import annotations

__all__ = ["PREFIXES", "exponent"]

#: Power of ten of each prefix.  The micro sign is accepted in both of its code points.
PREFIXES: dict[str, int] = {
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "m": -3,
    "µ": -6,
    "μ": -6,
    "n": -9,
}


def exponent(shown: str, base: str) -> int:
    """The power of ten between a ``shown`` unit and its ``base``: "TB/s" and "B/s" give 12.

    Raises ValueError where ``shown`` is not ``base`` behind one of :data:`PREFIXES`.

    >>> exponent("ms", "s")
    -3
    >>> exponent("FLOP/B", "FLOP/B")
    0
    """
    prefix = shown.removesuffix(base)
    if not shown.endswith(base) or prefix not in PREFIXES:
        known = ", ".join(p for p in PREFIXES if p)
        raise ValueError(f"unit {shown!r} is not {base!r}, alone or behind a prefix ({known})")
    return PREFIXES[prefix]
