"""Catalogue: accelerators, models and drafters as records with sources, found by name.

Records are read from ``specdec_lib/data`` when they are first asked for, and checked as they are
read.  Case, spaces and punctuation of a name do not count.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from specdec_lib.architecture import DrafterCard, Headline, Model
from specdec_lib.cards import read_drafter, read_model
from specdec_lib.formulas.roofline import ridge_point
from specdec_lib.records.names import Index, UnknownName
from specdec_lib.records.provenance import KINDS, DataError, Provenance
from specdec_lib.records.references import Column, Reference, measured, published, references
from specdec_lib.records.toml import (
    Bounds,
    Datum,
    Record,
    data_files,
    listed_tables,
    load_toml,
    title,
)

__all__ = [
    "KINDS",
    "Column",
    "DataError",
    "Datum",
    "DrafterCard",
    "Gpu",
    "Headline",
    "Model",
    "Provenance",
    "Reference",
    "UnknownName",
    "drafter_card",
    "drafter_cards",
    "gpu",
    "gpus",
    "measured",
    "model",
    "models",
    "published",
    "read_drafter",
    "read_gpu",
    "read_model",
    "references",
]

#: Precisions of a peak rate, from the widest to the narrowest, and how much faster than the one
#: before it a dense rate is on any accelerator known; more looks like a sparse figure.
PEAKS: Mapping[str, float] = {"bf16": 1.0, "fp8": 2.1, "fp4": 4.1}

_BOUNDS: Mapping[str, Bounds] = {
    "bandwidth": Bounds("B/s", 1e10, 1e14),
    "memory": Bounds("B", 1e9, 1e13),
    "cache": Bounds("B", 1e6, 1e10),
    "link": Bounds("B/s", 1e9, 1e13),
    "power": Bounds("W", 10, 1e5),
}
_PEAK_BOUNDS: Mapping[str, Bounds] = dict.fromkeys((*PEAKS, "int8"), Bounds("FLOP/s", 1e12, 1e17))


@dataclass(frozen=True)
class Gpu:
    """An accelerator in SI units, for one device.

    Parameters
    ----------
    name, vendor, aliases
        What it is called.
    peak
        Dense peak rates in FLOP/s by precision ("bf16", "fp8", "fp4", "int8").
    bandwidth
        Memory bandwidth in B/s.
    memory
        Memory in bytes, as printed.
    cache
        Last cache level that all cores share, in bytes; None where there is none or none is known.
    link
        Rate of the link to other devices in B/s, in one direction; None where none is known.
    power
        Design power in W; None where it is not published.
    notes
        The traps of this record.
    data
        Every value with its own provenance, by field ("peak.fp8", "bandwidth").
    """

    name: str
    vendor: str
    aliases: tuple[str, ...]
    peak: Mapping[str, float]
    bandwidth: float
    memory: float
    cache: float | None
    link: float | None
    power: float | None
    notes: tuple[str, ...]
    provenance: Provenance
    data: Mapping[str, Datum]

    def __repr__(self) -> str:
        rates = ", ".join(f"{name} {round(rate / 1e12, 1):g}" for name, rate in self.peak.items())
        sizes = f"{self.bandwidth / 1e12:.3g} TB/s, {self.memory / 1e9:.4g} GB"
        return f"Gpu({self.name}: {rates} TFLOP/s, {sizes})"

    def rate(self, precision: str) -> float:
        """Dense peak rate in FLOP/s; ValueError, naming those it has, for another precision."""
        if precision not in self.peak:
            raise ValueError(f"{self.name} has no {precision} rate; it has {', '.join(self.peak)}")
        return self.peak[precision]

    def ridge(self, precision: str = "bf16") -> float:
        """Ridge point in FLOP/B: the intensity from which a kernel is compute-bound.

        >>> gpu("b200").ridge("bf16")
        281.25
        """
        return float(ridge_point(peak=self.rate(precision), bandwidth=self.bandwidth))


def read_gpu(where: str, table: Mapping[str, Any], citations: Mapping[str, str]) -> Gpu:
    """Read one accelerator record; DataError, naming file, record and field, if it is not valid."""
    record = Record(title(where, table), table, citations)
    peaks = record.data("peak", _PEAK_BOUNDS.get)
    _refuse_sparse(record.where, {key: datum.value for key, datum in peaks.items()})
    needed = ("bandwidth", "memory")
    data = {f"peak.{key}": datum for key, datum in peaks.items()} | {
        field: record.datum(field, bounds)
        for field, bounds in _BOUNDS.items()
        if field in needed or record.has(field)
    }
    directions = record.take("link_directions", int) if "link" in data else 1
    if directions not in (1, 2):
        raise DataError(record.where, f"link_directions: found {directions}; it is 1 or 2")
    value = {field: datum.value for field, datum in data.items()}
    found = Gpu(
        record.take("name", str),
        record.take("vendor", str),
        record.texts("aliases"),
        MappingProxyType({key: datum.value for key, datum in peaks.items()}),
        value["bandwidth"],
        value["memory"],
        value.get("cache"),
        value["link"] / directions if "link" in value else None,
        value.get("power"),
        record.provenance.notes,
        record.provenance,
        MappingProxyType(data),
    )
    record.finish()
    return found


def _refuse_sparse(where: str, peak: Mapping[str, float]) -> None:
    """Raise DataError for rates that grow from one precision to the next as only sparse ones do."""
    if "bf16" not in peak:
        raise DataError(where, "peak.bf16 is missing")
    known = [(key, most) for key, most in PEAKS.items() if key in peak]
    for (wide, _), (narrow, most) in itertools.pairwise(known):
        if not peak[wide] <= peak[narrow] <= most * peak[wide]:
            raise DataError(
                where,
                f"peak.{narrow} = {peak[narrow]:g} is {peak[narrow] / peak[wide]:.3g} times "
                f"peak.{wide}; a dense rate is 1 to {most:g} times (is it with sparsity?)",
            )


@functools.cache
def _gpu_index() -> Index[Gpu]:
    index: Index[Gpu] = Index("GPU")
    for file in data_files("gpus"):
        tables, shared, citations = listed_tables(file, "gpu")
        for table in tables:
            found = read_gpu(file, {**shared, **table}, citations)
            branded = [f"{found.vendor} {name}" for name in (found.name, *found.aliases)]
            index.add(found.name, (*found.aliases, *branded), found)
    return index


@functools.cache
def _model_index() -> Index[Model]:
    index: Index[Model] = Index("model")
    for file in data_files("models"):
        found = read_model(file, load_toml(file))
        short = found.repository.rpartition("/")[2]
        index.add(found.name, (*found.aliases, found.repository, short), found)
    return index


@functools.cache
def _drafter_index() -> Index[DrafterCard]:
    index: Index[DrafterCard] = Index("drafter")
    for file in data_files("drafters"):
        tables, shared, citations = listed_tables(file, "drafter")
        for table in tables:
            found = read_drafter(file, {**shared, **table}, citations, model)
            index.add(found.name, found.aliases, found)
    return index


def gpu(name: str) -> Gpu:
    """The accelerator of this name or alias; UnknownName, listing near ones, if there is none.

    >>> gpu("h100-sxm").bandwidth
    3350000000000.0
    """
    return _gpu_index().find(name)


def gpus() -> tuple[Gpu, ...]:
    """Every accelerator of the catalogue."""
    return _gpu_index().records()


def model(name: str) -> Model:
    """The model of this name or alias; UnknownName, listing near ones, if there is none.

    >>> model("deepseek-v4-flash").total_parameters
    284332230231
    """
    return _model_index().find(name)


def models() -> tuple[Model, ...]:
    """Every model of the catalogue."""
    return _model_index().records()


def drafter_card(name: str) -> DrafterCard:
    """The drafter of this name or alias; UnknownName, listing near ones, if there is none.

    >>> drafter_card("deepseek-v4-flash-mtp").own_parameters
    6610044539
    """
    return _drafter_index().find(name)


def drafter_cards() -> tuple[DrafterCard, ...]:
    """Every drafter of the catalogue."""
    return _drafter_index().records()
