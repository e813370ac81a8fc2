"""The defaults of a typical deployment, read from ``data/deployments.toml`` with their sources."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specdec_lib.architecture.components import KEYS
from specdec_lib.catalog import PEAKS, Gpu
from specdec_lib.catalog import gpu as find_gpu
from specdec_lib.records.provenance import DataError, Provenance
from specdec_lib.records.toml import Bounds, Datum, Record, load_toml

FILE = "deployments.toml"

#: The entry that stands for every accelerator, kind of layer or precision without one of its own.
DEFAULT = "default"

#: Resources of which a device reaches a fraction.
RESOURCES: tuple[str, ...] = ("memory", "compute")

#: By what an efficiency may be given, the first that matches ruling: a component, a precision.
EFFICIENCY_KEYS: tuple[str, ...] = (*KEYS, *PEAKS, "int8", DEFAULT)

_FIXED: Mapping[str, Callable[[str], Bounds | None]] = {
    "times": dict.fromkeys(("step", "pass", "collective", "token"), Bounds("s", 0, 0.1)).get,
    "rounds": lambda _: Bounds("s", 0, 0.1),
    "layers": lambda _: Bounds("s", 0, 1e-3),
    "numbers": {
        "tile": Bounds("1", 1, 1024),
        "eager": Bounds("1", 1, 100),
        "memory_share": Bounds("1", 0.1, 1),
    }.get,
}


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
    tables = load_toml(FILE)
    citations = tables.get("citations", {})
    fixed = Record(f"{FILE}, fixed", tables["fixed"], citations)
    groups = {name: fixed.data(name, bounds) for name, bounds in _FIXED.items()}
    fixed.finish()
    efficiencies: dict[str, dict[str, dict[str, Datum]]] = {}
    bounds = dict.fromkeys(EFFICIENCY_KEYS, Bounds("1", 0.01, 1))
    for table in tables["efficiency"]:
        record = Record(f"{FILE}, efficiency of {table.get('gpu')}", table, citations)
        name = record.take("gpu", str)
        known = name if name == DEFAULT else find_gpu(name).name
        if known in efficiencies:
            raise DataError(record.where, "is there twice")
        efficiencies[known] = {
            resource: record.data(resource, bounds.get) for resource in RESOURCES
        }
        record.finish()
    if DEFAULT not in efficiencies or DEFAULT not in groups["layers"]:
        raise DataError(FILE, f"has no {DEFAULT!r} efficiency or layer for what is not listed")
    return Defaults(**groups, efficiencies=efficiencies)
