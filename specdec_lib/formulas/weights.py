"""Weights: how many parameters each part of a model has in one layer, and the bytes of a weight.

Matrices are what a step reads and multiplies with; vectors (norms, biases, sinks, positions of a
compressor) are counted apart, because a model's total includes them and its price does not.
"""

from __future__ import annotations

import sympy

from specdec_lib.formula import Formula
from specdec_lib.symbols import (
    BYTE,
    ONE,
    E,
    H,
    H_ff,
    P_e,
    V,
    bits,
    block,
    compression,
    d,
    d_c,
    d_k,
    d_n,
    d_o,
    d_q,
    d_r,
    d_v,
    i_d,
    i_h,
    n_h,
    n_k,
    n_kv,
    n_v,
    norms,
    o_groups,
    overlap,
    s,
    s_groups,
    scale_bits,
    streams,
    taps,
)

_HERE = "derived: attention"

#: Bits of one byte, with its unit.
BITS_PER_BYTE: sympy.Expr = 8 / BYTE

# --- attention projections: grouped queries ------------------------------------------------------
grouped_projection = Formula(
    r"P_{\mathrm{GQA}}", H * n_h * d + 2 * H * n_kv * d + n_h * d * H, ONE, "ainslie2023"
)
"""Query, key and value, and output matrices."""

gated_projection = Formula(
    r"P_{\mathrm{gated}}", 2 * H * n_h * d + 2 * H * n_kv * d + n_h * d * H, ONE, "qiu2025"
)
"""The same with a second query-sized matrix, whose product gates the output of every head."""

split_projection = Formula(
    r"P_{\mathrm{split}}", H * n_h * d + H * n_kv * (d + d_v) + n_h * d_v * H, ONE, "vaswani2017"
)
"""The same where values have a width of their own."""

shared_projection = Formula(
    r"P_{\mathrm{K=V}}", H * n_h * d + H * n_kv * d + n_h * d * H, ONE, _HERE
)
"""The same where one matrix makes both the key and the value."""

grouped_biases = Formula(r"P_{\mathrm{bias}}", n_h * d + 2 * n_kv * d + H, ONE, "ainslie2023")
"""Biases of the same four matrices, in models that have them."""

input_biases = Formula(r"P_{\mathrm{bias,qkv}}", n_h * d + 2 * n_kv * d, ONE, "ainslie2023")
"""Biases of query, key and value alone."""

head_norms = Formula(r"P_{\mathrm{qk}}", 2 * d, ONE, "qwen3")
"""Norms over the head dimension, one of queries and one of keys, shared by all heads."""

wide_norms = Formula(r"P_{\mathrm{qk,wide}}", n_h * d + n_kv * d, ONE, "muennighoff2025")
"""Norms over all heads at once, one of the queries and one of the keys."""

# --- attention projections: latent ---------------------------------------------------------------
_latent_rest = H * (d_c + d_r) + d_c * n_h * (d_n + d_v) + n_h * d_v * H

latent_projection = Formula(
    r"P_{\mathrm{MLA}}",
    H * d_q + d_q * n_h * (d_n + d_r) + _latent_rest,
    ONE,
    "deepseekv2",
)
"""Query down and up, cache entry down, keys and values up, output."""

latent_direct_projection = Formula(
    r"P_{\mathrm{MLA}}", H * n_h * (d_n + d_r) + _latent_rest, ONE, "deepseekv2"
)
"""The same with the query projected in one step, without a low rank."""

# --- attention projections: compressed -----------------------------------------------------------
compressed_projection = Formula(
    r"P_{\mathrm{V4}}",
    H * d_q + d_q * n_h * d + H * d + n_h * d * d_o + o_groups * d_o * H,
    ONE,
    "deepseekv4",
)
"""Query down and up, one shared key-value head, and an output in groups of heads: each group is
projected to its own rank, then all of them to the hidden size."""

compressor = Formula(r"P_{\mathrm{comp}}", 2 * H * overlap * d, ONE, "deepseekv4")
"""Values and gates of the compressor that pools several tokens to one cache entry."""

compressor_vectors = Formula(
    r"P_{\mathrm{comp},v}", compression * overlap * d + d, ONE, "deepseekv4"
)
"""Positions within the pooled window, and a norm."""

indexer_projection = Formula(r"P_{\mathrm{index}}", d_q * i_h * i_d + H * i_h, ONE, "deepseekv4")
"""Queries of the indexer from the low-rank query, and a weight for each of its heads."""

sparse_indexer_projection = Formula(
    r"P_{\mathrm{DSA}}", d_q * i_h * i_d + H * i_d + H * i_h, ONE, "deepseekv32"
)
"""The same with a key of its own, projected from the hidden state and not from a compressor."""

