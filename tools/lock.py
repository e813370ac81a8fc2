"""Compiles requirements.in and requirements-lab.in to lists that pin every package.

The lists hold for Python 3.11 to 3.13 on every system.  Pins that are there already stay where
they fit; ``python -m tools.lock --upgrade`` takes the newest versions instead.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILE = [
    *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
    *("--python-version", "3.11", "--custom-compile-command", "make lock"),
]


def compile_list(source: str, target: str, *options: str) -> None:
    """Compile one list; exits where its packages do not fit together."""
    done = subprocess.run([*COMPILE, source, "-o", target, *options], cwd=ROOT, check=False)
    if done.returncode != 0:
        sys.exit(f"{source} could not be compiled; the message above says why.")
    print(f"wrote {target}")


def main() -> None:
    """Compile both lists; the second agrees with the first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    upgrade = ["--upgrade"] if parser.parse_args().upgrade else []
    compile_list("requirements.in", "requirements.txt", *upgrade)
    pins = (ROOT / "requirements.txt").read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "pins.txt"  # without -e ., which cannot be a constraint
        constraints.write_text("\n".join(line for line in pins if not line.startswith("-e")))
        compile_list(
            "requirements-lab.in",
            "requirements-lab.txt",
            *("--no-annotate", "--constraint", str(constraints), *upgrade),
        )


if __name__ == "__main__":
    main()
