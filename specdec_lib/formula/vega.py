"""SymPy → Vega: a Formula as the expression string that a chart computes with.

Vega's expression language is a small subset of JavaScript.  It has no ``expm1`` or ``log1p``, so
both are spelt out by Kahan's identities, which lose no digits either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
import sympy
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from specdec_lib.formula.numeric import one_minus_power
from specdec_lib.formula.stable import stable

_FUNCTIONS = {
    sympy.Abs: "abs",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.floor: "floor",
    sympy.ceiling: "ceil",
    sympy.Max: "max",
    sympy.Min: "min",
}
#: Names that Vega's expressions take for numbers of their own, whatever signals there are.
_CONSTANTS = frozenset(
    (
        "E",
        "LN10",
        "LN2",
        "LOG10E",
        "LOG2E",
        "MAX_VALUE",
        "MIN_VALUE",
        "NaN",
        "PI",
        "SQRT1_2",
        "SQRT2",
    )
)
#: Words that are no names in its grammar, and the row of data itself, which is no number.
_WORDS = (
    "break case catch class const continue datum debugger default delete do else enum export "
    "extends false finally for function if implements import in instanceof interface let new "
    "null package private protected public return static super switch this throw true try "
    "typeof undefined var void while with yield"
)
_RESERVED = frozenset(_WORDS.split())
_REFERENCE = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*|\[\d+\])*")


def _log1p(x: str) -> str:
    """ln(1 + x) for a printed ``x``, exact to the last digits also where 1 + x rounds to 1."""
    return f"((1 + {x}) === 1 ? {x} : log(1 + {x})*{x}/((1 + {x}) - 1))"


def _minus_expm1(x: str) -> str:
    """1 − exp(x) for a printed ``x``, exact to the last digits also where exp(x) rounds to 1."""
    return f"(exp({x}) === 1 ? -{x} : exp({x}) === 0 ? 1 : (1 - exp({x}))*{x}/log(exp({x})))"


class _VegaPrinter(StrPrinter):  # type: ignore[misc]
    """Prints what Formulas are made of, and refuses the rest rather than print a wrong name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__({"full_prec": False})
        self._names = names

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        return self._names.get(expr.name, expr.name)

    def _print_Integer(self, expr: sympy.Integer) -> str:
        return str(int(expr))

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return f"({expr.p}/{expr.q})"

    def _print_Half(self, expr: sympy.Rational) -> str:
        return "0.5"

    def _print_Float(self, expr: sympy.Float) -> str:
        return repr(float(expr))

    def _print_Infinity(self, expr: sympy.Expr) -> str:
        return "(1/0)"  # Vega's expressions have no name for it

    def _print_Pi(self, expr: sympy.Expr) -> str:
        return "PI"

    def _print_Mul(self, expr: sympy.Mul) -> str:
        if expr.could_extract_minus_sign():
            return f"-{self.parenthesize(-expr, PRECEDENCE['Mul'])}"
        above, below = sympy.fraction(expr, exact=True)
        if below == 1 or below.is_number:
            return "*".join(self.parenthesize(a, PRECEDENCE["Mul"]) for a in expr.args)
        over = self.parenthesize(below, PRECEDENCE["Pow"])
        return f"{self.parenthesize(above, PRECEDENCE['Mul'])}/{over}"

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:
        base, exponent = expr.as_base_exp()
        if exponent == -1:
            return f"1/{self.parenthesize(base, PRECEDENCE['Pow'])}"
        if exponent == sympy.S.Half:
            return f"sqrt({self._print(base)})"
        return f"pow({self._print(base)}, {self._print(exponent)})"

    def _print_Function(self, expr: sympy.Function) -> str:
        name = _FUNCTIONS.get(expr.func)
        if name is None:
            raise ValueError(f"Vega has no function for {expr.func.__name__}: {expr}")
        return f"{name}({', '.join(self._print(a) for a in expr.args)})"

    _print_Max = _print_Min = _print_Abs = _print_exp = _print_Function
    _print_floor = _print_ceiling = _print_Function

    def _print_log(self, expr: sympy.Expr) -> str:
        # near one the chart could not tell a fraction from it; two signs in a row are no number
        return f"({float(expr)!r})" if expr.is_number else self._print_Function(expr)

    def _print_log1p(self, expr: sympy.Expr) -> str:
        return _log1p(f"({self._print(expr.args[0])})")

    def _print_OneMinusPower(self, expr: sympy.Expr) -> str:
        if all(argument.is_number for argument in expr.args):
            with np.errstate(divide="ignore"):  # ln 0 where nothing is missed
                return repr(float(one_minus_power(*map(float, expr.args))))
        q, n = (f"({self._print(a)})" for a in expr.args)
        if expr.args[1] in (0, 1):
            return "0" if expr.args[1] == 0 else q
        known = expr.args[0].is_number and expr.args[0] < 1
        log = f"({math.log1p(-float(expr.args[0]))!r})" if known else _log1p(f"(-{q})")
        many = _minus_expm1(f"({n}*{log})")
        # 0·log(0) is NaN in JavaScript, but anything to the power zero is one
        chosen = many if expr.args[1].is_number else f"{n} === 0 ? 0 : {n} === 1 ? {q} : {many}"
        return f"({chosen})"

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        *cases, last = expr.args
        if last.cond != sympy.true:
            raise ValueError(f"the last case of a Piecewise must hold always: {expr}")
        printed = self._print(last.expr)
        for case in reversed(cases):
            printed = f"({self._print(case.cond)} ? {self._print(case.expr)} : {printed})"
        return f"({printed})"

    def _print_Relational(self, expr: sympy.core.relational.Relational) -> str:
        operator = {"==": "===", "!=": "!=="}.get(expr.rel_op, expr.rel_op)
        return f"({self._print(expr.lhs)} {operator} {self._print(expr.rhs)})"

    def _print_And(self, expr: sympy.And) -> str:
        return "(" + " && ".join(self._print(a) for a in expr.args) + ")"

    def _print_Or(self, expr: sympy.Or) -> str:
        return "(" + " || ".join(self._print(a) for a in expr.args) + ")"

    def _print_Not(self, expr: sympy.Not) -> str:
        return f"(!{self._print(expr.args[0])})"

    def _print_ITE(self, expr: sympy.logic.boolalg.ITE) -> str:
        condition, then, otherwise = (self._print(a) for a in expr.args)
        return f"({condition} ? {then} : {otherwise})"

    def _print_BooleanTrue(self, expr: sympy.logic.boolalg.BooleanTrue) -> str:
        return "true"

    def _print_BooleanFalse(self, expr: sympy.logic.boolalg.BooleanFalse) -> str:
        return "false"

    def emptyPrinter(self, expr: object) -> str:
        raise ValueError(f"cannot be written in Vega: {type(expr).__name__} in {expr!r}")


