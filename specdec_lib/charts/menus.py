"""Menus: what a reader picks by name, such as a model and an accelerator."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from specdec_lib.charts.text import literal
from specdec_lib.formula import Formula

__all__ = ["Menus"]


@dataclass(frozen=True)
class Menus:
    """Formulas by the choices in some menus; without a menu there is one Formula alone.

    ``titles`` are the words beside the menus, ``items`` the Formula of each combination.
    """

    titles: tuple[str, ...]
    items: Mapping[tuple[str, ...], Formula]

    @classmethod
    def of(cls, titles: Sequence[str], given: Formula | Mapping[tuple[str, ...], Formula]) -> Menus:
        """From what a caller writes; ValueError where a combination of choices has no Formula."""
        items: dict[tuple[str, ...], Formula] = (
            {(): given} if isinstance(given, Formula) else dict(given)
        )
        if not items:
            raise ValueError("a menu needs something to choose from")
        for key in items:
            if len(key) != len(titles):
                raise ValueError(f"{key} names {len(key)} choices for {len(titles)} menus")
        menus = cls(tuple(titles), items)
        missing = [key for key in itertools.product(*menus.options) if key not in items]
        if missing:
            raise ValueError(f"the menus offer {missing[0]}, but there is no Formula for it")
        return menus

    @property
    def options(self) -> list[list[str]]:
        """What each menu offers, in the order of its first mention."""
        return [list(dict.fromkeys(column)) for column in zip(*self.items, strict=True)]

    @property
    def values(self) -> list[Formula]:
        """All Formulas."""
        return list(self.items.values())

    def chosen(self, expressions: Mapping[tuple[str, ...], str]) -> str:
        """The expression of the reader's choice as a Vega expression; no other is evaluated."""
        return self._branch(expressions, ())

    def _branch(self, expressions: Mapping[tuple[str, ...], str], so_far: tuple[str, ...]) -> str:
        place = len(so_far)
        if place == len(self.titles):
            return f"({expressions[so_far]})"
        *most, last = self.options[place]
        return (
            "("
            + "".join(
                f"{_name(place)} === {literal(option)} ? "
                f"{self._branch(expressions, (*so_far, option))} : "
                for option in most
            )
            + self._branch(expressions, (*so_far, last))
            + ")"
        )

    def params(self) -> list[dict[str, Any]]:
        """The menus as parameters of a chart; each opens with its first choice."""
        return [
            {
                "name": _name(place),
                "value": options[0],
                "bind": {"input": "select", "options": options, "name": title},
            }
            for place, (title, options) in enumerate(zip(self.titles, self.options, strict=True))
        ]

    def added(self, chart: alt.LayerChart) -> alt.LayerChart:
        """``chart`` with the menus above its sliders."""
        if not self.titles:
            return chart
        spec = chart.to_dict()
        spec["params"] = [*self.params(), *spec.get("params", [])]
        whole: alt.LayerChart = alt.LayerChart.from_dict(spec)
        return whole


def _name(place: int) -> str:
    return f"menu_{place}"
