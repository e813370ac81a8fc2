"""Where this machine keeps Chromium; the browser tests drive it and download none of their own."""

from __future__ import annotations

import os
import shutil

#: Names that systems give it, the plain one first.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

#: What to do where there is none.
ADVICE = "no Chromium on this machine (Debian: apt-get install chromium; or set CHROMIUM)"


def find_chromium() -> str | None:
    """The path of the executable, out of the variable CHROMIUM or of PATH; None without one."""
    named = os.environ.get("CHROMIUM")
    candidates = [named] if named else list(NAMES)
    return next((path for path in map(shutil.which, candidates) if path), None)
