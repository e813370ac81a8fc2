"""The defaults of a typical deployment, read from ``data/deployments.toml`` with their sources."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specdec_lib.architecture.components import KEYS
from specdec_lib.catalog import PEAKS, Gpu
from specdec_lib.catalog import gpu as find_gpu
from specdec_lib.records.names import UnknownName
from specdec_lib.records.provenance import DataError, Provenance
from specdec_lib.records.toml import Bounds, Datum, Record, listed_tables

FILE = "deployments.toml"

#: The entry that stands for every accelerator, kind of layer or precision without one of its own.
DEFAULT = "default"

#: Resources of which a device reaches a fraction.
RESOURCES: tuple[str, ...] = ("memory", "compute")

#: By what an efficiency may be given, the first that matches ruling: a component, a precision.
EFFICIENCY_KEYS: tuple[str, ...] = (*KEYS, *PEAKS, "int8", DEFAULT)

_TIMES = dict.fromkeys(("step", "pass", "collective", "token"), Bounds("s", 0, 0.1))
_NUMBERS = {
    "tile": Bounds("1", 1, 1024),
    "eager": Bounds("1", 1, 100),
    "memory_share": Bounds("1", 0.1, 1),
}
_FIXED: Mapping[str, Callable[[str], Bounds | None]] = {
    "times": _TIMES.get,
    "rounds": lambda _: Bounds("s", 0, 0.1),
    "layers": lambda _: Bounds("s", 0, 1e-3),
    "numbers": _NUMBERS.get,
}
#: Entries that a deployment cannot do without.
_NEEDED = {"times": _TIMES.keys(), "numbers": _NUMBERS.keys()}


@dataclass(frozen=True, eq=False)
class Defaults:
    """Values with their sources, by name.

    ``times`` has step, pass, collective and token in seconds; ``rounds`` seconds by engine;
    ``layers`` seconds by kind of attention and feed-forward; ``numbers`` the tile rows, the factor
    beyond captured graphs and the share of the memory that an engine uses; ``efficiencies`` by
    accelerator the fractions of each of :data:`RESOURCES`, by component or precision.
    """

    times: Mapping[str, Datum]
    rounds: Mapping[str, Datum]
    layers: Mapping[str, Datum]
    numbers: Mapping[str, Datum]
    efficiencies: Mapping[str, Mapping[str, Mapping[str, Datum]]]

    def efficiency(self, gpu: Gpu, resource: str) -> dict[str, Datum]:
        """Fractions of a resource: an accelerator's own, and the default ones for the rest."""
        own = self.efficiencies.get(gpu.name, {}).get(resource, {})
        return {**self.efficiencies[DEFAULT][resource], **own}

    def engine(self, name: str) -> str:
        """An engine's name as it is listed, in any case; ValueError naming those there are."""
        if not isinstance(name, str):
            raise TypeError(f"engine = {name!r:.60} is no name of an engine")
        for known in self.rounds:
            if known.casefold() == name.casefold():
                return known
        raise ValueError(f"no engine {name!r}; there are {', '.join(self.rounds)}")

    def provenances(self) -> dict[str, Provenance]:
        """The origin of every value, by its place in the file."""
        groups = {"times": self.times, "rounds": self.rounds, "layers": self.layers}
        groups["numbers"] = self.numbers
        for name, resources in self.efficiencies.items():
            groups |= {f"{name}, {resource}": data for resource, data in resources.items()}
        return {
            f"{group}, {key}": datum.provenance
            for group, data in groups.items()
            for key, datum in data.items()
        }


@functools.cache
def defaults() -> Defaults:
    """The defaults of the package; DataError where a record is not valid."""
    stated, rest, citations = listed_tables(FILE, "efficiency")
    if "fixed" not in rest or len(rest) > 1:
        raise DataError(FILE, f"found {', '.join(sorted(rest)) or 'nothing'} beside efficiency; "
                        "a table [fixed] is needed, and citations may stand there")  # fmt: skip
    fixed = Record(f"{FILE}, fixed", rest["fixed"], citations)
    groups = {name: fixed.data(name, bounds) for name, bounds in _FIXED.items()}
    fixed.finish()
    efficiencies: dict[str, dict[str, dict[str, Datum]]] = {}
    bounds = dict.fromkeys(EFFICIENCY_KEYS, Bounds("1", 0.01, 1))
    for place, table in enumerate(stated, 1):
        record = Record(f"{FILE}, efficiency {place}", table, citations)
        name = record.take("gpu", str)
        known = name if name == DEFAULT else _gpu_name(name, record.where)
        if known in efficiencies:
            raise DataError(record.where, "is there twice")
        efficiencies[known] = {
            resource: record.data(resource, bounds.get) for resource in RESOURCES
        }
        record.finish()
    if DEFAULT not in efficiencies or DEFAULT not in groups["layers"]:
        raise DataError(FILE, f"has no {DEFAULT!r} efficiency or layer for what is not listed")
    for resource in RESOURCES:
        if DEFAULT not in efficiencies[DEFAULT][resource]:
            raise DataError(
                FILE, f"has no {DEFAULT!r} {resource} efficiency for what is not listed"
            )
    for name, wanted in _NEEDED.items():
        missing = sorted(wanted - set(groups[name]))
        if missing:
            raise DataError(f"{FILE}, fixed, {name}", f"{', '.join(missing)} is missing")
    return Defaults(**groups, efficiencies=efficiencies)


def _gpu_name(name: str, where: str) -> str:
    try:
        return find_gpu(name).name
    except UnknownName as error:
        raise DataError(f"{where}, gpu", str(error)) from error
