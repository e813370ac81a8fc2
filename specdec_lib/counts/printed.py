"""From printed digits back to counts: a log line rounds what was counted, and leaves out the steps.

A line prints accepted and drafted tokens in full, tokens per step with two digits, and the survival
of each position with three.  Only few step counts agree with all of these at once, often one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdec_lib.counts.errors import ReadError

#: At most so many step counts are tried one by one.
_TRIED = 200_000

#: What binary fractions may add to half of a printed digit.
_SLACK = 1e-9


@dataclass(frozen=True)
class Printed:
    """Counts behind a printed line, and what was assumed to find them."""

    steps: int
    survived: tuple[int, ...]
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def counts_behind(
    where: str, accepted: int, drafted: int, tokens: float, rates: Sequence[float]
) -> Printed:
    """The steps and the survivors behind a line that prints ``tokens`` per step to two digits, the
    bonus token included, and ``rates`` to three.

    Where several step counts agree with every digit it is the one at which every step drafted all
    positions, if that is among them, and else the nearest, with a caution.  Raises ReadError where
    none agrees: the line is damaged, or its fields mean something else.
    """
    length = len(rates)
    if not length:
        raise ReadError(f"{where}: no position is printed")
    if drafted < 1 or accepted > drafted:
        raise ReadError(f"{where}: {accepted} accepted of {drafted} drafted tokens cannot be")
    low, high = _bounds(accepted, drafted, tokens, length)
    full = drafted // length if drafted % length == 0 else None
    if high - low > _TRIED:
        middle = full if full is not None else round(accepted / max(tokens - 1, 1e-9))
        candidates = np.array([min(max(middle, low), high)])
    else:
        candidates = np.arange(low, high + 1)
    agreeing = _agreeing(candidates, accepted, rates)
    if not agreeing.size:
        raise ReadError(
            f"{where}: no number of steps gives {accepted} accepted of {drafted} drafted tokens, "
            f"{tokens:.2f} tokens per step and {', '.join(f'{rate:.3f}' for rate in rates)} by "
            "position: is the line damaged?"
        )
    notes, cautions = ["steps are not printed; they follow from the printed digits"], []
    if full is not None and full in agreeing:
        steps = full
        if len(agreeing) > 1:
            notes.append(f"{steps} steps if each drafted {length} tokens, as the digits allow")
    else:
        nearest = drafted / length if accepted == 0 else accepted / max(tokens - 1, 1e-9)
        steps = int(agreeing[np.argmin(np.abs(agreeing - nearest))])
        if len(agreeing) > 1:
            cautions.append(
                f"the digits allow {agreeing[0]} to {agreeing[-1]} steps; {steps} is used"
            )
    return Printed(steps, _survivors(steps, accepted, rates), tuple(notes), tuple(cautions))


def _bounds(accepted: int, drafted: int, tokens: float, length: int) -> tuple[int, int]:
    """The fewest and the most steps: each drafts one to all positions, and the mean has two
    digits."""
    low, high = math.ceil(drafted / length), drafted
    half = 0.005 + _SLACK
    if accepted:
        low = max(low, math.ceil(accepted / (tokens - 1 + half)) if tokens > 1 - half else high + 1)
        if tokens - 1 > half:
            high = min(high, math.floor(accepted / (tokens - 1 - half)))
    elif abs(tokens - 1) > half:
        high = low - 1
    return low, high


def _limits(
    steps: NDArray[np.int64], rates: Sequence[float]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fewest and the most survivors of each position that print as its rate."""
    half = 0.0005 + _SLACK
    rate = np.asarray(rates)[:, None]
    fewest = np.maximum(np.ceil((rate - half) * steps), 0)
    most = np.minimum(np.floor((rate + half) * steps), steps)
    return fewest.astype(np.int64), most.astype(np.int64)


def _agreeing(steps: NDArray[np.int64], accepted: int, rates: Sequence[float]) -> NDArray[np.int64]:
    fewest, most = _limits(steps, rates)
    good = np.all(fewest <= most, axis=0)
    good &= (fewest.sum(axis=0) <= accepted) & (accepted <= most.sum(axis=0))
    return steps[good]


def _survivors(steps: int, accepted: int, rates: Sequence[float]) -> tuple[int, ...]:
    """Survivors that print as the rates and add up to the accepted tokens, never rising."""
    fewest, most = (limit[:, 0] for limit in _limits(np.array([steps]), rates))
    found = np.clip(np.rint(np.asarray(rates) * steps), fewest, most).astype(np.int64)
    # raise from the front and lower from the back, so that survival does not rise
    left = accepted - int(found.sum())
    order = range(len(found)) if left > 0 else reversed(range(len(found)))
    for i in order:
        room = int(most[i] - found[i]) if left > 0 else int(fewest[i] - found[i])
        move = min(room, left) if left > 0 else max(room, left)
        found[i] += move
        left -= move
    return tuple(int(value) for value in found)
