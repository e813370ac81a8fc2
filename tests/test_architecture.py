"""Architecture: configurations taken apart, against exact counts, published totals and hand counts.

The exact counts come from building each model without weights, by the program text of transformers
5.24.0; this library counts from the configuration alone.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lib import catalog
from specdec_lib.architecture import (
    KEYS,
    PRECISIONS,
    READERS,
    ConfigError,
    Model,
    Weights,
    precision,
)
from specdec_lib.formulas import attention

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "mlp_bias": False,
    "torch_dtype": "bfloat16",
}
MIXTRAL: dict[str, Any] = {
    "model_type": "mixtral",
    "hidden_size": 6144,
    "num_hidden_layers": 56,
    "num_attention_heads": 48,
    "num_key_value_heads": 8,
    "head_dim": None,
    "intermediate_size": 16384,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
    "sliding_window": None,
    "torch_dtype": "bfloat16",
}
QWEN: dict[str, Any] = LLAMA | {
    "model_type": "qwen3",
    "hidden_size": 1024,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "head_dim": 128,
    "intermediate_size": 3072,
    "vocab_size": 151936,
    "use_sliding_window": False,
    "sliding_window": None,
}
OSS: dict[str, Any] = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 2880,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "experts_per_token": 4,
    "vocab_size": 201088,
    "tie_word_embeddings": False,
    "attention_bias": True,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "quantization_config": {
        "quant_method": "mxfp4",
        "modules_to_not_convert": [
            "model.layers.*.self_attn",
            "model.layers.*.mlp.router",
            "model.embed_tokens",
            "lm_head",
        ],
    },
}
V4_PRO: dict[str, Any] = {
    "model_type": "deepseek_v4",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 1,
    "head_dim": 512,
    "moe_intermediate_size": 3072,
    "n_routed_experts": 384,
    "num_experts_per_tok": 6,
    "n_shared_experts": 1,
    "vocab_size": 129280,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "sliding_window": 128,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "o_groups": 16,
    "o_lora_rank": 1024,
    "index_n_heads": 64,
    "index_head_dim": 128,
    "index_topk": 1024,
    "hc_mult": 4,
    "num_nextn_predict_layers": 1,
    "expert_dtype": "fp4",
    "compress_ratios": [128, *([128, 4] * 30), 0],
    "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
}


def without(config: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in keys}


@pytest.mark.parametrize(
    ("name", "config", "total", "active"),
    [
        ("Llama-3.2-1B, tied", LLAMA, 1_235_814_400, 1_235_814_400),
        ("Qwen3-0.6B, tied", QWEN, 596_049_920, 596_049_920),
        ("Mixtral-8x22B", MIXTRAL, 140_620_634_112, 39_152_031_744),
        ("gpt-oss-20b", OSS, 20_914_757_184, 4_187_440_704),
        ("DeepSeek-V4-Pro", V4_PRO, 1_572_997_179_491, 49_779_058_787),
    ],
)
def test_counts_of_configurations_outside_the_catalogue(
    name: str, config: dict[str, Any], total: int, active: int
) -> None:
    model = Model.from_config(config, name=name)
    assert (model.total_parameters, model.active_parameters) == (total, active)


def test_v4_flash_beside_its_matrices() -> None:
    """Attention 1 510 720 vectors in all; norms 2·H a layer and H; hyper-connections
    2·(24·4H + 27) a layer and 4·4H + 5."""
    parts = catalog.model("deepseek-v4-flash").architecture.weights
    vectors = {
        key: sum(part.layers * part.vectors for part in parts if part.key == key) for key in KEYS
    }
    H, L = 4096, 43
    assert vectors.pop("attn_proj") == 1_510_720
    norms = 2 * H * L + H
    mixing = 2 * (24 * 4 * H + 27) * L + 4 * 4 * H + 5
    assert vectors.pop("other") == norms + mixing
    assert not any(vectors.values())


def test_v4_flash_by_kind_of_layer() -> None:
    architecture = catalog.model("deepseek-v4-flash").architecture
    matrices = [(p.layers, p.matrices) for p in architecture.weights if p.key == "attn_proj"]
    plain = 106_954_752
    assert matrices == [(2, plain), (21, plain + 19_136_512), (20, plain + 4_194_304)]
    assert [(c.kind, c.layers) for c in architecture.attention] == [
        ("sliding window", 2),
        ("CSA", 21),
        ("HCA", 20),
    ]
    assert architecture.mtp_modules == 1
    (indexer,) = architecture.indexers
    assert (indexer.layers, indexer.key_bytes, indexer.pair_work) == (21, 64, 2 * 64 * 128)


@pytest.mark.parametrize(
    ("kind", "entries"),
    [
        # at 300 tokens, at 4 100, at a million
        ("sliding window", (128, 128, 128)),
        ("CSA", (75 + 128, 512 + 128, 512 + 128)),
        ("HCA", (2 + 128, 32 + 128, 7812 + 128)),
    ],
)
def test_entries_that_a_v4_query_meets(kind: str, entries: tuple[int, ...]) -> None:
    cores = {core.kind: core for core in catalog.model("deepseek-v4-flash").attention}
    assert cores[kind].entries(S=[300, 4100, 1_000_000]).tolist() == list(entries)


#: f, m_c and m_q per layer: as served (query in, output out), and as published accounts count.
COEFFICIENTS: list[tuple[str, dict[str, Any], tuple[float, float, float]]] = [
    ("llama-3.1-8b", {}, (16384, 4096, 16384)),
    ("llama-3.1-8b", {"cache": "fp8", "output": False}, (16384, 2048, 8192)),
    ("deepseek-v3", {}, (2 * 128 * 1088, 1152, 2 * 128 * 1088)),
    ("deepseek-v3", {"cache": "fp8", "output": False}, (278528, 576, 2 * 128 * 576)),
    ("kimi-k2", {"cache": "fp8", "output": False}, (139264, 576, 73728)),
    ("deepseek-v4-flash", {}, (4 * 64 * 512, 584, 4 * 64 * 512)),
    ("deepseek-v4-flash", {"cache": "bf16"}, (131072, 1024, 131072)),
    ("deepseek-v4-flash", {"output": False}, (131072, 584, 65536)),
    ("gpt-oss-120b", {}, (16384, 2048, 16384)),
]


@pytest.mark.parametrize(("name", "counted", "expected"), COEFFICIENTS)
def test_attention_coefficients(
    name: str, counted: dict[str, Any], expected: tuple[float, float, float]
) -> None:
    for core in catalog.model(name).attention:
        found = core.coefficients(**counted)
        assert (found["f"], found["m_c"], found["m_q"]) == expected


def test_coefficients_go_into_the_intensity() -> None:
    """The published table's entry for two tokens over 8 192, from Kimi-K2's own shapes."""
    (core,) = catalog.model("kimi-k2").attention
    counted = core.coefficients(cache="fp8", output=False)
    assert attention.intensity(T=2, S=8192, **counted) == pytest.approx(469, abs=0.5)
    assert counted["m_q"] / counted["m_c"] == 128


def test_layers_of_gpt_oss_alternate_and_none_is_dropped() -> None:
    """Case J06: entries that a query meets at 4 096 tokens in a model of 12 layers."""
    config = OSS | {"num_hidden_layers": 12, "layer_types": OSS["layer_types"][:12]}
    cores = Model.from_config(config).attention
    assert [(core.kind, core.layers) for core in cores] == [("sliding window", 6), ("grouped", 6)]
    met = sum(core.layers * core.entries(S=4096) for core in cores)
    assert met == 6 * 128 + 6 * 4096


def test_a_window_on_every_layer_of_mixtral() -> None:
    (core,) = Model.from_config(MIXTRAL | {"sliding_window": 4096}).attention
    assert core.entries(S=[100, 10_000]).tolist() == [100, 4096]


#: Bytes per weight and compute peak of each component, as engines serve these models.
SERVED: dict[str, dict[str, tuple[float, str]]] = {
    "deepseek-v4-flash": {
        "attn_proj": (1.0, "fp8"),
        "moe": (0.53125, "fp8"),
        "shared": (1.0, "fp8"),
        "router": (2.0, "bf16"),
        "head": (2.0, "bf16"),
    },
    "deepseek-v3": {"attn_proj": (1.0, "fp8"), "dense_ffn": (1.0, "fp8"), "moe": (1.0, "fp8")},
    "gpt-oss-120b": {"attn_proj": (2.0, "bf16"), "moe": (0.53125, "bf16"), "head": (2.0, "bf16")},
    "mixtral-8x7b": {"attn_proj": (2.0, "bf16"), "moe": (2.0, "bf16")},
}


@pytest.mark.parametrize("name", SERVED)
def test_precision_by_component(name: str) -> None:
    architecture = catalog.model(name).architecture
    for key, (per_weight, peak) in SERVED[name].items():
        found = architecture.precision(key)
        assert (found.bytes, found.peak) == (per_weight, peak), key


def test_experts_in_the_symbols_of_the_notation() -> None:
    experts = catalog.model("deepseek-v4-flash").experts
    assert experts is not None
    assert (experts.E, experts.k, experts.s, experts.layers) == (256, 6, 1, 43)
    assert (experts.P_e, experts.b) == (25_165_824, 0.53125)
    assert catalog.model("llama-3.1-8b").experts is None


def test_a_dense_prefix_is_not_routed() -> None:
    """Case J05: three dense layers, then routed ones; the cache is one entry of 576 values."""
    architecture = catalog.model("deepseek-v3").architecture
    layers = {part.key: part.layers for part in architecture.weights}
    assert (layers["dense_ffn"], layers["moe"], layers["shared"]) == (3, 58, 58)
    (core,) = architecture.attention
    assert core.coefficients()["m_c"] == 576 * 2


def test_dense_layers_among_routed_ones() -> None:
    config = QWEN | {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 6,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 256,
        "decoder_sparse_step": 2,
        "mlp_only_layers": [3],
    }
    parts = {part.key: part.layers for part in Model.from_config(config).architecture.weights}
    assert (parts["moe"], parts["dense_ffn"]) == (2, 4)  # layers 1 and 5, counted from 0


def test_a_tied_head_is_read_but_not_stored_twice() -> None:
    """Case J08: one matrix stored; the head's bytes and FLOPs are still charged."""
    tied = Model.from_config(LLAMA)
    apart = Model.from_config(LLAMA | {"tie_word_embeddings": False})
    assert apart.total_parameters - tied.total_parameters == 128256 * 2048
    for model in (tied, apart):
        assert model.architecture.matrix_parameters("head") == 128256 * 2048


