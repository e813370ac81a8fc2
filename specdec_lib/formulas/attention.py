"""Attention at decode: what each family stores, moves and computes per layer, and when it is
compute-bound.

Every family comes down to three numbers: f FLOPs per (query, context) pair, m_c bytes per context
token, read once a sequence, and m_q bytes per query token.  Latent attention is in its absorbed
form.
"""

from __future__ import annotations

from sympy import Max, Min, Piecewise, floor, oo

from specdec_lib import symbols
from specdec_lib.formula import Formula
from specdec_lib.formulas.roofline import MULTIPLY_ADD
from specdec_lib.symbols import (
    BYTE,
    FLOP,
    ONE,
    B,
    S,
    T,
    b_kv,
    b_q,
    b_r,
    b_s,
    b_scale,
    bandwidth,
    compression,
    d,
    d_c,
    d_k,
    d_n,
    d_r,
    d_v,
    f_s,
    i_d,
    i_h,
    m_c,
    m_q,
    n_h,
    n_kv,
    n_v,
    peak,
    ridge,
    state_passes,
    topk,
    window,
)

_HERE = "derived: attention"
_f = symbols.f

# --- the three numbers of each family ----------------------------------------------------------
grouped_pair_work = Formula("f", 2 * MULTIPLY_ADD * n_h * d, FLOP, "ainslie2023")
"""Scores and values, a multiply-add each, for every head."""

grouped_context_bytes = Formula("m_c", 2 * n_kv * d * b_kv, BYTE, "ainslie2023")
"""A key and a value for every key-value head."""

grouped_query_bytes = Formula("m_q", n_h * d * b_q, BYTE, _HERE)
"""The query alone, read once."""

grouped_query_output_bytes = Formula("m_q", 2 * n_h * d * b_q, BYTE, _HERE)
"""The query read and the output written."""

split_pair_work = Formula("f", MULTIPLY_ADD * n_h * (d + d_v), FLOP, "vaswani2017")
"""The same where values have a width of their own."""

split_context_bytes = Formula("m_c", n_kv * (d + d_v) * b_kv, BYTE, "vaswani2017")
"""A key and a value of their own widths for every key-value head."""

split_query_output_bytes = Formula("m_q", n_h * (d + d_v) * b_q, BYTE, _HERE)
"""The query read and the output, as wide as the values, written."""

latent_pair_work = Formula("f", MULTIPLY_ADD * n_h * (2 * d_c + d_r), FLOP, "deepseekv2")
"""Scores over latent and rotary widths, values over the latent width."""

latent_context_bytes = Formula("m_c", (d_c + d_r) * b_kv, BYTE, "deepseekv2")
"""One entry that all heads share, key and value in one."""

latent_query_bytes = Formula("m_q", n_h * (d_c + d_r) * b_q, BYTE, _HERE)
"""The absorbed query alone, read once."""

latent_query_output_bytes = Formula("m_q", n_h * (2 * d_c + d_r) * b_q, BYTE, _HERE)
"""The absorbed query read and the latent output written."""

latent_query_context_ratio = Formula(
    r"\frac{m_q}{m_c}", latent_query_bytes.rhs / latent_context_bytes.rhs, ONE, _HERE
)
"""Free of the latent width: n_h·b_q/b_kv."""

mixed_context_bytes = Formula("m_c", (d - d_r) * b_kv + d_r * b_r + b_scale, BYTE, "deepseekv4")
"""One entry, key and value in one, that keeps its rotary part in another precision than the rest;
block scales included."""

expansion_width = Formula(
    r"T_{\mathrm{expand}}",
    Piecewise((d_c * (d_n + d_v) / (2 * d_c - d_n - d_v), 2 * d_c > d_n + d_v), (oo, True)),
    ONE,
    _HERE,
)
"""Verify width from which it takes fewer FLOPs to expand the latent into keys and values of every
head, once a context token, than to work on the latent itself; infinite where it never does."""

# --- what a step computes and moves ---------------------------------------------------------------
core_work = Formula(r"W_{\mathrm{core}}", B * T * S * _f, FLOP, _HERE)
"""FLOPs of one layer's attention core in a step: T query tokens of each of B sequences over S
context tokens."""

core_traffic = Formula(r"Q_{\mathrm{core}}", B * (m_c * S + m_q * T), BYTE, _HERE)
"""Bytes that it moves: the cache of a sequence is read once, however many of its tokens ask."""

core_time = Formula(
    r"t_{\mathrm{core}}",
    Max(core_work.rhs / peak, core_traffic.rhs / bandwidth),
    symbols.SECOND,
    _HERE,
)
"""Time of one layer's attention core on the roofline."""

