"""Running: one run, or policies and seeds beside each other in processes or on a cluster."""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from specdec_lib.control import Policy, Prices
from specdec_lib.plan import Plan
from specdec_lib.simulate.engine import Engine, Until
from specdec_lib.simulate.lengths import counted
from specdec_lib.simulate.report import Report, described, regime_seconds, summed
from specdec_lib.simulate.workload import Workload

#: Is told after every run: runs that are done, and all.
Progress = Callable[[int, int], None]


def prepared(plan: Plan, workload: Workload, gamma_max: int = 16) -> tuple[Prices, Workload]:
    """The prices that a workload asks for, and the workload with the acceptance of the plan where
    it has none of its own.

    Raises TypeError or ValueError for what is no plan or workload.
    """
    if not isinstance(plan, Plan) or not isinstance(workload, Workload):
        raise TypeError(f"a simulation is of a Plan and a Workload, not {plan!r} and {workload!r}")
    filled = workload.filled(plan.acceptance)
    return Prices(plan, workload.contexts, gamma_max), filled


def run(
    plan: Plan,
    workload: Workload,
    policy: Policy,
    *,
    seed: int = 0,
    rounds: int = 10_000,
    seconds: float = math.inf,
    requests: float = math.inf,
    gamma_max: int = 16,
    trace: bool = False,
) -> Report:
    """Play a workload under a policy; the same seed gives the same result.

    Parameters
    ----------
    plan
        Target and drafter, and the acceptance of a workload without one.
    workload, policy
        What is served, and what chooses the draft lengths.  The policy that is given is not
        changed.
    seed
        Policies with the same seed meet the same requests at the same times.
    rounds, seconds, requests
        The run ends after so many of them, whichever comes first.
    gamma_max
        The longest draft of a policy that has none of its own.
    trace
        Whether to keep every round.

    Raises TypeError or ValueError for what does not fit together, saying what.
    """
    prices, filled = prepared(plan, workload, gamma_max)
    return play((prices, filled, Until(rounds, seconds, requests)), policy, seed, trace=trace)


#: Prices, workload and end of a run: what all runs of a sweep share.
Shared = tuple[Prices, Workload, Until]


def play(shared: Shared, policy: Policy, seed: int, *, trace: bool = False) -> Report:
    """One run on prices that are there already.  Raises as :func:`run`."""
    prices, workload, until = shared
    if not isinstance(policy, Policy):
        raise TypeError(f"a policy such as control.Fixed(3), not {policy!r:.60}")
    engine = Engine(prices, workload, policy, counted("seed", seed, 0))
    record = engine.play(until)
    columns = record.columns()
    served = engine.slots.served
    paces = [pace for pace, _, _ in served] or engine.slots.paces(engine.now)
    return Report(
        policy=policy.label or policy.name,
        seed=seed,
        served=len(served),
        waiting=record.waiting,
        tpot=described(paces),
        wait=described([waited for _, waited, _ in served]),
        lost=float(getattr(engine.policy, "lost", 0.0)),
        by_regime=regime_seconds(columns, prices),
        trace=columns if trace else None,
        **summed(columns),
    )


_shared: Shared | None = None


def _share(shared: Shared) -> None:
    global _shared
    _shared = shared


def _play_shared(task: tuple[Policy, int]) -> Report:
    assert _shared is not None
    return play(_shared, *task)


def _play_sent(task: tuple[Policy, int], shared: Shared) -> Report:
    return play(shared, *task)


def sweep(
    plan: Plan,
    workload: Workload,
    policies: Sequence[Policy],
    *,
    seeds: int | Sequence[int] = 5,
    workers: int | None = None,
    client: Any = None,
    progress: Progress | None = None,
    gamma_max: int = 16,
    rounds: int = 10_000,
    seconds: float = math.inf,
    requests: float = math.inf,
) -> list[Report]:
    """Every policy with every seed, in this order.

    Parameters
    ----------
    seeds
        How many, counted from 0, or which.
    workers
        Processes; one for each processor by default, and 1 stays in this one.  They are started
        afresh, so that a script that calls this needs its ``if __name__ == "__main__":``.
    client
        A dask.distributed Client: the runs go to its cluster.
    progress
        Is called with the runs that are done and with all.

    Others as for :func:`run`, which see for what is raised.
    """
    prices, filled = prepared(plan, workload, gamma_max)
    chosen = range(counted("seeds", seeds)) if isinstance(seeds, int) else seeds
    tasks = [(policy, counted("seed", seed, 0)) for policy in policies for seed in chosen]
    if not tasks:
        raise ValueError("a sweep needs a policy and a seed at least")
    names = Counter(policy.label or policy.name for policy in policies)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise ValueError(
            f"two policies are called {twice[0]!r}: tell them apart with called(label)"
        )
    shared = (prices, filled, Until(rounds, seconds, requests))
    processes = min(counted("workers", workers or os.cpu_count() or 1), len(tasks))
    if client is None and processes == 1:
        return _gathered((play(shared, *task) for task in tasks), len(tasks), progress)
    prices.prepare(range(1, filled.load.batch + 1))
    if client is not None:
        sent = client.scatter([shared], broadcast=True)[0]
        futures = client.map(functools.partial(_play_sent), tasks, shared=sent, pure=False)
        return _gathered((future.result() for future in futures), len(tasks), progress)
    with ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), _share, (shared,)
    ) as pool:
        return _gathered(pool.map(_play_shared, tasks), len(tasks), progress)


def _gathered(reports: Iterable[Report], count: int, progress: Progress | None) -> list[Report]:
    found = []
    for done, report in enumerate(reports, start=1):
        found.append(report)
        if progress is not None:
            progress(done, count)
    return found


def by_policy(reports: Iterable[Report]) -> Iterator[tuple[str, list[Report]]]:
    """The reports of each policy, by its name, in the order of the first of each."""
    found: Mapping[str, list[Report]] = {}
    for report in reports:
        found.setdefault(report.policy, []).append(report)  # type: ignore[attr-defined]
    yield from found.items()
