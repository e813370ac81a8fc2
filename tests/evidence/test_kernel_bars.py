"""The stored figures are those that the tables give, and they name the rows behind them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specdec_lib.evidence.kernel_bars import Bar, kernel_bars, ranges, stored_bars
from specdec_lib.evidence.layer_laws import held_against
from specdec_lib.evidence.tables import table

#: What the model has to reach, and where it stands written: the median error of a left-out model
#: and its 90th percentile, the two laws of routing, and the worst multi-query row.
LIMITS = {
    "layer of a left-out model, min(nk, E): median error": 0.05,
    "layer of a left-out model, min(nk, E): 90th percentile": 0.18,
    "balanced rows: min(nk, E): median error": 0.03,
    "skewed rows, taught by balanced ones: uniform: median error": 0.07,
    "multi-query latent attention, one efficiency, whole tiles of 64 rows: worst error": 0.10,
}


@pytest.fixture(scope="module")
def computed() -> tuple[Bar, ...]:
    return kernel_bars()


def test_the_stored_figures_are_recomputed(computed: tuple[Bar, ...]) -> None:
    stored = stored_bars()
    assert [bar.bar for bar in stored] == [bar.bar for bar in computed]
    for kept, now in zip(stored, computed, strict=True):
        assert kept.value == pytest.approx(now.value, rel=2e-3), kept.bar
        assert (kept.rows, kept.table, kept.where) == (now.rows, now.table, now.where), kept.bar
        assert kept.limit == now.limit or (math.isnan(kept.limit) and math.isnan(now.limit))


def test_every_limit_is_met() -> None:
    stored = {bar.bar: bar for bar in stored_bars()}
    assert {bar.bar: bar.limit for bar in stored.values() if not math.isnan(bar.limit)} == LIMITS
    assert [name for name in LIMITS if not stored[name].met] == []


def test_no_two_assignments_meet_in_balanced_routing_but_some_do_in_skewed() -> None:
    value = {bar.bar.removesuffix(": median error"): bar.value for bar in stored_bars()}
    told = "skewed rows, taught by balanced ones: "
    assert value[told + "uniform"] < value[told + "min(nk, E)"]
    assert value["skewed rows: uniform"] < value["skewed rows: min(nk, E)"]
    left_out = "layer of a left-out model, "
    assert value[left_out + "min(nk, E)"] < value[left_out + "uniform"]


def test_a_figure_beyond_its_limit_is_not_met() -> None:
    bar = Bar("x", 0.05, 0.0501, 1, "moe-layers", "1")
    assert not bar.met and bar._replace(value=0.05).met
    assert bar._replace(limit=math.nan).met


def numbers(where: str) -> set[int]:
    ends = [part.partition("-")[::2] for part in where.split()]
    return {n for first, last in ends for n in range(int(first), int(last or first) + 1)}


def test_figures_name_their_rows() -> None:
    for bar in stored_bars():
        named = numbers(bar.where)
        assert named and max(named) <= len(table(bar.table)), bar.bar
    first = stored_bars()[0]
    held = held_against()
    assert numbers(first.where) == set(held.row.tolist()) and first.rows == len(held)


def test_row_numbers_as_text() -> None:
    assert ranges(np.array([7, 1, 2, 3, 10, 11])) == "1-3 7 10-11"
