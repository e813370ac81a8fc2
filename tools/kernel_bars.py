"""Stores how well the model meets measured kernels: ``python -m tools.kernel_bars``.

It computes the figures anew and writes ``specdec_lib/data/measured/evidence_kernels.csv``, which a
test holds against the computation.
"""

from __future__ import annotations

import csv
import math

from specdec_lib.evidence.kernel_bars import Bar, kernel_bars
from tools.kernel_tables import TARGET


def main() -> None:
    """Write the table and say which figures miss their limit."""
    with (TARGET / "evidence_kernels.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Bar._fields)
        for bar in kernel_bars():
            limit = "" if math.isnan(bar.limit) else f"{bar.limit:g}"
            writer.writerow(bar._replace(limit=limit, value=f"{bar.value:.4g}"))  # type: ignore[arg-type]
            print(f"{bar.value:9.4g}  {limit or '-':>5}  {'' if bar.met else 'MISSED '}{bar.bar}")


if __name__ == "__main__":
    main()
