"""Times the search for the best draft length against plain NumPy, in the same run.

    python -m tools.plan_benchmark               # 10⁶ points of batch, context and acceptance

The question: what is the best of 17 draft lengths of DeepSeek-V4-Flash on a B200, for many batches,
contexts and acceptance rates?  The peer evaluates hand-written NumPy at every draft length over the
full grid and takes the largest; both memories are the peaks of what is allocated on the way.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import specdec_lib as sd
from tools.benchmark import REPEATS
from tools.step_benchmark import fused_by_hand, medians

Floats = NDArray[np.float64]
LONGEST = 16
FRACTION = 0.10


def best_by_hand(B: Floats, S: Floats, alpha: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Best draft length and its speedup: one broadcast over draft length and points."""
    gamma = np.arange(LONGEST + 1.0).reshape(-1, *(1,) * B.ndim)
    plain = fused_by_hand(B, np.ones_like(B), S)
    verify = np.stack([fused_by_hand(B, np.full_like(B, g + 1.0), S) for g in gamma.flat])
    tokens = (1 - alpha ** (gamma + 1)) / (1 - alpha)
    gains = tokens * plain / (verify + FRACTION * gamma * plain)
    best = np.argmax(gains, axis=0)
    return best, np.take_along_axis(gains, best[None], axis=0)[0]


def peak_bytes(call: Callable[[], object]) -> int:
    """The most memory that NumPy had allocated during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def main() -> None:
    """Print one row a way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    side = max(2, round(parser.parse_args().points ** (1 / 3)))
    batch = np.arange(1.0, side + 1)[:, None, None]
    context = np.geomspace(128, 1e6, side).round()[:, None]
    alpha = np.linspace(0.0, 0.99, side)
    shape = (side, side, side)
    flat = [np.broadcast_to(axis, shape).ravel().copy() for axis in (batch, context, alpha)]

    cost = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
    drafter = sd.drafters.fraction(FRACTION)
    grid = sd.Plan(cost, drafter, sd.Geometric(alpha))
    closed = sd.Plan(cost, drafter, sd.Geometric(flat[2]))
    ways = {
        "Plan.best, open grid": lambda: grid.best(B=batch, S=context, gamma_max=LONGEST),
        "Plan.best, flat arrays": lambda: closed.best(B=flat[0], S=flat[1], gamma_max=LONGEST),
        "NumPy by hand, open grid": lambda: best_by_hand(batch, context, alpha),
        "NumPy by hand, flat": lambda: best_by_hand(*flat),
    }
    ours, (lengths, gains) = grid.best(B=batch, S=context), best_by_hand(batch, context, alpha)
    np.testing.assert_allclose(ours.speedup, gains, rtol=1e-11)
    print(f"{side**3} points, {LONGEST + 1} draft lengths, median of {REPEATS} runs; ", end="")
    print(f"the best length differs, by a tie, at {np.mean(ours.gamma != lengths):.1e} of them")
    print(f"{'':26}{'s':>10}{'10⁶ points/s':>16}{'peak MB':>10}")
    for name, taken in medians(ways).items():
        most = peak_bytes(ways[name]) / 1e6
        print(f"{name:26}{taken:10.3f}{side**3 / taken / 1e6:16.2f}{most:10.0f}")


if __name__ == "__main__":
    main()
