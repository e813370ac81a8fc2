"""The published calculator's optimum, from its layer cost, its constants, and plain search."""

from __future__ import annotations

import numpy as np
import pytest

from specdec_lib.formulas.acceptance import expected_tokens
from specdec_lib.formulas.published import layer_bytes
from specdec_lib.formulas.speculation import speedup
from specdec_lib.records import references

CONSTANTS = references.published("calculator").constants
BATCH = np.array([1, 2, 4, 8, 11, 16, 32, 43, 64, 100, 128, 256, 512, 1024, 4096, 16384])
LONGEST = int(references.published("calculator-search").constants["gamma"])


def speedups(alpha: float, c: float, S: float, batch: np.ndarray) -> np.ndarray:
    """Speedup by batch (rows) and draft length 0 … longest (columns)."""
    gamma = np.arange(LONGEST + 1)[None, :]
    B = np.asarray(batch)[:, None]
    plain = layer_bytes(B=B, T=1, S=S, **CONSTANTS)
    return np.asarray(
        speedup(
            N=expected_tokens(alpha=alpha, gamma=gamma),
            C_0=plain,
            C_verify=layer_bytes(B=B, T=gamma + 1, S=S, **CONSTANTS),
            C_draft=c * gamma * plain,
        )
    )


def optimum(alpha: float, c: float, S: float, batch: np.ndarray) -> list[int]:
    return [int(g) for g in np.argmax(speedups(alpha, c, S, batch), axis=1)]


def test_published_draft_lengths() -> None:
    published = [1, 1, 0, 0, 0, 3, 5, 5, 4, 4, 3, 3, 2, 1, 1, 0]
    assert optimum(alpha=0.75, c=0.10, S=4096, batch=BATCH) == published


@pytest.mark.parametrize(
    ("alpha", "first", "last"), [(0.75, 4, 13), (0.6, 2, 26)], ids=["0.75", "0.6"]
)
def test_the_gutter_where_not_speculating_is_best(alpha: float, first: int, last: int) -> None:
    small = np.arange(1, 41)
    off = small[np.array(optimum(alpha=alpha, c=0.10, S=4096, batch=small)) == 0]
    assert off.tolist() == list(range(first, last + 1))


def test_the_gutter_is_gone_from_079() -> None:
    small = np.arange(1, 41)
    assert 0 in optimum(alpha=0.78, c=0.10, S=4096, batch=small)
    assert 0 not in optimum(alpha=0.79, c=0.10, S=4096, batch=small)


def test_two_maxima_for_a_dear_drafter() -> None:
    """A search that climbs from no draft stops at once, and misses a speedup of 1.15."""
    curve = speedups(alpha=0.95, c=0.265, S=4096, batch=np.array([6]))[0]
    assert curve[1] == pytest.approx(0.9993, abs=5e-5)
    assert curve[17] == pytest.approx(1.154, abs=5e-4)
    assert curve[0] == 1.0
    assert int(np.argmax(curve)) == 17
