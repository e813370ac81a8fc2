"""The same expression in a form that floating point evaluates without cancellation.

A Formula is written as the page shows it: 1 − (1 − k/E)ⁿ, ln(1 − k/E).  For few tokens or rare
experts these subtract nearly equal numbers.  :func:`stable` rewrites them with ``expm1`` and
``log1p``; NumPy and Vega both evaluate the rewritten form, SymPy keeps the one on the page, and
the three are tested against each other.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy.codegen.cfunctions import log1p

from specdec_lib.symbols import UNITS


class OneMinusPower(sympy.Function):  # type: ignore[misc]
    """1 − (1 − q)ⁿ as one function ``OneMinusPower(q, n)``, evaluated as −expm1(n·log1p(−q))."""

    nargs = 2


def _one_minus_powers(expression: sympy.Add) -> sympy.Expr:
    """Turn each pair  a − a·xⁿ  of a sum into  a·OneMinusPower(1 − x, n)."""
    constant, terms = expression.as_coeff_Add()
    rest: list[sympy.Expr] = []
    for term in sympy.Add.make_args(terms):
        factor, power = term.as_coeff_Mul()
        takes = -factor
        if isinstance(power, sympy.Pow) and not power.exp.is_number and 0 < takes <= constant:
            constant -= takes
            rest.append(takes * OneMinusPower(1 - power.base, power.exp))
        else:
            rest.append(term)
    return sympy.Add(constant, *rest)


def _is_log_near_one(node: Any) -> bool:
    return (
        isinstance(node, sympy.log)
        and isinstance(node.args[0], sympy.Add)
        and node.args[0].as_coeff_Add()[0] == 1
    )


def stable(expression: sympy.Expr) -> sympy.Expr:
    """Rewrite ``expression`` so that it does not cancel; it stays equal to what it was."""
    rewritten = expression.replace(lambda node: isinstance(node, sympy.Add), _one_minus_powers)
    return rewritten.replace(_is_log_near_one, lambda node: log1p(node.args[0] - 1))


def bare(expression: sympy.Expr) -> sympy.Expr:
    """``expression`` without its units: FLOP, BYTE and SECOND count as one."""
    return expression.subs(dict.fromkeys(UNITS, 1))
