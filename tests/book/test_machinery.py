"""The book's Sphinx machinery, piece by piece; test_pages.py and test_site.py see the whole."""

from __future__ import annotations

import datetime
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import vl_convert
from docutils import nodes
from sphinx.builders.html._assets import _JavaScript

from specdec_book import assets, exercises, facts, pages, sources
from specdec_book.numbers import THIN, grouped, with_unit
from specdec_lib import theme
from specdec_lib.catalog import Datum, Provenance
from specdec_lib.charts import MIME
from specdec_lib.charts.myst import VegaLiteRenderer, figure
from tests.book.site import Page

SPEC = {"description": 'A "rise" </script><b> & a bend', "height": 240, "mark": "line"}


class TestFigure:
    def test_the_specification_survives_whatever_it_holds(self, tmp_path: Path) -> None:
        file = tmp_path / "figure.html"
        file.write_text(figure(SPEC))
        script = re.search(r'<script type="application/json">(.*?)</script>', file.read_text())
        assert script
        assert json.loads(script[1]) == SPEC
        assert Page(file).loads == []

    def test_is_named_and_keeps_its_room(self) -> None:
        made = figure(SPEC)
        assert 'aria-label="A &quot;rise&quot; &lt;/script&gt;&lt;b&gt; &amp; a bend"' in made
        assert "min-height:240px" in made
        assert "min-height:300px" in figure({**SPEC, "height": {"step": 20}})

    @pytest.mark.parametrize("content", [SPEC, json.dumps(SPEC)], ids=["dict", "text"])
    def test_the_renderer_takes_charts(self, content: object) -> None:
        data = SimpleNamespace(mime_type=MIME, content=content)
        (node,) = VegaLiteRenderer.handle_mime(None, data, False) or []
        assert node.astext() == figure(SPEC)

    def test_and_nothing_else(self) -> None:
        other = SimpleNamespace(mime_type="text/html", content="<p>")
        assert VegaLiteRenderer.handle_mime(None, other, False) is None
        chart = SimpleNamespace(mime_type=MIME, content=SPEC)
        assert VegaLiteRenderer.handle_mime(None, chart, True) is None


