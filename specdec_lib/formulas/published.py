"""The layer cost of a published draft-length calculator, kept beside the book's own for comparison.

It counts bytes (the bandwidth divides out), one roofline maximum for the attention projections, one
for the experts and one for the attention core, whose reading and arithmetic it charges per layer.
Query bytes, head and router are left out.  Its constants are in ``data/published.toml``.
"""

from __future__ import annotations

from sympy import Max

from specdec_lib import symbols
from specdec_lib.formula import Formula
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.formulas.roofline import MULTIPLY_ADD
from specdec_lib.symbols import BYTE, B, P_e, S, T, b, k, m_c, n, s
from specdec_lib.symbols.calculator import P_a, b_a, ridge_core, ridge_expert, ridge_projection

projection_bytes = Formula(
    r"C_{\mathrm{proj}}",
    Max(P_a * b_a, MULTIPLY_ADD * P_a * B * T / ridge_projection),
    BYTE,
    "finn2026",
)
"""The attention projections of a layer: weights read, or arithmetic in bytes of its ridge."""

expert_bytes = Formula(
    r"C_{\mathrm{experts}}",
    Max(
        P_e * b * (distinct_experts.rhs.subs(n, B * T) + s),
        MULTIPLY_ADD * (k + s) * P_e * B * T / ridge_expert,
    ),
    BYTE,
    "finn2026",
)
"""The experts of a layer, the shared one inside the same maximum."""

core_bytes = Formula(
    r"C_{\mathrm{core}}",
    B * Max(m_c * S, symbols.f * T * S / ridge_core),
    BYTE,
    "finn2026",
)
"""The attention core of a layer for the whole batch; query bytes are left out."""

layer_bytes = Formula(
    r"C_{\mathrm{layer}}(B, T, S)",
    projection_bytes.rhs + expert_bytes.rhs + core_bytes.rhs,
    BYTE,
    "finn2026",
    using=(projection_bytes, expert_bytes, core_bytes),
)
"""Price of a decode or verify step in one layer, in bytes at full bandwidth."""
