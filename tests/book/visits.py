"""Visits to pages in Chromium: what a page asked for and complained about, and its charts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, ElementHandle, Page, ViewportSize
from playwright.sync_api import TimeoutError as TooLong

#: Console lines that are not ours to mend, each with the reason.
HARMLESS: dict[str, str] = {
    "Got invalid theme mode": "the theme says so on every first visit and then uses 'auto'",
}

#: The window of a desk, and that of a phone.
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}

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

#: Nothing is wider than the window, and no chart wider than its place.
FITS = """() => document.documentElement.scrollWidth <= window.innerWidth
  && [...document.querySelectorAll('figure.vega-chart')]
    .every(figure => figure.scrollWidth <= figure.clientWidth)"""

#: What a chart has drawn: the shapes of its marks, without titles, axes and legends.  Where there
#: is no line, numbers in cells count as well; beside a line, text alone must not pass for it.  The
#: colour of text is the mode's, not the chart's.
SHAPES = """figure => {
  const kinds = ['path', 'rect', 'line'];
  if (!figure.querySelector('.role-mark.mark-line')) kinds.push('text');
  return [...figure.querySelectorAll(kinds.map(kind => `svg .role-mark ${kind}`).join(', '))]
    .map(mark => ['d', 'x', 'y', 'x2', 'y2', 'width', 'height', 'transform']
      .concat(mark.tagName === 'text' ? [] : ['fill'])
      .map(name => mark.getAttribute(name) || '').concat(mark.textContent).join(' '))
    .filter(shape => shape.trim())
    .join('\\n');
}"""


@dataclass
class Visit:
    """An open page, what it asked other hosts for and what it put on the console."""

    page: Page
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def reset(self, mode: str = "light", window: ViewportSize = DESK) -> None:
        """As a reader finds it, everything unfolded, with nothing noted."""
        if self.page.viewport_size != window:
            self.page.set_viewport_size(window)
        self.flip(mode)
        self.unfold(mode)
        self.foreign.clear()
        self.complaints.clear()

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

    def comes_to(self, condition: str) -> bool:
        """Whether a condition, a function of JavaScript, comes to hold within 3 s."""
        try:
            self.page.wait_for_function(condition, timeout=3_000)
        except TooLong:
            return False
        return True

    @property
    def charts(self) -> list[ElementHandle]:
        """The figures with a chart, in order."""
        return self.page.query_selector_all("figure.vega-chart")

    def shapes(self, chart: ElementHandle) -> str:
        """What ``chart`` has drawn, as text to compare."""
        return str(chart.evaluate(SHAPES))

    def at_rest(self) -> list[str]:
        """What every chart draws, once none changes any more; AssertionError after 5 s."""
        before: list[str] = []
        for _ in range(25):
            now = self.page.eval_on_selector_all(
                "figure.vega-chart", f"figures => figures.map({SHAPES})"
            )
            if now == before:
                return now
            before = now
            self.page.wait_for_timeout(200)
        raise AssertionError("the charts do not come to rest")

    def wait_for_other_shapes(self, chart: ElementHandle, than: str, what: str) -> str:
        """What ``chart`` draws once it no longer draws ``than``; AssertionError after 5 s."""
        waiting = f"([figure, than]) => (({SHAPES})(figure)) !== than"
        try:
            self.page.wait_for_function(waiting, arg=[chart, than], timeout=5_000)
        except TooLong as error:
            raise AssertionError(f"{what}: the chart stays as it is") from error
        return self.shapes(chart)


@contextmanager
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """Open ``address`` at a desk, unfold it and let it settle."""
    scheme, _, rest = address.partition("://")
    own = "file://" if scheme == "file" else f"{scheme}://{rest.partition('/')[0]}/"
    context = browser.new_context(viewport=DESK, color_scheme="light")
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
        opened.page.on(
            "response",
            lambda answer: answer.ok or opened.complaints.append(f"{answer.status} {answer.url}"),
        )
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.goto(address)
        opened.page.add_style_tag(content="* { transition: none !important; }")
        opened.settle()
        opened.unfold()
        yield opened
    finally:
        context.close()
