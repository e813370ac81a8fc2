"""Speculating: the options that say what drafts and how much of it is accepted, and their Plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from specdec_lib.acceptance import AcceptanceCurve, Geometric, PerPosition
from specdec_lib.cli.output import read_text, say
from specdec_lib.cli.setting import setting_options, step_cost
from specdec_lib.counts import acceptance_curve, read_acceptance
from specdec_lib.drafters import named
from specdec_lib.plan import Plan


class Rates(click.ParamType[list[float]]):
    """Acceptances by position, as a log prints them: ``0.78,0.58,0.44``."""

    name = "rates"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[float]:
        """The rates that a text means."""
        if isinstance(value, list):
            return value
        try:
            return [float(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is no list of rates such as 0.78,0.58,0.44", param)


_OPTIONS = (
    click.option(
        "--drafter",
        metavar="fraction:C|mtp|NAME",
        help="What drafts: a fraction of a plain step for each token, the target's own module, or "
        "a drafter of the catalogue (specdec drafters).  [fraction:0.10]",
    ),
    click.option(
        "--alpha",
        type=float,
        help="Acceptance rate of a drafted token, given that all before it were accepted.",
    ),
    click.option(
        "--conditional",
        type=Rates(),
        metavar="RATES",
        help="The same by position, where it changes with depth: 0.78,0.75,0.76.",
    ),
    click.option(
        "--survival",
        type=Rates(),
        metavar="RATES",
        help="Chance that all positions up to each are accepted, as engines log it by position.",
    ),
    click.option(
        "--acceptance",
        "counted",
        type=click.Path(),
        metavar="FILE|-",
        help="An engine's metrics or log, read as by specdec acceptance.",
    ),
    click.option(
        "--gamma-max",
        type=click.IntRange(0, 1024),
        help="The longest draft to consider.  [16]",
    ),
)


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a setting and those of speculation."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return setting_options(command)


def acceptance(options: Mapping[str, Any]) -> AcceptanceCurve:
    """The acceptance that the options state; there is no default for it."""
    flags = {name: name for name in ("alpha", "conditional", "survival")}
    flags["counted"] = "acceptance"
    stated = [flag for name, flag in flags.items() if options[name] is not None]
    if len(stated) != 1:
        found = " and ".join(f"--{flag}" for flag in stated) or "none of them"
        raise click.UsageError(
            "state one of --alpha, --conditional, --survival and --acceptance (found "
            f"{found}). Acceptance is measured, never assumed; `specdec acceptance` shows what an "
            "engine's output holds"
        )
    if options["counted"] is not None:
        counts = read_acceptance(read_text(options["counted"]))
        for warning in counts.warnings:
            say(f"warning: {warning}")
        curve, stands_on = acceptance_curve(counts)
        say(f"acceptance: {stands_on} ({counts.engine}, {counts.found})")
        return curve
    if options["alpha"] is not None:
        return Geometric(options["alpha"])
    if options["conditional"] is not None:
        return PerPosition.conditional(options["conditional"])
    return PerPosition.survivals(options["survival"])


def plan_of(options: Mapping[str, Any], **how: bool) -> tuple[Plan, int]:
    """The plan that the options mean, and the longest draft to consider; names the defaults.

    ``how`` goes to :func:`specdec_lib.cli.setting.step_cost`.
    """
    curve = acceptance(options)
    cost = step_cost(options, **how)
    drafter, longest = options["drafter"], options["gamma_max"]
    fallen = [
        text
        for value, text in ((drafter, "--drafter fraction:0.10"), (longest, "--gamma-max 16"))
        if value is None
    ]
    if fallen:
        say(f"defaults in force: {' '.join(fallen)}")
    plan = Plan(cost, named(drafter or "fraction:0.10", cost.model), curve)
    for assumption in plan.draft.assumptions:
        say(f"assumed: {assumption}")
    return plan, 16 if longest is None else longest
