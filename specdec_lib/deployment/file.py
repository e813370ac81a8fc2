"""Deployment files: a deployment as TOML, so that one measured is kept, shared and read again.

A file states what differs from its ``base``, the ideal engine or a typical one::

    base = "typical"              # "ideal" where it is not given
    engine = "SGLang"             # of a typical base
    name = "two H100 in our rack"
    tp = 2
    step_overhead = "1.2 ms"      # times and rates carry their unit
    memory_efficiency = { bf16 = 0.87, moe = 0.8 }
    routing = { locality = 0.74 }
    verify_curve = { 2 = 1.3, 4 = 1.9 }

    [sources.step_overhead]       # where a value comes from, for those who read the file
    source = "profile of 3 December"
    kind = "measured"
    retrieved = 2026-12-03
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import tomli_w

from specdec_lib.catalog import Gpu
from specdec_lib.deployment.curve import VerifyCurve
from specdec_lib.deployment.deployment import FIELDS, Deployment
from specdec_lib.deployment.offload import Offload
from specdec_lib.deployment.routing import Routing
from specdec_lib.records.provenance import PROVENANCE_KEYS, DataError, Provenance
from specdec_lib.records.toml import Bounds, quantity

#: Fields that carry a unit, and which.
_UNITS: Mapping[str, str] = {
    "link": "B/s",
    "collective_latency": "s",
    "step_overhead": "s",
    "layer_overhead": "s",
    "token_overhead": "s",
    "pass_overhead": "s",
    "round_overhead": "s",
}

#: Sources stand in a table of their own.
_STATED = tuple(field for field in FIELDS if field != "sources")


def read_deployment(path: str | os.PathLike[str], gpu: Gpu, **given: Any) -> Deployment:
    """Read a deployment file.

    ``gpu`` is the accelerator whose efficiencies a typical base has; ``given`` are fields that
    stand above what the file states.

    Raises DataError, naming file and field, for what is not valid, FileNotFoundError for a path
    that does not exist.
    """
    where = Path(path)
    try:
        table = tomllib.loads(where.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(str(where), f"is not TOML: {error}") from error
    base = table.pop("base", "ideal")
    if base not in ("ideal", "typical"):
        raise DataError(f"{where}, base", f"found {base!r}; it is 'ideal' or 'typical'")
    options = {}
    if "engine" in table:
        if base == "ideal":
            raise DataError(f"{where}, engine", "only a typical base has an engine")
        options["engine"] = table.pop("engine")
    sources = _read_sources(table.pop("sources", {}), f"{where}, sources")
    unknown = sorted(set(table) - set(_STATED))
    if unknown:
        known = ", ".join(_STATED)
        raise DataError(str(where), f"does not know {', '.join(unknown)}; it may state {known}")
    changes = {"name": where.stem}
    changes |= {field: _read(field, found, f"{where}, {field}") for field, found in table.items()}
    changes |= given
    if not isinstance(changes["name"], str):
        raise DataError(f"{where}, name", f"found {changes['name']!r:.60}; a text is needed")
    try:
        if base == "ideal":
            read = Deployment.ideal(**changes)
        else:
            read = Deployment.typical(gpu, **options, **changes)
    except (TypeError, ValueError) as error:
        raise DataError(str(where), str(error)) from error
    # what is given above the file has another source than the file's
    kept = {name: origin for name, origin in sources.items() if name.split(".")[0] not in given}
    return replace(read, sources={**read.sources, **kept})


def write_deployment(deployment: Deployment, path: str | os.PathLike[str]) -> None:
    """Write a deployment as a file that :func:`read_deployment` reads to an equal one.

    It states every field that is not the ideal engine's, and where values come from that have a
    source.
    """
    Path(path).write_text(deployment_text(deployment), encoding="utf-8")


def deployment_text(deployment: Deployment) -> str:
    """What :func:`write_deployment` writes."""
    ideal = Deployment.ideal()
    stated: dict[str, Any] = {"base": "ideal", "name": deployment.name}
    for field in _STATED:
        value = getattr(deployment, field)
        if value != getattr(ideal, field):
            stated[field] = _plain(field, value)
    if deployment.sources:
        stated["sources"] = {
            field: _stated_source(origin) for field, origin in deployment.sources.items()
        }
    return tomli_w.dumps(stated)


def _read_sources(found: object, where: str) -> dict[str, Provenance]:
    """The origin of values by field; each names a field, or a key of one: layer_overhead.moe."""
    if not isinstance(found, dict):
        raise DataError(where, f"found {found!r:.60}; a table is needed")
    sources = {}
    for name, table in found.items():
        if name.partition(".")[0] not in _STATED:
            raise DataError(where, f"a deployment has no {name!r} to have a source")
        if not isinstance(table, dict):
            raise DataError(f"{where}.{name}", f"found {table!r:.60}; a table is needed")
        unknown = set(table) - set(PROVENANCE_KEYS)
        if unknown:
            raise DataError(f"{where}.{name}", f"does not know {', '.join(sorted(unknown))}")
        sources[name] = Provenance.read(table, f"{where}.{name}")
    return sources


def _stated_source(origin: Provenance) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "source": _verbatim(origin.source),
        "kind": origin.kind,
        "retrieved": origin.retrieved,
    }
    if origin.confidence is not None:
        stated["confidence"] = origin.confidence
    if origin.notes:
        stated["notes"] = [_verbatim(note) for note in origin.notes]
    return stated


def _verbatim(text: str) -> str:
    """A text that names no citation: braces stand for one."""
    return text.replace("{", "{{").replace("}", "}}")


def _read(field: str, found: object, where: str) -> Any:
    make: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
        "routing": lambda table: Routing(**table),
        "offload": lambda table: Offload(**{**table, **_offload_rate(table, where)}),
        "verify_curve": lambda table: VerifyCurve({float(t): c for t, c in table.items()}),
    }
    if field in make:
        if not isinstance(found, dict):
            raise DataError(where, f"found {found!r}; a table is needed")
        try:
            return make[field](found)
        except (TypeError, ValueError) as error:
            raise DataError(where, str(error)) from error
    unit = _UNITS.get(field)
    if unit is None:
        return found
    if isinstance(found, dict):
        bounds = Bounds(unit, 0)
        return {key: quantity(value, bounds, f"{where}.{key}") for key, value in found.items()}
    return quantity(found, Bounds(unit, 0), where)


def _offload_rate(table: Mapping[str, Any], where: str) -> dict[str, float]:
    if "bandwidth" not in table:
        return {}
    return {"bandwidth": quantity(table["bandwidth"], Bounds("B/s", 0), f"{where}.bandwidth")}


def _plain(field: str, value: Any) -> Any:
    """A field's value as TOML has it."""
    if field == "verify_curve":
        return {f"{width:g}": ratio for width, ratio in value if width != 1}
    if field == "offload":
        return {**asdict(value), "bandwidth": f"{value.bandwidth!r} B/s"}
    if field == "routing":
        return asdict(value)
    unit = _UNITS.get(field)
    if isinstance(value, Mapping):
        return {key: each if unit is None else f"{each!r} {unit}" for key, each in value.items()}
    return value if unit is None else f"{value!r} {unit}"
