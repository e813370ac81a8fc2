"""Control: policies that choose the draft length of every round while an engine serves.

:class:`Fixed` and :class:`Scheduled` look at batch and context alone, :class:`Threshold` at the
acceptance of a window, :class:`Priced` and :class:`TwoStage` at acceptance and price, and the
:class:`Oracle` knows what no engine can.  Each is asked by ``choose(state)`` and hears by
``told(state, outcome)``; :mod:`specdec_lib.simulate` plays them.
"""

from __future__ import annotations

from specdec_lib.control.fixed import Fixed, Oracle, Scheduled
from specdec_lib.control.policy import Outcome, Policy, State
from specdec_lib.control.priced import Priced
from specdec_lib.control.prices import Prices
from specdec_lib.control.stage import FirstStage, total_lengths
from specdec_lib.control.threshold import Threshold
from specdec_lib.control.two_stage import TwoStage, expected_seconds

__all__ = [
    "FirstStage",
    "Fixed",
    "Oracle",
    "Outcome",
    "Policy",
    "Priced",
    "Prices",
    "Scheduled",
    "State",
    "Threshold",
    "TwoStage",
    "expected_seconds",
    "total_lengths",
]
