"""The built pages as files: whole, with links that lead somewhere, and nothing from elsewhere."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from specdec_lib import catalog, formulas
from specdec_lib.deployment import defaults
from specdec_lib.records.names import bare
from specdec_lib.symbols import SYMBOLS
from tests.book.chapters import chapters
from tests.book.site import HTML, ROOT, is_foreign, page, pages

pytestmark = pytest.mark.site
EVERY_PAGE = pytest.mark.parametrize("name", pages())


def path_of(name: str) -> Path:
    return HTML / f"{name}.html"


@EVERY_PAGE
def test_links_lead_somewhere(name: str) -> None:
    here = path_of(name)
    for link in page(here).links:
        if is_foreign(link) or link.startswith(("mailto:", "javascript:")):
            continue
        file, _, place = link.partition("#")
        target = (here.parent / unquote(file)).resolve() if file else here
        assert target.exists(), link
        if place and target.suffix == ".html":
            assert unquote(place) in page(target).ids, link


@EVERY_PAGE
def test_loads_only_files_of_the_site(name: str) -> None:
    here = path_of(name)
    for load in page(here).loads:
        assert not is_foreign(load), load
        if not load.startswith(("data:", "#")):
            assert (here.parent / load.partition("?")[0]).exists(), load


@EVERY_PAGE
def test_scripts_of_charts_are_where_charts_are(name: str) -> None:
    """Vega is most of a page's weight; only pages with a chart carry it."""
    text = path_of(name).read_text(encoding="utf-8")
    assert ('class="vega-chart"' in text) == ("_static/charts/vega.js" in text)


@EVERY_PAGE
def test_no_table_has_fallen_apart(name: str) -> None:
    """A row of a table that Markdown did not take for one becomes a paragraph with bars in it."""
    text = path_of(name).read_text(encoding="utf-8")
    assert not re.search(r"<p>\s*\|", text)


def test_every_formula_has_its_place() -> None:
    found = page(path_of("book/formulas")).ids
    for name in formulas.all_formulas():
        assert "formula-" + name.replace(".", "-").replace("_", "-") in found


def test_every_symbol_has_its_place() -> None:
    text = path_of("book/notation").read_text(encoding="utf-8")
    for keyword, known in SYMBOLS.items():
        assert f'<span class="pre">{keyword}</span>' in text
        assert known.meaning.partition("'")[0] in text


def test_every_fact_has_its_place() -> None:
    found = page(path_of("book/facts")).ids
    for kind, records in (
        ("gpu", catalog.gpus()),
        ("model", catalog.models()),
        ("reference", catalog.references()),
    ):
        for record in records:
            assert f"{kind}-{bare(record.name)}" in found
    for accelerator in defaults().efficiencies:
        assert f"deployment-{bare(accelerator)}" in found


def test_every_exercise_is_in_the_index_by_its_level() -> None:
    text = path_of("book/teaching").read_text(encoding="utf-8")
    listed = [text.index(f"Level {level}:") for level in (1, 2, 3)] + [len(text)]
    for chapter in chapters():
        asked = re.findall(r":label: (ex-[\w-]+)\n:class: level-(\d)\n", chapter.prose)
        assert asked
        for label, level in asked:
            here = slice(listed[int(level) - 1], listed[int(level)])
            assert f'{chapter.name}.html#{label}"' in text[here]


def test_times_on_the_fact_page_are_in_units_that_read_well() -> None:
    text = path_of("book/facts").read_text(encoding="utf-8")
    assert "time of the layer (µs)" in text
    assert not re.search(r"\de[−-]\d", text)


@pytest.mark.parametrize("name", ["book/notation", "book/formulas", "book/facts"])
def test_pages_from_the_library_are_made_anew_when_it_changes(name: str) -> None:
    """Sphinx compares the times of these files with the page's."""
    (stored,) = (ROOT / "_build").rglob("environment.pickle")
    environment = pickle.loads(stored.read_bytes())
    known = {Path(environment.srcdir, file).resolve() for file in environment.dependencies[name]}
    for file in ("specdec_lib/symbols/__init__.py", "specdec_lib/data/gpus/nvidia.toml"):
        assert (ROOT / file).resolve() in known
