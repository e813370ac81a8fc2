"""Price: what a marginal verify token costs relative to an average one, r = ∂log C/∂log T.

Where B and S stay, the price of the step is the mean of its parts' prices, weighted with the time
of each.  A part that waits for memory has the price of its bytes, one that waits for compute that
of its FLOPs, and under a smooth corner it lies between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from sympy import Max, Min, Piecewise, ceiling

from specdec_lib.cost.breakdown import ORDER
from specdec_lib.cost.grid import Floats, Varying
from specdec_lib.cost.part import Part
from specdec_lib.symbols import T


def marginal(seconds: sympy.Expr) -> sympy.Expr:
    """T·∂t/∂T of the time of a part: the seconds that one per cent more tokens add, times 100.

    At a corner it is the slope of one of the two branches.  Tiles make the time a staircase in T;
    between its steps more tokens are free, and the steps themselves are not in the slope.
    """
    stairs = {node: sympy.Dummy(positive=True) for node in seconds.atoms(ceiling)}
    flat = seconds.xreplace(stairs)
    branches = flat.replace(Max, _larger).replace(Min, _smaller)
    slope = T * sympy.diff(branches, T)
    return slope.xreplace({dummy: node for node, dummy in stairs.items()})


def _larger(*terms: sympy.Expr) -> sympy.Expr:
    first, *rest = terms
    if not rest:
        return first
    other = _larger(*rest)
    return Piecewise((first, first > other), (other, True))


def _smaller(*terms: sympy.Expr) -> sympy.Expr:
    first, *rest = terms
    if not rest:
        return first
    other = _smaller(*rest)
    return Piecewise((first, first < other), (other, True))


class Prices:
    """The marginal prices of a step, compiled."""

    def __init__(self, parts: Sequence[Part]) -> None:
        ordered = sorted(parts, key=lambda part: ORDER.index(part.key))
        self._parts = [
            (part.key, Varying(part.seconds), Varying(marginal(part.seconds))) for part in ordered
        ]

    def __call__(self, *arguments: Floats) -> dict[str, Any]:
        """The price of each component and, under "step", of them all; zero where one takes no
        time."""
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        times: dict[str, Any] = {}
        slopes: dict[str, Any] = {}
        for key, seconds, derived in self._parts:
            time = seconds(*arguments)
            adds = np.where(time > 0, derived(*arguments), 0.0)  # 0/0 under a smooth corner
            for name in (key, "step"):
                times[name] = times.get(name, 0.0) + time
                slopes[name] = slopes.get(name, 0.0) + adds
        prices = {}
        for name in (*(n for n in times if n != "step"), "step"):
            whole = np.broadcast_to(times[name], shape)
            slope = np.broadcast_to(slopes[name], shape)
            price = np.divide(slope, whole, out=np.zeros(shape), where=whole > 0)
            prices[name] = float(price) if shape == () else price
        return prices
