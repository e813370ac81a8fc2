"""Every page of the built book in Chromium, without a network.

Two tests are cases of other books and carry their numbers: B02 (vega/altair#2316), charts that stay
blank without a network, and B04 (UBC-DSCI/introduction-to-datascience-python#235), charts that
cannot be read on a dark page.

A page is opened once and redraws its charts whenever its mode or its width changes, so the tests of
it stand in an order: by day at a desk, by day on a phone, by night, and at last by day again.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, ElementHandle

from specdec_lib.colour import contrast
from tests.book import axe
from tests.book.site import HTML, pages
from tests.book.visits import FITS, Visit, visit

pytestmark = pytest.mark.browser

#: A page with many listings.
CHAPTER = "book/roofline"

#: A line of SVG whose numbers did not work out.
BROKEN = ("NaN", "Infinity", "undefined")


def chart_name(chart: ElementHandle) -> str:
    """A chart as messages name it."""
    return str(chart.get_attribute("aria-label"))[:70]


def test_B02_works_without_a_network(opened: Visit) -> None:
    """No request to another host, none that fails, no complaint, and every chart is there."""
    assert not opened.foreign
    assert not opened.complaints
    for chart in opened.charts:
        assert opened.shapes(chart), chart_name(chart)


#: Equations that MathJax has not set.
UNSET = """() => [...document.querySelectorAll('.math')]
  .filter(each => !each.querySelector('mjx-container')).map(each => each.textContent)"""


def test_works_from_the_disk(from_disk: Visit) -> None:
    charts = from_disk.charts
    assert [chart_name(c) for c in charts if c.get_attribute("data-ready") != "light"] == []
    assert from_disk.page.evaluate(UNSET) == []
    assert not from_disk.foreign
    assert not from_disk.complaints


def test_every_chart_draws_and_every_slider_moves_it(page: Visit) -> None:
    for chart in page.charts:
        assert chart.get_attribute("data-ready") == "light", chart_name(chart)
        drawn = page.shapes(chart)
        assert drawn, f"{chart_name(chart)}: no marks"
        for slider in sliders(chart):
            opening = push(slider)
            moved = page.wait_for_other_shapes(chart, drawn, f"{chart_name(chart)}: {slider}")
            assert not any(word in moved for word in BROKEN), f"{chart_name(chart)}: {slider}"
            push(slider, opening)
            page.wait_for_other_shapes(chart, moved, f"{chart_name(chart)}: {slider} back")
            assert page.shapes(chart) == drawn, f"{chart_name(chart)}: {slider} back"
    assert not page.complaints


def sliders(chart: ElementHandle) -> list[ElementHandle]:
    """The sliders under a chart."""
    return chart.query_selector_all("input[type=range]")


def push(slider: ElementHandle, to: float | None = None) -> float:
    """Move a slider as a reader does, to its farther end unless told; where it stood before."""
    return float(
        slider.evaluate(
            """(slider, to) => {
              const {min, max, value} = slider;
              slider.value = to ?? (2 * value > Number(min) + Number(max) ? min : max);
              slider.dispatchEvent(new Event('input', {bubbles: true}));
              return Number(value);
            }""",
            to,
        )
    )


def positions(chart: ElementHandle) -> list[tuple[str, float]]:
    """Where the sliders of a chart stand, by name."""
    return [tuple(each.evaluate("it => [it.name, Number(it.value)]")) for each in sliders(chart)]


#: The text of a chart by its contrast with the page: (color, background, text), as CSS has them.
TEXTS = """figure => {
  let behind = figure;
  while (behind && /^rgba\\(.*, 0\\)$/.test(getComputedStyle(behind).backgroundColor))
    behind = behind.parentElement;
  const page = behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)';
  const around = ['axis-label', 'axis-title', 'legend-label', 'legend-title', 'title-text'];
  return [...figure.querySelectorAll(around.map(role => `svg .role-${role} text`).join(', '))]
    .filter(text => text.textContent.trim())
    .map(text => [getComputedStyle(text).fill, page, text.textContent]);
}"""


def assert_legible(page: Visit) -> None:
    """Axis, legend and title text stand out from the page: contrast 4.5 or more."""
    for chart in page.charts:
        texts = chart.evaluate(TEXTS)
        assert texts, f"{chart_name(chart)}: no text on its axes"
        for colour, background, text in texts:
            found = contrast(as_hex(colour), as_hex(background))
            assert found >= 4.5, f"{chart_name(chart)}: {text!r} has contrast {found:.2f}"


def as_hex(colour: str) -> str:
    """A computed colour, ``rgb(18, 18, 18)``, as ``#121212``; it must be opaque."""
    numbers = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour)
    assert numbers, f"{colour} is not opaque"
    return "#" + "".join(f"{int(number):02x}" for number in numbers.groups())


def test_B04_text_of_charts_is_legible(page: Visit) -> None:
    assert_legible(page)


def test_axe_finds_nothing_serious(page: Visit) -> None:
    ours = axe.structure(page.page) + axe.contrast(page.page)
    assert not ours, "\n".join(ours)


#: Each equation in sight: whether it scrolls alone, whether the Tab key stops there, its text.
STOPS = """() => [...document.querySelectorAll('mjx-container')]
  .filter(each => each.clientWidth)
  .map(each => [each.getAttribute('display') === 'true' && each.scrollWidth > each.clientWidth,
                each.tabIndex === 0, each.textContent])"""


