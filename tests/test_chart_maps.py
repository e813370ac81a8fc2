"""Maps of draft lengths and of names: Vega finds the length that plain search finds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import pytest
import vl_convert

from specdec_lib import charts, theme
from specdec_lib.charts import Cells, Slider
from specdec_lib.colour import contrast
from specdec_lib.formula import DomainError, Formula
from specdec_lib.formulas import acceptance, experts, roofline, speculation
from specdec_lib.symbols import SECOND, B, S, T
from tests.chart_values import drawn, specification

#: Sp for one acceptance rate and a drafter that is a fraction c of a plain step.
SPEEDUP = speculation.speedup.where(
    N=acceptance.expected_tokens.rhs, C_draft=speculation.fraction_draft.rhs
)
BATCH, RATE = [1, 2, 4, 8, 16, 32, 64, 128], [0.5, 0.7, 0.9]


def step(E: int, k: int, fixed: float) -> Formula:
    """A made-up step: experts that are read, arithmetic, a cache, and a fixed time."""
    read = experts.distinct_experts.where(E=E, k=k, n=B * T).rhs
    return Formula("C", fixed + read + B * T / 50 + B * S / 1e5, SECOND, "derived: speedup")


STEPS = {
    ("mixture", "no overhead"): step(128, 4, 2.0),
    ("mixture", "overhead"): step(128, 4, 40.0),
    ("few experts", "no overhead"): step(4, 2, 2.0),
    ("few experts", "overhead"): step(4, 2, 40.0),
}


@pytest.fixture(autouse=True)
def themed() -> Iterator[None]:
    """Every chart with the theme, and Altair as it was afterwards."""
    with alt.renderers.enable(), alt.data_transformers.enable("default"):
        charts.enable()
        yield


def lengths(steps: Any = STEPS, **changes: Any) -> alt.LayerChart:
    arguments: dict[str, Any] = {
        "menus": () if isinstance(steps, Formula) else ("model", "engine"),
        "sliders": {"c": Slider(0, 0.4, 0.01, value=0.1)},
        "fixed": {"S": 4096},
        "description": "The best draft length over batch and acceptance.",
    }
    axes = Cells("B", BATCH), Cells("alpha", RATE)
    return charts.optimum(SPEEDUP, steps, *axes, **(arguments | changes))


def by_search(
    made: Formula, batch: float, rate: float, c: float, longest: int
) -> tuple[int, float]:
    """The best length and its speedup in plain Python, the shorter length first."""
    best, gain = 0, 1.0
    plain = made(B=batch, T=1, S=4096)
    for gamma in range(1, longest + 1):
        tokens = sum(rate**i for i in range(gamma + 1))
        now = tokens * plain / (made(B=batch, T=gamma + 1, S=4096) + c * gamma * plain)
        if now > gain * (1 + 1e-12):
            best, gain = gamma, now
    return best, gain


@pytest.mark.parametrize("choice", list(STEPS), ids=", ".join)
@pytest.mark.parametrize("c", [0.0, 0.1, 0.4])
def test_every_cell_has_the_best_length(choice: tuple[str, str], c: float) -> None:
    picked: dict[str, Any] = {"slider_c": c, "menu_0": choice[0], "menu_1": choice[1]}
    rows = drawn(lengths(), ["x", "y", "length", "speedup", "x_words", "y_words"], **picked)
    assert [(float(r["x"]), float(r["y"])) for r in rows] == [(b, a) for a in RATE for b in BATCH]
    for row in rows:
        best, gain = by_search(STEPS[choice], float(row["x"]), float(row["y"]), c, 16)
        assert int(row["length"]) == best
        assert float(row["speedup"]) == pytest.approx(gain, rel=1e-12)
        assert row["x_words"] == f"{float(row['x']):g}"
        assert row["y_words"] == f"{float(row['y']):g}"


def test_the_cells_differ_and_some_have_no_draft() -> None:
    """Otherwise the test above would say little."""
    found = {int(row["length"]) for row in drawn(lengths(), ["x", "y", "length"])}
    assert 0 in found and len(found) > 4


def test_it_looks_beyond_a_dip() -> None:
    """The first token loses, many gain: a search that climbs would stop at none."""
    made = step(256, 6, 8.0)
    chart = charts.optimum(
        SPEEDUP,
        made,
        Cells("B", [6]),
        Cells("alpha", [0.95]),
        fixed={"S": 4096, "c": 0.265},
        longest=24,
        description="One cell whose speedup dips before it rises.",
    )
    (row,) = drawn(chart, ["length", "speedup"])
    plain = made(B=6, T=1, S=4096)
    assert 1.95 * plain / (made(B=6, T=2, S=4096) + 0.265 * plain) < 1
    assert int(row["length"]) == by_search(made, 6, 0.95, 0.265, 24)[0] > 1


def test_equal_speedups_go_to_the_shorter_draft_and_none_is_exactly_one() -> None:
    """Tokens that cost next to nothing: in one row none is ever accepted, in the other each is."""
    level = Formula("C", 7 + 1e-18 * T * B * S, SECOND, "derived: speedup")
    chart = charts.optimum(
        SPEEDUP,
        level,
        Cells("B", [1, 3]),
        Cells("alpha", [0.0, 1.0]),
        fixed={"S": 1, "c": 0},
        description="Nothing is accepted in one row, everything in the other.",
    )
    rows = drawn(chart, ["length", "speedup"])
    assert [int(row["length"]) for row in rows] == [0, 0, 16, 16]
    assert [float(row["speedup"]) for row in rows] == [1, 1, 17, 17]


def test_menus_open_with_their_first_choice_and_every_choice_changes_the_map() -> None:
    spec = specification(lengths())
    menus = [param for param in spec["params"] if param["name"].startswith("menu_")]
    assert [param["bind"]["name"] for param in menus] == ["model", "engine"]
    assert [param["value"] for param in menus] == ["mixture", "no overhead"]
    seen = set()
    for choice in STEPS:
        moved = json.loads(json.dumps(spec))
        for place, name in enumerate(choice):
            moved["params"][place]["value"] = name
        seen.add(vl_convert.vegalite_to_svg(json.dumps(moved)))
    assert len(seen) == len(STEPS)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"longest": 0}, "longest draft of at least 1"),
        ({"longest": 400}, "a chart works out 6000 at most"),
        ({"menus": ("model",)}, "names 2 choices for 1 menus"),
        ({"fixed": {}}, "no value for S"),
        ({"sliders": {"c": Slider(0, 0.4, 0.1), "gamma": Slider(0, 4, 1)}}, "given twice"),
        ({"steps": {("a",): roofline.weight_work}, "menus": ("model",)}, "verify width T"),
        ({"steps": {}}, "something to choose from"),
        ({"steps": dict(list(STEPS.items())[:3])}, "no Formula for it"),
    ],
)
def test_a_map_that_cannot_be_drawn_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        lengths(**changes)


def test_a_formula_that_is_no_speedup_is_refused() -> None:
    with pytest.raises(ValueError, match="a speedup needs gamma, C_0 and C_verify"):
        charts.optimum(
            speculation.hurdle,
            step(8, 2, 1.0),
            Cells("B", [1, 2]),
            Cells("alpha", [0.5]),
            description="The hurdle has no draft length.",
        )


def test_axes_that_leave_the_domain_or_are_intervals_are_refused() -> None:
    fixed = {"S": 4096.0, "c": 0.1}
    for y, error, says in (
        (Cells("alpha", [0.5, 1.5]), DomainError, "alpha"),
        (Cells("alpha", (0.2, 0.8), count=4), ValueError, "single values"),
    ):
        with pytest.raises(error, match=says):
            charts.optimum(
                SPEEDUP,
                step(8, 2, 1.0),
                Cells("B", [1, 2]),
                y,
                fixed=fixed,
                description="An axis that cannot be used.",
            )


# --- tiles -------------------------------------------------------------------------------------
NAMES = np.array([["expert", "expert", "kv"], ["overhead", "expert", "kv"]])
ROLES = {"overhead": "measured", "expert": "moe", "kv": "attention"}


def regimes(**changes: Any) -> alt.LayerChart:
    arguments: dict[str, Any] = {
        "roles": ROLES,
        "name_title": "regime",
        "marks": [[1, 2, 3], [4, 5, 16]],
        "mark_title": "best draft length",
        "description": "What binds a step over batch and context.",
    }
    names = changes.pop("names", NAMES)
    axes = Cells("B", [1, 8, 64]), changes.pop("y", Cells("S", [1024, 4096]))
    return charts.tiles(names, *axes, **(arguments | changes))


def test_a_tile_has_its_name_its_mark_and_its_place() -> None:
    rows = drawn(regimes(), ["x", "y", "name", "m"])
    assert [row["name"] for row in rows] == NAMES.ravel().tolist()
    assert [int(row["m"]) for row in rows] == [1, 2, 3, 4, 5, 16]
    assert [(float(row["x"]), float(row["y"])) for row in rows] == [
        (B, S) for S in (1024, 4096) for B in (1, 8, 64)
    ]


def test_letters_stand_out_from_every_tile() -> None:
    """Each number is drawn after its tile, in a colour with contrast to it."""
    svg = vl_convert.vegalite_to_svg(json.dumps({**specification(regimes()), "width": 300}))
    ink = {mark: fill for fill, mark in re.findall(r'fill="(#\w+)"[^>]*>(1|4|16)</text>', svg)}
    assert set(ink) == {"1", "4", "16"}
    for mark, name in (("1", "expert"), ("4", "overhead"), ("16", "kv")):
        letters = {"#000": "#000000", "#fff": "#ffffff"}.get(ink[mark], ink[mark])
        assert contrast(letters, theme.role_colour(ROLES[name])) >= 4


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"names": NAMES.T}, "2 rows of 3 columns"),
        ({"marks": [1, 2, 3]}, "2 rows of 3 columns"),
        ({"roles": {"expert": "moe", "kv": "attention"}}, "no role for overhead"),
        ({"roles": ROLES | {"kv": "nobody"}}, "no role 'nobody'"),
        ({"y": Cells("S", (1024, 4096), count=2)}, "single values"),
    ],
)
def test_tiles_that_cannot_be_drawn_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        regimes(**changes)
