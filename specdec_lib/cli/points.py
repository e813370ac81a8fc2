"""Points: the options that say at which batches, contexts and widths a question is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from specdec_lib.cli.numbers import WholeNumbers

#: Context tokens where none are stated.
CONTEXT = 4096

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def batches(default: str) -> Decorator:
    """``--batch`` for one or several, as a list."""
    return click.option(
        "--batch",
        type=WholeNumbers(),
        default=default,
        show_default=True,
        help="Sequences in a step: 8, 1,2,4 or 1-16.",
    )


def contexts(more: str = "") -> Decorator:
    """``--context`` for one or several, as a list; ``more`` says what several of them mean."""
    return click.option(
        "--context",
        type=WholeNumbers(),
        default=str(CONTEXT),
        show_default=True,
        help="Context tokens of each sequence" + (f"; {more}" if more else "."),
    )


widths: Decorator = click.option(
    "--width",
    type=WholeNumbers(),
    default="1",
    show_default=True,
    help="Tokens of each sequence in a step: 1 to decode, draft length + 1 to verify.",
)

one_batch: Decorator = click.option(
    "--batch",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Sequences in a step.",
)

one_context: Decorator = click.option(
    "--context",
    type=click.IntRange(1),
    default=CONTEXT,
    show_default=True,
    help="Context tokens of each sequence.",
)
