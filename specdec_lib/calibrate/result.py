"""Calibration: a fitted deployment, and what of it the measurements determined."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.calibrate.parameters import Space, widths
from specdec_lib.calibrate.rows import Rows
from specdec_lib.calibrate.solve import LEVEL, Solution
from specdec_lib.deployment import Deployment
from specdec_lib.records.provenance import Provenance

#: The share of the variance before from which a parameter counts as determined, and from which a
#: row counts as saying something of it.
DETERMINED, SAYS = 0.5, 0.1

#: From how much more than the noise a reader should know of it.
_WIDE = 1.2

#: The unit of each parameter's value; the efficiencies are fractions.
UNITS: Mapping[str, str] = {
    "fixed_time": "s",
    "token_overhead": "s",
    "pass_overhead": "s",
    "round_overhead": "s",
}


@dataclass(frozen=True)
class Determined:
    """What became of one parameter.

    Parameters
    ----------
    name
        Of :data:`specdec_lib.calibrate.PARAMETERS`.
    base, value
        What the base states and what was fitted: seconds of a step or of a round or pass, seconds a
        token and layer, or fractions; an efficiency is the mean over what the rows read, by time,
        and that of compute a factor on the base's.
    low, high
        The interval that holds the value with a probability of 80 %, if the model is right.
    learned
        Share of the variance before that the rows took away: 0 for a parameter of which they say
        nothing, which therefore stays at the base.
    rows
        The rows that say something of it, each by itself.
    """

    name: str
    base: float
    value: float
    low: float
    high: float
    learned: float
    rows: tuple[str, ...]

    @property
    def determined(self) -> bool:
        """Whether the rows say more of it than was known before."""
        return self.learned >= DETERMINED

    @property
    def unit(self) -> str:
        """Unit of the values: "s" or "1"."""
        return UNITS.get(self.name, "1")


@dataclass(frozen=True)
class Fitted:
    """A row and what the fitted deployment says of it; ``residual`` is ln(predicted/measured)."""

    measurement: Measurement
    predicted: float
    residual: float


class Calibration(Mapping[str, Determined]):
    """What a fit found: parameters by name, and

    ``deployment``, the fitted one, whose sources say from which rows each value comes; ``rows``,
    the measurements with what it predicts for them; ``spread``, by how much they lie further from
    it than their noise explains, at least 1; ``notes``, what a reader should know.
    """

    def __init__(
        self,
        deployment: Deployment,
        parameters: Mapping[str, Determined],
        rows: tuple[Fitted, ...],
        spread: float,
        notes: tuple[str, ...],
    ) -> None:
        self.deployment = deployment
        self.rows = rows
        self.spread = spread
        self.notes = notes
        self._parameters = MappingProxyType(dict(parameters))

    def __getitem__(self, name: str) -> Determined:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __repr__(self) -> str:
        known = [name for name, found in self.items() if found.determined]
        return (
            f"Calibration({self.deployment.name}; {len(self.rows)} rows determine "
            f"{', '.join(known) or 'nothing'})"
        )


def calibration(
    rows: Rows,
    space: Space,
    solution: Solution,
    name: str,
    day: datetime.date,
    said: tuple[str, ...],
) -> Calibration:
    """What a solution means for a deployment."""
    fitted = space.deployment(space.factors(solution.theta))
    labels = [row.row or str(row) for row in rows.measurements]
    parameters = {}
    for j, key in enumerate(space.names):
        base = _base(rows, space.base, key)
        ends = np.exp([solution.theta[j], solution.low[j], solution.high[j]])
        value, low, high = (base * ends).tolist()
        says = [label for i, label in enumerate(labels) if solution.alone[i, j] >= SAYS]
        parameters[key] = Determined(
            key, base, value, low, high, float(solution.learned[j]), tuple(dict.fromkeys(says))
        )
    sources = dict(space.base.sources)
    for key, found in parameters.items():
        if found.learned >= SAYS:
            sources |= dict.fromkeys(_fields(fitted, key), _origin(found, day))
        elif not np.isclose(found.value, found.base, rtol=1e-6):
            for field in _fields(fitted, key):
                sources[field] = _along(found, sources.get(field), day)
    deployment = replace(fitted, name=name, sources=sources)
    predicted = rows.predicted(space.factors(solution.theta)).tolist()
    fits = tuple(
        Fitted(row, value, float(missed))
        for row, value, missed in zip(rows.measurements, predicted, solution.residual, strict=True)
    )
    notes = list(said)
    if solution.spread > _WIDE:
        notes.append(
            f"the rows lie {solution.spread:.2g} times further from the model than their noise: "
            "the intervals are wider by as much"
        )
    return Calibration(deployment, parameters, fits, solution.spread, tuple(notes))


def _base(rows: Rows, base: Deployment, key: str) -> float:
    """What the base states of a parameter, as one number."""
    if key == "fixed_time":
        return float(rows.verify.fixed.min())
    if key in ("memory_efficiency", "expert_efficiency"):
        return rows.verify.mean_efficiency(experts=key == "expert_efficiency")
    if key == "compute_efficiency":
        return 1.0
    if key == "locality":
        return base.routing.locality
    return float(getattr(base, key))


def _origin(found: Determined, day: datetime.date) -> Provenance:
    """The origin of what the rows say something of."""
    from_rows = ", ".join(found.rows) or "all rows together"
    return Provenance(
        f"fitted to {from_rows}; {LEVEL:.0%} of it within {found.low / found.value:.2f} to "
        f"{found.high / found.value:.2f} times the value; known before to a width of "
        f"{widths()[found.name].value:g} in its logarithm",
        "measured",
        day,
        "high" if found.determined else "medium",
    )


def _along(found: Determined, before: Provenance | None, day: datetime.date) -> Provenance:
    """The origin of what moved with the rest, little, though no row says much of it."""
    known = "the base deployment" if before is None else before.source
    return Provenance(
        f"no row determines it: {found.value / found.base - 1:+.1%} with the fit from {known}",
        "assumed",
        day,
        "low",
    )


def _fields(fitted: Deployment, key: str) -> list[str]:
    """The fields of a deployment that a parameter moves, as its sources name them."""
    if key == "fixed_time":
        return ["step_overhead", *(f"layer_overhead.{kind}" for kind in fitted.layer_overhead)]
    if key == "memory_efficiency":
        return [f"{key}.{kind}" for kind in fitted.memory_efficiency if kind != "moe"]
    if key == "expert_efficiency":
        return ["memory_efficiency.moe"]
    if key == "compute_efficiency":
        return [f"{key}.{kind}" for kind in fitted.compute_efficiency]
    return ["routing" if key == "locality" else key]
