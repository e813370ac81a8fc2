"""Quantity: what is known of one symbol; and the units that all of them are counted in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import sympy

#: Units.  A Formula carries them as symbols (2 FLOP a multiply-add); each is 1 when it computes.
FLOP: sympy.Symbol = sympy.Symbol("FLOP", positive=True)
BYTE: sympy.Symbol = sympy.Symbol("BYTE", positive=True)
SECOND: sympy.Symbol = sympy.Symbol("SECOND", positive=True)
UNITS: tuple[sympy.Symbol, ...] = (FLOP, BYTE, SECOND)
ONE: sympy.Expr = sympy.Integer(1)


@dataclass(frozen=True)
class Quantity:
    """What is known of one symbol.

    ``low`` and ``high`` bound its domain, which is closed unless ``low_open`` or ``high_open``;
    ``unit`` is a SymPy expression over FLOP, BYTE and SECOND.
    """

    keyword: str
    latex: str
    unit: sympy.Expr
    meaning: str
    low: float = 0.0
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    @property
    def symbol(self) -> sympy.Symbol:
        """The SymPy symbol; its assumptions follow from the domain."""
        positive = self.low > 0 or (self.low == 0 and self.low_open)
        assumption = {"positive": True} if positive else {"nonnegative": True}
        return sympy.Symbol(self.keyword, real=True, **assumption)

    @property
    def domain(self) -> str:
        """The domain in interval notation, as error messages and the notation page print it."""
        left = "(" if self.low_open else "["
        right = ")" if self.high_open or math.isinf(self.high) else "]"
        high = "∞" if math.isinf(self.high) else f"{self.high:g}"
        return f"{left}{self.low:g}, {high}{right}"
