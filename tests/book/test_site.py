"""Every page of the built book in Chromium, without a network."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ElementHandle

from tests.book.site import HTML, pages
from tests.book.visits import Visit, visit

pytestmark = pytest.mark.browser
EVERY_PAGE = pytest.mark.parametrize("name", pages())

#: Findings of axe that are the theme's: (rule, part of the element's selector, why they stay).
THEMES_FINDINGS: list[tuple[str, str, str]] = []

#: A line of SVG whose numbers did not work out.
BROKEN = ("NaN", "Infinity", "undefined")


def chart_name(chart: ElementHandle) -> str:
    """A chart as messages name it."""
    return str(chart.get_attribute("aria-label"))[:70]


@EVERY_PAGE
def test_asks_no_other_host_and_complains_of_nothing(
    name: str, site: str, browser: Browser
) -> None:
    with visit(browser, f"{site}{name}.html") as page:
        page.unfold()
    assert not page.foreign
    assert not page.complaints


@EVERY_PAGE
def test_works_from_the_disk(name: str, browser: Browser) -> None:
    with visit(browser, (HTML / f"{name}.html").as_uri()) as page:
        page.unfold()
        unready = [chart_name(c) for c in page.charts if c.get_attribute("data-ready") != "light"]
        equations = page.page.query_selector_all(".math:not(mjx-container)")
        unset = [e.text_content() for e in equations if not e.query_selector("mjx-container")]
    assert not unready
    assert not unset
    assert not page.foreign
    assert not page.complaints


def test_the_front_door_leads_to_the_landing_page(site: str, browser: Browser) -> None:
    with visit(browser, f"{site}index.html") as page:
        page.page.wait_for_url(f"{site}{pages()[0]}.html")
        assert page.page.query_selector("h1")


@EVERY_PAGE
def test_every_chart_draws_and_every_slider_moves_it(
    name: str, site: str, browser: Browser
) -> None:
    with visit(browser, f"{site}{name}.html") as page:
        page.unfold()
        for chart in page.charts:
            assert chart.get_attribute("data-ready") == "light", chart_name(chart)
            drawn = page.shapes(chart)
            assert drawn, f"{chart_name(chart)}: no marks"
            for slider in chart.query_selector_all("input[type=range]"):
                drawn = move(page, chart, slider, drawn)
    assert not page.complaints


def move(page: Visit, chart: ElementHandle, slider: ElementHandle, drawn: str) -> str:
    """Move a slider to its far end; what the chart draws then, which must be something else."""
    what = f"{chart_name(chart)}: {slider.get_attribute('name')}"
    far = max(("min", "max"), key=lambda end: abs(value(slider, end) - value(slider, "value")))
    slider.evaluate(
        "(slider, end) => { slider.value = slider[end];"
        " slider.dispatchEvent(new Event('input', {bubbles: true})); }",
        far,
    )
    try:
        after = page.wait_for_other_shapes(chart, drawn)
    except Exception as error:
        raise AssertionError(f"{what} moves nothing") from error
    assert not any(word in after for word in BROKEN), what
    return after


def value(slider: ElementHandle, which: str) -> float:
    """The number at an end of a slider, or where it stands."""
    return float(slider.evaluate("(slider, which) => Number(slider[which])", which))


@EVERY_PAGE
def test_dark_redraws_the_charts_and_keeps_the_sliders(
    name: str, site: str, browser: Browser
) -> None:
    with visit(browser, f"{site}{name}.html", color_scheme="light") as page:
        page.unfold()
        for chart in page.charts:
            drawn = page.shapes(chart)
            for slider in chart.query_selector_all("input[type=range]"):
                drawn = move(page, chart, slider, drawn)
        before = [(positions(chart), page.shapes(chart)) for chart in page.charts]
        page.flip("dark")
        for chart, (stood, drawn) in zip(page.charts, before, strict=True):
            assert chart.get_attribute("data-ready") == "dark", chart_name(chart)
            assert positions(chart) == stood, chart_name(chart)
            assert page.shapes(chart) == drawn, chart_name(chart)
    assert not page.complaints


def positions(chart: ElementHandle) -> list[tuple[str | None, float]]:
    """Where the sliders of a chart stand, by name."""
    found = chart.query_selector_all("input[type=range]")
    return [(slider.get_attribute("name"), value(slider, "value")) for slider in found]


@EVERY_PAGE
def test_fits_a_phone(name: str, site: str, browser: Browser) -> None:
    phone = {"width": 390, "height": 844}
    with visit(browser, f"{site}{name}.html", viewport=phone) as page:
        page.unfold()
        wide = page.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"the page is {wide} px wide"
        for chart in page.charts:
            room, needs = chart.evaluate("figure => [figure.clientWidth, figure.scrollWidth]")
            assert needs <= room, f"{chart_name(chart)}: {needs} px in {room}"
    assert not page.complaints


@EVERY_PAGE
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_serious(name: str, mode: str, site: str, browser: Browser) -> None:
    with visit(browser, f"{site}{name}.html", color_scheme=mode) as page:
        page.unfold(mode)
        found = Axe().run(page.page, options={"resultTypes": ["violations"]})
        ours = [
            f"{violation['id']} ({violation['impact']}): {selector}: {violation['help']}"
            for violation in found.response["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
            for selector in node["target"]
            if not is_the_themes(violation["id"], str(selector))
        ]
    assert not ours, "\n".join(ours)


def is_the_themes(rule: str, selector: str) -> bool:
    """Whether a finding is in the list of those that stay."""
    return any(rule == known and part in selector for known, part, _ in THEMES_FINDINGS)
