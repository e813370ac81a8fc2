"""The plane of a line chart: its two axes, positions on them, and where labels find room."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specdec_lib.charts.axes import Span
from specdec_lib.charts.room import Room
from specdec_lib.charts.setting import Setting
from specdec_lib.formula import Formula

__all__ = ["Plane"]


@dataclass(frozen=True)
class Plane:
    """The two axes that marks are placed on: spans in base units, unit sizes, encodings.

    One layer draws the axes, from the encodings; marks on top of it share its scales by
    :meth:`on_x` and :meth:`on_y`, which do not state them again.  Curves are cut at the frame
    where they may leave it (``leaves``); whole otherwise, also along an edge.
    """

    x: Span
    y: Span
    x_factor: float
    y_factor: float
    x_encoding: dict[str, Any]
    y_encoding: dict[str, Any]
    setting: Setting
    leaves: bool = False
    room: Room = field(default_factory=lambda: Room(320))

    def on_x(self, field: str) -> dict[str, Any]:
        """The channel of a ``field`` along x; axis and scale are another layer's."""
        return _bare(self.x_encoding, field)

    def on_y(self, field: str) -> dict[str, Any]:
        """The channel of a ``field`` along y; axis and scale are another layer's."""
        return _bare(self.y_encoding, field)

    def expression(self, value: Formula | float, **axes: str) -> str:
        """A number or a Formula as a Vega expression in base units."""
        if isinstance(value, Formula):
            return self.setting.vega(value, **axes)
        return repr(float(value))

    def shares(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far along each axis points in base units stand, 0 to 1 inside the frame."""
        return self.x.shares(x), self.y.shares(y)


def _bare(encoding: dict[str, Any], field: str) -> dict[str, Any]:
    return {"field": field, "type": encoding["type"], "title": encoding["title"]}
