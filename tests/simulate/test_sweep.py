"""Sweeps: the same reports in this process, in others, and on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from specdec_lib.control import Fixed, Priced
from specdec_lib.simulate import Closed, Open, Report, Workload, by_policy, sweep
from tests.settings_of_runs import V4

POLICIES = (Fixed(2), Priced())
WORK = Workload(Open(60, 6), 1000, 40)


@pytest.fixture(scope="module")
def here() -> list[Report]:
    return sweep(V4, WORK, POLICIES, seeds=2, workers=1, rounds=200)


def test_policies_and_seeds_come_in_order(here: list[Report]) -> None:
    assert [(r.policy, r.seed) for r in here] == [
        ("fixed 2", 0), ("fixed 2", 1), ("priced", 0), ("priced", 1),
    ]  # fmt: skip
    assert {name: len(found) for name, found in by_policy(here)} == {"fixed 2": 2, "priced": 2}
    assert here[0].emitted != here[1].emitted


def test_two_of_one_kind_are_told_apart_by_labels() -> None:
    policies = (Fixed(2), Fixed(2).called("again"))
    found = sweep(V4, WORK, policies, seeds=1, workers=1, rounds=20)
    assert [report.policy for report in found] == ["fixed 2", "again"]


def test_processes_give_the_same_and_tell_of_progress(here: list[Report]) -> None:
    told: list[tuple[int, int]] = []
    there = sweep(
        V4, WORK, POLICIES, seeds=2, workers=2, rounds=200, progress=lambda *n: told.append(n)
    )
    assert there == here
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.fixture
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def test_a_cluster_gives_the_same(here: list[Report], client: Any) -> None:
    assert sweep(V4, WORK, POLICIES, seeds=2, client=client, rounds=200) == here


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policies": (Fixed(2), Fixed(2))}, "two policies are called 'fixed 2'"),
        ({"seeds": 0}, "seeds = 0"),
        ({"seeds": [-1]}, "seed = -1"),
        ({"policies": ()}, "a policy"),
    ],
)
def test_empty_sweeps_are_refused(options: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"policies": POLICIES, "rounds": 10, "workers": 1} | options
    with pytest.raises(ValueError, match=said):
        sweep(V4, Workload(Closed(2), 100), given.pop("policies"), **given)
