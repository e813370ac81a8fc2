"""Families: what each one's configuration becomes, layer by layer, against counts by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lib import catalog
from specdec_lib.architecture import READERS, Architecture, ConfigError, Indexer, Model
from specdec_lib.architecture.grouped import GroupedCore
from specdec_lib.architecture.limits import largest
from specdec_lib.records.toml import data_files, load_toml

BASE: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 8,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "vocab_size": 100,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
EXPERTS: dict[str, Any] = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
LATENT: dict[str, Any] = {
    "kv_lora_rank": 32,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "q_lora_rank": 24,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
}
LINEAR: dict[str, Any] = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
}
CHUNKED: dict[str, Any] = BASE | {
    "model_type": "llama4_text",
    "num_local_experts": 8,
    "num_experts_per_tok": 1,
    "intermediate_size_mlp": 48,
    "interleave_moe_layer_step": 2,
    "attention_chunk_size": 128,
}


def architecture(config: dict[str, Any], **options: Any) -> Architecture:
    return Model.from_config(config, name="that-file.json", **options).architecture


def by_kind(read: Architecture) -> dict[str, int]:
    return {core.kind: core.layers for core in read.attention}


def by_key(read: Architecture) -> dict[str, int]:
    return {part.key: part.layers for part in read.weights}


#: Of each model: layers by kind of attention; layers with a dense block, and with experts.
LAYERS: dict[str, tuple[dict[str, int], int, int]] = {
    "Qwen3-32B": ({"grouped": 64}, 64, 0),
    "Mixtral-8x22B": ({"grouped": 56}, 0, 56),
    "Qwen2-57B-A14B": ({"grouped": 28}, 0, 28),
    "OLMoE-1B-7B": ({"grouped": 16}, 0, 16),
    "GLM-4.5": ({"grouped": 92}, 3, 89),
    "DeepSeek-V2-Lite": ({"latent": 27}, 1, 26),
    "DeepSeek-V3.2": ({"DSA": 61}, 3, 58),
    "GLM-5.2": ({"DSA": 78}, 3, 75),
    "Kimi-K2.5": ({"latent": 61}, 1, 60),
    "gpt-oss-20b": ({"sliding window": 12, "grouped": 12}, 0, 24),
    "Llama-4-Scout": ({"chunked": 36, "grouped": 12}, 0, 48),
    "Llama-4-Maverick": ({"chunked": 36, "grouped": 12}, 24, 24),
    "Qwen3-Next-80B-A3B": ({"GatedDeltaNet": 36, "grouped": 12}, 0, 48),
    "Qwen3.6-27B": ({"GatedDeltaNet": 48, "grouped": 16}, 64, 0),
    "MiMo-V2-Flash": ({"grouped": 9, "sliding window": 39}, 1, 47),
    "Gemma-4-26B-A4B": ({"sliding window": 25, "grouped": 5}, 30, 30),
    "Nemotron-3-Nano-30B-A3B": ({"Mamba-2": 23, "grouped": 6}, 0, 23),
    "DeepSeek-V4-Pro": ({"HCA": 31, "CSA": 30}, 0, 61),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_by_kind(name: str) -> None:
    kinds, dense, routed = LAYERS[name]
    read = catalog.model(name).architecture
    assert by_kind(read) == kinds
    found = by_key(read)
    assert (found.get("dense_ffn", 0), found.get("moe", 0)) == (dense, routed)
    assert found.get("moe", 0) == found.get("router", 0)


#: Of each model: E, k, s and the width of an expert, by its model card or configuration.
MIXTURES: dict[str, tuple[int, int, float, int]] = {
    "Qwen2-57B-A14B": (64, 8, 8, 2560),
    "Qwen3-Coder-480B-A35B": (160, 8, 0, 2560),
    "Qwen3-Next-80B-A3B": (512, 10, 1, 512),
    "DeepSeek-V2": (160, 6, 2, 1536),
    "GLM-4.5-Air": (128, 8, 1, 1408),
    "MiniMax-M2": (256, 8, 0, 1536),
    "Llama-4-Scout": (16, 1, 1, 8192),
    "Phi-3.5-MoE": (16, 2, 0, 6400),
    "Gemma-4-26B-A4B": (128, 8, 0, 704),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_in_the_symbols_of_the_notation(name: str) -> None:
    E, k, s, width = MIXTURES[name]
    model = catalog.model(name)
    assert model.experts is not None
    found = model.experts
    assert (found.E, found.k, found.s) == (E, k, s)
    assert found.P_e == 3 * model.hidden_size * width


def test_experts_without_a_gate_have_two_matrices() -> None:
    experts = catalog.model("Nemotron-3-Nano-30B-A3B").experts
    assert experts is not None
    assert (experts.P_e, experts.s) == (2 * 2688 * 1856, 2)


def test_a_shared_expert_of_another_width_is_a_fraction() -> None:
    config = BASE | EXPERTS | {"model_type": "qwen2_moe", "shared_expert_intermediate_size": 48}
    experts = architecture(config).experts
    assert experts is not None and experts.s == 1.5


# --- linear attention ----------------------------------------------------------------------------


def test_gated_delta_net_of_qwen36() -> None:
    """By hand, for 16 key heads and 32 value heads of 128 in a hidden size of 2 048."""
    read = catalog.model("Qwen3.6-35B-A3B").architecture
    linear, full = (part for part in read.weights if part.key == "attn_proj")
    k, v, H = 16 * 128, 32 * 128, 2048
    assert linear.layers == 30 and full.layers == 10
    assert linear.matrices == H * (2 * k + 2 * v) + 2 * H * 32 + v * H
    assert linear.vectors == 4 * (2 * k + v) + 2 * 32 + 128
    # queries twice, for the gate of the output
    assert full.matrices == 2 * H * 16 * 256 + 2 * H * 2 * 256 + 16 * 256 * H
    assert full.vectors == 2 * 256
    state, _ = read.attention
    assert state.coefficients() == {"f": 6 * 32 * 128**2, "m_c": 2 * 32 * 128**2 * 4, "m_q": 0}
    assert state.entries(S=[1, 10, 10**6]).tolist() == [1, 1, 1]
    # read and written once: 0.75 FLOP a byte for each token that the step verifies
    counted = state.coefficients()
    assert counted["f"] / counted["m_c"] == 0.75


def test_a_state_keeps_its_format_whatever_the_cache_has() -> None:
    model = catalog.model("Qwen3-Next-80B-A3B")
    state, full = model.attention
    assert state.coefficients(cache="fp8") == state.coefficients()
    assert full.coefficients(cache="fp8")["m_c"] == full.coefficients()["m_c"] / 2
    assert model.kv_bytes_per_token("fp8") == model.kv_bytes_per_token() / 2
    assert model.state_bytes("fp8") == model.state_bytes() == 36 * 32 * 128 * 128 * 4


def test_mamba_state_of_nemotron() -> None:
    """64 heads of 64 with a state of 128, in fp32; written without a read first."""
    model = catalog.model("Nemotron-3-Nano-30B-A3B")
    state = model.attention[0]
    assert model.state_bytes() == 23 * 64 * 64 * 128 * 4
    assert state.coefficients()["f"] == 4 * 64 * 64 * 128
    assert state.coefficients()["m_q"] == 0


def test_a_layer_of_nemotron_is_one_block() -> None:
    read = catalog.model("Nemotron-3-Nano-30B-A3B").architecture
    blocks = sum(part.layers for part in read.weights if part.key in ("attn_proj", "moe"))
    assert blocks == read.layers == 52


def test_every_fourth_layer_attends_unless_stated() -> None:
    config = BASE | LINEAR | {"model_type": "qwen3_5"}
    assumed = architecture(config)
    assert by_kind(assumed) == {"GatedDeltaNet": 6, "grouped": 2}
    assert any(a.startswith("layer_types is not stated") for a in assumed.assumptions)
    stated = architecture(config | {"full_attention_interval": 2})
    assert by_kind(stated) == {"GatedDeltaNet": 4, "grouped": 4}
    assert not any(a.startswith("layer_types") for a in stated.assumptions)


KDA: dict[str, Any] = {
    **BASE,
    **LATENT,
    "model_type": "kimi_linear",
    "q_lora_rank": None,
    "linear_attn_config": {
        "kda_layers": [1, 2, 3, 5, 6, 7],
        "full_attn_layers": [4, 8],
        "head_dim": 16,
        "num_heads": 4,
        "short_conv_kernel_size": 4,
    },
}


def test_kimi_linear_by_hand() -> None:
    """Every matrix of a layer by its shape in the modelling code of transformers 5.24.0."""
    read = architecture(KDA)
    assert by_kind(read) == {"KDA": 6, "latent": 2}
    linear = next(p for p in read.weights if p.key == "attn_proj" and p.layers == 6)
    H, qkv, d, heads = 64, 64, 16, 4
    projections = 3 * H * qkv + H * heads + qkv * H  # q, k, v; b; o
    gates = 2 * (H * d + d * qkv)  # f_a and f_b; g_a and g_b
    assert linear.matrices == projections + gates
    assert linear.vectors == 3 * qkv * 4 + qkv + heads + d  # conv1d; dt_bias; A_log; o_norm


def test_variants_of_kimi_linear_that_are_not_read() -> None:
    for field, value in (("routed_expert_hidden_size", 32), ("mla_use_output_gate", True)):
        with pytest.raises(ConfigError, match=f"that-file.json: {field}: found {value}"):
            architecture(KDA | {field: value})
    gate = KDA["linear_attn_config"] | {"use_full_rank_gate": True}
    with pytest.raises(ConfigError, match="linear_attn_config: use_full_rank_gate: found True"):
        architecture(KDA | {"linear_attn_config": gate})


# --- latent and sparse ---------------------------------------------------------------------------


def test_sparse_selection_of_deepseek_v32() -> None:
    """An indexer in each layer: 14.0 million parameters, keys of 132 bytes; 2 048 entries read."""
    read = catalog.model("DeepSeek-V3.2").architecture
    plain = catalog.model("DeepSeek-V3").architecture
    beside = read.total_parameters - plain.total_parameters
    assert beside == 61 * (1536 * 64 * 128 + 7168 * 128 + 7168 * 64 + 2 * 128)
    (scan,) = read.indexers
    assert scan == Indexer(61, 64, 128, 1, "fp8", 4)
    assert (scan.key_bytes, scan.pair_work) == (132, 2 * 64 * 128)
    assert scan.entries(S=5000) == 5000
    (core,) = read.attention
    assert core.entries(S=[1000, 2048, 10**6]).tolist() == [1000, 2048, 2048]
    assert core.coefficients() == plain.attention[0].coefficients()
    assert read.kv_bytes_per_token() == 61 * (1152 + 132)


def test_glm52_lends_indexers() -> None:
    """57 of 78 layers have none of their own, and all of them read what was selected."""
    read = catalog.model("GLM-5.2").architecture
    (scan,) = read.indexers
    assert scan.layers == 78 - 57
    lent = catalog.model("GLM-5").total_parameters - read.total_parameters
    assert lent == 57 * (2048 * 32 * 128 + 6144 * 128 + 6144 * 32 + 2 * 128)


def test_a_query_without_low_rank() -> None:
    read = catalog.model("DeepSeek-V2-Lite").architecture
    (projections,) = [part for part in read.weights if part.key == "attn_proj"]
    H, heads = 2048, 16
    assert projections.matrices == (H * heads * 192 + H * 576 + 512 * heads * 256 + heads * 128 * H)
    assert projections.vectors == 512


def test_v4_holds_a_window_and_a_share_of_an_entry() -> None:
    """584 bytes an entry: a quarter of one in 21 layers with a 64-byte key of the indexer, a 128th
    in 20; 128 entries in all 43."""
    model = catalog.model("deepseek-v4-flash")
    assert model.kv_bytes_per_token() == 21 * (584 + 64) / 4 + 20 * 584 / 128
    assert model.state_bytes() == 43 * 128 * 584
    assert model.kv_bytes_per_token("bf16") == 21 * (1024 + 16 * 4) / 4 + 20 * 1024 / 128


# --- grouped attention of several shapes ---------------------------------------------------------


def test_chunks_of_llama_4() -> None:
    read = catalog.model("Llama-4-Scout").architecture
    chunked, full = read.attention
    assert chunked.entries(S=[100, 8192, 10**6]).tolist() == [100, 8192, 8192]
    assert full.entries(S=10**6) == 10**6
    assert chunked.coefficients() == full.coefficients()
    said = architecture(CHUNKED | {"no_rope_layers": [1, 1, 0, 1, 1, 0, 1, 1]})
    assert by_kind(said) == {"chunked": 6, "grouped": 2}
    assert not any(a.startswith("layer_types") for a in said.assumptions)
    assert by_kind(architecture(CHUNKED | {"attention_chunk_size": None})) == {"grouped": 8}


def test_layers_of_llama_4_that_are_routed() -> None:
    assert by_key(architecture(CHUNKED))["moe"] == 4
    listed = architecture(CHUNKED | {"moe_layers": [0, 1, 7]})
    assert (by_key(listed)["moe"], by_key(listed)["dense_ffn"]) == (3, 5)


def test_values_narrower_than_keys_in_mimo() -> None:
    """Full: 64 heads on 4 of 192 and 128; sliding: on 8."""
    cores = {core.kind: core for core in catalog.model("MiMo-V2-Flash").attention}
    full, slide = cores["grouped"].coefficients(), cores["sliding window"].coefficients()
    assert full == {"f": 2 * 64 * (192 + 128), "m_c": 4 * 320 * 2, "m_q": 64 * 320 * 2}
    assert slide == {"f": full["f"], "m_c": 2 * full["m_c"], "m_q": full["m_q"]}
    alone = cores["grouped"].coefficients(output=False)
    assert alone["m_q"] == 64 * 192 * 2


def test_wider_and_fewer_heads_of_full_layers_in_gemma() -> None:
    cores = {core.kind: core for core in catalog.model("Gemma-4-26B-A4B").attention}
    full, slide = cores["grouped"], cores["sliding window"]
    assert isinstance(full, GroupedCore) and isinstance(slide, GroupedCore)
    assert (full.n_kv, full.d, slide.n_kv, slide.d, slide.window) == (2, 512, 8, 256, 1024)
    projections = {
        part.layers: part.matrices
        for part in catalog.model("Gemma-4-26B-A4B").architecture.weights
        if part.key == "attn_proj"
    }
    H = 2816
    assert projections[5] == H * 16 * 512 + H * 2 * 512 + 16 * 512 * H  # one matrix for both
    assert projections[25] == H * 16 * 256 + 2 * H * 8 * 256 + 16 * 256 * H


def test_sliding_layers_of_qwen_are_those_listed() -> None:
    config = BASE | {"model_type": "qwen3", "attention_bias": False, "sliding_window": 32}
    kinds = ["sliding_attention", "full_attention"] * 4
    on = architecture(config | {"use_sliding_window": True, "layer_types": kinds})
    assert by_kind(on) == {"sliding window": 4, "grouped": 4}
    off = architecture(config | {"use_sliding_window": False})
    assert by_kind(off) == {"grouped": 8}


def test_biases_of_queries_keys_and_values_alone() -> None:
    """Qwen2 has them always; its output has none."""
    plain = architecture(BASE | {"model_type": "mistral"})
    biased = architecture(BASE | {"model_type": "qwen2"})
    assert biased.total_parameters - plain.total_parameters == 8 * (4 * 16 + 2 * 2 * 16)


def test_norms_over_all_heads_at_once() -> None:
    plain = architecture(BASE | EXPERTS | {"model_type": "mixtral"})
    normed = architecture(BASE | EXPERTS | {"model_type": "olmoe"})
    assert normed.total_parameters - plain.total_parameters == 8 * (4 * 16 + 2 * 16)


def test_norms_that_shift_and_a_head_with_biases() -> None:
    plain = architecture(BASE | EXPERTS | {"model_type": "mixtral"})
    shifted = architecture(BASE | EXPERTS | {"model_type": "phimoe", "lm_head_bias": True})
    assert shifted.total_parameters - plain.total_parameters == 8 * 2 * 64 + 64 + 100
    tied = architecture(
        BASE | EXPERTS | {"model_type": "phimoe", "lm_head_bias": True, "tie_word_embeddings": True}
    )
    assert shifted.total_parameters - tied.total_parameters == 100 * 64
    assert tied.matrix_parameters("head") == 100 * 64


# --- which family ---------------------------------------------------------------------------------


def test_a_class_names_the_family() -> None:
    config = BASE | {"architectures": ["LlamaForCausalLM"]}
    read = architecture(config)
    assert read.family == "llama"
    assert any("read as llama, as architectures says" in a for a in read.assumptions)
    unknown = architecture(config | {"model_type": "llama_of_mine"})
    assert unknown.family == "llama"
    assert any("'llama_of_mine' is not known" in a for a in unknown.assumptions)
    typed = architecture(config | {"model_type": "qwen2"})
    assert typed.family == "qwen2", "model_type goes before the class"


@pytest.mark.parametrize("nest", ["text_config", "llm_config", "language_config"])
def test_settings_of_language_in_a_nest(nest: str) -> None:
    inner = BASE | {"model_type": "qwen3", "tie_word_embeddings": None}
    around = {
        "model_type": "sees_and_speaks",
        "vision_config": {"hidden_size": 9, "num_hidden_layers": 99},
        "tie_word_embeddings": True,
        nest: inner,
    }
    read = architecture(around)
    assert read.family == "qwen3" and read.tied
    assert (
        read.total_parameters
        == architecture(inner | {"tie_word_embeddings": True}).total_parameters
    )


def test_a_nest_that_disagrees_about_tied_embeddings() -> None:
    read = architecture(
        {"text_config": BASE | {"model_type": "qwen3"}, "tie_word_embeddings": True}
    )
    assert read.tied
    assert "tie_word_embeddings is true, though text_config says otherwise" in read.assumptions


def test_fields_alone_tell_experts_and_latent_attention() -> None:
    """The same counts as the families that state them."""
    typed = architecture(BASE | LATENT | {"model_type": "deepseek_v3"})
    plain = architecture(BASE | LATENT)
    assert plain.components == typed.components
    sparse = {"index_topk": 64, "index_n_heads": 4, "index_head_dim": 8}
    assert architecture(BASE | LATENT | sparse).components == (
        architecture(BASE | LATENT | sparse | {"model_type": "deepseek_v32"}).components
    )
    assert architecture(BASE | EXPERTS).components == (
        architecture(BASE | EXPERTS | {"model_type": "mixtral", "intermediate_size": 32}).components
    )


def test_fields_alone_do_not_tell_which_layers_slide() -> None:
    with pytest.raises(ConfigError, match=r"sliding_window: .*layer_types or use_sliding"):
        architecture(BASE | {"sliding_window": 64})
    listed = BASE | {"sliding_window": 64, "layer_types": ["sliding_attention"] * 8}
    assert by_kind(architecture(listed)) == {"sliding window": 8}
    assert by_kind(architecture(BASE | {"sliding_window": 64, "use_sliding_window": False})) == {
        "grouped": 8
    }


def test_modules_are_counted_by_every_name() -> None:
    names = ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
    for name in names:
        assert architecture(BASE | {"model_type": "llama", name: 3}).mtp_modules == 3
    assert architecture(BASE | {"model_type": "llama"}).mtp_modules == 0
    assert architecture(BASE | {"model_type": "llama", "num_mtp_modules": 0}).mtp_modules == 0


def test_a_family_for_each_name_that_the_issue_asks_for() -> None:
    asked = (
        "llama qwen2 qwen3 qwen2_moe qwen3_moe mixtral deepseek_v2 deepseek_v3 deepseek_v32 "
        "deepseek_v4 kimi_k2 kimi_k25 glm4_moe glm_moe_dsa gpt_oss minimax_m2 llama4 llama4_text "
        "olmoe phimoe qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text"
    )
    assert set(asked.split()) <= set(READERS)


# --- what cannot be read --------------------------------------------------------------------------

_GEMMA = BASE | {
    "model_type": "gemma4_text",
    "sliding_window": 32,
    "global_head_dim": 32,
    "attention_k_eq_v": False,
    "enable_moe_block": False,
}
_NEMOTRON = BASE | {"model_type": "nemotron_h", "hybrid_override_pattern": "M*E-M*E-"}
_SPARSE = BASE | LATENT | {"model_type": "glm_moe_dsa"}
_INDEX: dict[str, Any] = {"index_topk": 64, "index_n_heads": 4, "index_head_dim": 8}

REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a nest that is no table": ({"text_config": [1]}, ("text_config", "[1]")),
    "windows that are on and not listed": (
        BASE | {"model_type": "qwen3", "use_sliding_window": True},
        ("layer_types", "8 kinds"),
    ),
    "windows that are listed and off": (
        BASE | {"model_type": "qwen3", "layer_types": ["sliding_attention"] * 8},
        ("layer_types", "use_sliding_window is not true"),
    ),
    "a window where the family has none": (
        BASE | {"model_type": "llama", "sliding_window": 64},
        ("sliding_window", "64", "no sliding windows"),
    ),
    "a kind of layer that the family lacks": (
        BASE | LINEAR | {"model_type": "qwen3_5", "layer_types": ["sliding_attention"] * 8},
        ("layer_types", "sliding_attention", "linear_attention or full_attention"),
    ),
    "value heads that do not group": (
        BASE | LINEAR | {"model_type": "qwen3_5", "linear_num_value_heads": 3},
        ("linear_num_value_heads", "3", "a multiple of 2"),
    ),
    "a state in another format": (
        BASE | LINEAR | {"model_type": "qwen3_5", "mamba_ssm_dtype": "bfloat16"},
        ("mamba_ssm_dtype", "bfloat16", "float32"),
    ),
    "no heads of linear attention": (
        BASE | {"model_type": "qwen3_5"},
        ("linear_num_key_heads", "whole number"),
    ),
    "routed layers that disagree": (
        BASE | LATENT | {"model_type": "deepseek_v3", "mlp_layer_types": ["sparse"] * 8},
        ("mlp_layer_types", "the layers that the other settings name"),
    ),
    "a step of another length": (
        BASE | LATENT | {"model_type": "deepseek_v3", "moe_layer_freq": [1, 1]},
        ("moe_layer_freq", "8 entries of 0 or 1"),
    ),
    "a step that contradicts the prefix": (
        BASE | LATENT | {"model_type": "deepseek_v3", "moe_layer_freq": [1] * 8},
        ("moe_layer_freq", "1 dense layers at first"),
    ),
    "an indexer without a low rank": (
        _SPARSE | _INDEX | {"q_lora_rank": None},
        ("q_lora_rank", "indexer"),
    ),
    "no width of the indexer": (_SPARSE | {"index_topk": 64}, ("index_n_heads",)),
    "lent indexers that are not listed": (
        _SPARSE | _INDEX | {"index_topk_freq": 4},
        ("index_topk_freq", "indexer_types"),
    ),
    "an unknown kind of indexer": (
        _SPARSE | _INDEX | {"indexer_types": ["lent"] * 8},
        ("indexer_types", "lent", "full or shared"),
    ),
    "biases of latent attention": (
        BASE | LATENT | {"model_type": "deepseek_v3", "attention_bias": True},
        ("attention_bias", "True"),
    ),
    "shared experts where the family has none": (
        BASE | EXPERTS | {"model_type": "minimax_m2", "shared_intermediate_size": 32},
        ("shared_intermediate_size", "32", "no shared experts"),
    ),
    "norms of another kind": (
        BASE | EXPERTS | {"model_type": "minimax_m2", "qk_norm_type": "per_head"},
        ("qk_norm_type", "per_head", "per_layer"),
    ),
    "embeddings by layer": (
        _GEMMA | {"hidden_size_per_layer_input": 32},
        ("hidden_size_per_layer_input", "not read yet"),
    ),
    "shared keys and values": (
        _GEMMA | {"num_kv_shared_layers": 2},
        ("num_kv_shared_layers", "not read yet"),
    ),
    "a letter that means no block": (
        _NEMOTRON | {"hybrid_override_pattern": "M*E-M*EX"},
        ("hybrid_override_pattern", "'X'", "M (mamba)"),
    ),
    "a pattern of another length": (
        _NEMOTRON | {"hybrid_override_pattern": "M*"},
        ("hybrid_override_pattern", "'mamba', 'attention'", "8 of"),
    ),
    "no pattern": (
        _NEMOTRON | {"hybrid_override_pattern": None},
        ("hybrid_override_pattern", "None"),
    ),
    "no pattern of sliding layers": (
        BASE
        | EXPERTS
        | {
            "model_type": "mimo_v2_flash",
            "v_head_dim": 8,
            "swa_num_attention_heads": 4,
            "swa_num_key_value_heads": 2,
            "swa_head_dim": 16,
            "swa_v_head_dim": 8,
            "sliding_window": 8,
            "add_swa_attention_sink_bias": True,
        },
        ("hybrid_layer_pattern", "8 entries of 0 or 1"),
    ),
    "delta layers beyond the last": (
        KDA | {"linear_attn_config": KDA["linear_attn_config"] | {"kda_layers": [9]}},
        ("linear_attn_config", "kda_layers", "from 1 to 8"),
    ),
    "no shape of delta attention": (
        KDA | {"linear_attn_config": None},
        ("linear_attn_config", "None"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named(case: str) -> None:
    config, expected = REFUSED[case]
    with pytest.raises(ConfigError) as raised:
        architecture(config)
    message = str(raised.value)
    assert message.startswith("that-file.json: ")
    for text in expected:
        assert text in message, message


sizes = st.integers(1, 6)


@given(heads=sizes, groups=sizes, width=sizes, keys=sizes, values=sizes, interval=st.integers(2, 5))
@settings(deadline=None)
def test_a_hybrid_of_any_size_adds_up(
    heads: int, groups: int, width: int, keys: int, values: int, interval: int
) -> None:
    """Against a count matrix by matrix; a token's cache is that of the full layers alone."""
    n_v, layers, H = keys * groups, 6, 8
    config = BASE | {
        "model_type": "qwen3_5",
        "hidden_size": H,
        "num_hidden_layers": layers,
        "num_attention_heads": heads * groups,
        "num_key_value_heads": heads,
        "head_dim": width,
        "full_attention_interval": interval,
        "linear_num_key_heads": keys,
        "linear_num_value_heads": n_v,
        "linear_key_head_dim": width,
        "linear_value_head_dim": values,
        "linear_conv_kernel_dim": 4,
    }
    n_h, k, v = heads * groups, keys * width, n_v * values
    full = 2 * H * n_h * width + 2 * H * heads * width + n_h * width * H + 2 * width
    linear = H * (k + k + v + v) + H * n_v + H * n_v + v * H + 4 * (k + k + v) + n_v + n_v + values
    number = layers // interval
    each = 3 * H * 96 + 2 * H
    total = 2 * 100 * H + H + layers * each + number * full + (layers - number) * linear
    read = architecture(config)
    assert read.total_parameters == read.active_parameters == total
    assert read.kv_bytes_per_token() == number * 2 * heads * width * 2
    assert read.state_bytes() == (layers - number) * n_v * width * values * 4


