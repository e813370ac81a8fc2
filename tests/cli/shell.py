"""Running the command: in this process, and as a user does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from specdec_lib.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def specdec(*words: str, given: str | None = None) -> Answer:
    """Run the command in this process; an exception that it does not catch is raised here."""
    done = CliRunner().invoke(main, words, input=given, prog_name="specdec", catch_exceptions=False)
    return Answer(done.exit_code, done.stdout, done.stderr)


def as_process(*words: str, given: str | None = None) -> Answer:
    """Run the command as a process of its own."""
    command = [sys.executable, "-m", "specdec_lib", *words]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=120, check=False
    )
    return Answer(done.returncode, done.stdout, done.stderr)