def test_a_stated_head_width_is_not_derived() -> None:
    """Case J03: 32 heads of 128 in a hidden size of 2 048."""
    (core,) = Model.from_config(LLAMA | {"head_dim": 128}).attention
    assert core.coefficients()["m_c"] == 2 * 8 * 128 * 2


def test_a_null_head_width_is_derived_and_said() -> None:
    """Case J02: null counts as missing."""
    model = Model.from_config(LLAMA | {"head_dim": None})
    assert model.total_parameters == Model.from_config(LLAMA).total_parameters
    assert model.assumptions == ("head_dim is not stated: 64, hidden_size / num_attention_heads",)


def test_fp8_blocks_leave_both_ends_at_16_bits() -> None:
    """Case J09: linear weights take one byte, embedding, router and head two."""
    block = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
    architecture = Model.from_config(LLAMA | {"quantization_config": block}).architecture
    taken = {key: architecture.precision(key).bytes for key in ("attn_proj", "dense_ffn")}
    assert taken == {"attn_proj": 1.0, "dense_ffn": 1.0}
    assert architecture.precision("head").bytes == architecture.precision("embedding").bytes == 2.0


def test_modules_kept_out_of_quantization() -> None:
    block = {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    architecture = Model.from_config(LLAMA | {"quantization_config": block}).architecture
    assert architecture.precision("attn_proj").name == "bf16"
    assert architecture.precision("dense_ffn").name == "fp8"


def test_precision_by_the_caller() -> None:
    block = {"quant_method": "some_new_method"}
    config = OSS | {"quantization_config": block}
    with pytest.raises(ConfigError, match="some_new_method"):
        Model.from_config(config)
    one = Model.from_config(config, precision="fp8").architecture
    assert {one.precision(key).name for key in ("attn_proj", "moe")} == {"fp8"}
    assert one.precision("router").name == one.precision("head").name == "bf16"
    some = Model.from_config(OSS, precision={"moe": "nvfp4", "head": "fp8"}).architecture
    found = {key: some.precision(key).name for key in ("attn_proj", "moe", "head")}
    assert found == {"attn_proj": "bf16", "moe": "nvfp4", "head": "fp8"}
    with pytest.raises(ValueError, match="no precision 'int3'"):
        Model.from_config(OSS, precision="int3")
    with pytest.raises(ValueError, match="no component 'experts'"):
        Model.from_config(OSS, precision={"experts": "fp8"})


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "J11, an empty configuration": (
        {},
        ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"),
    ),
    "an unknown family": (LLAMA | {"model_type": "xyz"}, ("'xyz' is not read yet", *READERS)),
    "a family that is no word": (LLAMA | {"model_type": ["llama"]}, ("is not read yet",)),
    "a size as text": (
        LLAMA | {"hidden_size": "2048"},
        ("hidden_size", "'2048'", "whole number"),
    ),
    "a size of zero": (LLAMA | {"num_hidden_layers": 0}, ("num_hidden_layers", "at least 1")),
    "half a layer": (LLAMA | {"num_hidden_layers": 1.5}, ("1.5", "whole number")),
    "a size that is NaN": (LLAMA | {"vocab_size": math.nan}, ("vocab_size", "nan")),
    "a size that is infinite": (LLAMA | {"vocab_size": math.inf}, ("vocab_size", "inf")),
    "a size that is true": (LLAMA | {"num_hidden_layers": True}, ("num_hidden_layers", "True")),
    "a flag as text": (LLAMA | {"tie_word_embeddings": "yes"}, ("tie_word_embeddings", "'yes'")),
    "heads that do not group": (
        LLAMA | {"num_key_value_heads": 5},
        ("num_key_value_heads", "5", "a divisor of 32"),
    ),
    "a head width that cannot be derived": (
        LLAMA | {"head_dim": None, "hidden_size": 2050},
        ("head_dim", "2050"),
    ),
    "no feed-forward width": (without(LLAMA, "intermediate_size"), ("intermediate_size",)),
    "more experts used than there are": (
        MIXTRAL | {"num_experts_per_tok": 9},
        ("num_experts_per_tok", "9", "at most 8"),
    ),
    "aliases that disagree": (
        MIXTRAL | {"num_experts": 16},
        ("num_experts", "16", "num_local_experts, 8"),
    ),
    "more rotary values than a head has": (
        V4_PRO | {"qk_rope_head_dim": 513},
        ("qk_rope_head_dim: found 513", "at most 512"),
    ),
    "groups that do not divide the heads": (
        V4_PRO | {"o_groups": 7},
        ("o_groups: found 7", "a divisor of 128 attention heads"),
    ),
    "an unknown kind of layer": (
        OSS | {"layer_types": ["linear_attention"] * 24},
        ("layer_types", "linear_attention", "sliding_attention or full_attention"),
    ),
    "too few kinds of layers": (
        OSS | {"layer_types": ["full_attention"]},
        ("layer_types", "1 entries", "24"),
    ),
    "an unknown compression": (
        V4_PRO | {"compress_ratios": [16] * 61},
        ("compress_ratios", "16", "0, 4, 128"),
    ),
    "too few compressions": (
        V4_PRO | {"compress_ratios": [0, 4]},
        ("compress_ratios", "2 entries", "61"),
    ),
    "two shared key-value heads": (V4_PRO | {"num_key_value_heads": 2}, ("num_key_value_heads",)),
    "experts in an unknown format": (V4_PRO | {"expert_dtype": "int2"}, ("expert_dtype", "int2")),
    "a sliding window that is not read yet": (
        QWEN | {"use_sliding_window": True},
        ("use_sliding_window",),
    ),
    "32-bit weights": (LLAMA | {"torch_dtype": "float32"}, ("torch_dtype", "float32")),
    "a quantization block with more in it": (
        LLAMA | {"quantization_config": {"quant_method": "fp8", "moe_quant_algo": "NVFP4"}},
        ("quantization_config", "moe_quant_algo", "precision="),
    ),
    "a quantization block without a method": (
        LLAMA | {"quantization_config": {"bits": 4}},
        ("quant_method", "None", "'fp8' or 'mxfp4'"),
    ),
    "a part of a component kept out": (
        LLAMA
        | {
            "quantization_config": {
                "quant_method": "fp8",
                "modules_to_not_convert": ["model.layers.0.mlp"],
            }
        },
        ("modules_to_not_convert", "model.layers.0.mlp"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named(case: str) -> None:
    config, expected = REFUSED[case]
    with pytest.raises(ConfigError) as raised:
        Model.from_config(config, name="that-file.json")
    message = str(raised.value)
    assert message.startswith("that-file.json: ")
    for text in expected:
        assert text in message


@pytest.mark.parametrize(
    ("config", "missing", "assumption"),
    [
        (LLAMA, "tie_word_embeddings", "tie_word_embeddings is not stated: false"),
        (LLAMA, "attention_bias", "attention_bias is not stated: false"),
        (LLAMA, "mlp_bias", "mlp_bias is not stated: false"),
        (LLAMA, "num_key_value_heads", "num_key_value_heads is not stated: 32"),
        (LLAMA, "torch_dtype", "torch_dtype is not stated"),
        (OSS, "layer_types", "layer_types is not stated"),
        (QWEN, "use_sliding_window", "use_sliding_window is not stated: false"),
    ],
)
def test_every_default_is_an_assumption(
    config: dict[str, Any], missing: str, assumption: str
) -> None:
    stated = Model.from_config(config).assumptions
    assumed = Model.from_config(without(config, missing)).assumptions
    assert not any(a.startswith(missing) for a in stated)
    assert any(a.startswith(assumption) for a in assumed)


def test_a_weighty_setting_that_nothing_reads_is_an_assumption() -> None:
    model = Model.from_config(LLAMA | {"num_mystery_experts": 3, "bos_token_id": 1})
    assert model.assumptions == ("num_mystery_experts = 3 is stated and not read",)


def test_draft_modules_beyond_those_stated_are_an_assumption() -> None:
    model = Model.from_config(V4_PRO | {"compress_ratios": [*V4_PRO["compress_ratios"], 0, 0]})
    assert any("compress_ratios" in a for a in model.assumptions)
    assert model.total_parameters == Model.from_config(V4_PRO).total_parameters


def test_biases_and_mlp_biases_are_counted() -> None:
    """By hand: q, k, v and output, then gate, up and down, in each of 16 layers."""
    biased = Model.from_config(LLAMA | {"attention_bias": True, "mlp_bias": True})
    plain = Model.from_config(LLAMA)
    each = (2048 + 512 + 512 + 2048) + (8192 + 8192 + 2048)
    assert biased.total_parameters - plain.total_parameters == 16 * each
    keys = ("attn_proj", "dense_ffn")
    for key in keys:
        counted = [m.architecture.matrix_parameters(key) for m in (biased, plain)]
        assert counted[0] == counted[1], "biases are not in the matrices"


def test_from_a_file_a_folder_and_a_mapping(tmp_path: Path) -> None:
    folder = tmp_path / "Llama-3.2-1B"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "other.json").write_text(json.dumps(LLAMA))
    read = [Model.from_config(p) for p in (folder, folder / "config.json", tmp_path / "other.json")]
    assert [model.name for model in read] == ["Llama-3.2-1B", "Llama-3.2-1B", "other"]
    assert {model.architecture for model in read} == {Model.from_config(LLAMA).architecture}
    assert Model.from_config(LLAMA).name == "llama"


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "3", '"llama"', "null", "[" * 10**5, '{"vocab_size": ' + "9" * 5000]
)
def test_a_file_that_is_no_configuration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json"):
        Model.from_config(path)


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json: there is no such file"):
        Model.from_config(tmp_path / "nothing.json")
    with pytest.raises(FileNotFoundError, match=r"config\.json: there is no such file"):
        Model.from_config(tmp_path)


