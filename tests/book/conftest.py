"""What the tests of the built site share: one browser, one server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.book.site import HTML, pages, served
from tests.book.visits import PHONE, Visit, visit
from tools.chromium import ADVICE, find_chromium

#: No name but the loopback's resolves, so nothing reaches another host, and Chromium itself is
#: told to ask for nothing.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the built site on this machine."""
    if not (HTML / "index.html").exists():
        pytest.fail(f"there is no book at {HTML}; make book builds it")
    with served(HTML) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium without a network; in CI its absence is a failure."""
    executable = find_chromium()
    if executable is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ADVICE)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield started
        started.close()


#: Every page; the tests of one page stay with one worker, which opens it once.
EVERY_PAGE = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in pages()]


@pytest.fixture(scope="module", params=EVERY_PAGE)
def opened(request: pytest.FixtureRequest, site: str, browser: Browser) -> Iterator[Visit]:
    """Each page in turn, opened once over HTTP and shared by the tests of it."""
    with visit(browser, f"{site}{request.param}.html") as page:
        yield page


@pytest.fixture(scope="module", params=EVERY_PAGE)
def from_disk(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Visit]:
    """Each page in turn, opened as a file."""
    with visit(browser, (HTML / f"{request.param}.html").as_uri()) as page:
        yield page


@pytest.fixture
def page(opened: Visit) -> Visit:
    """An opened page as a reader first finds it, with its sliders where tests have left them."""
    opened.reset()
    return opened


@pytest.fixture
def on_a_phone(opened: Visit) -> Visit:
    """The same page on a phone."""
    opened.reset(window=PHONE)
    return opened


@pytest.fixture
def by_night(opened: Visit) -> Visit:
    """The same page at a desk, dark."""
    opened.reset("dark")
    return opened
