"""``specdec price``: what a step costs, and what of it each component."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from specdec_lib.cli.numbers import grid
from specdec_lib.cli.output import json_flag, print_json, print_table, say
from specdec_lib.cli.points import batches, contexts, widths
from specdec_lib.cli.progress import quiet_flag, sweep
from specdec_lib.cli.setting import setting_options, step_cost
from specdec_lib.cost import StepCost
from specdec_lib.cost.memory import Memory


@click.command()
@setting_options
@batches("1")
@widths
@contexts()
@quiet_flag
@json_flag
def price(
    batch: list[int],
    width: list[int],
    context: list[int],
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """What a decode or verify step costs.

    One point gives its components; several give a table, with the ratio to a plain step of the same
    batch and context.

    \b
    Examples:
      specdec price --model deepseek-v4-flash --gpu b200 --batch 8 --width 4
      specdec price --model llama-3.1-70b --gpu h100-sxm --tp 4 --batch 1,8,64 --width 1-4
      specdec price --model ./config.json --gpu h200 --deployment ideal --json
    """
    cost = step_cost(options)
    points = np.array(grid(batch, context, width), dtype=float)
    at = {"B": points[:, 0], "S": points[:, 1], "T": points[:, 2]}
    memory = cost.memory(B=at["B"], S=at["S"])
    if memory.warning:
        say(f"warning: {memory.warning}")
    parts = (
        {name: values[part] for name, values in at.items()}
        for part in sweep(len(points), "pricing", quiet=quiet)
    )
    if as_json:
        print_json(_record(cost, [row for here in parts for row in _rows(cost, here)], memory))
    elif len(points) == 1:
        _print_components(cost, {key: float(values[0]) for key, values in at.items()})
    else:
        columns: dict[str, list[Any]] = {}
        for here in parts:
            step, plain = cost(**here), cost(**{**here, "T": 1})
            found = {name: values.astype(int) for name, values in here.items()}
            found |= {"step (ms)": step * 1e3, "× plain": step / plain}
            found |= {"r": cost.marginal_prices(**here)["step"]}
            for name, values in found.items():
                columns.setdefault(name, []).extend(values.tolist())
        print_table(columns)


def _print_components(cost: StepCost, at: dict[str, float]) -> None:
    parts = cost.breakdown(**at)
    shares = {key: share for key, share in parts.items() if share.seconds}
    print_table(
        {
            "component": [*shares, "step"],
            "GFLOP": [*(share.flops / 1e9 for share in shares.values()), None],
            "MB": [*(share.bytes / 1e6 for share in shares.values()), None],
            "µs": [*(share.seconds * 1e6 for share in shares.values()), parts.seconds * 1e6],
            "%": [*(100 * share.seconds / parts.seconds for share in shares.values()), 100.0],
            "waits for": [*(share.bound for share in shares.values()), ""],
        }
    )


def _rows(cost: StepCost, at: dict[str, Any]) -> list[dict[str, Any]]:
    parts = cost.breakdown(**at)
    step, plain = cost(**at), cost(**{**at, "T": 1})
    prices = cost.marginal_prices(**at)["step"]
    fields = ("flops", "bytes", "seconds", "bound")
    return [
        {
            **{key: int(values[i]) for key, values in at.items()},
            "seconds": step[i],
            "ratio": step[i] / plain[i],
            "marginal_price": prices[i],
            "components": {
                key: {field: getattr(share, field)[i] for field in fields}
                for key, share in parts.items()
                if share.seconds[i]
            },
        }
        for i in range(len(step))
    ]


def _record(cost: StepCost, rows: list[dict[str, Any]], memory: Memory) -> dict[str, Any]:
    return {
        "model": cost.model.name,
        "gpu": cost.gpu.name,
        "deployment": cost.deployment.name,
        "assumptions": cost.assumptions,
        "warnings": [memory.warning] if memory.warning else [],
        "points": rows,
    }
