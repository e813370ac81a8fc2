"""The equations of the book, each against a value that was reached by a second route.

``EQUATIONS`` lists every Formula with at least one independent value: by hand, from a limit, or
published.  A Formula without one, or a listed one that is gone, fails.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from specdec_lib import formulas
from specdec_lib.formula import Formula
from tests.points import MADE, MODULE_LEVEL

R_B200 = 281.25  # 2.25 PFLOP/s over 8 TB/s
V4 = {"E": 256, "k": 6}
MLA = {"f": 139264, "m_c": 576, "m_q": 73728}  # 64 heads, latent 512 + 64, fp8 cache, bf16 query

Row = tuple[str, dict[str, Any], float, float]

#: (formula, inputs, value by a second route, relative tolerance from the digits of that route)
# fmt: off
EQUATIONS: list[Row] = [
    # roofline: by hand
    ("roofline.arithmetic_intensity", {"work": 12.0, "traffic": 4.0}, 3.0, 0),
    ("roofline.ridge_point", {"peak": 2250e12, "bandwidth": 8e12}, R_B200, 1e-12),
    ("roofline.ridge_point", {"peak": 989.4e12, "bandwidth": 4.8e12}, 206.1, 5e-4),
    ("roofline.attainable_rate", {"peak": 10.0, "bandwidth": 2.0, "intensity": 3.0}, 6.0, 0),
    ("roofline.attainable_rate", {"peak": 10.0, "bandwidth": 2.0, "intensity": 30.0}, 10.0, 0),
    (
        "roofline.roofline_time",
        {"work": 8, "traffic": 3, "peak": 4, "bandwidth": 2, "eta_c": 0.5, "eta_m": 1},
        4.0,
        0,
    ),
    (
        "roofline.roofline_time",
        {"work": 8, "traffic": 3, "peak": 4, "bandwidth": 2, "eta_c": 1, "eta_m": 0.5},
        3.0,
        0,
    ),
    (
        "roofline.smooth_roofline_time",
        {"work": 12, "traffic": 4, "peak": 4, "bandwidth": 1, "eta_c": 1, "eta_m": 1},
        5.0,  # 3² + 4² = 5²
        1e-15,
    ),
    ("roofline.kernel_time", {"t_0": 7, "work": 8, "traffic": 3, "peak": 4, "bandwidth": 2, "eta_c": 1, "eta_m": 0.5}, 10.0, 0),
    ("roofline.smooth_kernel_time", {"t_0": 7, "work": 12, "traffic": 4, "peak": 4, "bandwidth": 1, "eta_c": 1, "eta_m": 1}, 12.0, 1e-15),
    ("roofline.weight_work", {"P": 10, "n": 3}, 60.0, 0),
    ("roofline.weight_traffic", {"P": 10, "b": 0.5}, 5.0, 0),
    ("roofline.weight_intensity", {"n": 3, "b": 2}, 3.0, 0),
    ("roofline.weight_time", {"P": 10, "n": 1, "b": 2, "peak": 5, "bandwidth": 4}, 5.0, 0),
    ("roofline.weight_time", {"P": 10, "n": 3, "b": 2, "peak": 5, "bandwidth": 4}, 12.0, 0),
    ("roofline.weight_elasticity", {"P": 1, "n": 1, "b": 2, "peak": 5, "bandwidth": 4}, 0.0, 0),
    ("roofline.weight_elasticity", {"P": 1, "n": 9, "b": 2, "peak": 5, "bandwidth": 4}, 1.0, 0),
    ("roofline.weight_knee", {"ridge": 295.3, "b": 2}, 295.3, 1e-12),
    ("roofline.weight_knee", {"ridge": 1125, "b": 0.53}, 298, 2e-3),
    ("roofline.weight_knee", {"ridge": 562.5, "b": 0.53125}, 149.4, 4e-4),
    ("roofline.free_batch", {"ridge": R_B200, "b": 2, "T": 4}, 70.3125, 1e-15),
    ("roofline.verify_ratio", {"ridge": 100, "b": 2, "B": 20, "T": 4}, 1.0, 0),
    ("roofline.verify_ratio", {"ridge": 100, "b": 2, "B": 50, "T": 4}, 2.0, 1e-15),
    ("roofline.verify_ratio", {"ridge": 100, "b": 2, "B": 500, "T": 4}, 4.0, 1e-15),
    # 3² + 4² = 5²: 4 s of arithmetic, 3 s of reading
    (
        "roofline.smooth_weight_time",
        {"P": 1, "n": 8, "b": 12, "peak": 4, "bandwidth": 4},
        5.0,
        1e-15,
    ),
    ("roofline.smooth_verify_ratio", {"ridge": 2, "b": 1, "B": 1, "T": 7}, 5.0, 1e-15),  # √50 / √2
    ("roofline.smooth_verify_ratio", {"ridge": 2, "b": 1, "B": 1e9, "T": 7}, 7.0, 1e-15),
    # r = n² / (n² + knee²), and the knee of 2 B a weight is the ridge
    (
        "roofline.smooth_weight_elasticity",
        {"n": 6, "b": 2, "peak": 8, "bandwidth": 1},
        0.36,
        1e-15,
    ),
    # experts
    ("experts.distinct_experts", {"n": 1, **V4}, 6.0, 1e-15),
    ("experts.distinct_experts", {"n": 2, **V4}, 11.859375, 1e-15),
    ("experts.distinct_experts", {"n": 8, **V4}, 44.24176, 1e-7),
    ("experts.distinct_experts", {"n": 64, **V4}, 199.88968, 1e-7),
    ("experts.distinct_experts", {"n": 64, "E": 128, "k": 4}, 111.2, 5e-4),
    ("experts.distinct_experts_variance", {"n": 1, **V4}, 0.0, 0),
    ("experts.distinct_experts_variance", {"n": 2, **V4}, 0.1346, 5e-4),
    ("experts.distinct_experts_variance", {"n": 8, **V4}, 2.976, 5e-4),
    ("experts.distinct_experts_variance", {"n": 64, **V4}, 24.98, 5e-4),
    ("experts.distinct_experts_deviation", {"n": 64, **V4}, 4.998, 5e-4),  # √24.98
    ("experts.balanced_experts", {"n": 42, **V4}, 252.0, 0),
    ("experts.balanced_experts", {"n": 43, **V4}, 256.0, 0),
    ("experts.expert_knee", V4, 42.6667, 1e-5),
    ("experts.tokens_to_cover", {"coverage": 0.5, **V4}, 29.23, 2e-4),
    ("experts.tokens_to_cover", {"coverage": 1, **V4}, math.inf, 0),
    # one token touches k of E, so all of them where k = E, and any less takes none at all
    ("experts.tokens_to_cover", {"coverage": 6 / 256, **V4}, 1.0, 1e-15),
    ("experts.tokens_to_cover", {"coverage": 1, "E": 8, "k": 8}, 1.0, 0),
    ("experts.tokens_to_cover", {"coverage": 0.9, "E": 8, "k": 8}, 0.0, 0),
    ("experts.expert_tax", {"n": 1, **V4, "s": 1}, 1.0, 1e-15),
    ("experts.expert_tax", {"n": 2, **V4, "s": 0}, 11.859375 / 6, 1e-15),
    ("experts.routed_intensity_start", {**V4, "b": 2}, 0.98823, 1e-5),  # series of ln by hand
    ("experts.routed_intensity", {"n": 0, **V4, "b": 2}, 0.98823, 1e-5),
    ("experts.routed_intensity", {"n": 1, **V4, "b": 2}, 1.0, 1e-15),  # 2 FLOP a weight, 2 B each
    ("experts.routed_slope_start", {**V4, "b": 2}, 6 / 512, 1e-15),
    ("experts.routed_slope_end", {**V4, "b": 2}, 6 / 256, 1e-15),
    ("experts.moe_intensity", {"n": 1, **V4, "s": 1, "b": 2}, 1.0, 1e-15),
    ("experts.moe_intensity", {"n": 0, **V4, "s": 1, "b": 2}, 0.0, 0),
    ("experts.moe_intensity", {"n": 0, **V4, "s": 0, "b": 2}, 0.98823, 1e-5),
    ("experts.moe_intensity", {"n": 1e9, **V4, "s": 1, "b": 2}, 1e9 * 7 / 257, 1e-12),
    ("experts.moe_slope_end", {**V4, "s": 1, "b": 2}, 7 / 257, 1e-15),
    ("experts.moe_relative_slope", {"n": 0, **V4, "s": 1}, 257.0, 1e-12),  # (E+s)/s
    ("experts.moe_relative_slope", {"n": 15, **V4, "s": 1}, 0.589, 1e-3),
    ("experts.moe_relative_slope", {"n": 43, **V4, "s": 1}, 0.67, 5e-3),
    ("experts.moe_relative_slope", {"n": 1e-6, **V4, "s": 0}, 0.5, 0.02),
    ("experts.moe_relative_slope", {"n": 0, **V4, "s": 0}, 0.5, 0),  # half the final slope
    # with k = E a step reads all of its experts whatever its tokens, as a dense layer does
    ("experts.moe_relative_slope", {"n": 0, "E": 8, "k": 8, "s": 0}, 1.0, 0),
    ("experts.moe_relative_slope", {"n": 3, "E": 8, "k": 8, "s": 1}, 1.0, 0),
    ("experts.sparsity_slope", {**V4, "s": 1}, 7 / 257, 1e-15),
    ("experts.moe_knee", {"ridge": 1125, "b": 0.53, **V4, "s": 1}, 10945, 5e-5),
    ("experts.moe_knee", {"ridge": 562.5, "b": 0.53125, **V4, "s": 1}, 5486, 1e-4),
    ("experts.marginal_price", {"n": 1, **V4, "s": 1}, 0.847, 6e-4),
    ("experts.marginal_price", {"n": 0, **V4, "s": 0}, 1.0, 0),
    ("experts.marginal_price", {"n": 3, "E": 8, "k": 8, "s": 0}, 0.0, 0),
    ("experts.layer_parameters", {"E": 256, "s": 1, "P_e": 3}, 771.0, 0),
    ("experts.experts_work", {"n": 2, "k": 6, "s": 1, "P_e": 5}, 140.0, 0),
    ("experts.experts_traffic", {"n": 1, **V4, "s": 1, "P_e": 5, "b": 0.5}, 17.5, 1e-12),
    (
        "experts.experts_time",
        {"n": 1, **V4, "s": 1, "P_e": 5, "b": 0.5, "peak": 1e6, "bandwidth": 2},
        8.75,
        1e-12,
    ),
    (
        "experts.experts_time",
        {"n": 1, **V4, "s": 1, "P_e": 5, "b": 0.5, "peak": 2, "bandwidth": 1e6},
        35.0,
        1e-12,
    ),
    # few tokens read (11.859375 + 1) / 7 as much; many compute twice as much; past every expert and
    # before the knee of 5 486 tokens a verify pass costs a plain step
    (
        "experts.verify_ratio",
        {"B": 1, "T": 2, **V4, "s": 1, "ridge": 562.5, "b": 0.53125},
        12.859375 / 7,
        1e-15,
    ),
    ("experts.verify_ratio", {"B": 1e6, "T": 2, **V4, "s": 1, "ridge": 562.5, "b": 1}, 2.0, 1e-15),
    ("experts.verify_ratio", {"B": 1e3, "T": 4, **V4, "s": 1, "ridge": 562.5, "b": 1}, 1.0, 1e-9),
    # the measured V4-Flash layer on B200: 30.8 µs at one token, 115 µs at eight
    ("experts.measured_layer_time", {"n": 1, **V4, "t_0": 19.8e-6, "t_e": 1.97e-6}, 30.8e-6, 0.05),
    ("experts.measured_layer_time", {"n": 8, **V4, "t_0": 19.8e-6, "t_e": 1.97e-6}, 115e-6, 0.1),
    # the table's own routing: 16 tokens took 204 µs, 32 took 390 µs
    ("locality.assigned_experts", {"n": 43, "k": 6}, 258.0, 0),
    ("experts.balanced_layer_time", {"n": 16, **V4, "t_0": 19.8e-6, "t_e": 1.968e-6}, 204e-6, 0.03),
    ("experts.balanced_layer_time", {"n": 32, **V4, "t_0": 19.8e-6, "t_e": 1.968e-6}, 390e-6, 0.03),
    # no fixed time: the price without shared experts; as much fixed as touched: half of it
    ("experts.measured_layer_price", {"n": 1, **V4, "t_0": 0, "t_e": 1}, 0.9882, 1e-4),
    ("experts.measured_layer_price", {"n": 1, **V4, "t_0": 6, "t_e": 1}, 0.4941, 1e-4),
    ("experts.measured_layer_price", {"n": 0, **V4, "t_0": 0, "t_e": 1}, 1.0, 0),
    ("experts.measured_layer_price", {"n": 3, "E": 8, "k": 8, "t_0": 1, "t_e": 1}, 0.0, 0),
    ("experts.local_experts", {"B": 8, "T": 1, **V4, "locality": 0.7}, 44.24176, 1e-7),
    ("experts.local_experts", {"B": 2, "T": 4, **V4, "locality": 1}, 44.24176, 1e-7),
    # 16 tokens of one sequence touched 55.1 of 256 experts, top-8, in a published measurement
    ("experts.local_experts", {"B": 1, "T": 16, "E": 256, "k": 8, "locality": 0.74}, 55.1, 0.02),
    ("experts.device_experts", {"n": 2, **V4, "G": 4}, 11.859375 / 4, 1e-15),
    (
        "experts.expert_parallel_knee",
        {"ridge": 1125, "b": 0.53, **V4, "s": 1, "G": 1},
        10945,
        5e-5,
    ),
    (
        "experts.expert_parallel_knee",
        {"ridge": 2, "b": 1, "E": 8, "k": 1, "s": 1, "G": 4},
        1.5,
        1e-15,
    ),
    # attention: Llama-3.1-70B's layer at B = 8, T = 4, S = 4096, counted outside this library
    ("attention.core_work", {"B": 8, "T": 4, "S": 4096, "f": 32768}, 3.435973837e11 / 80, 1e-9),
    (
        "attention.core_traffic",
        {"B": 8, "T": 4, "S": 4096, "m_c": 4096, "m_q": 32768},
        1.08213043e10 / 80,
        1e-8,
    ),
    ("attention.grouped_pair_work", {"n_h": 64, "d": 128}, 32768.0, 0),
    ("attention.grouped_context_bytes", {"n_kv": 8, "d": 128, "b_kv": 2}, 4096.0, 0),
    ("attention.grouped_query_bytes", {"n_h": 64, "d": 128, "b_q": 2}, 16384.0, 0),
    ("attention.grouped_query_output_bytes", {"n_h": 64, "d": 128, "b_q": 2}, 32768.0, 0),
    ("attention.latent_pair_work", {"n_h": 64, "d_c": 512, "d_r": 64}, 139264.0, 0),
    ("attention.latent_context_bytes", {"d_c": 512, "d_r": 64, "b_kv": 1}, 576.0, 0),
    ("attention.latent_query_bytes", {"n_h": 64, "d_c": 512, "d_r": 64, "b_q": 2}, 73728.0, 0),
    (
        "attention.latent_query_output_bytes",
        {"n_h": 64, "d_c": 512, "d_r": 64, "b_q": 2},
        139264.0,
        0,
    ),
    ("attention.latent_query_context_ratio", {"n_h": 64, "b_q": 2, "b_kv": 1}, 128.0, 0),
    ("attention.intensity", {"T": 1, "S": 512, **MLA}, 193, 3e-3),
    ("attention.intensity", {"T": 8, "S": 1048576, **MLA}, 1932, 3e-4),
    ("attention.intensity_long_context", {"T": 2, "f": 139264, "m_c": 576}, 483.6, 2e-4),
    ("attention.intensity_wide_verify", {"S": 512, "f": 139264, "m_q": 73728}, 967.1, 1e-4),
    ("attention.crossing_width", {"S": 1e12, "ridge": R_B200, **MLA}, 1.163, 5e-4),
    ("attention.crossing_width", {"S": 512, "ridge": 295.3, **MLA}, 1.76, 3e-3),
    ("attention.crossing_width", {"S": 100, "ridge": R_B200, **MLA}, math.inf, 0),
    (
        "attention.crossing_width_long_context",
        {"ridge": R_B200, "f": 139264, "m_c": 2 * 576},
        2.33,
        3e-3,
    ),
    ("attention.crossing_context", {"T": 2, "ridge": R_B200, **MLA}, 45555 / 128, 1e-5),
    ("attention.crossing_context", {"T": 1, "ridge": 206.1, **MLA}, 740, 1e-3),
    ("attention.crossing_context", {"T": 1, "ridge": R_B200, **MLA}, math.inf, 0),
    # a DeepSeek-V4 entry: 448 fp8 and 64 bf16 values, and 8 bytes of scales
    (
        "attention.mixed_context_bytes",
        {"d": 512, "d_r": 64, "b_kv": 1, "b_r": 2, "b_scale": 8},
        584.0,
        0,
    ),
    ("attention.full_entries", {"S": 100}, 100.0, 0),
    ("attention.scanned_entries", {"S": 4098, "compression": 4}, 1024.0, 0),
    # with query and output in bf16 the ratio f/m_q is 1 FLOP/B an entry, so the floor is the ridge
    (
        "attention.crossing_context_wide_verify",
        {"ridge": R_B200, "f": 139264, "m_q": 139264},
        R_B200,
        1e-15,
    ),
    # absorbed and expanded FLOPs of one head, counted apart, meet at a published 170 tokens
    ("attention.expansion_width", {"d_c": 512, "d_n": 128, "d_v": 128}, 170, 5e-3),
    (
        "attention.expansion_width",
        {"d_c": 512, "d_n": 128, "d_v": 128},
        2 * 512 * (128 + 128) / (2 * (512 + 64 + 512) - 2 * (128 + 64 + 128)),
        1e-15,
    ),
    ("attention.expansion_width", {"d_c": 100, "d_n": 128, "d_v": 128}, math.inf, 0),
    # 2 GB over 4 GB/s, and 64 GFLOP over 16 GFLOP/s
    (
        "attention.core_time",
        {"B": 2, "T": 1, "S": 1e6, "f": 1, "m_c": 1000, "m_q": 0, "peak": 1e9, "bandwidth": 4e9},
        0.5,
        1e-15,
    ),
    (
        "attention.core_time",
        {"B": 2, "T": 8, "S": 4e6, "f": 1000, "m_c": 1, "m_q": 1, "peak": 16e9, "bandwidth": 1e9},
        4.0,
        1e-15,
    ),
    ("attention.window_entries", {"S": 100, "window": 128}, 100.0, 0),
    ("attention.recurrent_entries", {"S": 100}, 1.0, 0),
    ("attention.recurrent_entries", {"S": 0}, 0.0, 0),
    ("attention.split_pair_work", {"n_h": 64, "d": 192, "d_v": 128}, 2.0 * 64 * 320, 0),
    ("attention.split_pair_work", {"n_h": 64, "d": 64, "d_v": 64}, 16384.0, 0),  # as grouped
    (
        "attention.split_context_bytes",
        {"n_kv": 4, "d": 192, "d_v": 128, "b_kv": 2},
        4 * (192 + 128) * 2.0,
        0,
    ),
    (
        "attention.split_query_output_bytes",
        {"n_h": 64, "d": 192, "d_v": 128, "b_q": 2},
        64 * 192 * 2 + 64 * 128 * 2.0,
        0,
    ),
    ("attention.token_bytes", {"m_c": 584, "compression": 4}, 146.0, 0),
    ("attention.entry_bytes", {"m_c": 2048, "S": 128}, 262144.0, 0),
    ("attention.scaled_key_bytes", {"i_d": 128, "b_kv": 1, "b_scale": 4}, 132.0, 0),
    ("attention.window_entries", {"S": 1000, "window": 128}, 128.0, 0),
    ("attention.selected_entries", {"S": 5000, "topk": 2048}, 2048.0, 0),
    ("attention.compressed_entries", {"S": 4096, "compression": 128, "window": 128}, 160.0, 0),
    (
        "attention.compressed_selected_entries",
        {"S": 4096, "compression": 4, "window": 128, "topk": 512},
        640.0,
        0,
    ),
    ("attention.indexer_pair_work", {"i_h": 64, "i_d": 128}, 16384.0, 0),
    ("attention.indexer_key_bytes", {"i_d": 128, "b_kv": 0.5}, 64.0, 0),
    (
        "attention.state_bytes",
        {"n_v": 32, "d_k": 128, "d_v": 128, "b_s": 4, "state_passes": 2},
        4194304.0,
        0,
    ),
    ("attention.state_work", {"T": 2, "n_v": 32, "d_k": 128, "d_v": 128, "f_s": 6}, 6291456.0, 0),
    ("attention.state_intensity", {"T": 4, "f_s": 6, "b_s": 4, "state_passes": 2}, 3.0, 0),
    ("attention.state_intensity", {"T": 4, "f_s": 8, "b_s": 2, "state_passes": 1}, 16.0, 0),
    ("attention.cache_read_time", {"m_c": 576, "S": 1000, "bandwidth": 8e12}, 72e-9, 1e-12),
    # sharing: by hand, a cache of 6 bytes and 3 for each query token
    ("sharing.verify_ratio", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 1, "ridge": 100}, 12 / 9, 1e-15),
    ("sharing.verify_ratio", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 4, "ridge": 1}, 2.0, 0),
    ("sharing.verify_ratio", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 2, "ridge": 1}, 2.0, 0),
    ("sharing.verify_ratio", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 1, "ridge": 0.75}, 16 / 9, 1e-15),
    ("sharing.plain_bytes", {"S": 6, "m_c": 1, "m_q": 3, "f": 1, "ridge": 100}, 9.0, 0),
    ("sharing.plain_bytes", {"S": 6, "m_c": 1, "m_q": 3, "f": 4, "ridge": 1}, 24.0, 0),
    ("sharing.shared_width", {"S": 6, "m_c": 1, "m_q": 3}, 2.0, 0),
    ("sharing.shared_width", {"S": 6, "m_c": 1, "m_q": 0}, math.inf, 0),
    (
        "sharing.affordable_width",
        {"premium": 0.25, "S": 6, "m_c": 1, "m_q": 3, "f": 1, "ridge": 100},
        1.75,  # 11.25 = 6 + 3·1.75
        1e-15,
    ),
    (
        "sharing.affordable_width",
        {"premium": 0.25, "S": 6, "m_c": 1, "m_q": 3, "f": 4, "ridge": 1},
        1.25,  # compute-bound from the first token
        1e-15,
    ),
    (
        "sharing.affordable_width",
        {"premium": 0.25, "S": 6, "m_c": 1, "m_q": 0, "f": 1, "ridge": 2},
        2.5,  # 7.5 = 3·2.5
        1e-15,
    ),
    ("sharing.selection_pays", {"compression": 2, "topk": 10, "m_c": 4, "m_i": 2}, 40.0, 0),
    ("sharing.selection_pays", {"compression": 2, "topk": 10, "m_c": 2, "m_i": 4}, math.inf, 0),
    (
        "sharing.scan_overtakes",
        {"compression": 4, "T": 2, "S": 10, "m_c": 2, "m_q": 5, "f": 1, "f_i": 1, "m_i": 5, "ridge": 100},
        24.0,  # 30 bytes, 6 keys of 5 bytes, of 4 tokens each
        0,
    ),
    (
        "sharing.scan_overtakes",
        {"compression": 1, "T": 3, "S": 10, "m_c": 2, "m_q": 0, "f": 8, "f_i": 2, "m_i": 1, "ridge": 1},
        40.0,  # 8·10/2, both compute-bound
        1e-15,
    ),
    ("sharing.replay_bytes", {"n_v": 32, "d_k": 128, "d_v": 128, "b_x": 2}, 16512.0, 0),
    # acceptance
    ("acceptance.expected_tokens", {"alpha": 0.5, "gamma": 3}, 1.875, 1e-15),  # 1+½+¼+⅛
    ("acceptance.expected_tokens", {"alpha": 1, "gamma": 3}, 4.0, 0),
    ("acceptance.expected_tokens", {"alpha": 0, "gamma": 3}, 1.0, 0),
    ("acceptance.expected_tokens", {"alpha": 0.8, "gamma": 2}, 2.44, 1e-15),
    ("acceptance.expected_tokens", {"alpha": 0.8, "gamma": 8}, 4.33, 1e-3),
    ("acceptance.survival", {"alpha": 0.5, "gamma": 3}, 0.125, 1e-15),
    ("acceptance.mean_acceptance", {"N": 2.44, "gamma": 2}, 0.72, 1e-12),
    ("acceptance.mean_acceptance", {"N": 4.33, "gamma": 8}, 0.416, 1e-3),
    ("acceptance.expected_tokens_per_position(3)", dict(alpha_1=0.8, alpha_2=0.5, alpha_3=0), 2.2, 1e-15),
    ("acceptance.expected_tokens_from_survival(3)", dict(sigma_1=0.8, sigma_2=0.4, sigma_3=0), 2.2, 1e-15),
    ("acceptance.extended_survival", {"sigma": 0.5, "alpha": 0.5}, 0.25, 0),
    ("acceptance.extended_tokens", {"N": 1.5, "sigma": 0.25}, 1.75, 0),
    ("acceptance.conditional_acceptance", {"sigma_1": 0.8, "sigma_2": 0.4}, 0.5, 0),
    ("acceptance.conditional_acceptance", {"sigma_1": 0, "sigma_2": 0}, 0.0, 0),
    ("acceptance.depth_acceptance", dict(alpha=0.8, alpha_end=0, decay=0.5, position=1), 0.8, 1e-15),
    ("acceptance.depth_acceptance", dict(alpha=0.8, alpha_end=0.4, decay=0.5, position=3), 0.5, 1e-15),
    ("acceptance.depth_acceptance", dict(alpha=0.8, alpha_end=0.4, decay=0, position=2), 0.4, 1e-15),
    ("acceptance.context_acceptance", dict(alpha=0.8, drop=0.1, S_0=1000, S=4000), 0.6, 1e-12),
    ("acceptance.context_acceptance", dict(alpha=0.8, drop=0.1, S_0=1000, S=10), 0.8, 0),
    ("acceptance.context_acceptance", dict(alpha=0.1, drop=0.1, S_0=1000, S=8000), 0.0, 0),
    (
        "acceptance.mixed_survival(2)",
        {"share_1": 0.25, "sigma_1": 0.8, "share_2": 0.75, "sigma_2": 0.4},
        0.5,
        1e-15,
    ),
    ("acceptance.overlap(3)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6), 0.6, 1e-12),
    ("acceptance.residual(3, 2)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6), 0.25, 1e-12),
    ("acceptance.committed_law(3, 2)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6), 0.3, 1e-12),
    # squares of 0.5, 0.3, 0.2 are 25 : 9 : 4; at temperature 1 nothing changes
    ("acceptance.tempered('q', 3, 2)", dict(q_1=0.5, q_2=0.3, q_3=0.2, temperature=0.5), 9 / 38, 1e-12),
    ("acceptance.tempered('q', 3, 2)", dict(q_1=0.5, q_2=0.3, q_3=0.2, temperature=1), 0.3, 1e-12),
    # at half the bar 0.2 + 0.2 + 0.4 pass; the other 0.2 of the draws are made up as 3 : 1 : 0
    ("acceptance.lenient_overlap(3)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6, lenience=0.5), 0.8, 1e-12),
    ("acceptance.lenient_law(3, 2)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6, lenience=0.5), 0.25, 1e-12),
    ("acceptance.lenient_law(3, 2)", dict(p_1=0.5, p_2=0.3, p_3=0.2, q_1=0.2, q_2=0.2, q_3=0.6, lenience=1), 0.3, 1e-12),
    # speculation: the first-token hurdle at C(2)/C₀ = 1.4 and c = 0.1 is 0.5
    ("speculation.speedup", {"N": 3, "C_0": 1, "C_verify": 1.3, "C_draft": 0.2}, 2.0, 1e-15),
    ("speculation.hurdle", {"C_verify": 1.4, "C_0": 1, "c": 0.1}, 0.5, 1e-12),
    ("speculation.free_speedup", {"alpha": 0.5, "gamma": 3, "c": 0.25}, 1.875 / 1.75, 1e-15),
    ("speculation.free_speedup", {"alpha": 1, "gamma": 3, "c": 1}, 1.0, 1e-15),
    ("speculation.break_even_tokens", {"C_verify": 3, "C_draft": 1, "C_0": 2}, 2.0, 0),
    ("speculation.break_even_pair", {"C_verify": 1.65, "C_draft": 0.1, "C_0": 1}, 0.5, 1e-12),
    (
        "speculation.draft_budget",
        {"N": 3, "C_0": 1, "target_speedup": 2, "C_verify": 1.3},
        0.2,
        1e-12,
    ),
    # 3 tokens for 1.5 plain steps, of which verifying takes 1.2: 0.3 is left for two tokens
    (
        "speculation.fraction_budget",
        {"N": 3, "C_0": 2, "C_verify": 2.4, "gamma": 2, "target_speedup": 2},
        0.15,
        1e-12,
    ),
    ("speculation.token_time", {"C_verify": 5, "C_draft": 1, "N": 3}, 2.0, 0),
    ("speculation.throughput", {"C_verify": 5, "C_draft": 1, "N": 3, "B": 8}, 4.0, 0),
    ("speculation.fraction_draft", {"c": 0.1, "gamma": 3, "C_0": 2}, 0.6, 1e-15),
    ("speculation.serial_draft", dict(gamma=3, C_pass=2, t_pass=1, t_round=5), 14.0, 0),
    ("speculation.serial_draft", dict(gamma=0, C_pass=2, t_pass=1, t_round=5), 0.0, 0),
    ("speculation.block_draft", dict(gamma=3, C_pass=2, t_pass=1, t_round=5), 8.0, 0),
    ("speculation.block_draft", dict(gamma=0, C_pass=2, t_pass=1, t_round=5), 0.0, 0),
    ("speculation.lookup_draft", dict(gamma=3, t_round=5), 5.0, 0),
    ("speculation.lookup_draft", dict(gamma=0, t_round=5), 0.0, 0),
    # 0.6 s for three tokens beside a plain step of 2 s; 1 s of a round of 4 s
    ("speculation.draft_fraction", {"C_draft": 0.6, "gamma": 3, "C_0": 2}, 0.1, 1e-12),
    ("speculation.draft_share", {"C_draft": 1, "C_verify": 3}, 0.25, 0),
    ("speculation.marginal_return", {"sigma": 0.5, "C": 2, "N": 2, "dC": 0.5}, 1.0, 0),
    ("speculation.kept", {"alpha": 0.5, "keep_good": 0.8, "keep_bad": 0.4}, 0.6, 1e-12),
    (
        "speculation.survivor_acceptance",
        {"alpha": 0.5, "keep_good": 0.8, "keep_bad": 0.4},
        2 / 3,
        1e-12,
    ),
    ("speculation.survivor_acceptance", {"alpha": 0, "keep_good": 1, "keep_bad": 0}, 0.0, 0),
    ("speculation.two_stage_tokens", {"alpha": 1, "keep_good": 0.5, "gamma": 3}, 1.875, 1e-15),
    ("speculation.two_stage_tokens", {"alpha": 1, "keep_good": 1, "gamma": 3}, 4.0, 0),
    (
        "speculation.two_stage_speedup",
        {"N": 3, "C_0": 1, "phi": 0.1, "C_verify": 1.2, "C_draft": 0.2},
        2.0,
        1e-12,
    ),
    ("speculation.two_stage_time", {"phi": 0.5, "C_0": 2, "C_verify": 3, "C_draft": 1}, 5.0, 0),
    ("speculation.kept_right", {"sigma": 0.5, "alpha": 0.5, "keep_good": 0.8}, 0.2, 1e-15),
    ("speculation.kept_wrong", {"sigma": 0.5, "alpha": 0.6, "wrong": 0.3, "keep_bad": 0.4}, 0.2, 1e-15),
    ("speculation.kept_wrong", {"sigma": 1, "alpha": 1, "wrong": 0, "keep_bad": 1}, 0.0, 0),
    ("speculation.mean_verify(2)", {"share_1": 0.25, "share_2": 0.75, "C_1": 2, "C_2": 6}, 5.0, 0),
    ("speculation.two_stage_length(4)", dict(alpha=0.3, keep_good=1, keep_bad=1), 4.0, 1e-15),
    # adapting: by hand, and the limits of no trial and of many
    ("adapting.shrunk_acceptance", {"alpha": 0.5, "weight": 4, "accepted": 6, "offered": 6}, 0.8, 1e-15),
    ("adapting.shrunk_acceptance", {"alpha": 0.3, "weight": 4, "accepted": 0, "offered": 0}, 0.3, 1e-15),
    ("adapting.optimistic_acceptance", {"alpha": 0.5, "quantile": 2, "offered": 24}, 0.7, 1e-15),
    ("adapting.optimistic_acceptance", {"alpha": 0.5, "quantile": 2, "offered": 0}, 1.0, 0),
    ("adapting.forgetting", {"half_life": 1}, 0.5, 0),
    ("adapting.forgetting", {"half_life": 10}, 0.9330329915368074, 1e-15),  # 2^(−1/10)
    ("adapting.round_loss", {"C_verify": 3, "C_draft": 1, "N": 1.5, "pace": 2}, 1.0, 0),
    ("speculation.two_stage_length(4)", dict(alpha=1, keep_good=0.5, keep_bad=1), 0.9375, 1e-15),
    # drop every token but the first: (¾, ¼, 0) from p = q = (½, ½, 0), so the output is biased
    (
        "speculation.pruned_law(3, 2)",
        dict(p_1=0.5, p_2=0.5, p_3=0, q_1=0.5, q_2=0.5, q_3=0, h_1=1, h_2=0, h_3=0),
        0.25,
        1e-15,
    ),
    (
        "speculation.mended_residual(3, 2)",
        dict(p_1=0.5, p_2=0.5, p_3=0, q_1=0.5, q_2=0.5, q_3=0, h_1=1, h_2=0, h_3=0),
        1.0,
        1e-15,
    ),
    (
        "speculation.survivors_law(3, 2)",
        dict(q_1=0.5, q_2=0.25, q_3=0.25, h_1=0.5, h_2=1, h_3=0),
        0.5,
        1e-15,
    ),
    # the engine around the roofline: by hand; FlashMLA's jump from 64 to 80 rows of 64-row tiles
    ("engine.replica_batch", {"B": 9, "dp": 4}, 3.0, 0),
    ("engine.replica_tokens", {"B": 9, "dp": 4, "T": 2}, 6.0, 0),
    ("engine.replica_cache", {"B": 9, "dp": 4, "m_c": 10, "S": 100, "m_s": 7}, 3021.0, 0),
    ("engine.entry_share", {"n_kv": 8, "tp": 2}, 0.5, 0),
    ("engine.entry_share", {"n_kv": 4, "tp": 8}, 0.25, 0),
    ("engine.entry_share", {"n_kv": 1, "tp": 8}, 1.0, 0),
    ("engine.fullest_experts", {"A": 40, "E": 64, "G": 8, "imbalance": 1.2}, 6.0, 1e-15),
    ("engine.fullest_experts", {"A": 40, "E": 64, "G": 8, "imbalance": 3}, 8.0, 0),
    ("engine.popular_experts", {"n": 2, "E": 4, "inclusion": 0.5}, 3.0, 1e-15),
    ("engine.row_padding", {"T": 4, "n_h": 16, "tile": 64}, 1.0, 0),
    ("engine.row_padding", {"T": 5, "n_h": 16, "tile": 64}, 1.6, 1e-15),
    ("engine.selected_by_all", {"T": 4, "topk": 512, "spread": 0}, 512.0, 0),
    ("engine.selected_by_all", {"T": 4, "topk": 512, "spread": 1}, 2048.0, 0),
    ("engine.fixed_time", {"t_step": 1e-3, "L": 40, "t_layer": 25e-6}, 2e-3, 1e-15),
    (
        "engine.overhead_time",
        {"t_step": 1e-3, "L": 40, "t_layer": 25e-6, "t_token": 1e-7, "graph_tokens": 16, "eager": 5, "n": 16},
        2.064e-3,
        1e-15,
    ),
    (
        "engine.overhead_time",
        {"t_step": 1e-3, "L": 40, "t_layer": 25e-6, "t_token": 1e-7, "graph_tokens": 16, "eager": 5, "n": 20},
        1.008e-2,
        1e-15,
    ),
    (
        "engine.recorded_overhead_time",
        {"t_step": 1e-3, "L": 40, "t_layer": 25e-6, "t_token": 1e-7, "n": 20},
        2.08e-3,
        1e-15,
    ),
    ("engine.tiered_bandwidth", {"offloaded": 0.5, "bandwidth": 100, "slow_bandwidth": 25}, 40.0, 1e-15),
    ("engine.overlapped_bandwidth", {"offloaded": 0.5, "bandwidth": 100, "slow_bandwidth": 25}, 50.0, 1e-15),
    # communication: two of two devices hold a token's two experts half of the time, else one does
    ("communication.activation_bytes", {"n": 3, "H": 10, "b_x": 2}, 60.0, 0),
    ("communication.logit_bytes", {"n": 3, "V": 100, "b_x": 2}, 600.0, 0),
    ("communication.devices_reached", {"G": 2, "k": 2}, 1.5, 1e-15),
    (
        "communication.dispatch_bytes",
        {"n": 8, "D": 4, "H": 10, "b_x": 2, "G": 2, "k": 2},
        60.0,
        1e-15,
    ),
    ("communication.all_reduce_time", {"D": 4, "traffic": 80, "link": 10, "t_c": 1}, 13.0, 1e-15),
    ("communication.exchange_time", {"D": 4, "traffic": 80, "link": 10, "t_c": 1}, 7.0, 1e-15),
    # 30 s of latency are 300 B of a link; a token is 20 B, of which a device passes on 3/4: twice in
    # a sum, and in a dispatch a quarter of it to each of 1.5 devices
    ("communication.reduce_knee", {"D": 4, "H": 10, "b_x": 2, "link": 10, "t_c": 30}, 10.0, 1e-15),
    ("communication.reduce_knee", {"D": 1, "H": 10, "b_x": 2, "link": 10, "t_c": 30}, math.inf, 0),
    (
        "communication.dispatch_knee",
        {"D": 4, "H": 10, "b_x": 2, "G": 2, "k": 2, "link": 10, "t_c": 30},
        160 / 3,
        1e-15,
    ),
    (
        "communication.dispatch_knee",
        {"D": 1, "H": 10, "b_x": 2, "G": 2, "k": 2, "link": 10, "t_c": 30},
        math.inf,
        0,
    ),
    # locality by hand: 4^½ = 2 independent tokens touch 4·(1 − ¼) = 3 of 4 experts; A′(2) = ln 2
    ("locality.local_tax", {"E": 4, "k": 2, "s": 1, "B": 1, "T": 4, "locality": 0.5}, 4 / 3, 1e-15),
    ("locality.independent_tokens", {"B": 3, "T": 16, "locality": 0.5}, 12.0, 1e-15),
    ("locality.local_price", {"E": 4, "k": 2, "s": 1, "B": 1, "T": 4, "locality": 0.5}, math.log(2) / 4, 1e-15),
    ("locality.local_price", {"E": 4, "k": 4, "s": 1, "B": 3, "T": 4, "locality": 0.5}, 0.0, 0),
    # two tokens a pass that takes 3 s and 1 s of drafting, against a plain step of 5 s
    ("speculation.equal_throughput_tokens", {"T": 2, "C": 5, "C_verify": 3, "C_draft": 1}, 1.6, 1e-15),
    # prices by hand: 2·3 query bytes of 6 + 6; in 2 FLOP/s it computes for longer; 2 of 2 + 2 + 4 s
    ("price.core_price", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 1, "peak": 100, "bandwidth": 1}, 0.5, 1e-15),
    ("price.core_price", {"T": 2, "S": 6, "m_c": 1, "m_q": 3, "f": 4, "peak": 2, "bandwidth": 1}, 1.0, 0),
    ("price.overhead_price", {"t_step": 2, "L": 4, "t_layer": 1, "t_token": 0.25, "n": 2}, 0.25, 1e-15),
    ("price.drafted_price", {"C_verify": 2.5, "C_0": 1, "gamma": 3}, 0.5, 1e-15),
    ("price.mean_price", {"C_verify": 6, "C_0": 3, "gamma": 3}, 0.5, 1e-15),  # 4^½ = 2
    ("price.verify_growth", {"r": 0.5, "gamma": 3}, 2.0, 1e-15),
    ("price.survival_needed", {"r": 0.5, "N": 2, "T": 4}, 0.25, 1e-15),
    ("price.blended_price(2)", {"C_1": 1, "r_1": 1, "C_2": 3, "r_2": 0.5}, 0.625, 1e-15),
    # counters as engines print them: 44 of 161 in 23 steps, 384 of 426 in 503 tokens
    ("counting.counted_tokens", {"accepted": 44, "steps": 23}, 2.913, 2e-4),
    ("counting.emitted_tokens", {"emitted": 503, "steps": 119}, 4.23, 2e-3),
    ("counting.emitted_steps", {"emitted": 503, "accepted": 384}, 119.0, 0),
    ("counting.counted_rate", {"accepted": 167, "drafted": 259}, 0.64479, 1e-5),
    ("counting.counted_rate", {"accepted": 0, "drafted": 0}, 0.0, 0),
    ("counting.rated_tokens", {"rate": 0.5, "drafted": 30, "steps": 10}, 2.5, 1e-15),
    ("counting.length_tokens", {"rate": 0.39, "gamma": 3}, 2.17, 1e-15),
    ("counting.drafts_tokens", {"accepted": 1.105}, 2.105, 1e-15),
    # 2.17 committed of 4 verified tokens prints as 0.54, and is 1.17 of 3
    ("counting.rooted_tokens", {"rooted_rate": 0.5425, "gamma": 3}, 2.17, 1e-15),
    ("counting.unrooted_rate", {"rooted_rate": 0.5425, "gamma": 3}, 0.39, 1e-12),
    ("counting.unrooted_rate", {"rooted_rate": 0.25, "gamma": 3}, 0.0, 0),
    ("counting.root_bias", {"N": 4, "gamma": 3}, 0.0, 0),
    ("counting.root_bias", {"N": 2, "gamma": 3}, 1 / 6, 1e-12),  # 2/4 − 1/3
    ("counting.end_bias", {"gamma": 5, "requests": 1, "steps": 5}, 1.0, 0),
    ("counting.posterior_mean", {"prior": 0.5, "accepted": 0, "offered": 1}, 0.25, 1e-15),
    ("counting.posterior_mean", {"prior": 1, "accepted": 2, "offered": 2}, 0.75, 1e-15),  # (2+1)/(2+2)
    ("counting.steps_to_decide", {"quantile": 2, "deviation": 3, "gap": 0.5}, 144.0, 1e-15),
    ("counting.idle_speedup", {"tax": 0.25}, 0.8, 1e-15),
    ("counting.step_tokens", {"B": 32, "gamma": 2}, 96.0, 0),
    ("counting.admitted_batch", {"token_budget": 32, "gamma": 2}, 10.6667, 1e-5),
    # the published calculator's layer, one token: both weights once, and one cache
    ("published.projection_bytes", {"P_a": 107e6, "b_a": 1, "B": 1, "T": 1, "ridge_projection": 563}, 107e6, 0),
    ("published.projection_bytes", {"P_a": 107e6, "b_a": 1, "B": 563, "T": 1, "ridge_projection": 563}, 214e6, 1e-12),
    (
        "published.expert_bytes",
        {"P_e": 25.2e6, "b": 0.53, **V4, "s": 1, "B": 1, "T": 1, "ridge_expert": 1125},
        93.492e6,  # 7 experts of 13.356 MB
        1e-9,
    ),
    ("published.core_bytes", {"m_c": 576, "S": 1000, "f": 139264, "T": 1, "B": 2, "ridge_core": 281}, 1152000.0, 0),
    (
        "published.layer_bytes",
        {
            "P_a": 107e6, "b_a": 1, "B": 1, "T": 1, "ridge_projection": 563, "P_e": 25.2e6,
            "b": 0.53, **V4, "s": 1, "ridge_expert": 1125, "m_c": 576, "S": 1000, "f": 139264,
            "ridge_core": 281,
        },
        107e6 + 93.492e6 + 576000,
        1e-9,
    ),
]
# fmt: on


def _formula(name: str) -> Formula:
    return MADE[name] if name in MADE else MODULE_LEVEL[name]


@pytest.mark.parametrize(("name", "inputs", "value", "tolerance"), EQUATIONS)
def test_value_by_a_second_route(
    name: str, inputs: dict[str, Any], value: float, tolerance: float
) -> None:
    assert _formula(name)(**inputs) == pytest.approx(value, rel=max(tolerance, 1e-15), abs=1e-15)


@pytest.mark.parametrize("name", MODULE_LEVEL | MADE)
def test_every_formula_has_an_independent_value(name: str) -> None:
    topic = name.partition(".")[0]
    if topic in ("weights", "drafters"):  # exact counts, in test_weights.py and test_drafters.py
        return
    assert name in {row[0] for row in EQUATIONS}


PUBLISHED_TABLE = {
    512: (193, 322, 484, 645),
    1024: (215, 387, 645, 967),
    8192: (238, 469, 910, 1719),
    16384: (240, 476, 938, 1820),
    1048576: (242, 483, 967, 1932),
}


def test_published_attention_table() -> None:
    widths = np.array([1, 2, 4, 8])
    for context, published in PUBLISHED_TABLE.items():
        computed = formulas.attention.intensity(T=widths, S=context, **MLA)
        # a published row is rounded or cut to whole numbers
        assert np.all(np.abs(computed - published) < 1), context
