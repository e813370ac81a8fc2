"""Times Formulas against hand-written NumPy and plain lambdify, in the same run.

    python tools/benchmark.py            # 10⁶ points
    python tools/benchmark.py --points 10000000

A Formula does more than its peers: it checks every value's domain, keeps its digits near singular
points and refuses a result that is not finite.  The table says what that costs.  The step cost has
a benchmark of its own, tools/step_benchmark.py.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import sympy

from specdec_lib.formulas.acceptance import expected_tokens
from specdec_lib.formulas.attention import intensity
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.quantity import UNITS

REPEATS = 7


def median_seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median over the repeats, after one call that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def lambdified(formula: object, values: dict[str, object]) -> Callable[[], object]:
    """The same right-hand side through SymPy's lambdify alone."""
    symbols = [known.symbol for known in formula.inputs]  # type: ignore[attr-defined]
    bare = formula.rhs.subs(dict.fromkeys(UNITS, 1))  # type: ignore[attr-defined]
    function = sympy.lambdify(symbols, bare, "numpy")
    arguments = [np.asarray(values[s.name], dtype=float) for s in symbols]

    def call() -> object:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


def main() -> None:
    """Print one row a formula: seconds of each way, and the Formula's ratio to NumPy by hand."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    points = parser.parse_args().points
    side = int(np.sqrt(points))
    n = np.geomspace(1, 1e5, points)
    T, S = np.linspace(1, 16, side)[:, None], np.geomspace(1e2, 1e6, side)[None, :]
    alpha, gamma = np.linspace(0, 0.99, side)[:, None], np.arange(side)[None, :] % 17
    cases = [
        (
            "distinct experts",
            distinct_experts,
            {"n": n, "E": 256, "k": 6},
            lambda: 256 * (1 - (1 - 6 / 256) ** n),
        ),
        (
            "attention intensity",
            intensity,
            {"T": T, "S": S, "f": 139264, "m_c": 576, "m_q": 73728},
            lambda: 139264 * T * S / (576 * S + 73728 * T),
        ),
        (
            "expected tokens",
            expected_tokens,
            {"alpha": alpha, "gamma": gamma},
            lambda: (1 - alpha ** (gamma + 1)) / (1 - alpha),
        ),
    ]
    print(f"{points} points, median of {REPEATS} runs, milliseconds")
    print(f"{'':22}{'Formula':>10}{'NumPy':>10}{'lambdify':>10}{'ratio':>8}")
    for name, formula, values, by_hand in cases:
        ours = median_seconds(lambda f=formula, v=values: f(**v))
        hand = median_seconds(by_hand)
        plain = median_seconds(lambdified(formula, values))
        print(f"{name:22}{1e3 * ours:10.2f}{1e3 * hand:10.2f}{1e3 * plain:10.2f}{ours / hand:8.2f}")


if __name__ == "__main__":
    main()
