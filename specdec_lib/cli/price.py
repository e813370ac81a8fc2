"""``specdec price``: what a step costs, and what of it each component."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from specdec_lib.cli.numbers import WholeNumbers, grid
from specdec_lib.cli.output import json_flag, print_json, print_table, say
from specdec_lib.cli.setting import setting_options, step_cost
from specdec_lib.cost import StepCost


@click.command()
@setting_options
@click.option(
    "--batch",
    type=WholeNumbers(),
    default="1",
    show_default=True,
    help="Sequences in a step: 8, 1,2,4 or 1-16.",
)
@click.option(
    "--width",
    type=WholeNumbers(),
    default="1",
    show_default=True,
    help="Tokens of each sequence in a step: 1 to decode, draft length + 1 to verify.",
)
@click.option(
    "--context",
    type=WholeNumbers(),
    default="4096",
    show_default=True,
    help="Context tokens of each sequence.",
)
@json_flag
def price(
    batch: list[int], width: list[int], context: list[int], as_json: bool, **options: Any
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
    if as_json:
        print_json(_record(cost, at, memory.warning))
    elif len(points) == 1:
        _print_components(cost, {key: float(values[0]) for key, values in at.items()})
    else:
        step, plain = cost(**at), cost(**{**at, "T": 1})
        columns = {"B": at["B"].astype(int), "S": at["S"].astype(int), "T": at["T"].astype(int)}
        print_table(
            {name: values.tolist() for name, values in columns.items()}
            | {"step (ms)": (step * 1e3).tolist(), "× plain": (step / plain).tolist()}
            | {"r": cost.marginal_prices(**at)["step"].tolist()}
        )


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


def _record(cost: StepCost, at: dict[str, Any], warning: str | None) -> dict[str, Any]:
    parts = cost.breakdown(**at)
    step, plain = cost(**at), cost(**{**at, "T": 1})
    prices = cost.marginal_prices(**at)["step"]
    fields = ("flops", "bytes", "seconds", "bound")
    rows = [
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
    return {
        "model": cost.model.name,
        "gpu": cost.gpu.name,
        "deployment": cost.deployment.name,
        "assumptions": cost.assumptions,
        "warnings": [warning] if warning else [],
        "points": rows,
    }
