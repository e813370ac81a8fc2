"""``specdec calibrate``: a deployment file from step times of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from specdec_lib.calibrate import PARAMETERS, Calibration, fit, read_measurements
from specdec_lib.cli.output import json_flag, print_json, print_table, read_text, say
from specdec_lib.cli.setting import served, setting_options
from specdec_lib.deployment import deployment_text
from specdec_lib.drafters import named


@click.command()
@click.argument("path", metavar="FILE|-")
@setting_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The deployment file to write; every other command takes it with --deployment.",
)
@click.option(
    "--drafter",
    metavar="mtp|NAME|fraction:C",
    help="What drafted, for rows with speculation (specdec drafters).",
)
@click.option("--gamma", type=click.IntRange(1), help="Draft length of a benchmark's JSON.")
@click.option(
    "--throughput",
    type=click.Choice(["decode", "whole"]),
    help="Of what tokens_per_second is: decoding alone, or a whole run with prefill.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How far a row may be off, as a fraction.  [0.05]",
)
@click.option(
    "--fit",
    "names",
    multiple=True,
    type=click.Choice(list(PARAMETERS)),
    help="Fit this alone; may be given several times.  [all that the rows say something of]",
)
@json_flag
def calibrate(
    path: str,
    output: str | None,
    drafter: str | None,
    gamma: int | None,
    throughput: str | None,
    noise: float | None,
    names: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a deployment to step times that you measured: one, two or many.

    FILE is a CSV table with the columns B, T, S and ms (also gamma, N, tpot_ms, round_ms, speedup,
    ratio, decode_tokens_per_second), or the JSON of `vllm bench serve`, sglang.bench_serving or
    sglang.bench_one_batch. The fit starts from --deployment, and what no row says anything of
    stays as it is there.

    \b
    Examples:
      specdec calibrate steps.csv --model llama-3.1-8b --gpu h100-sxm -o mine.toml
      specdec plan --model llama-3.1-8b --gpu h100-sxm --alpha 0.7 --deployment mine.toml
      specdec calibrate bench.json --model deepseek-v3 --gpu h200 --tp 8 --drafter mtp
    """
    model, gpu, base, _ = served(options)
    name = "standard input" if path == "-" else Path(path).name
    rows = read_measurements(read_text(path), name=name, throughput=throughput, gamma=gamma)
    found = fit(
        rows,
        model,
        gpu,
        base,
        drafter=None if drafter is None else named(drafter, model),
        noise=noise,
        parameters=names or None,
    )
    for note in found.notes:
        say(f"note: {note}")
    if output is not None:
        Path(output).write_text(deployment_text(found.deployment), encoding="utf-8")
        say(f"wrote {output}: give it to any command with --deployment {output}")
    if as_json:
        print_json(_record(found))
    else:
        _print(found)


def _print(found: Calibration) -> None:
    """What was determined, then every row beside what the fitted deployment says of it."""
    shown = list(found.values())
    print_table(
        {
            "parameter": [each.name for each in shown],
            "unit": [each.unit for each in shown],
            "before": [each.base for each in shown],
            "fitted": [each.value for each in shown],
            "80 % from": [each.low for each in shown],
            "to": [each.high for each in shown],
            "learned %": [round(100 * each.learned) for each in shown],
            "": [_word(each.learned, each.determined) for each in shown],
        }
    )
    click.echo()
    print_table(
        {
            "row": [str(row.measurement) for row in found.rows],
            "measured": [row.measurement.value for row in found.rows],
            "fitted": [row.predicted for row in found.rows],
            "off %": [100 * (row.predicted / row.measurement.value - 1) for row in found.rows],
        }
    )


def _word(learned: float, determined: bool) -> str:
    if determined:
        return "determined"
    return "narrowed" if learned >= 0.1 else "as before"


def _record(found: Calibration) -> dict[str, Any]:
    fields = ("unit", "base", "value", "low", "high", "learned", "determined", "rows")
    return {
        "deployment": found.deployment.name,
        "parameters": {
            name: {field: getattr(each, field) for field in fields} for name, each in found.items()
        },
        "rows": [
            {
                "row": row.measurement.row,
                "kind": row.measurement.kind,
                **{key: getattr(row.measurement, key) for key in ("B", "T", "S", "gamma", "N")},
                "measured": row.measurement.value,
                "fitted": row.predicted,
                "residual": row.residual,
            }
            for row in found.rows
        ],
        "spread": found.spread,
        "notes": found.notes,
    }
