"""Fits of a Formula to measured times, and how far its predictions are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

Floats = NDArray[np.float64]

#: Relative error beyond which a row pulls on a fit by its sign, no longer by its size.
ROBUST = 0.01


class Free(NamedTuple):
    """A value to be fitted: where the search starts, and between what it looks."""

    start: float
    least: float
    most: float


#: What a kernel's law has to be fitted: fixed time in seconds, fractions of bandwidth and peak.
FIXED_TIME = Free(20e-6, 0.0, 1e-3)
MEMORY = Free(0.8, 0.01, 1.0)
COMPUTE = Free(0.4, 0.01, 1.0)


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted values by keyword, the measured times and the predicted ones, in seconds."""

    values: Mapping[str, float]
    measured: Floats
    predicted: Floats

    @property
    def errors(self) -> Floats:
        """Signed relative errors of the prediction, row by row."""
        return relative_errors(self.predicted, self.measured)

    def __len__(self) -> int:
        return len(self.measured)


def relative_errors(predicted: ArrayLike, measured: ArrayLike) -> Floats:
    """Predicted / measured − 1: 0.05 is a prediction that is five per cent too long."""
    return np.asarray(predicted, dtype=np.float64) / np.asarray(measured, dtype=np.float64) - 1


def fitted(
    law: Callable[..., Any], free: Mapping[str, Free], measured: Floats, **given: Any
) -> Fit:
    """The values of ``free`` with which ``law(**given, **values)`` comes closest to ``measured``.

    Relative errors count, small ones by their square and those beyond :data:`ROBUST` by their size,
    so that a few odd rows do not bend the fit.  ``law`` is a Formula or a function of one that
    returns seconds for every row.  Raises ValueError where there are fewer rows than values, or
    where the search does not end.
    """
    if len(measured) < len(free):
        raise ValueError(
            f"{len(measured)} rows cannot settle {', '.join(free)}; give at least {len(free)}"
        )

    def predict(values: Floats) -> Floats:
        named = dict(zip(free, map(float, values), strict=True))
        return np.broadcast_to(law(**given, **named), measured.shape)

    found = least_squares(
        lambda values: relative_errors(predict(values), measured),
        [value.start for value in free.values()],
        bounds=(
            [value.least for value in free.values()],
            [value.most for value in free.values()],
        ),
        x_scale=[value.start for value in free.values()],
        loss="soft_l1",
        f_scale=ROBUST,
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-10,
    )
    if not found.success:
        raise ValueError(f"no fit of {', '.join(free)}: {found.message}")
    values = dict(zip(free, map(float, found.x), strict=True))
    return Fit(values, measured, predict(found.x))


class Score(NamedTuple):
    """How far a law is off: absolute relative errors over ``rows`` rows, and the median signed
    one, positive where the prediction is too long."""

    what: str
    rows: int
    median: float
    p90: float
    worst: float
    bias: float


def score(what: str, errors: Floats) -> Score:
    """The score of signed relative errors; ValueError where there are none."""
    if not len(errors):
        raise ValueError(f"{what}: there is no row to score")
    size = np.abs(errors)
    return Score(
        what,
        len(errors),
        float(np.median(size)),
        float(np.quantile(size, 0.9)),
        float(size.max()),
        float(np.median(errors)),
    )
