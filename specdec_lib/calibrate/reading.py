"""Reading: measurements from a text, whatever wrote it."""

from __future__ import annotations

from specdec_lib.calibrate.bench import read_bench
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.calibrate.table import read_table


def read_measurements(
    text: str,
    *,
    name: str = "measurements",
    throughput: str | None = None,
    gamma: float | None = None,
) -> list[Measurement]:
    """Measurements from a CSV table, or from the JSON of a benchmark of vLLM or SGLang.

    Parameters
    ----------
    text
        The text of the file.
    name
        What errors, and the sources of a fitted deployment, call it.
    throughput
        Of what tokens per second in a table are: "decode" or "whole".
    gamma
        The draft length of a benchmark that does not tell it.

    Raises CalibrationError with every row that is none.
    """
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return read_bench(text, name=name, gamma=gamma)
    return read_table(text, name=name, throughput=throughput)
