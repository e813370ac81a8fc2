"""Plan: what speculation is worth with a target, a drafter and an acceptance."""

from __future__ import annotations

from specdec_lib.plan.best import Best
from specdec_lib.plan.plan import Plan
from specdec_lib.plan.round import Round

__all__ = ["Best", "Plan", "Round"]
