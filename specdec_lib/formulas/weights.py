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
    V,
    bits,
    block,
    compression,
    d,
    d_c,
    d_n,
    d_o,
    d_q,
    d_r,
    d_v,
    i_d,
    i_h,
    n_h,
    n_kv,
    o_groups,
    overlap,
    s,
    scale_bits,
    streams,
)

#: Bits of one byte, with its unit.
BITS_PER_BYTE: sympy.Expr = 8 / BYTE

# --- attention projections: grouped queries ------------------------------------------------------
grouped_projection = Formula(
    r"P_{\mathrm{GQA}}", H * n_h * d + 2 * H * n_kv * d + n_h * d * H, ONE, "ainslie2023"
)
"""Query, key and value, and output matrices."""

grouped_biases = Formula(r"P_{\mathrm{bias}}", n_h * d + 2 * n_kv * d + H, ONE, "ainslie2023")
"""Biases of the same four matrices, in models that have them."""

head_norms = Formula(r"P_{\mathrm{qk}}", 2 * d, ONE, "qwen3")
"""Norms over the head dimension, one of queries and one of keys, shared by all heads."""

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

# --- feed-forward --------------------------------------------------------------------------------
gated_ffn = Formula(r"P_{\mathrm{FFN}}", 3 * H * H_ff, ONE, "shazeer2020")
"""Gate, up and down matrices of a gated feed-forward block."""

expert_parameters = Formula("P_e", gated_ffn.rhs, ONE, "shazeer2020")
"""One expert: a gated feed-forward block of the expert's width."""

ffn_biases = Formula(r"P_{\mathrm{FFN,bias}}", 2 * H_ff + H, ONE, "gptoss")
"""Biases of the three matrices of a block or an expert, in models that have them."""

routed_parameters = Formula(
    r"P_{\mathrm{routed}}",
    E * expert_parameters.rhs,
    ONE,
    "shazeer2017",
    using=(expert_parameters,),
)
"""All routed experts of a layer."""

shared_parameters = Formula(
    r"P_{\mathrm{shared}}", s * expert_parameters.rhs, ONE, "dai2024", using=(expert_parameters,)
)
"""The shared experts of a layer, s of them, each as wide as a routed one."""

router = Formula(r"P_{\mathrm{router}}", E * H, ONE, "shazeer2017")
"""Scores of all routed experts."""

# --- the two ends of the model, and what runs beside its layers ----------------------------------
vocabulary_matrix = Formula(r"P_{\mathrm{vocab}}", V * H, ONE, "vaswani2017")
"""The embedding or the head."""

layer_norms = Formula(r"P_{\mathrm{norm}}", 2 * H, ONE, "zhang2019")
"""A norm before attention and one before the feed-forward block."""

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
