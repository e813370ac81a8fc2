"""Arrays that are computed later: a function of blocks on dask arrays that broadcast."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specdec_lib.formula.domain import as_float


def is_lazy(values: Sequence[Any]) -> bool:
    """Whether one of these arrays is computed later."""
    return any(hasattr(value, "__dask_graph__") for value in values)


def by_blocks(function: Callable[..., Any], keywords: Sequence[str], arrays: Sequence[Any]) -> Any:
    """``function`` of float64 arrays, block by block: a dask array of their broadcast shape.

    Blocks of different arrays are matched as the arrays broadcast.  A block of the result is what
    the function makes of its blocks, so nothing larger than a block is ever in memory.  A block may
    hold what its array did not announce, masked values or text; that raises as
    :func:`~specdec_lib.formula.domain.as_float` does, naming its keyword, when it is computed.
    """
    import dask.array  # the caller has it: one of the arrays came from there

    def of_numbers(*values: Any) -> Any:
        return function(*map(as_float, keywords, values))

    most = max(array.ndim for array in arrays)
    operands: list[Any] = []
    for array in arrays:
        # an index counts axes from the left of the result; a plain number has none
        operands += [array, tuple(range(most - array.ndim, most)) if array.ndim else None]
    blocks: Callable[..., Any] = dask.array.blockwise
    meta = np.empty((0,) * most)
    with warnings.catch_warnings():
        # an open grid has as many blocks as the product of its axes' chunks, as it should
        warnings.simplefilter("ignore", dask.array.PerformanceWarning)
        return blocks(of_numbers, tuple(range(most)), *operands, dtype=np.float64, meta=meta)
