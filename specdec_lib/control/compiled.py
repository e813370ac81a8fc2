"""Formulas for the inner loop: the same equations without the checks of their arguments.

A policy decides between two steps of an engine.  Its inputs are its own counters, which are in
their domains by construction, and the checks of a Formula take longer than everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from specdec_lib.formula import Formula
from specdec_lib.formula.stable import bare
from specdec_lib.symbols import quantity


def compiled(formula: Formula, *keywords: str) -> Callable[..., Any]:
    """The right-hand side as a function of positional numbers, or arrays, in the order of
    ``keywords``.

    Raises TypeError unless these are all of the formula's symbols.
    """
    wanted = {known.keyword for known in formula.inputs}
    if set(keywords) != wanted:
        raise TypeError(f"{formula.title} takes {sorted(wanted)}, not {sorted(keywords)}")
    symbols = [quantity(keyword).symbol for keyword in keywords]
    made: Callable[..., Any] = sympy.lambdify(symbols, bare(formula.rhs), "numpy")
    return made
