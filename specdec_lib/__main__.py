"""``python -m specdec_lib`` is the command ``specdec``."""

from __future__ import annotations

from specdec_lib.cli import main

if __name__ == "__main__":
    main(prog_name="specdec")
