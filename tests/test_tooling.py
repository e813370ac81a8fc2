"""The tools around the book: its environment, its requirements, its checks, its notebooks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import check, chromium, environment
from tools.check import CHECKS, Check, Outcome
from tools.notebooks import found, normalise, problems, text_of
from tools.typography import unbroken

ROOT = Path(__file__).resolve().parent.parent


def bare(name: str) -> str:
    """A package's name as all spellings of it are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str) -> dict[str, str]:
    """The versions that a compiled list pins; of several for one package, all."""
    found: dict[str, str] = {}
    for line in (ROOT / file).read_text().splitlines():
        if line and not line.startswith(("#", " ", "-e")):
            pinned = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?==(\S+?)(?: ;.*)?", line)
            assert pinned, f"{file}: {line!r} pins nothing"
            name = bare(pinned[1])
            found[name] = " ".join(filter(None, [found.get(name), pinned[2]]))
    return found


def named(file: str) -> dict[str, str | None]:
    """The packages that a list for the compiler names, with the version where it gives one."""
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    parts = [
        re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(?:==(\S+))?", line)
        for line in lines
        if line and not line.startswith("-e")
    ]
    return {bare(part[1]): part[2] for part in parts if part}


class TestRequirements:
    @pytest.mark.parametrize("stem", ["requirements", "requirements-lab"])
    def test_the_pinned_list_is_in_step(self, stem: str) -> None:
        pinned = pins(f"{stem}.txt")
        for name, version in named(f"{stem}.in").items():
            assert name in pinned, f"{name} is in {stem}.in only: make lock"
            assert version in (None, pinned[name]), f"{name}: make lock"

    def test_the_library_itself_is_installed(self) -> None:
        assert "-e ." in (ROOT / "requirements.txt").read_text().splitlines()

    def test_the_lab_agrees_with_the_book(self) -> None:
        book, lab = pins("requirements.txt"), pins("requirements-lab.txt")
        assert {name: lab[name] for name in lab.keys() & book} == {
            name: book[name] for name in lab.keys() & book
        }

    def test_no_list_names_a_place_to_install_from(self) -> None:
        for file in ROOT.glob("requirements*"):
            assert "://" not in file.read_text(), file.name


class TestEnvironment:
    @pytest.mark.parametrize("version", [(2, 7), (3, 10), (3, 14)])
    def test_refuses_other_pythons(self, version: tuple[int, int]) -> None:
        with pytest.raises(SystemExit, match=r"needs Python 3\.11 to 3\.13") as refused:
            environment.refuse_other_pythons(version)
        assert "PYTHON=" in str(refused.value)

    @pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
    def test_takes_its_own(self, version: tuple[int, int]) -> None:
        environment.refuse_other_pythons(version)

    def test_says_the_same_as_the_package(self) -> None:
        package = (ROOT / "pyproject.toml").read_text()
        assert 'requires-python = ">=3.11,<3.14"' in package

    def test_a_broken_environment_does_not_work(self, tmp_path: Path) -> None:
        assert not environment.works(str(tmp_path / "python"), (3, 11))

    def test_the_installer_is_pinned(self) -> None:
        assert re.fullmatch(r"uv==[\d.]+", environment.pinned("uv"))


