"""The token budget of a step: how many sequences fit when each brings its draft."""

from __future__ import annotations

import math
from collections.abc import Iterable

from specdec_lib.formulas.counting import admitted_batch, step_tokens
from specdec_lib.schedule.cell import span

Ranges = Iterable[tuple[int, int, int]]


def budget_warnings(
    ranges: Ranges, sequences: int | None, tokens: int | None, names: tuple[str, str]
) -> tuple[str, ...]:
    """What does not fit: a range whose batches with their drafts exceed the ``tokens`` of a step.

    ``ranges`` are ``(first, last, length)``; ``sequences`` is the largest batch that the engine
    admits; ``names`` are what the engine calls the two limits.
    """
    if tokens is None:
        return ()
    found = []
    for first, last, length in ranges:
        largest = last if sequences is None else min(last, sequences)
        if largest < first or step_tokens(B=largest, gamma=length) <= tokens:
            continue
        fits = math.floor(admitted_batch(token_budget=tokens, gamma=length))
        found.append(
            f"batch {span(first, last)}: {length} drafted tokens make {length + 1} a sequence, so "
            f"{names[1]} = {tokens} admits only {fits} of {largest} sequences; raise it to "
            f"{step_tokens(B=largest, gamma=length):.0f}, or lower {names[0]}"
        )
    return tuple(found)


def capture_warnings(ranges: Ranges, sizes: Iterable[int]) -> tuple[str, ...]:
    """Captured graphs, by their size in tokens, that do not serve a range of the schedule.

    Each sequence brings its length plus one tokens.  vLLM 0.33 rounds a size up to whole sequences;
    older versions leave one that is no multiple unused.
    """
    captured = sorted(set(sizes))
    found = []
    for first, last, length in ranges:
        if not captured or length == 0:
            continue
        width, largest = length + 1, captured[-1]
        if all(size % width for size in captured):
            found.append(
                f"batch {span(first, last)}: no captured size is a multiple of {width} tokens a "
                "sequence; vLLM before 0.33 leaves such graphs unused"
            )
        if math.ceil(largest / width) < last:
            found.append(
                f"batch {span(first, last)}: graphs end at {largest} tokens, which are "
                f"{math.ceil(largest / width)} sequences; larger batches run without one"
            )
    return tuple(found)
