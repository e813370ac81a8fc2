"""Times the step cost against hand-written NumPy and against another planner, in one process.

    python -m tools.step_benchmark               # 10⁷ points, the other planner included
    python -m tools.step_benchmark --alone       # without installing the other planner

The question: what does a verify pass of DeepSeek-V4-Flash on a B200 take, for many batches, widths
and contexts?  Absolute times are those of this machine; the ratios are what to look at.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import specdec_lib as sd
from tools.benchmark import REPEATS, median_seconds
from tools.planner import Planner, install

Floats = NDArray[np.float64]


def medians(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each way; the ways take turns, so that a busy machine slows all alike."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            times[name].append(median_seconds(way, repeats=1))
    return {name: statistics.median(taken) for name, taken in times.items()}


def open_grid(points: int) -> tuple[Floats, Floats, Floats]:
    """About that many points: batches, widths 1 to 20, contexts from 128 to a million."""
    side = max(1, round((points / 40) ** 0.5))
    batch = np.arange(1, side + 1, dtype=float)[:, None, None]
    width = np.arange(1, 21, dtype=float)[:, None]
    return batch, width, np.geomspace(128, 1e6, 2 * side).round()


#: DeepSeek-V4-Flash on a B200, as constants: peaks in FLOP/s, bandwidth in B/s, parameters.
BF16, FP8, MEMORY = 2250e12, 4500e12, 8e12
PROJECTIONS = 43 * 106_954_752 + 21 * 19_136_512 + 20 * 4_194_304
ROUTER, SHARED, HEAD = 43 * 256 * 4096, 43 * 25_165_824, 129_280 * 4096
EXPERT, EXPERT_BYTES = 25_165_824, 0.53125


def weights_by_hand(B: Floats, T: Floats) -> Floats:
    """Seconds of everything that reads weights."""
    n = B * T
    time = np.maximum(2 * PROJECTIONS * n / FP8, PROJECTIONS / MEMORY)
    time += np.maximum(2 * SHARED * n / FP8, SHARED / MEMORY)
    time += np.maximum(2 * ROUTER * n / BF16, 2 * ROUTER / MEMORY)
    time += np.maximum(2 * HEAD * n / BF16, 2 * HEAD / MEMORY)
    touched = -256 * np.expm1(n * np.log1p(-6 / 256))
    time += np.maximum(2 * 43 * 6 * EXPERT * n / FP8, 43 * EXPERT * EXPERT_BYTES * touched / MEMORY)
    return time


def cache_by_hand(T: Floats, S: Floats) -> Floats:
    """Seconds of one sequence's cache."""
    window = np.minimum(S, 128)
    few, many = np.floor(S / 4), np.floor(S / 128)
    time = np.zeros(np.broadcast_shapes(T.shape, S.shape))
    for layers, entries in ((2, window), (21, np.minimum(few, 512) + window), (20, many + window)):
        flops = layers * T * entries * (4 * 64 * 512)
        moved = layers * (584 * entries + T * (4 * 64 * 512))
        time += np.maximum(flops / BF16, moved / MEMORY)
    time += np.maximum(21 * T * few * (2 * 64 * 128) / BF16, 21 * 64 * few / MEMORY)
    return time


def fused_by_hand(B: Floats, T: Floats, S: Floats) -> Floats:
    """The step with every piece where it varies, and two passes over all points."""
    total = B * cache_by_hand(T, S)
    total += weights_by_hand(B, T)
    return total


def plain_by_hand(B: Floats, T: Floats, S: Floats) -> Floats:
    """The step as one writes it first: every term over all points."""
    return weights_by_hand(B, T + 0 * S) + B * cache_by_hand(T + 0 * B, S)


def on_a_grid(cost: sd.StepCost, points: int) -> None:
    """One row a way, with its ratio to the fused one."""
    grid = open_grid(points)
    B, T, S = grid
    size = np.prod(np.broadcast_shapes(B.shape, T.shape, S.shape))
    ours, by_hand = cost(B=B, T=T, S=S), fused_by_hand(*grid)
    np.testing.assert_allclose(ours, by_hand, rtol=1e-12)
    closed = [np.broadcast_to(axis, ours.shape).ravel().copy() for axis in grid]
    ways = {
        "StepCost": lambda: cost(B=B, T=T, S=S),
        "NumPy, fused by hand": lambda: fused_by_hand(*grid),
        "NumPy, as one writes it": lambda: plain_by_hand(*grid),
        "StepCost, closed grid": lambda: cost(B=closed[0], T=closed[1], S=closed[2]),
    }
    print(f"{size} points, {' × '.join(str(a.size) for a in grid)}; median of {REPEATS} runs")
    print(f"{'':26}{'ms':>10}{'10⁶ points/s':>16}{'ratio':>8}")
    seconds = medians(ways)
    for name, taken in seconds.items():
        ratio = taken / seconds["NumPy, fused by hand"]
        print(f"{name:26}{taken * 1e3:10.1f}{size / taken / 1e6:16.1f}{ratio:8.2f}")


def against_a_planner(cost: sd.StepCost, planner: Planner) -> None:
    """Microseconds a question, asked one by one and all at once."""
    batches, contexts = np.arange(1, 201.0), np.arange(1000, 9000, 800.0)
    asked = [(float(b), float(s)) for b in batches for s in contexts]

    def one_by_one(ask: Callable[[float, float], object], limit: int) -> float:
        few = asked[:: max(1, len(asked) // limit)]
        return median_seconds(lambda: [ask(b, s) for b, s in few], 3) / len(few)

    width = planner.width
    ways = {
        "StepCost, all at once": median_seconds(
            lambda: cost(B=batches[:, None], T=width, S=contexts)
        )
        / len(asked),
        "StepCost, one by one": one_by_one(lambda b, s: cost(B=b, T=width, S=s), 500),
        "its compiled handle": one_by_one(planner.handle, 500),
        "its public call": one_by_one(planner.public, 20),
    }
    print(f"\n{planner.name}: {len(asked)} questions at T = {width}, batches 1 to 200")
    print(f"{'':26}{'µs each':>10}{'ratio':>12}")
    for name, taken in ways.items():
        ratio = taken / ways["StepCost, all at once"]
        print(f"{name:26}{taken * 1e6:10.3f}{ratio:12.1f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--alone", action="store_true", help="leave the other planner out")
    given = parser.parse_args()
    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    on_a_grid(cost, given.points)
    if given.alone:
        return
    missing = install()
    if missing:
        print(f"\nThe other planner is left out: {missing}")
        return
    against_a_planner(cost, Planner())


if __name__ == "__main__":
    main()
