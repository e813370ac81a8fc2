"""Schedules: draft length by batch and context; how to choose it, and what engines are given."""

from __future__ import annotations

from specdec_lib.schedule import choose
from specdec_lib.schedule.cell import Cell, ScheduleError
from specdec_lib.schedule.compare import Difference, differences
from specdec_lib.schedule.config import CannotExpress, EngineConfig, Loss
from specdec_lib.schedule.table import Schedule

__all__ = [
    "CannotExpress",
    "Cell",
    "Difference",
    "EngineConfig",
    "Loss",
    "Schedule",
    "ScheduleError",
    "choose",
    "differences",
]
