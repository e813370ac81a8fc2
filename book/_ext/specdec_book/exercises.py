"""``{exercise-index}``: every exercise of the book by its level, read from the chapters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from specdec_book.build_nodes import bullets, paragraph

#: What an exercise of each level takes.
LEVELS: Mapping[int, str] = {
    1: "Level 1: a pencil, or one call",
    2: "Level 2: a prediction and a few calls",
    3: "Level 3: an assumption is broken",
}
_EXERCISE = re.compile(
    r"^`{3,}\{exercise\}[ ]*(?P<title>[^\n]*)\n(?P<options>(?::[\w-]+:[^\n]*\n)*)", re.M
)
_OPTION = re.compile(r"^:(\w+):[ ]*([^\n]*)$", re.M)
_LEVEL = re.compile(r"\blevel-(\d+)\b")


@dataclass(frozen=True)
class Exercise:
    """Its title, the label by which it is linked, its level and its chapter's name and title."""

    title: str
    label: str
    level: int
    chapter: str
    chapter_title: str


def exercises(notebook: Path) -> list[Exercise]:
    """The exercises of a chapter; ValueError for one without label, title or level."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    prose = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    heading = re.search(r"^# (.+)$", prose, re.M)
    found = []
    for block in _EXERCISE.finditer(prose):
        options = dict(_OPTION.findall(block["options"]))
        level = _LEVEL.search(options.get("class", ""))
        title, label = block["title"].strip(), options.get("label", "").strip()
        if not (heading and title and label and level and int(level[1]) in LEVELS):
            raise ValueError(
                f"{notebook.name}: exercise {title or label or '?'!r} needs a title, a :label: and "
                f"a :class: out of {', '.join(f'level-{known}' for known in LEVELS)}"
            )
        found.append(Exercise(title, label, int(level[1]), notebook.stem, heading[1].strip()))
    return found


def chapters(toc: Path) -> list[Path]:
    """The notebooks of a table of contents, in the order in which they are read."""
    parts = yaml.safe_load(toc.read_text(encoding="utf-8"))["parts"]
    files = (toc.parent / f"{entry['file']}.ipynb" for part in parts for entry in part["chapters"])
    return [file for file in files if file.exists()]


class ExerciseIndex(SphinxDirective):
    """A list for each level, its items linked, in reading order."""

    def run(self) -> list[nodes.Node]:
        """The headings and lists of the index."""
        toc = Path(self.env.srcdir, self.env.config.external_toc_path)
        notebooks = chapters(toc)
        for file in (toc, *notebooks):
            self.env.note_dependency(str(file))
        every = [known for notebook in notebooks for known in exercises(notebook)]
        made: list[nodes.Node] = []
        for level, meaning in LEVELS.items():
            items = [self.item(known) for known in every if known.level == level]
            if items:
                made += [paragraph(nodes.strong("", meaning)), bullets(items, ["exercises"])]
        return made

    def item(self, known: Exercise) -> list[str | nodes.Node]:
        """The exercise's title as a link, and its chapter's."""
        link = addnodes.pending_xref(
            "",
            nodes.inline("", known.title),
            refdomain="std",
            reftype="ref",
            reftarget=known.label,
            refexplicit=True,
            refdoc=self.env.docname,
            refwarn=True,
        )
        return [link, f" ({known.chapter_title})"]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("exercise-index", ExerciseIndex)
