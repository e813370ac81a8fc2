"""The command ``specdec``: what the library knows, from a shell.

Results go to standard output, words about them to standard error.  Exit status 0 is success, 1 an
input that cannot be answered, 2 a command that was not understood.
"""

from __future__ import annotations

from specdec_lib.cli.group import main

__all__ = ["main"]
