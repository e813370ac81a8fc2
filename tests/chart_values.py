"""The values that a chart draws, computed by Vega itself.

Data and transforms of a layer are kept, its marks are replaced by text that prints the wanted
fields with all their digits, and Vega (through vl-convert) renders that.  No compiled
specification is compared with anything, so a new version of the converter changes no test.
"""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert


def specification(chart: alt.LayerChart) -> dict[str, Any]:
    """The chart as Vega-Lite."""
    spec: dict[str, Any] = chart.to_dict()
    return spec


def layers(node: Mapping[str, Any], data: Any = None) -> Iterator[dict[str, Any]]:
    """Every layer that has transforms or data of its own, with the data that it inherits."""
    data = node.get("data", data)
    if "transform" in node or ("data" in node and "mark" in node):
        yield {"data": data, "transform": node.get("transform", []), "node": node}
    for child in node.get("layer", []):
        yield from layers(child, data)


def drawn(chart: alt.LayerChart, fields: Sequence[str], **sliders: float) -> list[dict[str, str]]:
    """Every row of the first layer that calculates all of ``fields``, as text.

    ``sliders`` sets the range inputs of the chart (``slider_E=128``) before it is drawn.
    """
    spec = specification(chart)
    params = copy.deepcopy(spec.get("params", []))
    known = {param["name"] for param in params}
    assert set(sliders) <= known, f"{set(sliders) - known} not among {known}"
    for param in params:
        if param["name"] in sliders:
            param["value"] = sliders[param["name"]]
            param.pop("bind")
    for layer in layers(spec):
        made = {name for step in layer["transform"] for name in _made(step)}
        made |= {name for row in layer["data"].get("values", []) for name in row}
        if set(fields) <= made:
            return _render(layer["data"], layer["transform"], params, fields)
    raise AssertionError(f"no layer of the chart calculates {fields}")


def _made(step: Mapping[str, Any]) -> list[str]:
    name = step.get("as", [])
    return [name] if isinstance(name, str) else list(name)


def _render(data: Any, transform: Any, params: Any, fields: Sequence[str]) -> list[dict[str, str]]:
    told = " + ';' + ".join(f"datum.{field}" for field in fields)
    spec = {
        "data": data,
        "params": params,
        "transform": [*transform, {"calculate": f"'row:' + {told}", "as": "told"}],
        "mark": {"type": "text", "aria": False},
        "encoding": {"text": {"field": "told", "type": "nominal"}},
    }
    svg = vl_convert.vegalite_to_svg(json.dumps(spec))
    rows = [html.unescape(row).split(";") for row in re.findall(r">row:([^<]*)<", svg)]
    return [dict(zip(fields, row, strict=True)) for row in rows]
