"""How a chapter is made: the rules of the house that a machine can check."""

from __future__ import annotations

import ast
import json
import re
import tomllib

import nbformat
import pytest

from specdec_lib.claims import bold_numbers, claimed_numbers
from tests.book.chapters import ROOT, Chapter, chapters, code_lines, retyped_algebra

VEGA_LITE = "application/vnd.vegalite.v5+json"
SEE = "**What to see:**"
#: The prompts of a hidden cell of claims.
CHECKED = {
    "code_prompt_show": "The numbers above, checked",
    "code_prompt_hide": "Hide the checks",
}
CHAPTERS = pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)

#: (chapter, line of code, why it is no formula typed again)
ALLOWED_ALGEBRA: list[tuple[str, str, str]] = []


def test_the_chapters_are_found() -> None:
    """Every rule below is empty without chapters."""
    assert chapters()[0].name == "roofline" and len(chapters()) > 10
    notebooks = {path for path in (ROOT / "book").rglob("*.ipynb") if ".ipynb_" not in str(path)}
    assert notebooks == {c.path for c in chapters()}, "a notebook is missing from _toc.yml"


@CHAPTERS
def test_starts_with_its_point_and_what_the_reader_gets(chapter: Chapter) -> None:
    first = chapter.notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    opening = chapter.sections[0].prose
    assert "After this chapter you can" in opening
    assert "Prerequisites" in opening
    assert re.search(r"\d+ minutes", opening)


@CHAPTERS
@pytest.mark.parametrize(
    "title", ["What we assumed", "Summary", "Exercises", "Further reading"], ids=str.lower
)
def test_has_the_closing_sections(chapter: Chapter, title: str) -> None:
    assert title in [s.title for s in chapter.sections]


@CHAPTERS
def test_has_one_import_cell(chapter: Chapter) -> None:
    importing = [
        cell.source
        for cell in chapter.code_cells
        if any(isinstance(n, ast.Import | ast.ImportFrom) for n in ast.walk(ast.parse(cell.source)))
    ]
    assert len(importing) == 1
    assert importing[0] == chapter.code_cells[0].source


@CHAPTERS
def test_cells_are_short_and_define_nothing(chapter: Chapter) -> None:
    for cell in chapter.code_cells:
        lines = len(cell.source.splitlines())
        assert lines <= 15, f"{lines} lines:\n{cell.source}"
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        assert not any(isinstance(n, defined) for n in ast.walk(ast.parse(cell.source))), (
            cell.source
        )


@CHAPTERS
def test_no_line_of_code_is_cut_on_the_page(chapter: Chapter) -> None:
    for cell in chapter.code_cells:
        for line in cell.source.splitlines():
            assert len(line) <= 80, f"{len(line)} characters: {line}"


def test_the_formatter_and_the_page_agree_on_the_width() -> None:
    config = tomllib.loads((ROOT / "book" / "ruff.toml").read_text())
    assert config["line-length"] == 80


@CHAPTERS
def test_what_is_hidden_is_called_the_same_everywhere(chapter: Chapter) -> None:
    """Imports and charts hide their code under the prompt of _config.yml, claims under this one."""
    for cell in chapter.code_cells:
        tags, told = cell.metadata.get("tags", []), dict(cell.metadata.get("mystnb", {}))
        claims = bool(claimed_numbers(cell.source))
        drawn = any(VEGA_LITE in output.get("data", {}) for output in cell.outputs)
        assert ("hide-cell" in tags) == claims, cell.source
        assert ("hide-input" in tags) == (drawn or cell is chapter.code_cells[0]), cell.source
        prompts = {key: text for key, text in told.items() if key.startswith("code_prompt")}
        assert prompts == (CHECKED if claims else {}), cell.source


@CHAPTERS
def test_prose_leads(chapter: Chapter) -> None:
    words = len(re.findall(r"\w+", re.sub(r"\$\$.*?\$\$|\$.*?\$", "", chapter.prose, flags=re.S)))
    code = sum(code_lines(cell.source) for cell in chapter.code_cells)
    assert words >= 10 * code, f"{words} words for {code} lines of code"


@CHAPTERS
def test_bold_numbers_are_claimed_in_their_section(chapter: Chapter) -> None:
    anywhere = 0
    for section in chapter.sections:
        bold = set(bold_numbers(section.prose))
        claimed = {number for source in section.code for number in claimed_numbers(source)}
        assert bold <= claimed, f"{section.title}: bold, but no claim: {sorted(bold - claimed)}"
        assert claimed <= bold, f"{section.title}: claimed, but not bold: {sorted(claimed - bold)}"
        anywhere += len(bold)
    assert anywhere >= 10, "a chapter without numbers worth remembering"


@CHAPTERS
def test_no_formula_is_typed_again(chapter: Chapter) -> None:
    for cell in chapter.code_cells:
        source = cell.source
        for name, line, _ in ALLOWED_ALGEBRA:
            if name == chapter.name:
                source = source.replace(line, "")
        assert not retyped_algebra(source), (retyped_algebra(source), cell.source)


def test_the_allow_list_is_alive() -> None:
    for name, line, reason in ALLOWED_ALGEBRA:
        (chapter,) = (c for c in chapters() if c.name == name)
        assert any(line in cell.source for cell in chapter.code_cells), line
        assert reason, line


