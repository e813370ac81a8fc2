"""Evaluates expressions in Vega itself, through vl-convert: the chart's own arithmetic."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import vl_convert


def evaluate_in_vega(expression: str, rows: Sequence[Mapping[str, float]]) -> list[float]:
    """``expression`` over ``datum`` for every row, with all digits of a float64."""
    specification = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "data": [
            {
                "name": "points",
                "values": [dict(row) for row in rows],
                "transform": [{"type": "formula", "as": "value", "expr": expression}],
            }
        ],
        "marks": [
            {
                "type": "text",
                "from": {"data": "points"},
                "encode": {"enter": {"text": {"signal": "'value:' + datum.value"}}},
            }
        ],
    }
    svg = vl_convert.vega_to_svg(json.dumps(specification))
    values = [float(text) for text in re.findall(r"value:([^<]+)<", svg)]
    assert len(values) == len(rows), svg[:400]
    return values
