"""``specdec acceptance``: what an engine's metrics, log or responses say of its drafts."""

from __future__ import annotations

import contextlib
from typing import Any

import click

from specdec_lib.cli.output import json_flag, print_json, read_text
from specdec_lib.counts import AcceptanceCounts, NotCounted, Posterior, read_acceptance

#: Options that go to a reader as they are, where they are given.
_READER = (
    "length",
    "num_draft_tokens",
    "num_steps",
    "rate_has_root",
    "mean_has_bonus",
    "lossy",
)


@click.command()
@click.argument("path", metavar="FILE|-")
@click.option("--since", type=click.Path(), help="An earlier scrape of the same counters.")
@click.option("--length", type=click.IntRange(1), help="Drafted tokens, if the same in each step.")
@click.option("--num-draft-tokens", type=click.IntRange(2), help="SGLang's flag of this name.")
@click.option("--num-steps", type=click.IntRange(1), help="SGLang's speculative steps.")
@click.option(
    "--rate-has-root/--rate-without-root",
    default=None,
    help="SGLang: whether its accept rate counts the bonus token (before April 2026 it did).",
)
@click.option(
    "--mean-has-bonus/--mean-without-bonus",
    default=None,
    help="vLLM's log: whether its mean length has the bonus token (since May 2025 it has).",
)
@click.option("--lossy", is_flag=True, default=None, help="Accepted by a relaxed rule.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability of the intervals.",
)
@json_flag
def acceptance(path: str, since: str | None, level: float, as_json: bool, **options: Any) -> None:
    """Acceptance as the engine counted it: tokens a step, by position, with intervals.

    Reads the Prometheus text, log lines and JSON of vLLM, SGLang and TensorRT-LLM, the lines of
    llama.cpp, and plain counts such as "steps 23, drafted 161, accepted 44, length 7"; says which
    it found.

    \b
    Examples:
      specdec acceptance metrics.txt --since metrics-before.txt
      specdec acceptance server.log --num-draft-tokens 4
      echo "steps 23, drafted 161, accepted 44" | specdec acceptance -
    """
    given = {name: options[name] for name in _READER if options[name] is not None}
    if since is not None:
        given["since"] = read_text(since)
    try:
        counts = read_acceptance(read_text(path), **given)
    except TypeError as error:  # the format does not know an option
        raise click.UsageError(str(error)) from error
    if as_json:
        print_json(_record(counts, level))
        return
    click.echo(repr(counts))
    for line in _intervals(counts, level):
        click.echo(line)


def _intervals(counts: AcceptanceCounts, level: float) -> list[str]:
    try:
        posterior = Posterior(counts)
    except NotCounted as missing:
        return [f"no intervals: {missing}"]
    lines = [f"with probability {level:g}:", f"  tokens per step  {posterior.tokens(level=level)}"]
    for i, found in enumerate(posterior.conditional(level), start=1):
        lines.append(f"  position {i:<7}  {found} of those whose earlier tokens were accepted")
    return lines


def _record(counts: AcceptanceCounts, level: float) -> dict[str, Any]:
    record: dict[str, Any] = {"engine": counts.engine, "found": counts.found}
    for name in ("steps", "drafted", "accepted", "length", "emitted", "requests"):
        record[name] = getattr(counts, name)
    for name in ("tokens", "rate", "survival", "conditional", "histogram"):
        record[name] = None
        with contextlib.suppress(NotCounted):
            record[name] = getattr(counts, name)
    record |= {"tree": counts.tree, "lossy": counts.lossy}
    record |= {"notes": counts.notes, "warnings": counts.warnings, "intervals": None}
    with contextlib.suppress(NotCounted):
        posterior = Posterior(counts)
        record["intervals"] = {
            "level": level,
            "tokens": vars(posterior.tokens(level=level)),
            "conditional": [vars(found) for found in posterior.conditional(level)],
            "survival": [vars(found) for found in posterior.survival(level)],
        }
    return record
