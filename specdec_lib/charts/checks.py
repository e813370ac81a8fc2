"""What a chart refuses to draw: numbers that have no place on its axes.

A value that is not finite, or not positive on a logarithmic axis, would vanish or leave a gap
without a word, and a mark beyond the axes would lie across titles and sliders.  Each is refused by
the name of the argument that it came in by.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["finite", "nothing_below_zero", "within"]


def finite(value: Any, what: str) -> float:
    """``value`` as a number; ValueError, or TypeError for what is none, names it as ``what``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is {value!r:.60}; give a number or a Formula") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} is {number:g}; a chart has a place for finite numbers alone")
    return number


def nothing_below_zero(values: Any, what: str, log: str) -> None:
    """ValueError where ``values``, named ``what``, are not all positive on a ``log`` axis.

    ``log`` is the argument that made the axis logarithmic: "log=True".  Infinite values pass.
    """
    flat = np.ravel(np.asarray(values, dtype=np.float64))
    poor = flat[~(flat > 0)]
    if poor.size:
        raise ValueError(
            f"{what} has {poor[0]:g}, and a logarithmic axis has no place for it: leave out {log}, "
            "or draw the positive part alone"
        )


def within(value: float, low: float, high: float, what: str, remedy: str) -> None:
    """ValueError unless ``value``, named ``what``, is on the axis from ``low`` to ``high``.

    ``what`` ends where the value follows ("rule 'knee' opens at"); ``remedy`` says what to do.
    """
    slack = 1e-9 * max(abs(low), abs(high))
    if not low - slack <= value <= high + slack:
        raise ValueError(f"{what} {value:g}, outside the axis [{low:g}, {high:g}]: {remedy}")