def assert_stops(page: Visit) -> None:
    """The Tab key stops at equations that scroll alone, at the latest 3 s after a change."""
    page.comes_to(f"() => ({STOPS})().every(([scrolls, stop]) => scrolls === stop)")
    for scrolls, stop, text in page.page.evaluate(STOPS):
        assert scrolls == stop, text


def test_the_tab_key_stops_at_equations_that_scroll_alone(page: Visit) -> None:
    assert_stops(page)


# --- by day, on a phone ---------------------------------------------------------------------------


def test_fits_a_phone(on_a_phone: Visit) -> None:
    page = on_a_phone
    if not page.comes_to(FITS):
        wide = page.page.evaluate("document.documentElement.scrollWidth")
        measured = "figure => [figure.clientWidth, figure.scrollWidth]"
        charts = {chart_name(chart): chart.evaluate(measured) for chart in page.charts}
        poor = {name: needs for name, (room, needs) in charts.items() if needs > room}
        pytest.fail(f"the page needs {wide} px, charts more than their place: {poor}")
    assert not page.complaints


def test_the_tab_key_stops_there_too(on_a_phone: Visit) -> None:
    assert_stops(on_a_phone)


# --- by night -------------------------------------------------------------------------------------


def test_dark_redraws_the_charts_and_keeps_the_sliders(page: Visit) -> None:
    openings = [push(slider) for chart in page.charts for slider in sliders(chart)]
    drawn = page.at_rest()
    stood = [positions(chart) for chart in page.charts]
    page.flip("dark")
    for place, chart in enumerate(page.charts):
        assert chart.get_attribute("data-ready") == "dark", chart_name(chart)
        assert positions(chart) == stood[place], chart_name(chart)
        assert page.shapes(chart) == drawn[place], chart_name(chart)
    assert not page.complaints
    redrawn = [slider for chart in page.charts for slider in sliders(chart)]
    for slider, opening in zip(redrawn, openings, strict=True):
        push(slider, opening)


def test_B04_text_of_charts_is_legible_by_night(by_night: Visit) -> None:
    assert_legible(by_night)


def test_axe_finds_no_poor_contrast_by_night(by_night: Visit) -> None:
    ours = axe.contrast(by_night.page)
    assert not ours, "\n".join(ours)


def test_day_comes_back(page: Visit) -> None:
    """From a desk by night, and the stops of the Tab key are a desk's again."""
    assert {chart.get_attribute("data-ready") for chart in page.charts} <= {"light"}
    assert_stops(page)
    assert not page.complaints


# --- pages of their own ---------------------------------------------------------------------------


def test_the_front_door_leads_to_the_landing_page(site: str, browser: Browser) -> None:
    door = browser.new_page()
    door.goto(f"{site}index.html")
    door.wait_for_url(f"{site}{pages()[0]}.html")
    door.close()


@pytest.mark.parametrize("way", ["served", "disk"])
def test_search_finds_a_formula(way: str, site: str, browser: Browser) -> None:
    door = f"{site}search.html" if way == "served" else (HTML / "search.html").as_uri()
    with visit(browser, f"{door}?q=distinct_experts") as page:
        found = page.page.wait_for_selector("#search-results a[href*='formulas.html']")
        assert found
        page.page.wait_for_timeout(500)  # summaries come a moment later, or fail to
    assert not page.foreign
    assert not page.complaints


#: Makes one token of a listing pale: the last that hides behind another of its look.
FADE = """() => {
  const token = [...document.querySelectorAll('div.highlight pre > span[data-alike]')].pop();
  token.style.color = getComputedStyle(document.body).backgroundColor;
  return token.textContent;
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_one_pale_token_among_many_is_found(mode: str, site: str, browser: Browser) -> None:
    """axe looks at one token of each look; see axe.py."""
    with visit(browser, f"{site}{CHAPTER}.html") as page:
        page.flip(mode)
        assert page.page.evaluate(axe.STAND_INS) > 100
        assert page.page.evaluate(FADE)
        page.page.evaluate(axe.UNDO)
        found = axe.contrast(page.page)
        assert len(found) == 1 and found[0].startswith(axe.CONTRAST), found
        assert page.page.query_selector("[data-alike], #alike") is None


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_chart_is_saved_by_keyboard_as_it_stands(kind: str, site: str, browser: Browser) -> None:
    """As a file, dark on white, with the sliders where they are; nothing leaves the page."""
    with visit(browser, f"{site}{pages()[0]}.html") as page:
        page.flip("dark")
        (chart,) = page.charts
        (slider,) = sliders(chart)
        saved = []
        for _ in range(2):
            button = chart.query_selector(f".vega-save button:text-is('{kind.upper()}')")
            assert button
            button.focus()
            with page.page.expect_download() as download:
                page.page.keyboard.press("Enter")
            assert download.value.suggested_filename == f"index-1.{kind}"
            saved.append(download.value.path().read_bytes())
            push(slider)
        starts = {"svg": b"<svg", "png": b"\x89PNG"}
        assert all(content.startswith(starts[kind]) for content in saved)
        assert saved[0] != saved[1]
        assert kind == "png" or b'fill="white"' in saved[0]
        assert not page.foreign and not page.complaints
