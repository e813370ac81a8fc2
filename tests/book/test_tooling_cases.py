"""What went wrong in other notebook books, tried on ours.

Each test carries the number of its case.  B02 and B04 need a browser and stand in test_site.py.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from specdec_lib.charts import MIME
from tests.book.chapters import ROOT, chapters
from tools.notebooks import STEADY

SUM = "print(f'{1 / 3:.6g}')"
CHART = """\
from specdec_lib import charts, formulas

charts.enable()
charts.curve(
    formulas.experts.distinct_experts,
    x="n",
    over=(1, 1e4),
    log=True,
    sliders={"k": charts.Slider(1, 8, 1, value=6)},
    fixed={"E": 256},
    roles="moe",
    y_title="distinct experts",
    description="Distinct experts against tokens: a rise, a bend and a plateau.",
)"""
SET = "print(sorted({'a', 'b'}), {'b': 1, 'a': 2})"


def write(path: Path, *sources: str) -> Path:
    """A notebook of some code cells, as an editor would save it."""
    cells = [new_markdown_cell("# A trial"), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def python(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python at the root of the project, and keep what it says."""
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **STEADY, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def notebooks(command: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    return python("tools.notebooks", command, *paths)


def nbval(*paths: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The comparison that ``make test`` makes, on other notebooks."""
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--nbval", "--nbval-current-env")
    return python("pytest", *options, "-c", ROOT / "pyproject.toml", *paths, **variables)


def edited(stored: Path, name: str, edit: Callable[[str], str]) -> Path:
    """A copy of a stored notebook with an edit that must change it."""
    text = stored.read_text()
    changed = edit(text)
    assert changed != text
    copy = stored.with_name(name)
    copy.write_text(changed)
    return copy


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with a number and a chart, executed and normalised by our tool."""
    path = write(tmp_path_factory.mktemp("trial") / "stored.ipynb", SUM, CHART, SET)
    ran = notebooks("run", path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return path


def test_B01_a_clean_run_passes_twice_and_any_edited_output_fails(stored: Path) -> None:
    """computationalmodelling/nbval#117: some outputs were not compared, others failed each time."""
    for _ in range(2):
        clean = nbval(stored)
        assert clean.returncode == 0, clean.stdout
    number = edited(stored, "number.ipynb", lambda text: text.replace("0.333333", "0.333334"))
    chart = edited(stored, "chart.ipynb", lambda text: text.replace("pow(", "exp("))
    failed = nbval(number, chart)
    assert failed.returncode == 1
    assert "FAILED ::Cell 0" in failed.stdout, "the number"
    assert "FAILED ::Cell 1" in failed.stdout, "the chart"
    assert "2 failed, 4 passed" in failed.stdout


def test_B01_a_notebook_without_outputs_does_not_pass_for_a_good_one(stored: Path) -> None:
    """nbval compares nothing where nothing is stored, so the other check must refuse it."""
    notebook = nbformat.read(stored, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    stripped = stored.with_name("stripped.ipynb")
    nbformat.write(notebook, stripped)
    refused = notebooks("check", stripped)
    assert refused.returncode == 1
    assert "without its outputs" in refused.stdout
    assert notebooks("check", stored).returncode == 0


def test_B03_stored_charts_do_not_depend_on_the_converter(stored: Path, tmp_path: Path) -> None:
    """vega/altair#4005: a converter's new version changed what it compiled, and a test broke.

    Charts are stored as the Vega-Lite that the library writes.  With a converter that cannot even
    be imported, the notebooks give the same outputs.
    """
    (tmp_path / "vl_convert.py").write_text("raise ImportError('no converter here')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    without = nbval(stored, PYTHONPATH=path)
    assert without.returncode == 0, without.stdout
    for cell in nbformat.read(stored, as_version=4).cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                assert "vega-lite" in output.data[MIME]["$schema"]


def test_B05_a_cell_that_raises_fails_every_time_with_its_traceback(tmp_path: Path) -> None:
    """INRIA/scikit-learn-mooc#329: the build only warned, and the second time it said nothing."""
    path = write(tmp_path / "raising.ipynb", "numbers = {'a': 1}", "numbers['missing']")
    before = path.read_bytes()
    for _ in range(2):
        ran = notebooks("run", path)
        assert ran.returncode == 1
        assert "KeyError: 'missing'" in ran.stdout
        assert "numbers['missing']" in ran.stdout
        assert path.read_bytes() == before, "a notebook that failed must not be written back"
        compared = nbval(path)
        assert compared.returncode == 1
        assert "KeyError" in compared.stdout


def test_B05_a_stored_error_is_refused(tmp_path: Path) -> None:
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=["no"])
    cell = new_code_cell("raise ValueError('no')", outputs=[error], execution_count=1)
    path = tmp_path / "error.ipynb"
    nbformat.write(new_notebook(cells=[cell]), path)
    refused = notebooks("check", path)
    assert refused.returncode == 1
    assert "a cell raised ValueError" in refused.stdout
    cell.metadata["tags"] = ["raises-exception"]
    nbformat.write(new_notebook(cells=[cell]), path)
    assert "a cell raised" not in notebooks("check", path).stdout


def test_B10_outputs_are_the_same_everywhere(stored: Path) -> None:
    """MDAnalysis/UserGuide#241: floats and orders differed from one Python to the next.

    Another seed of hashes changes nothing, a second run gives the same bytes, and what is stored
    names no version and no machine.
    """
    again = notebooks("stale", stored)
    assert again.returncode == 0, again.stdout
    other = nbval(stored, PYTHONHASHSEED="7")
    assert other.returncode == 0, other.stdout
    text = stored.read_text()
    assert json.loads(text)["metadata"]["language_info"] == {"name": "python"}
    assert sys.version.split()[0] not in text
    assert str(Path.home()) not in text


LONG_NUMBER = re.compile(r"(?<![\w.])\d*\.\d+(?:e[-+]?\d+)?(?![\w.])")


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.name)
def test_B10_stored_numbers_have_six_significant_digits(chapter: object) -> None:
    """Digits beyond the sixth depend on the machine; integers are exact."""
    for cell in chapter.code_cells:  # type: ignore[attr-defined]
        for output in cell.outputs:
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            for number in LONG_NUMBER.findall(text):
                whole = number.removesuffix(".0")  # 131072.0 is exact
                digits = re.sub(r"e.*|\.", "", whole).lstrip("0")
                assert len(digits) <= 6, f"{number} in the output of:\n{cell.source}"
