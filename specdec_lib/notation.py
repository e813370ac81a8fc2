"""The table behind the notation: how a symbol enters it, and how it is looked up.

The symbols themselves are in :mod:`specdec_lib.symbols`, which everything else imports.
"""

from __future__ import annotations

import math
from dataclasses import replace

import sympy

from specdec_lib.quantity import Quantity

#: Every symbol by keyword, in the order of the notation page.
SYMBOLS: dict[str, Quantity] = {}

#: Symbols that stand for a vector of quantities, one symbol an element (p_1, p_2, …).
INDEXED: tuple[str, ...] = ("alpha", "sigma", "share", "p", "q", "h")

_places: dict[str, int] = {}


def declare(
    keyword: str,
    latex: str,
    unit: sympy.Expr,
    meaning: str,
    *,
    low: float = 0.0,
    high: float = math.inf,
    positive: bool = False,
) -> sympy.Symbol:
    """Enter a symbol in the table; ``positive`` opens a domain that starts at zero.

    Raises ValueError for a keyword that is taken.
    """
    if keyword in SYMBOLS:
        raise ValueError(f"symbol {keyword!r} is declared twice")
    known = Quantity(keyword, latex, unit, meaning, low, high, low_open=positive)
    _places[keyword] = len(SYMBOLS)
    SYMBOLS[keyword] = known
    return known.symbol


def indexed(keyword: str, index: int) -> sympy.Symbol:
    """Element ``index`` (from 1) of a vector symbol: ``indexed("p", 2)`` is p₂.

    Raises ValueError for a symbol that is not one of :data:`INDEXED` or an index below 1.
    """
    if keyword not in INDEXED:
        raise ValueError(f"{keyword!r} has no elements; vectors are {', '.join(INDEXED)}")
    if index < 1:
        raise ValueError(f"elements are counted from 1, not {index}")
    return quantity(f"{keyword}_{index}").symbol


def quantity(keyword: str) -> Quantity:
    """The Quantity behind a keyword, elements of vectors (``"p_2"``) included.

    Raises KeyError for an unknown keyword.
    """
    if keyword in SYMBOLS:
        return SYMBOLS[keyword]
    stem, _, index = keyword.rpartition("_")
    if stem in INDEXED and index.isdigit():
        whole = SYMBOLS[stem]
        meaning = f"{whole.meaning} (element {index})"
        return replace(whole, keyword=keyword, latex=f"{whole.latex}_{{{index}}}", meaning=meaning)
    raise KeyError(f"no symbol {keyword!r}; the notation has {', '.join(SYMBOLS)}")


def notation_order(keyword: str) -> tuple[int, int]:
    """The place of a keyword in the notation; elements of a vector follow their symbol.

    Raises KeyError for an unknown keyword.
    """
    if keyword in SYMBOLS:
        return _places[keyword], 0
    quantity(keyword)
    stem, _, index = keyword.rpartition("_")
    return _places[stem], int(index)