def test_retyped_algebra_is_recognised() -> None:
    assert retyped_algebra("256 * (1 - (1 - 6/256)**n)") == ["**"]
    assert retyped_algebra("np.exp(-x) + math.log(2) + max(a, b)") != []
    assert retyped_algebra("alt.Chart().transform_calculate(y='datum.x*2')") != []
    assert retyped_algebra("touched.max() / experts.distinct_experts(n=4, E=8, k=2)") == []


def charts_of(chapter: Chapter) -> list[tuple[int, nbformat.NotebookNode]]:
    return [
        (place, output.data)
        for place, cell in enumerate(chapter.notebook.cells)
        if cell.cell_type == "code"
        for output in cell.outputs
        if VEGA_LITE in output.get("data", {})
    ]


@CHAPTERS
def test_every_chart_is_described_and_discussed(chapter: Chapter) -> None:
    found = charts_of(chapter)
    assert len(found) >= 3
    for place, data in found:
        description = data[VEGA_LITE].get("description", "")
        assert len(description.split()) >= 6, f"cell {place}: a chart without a description"
        assert description in data["text/plain"]
        following = [c for c in chapter.notebook.cells[place + 1 :] if c.cell_type == "markdown"]
        assert following and following[0].source.startswith(SEE), f"cell {place}: begin with {SEE}"


@CHAPTERS
def test_what_to_see_looks_the_same_everywhere(chapter: Chapter) -> None:
    said = re.findall(r"(?i)\*{0,2}what to see:?\*{0,2}:?", chapter.prose)
    assert set(said) <= {SEE}


@CHAPTERS
def test_a_judged_claim_stands_in_a_box(chapter: Chapter) -> None:
    """``:::{admonition} Claim C1, judged: holds`` and the class that gives it its colour."""
    box = r"^:::\{admonition\} Claim C\d+, judged: .+\n:class: important$"
    judged = re.findall(r"Claim C\d+, judged", chapter.prose)
    assert len(re.findall(box, chapter.prose, re.M)) == len(judged)
    assert chapter.prose.count("**Verdict") == chapter.prose.count("**Verdict:**")


@CHAPTERS
def test_a_judged_claim_has_its_grounds(chapter: Chapter) -> None:
    """The statement in italics, what it was judged by, under which conditions, and the verdict."""
    for box in re.findall(r"^:::\{admonition\} Claim.*?^:::$", chapter.prose, re.M | re.S):
        assert re.search(r"^\*[^*].*", box, re.M), f"the statement is missing: {box}"
        for part in ("**Evidence", "**Conditions", "**Verdict:**"):
            assert part in box, f"{part}** is missing: {box}"


def test_the_ledger() -> None:
    """Which of the claims that the book settles are judged, and where."""
    judged = {
        chapter.name: sorted({int(n) for n in re.findall(r"Claim C(\d+), judged", chapter.prose)})
        for chapter in chapters()
    }
    assert {name: claims for name, claims in judged.items() if claims} == {
        "roofline": [1],
        "acceptance": [14],
        "experts": [2, 3, 4, 10],
        "routing": [3, 10],
        "attention": [6, 7, 8],
        "compressed": [6, 8],
        "step": [1, 2, 3, 4, 10],
        "marginal": [3, 10],
        "drafting": [15, 16],
        "speedup": [5, 9, 11, 12, 13],
        "parallelism": [10],
    }


@CHAPTERS
def test_an_exercise_asks_for_a_pencil(chapter: Chapter) -> None:
    """At least one is to be predicted on paper before anything is computed."""
    asked = re.findall(r"```\{exercise\}.*?^```", chapter.prose, re.M | re.S)
    assert any(re.search(r"(?i)predict|pencil|on paper|before you compute", each) for each in asked)


@CHAPTERS
def test_charts_carry_formulas_not_tables(chapter: Chapter) -> None:
    """Charts compute in Vega; where one carries data, it is small."""
    for place, data in charts_of(chapter):
        assert len(json.dumps(data[VEGA_LITE])) < 60_000, f"cell {place}"


@CHAPTERS
def test_outputs_are_clean(chapter: Chapter) -> None:
    for cell in chapter.code_cells:
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
            assert "0x" not in json.dumps(output.get("data", {}).get("text/plain", "")), cell.source


@CHAPTERS
def test_metadata_is_what_sphinx_and_jupyter_need(chapter: Chapter) -> None:
    metadata = chapter.notebook.metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.language_info.name == "python"


@CHAPTERS
def test_exercises_have_hidden_executed_solutions(chapter: Chapter) -> None:
    exercises = re.findall(r"\{exercise\}[^\n]*\n:label: ([\w-]+)", chapter.prose)
    assert 3 <= len(exercises) <= 5
    solved = re.findall(r"\{solution-start\} ([\w-]+)\s*\n:class: dropdown", chapter.prose)
    assert sorted(solved) == sorted(exercises)
    inside, with_code = False, 0
    for cell in chapter.notebook.cells:
        if cell.cell_type == "markdown" and "{solution-start}" in cell.source:
            inside, has_code = True, False
        if cell.cell_type == "code" and inside:
            has_code = True
        if cell.cell_type == "markdown" and "{solution-end}" in cell.source:
            inside, with_code = False, with_code + has_code
    assert with_code == len(exercises), "every solution is executed"
