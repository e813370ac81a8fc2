"""Simulate: a decode engine, round by round, under a policy that chooses the draft length.

:func:`run` plays a :class:`Workload` once, :func:`sweep` plays policies and seeds beside each
other.  Steps are priced by the plan's cost model; what is drawn at random is when requests come,
how long they are and how far their drafts get.
"""

from __future__ import annotations

from specdec_lib.simulate.lengths import Between, Constant, Lengths, Lognormal, Replayed
from specdec_lib.simulate.load import Closed, Open
from specdec_lib.simulate.population import Population
from specdec_lib.simulate.report import Report
from specdec_lib.simulate.running import by_policy, run, sweep
from specdec_lib.simulate.workload import Workload

__all__ = [
    "Between",
    "Closed",
    "Constant",
    "Lengths",
    "Lognormal",
    "Open",
    "Population",
    "Replayed",
    "Report",
    "Workload",
    "by_policy",
    "run",
    "sweep",
]