class TestMake:
    def test_help_names_every_goal_and_every_check(self) -> None:
        makefile = (ROOT / "Makefile").read_text()
        (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
        shown = subprocess.run(
            ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for goal in phony.split():
            assert goal == "help" or f"make {goal} " in shown
        assert " ".join(each.name for each in CHECKS) in shown

    @pytest.mark.parametrize("goal", ["book", "test", "notebooks", "serve", "lab", "bench", "bite"])
    def test_every_goal_sets_up_the_environment(self, goal: str) -> None:
        """On a fresh checkout, the first thing that a goal runs makes .venv."""
        command = ["make", "--dry-run", "VENV=no-such-folder", goal]
        planned = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "tools/environment.py no-such-folder requirements.txt" in planned.stdout

    @pytest.mark.parametrize(("user", "allowed"), [("0", True), ("1000", False)])
    def test_the_lab_opens_for_root_too(self, tmp_path: Path, user: str, allowed: bool) -> None:
        identity = tmp_path / "id"
        identity.write_text(f"#!/bin/sh\necho {user}\n")
        identity.chmod(0o755)
        planned = subprocess.run(
            ["make", "--dry-run", "lab"],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "jupyter lab" in planned.stdout
        assert ("--allow-root" in planned.stdout) == allowed


class TestCheck:
    GOOD = Check("good", "passes", [("platform",)])
    BAD = Check("bad", "fails", [("platform",), ("json.tool", "no-such-file")])

    def test_the_last_line_has_the_totals(self) -> None:
        outcomes = [
            Outcome(self.GOOD, "passed", 1.0),
            Outcome(self.GOOD, "passed", 2.0),
            Outcome(self.BAD, "failed", 3.0),
            Outcome(self.GOOD, "skipped", reason="there is none"),
        ]
        *table, totals = check.report(outcomes).splitlines()
        assert totals == "2 passed, 1 failed, 1 skipped"
        assert "there is none" in table[-1]

    def test_runs_until_something_fails_and_shows_it(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert check.run(self.GOOD).result == "passed"
        assert capsys.readouterr().out == ""
        assert check.run(self.BAD).result == "failed"
        said = capsys.readouterr().out
        assert "no-such-file" in said
        assert "make test CHECKS=bad" in said

    def test_one_failure_fails_the_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(check, "CHECKS", (self.GOOD, self.BAD))
        monkeypatch.setattr("sys.argv", ["check"])
        assert check.main() == 1
        monkeypatch.setattr("sys.argv", ["check", "good"])
        assert check.main() == 0

    def test_an_unknown_name_is_refused(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.argv", ["check", "typos"])
        with pytest.raises(SystemExit):
            check.main()
        assert "lint, format, types" in capsys.readouterr().err

    def test_without_chromium_the_browser_tests_are_skipped_but_not_in_ci(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CHROMIUM", "no-such-browser")
        monkeypatch.delenv("CI", raising=False)
        assert chromium.find_chromium() is None
        assert check.no_chromium() == chromium.ADVICE
        monkeypatch.setenv("CI", "true")
        assert check.no_chromium() is None


class TestContinuousIntegration:
    def test_the_script_is_sound(self) -> None:
        script = ROOT / ".ci" / "run"
        assert os.access(script, os.X_OK)
        subprocess.run(["bash", "-n", script], check=True)
        assert "set -euo pipefail" in script.read_text()

    def test_the_workflows_ask_for_little(self) -> None:
        for file in (ROOT / ".github" / "workflows").glob("*.yml"):
            workflow = yaml.safe_load(file.read_text())
            assert workflow["permissions"] == {"contents": "read"}
            for job in workflow["jobs"].values():
                assert job["timeout-minutes"] <= 30
                for step in job["steps"]:
                    if "uses" in step:
                        assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])

    def test_every_python_is_tested(self) -> None:
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
        matrix = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
        oldest, newest = environment.OLDEST, environment.NEWEST
        assert matrix == [f"3.{minor}" for minor in range(oldest[1], newest[1] + 1)]


def tidy_notebook() -> nbformat.NotebookNode:
    """A small notebook as it is stored."""
    shown = new_output("execute_result", {"text/plain": "3"}, execution_count=1)
    cells = [new_markdown_cell("# Title"), new_code_cell("1 + 2", outputs=[shown])]
    return normalise(new_notebook(cells=cells))


class TestNotebooks:
    def test_a_notebook_is_found_by_its_path_or_its_chapter(self) -> None:
        expected = ROOT / "book" / "roofline.ipynb"
        for name in ("roofline", "book/roofline.ipynb", str(expected)):
            assert found(Path(name)) == expected

    @pytest.mark.parametrize("name", ["nope", "book", "README.md"])
    def test_a_notebook_that_is_none_is_refused_in_one_line(self, name: str) -> None:
        run = subprocess.run(
            [sys.executable, "-m", "tools.notebooks", "run", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 1
        assert run.stdout == ""
        (line,) = run.stderr.splitlines()
        assert line.startswith(f"no notebook '{name}'; name a file, or a chapter: ")
        assert "roofline" in line

    def test_a_tidy_notebook_has_no_problem(self) -> None:
        assert list(problems(text_of(tidy_notebook()))) == []

    def test_normalising_twice_changes_nothing(self) -> None:
        once = tidy_notebook()
        assert text_of(normalise(once)) == text_of(once)

    def test_editors_leave_no_trace(self) -> None:
        notebook = tidy_notebook()
        notebook.metadata.update(toc={"depth": 3}, language_info={"version": "3.12.1"})
        code = notebook.cells[1]
        code.metadata.update(collapsed=True, tags=["b", "a", "a"], mystnb={"figure": {}})
        code.source += "  \n\n"
        code.execution_count = code.outputs[0].execution_count = 41
        result = normalise(notebook)
        assert result.metadata == tidy_notebook().metadata
        assert result.cells[1].source == "1 + 2"
        assert result.cells[1].metadata == {"tags": ["a", "b"], "mystnb": {"figure": {}}}
        assert result.cells[1].execution_count == 1
        assert result.cells[1].outputs[0].execution_count == 1

    def test_tracebacks_lose_their_paths_and_glue_stays(self) -> None:
        error = new_output("error", ename="KeyError", evalue="'a'", traceback=["/home/x.py"])
        glued = new_output("display_data", {"text/plain": "1"})
        glued.metadata = {"scrapbook": {"name": "x"}, "needs_background": "light"}
        result = normalise(new_notebook(cells=[new_code_cell("f()", outputs=[error, glued])]))
        assert result.cells[0].outputs[0].traceback == ["KeyError: 'a'"]
        assert result.cells[0].outputs[1].metadata == {"scrapbook": {"name": "x"}}

    @pytest.mark.parametrize(
        ("text", "stored"),
        [
            ("**10 945** tokens", "**10_945** tokens"),
            ("1 048 576 of them", "1_048_576 of them"),
            ("at **7.99** FLOP/B", "at **7.99**~FLOP/B"),
            ("85 % of 8\nTB/s", "85~% of 8~TB/s"),
            ("69.5 billion", "69.5~billion"),
            ("64 heads on 8 B200, 4 billed", "64 heads on 8 B200, 4 billed"),
            ("in 2026 100 of 1.25 100", "in 2026 100 of 1.25 100"),
            ("`10 945` and $n = 10 945$", "`10 945` and $n = 10 945$"),
            ("$$\n1 000 s\n$$", "$$\n1 000 s\n$$"),
            ("```python\n1 000 s\n```", "```python\n1 000 s\n```"),
            ("```{exercise}\n1 000 s\n```", "```{exercise}\n1_000~s\n```"),
        ],
    )
    def test_numbers_stay_in_one_piece(self, text: str, stored: str) -> None:
        expected = stored.replace("_", "\u202f").replace("~", "\u00a0")
        assert unbroken(text) == expected
        cells = normalise(new_notebook(cells=[new_markdown_cell(text)])).cells
        assert cells[0].source == expected
        assert unbroken(expected) == expected

    def test_a_number_that_a_line_may_break_is_named(self) -> None:
        notebook = tidy_notebook()
        notebook.cells[0].source = "In 17.4 ms."
        assert any("not normalised" in problem for problem in problems(text_of(notebook)))

    @pytest.mark.parametrize("key", ["kernelspec", "language_info"])
    def test_missing_metadata_is_named(self, key: str) -> None:
        notebook = tidy_notebook()
        del notebook.metadata[key]
        assert any(key in problem for problem in problems(text_of(notebook)))

    def test_missing_outputs_are_named(self) -> None:
        notebook = tidy_notebook()
        notebook.cells[1].outputs = []
        assert any("without its outputs" in problem for problem in problems(text_of(notebook)))

    def test_an_untidy_notebook_is_named(self) -> None:
        untidy = text_of(tidy_notebook()).replace('"metadata": {},', '"metadata": {"a": 1},', 1)
        assert list(problems(untidy)) == ["not normalised: run make notebooks, which rewrites it"]


class TestBuildingTheBook:
    def test_help_builds_nothing(self) -> None:
        """It is asked for in front of a missing site; a build would take minutes and leave one."""
        for words, status, said in (
            (("--help",), 0, "every warning an error"),
            (("--fast",), 2, "unrecognized arguments: --fast"),
        ):
            done = subprocess.run(
                [sys.executable, "-m", "tools.book", *words],
                cwd=ROOT, capture_output=True, text=True, timeout=20, check=False,
            )  # fmt: skip
            assert done.returncode == status
            assert said in " ".join((done.stdout + done.stderr).split())
            assert "The book" not in done.stdout.replace("The book was", "")
