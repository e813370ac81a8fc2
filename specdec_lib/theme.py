"""The look of every chart: one colour a role, one configuration for each mode of the page.

A colour says what a thing is, the same in every chapter.  Each role's colour stands out from the
white and from the dark page (contrast at least 3), and all of them stay apart for colour-blind
readers; every role also has a dash pattern and a shape of its own, so that no chart depends on
colour alone.  A stored chart carries no colour that suits one mode only: text, axes and background
take theirs from the page when it draws, from :func:`vega_config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import altair as alt

from specdec_lib.colour import ink_on, with_luminance

__all__ = [
    "DARK_PAGES",
    "LIGHT_PAGE",
    "ROLES",
    "Role",
    "colours",
    "ink_on",
    "register",
    "role",
    "role_colour",
    "scale",
    "shades",
    "shared_config",
    "vega_config",
]

#: The pages that a chart is drawn on: the light one, and the dark one in the shades that the
#: book's theme and the theme it builds on use.
LIGHT_PAGE = "#ffffff"
DARK_PAGES = ("#121212", "#14181e")


@dataclass(frozen=True)
class Role:
    """How one kind of thing is drawn: what it is, its colour, its dashes and its shape."""

    name: str
    meaning: str
    colour: str
    dash: tuple[int, ...]
    shape: str


def _roles(*roles: Role) -> Mapping[str, Role]:
    return MappingProxyType({role.name: role for role in roles})


#: Every role by name.  The colours came out of a search that kept each hue where one expects it
#: and made the least distance between any two, under three kinds of colour vision, as large as
#: the contrast with both pages allows; tests/test_theme.py measures it.
ROLES: Mapping[str, Role] = _roles(
    Role("dense", "a dense layer or model", "#2490fc", (1, 0), "circle"),
    Role("moe", "a mixture-of-experts layer or model", "#e46c0c", (9, 3), "square"),
    Role("attention", "attention and its cache", "#c00c9c", (7, 3, 2, 3), "diamond"),
    Role("draft", "drafting", "#6c9c78", (3, 3), "triangle-up"),
    Role("verify", "the verify pass", "#5448fc", (12, 4), "triangle-down"),
    Role("measured", "measured or simulated data", "#cc3048", (6, 2, 2, 2, 2, 2), "cross"),
    Role("ideal", "an ideal, a limit or a bound", "#a884a8", (5, 5), "triangle-right"),
    Role("threshold", "a threshold or a neutral mark", "#787878", (2, 4), "triangle-left"),
)

_FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
)


def role(name: str) -> Role:
    """The :class:`Role` of that name; ValueError names the roles that there are."""
    try:
        return ROLES[name]
    except KeyError:
        raise ValueError(f"no role {name!r}; the roles are {', '.join(ROLES)}") from None


def role_colour(name: str) -> str:
    """The colour of a role as ``#rrggbb``; ValueError names the roles that there are."""
    return role(name).colour


def scale(labels: Mapping[str, str]) -> alt.Scale:
    """A colour scale that gives each label the colour of its role: ``{"MoE layer": "moe"}``.

    Labels that share a role get shades of its colour, in their order.
    """
    return alt.Scale(domain=list(labels), range=list(colours(labels).values()))


def colours(labels: Mapping[str, str]) -> dict[str, str]:
    """The colour of each label, given its role; labels that share a role get its shades."""
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(labels.values()):
        of_role = [label for label, theirs in labels.items() if theirs == name]
        chosen.update(zip(of_role, shades(name, len(of_role)), strict=True))
    return {label: chosen[label] for label in labels}


#: Between these luminances a colour has a contrast of at least 3 with the light and the dark pages.
_BAND = (0.13, 0.295)


def shades(name: str, count: int) -> list[str]:
    """``count`` colours of one role, dark to light, each with contrast 3 on either page.

    A single one is the role's own colour.  The band is narrow: up to three are told apart easily,
    so charts vary the dash as well.  Raises ValueError for an unknown role or a count below one.
    """
    if count < 1:
        raise ValueError(f"cannot make {count} shades")
    own = role_colour(name)
    if count == 1:
        return [own]
    low, high = _BAND
    steps = [low * (high / low) ** (i / (count - 1)) for i in range(count)]
    return [with_luminance(own, target) for target in steps]


def shared_config() -> dict[str, Any]:
    """What both modes share and every stored chart carries: sizes, fonts, lines, number format."""
    grey = "#888888"  # lines of axis and grid, faint on either page
    return {
        "font": _FONT,
        "padding": {"left": 2, "right": 8, "top": 4, "bottom": 2},
        "view": {"stroke": None, "continuousHeight": 300, "continuousWidth": 560},
        "locale": {
            "number": {
                "decimal": ".",
                "thousands": "\N{NARROW NO-BREAK SPACE}",
                "grouping": [3],
                "currency": ["", ""],
                "minus": "\N{MINUS SIGN}",
            }
        },
        "axis": {
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelPadding": 4,
            "labelOverlap": True,
            "labelLimit": 150,
            "domainColor": grey,
            "tickColor": grey,
            "gridColor": grey,
            "gridOpacity": 0.25,
        },
        # the title of the y axis lies flat above it: easier to read, and narrow pages keep room
        "axisY": {
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "end",
            "titleBaseline": "bottom",
            "titleX": -30,
            "titleY": -10,
            "domain": False,
            "ticks": False,
            "labelPadding": 8,  # a point on the left edge keeps clear of the numbers
        },
        "legend": {
            "orient": "bottom",
            "direction": "horizontal",
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "labelLimit": 300,
            "symbolSize": 110,
            "symbolStrokeWidth": 2.5,
            "columnPadding": 18,
            "offset": 10,
        },
        "title": {
            "anchor": "start",
            "fontSize": 14,
            "fontWeight": 600,
            "subtitleFontSize": 13,
            "offset": 12,
        },
        "line": {"strokeWidth": 2.5, "strokeCap": "butt"},
        "point": {"filled": True, "size": 64, "opacity": 1},
        "text": {"fontSize": 12},
        "range": {"category": [each.colour for each in ROLES.values()]},
    }


def vega_config(dark: bool) -> dict[str, Any]:
    """The whole Vega-Lite configuration for a light or a ``dark`` page.

    The site's script passes it when it draws and draws again when the reader changes the mode.
    """
    text, title, soft = (
        ("#d0d5da", "#eceff2", "#b4bac1") if dark else ("#3d434a", "#1f2328", "#59616a")
    )
    config = shared_config()
    config["background"] = "transparent"
    for part in ("axis", "legend", "header"):
        config[part] = {**config.get(part, {}), "labelColor": text, "titleColor": title}
    config["title"] = {**config["title"], "color": title, "subtitleColor": soft}
    config["text"] = {**config["text"], "color": text}
    return config


def register() -> None:
    """Make Altair draw with this theme, and keep data in the chart under no made-up name."""

    @alt.theme.register("specdec", enable=True)
    def _theme() -> alt.theme.ThemeConfig:
        return {"config": shared_config()}  # type: ignore[typeddict-item]

    alt.data_transformers.enable("default", consolidate_datasets=False)
