"""A verify curve: measured times of verify passes, for engines whose kernels the roofline does not
describe.

Kernels for few tokens often read the weights again for each token, so that a pass of T tokens takes
nearly T times a plain step, on hardware where the roofline calls it free.  No efficiency expresses
that; a measurement does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy

from specdec_lib.formula.domain import DomainError, floats
from specdec_lib.symbols import T


@dataclass(frozen=True, init=False)
class VerifyCurve:
    """Time of a verify pass over that of a plain step of the same batch and context, by width.

    Between the widths that were measured it is a straight line; beyond the last one it is unknown.

    Parameters
    ----------
    ratios
        Ratio by verify width T, in any order; T = 1 is 1 and need not be given.

    Raises
    ------
    DomainError
        For a width below 1, a plain step that is not 1, no wider pass, or a ratio that falls with
        the width.

    Examples
    --------
    >>> VerifyCurve({3: 2.8, 4: 3.6}).widest
    4.0
    """

    points: tuple[tuple[float, float], ...]

    def __init__(self, ratios: Mapping[float, float]) -> None:
        points = sorted(
            (_number("width", width), _number("ratio", ratio))
            for width, ratio in {1: 1, **ratios}.items()
        )
        if len(points) < 2 or points[0] != (1.0, 1.0):
            raise DomainError(
                f"a verify curve starts at width 1 with the ratio 1 and has a wider point: {points}"
            )
        for (narrow, less), (wide, more) in itertools.pairwise(points):
            if not (math.isfinite(wide) and math.isfinite(more) and less <= more):
                raise DomainError(
                    f"verify curve: from width {narrow:g} to {wide:g} the ratio goes from {less:g} "
                    f"to {more:g}; a wider pass takes no less time"
                )
        object.__setattr__(self, "points", tuple(points))

    @classmethod
    def from_times(cls, times: Mapping[float, float]) -> VerifyCurve:
        """The curve of measured times of passes by width, in any unit; width 1 must be among them.

        Raises DomainError where it is not, and as the class does.

        >>> VerifyCurve.from_times({1: 8.0, 2: 12.0}).points[1]
        (2.0, 1.5)
        """
        plain = times.get(1, math.nan)
        if not 0 < plain < math.inf:
            raise DomainError("a verify curve of times needs the time of a plain step, at width 1")
        return cls({width: time / plain for width, time in times.items()})

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter(self.points)

    @property
    def widest(self) -> float:
        """The largest width that was measured."""
        return self.points[-1][0]

    @property
    def expression(self) -> sympy.Expr:
        """The ratio as an expression in T, for T from 1 to :attr:`widest`."""
        pieces = []
        for (narrow, less), (wide, more) in itertools.pairwise(self.points):
            slope = sympy.Float((more - less) / (wide - narrow))
            pieces.append((sympy.Float(less) + slope * (T - narrow), sympy.Le(T, wide)))
        return sympy.Piecewise(*pieces[:-1], (pieces[-1][0], True))


def _number(what: str, value: float) -> float:
    number = floats(f"verify curve, {what}", value)
    if number.ndim:
        raise TypeError(f"verify curve, {what}: {value!r:.60} is not one number")
    return float(number)
