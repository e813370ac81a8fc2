"""Grid: the step cost over many points, each piece of it computed where it varies and no further.

On an open grid, B down one axis, T along another, S along a third, most of the step varies with two
of the three: weights with B and T, a cache with T and S once its factor B is taken out.  The sum is
therefore compiled as Σ outer(B)·inner(T, S) + rest(B, T).  Every piece is evaluated on the small
array that it needs, and only products and sums run over all points, in slices that stay in the
processor's cache.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from specdec_lib.formula.domain import DomainError
from specdec_lib.formula.numeric import numpy_function
from specdec_lib.symbols import B, S, T

Floats = NDArray[np.float64]

#: The symbols of a step, in the order of its arguments.
STEP_SYMBOLS: tuple[sympy.Symbol, ...] = (B, T, S)

#: Points of a slice: an array of so many takes a megabyte and stays in a second-level cache.
SLICE = 1 << 17


class Varying:
    """An expression as a function of B, T and S that computes only where it varies.

    Called with three arrays that broadcast, it gives an array of the shape of those it depends on.
    """

    def __init__(self, expression: sympy.Expr) -> None:
        found = expression.free_symbols
        self._places = tuple(i for i, symbol in enumerate(STEP_SYMBOLS) if symbol in found)
        self._function: Callable[..., Any] = numpy_function(
            expression, [STEP_SYMBOLS[i] for i in self._places]
        )

    def __call__(self, *arguments: Floats) -> Floats:
        """The values."""
        return np.asarray(self._function(*(arguments[i] for i in self._places)), dtype=np.float64)

    def points(self, arguments: Sequence[Floats]) -> int:
        """How many values a call gives."""
        return math.prod(np.broadcast_shapes(*(arguments[i].shape for i in self._places)))


#: A product of one or two factors.
Piece = tuple[Varying, ...]


def _pieces(expression: sympy.Expr) -> Iterator[Piece]:
    """The sum, sorted: terms that share a factor in B alone are added up beside it."""
    beside: dict[sympy.Expr, list[sympy.Expr]] = defaultdict(list)
    for term in sympy.Add.make_args(expression):
        outer, inner = term.as_independent(T, S, as_Add=False)
        if S not in inner.free_symbols or B in inner.free_symbols:
            outer, inner = sympy.S.One, term
        coefficient, outer = outer.as_coeff_Mul()
        beside[outer].append(coefficient * inner)
    for outer, terms in beside.items():
        factors = (sympy.Add(*terms),) if outer == 1 else (outer, sympy.Add(*terms))
        yield tuple(Varying(factor) for factor in factors)


class Grid:
    """A sum over B, T and S, compiled once; ``title`` names it in errors.

    Called with three float64 arrays that broadcast, it gives one of their common shape.
    """

    def __init__(self, title: str, expression: sympy.Expr) -> None:
        self.title = title
        # products first: what is added to them needs no array of its own
        self._pieces = tuple(sorted(_pieces(expression), key=len, reverse=True))

    def __call__(self, *arguments: Floats) -> Floats:
        """The sum at every point; DomainError where it is not finite."""
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        if math.prod(shape) <= SLICE:
            return self._at_once(arguments, shape)
        arguments = tuple(a.reshape((1,) * (len(shape) - a.ndim) + a.shape) for a in arguments)
        once = [
            [factor(*arguments) for factor in piece] if _is_small(piece, arguments, shape) else None
            for piece in self._pieces
        ]
        safe = _is_bounded(once)
        total = np.empty(shape, dtype=np.float64)
        for where in slices(shape):
            here = [] if safe else [cut(a, where, shape) for a in arguments]
            out = total[where]
            for i, (piece, known) in enumerate(zip(self._pieces, once, strict=True)):
                values = (
                    [factor(*here) for factor in piece]
                    if known is None
                    else [cut(value, where, shape) for value in known]
                )
                with np.errstate(all="ignore"):
                    _accumulate(out, values, first=i == 0)
            if not safe:
                self._require_finite(out)
        return total

    def _at_once(self, arguments: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
        """The sum where there is not enough to slice."""
        total: Any = 0.0
        with np.errstate(all="ignore"):
            for first, *second in self._pieces:
                values = first(*arguments)
                total = total + (values * second[0](*arguments) if second else values)
        self._require_finite(total)
        return total if total.shape == shape else np.broadcast_to(total, shape).copy()

    def _require_finite(self, values: Floats) -> None:
        if not np.isfinite(values).all():
            raise DomainError(f"{self.title} has no finite value at a point that was given")


def _is_small(piece: Piece, arguments: Sequence[Floats], shape: tuple[int, ...]) -> bool:
    """Whether every factor has far fewer values than the grid has points, or few."""
    most = max(factor.points(arguments) for factor in piece)
    return most <= SLICE or 2 * most <= math.prod(shape)


def _is_bounded(once: Sequence[Sequence[Floats] | None]) -> bool:
    """Whether every factor is known and no point can be anything but finite, seen from the largest
    value of each."""
    bound = 0.0
    for values in once:
        if values is None:
            return False
        bound += math.prod(float(np.abs(value).max(initial=0.0)) for value in values)
    return math.isfinite(bound)


def _accumulate(out: Floats, values: Sequence[Floats], *, first: bool) -> None:
    """Add a product of one or two arrays to ``out``, or set it to the first."""
    if len(values) == 2:
        if first:
            np.multiply(values[0], values[1], out=out)
        else:
            out += values[0] * values[1]
    elif first:
        out[...] = values[0]
    else:
        out += values[0]


def cut(values: Floats, where: tuple[slice, ...], shape: tuple[int, ...]) -> Floats:
    """The part of an array that broadcasts with a slice of the grid."""
    if values.ndim == 0:
        return values
    index = tuple(
        part if size == whole else slice(None)
        for part, size, whole in zip(where, values.shape, shape, strict=True)
    )
    return values[index]


def slices(shape: tuple[int, ...], most: int = SLICE) -> Iterator[tuple[slice, ...]]:
    """The grid in slices of at most about ``most`` points: along the first axes point by point,
    along the one after them in pieces."""
    axis, inner = len(shape), 1
    while axis > 0 and inner * shape[axis - 1] <= most:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield tuple(slice(None) for _ in shape)
        return
    step = max(1, most // inner)
    rest = tuple(slice(None) for _ in shape[axis:])
    for start in np.ndindex(*shape[: axis - 1]):
        fixed = tuple(slice(i, i + 1) for i in start)
        for first in range(0, shape[axis - 1], step):
            yield (*fixed, slice(first, first + step), *rest)
