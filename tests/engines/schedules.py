"""Random schedules for the engines, with and without speedups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from specdec_lib.schedule import Schedule


@st.composite
def schedules(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    longest: int = 6,
    *,
    shortest: int = 0,
    speedups: bool = False,
) -> Schedule:
    """Ranges of any widths up to batch 4096 with any lengths, at least one above zero."""
    ends = sorted(draw(st.sets(st.integers(1, 4096), min_size=1, max_size=6)))
    lengths = draw(st.lists(st.integers(shortest, longest), min_size=len(ends), max_size=len(ends)))
    lengths[draw(st.integers(0, len(ends) - 1))] = draw(st.integers(max(1, shortest), longest))
    starts = [1, *(end + 1 for end in ends[:-1])]
    ranges = list(zip(starts, ends, lengths, strict=True))
    if not speedups:
        return Schedule.from_ranges(ranges)
    seed = draw(st.integers(0, 2**32 - 1))
    table = np.random.default_rng(seed).uniform(0.5, 2, (longest + 1, ends[-1]))
    return Schedule.from_ranges(ranges, speedups=table)


EVERY_BATCH = np.arange(1, 4097)
