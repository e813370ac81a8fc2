"""Fit: a deployment from a user's own measurements."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from specdec_lib.architecture import Model
from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.calibrate.parameters import PARAMETERS, Space, usual_noise
from specdec_lib.calibrate.physics import refuse_impossible
from specdec_lib.calibrate.result import Calibration, calibration
from specdec_lib.calibrate.rows import Rows
from specdec_lib.calibrate.solve import solve
from specdec_lib.catalog import Gpu
from specdec_lib.deployment import Deployment
from specdec_lib.drafters import Drafter

#: The least that moving a parameter by its whole width must change some row, in units of noise, for
#: the rows to say anything of it.
_TOUCHED = 1e-3


def fit(
    measurements: Measurement | Iterable[Measurement],
    model: Model,
    gpu: Gpu,
    base: Deployment | None = None,
    *,
    drafter: Drafter | None = None,
    engine: str = "vLLM",
    noise: float | None = None,
    parameters: Sequence[str] | None = None,
    name: str | None = None,
    on: datetime.date | None = None,
) -> Calibration:
    """Fit a deployment to measured step times, one, two or many.

    It starts from what is known before: the base deployment, and how far real ones lie from it.
    So one point already helps, and moves only what it says something of; the rest stays.

    Parameters
    ----------
    measurements
        From :class:`Measurement`, or one of the readers.
    model, gpu
        What was measured, on what.
    base
        The deployment to start from, with the devices and formats that were used; a typical one on
        one device by default.  What it states as zero stays zero.
    drafter
        What drafted, for rows with γ > 0.
    engine
        Of the typical base, where no base is given.
    noise
        Standard deviation of the logarithm of a measured number, with what the model adds to it; 5
        per cent by default.  Rows of one point count as one: repeating a measurement says nothing
        new of the model.
    parameters
        What may move, of :data:`PARAMETERS`; all that the base has by default.
    name, on
        What to call the deployment, and the day of the fit, which its sources state; today by
        default.

    Raises
    ------
    CalibrationError
        Naming every row that no engine can have measured; where a drafter is needed and not given;
        or where a parameter that was asked for is one of which no row says anything.
    TypeError
        For what is no such record.

    Examples
    --------
    >>> from specdec_lib import catalog
    >>> found = fit(
    ...     Measurement.step(B=1, T=1, S=4096, seconds=4.4e-3),
    ...     catalog.model("llama-3.1-8b"), catalog.gpu("b200"),
    ... )
    >>> found["fixed_time"].determined, found["pass_overhead"].determined
    (True, False)
    """
    rows_of = [measurements] if isinstance(measurements, Measurement) else list(measurements)
    for given in rows_of:
        if not isinstance(given, Measurement):
            raise TypeError(f"a fit needs Measurements, such as Measurement.step(…), not {given!r}")
    if not rows_of:
        raise CalibrationError(["nothing was measured: a fit needs at least one row"])
    if drafter is not None and not isinstance(drafter, Drafter):
        raise TypeError(f"drafter: drafters.mtp() or its like is needed, not {drafter!r:.60}")
    served = Deployment.typical(gpu, engine=engine) if base is None else base
    if not isinstance(served, Deployment):
        raise TypeError(f"base: a Deployment is needed, not {base!r:.60}")
    if served.verify_curve is not None:
        raise CalibrationError(
            [f"{served.name} has a measured verify curve in place of the model's growth: fit to a "
             "base without one"]
        )  # fmt: skip
    if drafter is None:
        needing = [str(row) for row in rows_of if row.speculative]
        if needing:
            raise CalibrationError([f"{row}: say what drafted: drafter=…" for row in needing])
    spread = usual_noise().value if noise is None else float(noise)
    if not 0 < spread < 1:
        raise CalibrationError([f"noise = {noise!r:.40}; a fraction such as 0.05 is needed"])
    rows = Rows(rows_of, model, gpu, served, drafter)
    refuse_impossible(rows, spread)
    space = Space(served, _moved(served, model, parameters))
    repeats = Counter(_point(row) for row in rows_of)
    noises = np.array([spread * np.sqrt(repeats[_point(row)]) for row in rows_of])
    measured = np.log(rows.value)
    solution = solve(
        lambda theta: np.log(rows.predicted(space.factors(theta))) - measured,
        noises,
        space.width,
        space.low,
        space.high,
    )
    _refuse_untold(space, solution.alone, parameters)
    said = [f"{row}: measured {count} times, counted as one" for row, count in _repeated(rows_of)]
    title = name or f"{served.name}, fitted to {model.name}"
    day = on or datetime.date.today()
    return calibration(rows, space, solution, title, day, tuple(said))


def _moved(base: Deployment, model: Model, asked: Sequence[str] | None) -> tuple[str, ...]:
    """The parameters that move: those asked for, or all that the base and the model have."""
    has = {
        "fixed_time": base.step_overhead > 0 or any(base.layer_overhead.values()),
        "token_overhead": base.token_overhead > 0,
        "memory_efficiency": True,
        "expert_efficiency": model.experts is not None and "moe" in base.memory_efficiency,
        "compute_efficiency": True,
        "locality": model.experts is not None and base.routing.locality > 0,
        "pass_overhead": base.pass_overhead > 0,
        "round_overhead": base.round_overhead > 0,
    }
    if asked is None:
        return tuple(name for name in PARAMETERS if has[name])
    unknown = [name for name in asked if name not in PARAMETERS]
    if unknown:
        raise CalibrationError(
            [f"no parameter {', '.join(map(repr, unknown))}; there are {', '.join(PARAMETERS)}"]
        )
    lacking = [name for name in asked if not has[name]]
    if lacking:
        raise CalibrationError(
            [
                f"{name}: {model.name} in {base.name} has none to be scaled ({PARAMETERS[name]})"
                for name in lacking
            ]
        )
    return tuple(name for name in PARAMETERS if name in asked)


def _refuse_untold(space: Space, alone: np.ndarray, asked: Sequence[str] | None) -> None:
    """Refuse to fit what was asked for by name and of which no row says anything."""
    untold = [
        name
        for j, name in enumerate(space.names)
        if asked is not None and not (alone[:, j] > _TOUCHED).any()
    ]
    if untold:
        raise CalibrationError(
            [
                f"{name}: no row says anything of it ({PARAMETERS[name]}); measure one that it "
                f"takes part in{_HINTS.get(name, '')}, or leave it out"
                for name in untold
            ]
        )


_HINTS = {
    "pass_overhead": ": a round with drafts",
    "round_overhead": ": a round with drafts",
    "locality": ": a step with T > 1 and few sequences",
    "compute_efficiency": ": a step of many tokens",
    "token_overhead": ": a step of many tokens",
}


def _point(row: Measurement) -> tuple[object, ...]:
    return (row.kind, row.B, row.S, row.gamma, row.T, row.N)


def _repeated(rows: Sequence[Measurement]) -> list[tuple[Measurement, int]]:
    counts = Counter(_point(row) for row in rows)
    first = {_point(row): row for row in reversed(rows)}
    return [(first[point], count) for point, count in counts.items() if count > 1]
