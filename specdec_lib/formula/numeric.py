"""SymPy → NumPy: a Formula as a vectorised function.

The function is built once per Formula from its numerically stable form.  It broadcasts, and every
branch of a Piecewise is evaluated and then selected, so warnings of the branch not taken are off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy
from sympy.printing.numpy import NumPyPrinter

from specdec_lib.formula.stable import bare, stable
from specdec_lib.symbols import UNITS, notation_order


class _Printer(NumPyPrinter):  # type: ignore[misc]
    """SymPy's NumPy printer, with functions that every array type of NumPy's protocols has."""

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        *cases, last = expr.args
        printed: str = self._print(last.expr) if last.cond == sympy.true else self._print(sympy.nan)
        if last.cond != sympy.true:
            cases = list(expr.args)
        where = self._module_format("numpy.where")
        for case in reversed(cases):
            printed = f"{where}({self._print(case.cond)}, {self._print(case.expr)}, {printed})"
        return printed

    def _fold(self, function: str, expr: sympy.Expr) -> str:
        """A function of two arguments, applied over all of them."""
        name = self._module_format(function)
        printed: str = self._print(expr.args[0])
        for argument in expr.args[1:]:
            printed = f"{name}({printed}, {self._print(argument)})"
        return printed

    def _print_Max(self, expr: sympy.Max) -> str:
        return self._fold("numpy.maximum", expr)

    def _print_Min(self, expr: sympy.Min) -> str:
        return self._fold("numpy.minimum", expr)

    def _print_And(self, expr: sympy.And) -> str:
        return self._fold("numpy.logical_and", expr)  # its own reduce(…) does not broadcast

    def _print_Or(self, expr: sympy.Or) -> str:
        return self._fold("numpy.logical_or", expr)


def one_minus_power(q: Any, n: Any) -> Any:
    """1 − (1 − q)ⁿ without cancellation.

    0·log(0) counts as 0, for x⁰ = 1; and n = 1 gives q itself, so that a draft of no tokens commits
    exactly one.
    """
    many = -np.expm1(np.where(n == 0, 0.0, n * np.log1p(-q)))
    return np.where(n == 1, q, many)


def numpy_function(expression: sympy.Expr, arguments: Sequence[sympy.Symbol]) -> Callable[..., Any]:
    """A vectorised function of ``arguments``, in this order, that computes ``expression``.

    Units in the expression (FLOP, BYTE, SECOND) count as one.
    """
    expression = bare(expression)
    absent = [i for i, symbol in enumerate(arguments) if symbol not in expression.free_symbols]
    compiled = sympy.lambdify(
        list(arguments),
        stable(expression),
        modules=[{"OneMinusPower": one_minus_power}, "numpy"],
        printer=_Printer({"fully_qualified_modules": False, "allow_unknown_functions": True}),
        cse=True,
    )

    def evaluate(*values: Any) -> Any:
        with np.errstate(all="ignore"):
            # adding zero gives the value the shape of arguments that it does not depend on
            result = compiled(*values) + sum(0.0 * values[i] for i in absent)
        # cases that are whole numbers make an array of integers
        return result if getattr(result, "dtype", None) == np.float64 else _as_float64(result)

    return evaluate


def _as_float64(result: Any) -> Any:
    """A number or an array of any type of NumPy's protocols, in double precision."""
    return result.astype(np.float64) if hasattr(result, "astype") else np.float64(result)


def scalar_function(expression: sympy.Expr) -> tuple[tuple[str, ...], Callable[..., Any]]:
    """The keywords that ``expression`` depends on, in the order of the notation, and a function of
    their values.  A number is one whatever its size, which compiled code would not make of it."""
    if expression.is_number:
        number = np.float64(expression)
        return (), lambda: number
    free = [symbol for symbol in expression.free_symbols if symbol not in UNITS]
    free.sort(key=lambda symbol: notation_order(symbol.name))
    return tuple(symbol.name for symbol in free), numpy_function(expression, free)
