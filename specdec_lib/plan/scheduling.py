"""Scheduling: a plan asked at every batch, and its answers made into what an engine can follow."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec_lib.formula.domain import DomainError, floats
from specdec_lib.plan.search import table
from specdec_lib.schedule import Schedule, choose
from specdec_lib.schedule.cell import span

if TYPE_CHECKING:
    from specdec_lib.plan.plan import Plan

#: More batches than an engine has slots for.
MOST_BATCHES = 65_536


def make_schedule(
    plan: Plan,
    batch_max: int,
    context: int | Sequence[int],
    *,
    gamma_max: int = 16,
    shortest: int = 0,
    most: int | None = None,
    gain: float = 0.0,
    falling: bool = False,
    idle_tax: float = 0.0,
    progress: Callable[[int], object] | None = None,
) -> Schedule:
    """What :meth:`Plan.schedule` returns; its parameters are explained there."""
    if plan.acceptance.shape != ():
        raise DomainError(
            f"a schedule is for one acceptance; {plan.acceptance!r} has {plan.acceptance.shape}"
        )
    batches = np.arange(1, _count("batch_max", batch_max, MOST_BATCHES) + 1)
    _count("shortest", shortest, MOST_BATCHES, least=0)
    if most is not None:
        _count("most", most, MOST_BATCHES)
    gain, idle_tax = _share("gain", gain), _share("idle_tax", idle_tax)
    if not isinstance(falling, bool):
        raise TypeError(f"falling = {falling!r:.60} is neither True nor False")
    rows = () if np.ndim(context) == 0 else tuple(operator.index(c) for c in context)  # type: ignore[union-attr]
    at = {"B": batches, "S": context} if not rows else {"B": batches[:, None], "S": np.array(rows)}
    longest, said = plan.longest(gamma_max)
    shape = np.broadcast_shapes(np.shape(at["B"]), np.shape(at["S"]))
    found = table(plan.draft, plan.acceptance, *plan.points(**at), longest, progress).speedup
    speedups = np.broadcast_to(found, (len(found), *shape))
    allowed = choose.bounded(choose.taxed(speedups, idle_tax), shortest=shortest)
    if most is not None:
        allowed = choose.only(allowed, choose.few_lengths(allowed, most))
    lengths = choose.with_minimum_gain(allowed, gain, falling=falling)
    names = np.asarray(plan.regime(gamma=lengths, **at))
    reasons = np.char.add(names, "-bound")
    return Schedule.from_lengths(
        lengths,
        contexts=rows,
        speedups=speedups,
        reasons=reasons,
        name=_name(plan, context),
        assumptions=(*plan.step_cost("assumptions").assumptions, *plan.draft.assumptions),
        notes=(*said, *plan.warnings, *_notes(rows, most, gain, idle_tax, shortest)),
    )


def _count(what: str, value: object, most: int, *, least: int = 1) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what} = {value!r:.60} is no whole number") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise DomainError(f"{what} = {value!r}: it must lie in [{least}, {most}]")
    return number


def _share(what: str, value: object) -> float:
    number = floats(what, value)
    if number.ndim:
        raise TypeError(f"{what} = {value!r:.60} is not one number")
    return float(number)


def _name(plan: Plan, context: int | Sequence[int]) -> str:
    cost = plan.step_cost("a schedule")
    at = "" if np.ndim(context) else f", context {context}"
    return (
        f"{cost.model.name} on {cost.gpu.name}, {cost.deployment.name}, {plan.draft.name}, "
        f"{plan.acceptance!r}{at}"
    )


def _notes(
    contexts: tuple[int, ...], most: int | None, gain: float, idle_tax: float, shortest: int
) -> list[str]:
    said = []
    if contexts:
        said.append("every range of contexts is priced at its longest")
    if most is not None:
        said.append(f"at most {most} distinct lengths: each costs the engine a captured graph")
    if gain:
        said.append(f"the length changes only where that gains {100 * gain:g} % or more")
    if idle_tax:
        said.append(
            f"drafting nothing with speculation enabled is taken to cost {100 * idle_tax:g} % "
            "of a plain step"
        )
    if shortest:
        said.append(f"lengths below {shortest} were not allowed")
    return said


@dataclass(frozen=True)
class Sensitivity:
    """Schedules for the low end, the middle and the high end of what acceptance may be.

    Where they agree, the acceptance need not be known better.
    """

    low: Schedule
    middle: Schedule
    high: Schedule

    @property
    def differing(self) -> tuple[tuple[int, int, int, tuple[int, int, int]], ...]:
        """Where they do not: (first batch, last batch, context or 0, their lengths), by context
        and batch."""
        every = np.stack([s.lengths for s in (self.low, self.middle, self.high)])
        contexts = self.middle.contexts or (0,)
        every = every.reshape(3, -1, len(contexts))
        found = []
        for row, context in enumerate(contexts):
            here = every[:, :, row]
            edges = np.flatnonzero(np.any(np.diff(here, axis=1) != 0, axis=0)) + 1
            for start, end in itertools.pairwise([0, *edges.tolist(), here.shape[1]]):
                lengths = tuple(int(length) for length in here[:, start])
                if len(set(lengths)) > 1:
                    found.append((start + 1, end, context, lengths))
        return tuple(found)  # type: ignore[arg-type]

    @property
    def settled(self) -> float:
        """Share of the batches (and contexts) at which all three agree."""
        every = np.stack([s.lengths for s in (self.low, self.middle, self.high)])
        return float(np.mean(np.all(every == every[1], axis=0)))

    def __repr__(self) -> str:
        lines = [f"{'batch':>12}  {'low':>4}{'middle':>8}{'high':>6}"]
        for first, last, context, lengths in self.differing:
            low, middle, high = lengths
            at = f"  at context {context}" if context else ""
            lines.append(f"{span(first, last):>12}  {low:>4}{middle:>8}{high:>6}{at}")
        agreed = f"the three agree at {100 * self.settled:.0f} % of the batches"
        return "\n".join([*(lines if len(lines) > 1 else []), agreed])


def sensitivity(plans: tuple[Plan, Plan, Plan], *asked: Any, **options: Any) -> Sensitivity:
    """The schedules of three plans that differ in their acceptance."""
    return Sensitivity(*(make_schedule(plan, *asked, **options) for plan in plans))