class TestAssets:
    def test_both_modes_are_the_themes(self) -> None:
        script = re.fullmatch(r"window\.bookChartConfig = (.*);\n", assets.chart_settings())
        assert script
        found = json.loads(script[1])
        for mode, dark in (("light", False), ("dark", True)):
            assert found[mode] == json.loads(json.dumps(theme.vega_config(dark=dark)))

    def test_what_is_the_same_is_not_written_again(self, tmp_path: Path) -> None:
        file = tmp_path / "folder" / "file"
        assets.write_if_other(file, "one")
        os.utime(file, (1, 1))
        assets.write_if_other(file, "one")
        assert file.stat().st_mtime == 1
        assets.write_if_other(file, "two")
        assert file.read_text() == "two"
        assert file.stat().st_mtime > 1

    def test_folders_are_copied_and_kept_up_to_date(self, tmp_path: Path) -> None:
        source, target = tmp_path / "from", tmp_path / "to"
        assets.write_if_other(source / "deep" / "file", "one")
        assets.copy_new(source, target)
        assert (target / "deep" / "file").read_text() == "one"
        (source / "deep" / "file").write_text("two")
        os.utime(source / "deep" / "file", (1, 1))  # an older file than the copy, yet another one
        assets.copy_new(source, target)
        assert (target / "deep" / "file").read_text() == "two"

    def test_the_bundle_is_made_once_and_keeps_to_itself(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        monkeypatch.setattr(
            vl_convert, "javascript_bundle", lambda snippet: asked.append(snippet) or "const _ = 1;"
        )
        first, second = assets.vega_bundle(tmp_path), assets.vega_bundle(tmp_path)
        assert first == second
        assert asked == ["window.vegaEmbed = vegaEmbed;"]
        assert re.fullmatch(r"\(\(\) => \{\nconst _ = 1;\n\}\)\(\);\n", first.read_text())

    def test_mathjax_has_what_the_pages_ask_for(self) -> None:
        for part in assets.MATHJAX_PARTS:
            assert (assets.mathjax_folder() / part).exists()


class TestPages:
    def test_scripts_lose_repetitions_and_what_comes_from_elsewhere(self) -> None:
        scripts = [
            _JavaScript("a.js"),
            _JavaScript("", body='const THEBE_JS_URL = "https://elsewhere/index.js"'),
            _JavaScript("", body="let hint = 1;"),
            _JavaScript("", body="let hint = 1;", priority=900),
            _JavaScript("_static/sphinx-thebe.js"),
            _JavaScript("a.js", priority=300),
        ]
        context = {"script_files": scripts}
        pages.tidy_scripts(None, "", "", context, None)  # type: ignore[arg-type]
        assert context["script_files"] == [scripts[0], scripts[2]]

    def test_a_chart_is_found_in_a_page(self) -> None:
        with_chart, without = nodes.document(None, None), nodes.document(None, None)
        with_chart += nodes.container("", nodes.raw("", figure(SPEC), format="html"))
        without += nodes.raw("", "<p>", format="html")
        assert pages.has_chart(with_chart)
        assert not pages.has_chart(without)


class TestSources:
    def test_the_library_is_watched_whole(self) -> None:
        watched = {path.name for path in sources.library_files()}
        assert {"counted.py", "experts.py", "nvidia.toml", "myst.py"} <= watched

    def test_a_change_gives_another_fingerprint(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_text("one")
        before = sources.digest([file])
        assert sources.digest([file]) == before
        file.write_text("two")
        assert sources.digest([file]) != before


def provenance(**changes: object) -> Provenance:
    stated = {"source": "a sheet", "kind": "datasheet", "retrieved": datetime.date(2026, 11, 30)}
    return Provenance(**{**stated, **changes})  # type: ignore[arg-type]


class TestFacts:
    def test_an_assumed_value_is_slanted(self) -> None:
        known = Datum(8e12, "B/s", provenance())
        (plain,) = facts.value_cell(known, 1e12)
        assert plain == "8"
        (slanted,) = facts.value_cell(Datum(8e12, "B/s", provenance(kind="assumed")), 1e12)
        assert isinstance(slanted, nodes.emphasis)
        assert facts.value_cell(None, 1e12) == ["–"]

    def test_a_value_says_only_what_differs_from_its_record(self) -> None:
        record = provenance(notes=("beware",))
        assert facts.remark(provenance(), record) == ""
        assert facts.remark(provenance(notes=("of the module",)), record) == "of the module"
        other = facts.remark(provenance(source="a guide", confidence="low"), record)
        assert other == "a guide (datasheet, read 2026-11-30, confidence low)"

    @pytest.mark.parametrize(
        ("value", "text"),
        [(0.0, "0"), (6.0, "6"), (1234.5678, "1 234.57"), (-2.5, "−2.5"), (107e6, "107 000 000")],
    )
    def test_numbers_have_six_digits_and_thin_spaces(self, value: float, text: str) -> None:
        assert grouped(value) == text.replace(" ", THIN)

    @pytest.mark.parametrize(
        ("value", "unit", "text"),
        [
            (8e12, "B/s", "8 TB/s"),
            (999.9999e9, "B/s", "1 TB/s"),
            (1.968e-6, "s", "1.968 µs"),
            (0.53, "B", "0.53 B"),
            (1125.0, "FLOP/B", "1 125 FLOP/B"),
            (0.0, "s", "0 s"),
        ],
    )
    def test_units_get_the_prefix_that_reads_best(self, value: float, unit: str, text: str) -> None:
        number, _, shown = text.rpartition(" ")
        assert with_unit(value, unit) == f"{number.replace(' ', THIN)} {shown}"


class TestExercises:
    def notebook(self, folder: Path, text: str) -> Path:
        file = folder / "topic.ipynb"
        cell = {"cell_type": "markdown", "source": [f"# A point\n\n{text}"]}
        file.write_text(json.dumps({"cells": [cell]}))
        return file

    def test_are_read_with_title_label_and_level(self, tmp_path: Path) -> None:
        text = "```{exercise} Guess\n:label: ex-topic-1\n:class: level-2\n\nHow many?\n```"
        (found,) = exercises.exercises(self.notebook(tmp_path, text))
        assert found == exercises.Exercise("Guess", "ex-topic-1", 2, "topic", "A point")

    @pytest.mark.parametrize(
        "text",
        [
            "```{exercise}\n:label: ex-topic-1\n:class: level-2\n```",
            "```{exercise} Guess\n:class: level-2\n```",
            "```{exercise} Guess\n:label: ex-topic-1\n```",
            "```{exercise} Guess\n:label: ex-topic-1\n:class: level-4\n```",
        ],
    )
    def test_without_one_of_them_are_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(ValueError, match="needs a title, a :label: and a :class: out of"):
            exercises.exercises(self.notebook(tmp_path, text))
