"""Tiles: a map of names that were worked out before, such as what a step is bound by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from specdec_lib import theme
from specdec_lib.charts.cells import Cells
from specdec_lib.charts.frame import assemble, legend, role_of_each
from specdec_lib.charts.grids import MOST_CELLS
from specdec_lib.charts.text import literal
from specdec_lib.symbols import SYMBOLS

__all__ = ["tiles"]


def tiles(
    names: npt.ArrayLike,
    x: Cells,
    y: Cells,
    *,
    roles: Mapping[str, str],
    name_title: str,
    description: str,
    marks: npt.ArrayLike | None = None,
    mark_title: str = "",
    title: str | None = None,
    height: int = 320,
) -> alt.LayerChart:
    """A name in every cell of a map, as its colour.

    ``names`` has a row for each value of ``y`` and a column for each of ``x``; ``roles`` a role for
    each name, in the order of the legend, also for names that do not occur.  ``marks``, whole
    numbers of the same shape, are printed in the cells.  Raises ValueError for shapes that do not
    fit, names without a role, and as :func:`specdec_lib.charts.grid`.
    """
    for axis in (x, y):
        if axis.count is not None:
            raise ValueError(f"{axis.keyword}: tiles stand at single values, not intervals")
    table = np.asarray(names, dtype=str)
    columns, rows = x.numbers.size, y.numbers.size
    numbers = None if marks is None else np.asarray(marks)
    for given in (table, numbers):
        if given is not None and given.shape != (rows, columns):
            raise ValueError(
                f"names and marks need {rows} rows of {columns} columns, not the shape "
                f"{given.shape}"
            )
    if columns * rows > MOST_CELLS:
        raise ValueError(f"{columns} × {rows} cells are too many; {MOST_CELLS} at most")
    known = list(roles)
    strange = sorted(set(table.ravel().tolist()) - set(known))
    if strange:
        raise ValueError(f"no role for {', '.join(strange)}")
    look = role_of_each(known, roles)
    codes = [known.index(name) for name in table.ravel().tolist()]

    known_x, known_y = SYMBOLS[x.keyword], SYMBOLS[y.keyword]
    transform: list[dict[str, Any]] = [
        *x.transform("x", f"datum.i % {columns}", known_x),
        *y.transform("y", f"floor(datum.i / {columns})", known_y),
        {"calculate": f"{literal(known)}[{literal(codes)}[datum.i]]", "as": "name"},
    ]
    told = [
        {"field": "x_words", "type": "nominal", "title": x.heading(known_x)},
        {"field": "y_words", "type": "nominal", "title": y.heading(known_y)},
        {"field": "name", "type": "nominal", "title": name_title},
    ]
    position = {**x.channels("x", known_x, False), **y.channels("y", known_y, False)}
    shown = legend(known, [])
    colour = {
        "field": "name",
        "type": "nominal",
        "scale": theme.scale(look).to_dict(),
        "legend": None if shown is None else {**shown, "symbolType": "square", "symbolSize": 160},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rect"}, "encoding": {**position, "color": colour, "tooltip": told}}
    ]
    if numbers is not None:
        transform.append({"calculate": f"{literal(numbers.ravel().tolist())}[datum.i]", "as": "m"})
        told.append({"field": "m", "type": "nominal", "title": mark_title})
        printed = {
            **position,
            "text": {"field": "m", "type": "nominal"},
            "color": _ink(look),
            "size": {"value": {"expr": f"width > {columns * 22} ? 12 : 9"}},
        }
        layers.append({"mark": {"type": "text", "aria": False}, "encoding": printed})
    data = {"sequence": {"start": 0, "stop": columns * rows, "step": 1, "as": "i"}}
    whole = {"data": data, "transform": transform, "layer": layers}
    return assemble([whole], None, description=description, title=title, height=height)


def _ink(look: Mapping[str, str]) -> dict[str, Any]:
    """Black or white letters, whichever is easier to read on the colour of each name."""
    inks = {name: theme.ink_on(colour) for name, colour in theme.colours(look).items()}
    dark = [name for name, ink in inks.items() if ink == "#000000"]
    test = f"indexof({literal(dark)}, datum.name) >= 0"
    return {"condition": {"test": test, "value": "#000000"}, "value": "#ffffff"}
