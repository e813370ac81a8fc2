"""``specdec plan``: how far to speculate, and what acceptance it takes."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from specdec_lib.cli.output import json_flag, print_json, print_table, say
from specdec_lib.cli.points import batches, contexts
from specdec_lib.cli.progress import quiet_flag, sweep
from specdec_lib.cli.speculating import plan_of, plan_options
from specdec_lib.plan import Plan

#: Batches shown where none are asked for.
BATCHES = "1,2,4,8,16,32,64,128,256"


@click.command()
@plan_options
@batches(BATCHES)
@contexts()
@quiet_flag
@json_flag
def plan(batch: list[int], context: list[int], quiet: bool, as_json: bool, **options: Any) -> None:
    """The best draft length, its speedup, and the acceptance at which it breaks even.

    The hurdle is the acceptance that a draft of one token must exceed; where it is above one, only
    longer drafts can pay, and they are tried too.

    \b
    Examples:
      specdec plan --model deepseek-v4-flash --gpu b200 --alpha 0.75
      specdec plan --model qwen3-8b --gpu h100-sxm --drafter eagle3 --survival 0.78,0.58,0.44
      specdec plan --model deepseek-v3 --gpu h200 --tp 8 --drafter mtp --alpha 0.8 --json
    """
    planned, longest = plan_of(options)
    B, S = (axis.ravel() for axis in np.meshgrid(batch, context, indexing="ij"))
    rows: list[dict[str, Any]] = []
    warnings: tuple[str, ...] = ()
    for part in sweep(len(B), "planning", quiet=quiet):
        found, warnings = _rows(planned, B[part], S[part], longest)
        rows += found
    for warning in warnings:
        say(f"warning: {warning}")
    if as_json:
        cost = planned.step_cost("a price")
        print_json(
            {
                "model": cost.model.name,
                "gpu": cost.gpu.name,
                "deployment": cost.deployment.name,
                "drafter": planned.draft.name,
                "acceptance": repr(planned.acceptance),
                "assumptions": [*cost.assumptions, *planned.draft.assumptions],
                "warnings": warnings,
                "points": rows,
            }
        )
        return
    titles = {
        "B": "B",
        "S": "S",
        "gamma": "γ*",
        "speedup": "speedup",
        "tokens": "N",
        "step_ratio": "cost",
        "margin": "margin (%)",
        "hurdle": "hurdle",
        "break_even": "break-even",
        "regime": "regime",
    }
    for row in rows:
        row["margin"] = 100 * row["margin"]
    print_table({title: [row[key] for row in rows] for key, title in titles.items()})
    say(
        "N: tokens a step; cost: verifying and drafting over a plain step; margin: over the next "
        "best length; break-even: the acceptance at which γ* (or one token, where γ* is 0) pays"
    )


def _rows(
    planned: Plan, B: Any, S: Any, longest: int
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    best = planned.best(B=B, S=S, gamma_max=longest)
    tried = np.maximum(best.gamma, 1) if longest else None
    columns = {
        "B": B,
        "S": S,
        "gamma": best.gamma,
        "speedup": best.speedup,
        "tokens": best.tokens,
        "step_ratio": best.step_ratio,
        "margin": best.margin,
        "next_gamma": best.next_gamma,
        "hurdle": planned.hurdle(B=B, S=S) if longest else np.full(B.shape, np.inf),
        "break_even": (
            np.full(B.shape, np.inf)
            if tried is None
            else planned.break_even_alpha(gamma=tried, B=B, S=S)
        ),
        "tpot": planned.latency(gamma=best.gamma, B=B, S=S),
        "tokens_per_second": planned.throughput(gamma=best.gamma, B=B, S=S),
        "regime": best.regime,
        "reason": best.reason,
    }
    lists = {key: np.broadcast_to(values, B.shape).tolist() for key, values in columns.items()}
    rows = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    return rows, best.warnings
