"""Progress of long sweeps: seen on a terminal, nowhere else, and never in the result."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from specdec_lib.cli import progress
from tests.cli.shell import specdec

V4 = ("--model", "deepseek-v4-flash", "--gpu", "b200", "--deployment", "ideal")
SWEEPS = {
    "price": ("price", *V4, "--batch", "1-1100", "--json"),
    "plan": ("plan", *V4, "--alpha", "0.75", "--gamma-max", "2", "--batch", "1-1100", "--json"),
    "schedule": ("schedule", *V4, "--alpha", "0.75", "--batch-max", "1100", "--json"),
}
BARS = {"price": "pricing", "plan": "planning", "schedule": "planning"}


def on_a_terminal(*words: str) -> tuple[int, str, str]:
    """Run the command with standard error on a terminal: its status, result and what one saw."""
    above, below = pty.openpty()
    command = [sys.executable, "-m", "specdec_lib", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=below, text=True) as running:
        os.close(below)
        assert running.stdout is not None
        seen, out, limit = b"", b"", time.monotonic() + 120
        streams = {above: "seen", running.stdout.fileno(): "out"}
        while streams and time.monotonic() < limit:
            for stream in select.select(list(streams), [], [], 1)[0]:
                try:
                    chunk = os.read(stream, 65536)
                except OSError:  # the other end of a terminal is closed
                    chunk = b""
                if not chunk:
                    del streams[stream]
                elif streams[stream] == "seen":
                    seen += chunk
                else:
                    out += chunk
        status = running.wait(timeout=60)
    os.close(above)
    return status, out.decode(), seen.decode()


@pytest.mark.parametrize("verb", SWEEPS)
def test_a_terminal_shows_it_to_the_end_and_the_result_stays_whole(verb: str) -> None:
    status, out, seen = on_a_terminal(*SWEEPS[verb])
    assert status == 0
    assert BARS[verb] in seen and "100%" in seen
    quiet = specdec(*SWEEPS[verb])
    assert json.loads(out) == quiet.json
    assert BARS[verb] not in quiet.err


def test_quiet_shows_none() -> None:
    status, out, seen = on_a_terminal(*SWEEPS["plan"], "--quiet")
    assert status == 0 and len(json.loads(out)["points"]) == 1100
    assert "planning" not in seen and "defaults in force" in seen


def test_a_short_question_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    assert list(progress.sweep(progress.PART, "x", quiet=False)) == [slice(0, progress.PART)]


def test_parts_are_the_whole() -> None:
    """The points of a sweep in parts are those of single questions, across a boundary of parts."""
    points = specdec(*SWEEPS["plan"]).json["points"]
    assert [point["B"] for point in points] == list(range(1, 1101))
    for place in (0, progress.PART - 1, progress.PART, 1099):
        words = ("plan", *V4, "--alpha", "0.75", "--gamma-max", "2", "--json")
        (alone,) = specdec(*words, "--batch", str(place + 1)).json["points"]
        for name in ("gamma", "regime"):
            assert points[place][name] == alone[name]
        for name in ("speedup", "step_ratio", "hurdle", "tpot"):
            assert points[place][name] == pytest.approx(alone[name], rel=1e-12)
    prices = specdec(*SWEEPS["price"]).json["points"]
    (one,) = specdec("price", *V4, "--batch", str(progress.PART + 1), "--json").json["points"]
    assert prices[progress.PART]["seconds"] == pytest.approx(one["seconds"], rel=1e-12)
