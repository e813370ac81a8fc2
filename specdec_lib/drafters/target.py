"""Target: the cost of the model that is drafted for, from a step cost or from a Formula alone."""

from __future__ import annotations

from typing import Any, Protocol

import sympy

from specdec_lib.cost import StepCost
from specdec_lib.cost.part import bare
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import as_float, check, require_keywords
from specdec_lib.symbols import B, S, T

#: The arguments of a step.
ARGUMENTS: tuple[str, ...] = tuple(symbol.name for symbol in (B, T, S))


class Target(Protocol):
    """What a drafter and a plan need of a target: its price as a function and as an expression of
    B, T and S."""

    def __call__(self, **values: Any) -> Any:
        """The price of a step at B, T and S."""

    @property
    def expr(self) -> sympy.Expr:
        """The same as an expression in B, T and S."""


class Law:
    """A Formula in B, T and S, or some of them, in the place of a step cost.

    Its unit is any in which steps can be compared, so that a speedup is a plain number.  Raises
    TypeError for a Formula in anything else.
    """

    def __init__(self, formula: Formula) -> None:
        found = {known.keyword for known in formula.inputs}
        if not found <= set(ARGUMENTS) or "T" not in found:
            raise TypeError(
                f"{formula.title} is a Formula in {', '.join(sorted(found)) or 'nothing'}; the "
                "price of a step is one in B, T and S: bind the others with .where(…)"
            )
        self.formula = formula
        self._inputs = found

    def __repr__(self) -> str:
        return f"Law({self.formula.title})"

    def __call__(self, **values: Any) -> Any:
        """The price of a step; arguments it does not depend on are checked and left."""
        require_keywords(repr(self), values, ARGUMENTS)
        for keyword in set(values) - self._inputs:
            check(repr(self), {keyword: as_float(keyword, values[keyword])})
        return self.formula(**{k: v for k, v in values.items() if k in self._inputs})

    @property
    def expr(self) -> sympy.Expr:
        """The price as an expression."""
        return bare(self.formula.rhs)


def as_target(cost: object) -> StepCost | Law:
    """A step cost as it is, a Formula as a :class:`Law`; TypeError for anything else."""
    if isinstance(cost, StepCost | Law):
        return cost
    if isinstance(cost, Formula):
        return Law(cost)
    raise TypeError(
        f"drafting is priced against a StepCost, or a Formula in B, T and S, not {cost!r:.60}"
    )
