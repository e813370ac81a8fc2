"""Population: how well the drafts of different requests are accepted, and how that changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from specdec_lib.acceptance import AcceptanceCurve, Mixture
from specdec_lib.acceptance.curve import Floats


class Phase(NamedTuple):
    """From a time on: the curve of each kind of request, and the share of requests of each."""

    start: float
    curves: tuple[AcceptanceCurve, ...]
    shares: tuple[float, ...]


class Population:
    """Kinds of requests, each with an acceptance curve; a request stays of its kind.

    Shares are of the requests.  (Those of a :class:`~specdec_lib.acceptance.Mixture` are of the
    verify steps, of which hard requests take more.)  Curves that were measured request by request
    are replayed by giving them all.

    Parameters
    ----------
    curves
        The curve of each kind.
    shares
        The share of the requests that each has; equal ones by default.

    Raises TypeError for what is no curve of plain numbers, ValueError for shares that do not fit.

    Examples
    --------
    >>> from specdec_lib.acceptance import Geometric
    >>> failing = Population([Geometric(0.8)]).then(60, [Geometric(0.1)])
    >>> [phase.start for phase in failing.then(120, [Geometric(0.8)]).phases]
    [0.0, 60.0, 120.0]
    """

    def __init__(
        self, curves: Sequence[AcceptanceCurve], shares: Sequence[float] | None = None
    ) -> None:
        self.phases: tuple[Phase, ...] = (_phase(0.0, curves, shares),)

    def __repr__(self) -> str:
        kinds = max(len(phase.curves) for phase in self.phases)
        return f"Population({kinds} kinds, {len(self.phases)} phases)"

    def then(
        self, start: float, curves: Sequence[AcceptanceCurve], shares: Sequence[float] | None = None
    ) -> Population:
        """The population that changes at ``start`` seconds: a drafter that fails, another task.

        Raises ValueError for a time that is not after the last change.
        """
        if not self.phases[-1].start < start < math.inf:
            raise ValueError(
                f"a change at {start:g} s must come after that at {self.phases[-1].start:g} s"
            )
        made = Population.__new__(Population)
        made.phases = (*self.phases, _phase(float(start), curves, shares))
        return made

    def drifting(
        self, start: float, end: float, curve: AcceptanceCurve, steps: int = 20
    ) -> Population:
        """The population whose survival goes from what it is to that of ``curve`` between two
        times, in a straight line of so many steps.

        Raises ValueError for times or steps that are no drift, or several kinds of requests.
        """
        before = self.phases[-1].curves
        if len(before) > 1:
            raise ValueError("a drift is of one kind of requests; use then() for several")
        if not start < end or steps < 1:
            raise ValueError(f"a drift from {start:g} to {end:g} s in {steps} steps is none")
        drifted = self
        for i in range(1, steps + 1):
            share = i / steps
            mixed = curve if i == steps else Mixture([before[0], curve], [1 - share, share])
            drifted = drifted.then(start + (end - start) * (i - 1) / steps, [mixed])
        return drifted

    @property
    def longest(self) -> float:
        """The longest draft that all curves know."""
        return min(curve.longest for phase in self.phases for curve in phase.curves)

    def tables(self, contexts: Sequence[float], positions: int) -> list[Floats]:
        """Survival of each phase: [kind, context, position], one context where none plays a part.

        Positions count from 1, the first.
        """
        found = []
        wanted = np.arange(1, positions + 1)
        for phase in self.phases:
            needs = any(curve.needs_context for curve in phase.curves)
            S = np.asarray(contexts)[:, None] if needs else np.ones((1, 1))
            rows = [
                np.broadcast_to(curve.survival(wanted, S), (len(S), positions))
                for curve in phase.curves
            ]
            found.append(np.stack(rows))
        return found


def _phase(
    start: float, curves: Sequence[AcceptanceCurve], shares: Sequence[float] | None
) -> Phase:
    kinds = tuple(curves)
    if not kinds:
        raise ValueError("a population needs at least one kind of requests")
    for curve in kinds:
        if not isinstance(curve, AcceptanceCurve):
            raise TypeError(f"a population is of acceptance curves, not {curve!r:.60}")
        if curve.shape != ():
            raise TypeError(f"a kind of request has one curve, not {curve!r} of {curve.shape}")
    parts = (
        tuple(float(s) for s in shares) if shares is not None else (1 / len(kinds),) * len(kinds)
    )
    if len(parts) != len(kinds):
        raise ValueError(f"{len(kinds)} curves and {len(parts)} shares; one each")
    if not all(0 <= part <= 1 for part in parts) or abs(sum(parts) - 1) > 1e-9:
        raise ValueError(f"shares {list(parts)} are no parts of one whole")
    return Phase(start, kinds, parts)
