"""What a page was made from beside its own file, so that no build shows a stale one.

A page with a directive of ours depends on the library's files.  Every page depends on this
machinery, on how the library puts a chart into a page, and on the bibliography.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

import specdec_lib
from specdec_lib.charts import myst

HERE = Path(__file__).parent
LIBRARY = Path(specdec_lib.__file__).parent


def library_files() -> list[Path]:
    """The modules and records of the library."""
    return sorted(path for kind in ("*.py", "*.toml") for path in LIBRARY.rglob(kind))


def depend_on_library(env: BuildEnvironment) -> None:
    """Read the present page again whenever a file of the library changes."""
    for path in library_files():
        env.note_dependency(str(path))


def digest(paths: Iterable[Path]) -> str:
    """A fingerprint of some files' contents."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def note_common_sources(app: Sphinx, config: Config) -> None:
    """Keep with the pages a fingerprint of what all of them are made from; another fingerprint
    makes them anew."""
    machinery = [*sorted(HERE.glob("*.py")), Path(myst.__file__)]
    bibliography = [Path(app.srcdir, file) for file in config.bibtex_bibfiles]
    config.specdec_sources = digest([*machinery, *bibliography])


def setup(app: Sphinx) -> None:
    """Take the fingerprint once the configuration is known."""
    app.add_config_value("specdec_sources", "", "env", [str])
    app.connect("config-inited", note_common_sources)
