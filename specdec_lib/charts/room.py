"""Where a label has room: the lines, points and labels that a chart draws as it opens.

A page is wide on a desk and narrow in a hand, so a place is judged at both widths.  Only what the
chart opens with counts: a slider may move a curve under a label later, and the page then keeps the
letters legible with a rim of its own colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["LETTER", "Box", "Room"]

#: Width of a letter of a label in pixels, rounded up, and the height of its line.
LETTER = 7
LINE = 15

#: The widths of a plot on a desk and on a phone, in pixels.
WIDTHS = (620.0, 290.0)

#: A curve is judged at points this many pixels apart.
_PACE = 3.0

#: What it costs to lie on one point of a line, on another label, or beyond the frame.
_ON_LABEL, _BEYOND = 200.0, 25.0


@dataclass(frozen=True)
class Box:
    """A label's place: its anchor as shares of the plot, x to the right and y upwards.

    ``right`` and ``up`` say to which side of the anchor the text runs and on which side of it the
    line stands: 1 to the right or above, -1 to the left or below, 0 centred; ``gap`` is the space
    between in pixels.
    """

    x: float
    y: float
    letters: int
    right: int
    up: int
    gap: float = 5.0

    def edges(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Left, right, bottom and top in pixels of a plot of that size."""
        length = LETTER * self.letters
        left = self.x * width + {1: self.gap, -1: -self.gap - length, 0: -length / 2}[self.right]
        bottom = self.y * height + {1: self.gap, -1: -self.gap - LINE, 0: -LINE / 2}[self.up]
        return left, left + length, bottom, bottom + LINE


@dataclass
class Room:
    """What stands in a plot ``height`` pixels high, collected as the chart is put together."""

    height: float
    paths: list[np.ndarray] = field(default_factory=list)
    labels: list[Box] = field(default_factory=list)

    def add_path(self, x: np.ndarray, y: np.ndarray) -> None:
        """A line through points given as shares of the plot; what is not finite breaks it."""
        self.paths.append(np.column_stack([x, y]))

    def add_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Single points, which weigh as much as a piece of a line."""
        self.paths.extend(np.array([point, point]) for point in zip(x, y, strict=True))

    def best(self, places: Sequence[Box]) -> int:
        """Which of the ``places`` is least crowded, the first of equals; then it is taken."""
        costs = [sum(self._cost(place, width) for width in WIDTHS) for place in places]
        chosen = int(np.argmin(costs))
        self.labels.append(places[chosen])
        return chosen

    def _cost(self, place: Box, width: float) -> float:
        left, right, bottom, top = place.edges(width, self.height)
        outside = max(0.0, -left) + max(0.0, right - width)
        outside += max(0.0, -bottom) + max(0.0, top - self.height)
        cost = _BEYOND * outside
        for other in self.labels:
            a, b, c, d = other.edges(width, self.height)
            cost += _ON_LABEL * (a < right and left < b and c < top and bottom < d)
        for path in self.paths:
            x, y = _walked(path * (width, self.height)).T
            cost += float(np.sum((x > left) & (x < right) & (y > bottom) & (y < top)))
        return cost


def _walked(path: np.ndarray) -> np.ndarray:
    """Points along a line, evenly far apart, so that steep pieces count like level ones."""
    path = path[np.all(np.isfinite(path), axis=1)]
    steps = np.hypot(*np.diff(path, axis=0).T)
    if not steps.size or steps.sum() == 0:
        return path[:1]
    along = np.append(0.0, np.cumsum(steps))
    at = np.arange(0.0, along[-1], _PACE)
    return np.column_stack([np.interp(at, along, column) for column in path.T])
