"""How well the model meets measured kernels: every figure with its limit and the rows behind it.

The figures are stored in the table ``evidence-kernels`` and recomputed by a test.  A figure without
a limit is reported beside the one it qualifies; one that misses its limit says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdec_lib.evidence.decode_attention import multi_query_cores, multi_query_fit
from specdec_lib.evidence.fitting import Score, score
from specdec_lib.evidence.knees import balanced_curves, corners, knees
from specdec_lib.evidence.layer_laws import held_against, left_out_errors, rivals
from specdec_lib.evidence.moe_layers import below_knee, fastest, layers, screened
from specdec_lib.evidence.routing_laws import routing_scores
from specdec_lib.evidence.tables import table

MOE, MLA = "moe-layers", "mla-multi-query"


class Bar(NamedTuple):
    """One figure: what it measures, its limit (NaN where it has none), its value, the number of
    rows behind it, their table and their row numbers there, from 1."""

    bar: str
    limit: float
    value: float
    rows: int
    table: str
    where: str

    @property
    def met(self) -> bool:
        """Whether the value is within its limit; true where there is none."""
        return math.isnan(self.limit) or self.value <= self.limit


def ranges(numbers: NDArray[np.int64]) -> str:
    """Sorted row numbers as text: ``"1-3 7"``."""
    ordered = np.unique(numbers)
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    return " ".join(
        str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts if len(part)
    )


def kernel_bars() -> tuple[Bar, ...]:
    """Every figure, computed from the tables."""
    return (*_layer_bars(), *_routing_bars(), *_corner_bars(), *_tile_bars())


def _two(name: str, found: Score, limits: tuple[float, float], where: str) -> Iterator[Bar]:
    yield Bar(f"{name}: median error", limits[0], found.median, found.rows, MOE, where)
    yield Bar(f"{name}: 90th percentile", limits[1], found.p90, found.rows, MOE, where)


def _layer_bars() -> Iterator[Bar]:
    none = (math.nan, math.nan)
    held = held_against()
    where = ranges(held.row)
    found = rivals(held)
    for one in found:
        law, limits = (one.what, none) if one is not found[0] else ("min(nk, E)", (0.05, 0.18))
        yield from _two(f"layer of a left-out model, {law}", one, limits, where)
    every = fastest(below_knee(layers()))
    plain = score("", left_out_errors(every))
    yield from _two("the same, kernels not screened", plain, none, ranges(every.row))


def _routing_bars() -> Iterator[Bar]:
    limits = {
        "balanced rows: min(nk, E)": 0.03,
        "skewed rows, taught by balanced ones: uniform": 0.07,
    }
    kept = screened()
    even, skewed = (ranges(below_knee(kept, r).row) for r in ("balanced", "power_law_1.01"))
    for one in routing_scores(kept):
        where = even if one.what.startswith("balanced") else skewed
        limit = limits.get(one.what, math.nan)
        yield Bar(f"{one.what}: median error", limit, one.median, one.rows, MOE, where)


def _corner_bars() -> Iterator[Bar]:
    curves = balanced_curves()
    where, found = ranges(curves.row), corners()
    for corner in ("hard", "smooth"):
        medians = [one.p90 for one in found if one.corner == corner]
        name = (
            f"whole curve, {corner} corner: median over devices and formats of the 90th percentile"
        )
        yield Bar(name, math.nan, float(np.median(medians)), len(curves), MOE, where)
    early = [one.early for one in knees()]
    for part, share in (("median", 0.5), ("10th percentile", 0.1), ("90th percentile", 0.9)):
        name = f"tokens at the ridge over tokens at the measured knee: {part}"
        yield Bar(name, math.nan, float(np.quantile(early, share)), len(early), MOE, where)


def _tile_bars() -> Iterator[Bar]:
    rows = multi_query_cores()
    for tile, limit, name in ((64, 0.10, "whole tiles of 64 rows"), (1, math.nan, "no tiles")):
        worst = score(name, multi_query_fit(tile).errors).worst
        title = f"multi-query latent attention, one efficiency, {name}: worst error"
        yield Bar(title, limit, worst, len(rows), MLA, ranges(rows.row))


def stored_bars() -> tuple[Bar, ...]:
    """Every figure as it is stored in the table ``evidence-kernels``."""
    found = table("evidence-kernels")
    return tuple(
        Bar(str(bar), float(limit), float(value), int(rows), str(source), str(where))
        for bar, limit, value, rows, source, where in zip(*found.columns.values(), strict=True)
    )
