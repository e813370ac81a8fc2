"""What the query tokens of a verify pass share in the attention core, and what it costs to make
that little: the price of a pass, indexers that select entries, states that cannot be cut.

f, m_c and m_q are those of :mod:`specdec_lib.formulas.attention`, S counts cache entries.
"""

from __future__ import annotations

from sympy import Max, Min, Piecewise, oo

from specdec_lib import symbols
from specdec_lib.formula import Formula
from specdec_lib.symbols import (
    BYTE,
    ONE,
    S,
    T,
    b_x,
    compression,
    d_k,
    d_v,
    f_i,
    m_c,
    m_i,
    m_q,
    n_v,
    premium,
    ridge,
    topk,
)

_HERE = "derived: compressed"
_f = symbols.f

# --- what a verify pass costs more than a plain one --------------------------------------------
_arithmetic = _f * S / ridge  # of one query token, in bytes that the memory could have moved

plain_bytes = Formula(r"Q_1", Max(_arithmetic, m_c * S + m_q), BYTE, _HERE)
"""Price of the core in a plain step, in bytes at full bandwidth: those that it moves, or those that
could have been moved while it computes."""

verify_ratio = Formula(
    r"\frac{t_{\mathrm{core}}(T)}{t_{\mathrm{core}}(1)}",
    Max(T * _arithmetic, m_c * S + m_q * T) / plain_bytes.rhs,
    ONE,
    _HERE,
    using=(plain_bytes,),
)
"""Time of the core in a verify pass of width T over that in a plain step; the batch cancels."""

shared_width = Formula(r"T_{=}", Piecewise((m_c * S / m_q, m_q > 0), (oo, True)), ONE, _HERE)
"""Query tokens that bring as many bytes of their own as the cache entries that they share."""

affordable_width = Formula(
    r"T_\delta",
    Piecewise(
        (
            Min(
                (1 + premium) * plain_bytes.rhs / _arithmetic,
                ((1 + premium) * plain_bytes.rhs - m_c * S) / m_q,
            ),
            m_q > 0,
        ),
        ((1 + premium) * plain_bytes.rhs / _arithmetic, True),
    ),
    ONE,
    _HERE,
    using=(plain_bytes,),
)
"""Widest verify pass whose core takes at most 1 + δ times as long as that of a plain step."""

# --- indexers and states ------------------------------------------------------------------------
selection_pays = Formula(
    r"S_{\mathrm{pays}}",
    Piecewise((compression * topk * m_c / (m_c - m_i), m_c > m_i), (oo, True)),
    ONE,
    _HERE,
)
"""Context from which scanning keys and reading what was selected moves fewer bytes than reading
every compressed entry; infinite where a key is no smaller than an entry."""

scan_overtakes = Formula(
    r"S_{\mathrm{scan}}",
    compression * Max(T * _arithmetic, m_c * S + m_q * T) / Max(T * f_i / ridge, m_i),
    ONE,
    _HERE,
)
"""Context, in tokens, from which an indexer's scan takes longer than the core that it serves, which
meets S selected entries however long the context."""

replay_bytes = Formula(r"m_{\mathrm{replay}}", n_v * (d_k + d_v + 2) * b_x, BYTE, _HERE)
"""Bytes per token of what a recurrent state is updated with: for each value head a key, a value and
two gates, so that the update can be repeated instead of the state kept."""