sparse_indexer_vectors = Formula(r"P_{\mathrm{DSA},v}", 2 * i_d, ONE, "deepseekv32")
"""Scale and shift of the norm of that key."""

# --- linear attention ----------------------------------------------------------------------------
_keys, _values = n_k * d_k, n_v * d_v

delta_projection = Formula(
    r"P_{\mathrm{GDN}}",
    H * (2 * _keys + 2 * _values) + 2 * H * n_v + _values * H,
    ONE,
    "yang2024",
)
"""GatedDeltaNet: query, key, value and gate; a decay and a strength for each value head; output."""

delta_vectors = Formula(
    r"P_{\mathrm{GDN},v}", (2 * _keys + _values) * taps + 2 * n_v + d_v, ONE, "yang2024"
)
"""Its short convolution over queries, keys and values, two numbers a value head, and a norm."""

channel_projection = Formula(
    r"P_{\mathrm{KDA}}",
    3 * H * _values + 2 * (H * d_v + d_v * _values) + H * n_v + _values * H,
    ONE,
    "kimilinear",
)
"""Kimi Delta Attention: query, key and value of one width; decay and gate, each through a rank of
one head; a strength for each head; output."""

channel_vectors = Formula(
    r"P_{\mathrm{KDA},v}", 3 * _values * taps + _values + n_v + d_v, ONE, "kimilinear"
)
"""Its short convolution, a bias of the decay for every channel, a scale a head, and a norm."""

_mixed = _values + 2 * s_groups * d_k  # what the convolution of a Mamba-2 layer sees

mamba_projection = Formula(
    r"P_{\mathrm{SSM}}", H * (_values + _mixed + n_v) + _values * H, ONE, "dao2024"
)
"""Mamba-2: gate, input, the two vectors of every group, a step for each head; output."""

mamba_vectors = Formula(
    r"P_{\mathrm{SSM},v}", _mixed * (taps + 1) + 3 * n_v + _values, ONE, "dao2024"
)
"""Its short convolution with biases, three numbers a head, and a norm."""

# --- feed-forward --------------------------------------------------------------------------------
gated_ffn = Formula(r"P_{\mathrm{FFN}}", 3 * H * H_ff, ONE, "shazeer2020")
"""Gate, up and down matrices of a gated feed-forward block."""

plain_ffn = Formula(r"P_{\mathrm{FFN,2}}", 2 * H * H_ff, ONE, "vaswani2017")
"""Up and down matrices of a block, or an expert, without a gate."""

expert_parameters = Formula("P_e", gated_ffn.rhs, ONE, "shazeer2020")
"""One expert: a gated feed-forward block of the expert's width."""

ffn_biases = Formula(r"P_{\mathrm{FFN,bias}}", 2 * H_ff + H, ONE, "gptoss")
"""Biases of the three matrices of a block or an expert, in models that have them."""

routed_parameters = Formula(r"P_{\mathrm{routed}}", E * P_e, ONE, "shazeer2017")
"""All routed experts of a layer."""

shared_parameters = Formula(r"P_{\mathrm{shared}}", s * P_e, ONE, "dai2024")
"""The shared experts of a layer, counted as s experts of the size of a routed one."""

router = Formula(r"P_{\mathrm{router}}", E * H, ONE, "shazeer2017")
"""Scores of all routed experts."""

# --- the two ends of the model, and what runs beside its layers ----------------------------------
vocabulary_matrix = Formula(r"P_{\mathrm{vocab}}", V * H, ONE, "vaswani2017")
"""The embedding or the head."""

layer_norms = Formula(r"P_{\mathrm{norm}}", norms * H, ONE, "zhang2019")
"""The norms of a layer: one before attention and one before the feed-forward block in most
families; a norm that also shifts has two vectors."""

draft_projection = Formula(r"P_{\mathrm{MTP}}", 2 * H * H, ONE, "deepseekv3")
"""What a module of multi-token prediction has beside its layer: hidden state and next embedding,
projected to one hidden state."""

hyper_connection = Formula(
    r"P_{\mathrm{HC}}", streams * (streams + 2) * (streams * H + 1) + 3, ONE, "zhu2024"
)
"""One mixing of the residual streams, read from all of them: weights into and out of a block and
among the streams, with a bias for each of the weights and three scales.  A layer has two."""

hyper_connection_head = Formula(
    r"P_{\mathrm{HC,head}}", streams * (streams * H + 1) + 1, ONE, "zhu2024"
)
"""The mixing of the streams to one before the head."""

# --- bytes ---------------------------------------------------------------------------------------
block_scaled_bytes = Formula("b", (bits + scale_bits / block) / BITS_PER_BYTE, BYTE, "ocp2023")
"""Bytes per weight of a format that stores one scale for each block of weights."""
