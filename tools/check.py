"""Runs every check of the book, or some by name: ``python -m tools.check [NAME...]``.

Each check is a command or two.  One that fails prints all it said; at the end stand a table and one
line of totals.  The exit status is 0 when none has failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.chromium import ADVICE, find_chromium
from tools.notebooks import ROOT, STEADY

PYTEST = ("pytest", "-q", "--no-header", "-n", "auto")


def no_chromium() -> str | None:
    """Why the browser tests cannot run; in CI they must."""
    if find_chromium() or os.environ.get("CI"):
        return None
    return ADVICE


def always() -> str | None:
    """The check runs everywhere."""
    return None


@dataclass(frozen=True)
class Check:
    """A name, what it makes sure of, the Python modules that it runs with their arguments, and why
    it cannot run here, if it cannot."""

    name: str
    meaning: str
    commands: Sequence[Sequence[str]]
    skipped: Callable[[], str | None] = always


CHECKS: tuple[Check, ...] = (
    Check("lint", "ruff finds nothing", [("ruff", "check", ".")]),
    Check("format", "ruff would change no line", [("ruff", "format", "--check", ".")]),
    Check("types", "mypy, strict, finds nothing in the library and the machinery", [("mypy",)]),
    Check("notebooks", "every notebook is stored as it should be", [("tools.notebooks", "check")]),
    Check(
        "unit",
        "tests and examples in docstrings",
        [
            (
                *(*PYTEST, "-m", "not browser and not site", "--doctest-modules"),
                *("tests", "specdec_lib", "book/_ext"),
            )
        ],
    ),
    Check(
        "nbval",
        "every notebook gives its stored outputs when executed again",
        [(*PYTEST, "--dist", "loadfile", "--nbval", "--nbval-current-env", "book")],
    ),
    Check(
        "build",
        "the book builds without a warning, and its pages are whole",
        [("tools.book",), (*PYTEST, "-m", "site and not browser", "tests/book")],
    ),
    Check(
        "browser",
        "every page works in Chromium without a network",
        [(*PYTEST, "--dist", "loadgroup", "-m", "browser", "tests/book")],
        skipped=no_chromium,
    ),
)


@dataclass(frozen=True)
class Outcome:
    """How a check ended: "passed", "failed" or "skipped", why, and after how long."""

    check: Check
    result: str
    seconds: float = 0.0
    reason: str = ""


def run(check: Check) -> Outcome:
    """Run one check; print what it said where it fails."""
    reason = check.skipped()
    if reason:
        return Outcome(check, "skipped", reason=reason)
    began = time.monotonic()
    for command in check.commands:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env={**os.environ, **STEADY},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != 0:
            said = done.stdout.decode(errors="replace")
            print(f"\n----- {check.name}: python -m {' '.join(command)}\n{said}", flush=True)
            print(f"----- {check.name} failed; alone: make test CHECKS={check.name}\n", flush=True)
            return Outcome(check, "failed", time.monotonic() - began)
    return Outcome(check, "passed", time.monotonic() - began)


def report(outcomes: Sequence[Outcome]) -> str:
    """The table and, as its last line, the totals."""
    lines = [f"\n{'check':10} {'result':8} {'seconds':>7}"]
    for each in outcomes:
        note = each.reason or each.check.meaning
        lines.append(f"{each.check.name:10} {each.result:8} {each.seconds:7.1f}  {note}")
    results = [each.result for each in outcomes]
    totals = ", ".join(f"{results.count(r)} {r}" for r in ("passed", "failed", "skipped"))
    return "\n".join([*lines, totals])


def main() -> int:
    """Read the command line and run the checks; the exit status."""
    by_name = {check.name: check for check in CHECKS}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(by_name)}")
    names = parser.parse_args().names
    unknown = [name for name in names if name not in by_name]
    if unknown:
        parser.error(f"no check {', '.join(unknown)}; there are {', '.join(by_name)}")
    Path(STEADY["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)
    outcomes = []
    for check in [by_name[name] for name in names] or CHECKS:
        print(f"{check.name} … ", end="", flush=True)
        outcomes.append(run(check))
        print(outcomes[-1].result, flush=True)
    print(report(outcomes), flush=True)
    return 1 if any(each.result == "failed" for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
