"""Charts: Vega draws what the Formula says, the output is exact, and wrong input is refused."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import altair as alt
import numpy as np
import pytest
import vl_convert

from specdec_lib import charts, theme
from specdec_lib.charts import Cells, Layer, Marker, Points, Rule, Sides, Slider
from specdec_lib.charts.renderer import ChartError, mimebundle
from specdec_lib.charts.room import Box, Room
from specdec_lib.charts.text import plain
from specdec_lib.formula import DomainError, Formula
from specdec_lib.formulas import attention, experts, roofline
from specdec_lib.symbols import SYMBOLS
from tests.chart_values import drawn, specification
from tests.test_chart_maps import lengths, regimes

CROSSING = {"f": 139264.0, "m_c": 576.0, "m_q": 73728.0}


@pytest.fixture(autouse=True)
def themed() -> Iterator[None]:
    """Every chart with the theme, and Altair as it was afterwards."""
    with alt.renderers.enable(), alt.data_transformers.enable("default"):
        charts.enable()
        yield


def distinct(**changes: Any) -> alt.LayerChart:
    """The first chart of the chapter on experts, with some of its arguments changed."""
    arguments: dict[str, Any] = {
        "x": "n",
        "over": (1, 1000),
        "log": True,
        "roles": "moe",
        "y_title": "distinct experts",
        "sliders": {"E": Slider(16, 512, 16, value=256), "k": Slider(1, 16, 1, value=6)},
        "description": "Distinct experts rise with the tokens and level off at E.",
    }
    return charts.curve(experts.distinct_experts, **(arguments | changes))


def intensities(**changes: Any) -> alt.LayerChart:
    """Two curves of two roles with rules, a marker and data."""
    arguments: dict[str, Any] = {
        "x": "n",
        "over": (1, 1e5),
        "log": True,
        "y_log": True,
        "roles": {"mixture": "moe", "dense": "dense"},
        "y_title": "arithmetic intensity",
        "sliders": {"ridge": Slider(100, 1200, 12.5, value=562.5)},
        "fixed": {"E": 256, "k": 6, "s": 1, "b": 0.53125},
        "rules": [
            Rule(roofline.weight_knee, "dense knee"),
            Rule(1125.0, "FP4 ridge", axis="y"),
        ],
        "markers": [Marker(experts.moe_knee, "MoE knee", "moe", on="mixture")],
        "points": [
            Points([1, 10, 100], [4.0, 5.0, 11.0], "simulated", low=[3, 4, 9], high=[5, 6, 12])
        ],
        "description": "The mixture's intensity stays flat while the dense one rises.",
    }
    curves = {"mixture": experts.moe_intensity, "dense": roofline.weight_intensity}
    return charts.curve(curves, **(arguments | changes))


def roofs() -> alt.LayerChart:
    return charts.roofline(
        roofline.attainable_rate,
        {
            "B200, FP8": {"peak": 4500e12, "bandwidth": 8e12},
            "H100, FP8": {"peak": 1978.9e12, "bandwidth": 3.35e12},
        },
        [
            Layer(roofline.weight_intensity.where(b=1), "dense layer", "dense", "H100, FP8"),
            Layer(240.0, "attention", "attention"),
        ],
        roles="ideal",
        sliders={"n": Slider(1, 1024, 1, value=8, base=2)},
        description="Two rooflines with a dense layer that moves to the right with the batch.",
    )


def crossing_grid() -> alt.LayerChart:
    return charts.grid(
        attention.crossing_width,
        Cells("ridge", {"H200": 206.1, "B200": 281.25}),
        Cells("m_q", [9216, 73728]),
        value_title="verify width T*",
        sides=Sides(2.0, ("compute-bound at T = 2", "attention"), ("memory-bound", "dense")),
        sliders={"S": Slider(512, 2**20, 1, value=4096, base=2)},
        fixed={"f": 139264, "m_c": 576},
        description="Where two verify tokens are compute-bound, by device and heads.",
    )


def family_grid() -> alt.LayerChart:
    layer = {"f": 139264, "m_c": 576}
    return charts.grid(
        {
            "query alone": attention.crossing_width.where(m_q=73728, **layer),
            "query and output": attention.crossing_width.where(m_q=139264, **layer),
            "nothing": attention.crossing_width_long_context.where(**layer),
        },
        Cells("ridge", {"H200": 206.1, "B200": 281.25}),
        value_title="verify width T*",
        sides=Sides(2.0, ("compute-bound at T = 2", "attention"), ("memory-bound", "dense")),
        sliders={"S": Slider(128, 2**20, 1, value=512, base=2)},
        description="Verify width from which attention is compute-bound, by what is counted.",
    )


def intensity_grid() -> alt.LayerChart:
    return charts.grid(
        attention.intensity,
        Cells("S", (512, 2**20), count=20, log=True),
        Cells("T", range(1, 9)),
        value_title="intensity",
        value_log=True,
        sliders={"m_c": Slider(288, 1152, 288, value=576)},
        fixed={"f": 139264, "m_q": 73728},
        description="Attention intensity over context and verify width.",
    )


def tax_bars() -> alt.LayerChart:
    return charts.bars(
        {
            "Mixtral": experts.expert_tax.where(E=8, k=2, s=0),
            "V4-Flash": experts.expert_tax.where(E=256, k=6, s=1),
        },
        roles="moe",
        value_title="expert tax",
        sliders={"n": Slider(1, 256, 1, value=8)},
        description="The expert tax of two models at the same number of tokens.",
    )


def ridge_bars() -> alt.LayerChart:
    return charts.bars(
        {"H100": {"BF16": 295.343, "FP8": 590.716}, "B200": {"BF16": 281.25, "FP8": 562.5}},
        roles={"BF16": "dense", "FP8": "verify"},
        value_title="ridge point (FLOP/B)",
        log=True,
        description="The ridge points of two devices by precision.",
    )


def bytes_of_steps(**changes: Any) -> alt.LayerChart:
    """Two wholes, of which one lacks a part and one has a part of two Formulas."""
    weights = roofline.weight_traffic.where(b=2)
    arguments: dict[str, Any] = {
        "roles": {"experts": "moe", "rest": "dense"},
        "share_title": "share of the bytes",
        "size_title": "bytes",
        "size_unit": "MB",
        "sliders": {"n": Slider(1, 256, 1, value=8)},
        "fixed": {"P": 1e6},
        "description": "What a step reads in a mixture and in a dense model, by part.",
    }
    rows = {
        "mixture": {
            "rest": [weights, roofline.weight_traffic.where(P=3e6, b=1)],
            "experts": experts.experts_traffic.where(E=8, k=2, s=0, P_e=1e6, b=1),
        },
        "dense": {"experts": [], "rest": weights},
    }
    return charts.share_bars(rows, **(arguments | changes))


def bytes_over_tokens(**changes: Any) -> alt.LayerChart:
    arguments: dict[str, Any] = {
        "x": "n",
        "over": (1, 1000),
        "log": True,
        "roles": {"rest": "dense", "experts": "moe"},
        "share_title": "share of the bytes",
        "size_title": "bytes",
        "sliders": {"P": Slider(1, 100, 1, value=10)},
        "description": "The share of the experts in the bytes grows with the tokens.",
    }
    parts = {
        "experts": experts.experts_traffic.where(E=8, k=2, s=0, P_e=10, b=1),
        "rest": roofline.weight_traffic.where(b=2),
    }
    return charts.share_areas(parts, **(arguments | changes))


def data_alone() -> alt.LayerChart:
    return charts.scatter(
        [
            Points([1, 2, 4, 8], [6.0, 11.2, 21.5, 40.1], "one sequence"),
            Points([1, 2, 4, 8], [6.0, 11.9, 23.1, 44.2], "uniform", "ideal", line=True),
        ],
        x_title="tokens T",
        y_title="distinct experts",
        log=True,
        description="Measured distinct experts lie below the uniform law.",
    )


EVERY: dict[str, Callable[[], alt.LayerChart]] = {
    "distinct": distinct,
    "intensities": intensities,
    "roofs": roofs,
    "crossing_grid": crossing_grid,
    "family_grid": family_grid,
    "intensity_grid": intensity_grid,
    "tax_bars": tax_bars,
    "ridge_bars": ridge_bars,
    "bytes_of_steps": bytes_of_steps,
    "bytes_over_tokens": bytes_over_tokens,
    "data_alone": data_alone,
    "lengths": lengths,
    "regimes": regimes,
}


def output_of(chart: alt.LayerChart) -> dict[str, Any]:
    """What a notebook stores for a chart."""
    bundle: dict[str, Any] = chart._repr_mimebundle_()
    return bundle


# --- the output --------------------------------------------------------------------------------
@pytest.mark.parametrize("name", EVERY)
def test_the_output_is_the_specification_and_its_sentence_and_nothing_else(name: str) -> None:
    output = output_of(EVERY[name]())
    assert set(output) == {"application/vnd.vegalite.v5+json", "text/plain"}
    assert output["text/plain"] == output[charts.MIME]["description"]
    assert len(output["text/plain"].split()) > 3


@pytest.mark.parametrize("name", EVERY)
def test_the_same_chart_is_the_same_bytes(name: str) -> None:
    first = json.dumps(output_of(EVERY[name]()))
    alt.Chart(alt.Data(values=[])).mark_point().add_params(alt.selection_interval()).to_dict()
    assert json.dumps(output_of(EVERY[name]())) == first
    assert len(first) < 20_000


@pytest.mark.parametrize("name", EVERY)
def test_parameters_stand_at_the_top_alone(name: str) -> None:
    spec = output_of(EVERY[name]())[charts.MIME]
    inner = json.dumps(spec["layer"])
    assert '"params"' not in inner
    for param in spec.get("params", []):
        assert param["name"].startswith(("slider_", "value_", "menu_"))
        assert ("bind" in param) == param["name"].startswith(("slider_", "menu_"))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("version", ["5.8", "6.4"])
def test_it_draws_in_the_vega_lite_of_the_book_and_of_jupyterlab(name: str, version: str) -> None:
    spec = output_of(EVERY[name]())[charts.MIME]
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=version)
    assert "mark-line role-mark" in svg or "mark-rect role-mark" in svg or "role-mark" in svg
    assert "NaN" not in svg


@pytest.mark.parametrize("name", EVERY)
def test_it_follows_the_width_of_the_page_and_the_mode(name: str) -> None:
    spec = output_of(EVERY[name]())[charts.MIME]
    assert spec["width"] == "container"
    assert spec["config"] == theme.shared_config()
    roles = {role.colour for role in theme.ROLES.values()}
    shades = {
        shade for role in theme.ROLES for count in (2, 3) for shade in theme.shades(role, count)
    }
    inks = {"#000000", "#ffffff"}  # letters on a coloured cell
    used = set(_colours(spec["layer"]))
    assert used <= roles | shades | inks
    assert "background" not in spec


def _colours(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for item in node.values():
            yield from _colours(item)
    elif isinstance(node, list):
        for item in node:
            yield from _colours(item)
    elif isinstance(node, str) and node.startswith("#"):
        yield node


def test_no_text_beside_a_curve_has_a_colour_of_its_own() -> None:
    """Letters take the colour of the mode, from the configuration that the page passes."""
    for name in ("intensities", "roofs", "data_alone"):
        texts = [m for m in _marks(specification(EVERY[name]())) if m["mark"]["type"] == "text"]
        assert bool(texts) == (name != "data_alone")
        for layer in texts:
            assert "color" not in layer["mark"] and "color" not in layer["encoding"]


def plain_chart(**properties: Any) -> alt.Chart:
    data = alt.Data(values=[{"x": 1 / 3, "y": 2.0}, {"x": 12345678.9, "y": 1e-9 / 3}])
    return alt.Chart(data, **properties).mark_point().encode(x="x:Q", y="y:Q")


@pytest.mark.parametrize("wrong", [alt.Undefined, "", "   ", "a chart"])
def test_a_chart_without_a_description_is_refused(wrong: Any) -> None:
    with pytest.raises(ChartError, match="add description='…'"):
        mimebundle(plain_chart(description=wrong).to_dict())
    if isinstance(wrong, str):
        with pytest.raises(ChartError, match="no description"):
            distinct(description=wrong)


def test_data_are_stored_with_six_significant_digits() -> None:
    chart = plain_chart(description="Two points with too many digits.")
    spec = mimebundle(chart.to_dict())[charts.MIME]
    assert spec["data"]["values"] == [{"x": 0.333333, "y": 2}, {"x": 12345700, "y": 3.33333e-10}]
    assert "datasets" not in spec


@pytest.mark.parametrize("value", [math.nan, math.inf, np.float64("nan")])
def test_data_that_json_cannot_hold_are_refused(value: float) -> None:
    spec = {"description": "A point that is no number.", "data": {"values": [{"x": value}]}}
    with pytest.raises(ChartError, match=r"chart\.data\.values\[0\]\.x"):
        mimebundle(spec)


def test_a_name_that_altair_made_up_is_refused() -> None:
    chart = plain_chart(description="A chart with a parameter nobody named.")
    counted = chart.add_params(alt.param(value=3, bind=alt.binding_range(min=0, max=9)))
    with pytest.raises(ChartError, match="name that Altair made up"):
        mimebundle(counted.to_dict())


def test_layering_two_charts_keeps_their_parameters_at_the_top() -> None:
    both = distinct() + distinct(fixed={"E": 128}, sliders={"k": Slider(1, 16, 1, value=6)})
    spec = both.properties(description="Two charts on top of each other.").to_dict()
    assert [param["name"] for param in spec["params"]] == ["slider_E", "slider_k"]


def test_numbers_are_shown_with_six_digits_where_ipython_runs() -> None:
    script = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("from specdec_lib import charts; charts.enable()")
shell.run_cell("import numpy as np; 100/3, np.float64(2/3)")
shell.run_cell("np.array([1/3, 200/3, 6.0])")
shell.run_cell("print(np.array([1e-9/3]))")
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert "(33.3333, 0.666667)" in run.stdout
    assert "array([0.333333, 66.6667, 6])" in run.stdout
    assert "[3.33333e-10]" in run.stdout


# --- Vega draws what the Formula says ----------------------------------------------------------
def numbers(rows: list[dict[str, str]], field: str) -> np.ndarray:
    return np.array([float(row[field]) for row in rows])


@pytest.mark.parametrize(("E", "k"), [(256, 6), (128, 16), (16, 1)])
def test_a_curve_is_the_formula_at_the_sliders(E: int, k: int) -> None:
    rows = drawn(distinct(), ["x", "shown_y"], slider_E=E, slider_k=k)
    n, drawn_values = numbers(rows, "x"), numbers(rows, "shown_y")
    assert n[0] == 1 and n[-1] == pytest.approx(1000, rel=1e-12) and len(n) == 200
    expected = [E * (1 - (1 - k / E) ** float(tokens)) for tokens in n]  # by hand, not the Formula
    np.testing.assert_allclose(drawn_values, expected, rtol=1e-12)
    np.testing.assert_allclose(drawn_values, experts.distinct_experts(n=n, E=E, k=k), rtol=1e-12)


def test_several_curves_keep_their_labels() -> None:
    rows = drawn(intensities(), ["x", "shown_y", "series"])
    of = {name: [r for r in rows if r["series"] == name] for name in ("mixture", "dense")}
    assert len(of["mixture"]) == len(of["dense"]) == 200
    n = numbers(of["dense"], "x")
    np.testing.assert_allclose(numbers(of["dense"], "shown_y"), 2 * n / 0.53125, rtol=1e-12)
    expected = experts.moe_intensity(n=n, E=256, k=6, s=1, b=0.53125)
    np.testing.assert_allclose(numbers(of["mixture"], "shown_y"), expected, rtol=1e-12)


@pytest.mark.parametrize(("ridge", "dense"), [(562.5, 149.41), (1125.0, 298.83)])
def test_a_rule_stands_where_its_formula_says(ridge: float, dense: float) -> None:
    row, *_ = drawn(intensities(), ["at", "words"], slider_ridge=ridge)
    assert float(row["at"]) == pytest.approx(dense, abs=0.01)
    assert row["words"].startswith("dense knee " + f"{dense:.1f}".rstrip("0"))


def test_a_rule_that_leaves_the_axis_is_not_drawn() -> None:
    chart = intensities(over=(1, 200), points=(), markers=())
    assert drawn(chart, ["at"], slider_ridge=562.5)
    assert drawn(chart, ["at"], slider_ridge=1200) == []


def test_a_marker_stands_on_its_curve() -> None:
    (row,) = drawn(intensities(), ["shown_x", "shown_y", "words"], slider_ridge=562.5)
    n = float(row["shown_x"])
    assert n == pytest.approx(5485.6, abs=0.1)
    assert row["words"] == "MoE knee"
    on_curve = experts.moe_intensity(n=n, E=256, k=6, s=1, b=0.53125)
    assert float(row["shown_y"]) == pytest.approx(on_curve, rel=1e-12)
    assert on_curve == pytest.approx(562.5, rel=1e-6)


def test_a_slider_that_multiplies_and_an_axis_in_other_units() -> None:
    chart = charts.curve(
        roofline.weight_time,
        x="n",
        over=range(1, 9),
        roles="dense",
        y_title="step time",
        y_unit="ms",
        sliders={
            "bandwidth": Slider(1, 8, 0.05, value=3.35, unit="TB/s"),
            "P": Slider(1e8, 1e11, 1, value=1e10, base=10),
        },
        fixed={"peak": 989.4e12, "b": 2},
        description="The time of a step over the tokens in it.",
    )
    for tera, exponent in ((3.35, 10), (8, 9)):
        rows = drawn(chart, ["shown_x", "shown_y"], slider_bandwidth=tera, slider_P=exponent)
        assert numbers(rows, "shown_x").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
        milliseconds = 10.0**exponent * 2 / (tera * 1e12) * 1e3  # memory-bound at eight tokens
        np.testing.assert_allclose(numbers(rows, "shown_y"), milliseconds, rtol=1e-12)
    spec = specification(chart)
    assert spec["layer"][0]["layer"][0]["encoding"]["y"]["title"] == "step time (ms)"
    assert spec["params"][0]["bind"]["name"] == "β, memory bandwidth (TB/s)"
    assert spec["params"][2]["bind"]["name"] == "log₁₀ of P, parameters of a weight component"
    assert "'P = '" in spec["title"]["text"]["expr"]


def test_infinities_are_left_out_of_the_axis_and_do_not_break_the_chart() -> None:
    chart = charts.curve(
        attention.crossing_width,
        x="ridge",
        over=(100, 2000),
        roles="verify",
        y_title="verify width",
        sliders={"S": Slider(512, 4096, 512, value=1024)},
        fixed=CROSSING,
        y_over=(0, 10),
        description="The crossing width grows and then ceases to exist.",
    )
    values = numbers(drawn(chart, ["shown_y"]), "shown_y")
    assert np.isinf(values[-1]) and np.isfinite(values[0])
    assert "NaN" not in vl_convert.vegalite_to_svg(json.dumps(output_of(chart)[charts.MIME]))


def test_the_axis_has_room_for_every_extreme_and_so_stays() -> None:
    spec = specification(distinct())
    domain = spec["layer"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert domain == [0, 550]  # 512 experts, all touched, and on to a round number


@pytest.mark.parametrize(("position", "tokens"), [(3, 8), (9, 512)])
def test_layers_stand_on_the_roof_of_their_machine(position: int, tokens: int) -> None:
    rows = drawn(roofs(), ["shown_x", "shown_y", "words"], slider_n=position)
    dense, core = rows
    assert (dense["words"], core["words"]) == ("dense layer", "attention")
    assert float(dense["shown_x"]) == pytest.approx(2 * tokens, rel=1e-12)
    attained = min(1978.9, 3.35 * 2 * tokens)  # TFLOP/s under the H100's roof, by hand
    assert float(dense["shown_y"]) == pytest.approx(attained, rel=1e-12)
    assert float(core["shown_x"]) == 240
    assert float(core["shown_y"]) == pytest.approx(8 * 240, rel=1e-12)  # under the first machine's


@pytest.mark.parametrize("context", [9, 12, 20])
def test_a_grid_is_the_formula_in_every_cell(context: int) -> None:
    fields = ["x", "y", "x_words", "y_words", "value", "words", "side"]
    rows = drawn(crossing_grid(), fields, slider_S=context)
    assert [(row["x_words"], row["y_words"]) for row in rows] == [
        ("H200", "9 216".replace(" ", "\u202f")),
        ("B200", "9 216".replace(" ", "\u202f")),
        ("H200", "73 728".replace(" ", "\u202f")),
        ("B200", "73 728".replace(" ", "\u202f")),
    ]
    expected = attention.crossing_width(
        ridge=numbers(rows, "x"), m_q=numbers(rows, "y"), S=2.0**context, f=139264, m_c=576
    )
    np.testing.assert_allclose(numbers(rows, "value"), expected, rtol=1e-12)
    for row, value in zip(rows, expected, strict=True):
        assert row["side"] == ("compute-bound at T = 2" if value < 2 else "memory-bound")


@pytest.mark.parametrize("context", [7, 9, 20])
def test_a_grid_of_several_formulas_has_a_row_for_each(context: int) -> None:
    rows = drawn(family_grid(), ["x", "x_words", "y_words", "value", "words"], slider_S=context)
    named = ["query alone", "query and output", "nothing"]
    assert [row["y_words"] for row in rows] == [name for name in named for _ in range(2)]
    assert [row["x_words"] for row in rows] == ["H200", "B200"] * 3
    S = 2.0**context
    for row, m_q in zip(rows, [73728, 73728, 139264, 139264, 0, 0], strict=True):
        ridge = float(row["x"])
        spare = 139264 * S - ridge * m_q
        by_hand = ridge * 576 * S / spare if spare > 0 else np.inf
        if np.isinf(by_hand):
            assert row["words"] == "∞"
        else:
            assert float(row["value"]) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("m_c", [576, 1152])
def test_a_grid_over_an_interval_is_the_formula_at_the_middles(m_c: int) -> None:
    rows = drawn(intensity_grid(), ["x", "y", "value", "x_low", "x_high"], slider_m_c=m_c)
    assert len(rows) == 20 * 8
    S, T = numbers(rows, "x"), numbers(rows, "y")
    by_hand = 139264 * T * S / (m_c * S + 73728 * T)
    np.testing.assert_allclose(numbers(rows, "value"), by_hand, rtol=1e-12)
    edges = sorted({*numbers(rows, "x_low").round(6), *numbers(rows, "x_high").round(6)})
    np.testing.assert_allclose(edges[0], 512)
    np.testing.assert_allclose(edges[-1], 2**20)
    np.testing.assert_allclose(S**2, numbers(rows, "x_low") * numbers(rows, "x_high"), rtol=1e-12)


def test_the_colours_of_a_grid_keep_their_meaning_while_a_slider_moves() -> None:
    (whole,) = [specification(intensity_grid())]
    colour = next(
        layer["encoding"]["color"] for layer in _marks(whole) if "color" in layer["encoding"]
    )
    low, high = colour["scale"]["domain"]
    assert low < 139264 * 512 / (1152 * 512 + 73728) * 1.1
    assert high > 139264 * 8 / (288 + 8 * 73728 / 2**20) * 0.9


def _marks(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "mark" in node:
        yield node
    for layer in node.get("layer", []):
        yield from _marks(layer)


@pytest.mark.parametrize("tokens", [8, 200])
def test_bars_are_the_formulas_at_the_slider(tokens: int) -> None:
    rows = drawn(tax_bars(), ["value", "words"], slider_n=tokens)
    by_hand = [
        8 * (1 - 0.75**tokens) / 2,
        (256 * (1 - (250 / 256) ** tokens) + 1) / 7,
    ]
    np.testing.assert_allclose(numbers(rows, "value"), by_hand, rtol=1e-12)


def test_bars_of_numbers_print_them() -> None:
    rows = drawn(ridge_bars(), ["value", "words"])
    assert numbers(rows, "value").tolist() == [295.343, 590.716, 281.25, 562.5]
    marks = [layer["mark"]["type"] for layer in _marks(specification(ridge_bars()))]
    assert marks == ["point", "text"]  # a bar has no length on a logarithmic axis


@pytest.mark.parametrize("tokens", [1, 200])
def test_share_bars_divide_each_whole_by_itself(tokens: int) -> None:
    read = 8 * (1 - 0.75**tokens)  # MB of experts, by hand; the rest is 2 + 3 MB, or 2
    rows = drawn(bytes_of_steps(), ["size", "share", "place", "words"], slider_n=tokens)
    np.testing.assert_allclose(numbers(rows, "size"), [5, read, 2], rtol=1e-12)
    of_mixture = [500 / (5 + read), 100 * read / (5 + read)]
    np.testing.assert_allclose(numbers(rows, "share"), [*of_mixture, 100], rtol=1e-12)
    # experts are drawn first, as the roles say, whatever the order of the parts
    assert numbers(rows, "place").tolist() == [1, 0, 1]
    assert [row["words"].replace("\u2009", "") for row in rows][2] == "2 MB"
    ends = drawn(bytes_of_steps(), ["low", "high"], slider_n=tokens)
    by_hand = [[of_mixture[1], 100], [0, of_mixture[1]], [0, 100]]
    found = np.column_stack([numbers(ends, "low"), numbers(ends, "high")])
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


@pytest.mark.parametrize("weights", [1, 100])
def test_share_areas_fill_the_height_at_every_place(weights: int) -> None:
    rows = drawn(bytes_over_tokens(), ["x", "low", "high"], slider_P=weights)
    x, low, high = (numbers(rows, field) for field in ("x", "low", "high"))
    assert x[0] == 1 and x[-1] == pytest.approx(1000, rel=1e-12) and len(x) == 400
    edge = 100 * 2 * weights / (2 * weights + 80 * (1 - 0.75**x))  # experts above the rest
    bottom = low == 0
    assert bottom.sum() == 200
    np.testing.assert_allclose(high[bottom], edge[bottom], rtol=1e-12)
    np.testing.assert_allclose(low[~bottom], edge[~bottom], rtol=1e-12)
    np.testing.assert_allclose(high[~bottom], 100, rtol=1e-12)


def test_parts_without_a_whole_have_no_shares() -> None:
    with pytest.raises(ValueError, match="there are no parts"):
        charts.share_bars({"nothing": {"rest": []}}, **_SHARES)
    nothing = roofline.weight_traffic.where(P=1, b=1)
    for scale in (0, -1):
        none = Formula("Q_0", scale * nothing.rhs, nothing.unit, "williams2009")
        with pytest.raises(ValueError, match="'none' has no shares at the fixed values"):
            charts.share_bars({"none": {"rest": none}}, **_SHARES)
    with pytest.raises(ValueError, match="several units"):
        charts.share_bars({"mixed": {"rest": [nothing, roofline.ridge_point]}}, **_SHARES)
    with pytest.raises(ValueError, match="roles and labels differ in: experts"):
        charts.share_bars({"mixture": {"experts": nothing, "rest": nothing}}, **_SHARES)


_SHARES: dict[str, Any] = {
    "roles": {"rest": "dense"},
    "share_title": "share of the bytes",
    "size_title": "bytes",
    "description": "Shares that cannot be drawn at all.",
}


def test_data_are_drawn_as_they_are() -> None:
    spec = specification(data_alone())
    stored = [layer["data"]["values"] for layer in spec["layer"]]
    assert [row["y"] for row in stored[0]] == [6, 11.2, 21.5, 40.1]
    assert {row["series"] for row in stored[1]} == {"uniform"}


def test_every_slider_of_every_chart_changes_what_is_drawn() -> None:
    for name, make in EVERY.items():
        spec = output_of(make())[charts.MIME]
        before = vl_convert.vegalite_to_svg(json.dumps(spec))
        for param in spec.get("params", []):
            if "bind" not in param:
                continue
            moved = json.loads(json.dumps(spec))
            for other in moved["params"]:
                if other["name"] == param["name"]:
                    bind = param["bind"]
                    other["value"] = bind["max"] if "max" in bind else bind["options"][-1]
            assert vl_convert.vegalite_to_svg(json.dumps(moved)) != before, (name, param["name"])


# --- looks -------------------------------------------------------------------------------------
def lines_of(chart: alt.LayerChart) -> dict[str, Any]:
    """The encoding of the curves."""
    marks = _marks(specification(chart))
    found: dict[str, Any] = next(m["encoding"] for m in marks if m["mark"]["type"] == "line")
    return found


def test_lines_of_two_roles_differ_in_dash_as_well() -> None:
    encoding = lines_of(intensities(points=()))
    roles = [theme.role("moe"), theme.role("dense")]
    assert encoding["color"]["scale"]["range"] == [role.colour for role in roles]
    assert encoding["strokeDash"]["scale"]["range"] == [list(role.dash) for role in roles]


def test_lines_of_one_role_get_shades_and_different_dashes() -> None:
    chart = charts.curve(
        {f"T = {T}": attention.intensity.where(T=T) for T in (1, 2, 4)},
        x="S",
        over=(512, 2**20),
        log=True,
        roles="attention",
        y_title="intensity",
        fixed=CROSSING,
        description="Intensity over context for three verify widths.",
    )
    encoding = lines_of(chart)
    assert encoding["color"]["scale"]["range"] == theme.shades("attention", 3)
    assert len({tuple(dash) for dash in encoding["strokeDash"]["scale"]["range"]}) == 3


def test_data_of_one_role_differ_in_shape() -> None:
    chart = charts.scatter(
        [Points([1, 2], [1, 2], f"series {i}", "measured") for i in range(3)],
        x_title="x",
        y_title="y",
        description="Three measured series that tell themselves apart by shape.",
    )
    shapes = chart.to_dict()["layer"][0]["encoding"]["shape"]["scale"]["range"]
    assert shapes[0] == theme.role("measured").shape
    assert len(set(shapes)) == 3


def test_titles_come_with_symbol_and_unit() -> None:
    encoding = lines_of(intensities())
    assert encoding["x"]["title"] == "tokens in a step, n"
    assert encoding["y"]["title"] == "arithmetic intensity (FLOP/B)"
    slider = specification(intensities())["params"][0]
    assert slider["bind"]["name"] == "R, ridge point (FLOP/B)"


# --- what is refused ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"sliders": {"E": Slider(16, 512, 16)}}, ValueError, "no value for k"),
        ({"fixed": {"q": 1}}, ValueError, "no formula here has a symbol 'q'; they have n, E, k"),
        ({"x": "S"}, ValueError, "no formula here has a symbol 'S'"),
        ({"fixed": {"k": 6}}, ValueError, "'k' is given twice"),
        (
            {"sliders": {"E": Slider(4, 512, 4), "k": Slider(1, 16, 1)}},
            DomainError,
            "E = 4, k = 16",
        ),
        ({"sliders": {"E": Slider(16, 512, 16), "k": Slider(0, 16, 1)}}, DomainError, "k = 0"),
        ({"sliders": {"E": 256, "k": Slider(1, 16, 1)}}, TypeError, "no Slider"),
        ({"over": (-5, 10), "log": False}, DomainError, "n = -5"),
        ({"over": (0, 100)}, ValueError, "logarithmic axis cannot start at 0"),
        ({"over": (100, 1)}, ValueError, "cannot run from 100 to 1"),
        ({"over": (1, math.inf)}, ValueError, "cannot run from 1 to inf"),
        ({"over": range(1, 1000)}, ValueError, "has 999 values"),
        ({"over": range(3, 4)}, ValueError, "has 1 values"),
        ({"roles": "mixture"}, ValueError, "no role 'mixture'"),
        ({"roles": {"other": "moe"}}, ValueError, "name a role for each label"),
        ({"y_title": " "}, ValueError, "needs a title"),
        ({"y_title": "x" * 60}, ValueError, "60 characters"),
        ({"y_unit": "ms"}, ValueError, "a plain number has no unit 'ms'"),
        ({"rules": [Rule(5000.0, "far")]}, ValueError, "opens at 5000, outside the axis"),
        ({"rules": [Rule(experts.distinct_experts, "A")]}, ValueError, "depends on n, which runs"),
        ({"points": [Points([5000], [1], "far")]}, ValueError, "outside the axis"),
        ({"points": [Points([1], [1], "distinct experts")]}, ValueError, "same label"),
        ({"markers": [Marker(3.0, "here", on="other")]}, ValueError, "no curve 'other'"),
        (
            {"markers": [Marker(5000.0, "far", y=3.0)]},
            ValueError,
            "marker 'far' opens at n = 5000, outside",
        ),
        (
            {"markers": [Marker(10.0, "high", y=300.0)], "y_over": (0, 100)},
            ValueError,
            "marker 'high' opens at a height of 300",
        ),
        (
            {"rules": [Rule(300.0, "high", axis="y")], "y_over": (0, 100)},
            ValueError,
            "rule 'high' opens at 300",
        ),
        (
            {"points": [Points([10], [300], "high")], "y_over": (0, 100)},
            ValueError,
            "points 'high': y reaches to 300",
        ),
        (
            {"points": [Points([10], [0], "none")], "y_log": True},
            ValueError,
            "points 'none': y has 0",
        ),
        (
            {"rules": [Rule(-2.0, "low", axis="y")], "y_log": True},
            ValueError,
            "rule 'low': its height has -2",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    changes: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says.replace("(", r"\(")):
        distinct(**changes)


def test_a_curve_that_is_zero_has_no_place_on_a_logarithmic_axis() -> None:
    """The price of a token underflows to nothing for many tokens."""
    arguments: dict[str, Any] = {
        "x": "n",
        "over": (1, 1e6),
        "log": True,
        "roles": "moe",
        "y_title": "price",
        "fixed": {"E": 256, "k": 6, "s": 1},
        "description": "The price of a marginal token against the tokens.",
    }
    charts.curve(experts.marginal_price, **arguments)
    with pytest.raises(ValueError, match="curve 'price' has 0, and a logarithmic axis"):
        charts.curve(experts.marginal_price, y_log=True, **arguments)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda value: Rule(value, "here"), "rule 'here': at"),
        (lambda value: Marker(value, "here", y=1.0), "marker 'here': x"),
        (lambda value: Marker(1.0, "here", y=value), "marker 'here': y"),
        (lambda value: Layer(value, "here", "dense"), "layer 'here': intensity"),
        (lambda value: Cells("S", [1.0, value]), r"cells of S: values\[1\]"),
        (lambda value: Cells("S", {"one": value}), r"cells of S: values\['one'\]"),
        (lambda value: Sides(value, ("a", "moe"), ("b", "dense")), "sides: at"),
    ],
)
def test_a_mark_at_no_number_is_refused(
    make: Callable[[float], object], says: str, value: float
) -> None:
    with pytest.raises(ValueError, match=f"{says} is (nan|inf|-inf)"):
        make(value)


def test_a_mark_at_a_text_is_refused() -> None:
    with pytest.raises(TypeError, match="rule 'here': at is 'three'; give a number or a Formula"):
        Rule("three", "here")  # type: ignore[arg-type]


def test_a_rule_across_no_axis_is_refused() -> None:
    with pytest.raises(ValueError, match="rule 'here': axis is 'x' or 'y', not 'z'"):
        Rule(1.0, "here", axis="z")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "changes", "says"),
    [
        ({"a": 1.0, "b": math.nan}, {}, r"values\['b'\] is nan"),
        ({"a": {"c": 1.0}, "b": {"c": math.inf}}, {}, r"values\['b'\]\['c'\] is inf"),
        ({"a": 1.0, "b": 0.0}, {"log": True}, r"values\['b'\] has 0"),
        (
            {"a": attention.crossing_width.where(**CROSSING, ridge=600.0)},
            {"sliders": {"S": Slider(128, 4096, 128, value=4096)}},
            r"values\['a'\] \(sliders at S = 128\) is inf",
        ),
    ],
)
def test_a_bar_without_a_length_is_refused(
    values: dict[str, Any], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        charts.bars(
            values,
            roles=changes.pop("roles", "moe"),
            value_title="value",
            description="Bars of which one cannot be drawn.",
            **changes,
        )


def test_a_layer_off_the_roofline_is_refused() -> None:
    machine = {"B200, FP8": {"peak": 4500e12, "bandwidth": 8e12}}
    with pytest.raises(ValueError, match="'far' opens at intensity = 20000, outside the axis"):
        charts.roofline(
            roofline.attainable_rate,
            machine,
            [Layer(2e4, "far", "dense")],
            roles="ideal",
            description="A roofline with a layer that lies beyond its axis.",
        )


def test_a_scatter_on_logarithmic_axes_names_what_it_cannot_show() -> None:
    common: dict[str, Any] = {
        "x_title": "x",
        "y_title": "y",
        "description": "Data that a logarithmic axis cannot show.",
    }
    with pytest.raises(ValueError, match=r"points 'seen': x has 0, .* leave out log=True"):
        charts.scatter([Points([0, 1], [1, 2], "seen")], log=True, **common)
    with pytest.raises(ValueError, match=r"points 'seen': low has -1, .* leave out y_log=True"):
        charts.scatter([Points([1], [2], "seen", low=[-1], high=[3])], y_log=True, **common)


@pytest.mark.parametrize(
    ("values", "twice"), [([4096, 4096.0001], "4 096"), ([8, 16, 8], "8")], ids=["near", "same"]
)
def test_two_cells_that_read_alike_are_refused(values: list[float], twice: str) -> None:
    twice = twice.replace(" ", "\u202f")
    with pytest.raises(ValueError, match=f"cells of S: two values read '{twice}'"):
        Cells("S", values)


def test_curves_of_different_units_are_refused() -> None:
    with pytest.raises(ValueError, match="several units: 'A' in 1, 'I' in FLOP/B"):
        charts.curve(
            {"A": experts.distinct_experts, "I": experts.moe_intensity},
            x="n",
            over=(1, 10),
            roles="moe",
            y_title="both",
            fixed={"E": 8, "k": 2, "s": 0, "b": 1},
            description="Two quantities that have no common axis.",
        )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"low": 5, "high": 5, "step": 1}, "low must be below high"),
        ({"low": 1, "high": 5, "step": 0}, "step must be positive"),
        ({"low": 1, "high": 5, "step": 3}, "high is no whole number of steps"),
        ({"low": 1, "high": 5, "step": 2, "value": 2}, "value is no whole number of steps"),
        ({"low": 1, "high": 5, "step": 1, "value": 9}, "outside"),
        ({"low": 1, "high": math.inf, "step": 1}, "finite"),
        ({"low": 1, "high": 8, "step": 1, "base": 3}, "base is 2 or 10"),
        ({"low": 0, "high": 8, "step": 1, "base": 2}, "needs low above 0"),
        ({"low": 3, "high": 8, "step": 1, "base": 2}, "high is no whole number of steps"),
    ],
)
def test_a_slider_that_cannot_be_set_is_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Slider(**arguments)


def test_a_slider_in_a_unit_that_is_not_its_symbols_is_refused() -> None:
    with pytest.raises(ValueError, match="unit 'GB' is not 'FLOP/B'"):
        intensities(sliders={"ridge": Slider(100, 1200, 100, unit="GB")})


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"x": [1, 2], "y": [1]}, "different length"),
        ({"x": [], "y": []}, "different length"),
        ({"x": [1], "y": [math.nan]}, "y has values that are not finite"),
        ({"x": range(500), "y": range(500)}, "at most 400"),
        ({"x": [1], "y": [1], "low": [0]}, "low and high come together"),
    ],
)
def test_data_that_cannot_be_drawn_are_refused(columns: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Points(label="data", **columns)


def test_a_marker_has_one_height() -> None:
    with pytest.raises(ValueError, match=r"either on= .* or y="):
        Marker(1.0, "here")
    with pytest.raises(ValueError, match=r"either on= .* or y="):
        Marker(1.0, "here", on="curve", y=2.0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"keyword": "S", "values": []}, "needs a value"),
        ({"keyword": "S", "values": (1, 2, 3), "count": 5}, "cuts an interval"),
        ({"keyword": "S", "values": (1, 2), "count": 1}, "cuts an interval"),
        ({"keyword": "S", "values": (0, 2), "count": 4, "log": True}, "logarithmic"),
    ],
)
def test_cells_that_are_none_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Cells(**arguments)


def test_a_grid_that_is_too_fine_to_move_is_refused() -> None:
    with pytest.raises(ValueError, match="40 × 40 cells are too many"):
        charts.grid(
            attention.intensity,
            Cells("S", (512, 2**20), count=40, log=True),
            Cells("T", (1, 16), count=40),
            value_title="intensity",
            fixed=CROSSING,
            description="Far more cells than a slider can move.",
        )


def test_a_grid_has_rows_by_an_axis_or_by_formulas() -> None:
    across = Cells("T", [1, 2])
    told = {"value_title": "intensity", "fixed": CROSSING, "description": "A grid without rows."}
    with pytest.raises(ValueError, match="needs a second axis"):
        charts.grid(attention.intensity, across, **told)
    with pytest.raises(ValueError, match="leave the second axis out"):
        charts.grid({"one": attention.intensity}, across, Cells("S", [512, 1024]), **told)


def test_bars_need_values_and_one_shape() -> None:
    common: dict[str, Any] = {
        "roles": "moe",
        "value_title": "tax",
        "description": "Bars that cannot be drawn at all.",
    }
    with pytest.raises(ValueError, match="values is empty"):
        charts.bars({}, **common)
    with pytest.raises(ValueError, match="either every name has series or none"):
        charts.bars({"a": 1.0, "b": {"c": 2.0}}, **common)


def test_a_roofline_needs_a_machine() -> None:
    with pytest.raises(ValueError, match="needs a machine"):
        charts.roofline(
            roofline.attainable_rate, {}, roles="ideal", description="A roofline of nothing at all."
        )


# --- labels and edges --------------------------------------------------------------------------
def level_rule(low: float, high: float, **changes: Any) -> list[dict[str, Any]]:
    """The text layers of a horizontal rule at 256 beside a line that rises from low to high."""
    chart = charts.curve(
        roofline.weight_intensity.where(b=2),
        x="n",
        over=(low, high),
        roles="dense",
        y_title="intensity",
        rules=[Rule(256.0, "a rather long label", axis="y")],
        description="A line that rises and a level rule with a label.",
        **changes,
    )
    return [layer for layer in _marks(specification(chart)) if layer["mark"]["type"] == "text"]


@pytest.mark.parametrize(
    ("low", "high", "align"),
    [
        (1, 1000, "right"),  # the line crosses the rule near the left end
        (1, 270, "left"),  # it crosses it near the right end
    ],
)
def test_the_label_of_a_level_rule_keeps_off_the_curves(
    low: float, high: float, align: str
) -> None:
    (text,) = level_rule(low, high)
    assert text["mark"]["align"] == align


def test_labels_of_rules_keep_off_each_other() -> None:
    room = Room(320.0)
    places = [Box(0.5, 0.9, 10, -1, 0), Box(0.5, 0.5, 10, -1, 0)]
    assert [room.best(places), room.best(places)] == [0, 1]


def test_a_label_would_rather_lie_on_a_line_than_beyond_the_frame() -> None:
    room = Room(320.0)
    room.add_path(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    assert room.best([Box(0.0, 0.9, 10, -1, 0), Box(0.5, 0.5, 10, 0, 0)]) == 1


def test_a_steep_line_counts_like_a_level_one() -> None:
    """Two points that are far apart say nothing between them, yet a line is drawn there."""
    room = Room(320.0)
    room.add_path(np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    assert room.best([Box(0.5, 0.5, 10, 0, 0), Box(0.1, 0.5, 10, 1, 0)]) == 1


def test_the_label_of_an_upright_rule_keeps_off_another_rule() -> None:
    """Of two rules that stand close together the left one is labelled left, the other right."""
    rows = drawn(distinct(rules=[Rule(29.0, "half"), Rule(43.0, "E/k")]), ["left", "words"])
    assert [row["left"] for row in rows] == ["true", "false"]


def test_upright_rules_have_a_row_each() -> None:
    rules = [Rule(10.0, "one"), Rule(11.0, "two"), Rule(12.0, "three")]
    rows = drawn(distinct(rules=rules), ["height", "words"])
    assert len({row["height"] for row in rows}) == len(rows) == 3


def test_lines_are_cut_only_where_they_may_leave_the_frame_and_data_never() -> None:
    marks = list(_marks(specification(intensities())))
    visible = [m["mark"] for m in marks if m["mark"].get("opacity") != 0]
    assert not any(mark.get("clip") for mark in visible)
    (line,) = (
        m["mark"]
        for m in _marks(specification(distinct(y_over=(0, 100))))
        if m["mark"]["type"] == "line"
    )
    assert line["clip"] is True


def test_a_datum_on_the_edge_is_drawn_whole() -> None:
    chart = distinct(points=[Points([1, 1000], [6, 256], "at the ends")])
    dots = [m for m in _marks(specification(chart)) if m["encoding"].get("shape")]
    assert dots and not any(m["mark"].get("clip") for m in dots)


def test_a_marker_that_a_slider_moves_off_the_axes_is_left_out() -> None:
    chart = intensities(y_over=(1, 700), rules=())
    assert len(drawn(chart, ["rise", "words"], slider_ridge=562.5)) == 1
    assert drawn(chart, ["rise", "words"], slider_ridge=1200) == []


def test_a_given_y_axis_ends_where_it_is_told() -> None:
    chart = distinct(y_over=(0, 333))
    scale = specification(chart)["layer"][0]["layer"][0]["encoding"]["y"]["scale"]
    assert scale["domain"] == [0, 333] and scale["nice"] is False


def test_every_symbol_is_shown_without_its_latex() -> None:
    r"""A Greek letter is a letter on a chart, whatever stands under it, and never its command;
    \min and \max are words there as well."""
    words = {"mathrm", "text", "bar", "hat", "tilde", "min", "max"}
    for known in SYMBOLS.values():
        shown = plain(known.latex)
        commands = set(re.findall(r"\\([A-Za-z]+)", known.latex)) - words
        assert not any(command in shown for command in commands), known.latex
