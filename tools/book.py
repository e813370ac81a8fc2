"""Builds the book to ``_build/html``, with every warning an error: ``python -m tools.book``.

Notebooks are not executed here: the pages show their stored outputs, which nbval has compared with
a fresh run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"
BUILD = [
    *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
    *("build", ".", "-W", "-n", "--keep-going", "-q"),
]


def build() -> int:
    """Build, and say where the book is or that it failed; the exit status."""
    began = time.monotonic()
    done = subprocess.run(
        BUILD, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        print(f"{done.stdout}\nThe book was not built: each warning above is an error here.")
        return 1
    print(f"Built in {time.monotonic() - began:.0f} s. The book: {HTML / 'index.html'}")
    return 0


def main() -> int:
    """Build the book; words on the command line other than --help are a mistake."""
    argparse.ArgumentParser(prog="python -m tools.book", description=__doc__).parse_args()
    return build()


if __name__ == "__main__":
    sys.exit(main())
