"""Breaks the book in small ways and sees the right check fail: ``python -m tools.bite``.

``tests/mutations.toml`` lists the edits.  Each is applied to a copy of the project, and the check
that it names must pass before and fail after.  A mutation that no longer applies, or that nothing
notices, fails the run.

    python -m tools.bite               # all
    python -m tools.bite formula prose # those whose name contains one of the words
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "mutations.toml"

PYTHON = [sys.executable]
#: How a check is run on the part of the project that ``only`` names; the names are those of
#: ``make test``.
CHECKS = {
    "lint": [*PYTHON, "-m", "ruff", "check", "--no-cache"],
    "format": [*PYTHON, "-m", "ruff", "format", "--check", "--no-cache"],
    "types": [*PYTHON, "-m", "mypy", "--no-incremental"],
    "notebooks": [*PYTHON, "-m", "tools.notebooks", "check"],
    "unit": [*PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"],
    "nbval": [
        *(*PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
        *("--nbval", "--nbval-current-env"),
    ],
    "build": [*PYTHON, "-m", "tools.book"],
}


@dataclass(frozen=True)
class Mutation:
    """One small edit, and the check that must notice it."""

    name: str
    file: str
    find: str
    replace: str
    check: str
    only: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """``text`` after the edit; ValueError where there is not exactly one place for it."""
        places = text.count(self.find)
        if places != 1:
            raise ValueError(f"{self.find!r} stands {places} times in {self.file}, not once")
        return text.replace(self.find, self.replace)


def mutations() -> list[Mutation]:
    """The list in ``tests/mutations.toml``, checked."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    found = [Mutation(**{**entry, "only": tuple(entry.get("only", ()))}) for entry in listed]
    for mutation in found:
        if mutation.check not in CHECKS:
            raise ValueError(f"{mutation.name}: no check {mutation.check!r}; {', '.join(CHECKS)}")
    return found


def copy_of_the_project(to: Path) -> None:
    """Copy what git tracks or would track; the copy has a repository of its own, for the tests
    that ask git which files there are."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    subprocess.run(["git", "init", "-q"], cwd=to, check=True)


def passes(where: Path, check: str, only: tuple[str, ...]) -> tuple[bool, str]:
    """Whether a check passes in the copy, and what it printed."""
    # the copy's package comes before the installed one, in kernels too; and no bytecode is kept,
    # for an edit may leave size and time of a file as they were
    environment = {**os.environ, "PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [*CHECKS[check], *only], cwd=where, env=environment, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return run.returncode == 0, run.stdout


def bite(where: Path, mutation: Mutation) -> str:
    """Apply, check, take back; an empty string if the check failed as it must."""
    path = where / mutation.file
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutation.applied(before), encoding="utf-8")
        unnoticed, _ = passes(where, mutation.check, mutation.only)
    except ValueError as error:
        return f"does not apply: {error}"
    finally:
        path.write_text(before, encoding="utf-8")
    return f"{mutation.check} did not notice" if unnoticed else ""


def main(words: list[str]) -> int:
    """Run the mutations whose names contain one of ``words`` (all without); the exit status."""
    wanted = [m for m in mutations() if not words or any(w in m.name for w in words)]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="bite-") as folder:
        where = Path(folder)
        copy_of_the_project(where)
        for check, only in dict.fromkeys((m.check, m.only) for m in wanted):
            good, printed = passes(where, check, only)
            if not good:
                print(printed)
                print(f"{check} {' '.join(only)} fails before anything is broken; mend that first")
                return 1
        for mutation in wanted:
            began = time.monotonic()
            problem = bite(where, mutation)
            failures += bool(problem)
            verdict = problem or f"caught by {mutation.check}"
            print(f"{time.monotonic() - began:6.1f} s  {mutation.name}: {verdict}", flush=True)
    print(f"{len(wanted) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
