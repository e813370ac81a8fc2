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
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomli_w

from specdec_lib.catalog import Gpu
from specdec_lib.deployment.curve import VerifyCurve
from specdec_lib.deployment.deployment import FIELDS, Deployment
from specdec_lib.deployment.offload import Offload
from specdec_lib.deployment.routing import Routing
from specdec_lib.records.provenance import DataError
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

#: What a deployment is called is no part of how it serves; sources are not of a user's own file.
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
            return Deployment.ideal(**changes)
        return Deployment.typical(gpu, **options, **changes)
    except (TypeError, ValueError) as error:
        raise DataError(str(where), str(error)) from error


def write_deployment(deployment: Deployment, path: str | os.PathLike[str]) -> None:
    """Write a deployment as a file that :func:`read_deployment` reads to an equal one.

    It states every field that is not the ideal engine's.
    """
    Path(path).write_text(deployment_text(deployment), encoding="utf-8")


def deployment_text(deployment: Deployment) -> str:
    """What :func:`write_deployment` writes."""
    ideal = Deployment.ideal()
    stated = {"base": "ideal", "name": deployment.name}
    for field in _STATED:
        value = getattr(deployment, field)
        if value != getattr(ideal, field):
            stated[field] = _plain(field, value)
    return tomli_w.dumps(stated)


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