PUBLISHED = [load_toml(file)["config"] for file in data_files("models")]
ODD = [
    *(None, 0, 1, -1, 1.5, 2**40, 10**400, float("nan"), float("inf"), True, False),
    *("", "x", "4", [], [1], ["x"], [[1]], [None], {}, {"a": 1}, {"quant_method": "fp8"}),
]


def places(config: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Every setting, those of tables within included."""
    inner = [
        place for value in config.values() if isinstance(value, dict) for place in places(value)
    ]
    return [*((config, name) for name in config), *inner]


@given(st.sampled_from(PUBLISHED), st.sampled_from(ODD), st.data())
@settings(max_examples=300, deadline=None)
def test_no_odd_value_gets_through(
    published: dict[str, Any], odd: object, data: st.DataObject
) -> None:
    """One setting of a published configuration is spoilt: it is read, or its error is ours."""
    config = copy.deepcopy(published)
    table, name = data.draw(st.sampled_from(places(config)))
    table[name] = odd
    try:
        read = architecture(config)
    except ConfigError:
        return
    assert 0 < read.active_parameters <= read.total_parameters
    assert read.kv_bytes_per_token() >= 0 and read.state_bytes() >= 0


LATENT_MODEL = BASE | LATENT | {"model_type": "deepseek_v3", "moe_layer_freq": 1}
STEPPED = BASE | EXPERTS | {"model_type": "qwen3_moe"}


@pytest.mark.parametrize(
    ("config", "name", "absurd", "most"),
    [
        (BASE | {"model_type": "llama"}, "num_hidden_layers", 1e30, 2_000),
        (BASE | {"model_type": "llama"}, "num_hidden_layers", 10**9, 2_000),
        (BASE | {"model_type": "llama"}, "hidden_size", 1e300, 1_000_000),
        (BASE | {"model_type": "llama"}, "head_dim", 2**31, 10_000),
        (BASE | {"model_type": "llama"}, "num_attention_heads", 10**6, 10_000),
        (BASE | {"model_type": "llama"}, "vocab_size", 10**12, 100_000_000),
        (BASE | {"model_type": "llama"}, "num_nextn_predict_layers", 10**9, 2_000),
        (STEPPED, "num_experts", 10**7, 100_000),
        (STEPPED, "decoder_sparse_step", 10**6, 2_000),
        (LATENT_MODEL, "n_shared_experts", 10**6, 100_000),
        (LATENT_MODEL, "kv_lora_rank", 10**8, 1_000_000),
    ],
)
def test_sizes_that_no_model_has(
    config: dict[str, Any], name: str, absurd: float, most: int
) -> None:
    """At once, and by name: neither a hang nor an error of the arithmetic beneath."""
    with pytest.raises(ConfigError, match=rf"that-file.json: {name}: found .* at most {most},"):
        architecture(config | {name: absurd})


def test_a_size_that_python_does_not_print() -> None:
    with pytest.raises(ConfigError, match="vocab_size: found a number of thousands of digits"):
        architecture(BASE | {"model_type": "llama", "vocab_size": 10**5000})


def test_sizes_that_only_together_are_too_large() -> None:
    wide = {"num_experts": 100_000, "moe_intermediate_size": 10**6, "hidden_size": 10**6}
    with pytest.raises(ConfigError, match=r"P_routed .*'E': 100000.* no exact count"):
        architecture(STEPPED | wide)


def test_no_catalogued_size_is_within_a_tenth_of_its_limit() -> None:
    sizes = {"num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads"}
    sizes |= {"intermediate_size", "num_experts", "n_routed_experts", "head_dim", "kv_lora_rank"}
    met = set()
    for file in data_files("models"):
        config = load_toml(file)["config"]
        met |= sizes & config.keys()
        assert all(10 * config[name] <= largest(name) for name in sizes & config.keys()), file
    assert met == sizes


@pytest.mark.parametrize(
    ("config", "changed", "message"),
    [
        (
            LATENT_MODEL,
            {"first_k_dense_replace": 9},
            "first_k_dense_replace: found 9; .* at most 8",
        ),
        (LATENT_MODEL, {"first_k_dense_replace": 8}, "n_routed_experts: found 8; .* no layer"),
        (LATENT_MODEL, {"moe_layer_freq": [1] * 7}, "moe_layer_freq: .* 8 entries of 0 or 1"),
        (
            LATENT_MODEL,
            {"moe_layer_freq": [1] * 8},
            r"moe_layer_freq: found \[1, .* 1 dense layers",
        ),
        (LATENT_MODEL, {"moe_layer_freq": "1"}, "moe_layer_freq: found '1'; accepted: a number"),
        (LATENT_MODEL, {"moe_layer_freq": 0}, "moe_layer_freq: found 0"),
        (LATENT_MODEL, {"moe_layer_freq": 9}, "n_routed_experts: found 8; .* no layer routed"),
        (STEPPED, {"decoder_sparse_step": 0}, "decoder_sparse_step: found 0"),
        (STEPPED, {"decoder_sparse_step": 9}, "num_experts: found 8; .* no layer routed"),
        (STEPPED, {"mlp_only_layers": [8]}, "mlp_only_layers: found 8; .* from 0 to 7"),
        (STEPPED, {"mlp_only_layers": [0, -1]}, "mlp_only_layers: found -1; .* from 0 to 7"),
        (STEPPED, {"mlp_only_layers": list(range(8))}, "num_experts: found 8; .* no layer routed"),
        (CHUNKED, {"moe_layers": [1, 8]}, "moe_layers: found 8; .* from 0 to 7"),
        (CHUNKED, {"interleave_moe_layer_step": 0}, "interleave_moe_layer_step: found 0"),
        (STEPPED, {"quantization_config": 5}, "quantization_config: found 5; accepted: a table"),
        (STEPPED, {5: 1}, "found a setting 5; names of settings are texts"),
    ],
)
def test_settings_that_contradict_each_other(
    config: dict[str, Any], changed: dict[Any, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        architecture({**config, **changed})
    architecture(config)


def test_a_step_written_as_a_decimal_is_that_step() -> None:
    assert architecture(LATENT_MODEL | {"moe_layer_freq": 1.0}) == architecture(LATENT_MODEL)
