"""SymPy → LaTeX in the notation of the book: its names, its order of factors, upright units."""

from __future__ import annotations

import sympy
from sympy.printing.latex import LatexPrinter

from specdec_lib.symbols import BYTE, FLOP, SECOND, UNITS, notation_order, quantity

#: What reads like a coefficient and so leads its product: f·T·S, m_c·S, P·b.
_LEADING = ("f", "m_c", "m_q", "f_s", "P", "P_e", "P_a", "ridge", "bandwidth")


def unit_text(unit: sympy.Expr) -> str:
    """A unit as plain text: ``"FLOP/B"``, ``"s"``, ``"1"``."""
    powers = unit.as_powers_dict()
    names = {FLOP: "FLOP", BYTE: "B", SECOND: "s"}
    above = [name for symbol, name in names.items() if powers.get(symbol, 0) > 0]
    below = [name for symbol, name in names.items() if powers.get(symbol, 0) < 0]
    return (" ".join(above) or "1") + "".join(f"/{name}" for name in below)


def _factor_order(factor: sympy.Expr) -> tuple[int, tuple[int, int], str]:
    """Numbers, leading symbols, symbols as in the notation, then everything composite."""
    base = factor.as_base_exp()[0]
    if factor.is_number:
        return 0, (0, 0), str(factor)
    if base in UNITS:
        return 5, (0, 0), str(factor)
    if not base.is_Symbol:
        return 4, (0, 0), str(factor)
    try:
        place = notation_order(base.name)
    except KeyError:
        return 3, (0, 0), str(factor)  # the left-hand side of a sub-formula
    return (1 if base.name in _LEADING else 2), place, str(factor)


class _BookPrinter(LatexPrinter):  # type: ignore[misc]
    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:
        if expr in UNITS:
            return rf"\mathrm{{{unit_text(expr)}}}"
        try:
            return quantity(expr.name).latex
        except KeyError:
            return str(expr.name)

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        """Terms with a minus sign come last, so that no sum starts with one if it need not."""
        terms = super()._as_ordered_terms(expr, order=order)
        return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))

    def _product(self, expr: sympy.Expr) -> str:
        """A product without a denominator."""
        factors = sorted(sympy.Mul.make_args(expr), key=_factor_order)
        printed = ""
        for factor in factors:
            if factor in UNITS:
                printed += (r"\," if printed else "") + self._print(factor)
                continue
            # a sum needs parentheses inside a product, and only there
            alone = len(factors) == 1
            text = self._print(factor)
            if factor.is_Add and not alone:
                text = rf"\left({text}\right)"
            elif factor.is_number and printed:
                text = rf"\cdot {text}"
            printed += (" " if printed else "") + text
        return printed

    def _print_Mul(self, expr: sympy.Mul) -> str:
        if expr.could_extract_minus_sign():
            rest = -expr
            text = self._print(rest)
            return f"- {text}" if not rest.is_Add else rf"- \left({text}\right)"
        above, below = sympy.fraction(expr, exact=True)
        if below == 1:
            return self._product(expr)
        units = [a for a in sympy.Mul.make_args(above) if a in UNITS]
        tail = "".join(rf"\,{self._print(u)}" for u in units)
        above = sympy.Mul(*(a for a in sympy.Mul.make_args(above) if a not in units))
        return rf"\frac{{{self._product(above)}}}{{{self._product(below)}}}" + tail


def latex(expression: sympy.Expr) -> str:
    """``expression`` in LaTeX, without delimiters."""
    printer = _BookPrinter({"fold_short_frac": False, "ln_notation": True})
    return str(printer.doprint(expression))
