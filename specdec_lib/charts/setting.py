"""What a chart's formulas are evaluated at: its axes, its sliders and the values that are fixed.

One object checks that every symbol has exactly one source, says how each is written in Vega, and
evaluates the same formulas with NumPy at every extreme of the sliders, so that no position of a
slider leaves a formula's domain and the axes have room for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from specdec_lib.charts.sliders import Slider
from specdec_lib.formula import DomainError, Formula

__all__ = ["Setting"]

#: Beyond this many sliders nobody follows, and the extremes (2 to this power) take too long.
MOST_SLIDERS = 6


class Setting:
    """The sources of the symbols of some formulas.

    ``axes`` are the keywords that the chart itself runs over; ``sliders`` and ``fixed`` map other
    keywords to a Slider or a number.  Raises ValueError for a symbol with two sources or none, or
    for a keyword that no formula has.
    """

    def __init__(
        self,
        formulas: Iterable[Formula],
        axes: Iterable[str],
        sliders: Mapping[str, Slider] | None,
        fixed: Mapping[str, float] | None,
    ) -> None:
        self.known = {q.keyword: q for formula in formulas for q in formula.inputs}
        self.axes = tuple(axes)
        self.sliders = dict(sliders or {})
        self.fixed = dict(fixed or {})
        self._check()

    def _check(self) -> None:
        has = ", ".join(self.known) or "no symbols"
        given = [*self.axes, *self.sliders, *self.fixed]
        for keyword in given:
            if keyword not in self.known:
                raise ValueError(f"no formula here has a symbol {keyword!r}; they have {has}")
            if given.count(keyword) > 1:
                raise ValueError(
                    f"{keyword!r} is given twice: a symbol is the axis, a slider or fixed"
                )
        missing = [keyword for keyword in self.known if keyword not in given]
        if missing:
            named = ", ".join(f"{key} ({self.known[key].meaning})" for key in missing)
            raise ValueError(f"no value for {named}: add a slider or fix it")
        if len(self.sliders) > MOST_SLIDERS:
            raise ValueError(f"{len(self.sliders)} sliders are too many; {MOST_SLIDERS} at most")
        for keyword, slider in self.sliders.items():
            if not isinstance(slider, Slider):
                raise TypeError(f"{keyword}: {slider!r} is no Slider; use Slider(low, high, step)")

    def vega(self, formula: Formula, **axes: str) -> str:
        """``formula`` as a Vega expression; ``axes`` says what stands for the axis keywords."""
        sources: dict[str, str | float] = {
            **axes,
            **{key: s.reference(self.known[key]) for key, s in self.sliders.items()},
            **self.fixed,
        }
        self._check_axes(formula, axes)
        return formula.vega(**{q.keyword: sources[q.keyword] for q in formula.inputs})

    def _check_axes(self, formula: Formula, axes: Mapping[str, Any]) -> None:
        for known in formula.inputs:
            if known.keyword in self.axes and known.keyword not in axes:
                raise ValueError(
                    f"{formula.title} depends on {known.keyword}, which runs along an axis here: "
                    "a position needs one value; bind it with .where()"
                )

    def value(self, formula: Formula, at: Mapping[str, float], **axes: Any) -> np.ndarray:
        """``formula`` by NumPy with the sliders ``at`` their values, shaped like the axes."""
        sources = {**self.fixed, **at, **axes}
        self._check_axes(formula, axes)
        try:
            result = formula(**{q.keyword: sources[q.keyword] for q in formula.inputs})
        except DomainError as error:
            where = ", ".join(f"{key} = {value:g}" for key, value in at.items())
            hint = f" (sliders at {where}: narrow a slider or the axis)" if at else ""
            raise DomainError(f"{error}{hint}") from error
        return np.asarray(result + sum(0.0 * np.asarray(axis) for axis in axes.values()))

    def number(self, position: Formula | float, at: Mapping[str, float]) -> float:
        """The position of a mark, a number or a Formula, with the sliders ``at`` their values."""
        return float(self.value(position, at) if isinstance(position, Formula) else position)

    def opening(self) -> dict[str, float]:
        """The value of each slider, in base units, as the chart opens."""
        return {
            key: slider.start * slider.factor(self.known[key])
            for key, slider in self.sliders.items()
        }

    def extremes(self) -> Iterator[dict[str, float]]:
        """The opening values, then every combination of the ends of the sliders."""
        yield self.opening()
        ends = [slider.ends(self.known[key]) for key, slider in self.sliders.items()]
        for corner in itertools.product(*ends) if ends else ():
            yield dict(zip(self.sliders, corner, strict=True))

    def params(self) -> list[dict[str, Any]]:
        """The parameters of the chart, for its top level."""
        return [
            param
            for key, slider in self.sliders.items()
            for param in slider.params(self.known[key])
        ]

    def readouts(self) -> list[str]:
        """Vega expressions that print what a slider does not show itself."""
        shown = (slider.readout(self.known[key]) for key, slider in self.sliders.items())
        return [expression for expression in shown if expression is not None]
