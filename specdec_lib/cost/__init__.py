"""Cost: architecture × accelerator × deployment → C(B, T, S), symbolic and numeric."""

from __future__ import annotations

from specdec_lib.cost.breakdown import Breakdown, Share
from specdec_lib.cost.memory import Memory
from specdec_lib.cost.part import Part
from specdec_lib.cost.step import StepCost

__all__ = ["Breakdown", "Memory", "Part", "Share", "StepCost"]
