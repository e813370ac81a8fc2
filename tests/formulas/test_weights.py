"""Parameters of weights: the Formulas against matrices laid out by shape and published counts."""

from __future__ import annotations

import math

import pytest

from specdec_lib.formula import Formula
from specdec_lib.formulas import weights

#: Shapes of every matrix (or lengths of every vector), as the checkpoints of published models have
#: them: Llama-3.1-70B, Qwen3-Next, MiMo-V2-Flash, Gemma 4, DeepSeek-V3, DeepSeek-V2-Lite,
#: DeepSeek-V4-Flash, DeepSeek-V3.2, Kimi-Linear, Nemotron-3-Nano, gpt-oss-120b, Mixtral.
SHAPES: dict[str, tuple[dict[str, int], list[tuple[int, ...]]]] = {
    "grouped_projection": (
        {"H": 8192, "n_h": 64, "n_kv": 8, "d": 128},
        [(8192, 8192), (1024, 8192), (1024, 8192), (8192, 8192)],
    ),
    "gated_projection": (
        {"H": 2048, "n_h": 16, "n_kv": 2, "d": 256},
        [(2 * 16 * 256, 2048), (512, 2048), (512, 2048), (2048, 16 * 256)],
    ),
    "split_projection": (
        {"H": 4096, "n_h": 64, "n_kv": 4, "d": 192, "d_v": 128},
        [(64 * 192, 4096), (4 * 192, 4096), (4 * 128, 4096), (4096, 64 * 128)],
    ),
    "shared_projection": (
        {"H": 2816, "n_h": 16, "n_kv": 2, "d": 512},
        [(8192, 2816), (1024, 2816), (2816, 8192)],
    ),
    "input_biases": ({"n_h": 28, "n_kv": 4, "d": 128}, [(3584,), (512,), (512,)]),
    "wide_norms": ({"n_h": 48, "n_kv": 8, "d": 128}, [(6144,), (1024,)]),
    "grouped_biases": (
        {"H": 2880, "n_h": 64, "n_kv": 8, "d": 64},
        [(4096,), (512,), (512,), (2880,)],
    ),
    "head_norms": ({"d": 128}, [(128,), (128,)]),
    "latent_projection": (
        {"H": 7168, "n_h": 128, "d_q": 1536, "d_c": 512, "d_r": 64, "d_n": 128, "d_v": 128},
        [(1536, 7168), (24576, 1536), (576, 7168), (32768, 512), (7168, 16384)],
    ),
    "latent_direct_projection": (
        {"H": 2048, "n_h": 16, "d_c": 512, "d_r": 64, "d_n": 128, "d_v": 128},
        [(3072, 2048), (576, 2048), (4096, 512), (2048, 2048)],
    ),
    "compressed_projection": (
        {"H": 4096, "n_h": 64, "d": 512, "d_q": 1024, "d_o": 1024, "o_groups": 8},
        [(1024, 4096), (32768, 1024), (512, 4096), (8, 1024, 4096), (4096, 8192)],
    ),
    "compressor": ({"H": 4096, "overlap": 2, "d": 512}, [(1024, 4096), (1024, 4096)]),
    "compressor_vectors": ({"compression": 128, "overlap": 1, "d": 512}, [(128, 512), (512,)]),
    "indexer_projection": (
        {"H": 4096, "d_q": 1024, "i_h": 64, "i_d": 128},
        [(8192, 1024), (64, 4096)],
    ),
    "sparse_indexer_projection": (
        {"H": 7168, "d_q": 1536, "i_h": 64, "i_d": 128},
        [(8192, 1536), (128, 7168), (64, 7168)],
    ),
    "sparse_indexer_vectors": ({"i_d": 128}, [(128,), (128,)]),
    # in_proj_qkvz and in_proj_ba, out_proj
    "delta_projection": (
        {"H": 2048, "n_k": 16, "n_v": 32, "d_k": 128, "d_v": 128},
        [(2048 + 2048 + 4096 + 4096, 2048), (64, 2048), (2048, 4096)],
    ),
    # conv1d, dt_bias, A_log, norm
    "delta_vectors": (
        {"n_k": 16, "n_v": 32, "d_k": 128, "d_v": 128, "taps": 4},
        [(8192, 1, 4), (32,), (32,), (128,)],
    ),
    # q, k, v; f_a, f_b; g_a, g_b; b; o
    "channel_projection": (
        {"H": 2304, "n_v": 32, "d_v": 128},
        [
            *[(4096, 2304)] * 3,
            *[(128, 2304), (4096, 128)] * 2,
            *[(32, 2304), (2304, 4096)],
        ],
    ),
    # conv1d, dt_bias, A_log, o_norm
    "channel_vectors": (
        {"n_v": 32, "d_v": 128, "taps": 4},
        [(3 * 4096, 1, 4), (4096,), (1, 1, 32, 1), (128,)],
    ),
    # in_proj to gate, convolved input with two vectors a group, and step; out_proj
    "mamba_projection": (
        {"H": 2688, "n_v": 64, "d_v": 64, "s_groups": 8, "d_k": 128},
        [(4096 + (4096 + 2 * 8 * 128) + 64, 2688), (2688, 4096)],
    ),
    # conv1d with biases; dt_bias, A_log, D; norm
    "mamba_vectors": (
        {"n_v": 64, "d_v": 64, "s_groups": 8, "d_k": 128, "taps": 4},
        [(6144, 1, 4), (6144,), (64,), (64,), (64,), (4096,)],
    ),
    "plain_ffn": ({"H": 2688, "H_ff": 1856}, [(1856, 2688), (2688, 1856)]),
    "gated_ffn": ({"H": 8192, "H_ff": 28672}, [(28672, 8192), (28672, 8192), (8192, 28672)]),
    "expert_parameters": ({"H": 4096, "H_ff": 2048}, [(2048, 4096), (2048, 4096), (4096, 2048)]),
    "ffn_biases": ({"H": 2880, "H_ff": 2880}, [(5760,), (2880,)]),
    "routed_parameters": (
        {"E": 8, "P_e": 3 * 4096 * 14336},
        [(8, 2 * 14336, 4096), (8, 4096, 14336)],
    ),
    "shared_parameters": (
        {"s": 2, "P_e": 3 * 2048 * 1408},
        [(2816, 2048), (2816, 2048), (2048, 2816)],
    ),
    "router": ({"E": 256, "H": 4096}, [(256, 4096)]),
    "vocabulary_matrix": ({"V": 129280, "H": 4096}, [(129280, 4096)]),
    "layer_norms": ({"norms": 2, "H": 4096}, [(4096,), (4096,)]),
    "draft_projection": ({"H": 7168}, [(7168, 2 * 7168)]),
    # the weights of a mixing: 4 into the block, 4 out of it, 16 among the streams
    "hyper_connection": ({"streams": 4, "H": 4096}, [(24, 16384), (24,), (3,)]),
    "hyper_connection_head": ({"streams": 4, "H": 4096}, [(4, 16384), (4,), (1,)]),
}


