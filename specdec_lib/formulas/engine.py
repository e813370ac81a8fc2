"""The engine around the roofline: what every device of a deployment holds and reads, fixed times,
tiles, and weights in slower memory.

The ideal engine has one device and none of these; what is written here becomes one, or zero, in its
case.
"""

from __future__ import annotations

from sympy import Max, Min, Piecewise, ceiling

from specdec_lib.formula import Formula
from specdec_lib.symbols import (
    BYTE,
    ONE,
    SECOND,
    A,
    B,
    E,
    G,
    L,
    S,
    T,
    bandwidth,
    dp,
    eager,
    graph_tokens,
    imbalance,
    inclusion,
    m_c,
    m_s,
    n,
    n_h,
    n_kv,
    offloaded,
    slow_bandwidth,
    spread,
    t_layer,
    t_step,
    t_token,
    tile,
    topk,
    tp,
)

_HERE = "derived: step"

# --- what a device holds -------------------------------------------------------------------------
replica_batch = Formula(r"\hat B", ceiling(B / dp), ONE, _HERE)
"""Sequences of the fullest replica, for which the step waits."""

replica_tokens = Formula(r"\hat n", replica_batch.rhs * T, ONE, _HERE)
"""Tokens of the fullest replica in a step."""

entry_share = Formula(r"\frac{\hat m_c}{m_c}", ceiling(n_kv / tp) / n_kv, ONE, _HERE)
"""Share of a cache entry on each of the devices that split a replica: heads are whole, so with more
devices than key-value heads each device still keeps one."""

replica_cache = Formula(
    r"M_{\mathrm{cache}}", replica_batch.rhs * (m_c * S + m_s), BYTE, _HERE, using=(replica_batch,)
)
"""Bytes of the caches of the fullest replica's sequences, of S context tokens each, on a device."""

fullest_experts = Formula(r"\hat A", Min(E / G, imbalance * A / G), ONE, _HERE)
"""Distinct experts that the fullest of G devices reads, at most all that it holds."""

popular_experts = Formula("A_p(n)", E * (1 - (1 - inclusion) ** n), ONE, _HERE)
"""Distinct experts out of E that are all equally popular, however many others there are."""

# --- attention kernels ---------------------------------------------------------------------------
row_padding = Formula(r"\frac{\hat W}{W}", ceiling(T * n_h / tile) * tile / (T * n_h), ONE, _HERE)
"""Rows computed over rows wanted by a kernel that takes whole tiles of query rows, T·n_h of them
on one shared cache entry."""

selected_by_all = Formula(r"\hat K_{\mathrm{top}}", topk * T**spread, ONE, _HERE)
"""Entries that the T tokens of a sequence select between them: as many as one selects where all
select the same, T times as many where no two do."""

# --- times beside the roofline -------------------------------------------------------------------
fixed_time = Formula(r"t_{\mathrm{fix}}", t_step + L * t_layer, SECOND, _HERE)
"""What a step costs before it computes or reads anything: launches, sampling, scheduling."""

overhead_time = Formula(
    r"t_{\mathrm{over}}(n)",
    fixed_time.rhs * Piecewise((1, n <= graph_tokens), (eager, True)) + t_token * L * n,
    SECOND,
    _HERE,
    using=(fixed_time,),
)
"""Fixed time of a step, larger beyond the captured graphs, and what each token adds in each layer
beyond the roofline."""

recorded_overhead_time = Formula(
    r"t_{\mathrm{over}}(n)",
    fixed_time.rhs + t_token * L * n,
    SECOND,
    _HERE,
    using=(fixed_time,),
)
"""The same where graphs of every size are captured."""

tiered_bandwidth = Formula(
    r"\hat\beta",
    1 / ((1 - offloaded) / bandwidth + offloaded / slow_bandwidth),
    BYTE / SECOND,
    _HERE,
)
"""Mean rate of reading weights of which a share lies in slower memory, one after the other."""

overlapped_bandwidth = Formula(
    r"\hat\beta_{\parallel}",
    1 / Max((1 - offloaded) / bandwidth, offloaded / slow_bandwidth),
    BYTE / SECOND,
    _HERE,
)
"""The same where both memories are read at once."""