def vega_expression(expression: sympy.Expr, names: Mapping[str, str | float]) -> str:
    """``expression`` in Vega's expression language.

    ``names`` maps a symbol's keyword to what stands for it in the chart: the name of a signal
    (``"experts"``), a field (``"datum.n"``) or a number.  A symbol that is not named stands for
    itself.  Raises ValueError where a name is no Vega reference, is a word or a constant of Vega's
    own (``E`` is Euler's number there), or the expression has no Vega form.
    """
    printed: dict[str, str] = {}
    for keyword in sorted({symbol.name for symbol in expression.free_symbols} | set(names)):
        name = names.get(keyword, keyword)
        printed[keyword] = (
            _reference(keyword, name) if isinstance(name, str) else f"({float(name)!r})"
        )
    return str(_VegaPrinter(printed).doprint(stable(expression)))


def _reference(keyword: str, name: str) -> str:
    """``name`` if Vega takes it for a signal or a field; ValueError otherwise."""
    if not _REFERENCE.fullmatch(name):
        raise ValueError(f"{keyword}: {name!r} is not a Vega signal or field name")
    first = re.split(r"[.[]", name, maxsplit=1)[0]
    field = first == "datum" and first != name
    if first in _CONSTANTS or (first in _RESERVED and not field):
        what = "constant" if first in _CONSTANTS else "word"
        raise ValueError(
            f"{keyword}: {first!r} is a {what} of Vega's own; give the signal or field "
            f'another name, such as {keyword}="slider_{keyword}"'
        )
    return name
