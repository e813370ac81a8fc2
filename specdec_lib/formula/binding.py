"""Binding: numbers, and expressions over other symbols, in the place of symbols.

The page and the chart show the expression in which they stand; :mod:`specdec_lib.formula.equation`
computes with the equation as it was written and takes them as arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from specdec_lib.formula.domain import as_float, check
from specdec_lib.symbols import UNITS, quantity

#: The largest exponent to which a fraction is raised exactly.  Beyond it the digits fill pages, and
#: soon the memory.
_MOST_EXACT = 1024


def bound_expression(title: str, keyword: str, value: Any) -> sympy.Expr:
    """What :meth:`~specdec_lib.formula.equation.Formula.where` puts in the place of a symbol.

    Raises TypeError for what is neither one real number nor an expression over the notation,
    DomainError for a number outside the domain of its symbol; ``title`` names the formula.
    """
    if isinstance(value, sympy.Expr):
        if not value.is_number:
            _refuse_foreign(title, keyword, value)
            return value
        value = _evaluated(title, keyword, value)
    number = as_float(keyword, value)
    if np.ndim(number) != 0:
        raise TypeError(f"{title}: where({keyword}=…) takes one number, not an array")
    check(title, {keyword: number})
    number = float(number)
    return sympy.Integer(int(number)) if number.is_integer() else sympy.Float(number)


def put_in(expression: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """``expression`` with these in the place of its symbols, all at once.

    Exact, but for powers that nobody could write out: those are rounded to floating point.
    """
    numbers = {symbol: e for symbol, e in values.items() if e.is_number}
    rounded = expression.replace(
        lambda node: isinstance(node, sympy.Pow) and node.free_symbols <= numbers.keys(),
        lambda power: _rounded(power, numbers),
    )
    # one after another keeps the order of SymPy's arithmetic, unless one puts in what another
    # replaces
    chained = any(e.free_symbols & values.keys() for e in values.values())
    return rounded.subs(values, simultaneous=chained)


def _rounded(power: sympy.Pow, numbers: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """A power of known numbers in floating point if its exponent is large; as it was otherwise."""
    base, exponent = (part.subs(numbers) for part in power.as_base_exp())
    large = exponent.is_Integer and abs(exponent) > _MOST_EXACT
    return sympy.Float(base) ** exponent if large and base.is_Rational else power


def _refuse_foreign(title: str, keyword: str, value: sympy.Expr) -> None:
    """Raise TypeError for a symbol that is not the notation's own object of its name."""
    for symbol in sorted(value.free_symbols - set(UNITS), key=str):
        try:
            own = quantity(symbol.name).symbol == symbol
        except KeyError:
            own = False
        if not own:
            raise TypeError(
                f"{title}: where({keyword}={value}) has a symbol {symbol} that is not of the "
                f"notation; take symbols from specdec_lib.symbols"
            )


def _evaluated(title: str, keyword: str, value: sympy.Expr) -> float:
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{title}: where({keyword}={value}) is no real number") from None