@pytest.mark.parametrize("config", [None, 5, True, 3.5, b"config.json", [LLAMA], ("a",), "", " "])
def test_what_is_neither_a_path_nor_a_mapping(config: Any) -> None:
    with pytest.raises(TypeError, match=r"a configuration is a mapping, or the path .* not "):
        Model.from_config(config)


def test_json_text_is_no_path() -> None:
    with pytest.raises(TypeError, match=r"json\.loads it"):
        Model.from_config(json.dumps(LLAMA))


@pytest.mark.parametrize("given", [5, True, ["fp8"], b"fp8", {"moe": 5}, {"moe": None}])
def test_a_precision_is_a_name_or_a_mapping_to_names(given: Any) -> None:
    with pytest.raises(TypeError, match=r"precision is (a name such|found by its name)"):
        Model.from_config(MIXTRAL, precision=given)


def test_the_name_of_a_model_is_a_text() -> None:
    with pytest.raises(TypeError, match="a model's name is a text, not 5"):
        Model.from_config(LLAMA, name=5)  # type: ignore[arg-type]


def test_names_that_do_not_exist() -> None:
    architecture = catalog.model("llama-3.1-8b").architecture
    with pytest.raises(ValueError, match="there are embedding, attn_proj"):
        architecture.matrix_parameters("experts")
    with pytest.raises(ValueError, match="no matrices under 'moe'; there are embedding"):
        architecture.precision("moe")
    with pytest.raises(ValueError, match="no precision 'fp3'"):
        precision("fp3")
    with pytest.raises(ValueError, match="no element format 'int7'"):
        architecture.attention[0].coefficients(cache="int7")
    with pytest.raises(ValueError, match="no component 'expert'"):
        Weights("expert", 1, 1, 0, PRECISIONS["bf16"])


