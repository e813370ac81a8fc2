"""What is said of measurements that no fit can use."""

from __future__ import annotations

from collections.abc import Sequence


class CalibrationError(ValueError):
    """Measurements are not what they are said to be, or do not tell what was asked of them.

    ``problems`` has one text for each, naming the row.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))
