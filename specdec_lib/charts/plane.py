"""The plane of a line chart: its two axes, and positions on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdec_lib.charts.axes import Span
from specdec_lib.charts.setting import Setting
from specdec_lib.formula import Formula

__all__ = ["Plane"]


@dataclass(frozen=True)
class Plane:
    """The two axes that marks are placed on: spans in base units, unit sizes, encodings.

    One layer draws the axes, from the encodings; marks on top of it share its scales by
    :meth:`on_x` and :meth:`on_y`, which do not state them again.
    """

    x: Span
    y: Span
    x_factor: float
    y_factor: float
    x_encoding: dict[str, Any]
    y_encoding: dict[str, Any]
    setting: Setting

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


def _bare(encoding: dict[str, Any], field: str) -> dict[str, Any]:
    return {"field": field, "type": encoding["type"], "title": encoding["title"]}