sizes = st.integers(1, 12)


@given(
    layers=sizes, heads=sizes, groups=sizes, width=sizes, ffn=sizes, experts=sizes, data=st.data()
)
@settings(deadline=None)
def test_a_mixture_of_any_size_adds_up(
    layers: int, heads: int, groups: int, width: int, ffn: int, experts: int, data: st.DataObject
) -> None:
    """Against a count matrix by matrix; what one token uses is between one expert and all."""
    k = data.draw(st.integers(1, experts))
    n_h = heads * groups
    config = without(MIXTRAL, "sliding_window") | {
        "hidden_size": 7,
        "num_hidden_layers": layers,
        "num_attention_heads": n_h,
        "num_key_value_heads": heads,
        "head_dim": width,
        "intermediate_size": ffn,
        "num_local_experts": experts,
        "num_experts_per_tok": k,
        "vocab_size": 11,
    }
    attended = 7 * n_h * width + 7 * heads * width + 7 * heads * width + n_h * width * 7
    expert = 7 * ffn + 7 * ffn + ffn * 7
    fixed = 2 * 11 * 7 + 7 + layers * (attended + experts * 7 + 2 * 7)
    model = Model.from_config(config)
    assert model.total_parameters == fixed + layers * experts * expert
    assert model.active_parameters == fixed + layers * k * expert
