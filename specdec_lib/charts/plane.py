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

    The axes are drawn once, from the encodings; marks on top use :meth:`on_x` and :meth:`on_y`.
    """

    x: Span
    y: Span
    x_factor: float
    y_factor: float
    x_encoding: dict[str, Any]
    y_encoding: dict[str, Any]
    setting: Setting

    def on_x(self, field: str) -> dict[str, Any]:
        """The channel of a ``field`` along x; the axis itself is drawn by another layer."""
        return _without_axis(self.x_encoding, field)

    def on_y(self, field: str) -> dict[str, Any]:
        """The channel of a ``field`` along y; the axis itself is drawn by another layer."""
        return _without_axis(self.y_encoding, field)

    def expression(self, value: Formula | float, **axes: str) -> str:
        """A number or a Formula as a Vega expression in base units."""
        if isinstance(value, Formula):
            return self.setting.vega(value, **axes)
        return repr(float(value))


def _without_axis(encoding: dict[str, Any], field: str) -> dict[str, Any]:
    return {**{key: part for key, part in encoding.items() if key != "axis"}, "field": field}
