"""What trials measure: named functions of names and numbers that a data file can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from specdec_lib.ledger.measures import attention, drafting, experts, speedups, steps

#: Every measure by its name: the public functions of this package's modules.
MEASURES: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        name: getattr(module, name)
        for module in (experts, attention, steps, drafting, speedups)
        for name in module.__all__
    }
)
