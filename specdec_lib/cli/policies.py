"""Policies on a command line: ``fixed:3``, ``threshold:4``, ``two-stage:0.05,0.95,0.3``."""

from __future__ import annotations

from collections.abc import Callable

import click

from specdec_lib.control import (
    FirstStage,
    Fixed,
    Oracle,
    Policy,
    Priced,
    Scheduled,
    Threshold,
    TwoStage,
)
from specdec_lib.plan import Plan


def policy_of(text: str, plan: Plan, batch: int, context: int, gamma_max: int) -> Policy:
    """The policy that a word means; a schedule is the plan's own, up to a batch and a context.

    Raises click.BadParameter for a word that means none.
    """
    name, _, given = text.partition(":")
    longest = plan.longest(gamma_max)[0]
    alone: dict[str, Callable[[], Policy]] = {
        "off": lambda: Fixed(0),
        "schedule": lambda: Scheduled(
            plan.schedule(batch_max=batch, context=context, gamma_max=longest)
        ),
        "priced": lambda: Priced(longest),
        "oracle": Oracle,
    }
    if name in alone and not given:
        return alone[name]()
    if name in ("fixed", "threshold") and given.isascii() and given.isdigit() and len(given) < 6:
        length = int(given)
        return Fixed(length) if name == "fixed" else Threshold(length)
    if name == "two-stage":
        try:
            cost, good, bad = (float(part) for part in given.split(","))
        except ValueError:
            pass
        else:
            return TwoStage(FirstStage(cost, good, bad), longest)
    raise click.BadParameter(
        f"{text!r} is no policy: off, fixed:3, threshold:3, schedule, priced, "
        "two-stage:0.05,0.95,0.3 (cost, pass rates of good and bad tokens) or oracle",
        param_hint="--policy",
    )
