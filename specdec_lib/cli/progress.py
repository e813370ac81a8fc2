"""Progress: how far a long sweep is, on standard error and for a person who watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

#: Points priced between two looks at the bar: a fraction of a second.
PART = 1024

#: The flag of every command that can take long.
quiet_flag = click.option("--quiet", is_flag=True, help="Show no progress of a long sweep.")


@contextmanager
def progress(length: int, what: str, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how much more of ``length`` is done.

    It moves a bar on a terminal, and does nothing where standard error is none (a file or a pipe
    would keep every stroke of it) or where the user wants it ``quiet``.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=what, file=sys.stderr) as bar:
        yield bar.update


def sweep(points: int, what: str, *, quiet: bool) -> Iterator[slice]:
    """So many points in parts, with a bar where there is more than one part."""
    with progress(points, what, quiet=quiet or points <= PART) as done:
        for first in range(0, points, PART):
            last = min(first + PART, points)
            yield slice(first, last)
            done(last - first)
