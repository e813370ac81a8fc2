"""Executes, normalises and checks the notebooks of the book.

    python -m tools.notebooks run   [NOTEBOOK...]   execute and write them back, normalised
    python -m tools.notebooks check [NOTEBOOK...]   quick: are they stored as they should be?
    python -m tools.notebooks stale [NOTEBOOK...]   execute a copy: do the same bytes come out?

A NOTEBOOK is a file or the name of a chapter; without one, all of ``book/``.  A notebook is
executed from its first cell in a kernel of its own, in the folder where it lies.  What is stored is
the same on every machine: no versions, times or paths, cells counted from one, and numbers that no
line breaks.  A cell that raises fails the command, with its traceback, on every run; the stored
notebook then stays as it was.
"""

from __future__ import annotations

import argparse
import copy
import difflib
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.typography import unbroken

ROOT = Path(__file__).resolve().parent.parent

#: What kernels run under, so that outputs do not depend on the machine: no hash seed of the day,
#: one thread per sum, and the kernel of this environment rather than one of the user's.
STEADY = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",
    "IPYTHONDIR": str(ROOT / "_build" / "ipython"),
}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: Cell metadata that the book uses; editors add more, which is dropped.
KEPT = ("tags", "mystnb")
#: Output metadata that the book uses: the name under which text shows a value of the notebook.
GLUE = "scrapbook"
#: A cell with this tag is meant to raise.
RAISES = "raises-exception"
TIMEOUT_SECONDS = 300

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class NotebookFailure(Exception):
    """A notebook that could not be executed; the message holds the traceback."""


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy without what differs between machines and editors."""
    result = copy.deepcopy(notebook)
    result.metadata = nbformat.from_dict(METADATA)
    result.nbformat, result.nbformat_minor = 4, 5
    count = 0
    for place, cell in enumerate(result.cells):
        cell.setdefault("id", f"cell-{place:03d}")
        cell.source = "\n".join(line.rstrip() for line in cell.source.rstrip().splitlines())
        if cell.cell_type == "markdown":
            cell.source = unbroken(cell.source)
        kept = {key: value for key, value in cell.metadata.items() if key in KEPT}
        if "tags" in kept:
            kept["tags"] = sorted(set(kept["tags"]))
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                _normalise_output(output, count)
    return result


def _normalise_output(output: NotebookNode, count: int) -> None:
    if output.output_type == "execute_result":
        output.execution_count = count
    if "metadata" in output:
        kept = {key: value for key, value in output.metadata.items() if key == GLUE}
        output.metadata = nbformat.from_dict(kept)
    if output.output_type == "error":  # frames name files of this machine
        output.traceback = [f"{output.ename}: {output.evalue}"]


def text_of(notebook: NotebookNode) -> str:
    """The file that a notebook is stored as: charts with one line for each of their parts.

    Indented to the last bracket, as nbformat writes, a chart takes more than twice the space.
    """
    nbformat.validate(notebook)
    plain = copy.deepcopy(notebook)
    charts: dict[str, NotebookNode] = {}
    for cell in plain.cells:
        for output in cell.get("outputs", []):
            for kind in [kind for kind in output.get("data", {}) if "vegalite" in kind]:
                mark = f"chart {len(charts)} of {id(charts)}"
                charts[mark], output.data[kind] = output.data[kind], mark
    text = str(nbformat.writes(plain, version=4)).rstrip("\n") + "\n"
    for mark, chart in charts.items():
        text = text.replace(json.dumps(mark), _lines(chart), 1)
    return text


def _lines(chart: NotebookNode) -> str:
    """A chart as JSON, one line a part."""
    parts = (
        f"{json.dumps(key)}: {json.dumps(part, ensure_ascii=False, sort_keys=True)}"
        for key, part in sorted(chart.items())
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """A copy with the outputs of a fresh run; NotebookFailure where a cell raises."""
    result = copy.deepcopy(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        result,
        timeout=TIMEOUT_SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=40"],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise NotebookFailure(_COLOUR.sub("", str(error))) from error
    return result


def problems(text: str) -> Iterator[str]:
    """What is wrong with a stored notebook, each with what to do."""
    notebook = nbformat.reads(text, as_version=4)
    for key in METADATA:
        if key not in notebook.metadata:
            yield f"no {key} in its metadata: make notebooks puts it there"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    bare = [cell for cell in code if cell.source.strip() and cell.execution_count is None]
    if bare or (code and not any(cell.outputs for cell in code)):
        yield "stored without its outputs, so nbval would compare nothing: run make notebooks"
    for cell in code:
        tags = cell.metadata.get("tags", [])
        raised = [out for out in cell.outputs if out.output_type == "error"]
        if raised and RAISES not in tags:
            first = cell.source.partition("\n")[0]
            yield f"a cell raised {raised[0].ename} without the tag {RAISES!r}: {first}"
    if text != text_of(normalise(notebook)):
        yield "not normalised: run make notebooks, which rewrites it"


def difference(old: str, new: str, lines: int = 60) -> str:
    """The first lines in which two notebooks differ."""
    changes = difflib.unified_diff(
        old.splitlines(), new.splitlines(), "stored", "executed", n=2, lineterm=""
    )
    shown = list(changes)
    more = [f"… {len(shown) - lines} more lines"] if len(shown) > lines else []
    return "\n".join([*shown[:lines], *more])


def named(path: Path) -> str:
    """A path as messages print it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def treat(command: str, path: Path) -> bool:
    """Do ``command`` to one notebook and print one line, or what failed; whether it is well."""
    began, old = time.monotonic(), path.read_text(encoding="utf-8")
    if command == "check":
        wrong = list(problems(old))
        for problem in wrong:
            print(f"{named(path)}: {problem}", flush=True)
        return not wrong
    try:
        new = text_of(normalise(execute(nbformat.reads(old, as_version=4), path.parent)))
    except NotebookFailure as failure:
        print(f"{named(path)}: a cell failed\n{failure}", flush=True)
        return False
    same = new == old
    if command == "run" and not same:
        spare = path.with_suffix(".ipynb.new")
        spare.write_text(new, encoding="utf-8")
        spare.replace(path)
    seconds = time.monotonic() - began
    print(f"{'same' if same else 'changed':8} {named(path)} {seconds:.1f} s", flush=True)
    if command == "stale" and not same:
        print(difference(old, new), flush=True)
        return False
    return True


def found(path: Path) -> Path:
    """A notebook that was named, by its path or by the name of its chapter; SystemExit if none."""
    for candidate in (path, ROOT / path, ROOT / "book" / f"{path}.ipynb"):
        if candidate.is_file() and candidate.suffix == ".ipynb":
            return candidate.resolve()
    chapters = ", ".join(sorted(each.stem for each in (ROOT / "book").glob("*.ipynb")))
    sys.exit(f"no notebook {str(path)!r}; name a file, or a chapter: {chapters}")


def main() -> int:
    """Read the command line and treat each notebook; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "check", "stale"])
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    arguments = parser.parse_args()
    os.environ.update(STEADY)
    Path(STEADY["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)
    stored = [path for path in (ROOT / "book").rglob("*.ipynb") if ".ipynb_" not in str(path)]
    paths = [found(path) for path in arguments.notebooks] or sorted(stored)
    wrong = [path for path in paths if not treat(arguments.command, path)]
    if wrong:
        print(f"{len(wrong)} of {len(paths)} notebooks failed: {', '.join(map(named, wrong))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