# --- intensity and where it crosses the ridge --------------------------------------------------
intensity = Formula("I(T, S)", _f * T * S / (m_c * S + m_q * T), FLOP / BYTE, _HERE)
"""FLOPs per byte of one sequence's attention with T query tokens over S context tokens."""

intensity_long_context = Formula(r"I(T, \infty)", _f * T / m_c, FLOP / BYTE, _HERE)
"""Its limit for a long context: proportional to the verify width."""

intensity_wide_verify = Formula(r"I(\infty, S)", _f * S / m_q, FLOP / BYTE, _HERE)
"""Its limit for many query tokens: only the queries are moved."""

crossing_width = Formula(
    "T^*",
    Piecewise((ridge * m_c * S / (_f * S - ridge * m_q), _f * S > ridge * m_q), (oo, True)),
    ONE,
    _HERE,
)
"""Verify width from which attention is compute-bound; infinite where none is."""

crossing_width_long_context = Formula(r"T^*(\infty)", ridge * m_c / _f, ONE, _HERE)
"""Its limit for a long context."""

crossing_context = Formula(
    "S^*",
    Piecewise((ridge * m_q * T / (_f * T - ridge * m_c), _f * T > ridge * m_c), (oo, True)),
    ONE,
    _HERE,
)
"""Cache entries from which attention at verify width T is compute-bound; infinite where none is."""

crossing_context_wide_verify = Formula(r"S^*(\infty)", ridge * m_q / _f, ONE, _HERE)
"""Its limit for many query tokens: with fewer entries no verify width is compute-bound."""

# --- how many entries a query meets ------------------------------------------------------------
full_entries = Formula(r"S_{\mathrm{full}}", S, ONE, _HERE)
"""Entries of a layer that attends to its whole context."""

window_entries = Formula(r"S_{\mathrm{window}}", Min(S, window), ONE, _HERE)
"""Entries of a sliding-window layer."""

selected_entries = Formula(r"S_{\mathrm{selected}}", Min(S, topk), ONE, "deepseekv32")
"""Entries that sparse attention reads after its indexer has chosen."""

compressed_entries = Formula(
    r"S_{\mathrm{compressed}}", floor(S / compression) + Min(S, window), ONE, "deepseekv4"
)
"""Compressed entries and the uncompressed window of a heavily compressed layer (HCA)."""

compressed_selected_entries = Formula(
    r"S_{\mathrm{sparse}}",
    Min(topk, floor(S / compression)) + Min(S, window),
    ONE,
    "deepseekv4",
)
"""Selected compressed entries and the uncompressed window of a compressed sparse layer (CSA)."""

scanned_entries = Formula(r"S_{\mathrm{scanned}}", floor(S / compression), ONE, "deepseekv4")
"""Keys that an indexer scores before it selects."""

recurrent_entries = Formula(r"S_{\mathrm{state}}", Min(S, 1), ONE, "yang2024")
"""Entries of a layer with a recurrent state: one, however long the context."""

# --- what a cache occupies -----------------------------------------------------------------------
token_bytes = Formula(r"m_{\mathrm{token}}", m_c / compression, BYTE, _HERE)
"""Bytes that a context token adds to the cache of one layer."""

entry_bytes = Formula(r"m_{\mathrm{entries}}", m_c * S, BYTE, _HERE)
"""Bytes of S cache entries of one layer."""

# --- the indexer and recurrent state -----------------------------------------------------------
indexer_pair_work = Formula(r"f_{\mathrm{index}}", MULTIPLY_ADD * i_h * i_d, FLOP, "deepseekv32")
"""FLOPs of an indexer per (query, key) pair."""

indexer_key_bytes = Formula(r"m_{\mathrm{index}}", i_d * b_kv, BYTE, "deepseekv32")
"""Bytes of an indexer's key, block scales not counted."""

scaled_key_bytes = Formula(r"m_{\mathrm{DSA}}", i_d * b_kv + b_scale, BYTE, "deepseekv32")
"""Bytes of an indexer's key with the scale that is stored beside it."""

state_bytes = Formula(r"Q_{\mathrm{state}}", state_passes * n_v * d_k * d_v * b_s, BYTE, "yang2024")
"""Bytes that one sequence's recurrent state moves in a step, whatever its length."""

state_work = Formula(r"W_{\mathrm{state}}", T * f_s * n_v * d_k * d_v, FLOP, "yang2024")
"""FLOPs of one sequence's recurrent state in a step."""

state_intensity = Formula(
    r"I_{\mathrm{state}}(T)", state_work.rhs / state_bytes.rhs, FLOP / BYTE, _HERE
)
"""FLOPs per byte of a recurrent state: proportional to T, free of the context."""

cache_read_time = Formula(r"t_{\mathrm{cache}}", m_c * S / bandwidth, symbols.SECOND, _HERE)
"""Time to read one sequence's cache in one layer."""
