"""Laws: a step's price, and its components', as Formulas that a page displays and a chart draws."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from specdec_lib.cost.breakdown import ORDER
from specdec_lib.cost.part import Part
from specdec_lib.cost.price import marginal
from specdec_lib.formula import Formula
from specdec_lib.symbols import ONE, SECOND, S

_STEP = "derived: step"
_PRICE = "derived: marginal"


def component_laws(parts: Sequence[Part]) -> dict[str, Formula]:
    """The time of each component that a step has, by its key in the breakdown."""
    keys = sorted({part.key for part in parts}, key=ORDER.index)
    return {key: Formula(_name("C", key), _seconds(parts, key), SECOND, _STEP) for key in keys}


def step_law(parts: Sequence[Part]) -> Formula:
    """The time of the step, displayed as the sum of its components."""
    whole = sympy.Add(*(part.seconds for part in parts))
    return Formula("C", whole, SECOND, _STEP, using=tuple(component_laws(parts).values()))


def price_laws(parts: Sequence[Part]) -> dict[str, Formula]:
    """The marginal price of each component that depends on T and, under "step", of the whole.

    It is zero where a component takes no time, as in :class:`specdec_lib.cost.price.Prices`.
    """
    laws = {}
    for key, law in component_laws(parts).items():
        slope = sympy.Add(*(marginal(part.seconds) for part in parts if part.key == key))
        price = slope / law.rhs
        if law.rhs.subs(S, 0) == 0:  # an indexer has nothing to search in an empty context
            price = sympy.Piecewise((0, sympy.Eq(law.rhs, 0)), (price, True))
        laws[key] = Formula(_name("r", key), price, ONE, _PRICE)
    slope = sympy.Add(*(marginal(part.seconds) for part in parts))
    laws["step"] = Formula("r", slope / step_law(parts).rhs, ONE, _PRICE)
    return laws


def _seconds(parts: Sequence[Part], key: str) -> sympy.Expr:
    return sympy.Add(*(part.seconds for part in parts if part.key == key))


def _name(letter: str, key: str) -> str:
    word = key.replace("_", r"\ ")
    return rf"{letter}_{{\mathrm{{{word}}}}}"
