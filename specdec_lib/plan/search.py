"""Search: the best draft length at every point, of all lengths from 0 on.

Not climbing from 0: where experts are shared out among few tokens the speedup may fall before it
rises, and have two maxima.  Points are taken in slices, so that the speedups of all lengths are in
memory for one slice only; what varies with B and S alone is computed for them alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdec_lib.acceptance import AcceptanceCurve
from specdec_lib.cost.grid import Floats, cut, slices
from specdec_lib.drafters import Draft
from specdec_lib.formulas.speculation import break_even_tokens, speedup

#: Speedups that differ by less, relative to the larger, are the same; the shorter draft has it.
TIE = 1e-12

#: Speedups held at once: 16 MiB of them.
HELD = 1 << 21


class Found(NamedTuple):
    """The best and the next best draft length at every point, arrays of one shape."""

    gamma: NDArray[np.int64]
    speedup: Floats
    tokens: Floats
    step_ratio: Floats
    next_gamma: NDArray[np.int64]
    next_speedup: Floats


class Table(NamedTuple):
    """Tokens, step ratio and speedup by draft length, which is the first axis; they broadcast."""

    tokens: Floats
    step_ratio: Floats
    speedup: Floats


def lengths(
    draft: Draft, curve: AcceptanceCurve, B: Floats, S: Floats, longest: int
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """For drafts of 0, 1, …, ``longest``: tokens, step ratio and speedup at the points."""
    price = np.asarray(draft.target(B=B, T=1, S=S))
    drafting = draft.prepared(B, S, price)
    for length, tokens in enumerate(curve.by_length(longest, S if curve.needs_context else None)):
        if length == 0:
            # one token for one plain step: exactly 1, whatever rounding would make of it
            one = np.ones(())
            yield one, one, one
            continue
        times = {
            "C_0": price,
            "C_verify": np.asarray(draft.target(B=B, T=length + 1, S=S)),
            "C_draft": drafting(np.asarray(float(length))),
        }
        ratio = np.asarray(break_even_tokens(**times))
        yield tokens, ratio, np.asarray(speedup(N=tokens, **times))


def table(
    draft: Draft,
    curve: AcceptanceCurve,
    B: Floats,
    S: Floats,
    longest: int,
    progress: Callable[[int], object] | None = None,
) -> Table:
    """All draft lengths at all points at once; ``progress`` hears 1 for each length."""
    found = []
    for values in lengths(draft, curve, B, S, longest):
        found.append(values)
        if progress is not None:
            progress(1)
    columns = zip(*found, strict=True)
    return Table(*(_stacked(column) for column in columns))


def _stacked(column: tuple[Floats, ...]) -> Floats:
    shape = np.broadcast_shapes(*(values.shape for values in column))
    stack = np.empty((len(column), *shape))
    for length, values in enumerate(column):
        stack[length, ...] = values
    return stack


def search(draft: Draft, curve: AcceptanceCurve, B: Floats, S: Floats, longest: int) -> Found:
    """The best draft length of 0 … ``longest`` at every point of B, S and the curve's
    parameters."""
    shape = np.broadcast_shapes(B.shape, S.shape, curve.shape)

    def lifted(values: Floats) -> Floats:
        return values.reshape((1,) * (len(shape) - values.ndim) + values.shape)

    B, S, curve = lifted(B), lifted(S), curve.sliced(lifted)
    whole_numbers = (np.empty(shape, dtype=np.int64) for _ in range(2))
    numbers = (np.empty(shape) for _ in range(4))
    found = Found(
        next(whole_numbers), next(numbers), next(numbers), next(numbers),
        next(whole_numbers), next(numbers),
    )  # fmt: skip
    for where in slices(shape, max(1, HELD // (longest + 1))):

        def here(values: Floats, where: tuple[slice, ...] = where) -> Floats:
            return cut(values, where, shape)

        part = table(draft, curve.sliced(here), here(B), here(S), longest)
        for whole, values in zip(found, _best(part, found.gamma[where].shape), strict=True):
            whole[where] = values
    return found


def _best(part: Table, shape: tuple[int, ...]) -> Found:
    """The best of a table, by its first axis."""
    every = np.broadcast_to(part.speedup, (len(part.speedup), *shape))
    first = _shortest_best(every)
    best = _at(every, first)
    others = every.copy()
    np.put_along_axis(others, first[None], -math.inf, axis=0)
    second = _shortest_best(others)
    return Found(
        first,
        best,
        _at(part.tokens, first),
        _at(part.step_ratio, first),
        second,
        _at(others, second),
    )


def _shortest_best(every: Floats) -> NDArray[np.int64]:
    top = every.max(axis=0)
    return np.asarray(np.argmax(every >= top * (1 - TIE), axis=0), dtype=np.int64)


def _at(every: Floats, length: NDArray[np.int64]) -> Floats:
    """The rows of ``every``, which broadcasts, that ``length`` names."""
    whole = np.broadcast_to(every, (len(every), *length.shape))
    return np.asarray(np.take_along_axis(whole, length[None], axis=0)[0])
