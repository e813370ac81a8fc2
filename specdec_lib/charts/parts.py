"""Parts of a whole: Formulas of one unit whose sum is divided up where a chart is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib import theme
from specdec_lib.charts.frame import legend, role_of_each, tooltip
from specdec_lib.charts.setting import Setting
from specdec_lib.charts.sliders import Slider
from specdec_lib.charts.text import display_unit, titled, unit_of
from specdec_lib.formula import Formula

__all__ = ["Part", "Wholes"]

#: A part of a whole: a Formula, or several that are added; none where the whole lacks this part.
Part = Formula | Sequence[Formula]


@dataclass(frozen=True)
class Wholes:
    """Wholes by name, each cut into parts by label: ``parts[name][label]`` are the Formulas whose
    sum a part is.

    ``look`` has the role of each label that occurs, in the order in which they are drawn; sizes
    are shown in ``unit``, which is ``factor`` base units.
    """

    parts: Mapping[str, Mapping[str, Sequence[Formula]]]
    look: Mapping[str, str]
    setting: Setting
    unit: str
    factor: float
    share_title: str
    size_title: str

    @classmethod
    def of(
        cls,
        rows: Mapping[str, Mapping[str, Part]],
        roles: Mapping[str, str],
        *,
        axes: Sequence[str],
        sliders: Mapping[str, Slider] | None,
        fixed: Mapping[str, float] | None,
        titles: tuple[str, str],
        unit: str | None,
    ) -> Wholes:
        """From what a caller writes; ``titles`` are those of a share and of a size.

        Raises ValueError for nothing to draw, for Formulas of different units, for symbols without
        one source and for labels and roles that do not match.
        """
        parts = {name: _present(row) for name, row in rows.items()}
        formulas = {
            f"{name}, {label}, {i}": formula
            for name, row in parts.items()
            for label, several in row.items()
            for i, formula in enumerate(several)
        }
        if not formulas:
            raise ValueError("nothing to draw: there are no parts")
        there = {label for row in parts.values() for label in row}
        labels = [*(k for k in roles if k in there), *sorted(there - set(roles))]
        shown, factor = display_unit(unit_of(formulas), unit)
        return cls(
            parts,
            role_of_each(labels, {k: roles[k] for k in labels if k in roles}),
            Setting(formulas.values(), axes, sliders, fixed),
            shown,
            factor,
            titled(titles[0], "%"),
            titled(titles[1], shown),
        )

    def check(self, **axes: np.ndarray) -> None:
        """ValueError where, at an extreme of the sliders, a part is negative or a whole is nothing
        or without bound, and has no shares; DomainError where a Formula is not defined."""
        for at in self.setting.extremes():
            for name, row in self.parts.items():
                values = [
                    self.setting.value(formula, at, **_those_of(formula, axes))
                    for several in row.values()
                    for formula in several
                ]
                total: Any = sum(values)
                whole = np.all((total > 0) & np.isfinite(total))
                if not whole or any(np.any(value < 0) for value in values):
                    where = ", ".join(f"{key} = {value:g}" for key, value in at.items())
                    raise ValueError(
                        f"{name!r} has no shares at {where or 'the fixed values'}: parts must be "
                        "at least zero and their sum positive and finite"
                    )

    def size(self, name: str, label: str, **axes: str) -> str:
        """The size of a part, in the unit shown, as a Vega expression."""
        terms = [
            f"({self.setting.vega(formula, **_those_of(formula, axes))})"
            for formula in self.parts[name][label]
        ]
        return f"({' + '.join(terms)}) / {self.factor!r}"

    @staticmethod
    def divided(group: str) -> list[dict[str, Any]]:
        """The transforms from the ``size`` of each ``part`` to its share of the whole and to where
        it begins and ends; rows of one ``group`` make up a whole, in the order of ``place``."""
        return [
            {"joinaggregate": [{"op": "sum", "field": "size", "as": "whole"}], "groupby": [group]},
            {"calculate": "100 * datum.size / datum.whole", "as": "share"},
            {
                "stack": "share",
                "groupby": [group],
                "sort": [{"field": "place", "order": "ascending"}],
                "as": ["low", "high"],
            },
        ]

    def share_channel(self, room: int = 0) -> dict[str, Any]:
        """The position channel of the shares, from 0 to 100 %, with ``room`` pixels behind that."""
        end: Any = {"expr": f"100 * width / max(1, width - {room})"} if room else 100
        return {
            "field": "low",
            "type": "quantitative",
            "title": self.share_title,
            "scale": {"domainMin": 0, "domainMax": end, "nice": False},
            "axis": {"values": [0, 25, 50, 75, 100]},
        }

    def colour(self) -> dict[str, Any]:
        """The colour channel of the parts, with their legend."""
        return {
            "field": "part",
            "type": "nominal",
            "scale": theme.scale(self.look).to_dict(),
            "legend": legend(list(self.look), []),
        }

    def told(self, first: dict[str, Any]) -> list[dict[str, Any]]:
        """What a tooltip says: the ``first`` thing, which part it is, its share and its size."""
        return [
            first,
            {"field": "part", "type": "nominal", "title": " "},
            tooltip("share", self.share_title),
            tooltip("size", self.size_title),
        ]


def _present(row: Mapping[str, Part]) -> dict[str, list[Formula]]:
    """The parts that a whole has, each as a list."""
    each = {label: [p] if isinstance(p, Formula) else list(p) for label, p in row.items()}
    return {label: formulas for label, formulas in each.items() if formulas}


def _those_of(formula: Formula, axes: Mapping[str, Any]) -> dict[str, Any]:
    """The axes that a formula depends on."""
    keywords = {known.keyword for known in formula.inputs}
    return {key: value for key, value in axes.items() if key in keywords}
