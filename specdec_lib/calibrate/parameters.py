"""Parameters: what of a deployment a fit may move, from where, how far, and back into a deployment.

Each is the logarithm of a factor on what the base deployment states, 0 at the base.  Before any
measurement it has a normal law around 0 whose width ``data/calibration.toml`` states.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from specdec_lib.deployment import Deployment
from specdec_lib.records.toml import Bounds, Datum, Record, load_toml

FILE = "calibration.toml"

#: What may be fitted, and which field of a deployment each moves.
PARAMETERS: Mapping[str, str] = {
    "fixed_time": "step_overhead and layer_overhead",
    "token_overhead": "token_overhead",
    "memory_efficiency": "memory_efficiency, of all but routed experts",
    "expert_efficiency": "memory_efficiency, of routed experts",
    "compute_efficiency": "compute_efficiency",
    "locality": "routing, its locality",
    "pass_overhead": "pass_overhead",
    "round_overhead": "round_overhead",
}

#: The least factor that a fit considers: a part of 1 000 for a time, of 20 for an efficiency.
_LEAST_TIME, _LEAST_SHARE = 1e-3, 0.05

_MOST_TIME = 1e3

_EXPERTS, _DEFAULT = "moe", "default"


@functools.cache
def widths() -> Mapping[str, Datum]:
    """The width of each parameter before any measurement, with its source."""
    tables = load_toml(FILE)
    record = Record(f"{FILE}, widths", tables["widths"])
    found = record.data("log", lambda name: Bounds("1", 0.01, 3) if name in PARAMETERS else None)
    record.finish()
    return found


@functools.cache
def usual_noise() -> Datum:
    """The standard deviation of the logarithm of a measured time, where none is stated."""
    record = Record(f"{FILE}, noise", load_toml(FILE)["noise"])
    found = record.datum("log", Bounds("1", 1e-3, 1))
    record.finish()
    return found


@dataclass(frozen=True)
class Factors:
    """A point of the fit: factors on a base deployment's values, and its locality as such."""

    fixed_time: float = 1.0
    token_overhead: float = 1.0
    memory_efficiency: float = 1.0
    expert_efficiency: float = 1.0
    compute_efficiency: float = 1.0
    locality: float = 1.0
    pass_overhead: float = 1.0
    round_overhead: float = 1.0


class Space:
    """The parameters that a fit moves, on a base deployment.

    ``names`` are those of :data:`PARAMETERS` that are moved, in order.  Experts without an
    efficiency of their own move with the rest of the memory.
    """

    def __init__(self, base: Deployment, names: tuple[str, ...]) -> None:
        self.base = base
        self.names = names
        self.width = np.array([widths()[name].value for name in names])
        limits = [self._limits(name) for name in names]
        self.low = np.log([low for low, _ in limits])
        self.high = np.log([high for _, high in limits])

    def _limits(self, name: str) -> tuple[float, float]:
        if name == "locality":
            return 1e-2, 1 / self.base.routing.locality
        if name.endswith("efficiency"):
            resource = "compute" if name == "compute_efficiency" else "memory"
            shares = efficiencies(self.base, resource)
            if name == "expert_efficiency":
                shares = {_EXPERTS: shares[_EXPERTS]}
            else:
                shares = {key: share for key, share in shares.items() if key != _EXPERTS}
            return _LEAST_SHARE, 1 / max(shares.values())
        return _LEAST_TIME, _MOST_TIME

    def factors(self, theta: np.ndarray) -> Factors:
        """The factors at a point."""
        found = dict(zip(self.names, np.exp(theta).tolist(), strict=True))
        if _EXPERTS not in self.base.memory_efficiency and "memory_efficiency" in found:
            found["expert_efficiency"] = found["memory_efficiency"]
        found["locality"] = self.base.routing.locality * found.get("locality", 1.0)
        return Factors(**found)

    def deployment(self, factors: Factors) -> Deployment:
        """The base with the values at a point; what is not moved is as it was."""
        moved: dict[str, object] = {}
        if "fixed_time" in self.names:
            moved["step_overhead"] = self.base.step_overhead * factors.fixed_time
            moved["layer_overhead"] = {
                kind: time * factors.fixed_time for kind, time in self.base.layer_overhead.items()
            }
        for name in ("token_overhead", "pass_overhead", "round_overhead"):
            if name in self.names:
                moved[name] = getattr(self.base, name) * getattr(factors, name)
        if {"memory_efficiency", "expert_efficiency"} & set(self.names):
            moved["memory_efficiency"] = {
                key: _share(
                    share
                    * (factors.expert_efficiency if key == _EXPERTS else factors.memory_efficiency)
                )
                for key, share in efficiencies(self.base, "memory").items()
            }
        if "compute_efficiency" in self.names:
            moved["compute_efficiency"] = {
                key: _share(share * factors.compute_efficiency)
                for key, share in efficiencies(self.base, "compute").items()
            }
        if "locality" in self.names:
            routing = self.base.routing
            law = "skewed" if routing.popularity else routing.fitted_to
            moved["routing"] = replace(routing, locality=min(factors.locality, 1.0), fitted_to=law)
        return replace(self.base, **moved)  # type: ignore[arg-type]


def efficiencies(deployment: Deployment, resource: str) -> dict[str, float]:
    """Fractions of a resource by key, what is not listed told as the default of 1 that it is."""
    stated = dict(getattr(deployment, f"{resource}_efficiency"))
    return stated if _DEFAULT in stated else {**stated, _DEFAULT: 1.0}


def _share(value: float) -> float:
    """A fraction that rounding has not lifted above 1."""
    return min(value, 1.0) if math.isclose(value, 1.0, rel_tol=1e-9) else value
