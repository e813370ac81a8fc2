"""Limits: the largest number that a setting of a configuration plausibly holds.

Each is ten times or more what any model known has, so that only a slip of the pen, another unit or
a broken file goes beyond; and small enough that a model within them is read in about a second and
counted exactly.
"""

from __future__ import annotations

#: What a setting's name contains, or ends with after a "$", and the most that it holds.  The first
#: line that fits a name rules.
_MOST: tuple[tuple[tuple[str, ...], int], ...] = (
    (("kernel", "conv", "mult"), 1_000),
    (("layer", "mtp", "first_k_dense", "sparse_step", "interval"), 2_000),
    (("heads$", "groups$", "_dim$"), 10_000),
    (("experts$", "experts_per_", "expert_per_"), 100_000),
    (("vocab",), 100_000_000),
    (("window", "chunk", "topk"), 2**31),
)

#: A width, a rank or anything else.
_WIDTH = 1_000_000


def largest(name: str) -> int:
    """The most that a setting of this name plausibly holds."""
    for parts, most in _MOST:
        if any(name.endswith(p[:-1]) if p.endswith("$") else p in name for p in parts):
            return most
    return _WIDTH
