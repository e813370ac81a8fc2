"""The built site as the tests read it: its pages, what they link to, and a server on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


def pages() -> list[str]:
    """Every page that the table of contents names, and the ones that Sphinx adds."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [entry["file"] for part in contents["parts"] for entry in part["chapters"]]
    return [contents["root"], *chapters, "search", "genindex"]


@dataclass
class Page(HTMLParser):
    """What one page holds: the places that links may lead to, its links, and what it loads."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe", "source", "video", "audio") and "src" in values:
            self.loads.append(values["src"])
        if tag == "link" and "href" in values and values.get("rel") not in ("canonical",):
            self.loads.append(values["href"])


@cache
def page(path: Path) -> Page:
    """A parsed page; each is parsed once."""
    return Page(path)


def is_foreign(address: str) -> bool:
    """Whether an address leads to another host."""
    return bool(re.match(r"(?:[a-z]+:)?//", address))


class _Quiet(SimpleHTTPRequestHandler):
    """A handler that does not report each request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of ``folder`` on a free port of this machine, while the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
