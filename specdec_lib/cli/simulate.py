"""``specdec simulate``: policies played beside each other on a simulated engine."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import click

from specdec_lib.acceptance import Geometric
from specdec_lib.cli.output import json_flag, print_json, print_table, say
from specdec_lib.cli.policies import policy_of
from specdec_lib.cli.speculating import plan_of, plan_options
from specdec_lib.plan import Plan
from specdec_lib.simulate import Closed, Open, Population, Report, Workload, by_policy, sweep

#: What is played where no policy is named.
POLICIES = ("off", "fixed:3", "threshold:3", "schedule", "priced", "oracle")


@click.command()
@plan_options
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="POLICY",
    help="off, fixed:LENGTH, threshold:LENGTH, schedule, priced, two-stage:COST,GOOD,BAD or "
    f"oracle; may be given several times.  [{' '.join(POLICIES)}]",
)
@click.option(
    "--batch",
    type=click.IntRange(1, 4096),
    default=8,
    show_default=True,
    help="Sequences served at a time.",
)
@click.option(
    "--rate",
    type=float,
    help="Requests that come in a second, at random.  [each follows the one before at once]",
)
@click.option(
    "--context",
    type=click.IntRange(1, 10**9),
    default=4096,
    show_default=True,
    help="Prompt tokens.",
)
@click.option(
    "--output",
    type=click.IntRange(1, 10**9),
    help="Tokens of each answer.  [requests never end, and their context stays]",
)
@click.option(
    "--then",
    "changes",
    multiple=True,
    metavar="SECONDS:ALPHA",
    help="From so many seconds on the acceptance is that rate; may be given several times.",
)
@click.option("--rounds", type=click.IntRange(1, 10**9), default=10_000, show_default=True)
@click.option("--seconds", type=float, help="The end of a run, if it comes first.")
@click.option("--seeds", type=click.IntRange(1, 10_000), default=3, show_default=True)
@click.option(
    "--workers", type=click.IntRange(1, 1024), help="Processes.  [one for each processor]"
)
@json_flag
def simulate(
    policies: tuple[str, ...],
    batch: int,
    rate: float | None,
    context: int,
    output: int | None,
    changes: tuple[str, ...],
    rounds: int,
    seconds: float | None,
    seeds: int,
    workers: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """What a policy makes of a workload, round by round on a simulated engine.

    Steps are priced by the cost model; arrivals and accepted tokens are drawn at random.  The
    speedup is over plain steps of the same batches and contexts, and its uncertainty is a standard
    error over the seeds.  The oracle knows the acceptance and is no policy for an engine.

    \b
    Examples:
      specdec simulate --model deepseek-v4-flash --gpu b200 --alpha 0.73 --batch 8
      specdec simulate --model qwen3-8b --gpu h100-sxm --alpha 0.8 --then 20:0.1 --then 40:0.8 \\
        --policy fixed:4 --policy threshold:4 --policy priced --seconds 60 --rounds 100000
      specdec simulate --model deepseek-v4-flash --gpu b200 --alpha 0.75 --rate 20 --batch 64 \\
        --output 256 --policy schedule --policy priced --json
    """
    planned, longest = plan_of(options)
    load = Closed(batch) if rate is None else Open(rate, batch)
    acceptance = _changing(planned, changes)
    workload = Workload(load, context, output, acceptance)
    top = context + (output or 0)
    chosen = [
        policy_of(text, planned, batch, top, longest)
        for text in dict.fromkeys(policies or POLICIES)
    ]
    if not policies:
        say(f"defaults in force: {' '.join(f'--policy {text}' for text in POLICIES)}")
    reports = sweep(
        planned,
        workload,
        chosen,
        seeds=seeds,
        workers=workers,
        gamma_max=longest,
        rounds=rounds,
        seconds=float("inf") if seconds is None else seconds,
        progress=_progress,
    )
    rows = [_row(name, found) for name, found in by_policy(reports)]
    if as_json:
        print_json(_record(planned, workload, rows, reports))
        return
    print_table(
        {
            "policy": [row["policy"] for row in rows],
            "speedup": [row["speedup"] for row in rows],
            "±": [row["speedup_error"] for row in rows],
            "tokens/s": [row["throughput"] for row in rows],
            "ms/token": [row["tpot"]["p50"] * 1e3 for row in rows],
            "99 %": [row["tpot"]["p99"] * 1e3 for row in rows],
            "γ": [row["gamma"] for row in rows],
            "wasted (%)": [row["wasted"] for row in rows],
            "off (%)": [row["off"] for row in rows],
            "mostly": [max(row["by_regime"], key=row["by_regime"].get) for row in rows],
        }
    )
    say(
        "γ: mean draft length; wasted: of the drafted tokens; off: share of the time; mostly: what "
        "rules the target's step. Left out: the reading of prompts, and what changing lengths costs"
    )


def _progress(done: int, count: int) -> None:
    say(f"{done} of {count} runs done")


def _changing(planned: Plan, changes: Sequence[str]) -> Population:
    found = Population([planned.acceptance])
    for text in changes:
        start, _, alpha = text.partition(":")
        try:
            at = (float(start), float(alpha))
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is no change such as 20:0.4", param_hint="--then"
            ) from None
        found = found.then(at[0], [Geometric(at[1])])
    return found


def _row(name: str, reports: list[Report]) -> dict[str, Any]:
    """The means over the seeds."""

    def mean(values: Sequence[float]) -> float:
        return statistics.fmean(values)

    error = reports[0].speedup_error
    if len(reports) > 1:
        error = statistics.stdev([r.speedup for r in reports]) / len(reports) ** 0.5
    regimes = {name: 0.0 for report in reports for name in report.by_regime}
    for report in reports:
        for regime, time in report.by_regime.items():
            regimes[regime] += time / sum(r.seconds for r in reports)
    drafted = sum(r.drafted for r in reports)
    return {
        "policy": name,
        "speedup": mean([r.speedup for r in reports]),
        "speedup_error": error,
        "throughput": mean([r.throughput for r in reports]),
        "tpot": {key: mean([r.tpot[key] for r in reports]) for key in reports[0].tpot},
        "batch": mean([r.batch for r in reports]),
        "gamma": mean([r.gamma for r in reports]),
        "wasted": 100 * sum(r.wasted for r in reports) / drafted if drafted else 0.0,
        "off": 100 * mean([r.by_length.get(0, 0.0) / r.seconds for r in reports]),
        "by_regime": regimes,
    }


def _record(
    planned: Plan, workload: Workload, rows: list[dict[str, Any]], reports: list[Report]
) -> dict[str, Any]:
    cost = planned.step_cost("a price")
    fields = ("policy", "seed", "rounds", "seconds", "emitted", "drafted", "accepted", "bonus")
    more = ("wasted", "served", "waiting", "speedup", "speedup_error", "throughput", "batch")
    rest = ("gamma", "tpot", "wait", "lost", "by_length", "by_regime")
    return {
        "model": cost.model.name,
        "gpu": cost.gpu.name,
        "deployment": cost.deployment.name,
        "drafter": planned.draft.name,
        "acceptance": repr(planned.acceptance),
        "workload": repr(workload),
        "assumptions": [*cost.assumptions, *planned.draft.assumptions],
        "policies": rows,
        "runs": [{name: getattr(r, name) for name in (*fields, *more, *rest)} for r in reports],
    }
