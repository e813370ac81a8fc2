"""What an engine does not start with, and the small checks that its look-up rules share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


class EngineRefuses(ValueError):
    """The engine would not start with this config; the message names the key and what it wants."""


def whole(value: Any, where: str, *, least: int) -> int:
    """A whole number of a config; text that is one counts, as the engines' parsers let it.

    Raises EngineRefuses for anything else, and for what is below ``least``.
    """
    number: int | None = None
    if isinstance(value, str) and value.strip().isdecimal():
        number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    if number is None or number < least:
        raise EngineRefuses(f"{where}: found {value!r}; wanted is a whole number from {least} on")
    return number


def batch_indices(B: ArrayLike) -> Ints:
    """Batches as whole numbers from 1 on; ValueError for anything else."""
    batch = np.asarray(B)
    if batch.dtype.kind not in "iu" or (batch.size and batch.min() < 1):
        raise ValueError(f"batches are whole numbers from 1 on, not {B!r:.60}")
    return batch.astype(np.int64)
