"""The Formula itself; what it is made of is in the modules beside this one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy

from specdec_lib.formula.binding import bound_expression, put_in
from specdec_lib.formula.domain import (
    DomainError,
    as_float,
    as_scalar,
    check,
    refuse_unknown,
    require_keywords,
    require_one_shape,
)
from specdec_lib.formula.latex import latex, unit_text
from specdec_lib.formula.lazy import by_blocks, is_lazy
from specdec_lib.formula.numeric import numpy_function, scalar_function
from specdec_lib.formula.stable import bare, stable
from specdec_lib.formula.vega import vega_expression
from specdec_lib.symbols import UNITS, Quantity, notation_order, quantity

#: Significant digits of a constant as it is displayed, and from which denominator on a fraction is
#: displayed as one.
DIGITS, LONG_DENOMINATOR = 6, 10_000


@dataclass(frozen=True)
class Formula:
    """An equation of the book.

    Parameters
    ----------
    lhs
        LaTeX of the left-hand side.
    rhs
        The equation's right-hand side, over the symbols of :mod:`specdec_lib.symbols` and the
        units FLOP, BYTE and SECOND; the only place where this algebra is written.
    unit
        Unit of the value, over FLOP, BYTE and SECOND; 1 for a plain number.
    source
        A key of the bibliography, or ``"derived: <chapter>"``.
    using
        Formulas that appear inside ``rhs`` and are printed by their own left-hand side.
    bound, of
        What :meth:`where` has put in the place of symbols, and the formula whose symbols they are;
        not given by hand.

    Examples
    --------
    >>> from specdec_lib.formulas.experts import distinct_experts
    >>> round(distinct_experts(n=64, E=256, k=6), 5)
    199.88968
    >>> distinct_experts.where(E=256, k=6)(n=[0, 1]).tolist()
    [0.0, 6.0]
    """

    lhs: str
    rhs: sympy.Expr
    unit: sympy.Expr
    source: str
    using: tuple[Formula, ...] = ()
    bound: tuple[tuple[str, sympy.Expr], ...] = field(default=(), repr=False, compare=False)
    of: Formula | None = field(default=None, repr=False, compare=False)

    @property
    def title(self) -> str:
        """The left-hand side as plain as text allows, for messages."""
        return self.lhs.replace("\\mathrm", "").replace("{", "").replace("}", "").replace("\\", "")

    @functools.cached_property
    def inputs(self) -> tuple[Quantity, ...]:
        """The symbols still to be given, in the order of the notation.

        A symbol stays one of them where what was bound makes no difference of it.
        """
        if self.of is None:
            free = {s.name for s in self.rhs.free_symbols if s not in UNITS}
        else:
            free = set(self.of._keywords) - dict(self.bound).keys()
            free |= {s.name for _, e in self.bound for s in e.free_symbols if s not in UNITS}
        return tuple(quantity(name) for name in sorted(free, key=notation_order))

    @functools.cached_property
    def _keywords(self) -> tuple[str, ...]:
        return tuple(known.keyword for known in self.inputs)

    def where(self, **values: Any) -> Formula:
        """The same equation with some symbols bound to numbers, or to expressions over others.

        ``distinct_experts.where(E=256, k=6)`` is a Formula in n alone;
        ``distinct_experts.where(n=B * T)`` is one in B, T, E and k.  It computes as this one does
        with those values, to the last digit.  Raises TypeError for an unknown symbol or a value
        that is no scalar, DomainError for one outside its domain.
        """
        refuse_unknown(self.title, values, self._keywords)
        bound = {key: bound_expression(self.title, key, value) for key, value in values.items()}
        rhs = put_in(self.rhs, {quantity(key).symbol: e for key, e in bound.items()})
        found = replace(self, rhs=rhs, bound=tuple(bound.items()), of=self)
        found._inward({})
        return found

    @functools.cached_property
    def _bound_functions(self) -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
        """What each bound symbol amounts to: the inputs that it depends on, and a function."""
        return {key: scalar_function(e) for key, e in self.bound}

    def _inward(self, known: Mapping[str, Any], checked: Collection[str] = ()) -> dict[str, Any]:
        """The symbols of the equation as it was written, from ``known`` inputs; those that depend
        on others are left out.  Checks the domain of all but what is ``checked``."""
        check(self.title, known, checked)
        if self.of is None:
            return dict(known)
        functions = self._bound_functions
        inner = {key: known[key] for key in self.of._keywords if key in known.keys() - functions}
        passed = tuple(inner)
        for key, (needed, function) in functions.items():
            if known.keys() >= set(needed):
                inner[key] = function(*(known[name] for name in needed))
        return self.of._inward(inner, passed)

    @functools.cached_property
    def _written(self) -> Formula:
        """The formula before anything was bound."""
        return self if self.of is None else self.of._written

    @functools.cached_property
    def _function(self) -> Callable[..., Any]:
        return numpy_function(self.rhs, [known.symbol for known in self.inputs])

    def _compute(self, *values: Any) -> Any:
        """Check the domain of ``values``, given in the order of the inputs, and evaluate."""
        known = self._inward(dict(zip(self._keywords, values, strict=True)))
        written = self._written
        result = written._function(*(known[keyword] for keyword in written._keywords))
        undefined = np.isnan(result) if written.rhs.has(sympy.oo) else ~np.isfinite(result)
        if np.any(undefined):
            raise DomainError(f"{self.title} has no finite value at a point that was given")
        return result

    def __call__(self, **values: Any) -> Any:
        """The value in SI base units, float64, for keyword arguments that broadcast.

        Scalars give a float, arrays an array.  Arrays that are computed later (dask) stay lazy;
        their domain is checked when they are.  Raises TypeError for a missing or unknown symbol
        or a value that is no real number, DomainError for one outside its symbol's domain,
        ValueError for shapes that do not broadcast.
        """
        require_keywords(self.title, values, self._keywords)
        arrays = [as_float(keyword, values[keyword]) for keyword in self._keywords]
        require_one_shape(self.title, dict(zip(self._keywords, arrays, strict=True)))
        if is_lazy(arrays):
            return by_blocks(self._compute, self._keywords, arrays)
        result = self._compute(*arrays)
        return float(result) if np.ndim(result) == 0 else result

    def vega(self, **names: str | float) -> str:
        """The right-hand side as a Vega expression.

        ``names`` says what stands for a symbol in the chart, ``n="datum.n"`` for a field or
        ``E="experts"`` for a signal, or a number; a symbol that is not named stands for itself.
        Raises ValueError for a name that Vega does not take; its ``E`` is Euler's number.
        """
        refuse_unknown(self.title, names, self._keywords)
        numbers = {key: as_scalar(key, v) for key, v in names.items() if not isinstance(v, str)}
        self._inward(numbers)
        return vega_expression(self._stable, {**names, **numbers})

    @functools.cached_property
    def _stable(self) -> sympy.Expr:
        """The right-hand side without units in the form that does not cancel: brought to that form
        as it was written, because a bound number may hide what cancels."""
        if self.of is None:
            return stable(bare(self.rhs))
        values = {quantity(key).symbol: bare(e) for key, e in self.bound}
        return put_in(self.of._stable, values)

    @property
    def general(self) -> sympy.Expr:
        """``rhs`` without the cases that only give the limit at a singular point."""
        if isinstance(self.rhs, sympy.Piecewise):
            *limits, last = self.rhs.args
            conditions = [part for case in limits for part in sympy.And.make_args(case.cond)]
            if all(isinstance(condition, sympy.Eq) for condition in conditions):
                return last.expr
        return self.rhs

    @property
    def displayed(self) -> sympy.Expr:
        """The general case with the formulas of ``using`` by their left-hand sides: what the page
        shows."""
        shown = self.general
        for part in self.using:
            shown = _named(shown, part.general, sympy.Symbol(part.lhs, positive=True))
        return _readable(shown)

    def latex(self) -> str:
        """The equation in LaTeX, without delimiters."""
        return f"{self.lhs} = {latex(self.displayed)}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        return f"Formula({self.lhs} = {self.displayed}, unit {unit_text(self.unit)})"


def _named(whole: sympy.Expr, part: sympy.Expr, name: sympy.Symbol) -> sympy.Expr:
    """``whole`` with ``part`` by its name; a sum of which it is some of the terms is split by hand,
    because SymPy misses such a part where floating-point factors stand before the terms."""
    terms, inside = sympy.Add.make_args(whole), set(sympy.Add.make_args(part))
    if len(inside) > 1 and inside <= set(terms):
        return sympy.Add(*(term for term in terms if term not in inside), name)
    return whole.subs(part, name)


def _readable(shown: sympy.Expr) -> sympy.Expr:
    """``shown`` with its constants to six digits: what was counted in thousandths of a microsecond
    is no fraction that anyone reads."""
    long = [
        number
        for number in shown.atoms(sympy.Number)
        if number.is_Float or (number.is_Rational and number.q >= LONG_DENOMINATOR)
    ]
    return shown.xreplace({number: sympy.Float(number, DIGITS) for number in long})