def formulas_here() -> dict[str, Formula]:
    return {name: f for name, f in vars(weights).items() if isinstance(f, Formula)}


@pytest.mark.parametrize("name", SHAPES)
def test_counts_every_element_of_every_matrix(name: str) -> None:
    sizes, shapes = SHAPES[name]
    assert formulas_here()[name](**sizes) == sum(math.prod(shape) for shape in shapes)


def test_every_formula_of_weights_is_tested() -> None:
    assert {n for n in formulas_here() if not n.startswith("_")} == {*SHAPES, "block_scaled_bytes"}


def test_published_sizes_of_deepseek_v4_flash() -> None:
    """107 million in a layer's attention projections, 25.2 million in an expert."""
    sizes, _ = SHAPES["compressed_projection"]
    assert weights.compressed_projection(**sizes) == 106_954_752
    assert weights.expert_parameters(H=4096, H_ff=2048) == 25_165_824


def test_a_sparse_layer_of_v4_adds_19_million() -> None:
    compressors = [weights.compressor(H=4096, overlap=2, d=width) for width in (512, 128)]
    indexer = weights.indexer_projection(H=4096, d_q=1024, i_h=64, i_d=128)
    assert sum(compressors) + indexer == 19_136_512


@pytest.mark.parametrize(
    ("name", "bits", "scale_bits", "block", "per_weight"),
    [
        ("bf16", 16, 0, 1, 2.0),
        ("fp8", 8, 0, 1, 1.0),
        ("mxfp4", 4, 8, 32, 0.53125),
        ("nvfp4", 4, 8, 16, 0.5625),
        ("fp8, 128 x 128 blocks, 32-bit scales", 8, 32, 16384, 1 + 4 / 16384),
    ],
)
def test_bytes_of_a_block_scaled_format(
    name: str, bits: int, scale_bits: int, block: int, per_weight: float
) -> None:
    """By filling blocks: bytes of a million blocks over their weights."""
    blocks = 1_000_000
    stored = blocks * (block * bits + scale_bits) / 8
    assert stored / (blocks * block) == pytest.approx(per_weight, rel=1e-15), name
    found = weights.block_scaled_bytes(bits=bits, scale_bits=scale_bits, block=block)
    assert found == pytest.approx(per_weight, rel=1e-15)


def test_grouping_saves_only_keys_and_values() -> None:
    """From 64 to 8 key-value heads, the query and output matrices stay what they are."""
    size = {"H": 8192, "n_h": 64, "d": 128}
    full = weights.grouped_projection(n_kv=64, **size)
    grouped = weights.grouped_projection(n_kv=8, **size)
    assert full == 4 * 8192**2
    assert full - grouped == 2 * 8192 * 56 * 128


def test_a_low_query_rank_pays_below_its_break_even() -> None:
    """Two matrices through rank r against one: r·(H + out) < H·out."""
    size = {"H": 7168, "n_h": 128, "d_c": 512, "d_r": 64, "d_n": 128, "d_v": 128}
    direct = weights.latent_direct_projection(**size)
    even = 7168 * 24576 / (7168 + 24576)
    assert weights.latent_projection(d_q=math.floor(even), **size) < direct
    assert weights.latent_projection(d_q=math.ceil(even), **size) > direct
