"""The frame of every chart: parameters at the top, the description, the width of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from specdec_lib import theme
from specdec_lib.charts.renderer import require_description
from specdec_lib.charts.setting import Setting

__all__ = ["FORMAT", "assemble", "legend", "role_of_each", "tooltip"]

#: Numbers in tooltips: four significant digits, thousands apart.
FORMAT = ",.4~r"


def assemble(
    layers: Sequence[Mapping[str, Any]],
    setting: Setting | None,
    *,
    description: str,
    title: str | None,
    height: int,
) -> alt.LayerChart:
    """One chart from its layers.

    All parameters stand at the top level, where the page finds them when it draws the chart again
    for the other mode and wants the sliders where the reader left them.
    """
    spec: dict[str, Any] = {
        "description": require_description(description),
        "width": "container",
        "height": height,
        "layer": list(layers),
    }
    if setting is not None and setting.sliders:
        spec["params"] = setting.params()
    heading: dict[str, Any] = {"text": title} if title else {}
    readouts = setting.readouts() if setting is not None else []
    if readouts:
        printed = {"expr": " + ',  ' + ".join(readouts)}
        if title:
            heading["subtitle"] = printed
        else:
            heading = {"text": printed, "fontWeight": "normal", "fontSize": 13}
    if heading:
        spec["title"] = heading
    chart: alt.LayerChart = alt.LayerChart.from_dict(spec)
    return chart


def role_of_each(labels: Sequence[str], roles: str | Mapping[str, str]) -> dict[str, str]:
    """The role of each label, from one role for all or from a mapping that names each label.

    Raises ValueError for an unknown role, a label without one or a role for no label.
    """
    of_each = dict.fromkeys(labels, roles) if isinstance(roles, str) else dict(roles)
    for name in of_each.values():
        theme.role(name)
    if set(of_each) != set(labels):
        unmatched = ", ".join(sorted(set(of_each) ^ set(labels)))
        raise ValueError(f"roles and labels differ in: {unmatched}; name a role for each label")
    return {label: of_each[label] for label in labels}


def legend(labels: Sequence[str], joined: Sequence[str]) -> dict[str, Any] | None:
    """The legend of several labels, in as many columns as fit the page; None for one label.

    Labels that are ``joined`` stand for lines, whose symbols are long enough to show their dashes.
    The room is that of the container, not the ``width`` of the plot, which changes while Vega
    lays the chart out and would cut a row off; naming ``width`` makes it follow the window.
    """
    if len(labels) < 2:
        return None
    widest = 60 + 7 * max(len(label) for label in labels)
    room = "((width && containerSize()[0]) || 560) - 60"
    columns = {"expr": f"max(1, floor(({room}) / {widest}))"}
    shown: dict[str, Any] = {"title": None, "columns": columns}
    if len(joined) == len(labels):
        shown |= {"symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2.5}
    elif joined:
        shown |= {"symbolOffset": 8, "labelOffset": 18, "symbolStrokeWidth": 2.5}
    return shown


def tooltip(field: str, title: str) -> dict[str, Any]:
    """One number in a tooltip."""
    return {"field": field, "type": "quantitative", "title": title, "format": FORMAT}
