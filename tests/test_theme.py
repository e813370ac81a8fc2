"""The theme: roles that everybody can tell apart, on both pages, and a configuration for each."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import colour, theme

PAIRS = list(itertools.combinations(theme.ROLES, 2))
PAGES = (theme.LIGHT_PAGE, *theme.DARK_PAGES)

#: Simulation of the two kinds of red-green blindness and of the rare blue-yellow one, whole, on
#: linear RGB: the matrices of Machado, Oliveira and Fernandes (2009) for severity 1.
VISION = {
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}


def linear(text: str) -> np.ndarray:
    """Linear RGB of #rrggbb, written here on its own."""
    encoded = np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of linear RGB."""
    to_xyz = np.array(
        [
            (0.4124564, 0.3575761, 0.1804375),
            (0.2126729, 0.7151522, 0.0721750),
            (0.0193339, 0.1191920, 0.9503041),
        ]
    )
    ratio = to_xyz @ rgb / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """CIEDE2000 between two L*a*b* colours."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2)
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    waves = ((-0.17, 1, 30), (0.24, 2, 0), (0.32, 3, -6), (-0.20, 4, 63))
    t = 1 + sum(size * math.cos(math.radians(k * hm - shift)) for size, k, shift in waves)
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rotation = (
        -2
        * math.sqrt(cm**7 / (cm**7 + 25**7))
        * math.sin(math.radians(60 * math.exp(-(((hm - 275) / 25) ** 2))))
    )
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [
        # pairs of the test data of Sharma, Wu and Dalal (2005)
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
    ],
)
def test_the_distance_is_the_published_one(
    one: tuple[float, ...], other: tuple[float, ...], published: float
) -> None:
    assert distance(one, other) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize(
    ("vision", "least"),
    [("normal", 20), ("deuteranopia", 12), ("protanopia", 12), ("tritanopia", 10)],
)
def test_roles_stay_apart_for_every_kind_of_vision(
    vision: str, least: float, one: str, other: str
) -> None:
    seen = [
        lab(np.clip(np.array(VISION[vision]) @ linear(theme.role_colour(name)), 0, 1))
        for name in (one, other)
    ]
    assert distance(*seen) >= least


@pytest.mark.parametrize("name", theme.ROLES)
@pytest.mark.parametrize("page", PAGES)
def test_roles_stand_out_from_every_page(name: str, page: str) -> None:
    assert colour.contrast(theme.role_colour(name), page) >= 3


def test_no_two_roles_share_a_dash_or_a_shape() -> None:
    dashes = [role.dash for role in theme.ROLES.values()]
    shapes = [role.shape for role in theme.ROLES.values()]
    assert len(set(dashes)) == len(dashes)
    assert len(set(shapes)) == len(shapes)


def test_every_role_of_the_house_is_there() -> None:
    wanted = {"dense", "moe", "attention", "draft", "verify", "measured", "ideal", "threshold"}
    assert set(theme.ROLES) == wanted


def test_an_unknown_role_lists_the_roles() -> None:
    with pytest.raises(ValueError, match="no role 'mixture'; the roles are dense, moe"):
        theme.role_colour("mixture")


@pytest.mark.parametrize("name", theme.ROLES)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_shades_stand_out_and_go_from_dark_to_light(name: str, count: int) -> None:
    shades = theme.shades(name, count)
    assert len(set(shades)) == count
    assert all(colour.contrast(shade, page) >= 3 for shade in shades for page in PAGES)
    assert sorted(shades, key=colour.luminance) == shades


def test_three_shades_are_told_apart() -> None:
    for name in theme.ROLES:
        for one, other in itertools.pairwise(theme.shades(name, 3)):
            assert distance(lab(linear(one)), lab(linear(other))) >= 6


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="0 shades"):
        theme.shades("moe", 0)


def test_labels_of_one_role_get_shades_and_others_the_role() -> None:
    chosen = theme.colours({"a": "moe", "b": "dense", "c": "moe"})
    assert chosen["b"] == theme.role_colour("dense")
    assert [chosen["a"], chosen["c"]] == theme.shades("moe", 2)
    scale = theme.scale({"a": "moe", "b": "dense", "c": "moe"}).to_dict()
    assert scale == {"domain": ["a", "b", "c"], "range": [chosen[label] for label in "abc"]}


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_black_or_white_is_readable_on_anything(red: int, green: int, blue: int) -> None:
    page = f"#{red:02x}{green:02x}{blue:02x}"
    assert colour.contrast(colour.ink_on(page), page) >= 4.5


def test_contrast_of_known_pairs() -> None:
    assert colour.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colour.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert colour.luminance("#ff0000") == pytest.approx(0.2126)


@pytest.mark.parametrize("wrong", ["red", "#fff", "#12345g", ""])
def test_what_is_no_colour_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="#rrggbb"):
        colour.luminance(wrong)


def colours_in(node: object) -> list[str]:
    """Every colour in a configuration."""
    if isinstance(node, dict):
        return [c for item in node.values() for c in colours_in(item)]
    if isinstance(node, list):
        return [c for item in node for c in colours_in(item)]
    return [node] if isinstance(node, str) and node.startswith("#") else []


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_in_its_mode(dark: bool) -> None:
    config = theme.vega_config(dark)
    pages = theme.DARK_PAGES if dark else (theme.LIGHT_PAGE,)
    texts = [
        config["axis"]["labelColor"],
        config["axis"]["titleColor"],
        config["legend"]["labelColor"],
        config["legend"]["titleColor"],
        config["header"]["labelColor"],
        config["title"]["color"],
        config["title"]["subtitleColor"],
        config["text"]["color"],
    ]
    assert all(colour.contrast(text, page) >= 4.5 for text in texts for page in pages)
    assert config["background"] == "transparent"


def test_what_is_stored_carries_no_colour_of_one_mode_only() -> None:
    stored = theme.shared_config()
    assert "background" not in stored
    for found in colours_in(stored):
        assert all(colour.contrast(found, page) >= 3 for page in PAGES), found


def test_each_mode_contains_what_is_stored() -> None:
    for dark in (False, True):
        config = theme.vega_config(dark)
        for part, settings in theme.shared_config().items():
            if isinstance(settings, dict):
                assert settings.items() <= config[part].items()
            else:
                assert config[part] == settings


def test_configurations_are_json_and_fresh() -> None:
    one = theme.vega_config(True)
    assert json.loads(json.dumps(one)) == one
    one["axis"]["labelFontSize"] = 99
    assert theme.vega_config(True)["axis"]["labelFontSize"] != 99


def test_registering_makes_altair_use_the_theme() -> None:
    theme.register()
    chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q").to_dict()
    assert chart["config"] == theme.shared_config()
    assert "datasets" not in chart
    assert chart["data"] == {"values": [{"x": 1}]}
