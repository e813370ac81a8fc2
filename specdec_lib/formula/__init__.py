"""Formula: one SymPy equation that renders, computes and plots.

The algebra is written once, over :mod:`specdec_lib.symbols`.  The page shows it as LaTeX, NumPy
computes it on arrays, a chart evaluates it inside Vega, and a test holds the three together.
"""

from __future__ import annotations

from specdec_lib.formula.domain import DomainError
from specdec_lib.formula.equation import Formula
from specdec_lib.formula.latex import unit_text

__all__ = ["DomainError", "Formula", "unit_text"]
