"""Calibrate: a deployment fitted to a user's own step times.

:func:`fit` takes :class:`Measurement` rows and gives a :class:`Calibration`, whose ``deployment``
every other part of the library takes.
"""

from __future__ import annotations

from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.calibrate.fit import fit
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.calibrate.parameters import PARAMETERS
from specdec_lib.calibrate.reading import read_measurements
from specdec_lib.calibrate.result import Calibration, Determined, Fitted

__all__ = [
    "PARAMETERS",
    "Calibration",
    "CalibrationError",
    "Determined",
    "Fitted",
    "Measurement",
    "fit",
    "read_measurements",
]
