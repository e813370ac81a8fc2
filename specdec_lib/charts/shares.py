"""Shares: what a whole is made of, as bars below each other or as areas over an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from specdec_lib.charts.axes import Span
from specdec_lib.charts.frame import FORMAT, assemble, tooltip
from specdec_lib.charts.parts import Part, Wholes
from specdec_lib.charts.plane import Plane
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, literal, quantity_title
from specdec_lib.formula import unit_text

__all__ = ["share_areas", "share_bars"]

#: Height of one bar in pixels, its gap included.
_BAR = 24

#: Pixels behind the bars, where the size of the whole stands.
_ROOM = 66

#: One point in this many of an axis answers to the pointer.
_EVERY = 4


def share_bars(
    rows: Mapping[str, Mapping[str, Part]],
    *,
    roles: Mapping[str, str],
    share_title: str,
    size_title: str,
    description: str,
    size_unit: str | None = None,
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    title: str | None = None,
) -> alt.LayerChart:
    """Wholes by name, top to bottom, each a bar from 0 to 100 % cut into its parts.

    ``rows`` maps a name to its parts by label, each a Formula or several that are added; a row may
    lack parts.  ``roles`` has a role for each label, in the order from left to right.  Behind each
    bar stands the size of the whole in ``size_unit``.  Raises as
    :func:`specdec_lib.charts.curve`, and ValueError where a whole has no shares.
    """
    wholes = Wholes.of(
        rows,
        roles,
        axes=[],
        sliders=sliders,
        fixed=fixed,
        titles=(share_title, size_title),
        unit=size_unit,
    )
    wholes.check()
    pairs = [(name, label) for name, row in wholes.parts.items() for label in row]
    places = {label: place for place, label in enumerate(wholes.look)}
    cells = [
        {"i": i, "name": name, "part": label, "place": places[label]}
        for i, (name, label) in enumerate(pairs)
    ]
    firsts = [pairs.index((name, next(iter(row)))) for name, row in wholes.parts.items()]
    transform = [
        {"calculate": _of_row([wholes.size(*pair) for pair in pairs]), "as": "size"},
        *wholes.divided("name"),
        {
            "calculate": f"format(datum.whole, '{FORMAT}') + {literal(f' {wholes.unit}')}",
            "as": "words",
        },
    ]
    along = {
        "field": "name",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(wholes.parts), "paddingInner": 0.25},
        "axis": {"grid": False, "labelLimit": 150},
    }
    bar = {
        # half a pixel off either end keeps neighbours of like colour apart
        "mark": {"type": "bar", "xOffset": 0.5, "x2Offset": -0.5},
        "encoding": {
            "y": along,
            "x": wholes.share_channel(room=_ROOM),
            "x2": {"field": "high"},
            "color": wholes.colour(),
            "tooltip": wholes.told({"field": "name", "type": "nominal", "title": " "}),
        },
    }
    size = {
        "transform": [{"filter": f"indexof({literal(firsts)}, datum.i) >= 0"}],
        "mark": {"type": "text", "align": "left", "dx": 5, "aria": False},
        "encoding": {
            "y": along,
            "x": {"datum": 100, "type": "quantitative"},
            "text": {"field": "words", "type": "nominal"},
        },
    }
    whole = {"data": {"values": cells}, "transform": transform, "layer": [bar, size]}
    height = _BAR * len(wholes.parts)
    return assemble([whole], wholes.setting, description=description, title=title, height=height)


def share_areas(
    parts: Mapping[str, Part],
    *,
    x: str,
    over: tuple[float, float] | range,
    roles: Mapping[str, str],
    share_title: str,
    size_title: str,
    description: str,
    log: bool = False,
    size_unit: str | None = None,
    sliders: Mapping[str, Slider] | None = None,
    fixed: Mapping[str, float] | None = None,
    x_title: str | None = None,
    x_unit: str | None = None,
    title: str | None = None,
    height: int = 320,
) -> alt.LayerChart:
    """The parts of one whole over the symbol ``x``, as areas that fill the height everywhere.

    ``parts`` is one row of :func:`share_bars`, and ``roles`` its labels from the bottom to the top;
    ``x``, ``over`` and ``log`` are those of :func:`specdec_lib.charts.curve`.  Raises as
    :func:`share_bars`.
    """
    wholes = Wholes.of(
        {share_title: parts},
        roles,
        axes=[x],
        sliders=sliders,
        fixed=fixed,
        titles=(share_title, size_title),
        unit=size_unit,
    )
    across = Span.of(over, log)
    wholes.check(**{x: across.samples()})
    known = wholes.setting.known[x]
    x_text, x_factor = display_unit(unit_text(known.unit), x_unit)
    plane = Plane(
        x=across,
        y=Span.of((0, 100), False),
        x_factor=x_factor,
        y_factor=1.0,
        x_encoding=across.encoding("shown_x", quantity_title(known, x_title, x_text), x_factor),
        y_encoding=wholes.share_channel(),
        setting=wholes.setting,
    )
    columns = {f"part_{place}": label for place, label in enumerate(wholes.look)}
    places = {column: place for place, column in enumerate(columns)}
    transform: list[dict[str, Any]] = [
        {"calculate": across.expression(), "as": "x"},
        {"calculate": f"datum.x / {x_factor!r}", "as": "shown_x"},
        *(
            {"calculate": wholes.size(share_title, label, **{x: "datum.x"}), "as": column}
            for column, label in columns.items()
        ),
        {"fold": list(columns), "as": ["column", "size"]},
        {"calculate": f"{literal(columns)}[datum.column]", "as": "part"},
        {"calculate": f"{literal(places)}[datum.column]", "as": "place"},
        *wholes.divided("i"),
    ]
    area = {
        "mark": {"type": "area", "clip": True, "opacity": 1},
        "encoding": {
            "x": plane.x_encoding,
            "y": {**plane.y_encoding, "stack": None},
            "y2": {"field": "high"},
            "color": wholes.colour(),
        },
    }
    catcher: dict[str, Any] = {
        "mark": {"type": "rule", "clip": True, "opacity": 0, "strokeWidth": 16, "aria": False},
        "encoding": {
            "x": plane.on_x("shown_x"),
            "y": plane.on_y("low"),
            "y2": {"field": "high"},
            "tooltip": wholes.told(tooltip("shown_x", plane.x_encoding["title"])),
        },
    }
    if across.step is None:
        catcher["transform"] = [{"filter": f"datum.i % {_EVERY} === 0"}]
    whole = {"data": across.data(), "transform": transform, "layer": [area, catcher]}
    return assemble([whole], wholes.setting, description=description, title=title, height=height)


def _of_row(expressions: Sequence[str]) -> str:
    """The expression of the row with the number ``i``, the only one that is evaluated."""
    *most, last = expressions
    return "".join(f"datum.i === {i} ? {e} : " for i, e in enumerate(most)) + last
