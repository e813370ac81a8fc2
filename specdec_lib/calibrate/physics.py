"""Physics: what no step time can do, row by row, before anything is fitted to it.

A number that is not a step time spoils a fit without a trace: tokens per second with prefill in
them, times in another unit, a table that was sorted by hand.  Such numbers mostly break one of
these rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.calibrate.measurement import NAMES
from specdec_lib.calibrate.rows import Rows
from specdec_lib.cost.grid import Floats
from specdec_lib.formulas import engine

#: How far below the floor a time may lie: clocks and rounding; and where experts are routed, a
#: popularity that makes a step touch fewer of them than even routing does.
_CLOSE, _ROUTED = 0.97, 0.75

#: Differences within so many of their own deviations are noise.
_DEVIATIONS = 3.0

_AXES = {"B": "sequences", "T": "tokens of each sequence", "S": "context tokens"}

_NO_STEP = (
    "no step time grows faster than its work: is there prefill, waiting or swapping in it, or is "
    "it beyond the captured graphs? Give decode steps alone (time between tokens), or a base with "
    "max_graph_tokens"
)


def refuse_impossible(rows: Rows, noise: float) -> None:
    """Raise CalibrationError with every row, or pair of rows, that no engine can have measured."""
    problems = [*_below_floor(rows), *_faster_round(rows, noise), *_growth(rows, noise)]
    if problems:
        raise CalibrationError(problems)


def _below_floor(rows: Rows) -> Iterator[str]:
    floors = rows.at_most()
    close = _CLOSE if rows.cost.model.experts is None else _ROUTED
    gpu = rows.cost.gpu.name
    for row, floor in zip(rows.measurements, floors, strict=True):
        if np.isnan(floor):
            continue
        if row.kind == "throughput":
            if row.value * close > floor:
                yield (
                    f"{row}: {row.value:.4g} tokens per second; reading the weights and the cache "
                    f"once a step leaves {floor:.4g} at most on {gpu}"
                )
        elif row.value < close * floor:
            yield (
                f"{row}: {row.value * 1e3:.4g} ms; reading what it must takes {gpu} "
                f"{floor * 1e3:.4g} ms at its full bandwidth. Check the unit, the number of "
                "devices, the precision of the weights and whether the time is of a whole step"
            )


def _faster_round(rows: Rows, noise: float) -> Iterator[str]:
    for row in rows.measurements:
        ratio = {"ratio": row.value, "speedup": (row.N or 1.0) / row.value}.get(row.kind)
        if ratio is not None and ratio < 1 - _DEVIATIONS * noise:
            yield (
                f"{row}: its round takes {ratio:.3g} of a plain step; verifying more tokens takes "
                "no less than a plain step. Check N, which counts the bonus token, and gamma"
            )


def _growth(rows: Rows, noise: float) -> Iterator[str]:
    """Neighbours that differ in one of B, T and S alone: the time neither falls nor grows faster
    than that one does."""
    seconds = rows.round_seconds()
    # a step waits for its fullest replica
    batch = np.asarray(engine.replica_batch(B=rows.B, dp=rows.cost.deployment.dp))
    points = {"B": batch, "T": rows.T, "S": rows.S}
    drafted = np.array([m.speculative for m in rows.measurements])
    for axis, values in points.items():
        others = [v for name, v in points.items() if name != axis]
        if axis == "T":
            # a round has a pass of the drafter for each token but one
            values = np.where(drafted, values - 1, values)
        key = np.array([*others, drafted])
        for fixed in np.unique(key, axis=1).T:
            of_it = np.flatnonzero((key == fixed[:, None]).all(axis=0) & ~np.isnan(seconds))
            yield from _along(rows, axis, of_it[np.argsort(values[of_it], kind="stable")],
                              values, seconds, noise)  # fmt: skip


def _along(
    rows: Rows, axis: str, order: np.ndarray, values: Floats, seconds: Floats, noise: float
) -> Iterator[str]:
    slack = np.exp(_DEVIATIONS * np.sqrt(2) * noise)  # two rows are compared
    limit = rows.cost.deployment.max_graph_tokens
    for less, more in itertools.pairwise(order):
        before, after = rows.measurements[less], rows.measurements[more]
        by = values[more] / values[less] if values[less] else np.inf
        grown = seconds[more] / seconds[less]
        if by > 1 and grown * slack < 1:
            yield (
                f"{after}: {seconds[more] * 1e3:.4g} ms, less than the "
                f"{seconds[less] * 1e3:.4g} ms of {before} with fewer {_AXES[axis]}; more work "
                "takes no less time. Drop the row that is wrong, or measure both again"
            )
        allowed = by * slack
        tokens = rows.B[more] * rows.T[more]
        if limit is not None and tokens > limit:
            allowed *= rows.cost.deployment.eager_factor
        if grown > allowed:
            yield (
                f"{after}: {NAMES[after.kind]} {grown:.3g} times that of {before}, with {by:.3g} "
                f"times the {_AXES[axis]}; {_NO_STEP}"
            )
