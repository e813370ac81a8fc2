"""Visits to pages in Chromium: what a page asked for and complained about, and its charts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, ElementHandle, Page

#: Console lines that are not ours to mend, each with the reason.
HARMLESS: dict[str, str] = {
    "Got invalid theme mode": "the theme says so on every first visit and then uses 'auto'",
}

#: The page is as it will stay: loaded, its equations set, every chart in sight drawn in the mode.
SETTLED = """mode => {
  if (document.readyState !== 'complete') return false;
  if (document.documentElement.dataset.theme !== mode) return false;
  if (document.querySelector('.math') && !document.querySelector('mjx-container')) return false;
  return [...document.querySelectorAll('figure.vega-chart')].every(figure =>
    figure.querySelector('.vega-target').clientWidth === 0
    || figure.dataset.ready === mode || figure.dataset.ready === 'failed');
}"""

#: Opens everything that is folded: solutions, checks, hidden cells.
UNFOLD = """() => {
  document.querySelectorAll('details').forEach(each => { each.open = true; });
  document.querySelectorAll('button.toggle-button').forEach(each => {
    if (each.closest('.toggle-hidden') || each.classList.contains('toggle-button-hidden'))
      each.click();
  });
}"""

#: What a chart has drawn: the shapes of all marks, but none of its text or axes.
SHAPES = """figure => [...figure.querySelectorAll('svg [class*="mark-"]:not([class*="role-axis"])')]
  .filter(group => !group.closest('[class*="role-axis"], [class*="role-legend"]'))
  .flatMap(group => [...group.querySelectorAll('path, rect, line')])
  .map(mark => ['d', 'x', 'y', 'x2', 'y2', 'width', 'height', 'transform', 'fill']
    .map(name => mark.getAttribute(name) || '').join(' '))
  .filter(shape => shape.trim())
  .join('\\n')"""


@dataclass
class Visit:
    """An open page, what it asked other hosts for and what it put on the console."""

    page: Page
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def settle(self, mode: str = "light") -> None:
        """Wait until the page stays as it is."""
        self.page.wait_for_function(SETTLED, arg=mode, timeout=20_000)

    def unfold(self, mode: str = "light") -> None:
        """Open what is folded, and wait for the charts in it."""
        self.page.evaluate(UNFOLD)
        self.settle(mode)

    def flip(self, mode: str) -> None:
        """Let the reader's system change to ``mode``, which the theme follows."""
        self.page.emulate_media(color_scheme=mode)  # type: ignore[arg-type]
        self.settle(mode)

    @property
    def charts(self) -> list[ElementHandle]:
        """The figures with a chart, in order."""
        return self.page.query_selector_all("figure.vega-chart")

    def shapes(self, chart: ElementHandle) -> str:
        """What ``chart`` has drawn, as text to compare."""
        return str(chart.evaluate(SHAPES))

    def wait_for_other_shapes(self, chart: ElementHandle, than: str) -> str:
        """What ``chart`` draws once it no longer draws ``than``; fails after two seconds."""
        waiting = f"([figure, than]) => (({SHAPES})(figure)) !== than"
        self.page.wait_for_function(waiting, arg=[chart, than], timeout=2_000)
        return self.shapes(chart)


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    """Open ``address`` and let it settle; ``options`` are those of a browser context."""
    own = address.split("/_build/")[0] if address.startswith("file:") else address.rsplit(":", 1)[0]
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    try:
        opened = Visit(context.new_page())

        def note_request(url: str) -> None:
            if not url.startswith((own, "data:", "blob:")):
                opened.foreign.append(url)

        def note_line(kind: str, text: str) -> None:
            if kind == "error" and not any(known in text for known in HARMLESS):
                opened.complaints.append(text)

        opened.page.on("request", lambda request: note_request(request.url))
        opened.page.on("console", lambda line: note_line(line.type, line.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.goto(address)
        opened.settle(str(options.get("color_scheme", "light")))
        yield opened
    finally:
        context.close()
