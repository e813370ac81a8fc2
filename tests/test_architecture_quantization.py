"""Quantization: the blocks of every method, and what they keep out, as published exports write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import catalog
from specdec_lib.architecture import PRECISIONS, Architecture, ConfigError, Model, precision
from specdec_lib.architecture.modules import Pattern

SHAPE: dict[str, Any] = {
    "model_type": "qwen2_moe",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [0],
    "vocab_size": 100,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_sliding_window": False,
    "qkv_bias": True,
}
KEYS = ("attn_proj", "dense_ffn", "moe", "shared")
FP8: dict[str, Any] = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
AWQ: dict[str, Any] = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
GPTQ: dict[str, Any] = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}
NVFP4: dict[str, Any] = {"quant_method": "modelopt", "quant_algo": "NVFP4"}


def tensors(weights: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> Any:
    """A block of compressed tensors with one group of all linear layers."""
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, **more}


def read(block: dict[str, Any] | None, **options: Any) -> Architecture:
    config = SHAPE if block is None else SHAPE | {"quantization_config": block}
    return Model.from_config(config, name="that-file.json", **options).architecture


def names(architecture: Architecture, *keys: str) -> list[str]:
    return [architecture.precision(key).name for key in keys or KEYS]


#: Block, and the precision that it gives to attention projections and feed-forward.
BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "FP8 in blocks": (FP8, "fp8"),
    "AWQ": (AWQ, "int4-g128-zero"),
    "AWQ without zero points": (AWQ | {"zero_point": False, "group_size": 64}, "int4-g64"),
    "GPTQ": (GPTQ, "int4-g128"),
    "GPTQ, asymmetric": (GPTQ | {"sym": False, "group_size": 32}, "int4-g32-zero"),
    "GPTQ in 8 bits by columns": (GPTQ | {"bits": 8, "group_size": -1}, "int8-g0"),
    "compressed FP8": (
        tensors({"num_bits": 8, "type": "float"}, {"num_bits": 8, "type": "float"}),
        "fp8",
    ),
    "compressed FP8, weights alone": (tensors({"num_bits": 8, "type": "float"}), "fp8-w8a16"),
    "compressed NVFP4": (
        tensors(
            {"num_bits": 4, "type": "float", "group_size": 16}, {"num_bits": 4, "type": "float"}
        ),
        "nvfp4",
    ),
    "compressed NVFP4, weights alone": (
        tensors({"num_bits": 4, "type": "float", "group_size": 16}),
        "nvfp4-w4a16",
    ),
    "compressed MXFP4": (
        tensors({"num_bits": 4, "type": "float", "group_size": 32}),
        "mxfp4-w4a16",
    ),
    "compressed MXFP4 with 8-bit activations": (
        tensors(
            {"num_bits": 4, "type": "float", "group_size": 32}, {"num_bits": 8, "type": "float"}
        ),
        "mxfp4-w4a8",
    ),
    "compressed whole numbers": (
        tensors({"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True}),
        "int4-g32",
    ),
    "compressed whole numbers, activations too": (
        tensors({"num_bits": 8, "type": "int"}, {"num_bits": 8, "type": "int"}),
        "int8-w8a8",
    ),
    "NVIDIA's NVFP4": (NVFP4 | {"producer": {"name": "modelopt"}}, "nvfp4"),
    "NVIDIA's FP8": (NVFP4 | {"quant_algo": "FP8"}, "fp8"),
    "NVIDIA's AWQ": (
        NVFP4 | {"quant_algo": "W4A16_AWQ", "group_size": 64},
        "int4-g64",
    ),
}


@pytest.mark.parametrize("case", BLOCKS)
def test_blocks_of_every_method(case: str) -> None:
    block, expected = BLOCKS[case]
    architecture = read(block)
    assert set(names(architecture)) == {expected}
    assert set(names(architecture, "embedding", "router", "head")) == {"bf16"}
    assert not any("quantization" in a for a in architecture.assumptions)


def test_mxfp4_is_for_experts_alone() -> None:
    found = names(read({"quant_method": "mxfp4"}))
    assert found == ["bf16", "bf16", "mxfp4-w4a16", "bf16"]


def test_a_head_that_is_quantized_too() -> None:
    assert names(read(GPTQ | {"lm_head": True}), "head") == ["int4-g128"]


#: What a list keeps out, in the dialects of published exports, and which components that are.
KEPT: dict[str, tuple[list[str], set[str]]] = {
    "a module": (["self_attn"], {"attn_proj"}),
    "a module in all layers": (["model.layers.*.self_attn"], {"attn_proj"}),
    "the layers one by one": (
        [f"model.layers.{layer}.self_attn" for layer in range(4)],
        {"attn_proj"},
    ),
    "matrix by matrix": (
        [
            f"model.layers.{layer}.self_attn.{name}_proj"
            for layer in range(4)
            for name in ("q", "k", "v", "o")
        ],
        {"attn_proj"},
    ),
    "fused matrices": (["self_attn.qkv_proj", "self_attn.o_proj"], {"attn_proj"}),
    "behind another model's path": (
        [f"model.language_model.layers.{layer}.self_attn" for layer in range(4)],
        {"attn_proj"},
    ),
    "stars at both ends": (["*self_attn*"], {"attn_proj"}),
    "stars in the reference's names": (
        ["*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*"],
        {"attn_proj", "shared"},
    ),
    "an expression": (["re:.*self_attn.*"], {"attn_proj"}),
    "an expression over part of a name": (
        ["re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "lm_head"],
        {"dense_ffn"},
    ),
    "the shared expert": (["mlp.shared_expert"], {"shared"}),
    "the whole block": (["mlp"], {"dense_ffn", "moe", "shared"}),
    "a dense layer by its number": (["model.layers.0.mlp."], {"dense_ffn"}),
    "the router alone": (["gate", "e_score_correction_bias"], set()),
    "both ends": (["lm_head", "model.embed_tokens"], set()),
    "norms, other towers and draft modules": (
        [
            "model.layers.0.input_layernorm",
            "visual",
            "re:.*vision_tower.*",
            "model.visual.layers.0.mlp",
            "mtp*",
            "mtp.layers.0*",
        ],
        set(),
    ),
    "gated linear attention's small matrices": (["linear_attn.in_proj_ba"], set()),
}


@pytest.mark.parametrize("setting", ["modules_to_not_convert", "ignore"])
@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept_out(case: str, setting: str) -> None:
    patterns, kept = KEPT[case]
    block = (FP8 if setting == "modules_to_not_convert" else NVFP4) | {setting: patterns}
    architecture = read(block)
    short = "fp8" if setting == "modules_to_not_convert" else "nvfp4"
    assert names(architecture) == ["bf16" if key in kept else short for key in KEYS]
    told = [a for a in architecture.assumptions if setting in a]
    assert len(told) == ("small" in case), told


def test_a_pattern_that_means_nothing_is_told() -> None:
    architecture = read(FP8 | {"modules_to_not_convert": ["model.layers.99.self_attn"]})
    (told,) = architecture.assumptions
    assert "'model.layers.99.self_attn' names nothing that is counted" in told


def test_gptq_keeps_modules_out_by_its_dynamic_table() -> None:
    found = names(read(GPTQ | {"dynamic": {"-:.*self_attn.*": {}, "-:.*mlp\\.gate$": {}}}))
    assert found == ["bf16", "int4-g128", "int4-g128", "int4-g128"]


def test_several_groups_of_compressed_tensors() -> None:
    """Experts in 4 bits, the rest in 8: the first rule that fits counts."""
    block = tensors({"num_bits": 8, "type": "float"}, {"num_bits": 8, "type": "float"})
    block["config_groups"]["group_1"] = {
        "targets": ["re:.*mlp\\.experts.*"],
        "weights": {"num_bits": 4, "type": "float", "group_size": 16},
        "input_activations": {"num_bits": 4, "type": "float"},
    }
    assert names(read(block)) == ["fp8", "fp8", "nvfp4", "fp8"]
    block["ignore"] = ["re:.*mlp\\.experts.*"]
    assert names(read(block)) == ["fp8", "fp8", "bf16", "fp8"]


def test_nvidias_mixed_precision_names_each_module() -> None:
    layers = {f"model.layers.{layer}.mlp.experts.*": {"quant_algo": "NVFP4"} for layer in (1, 2, 3)}
    layers |= {f"model.layers.{layer}.self_attn.*": {"quant_algo": "FP8"} for layer in range(4)}
    block = NVFP4 | {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    assert names(read(block)) == ["fp8", "bf16", "nvfp4", "bf16"]


def test_layers_of_one_kind_may_be_kept_out() -> None:
    """Linear attention in bf16, full attention in FP8: two precisions of one key."""
    linear = {
        "model_type": "qwen3_5",
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 4,
        "quantization_config": FP8 | {"modules_to_not_convert": ["linear_attn"]},
    }
    architecture = Model.from_config(SHAPE | linear).architecture
    found = {p.layers: p.precision.name for p in architecture.weights if p.key == "attn_proj"}
    assert found == {3: "bf16", 1: "fp8"}
    with pytest.raises(ValueError, match="'attn_proj' is in several precisions: bf16, fp8"):
        architecture.precision("attn_proj")


def test_experts_of_kimi_k25() -> None:
    """Groups of 32 with 16-bit scales, 4.5 bits a weight, and 16-bit activations; the rest bf16."""
    architecture = catalog.model("Kimi-K2.5").architecture
    experts = architecture.precision("moe")
    assert (experts.name, 8 * experts.bytes, experts.peak) == ("int4-g32", 4.5, "bf16")
    rest = ("attn_proj", "shared", "dense_ffn", "router", "head")
    assert set(names(architecture, *rest)) == {"bf16"}


def test_v4_flash_in_three_formats() -> None:
    """Experts at the FP8 rate, at the FP4 rate, and in FP8: one shape."""
    models = [catalog.model(f"DeepSeek-V4-Flash{suffix}") for suffix in ("", "-NVFP4", "-FP8")]
    forms = [model.architecture.precision("moe") for model in models]
    assert [(form.bytes, form.peak) for form in forms] == [
        (0.53125, "fp8"),
        (0.5625, "fp4"),
        (1.0, "fp8"),
    ]
    assert len({model.total_parameters for model in models}) == 1
    assert {model.architecture.precision("attn_proj").name for model in models} == {"fp8"}


@pytest.mark.parametrize("name", ["Qwen3.6-27B", "Qwen3.6-35B-A3B"])
def test_qwen36_is_in_bf16(name: str) -> None:
    forms = {part.precision.name for part in catalog.model(name).architecture.weights}
    assert forms == {"bf16"}


# --- by the caller --------------------------------------------------------------------------------


def test_an_override_makes_an_unreadable_block_readable() -> None:
    block = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": "…"}
    with pytest.raises(ConfigError, match="quantized_layers: found '…'"):
        read(block)
    with pytest.raises(ConfigError, match="quantized_layers"):
        read(block, precision={"moe": "nvfp4"})  # the rest is still open
    assert set(names(read(block, precision="bf16"))) == {"bf16"}
    every = dict.fromkeys(KEYS, "fp8") | {"moe": "nvfp4"}
    assert names(read(block, precision=every)) == ["fp8", "fp8", "nvfp4", "fp8"]


def test_an_override_goes_before_what_is_stated() -> None:
    found = read(FP8, precision={"moe": "Q4_K", "head": "q8_0"})
    assert names(found) == ["fp8", "fp8", "q4_k", "fp8"]
    assert names(found, "head") == ["q8_0"]


# --- formats --------------------------------------------------------------------------------------

#: Bytes of a block and the weights in it, as the formats are defined.
FORMATS: dict[str, tuple[float, int]] = {
    "bf16": (2, 1),
    "fp8": (1, 1),
    "mxfp4-w4a8": (16 + 1, 32),
    "mxfp4-w4a16": (16 + 1, 32),
    "nvfp4": (8 + 1, 16),
    "q8_0": (2 + 32, 32),
    "q6_k": (128 + 64 + 16 + 2, 256),  # low bits, high bits, scales, their scale
    "q5_k": (2 + 2 + 12 + 128 + 32, 256),  # two scales, scales and minima, low bits, high bits
    "q4_k": (2 + 2 + 12 + 128, 256),
    "q4_0": (2 + 16, 32),
    "int4": (64 + 2, 128),
    "int4-g128-zero": (64 + 2 + 0.5, 128),
    "int4-g32": (16 + 2, 32),
    "int8": (1, 1),
    "int8-g128": (128 + 2, 128),
}


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_of_a_weight(name: str) -> None:
    stored, weights = FORMATS[name]
    assert precision(name).bytes == stored / weights


def test_activations_decide_the_peak() -> None:
    assert {name: form.peak for name, form in PRECISIONS.items() if form.peak != "bf16"} == {
        "fp8": "fp8",
        "mxfp4-w4a8": "fp8",
        "nvfp4": "fp4",
        "int8-w8a8": "int8",
    }


@given(st.sampled_from(sorted(PRECISIONS)))
def test_a_name_leads_to_its_precision_in_any_case(name: str) -> None:
    assert precision(name.upper()) == precision(name) == PRECISIONS[name]


@pytest.mark.parametrize("name", ["int4-g", "int3-g32", "int4-g32-", "q4_k_m", "", "int4-g-1"])
def test_names_that_are_no_precision(name: str) -> None:
    with pytest.raises(ValueError, match="no precision"):
        precision(name)


# --- what cannot be read --------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "an unknown method": (
        {"quant_method": "bitsandbytes", "load_in_4bit": True},
        ("quant_method: found 'bitsandbytes'", "'awq'", "precision="),
    ),
    "no method": ({"bits": 4, "group_size": 64}, ("quant_method: found None",)),
    "a method that is no word": ({"quant_method": ["awq"]}, ("quant_method", "['awq']")),
    "a setting that is not known": (
        GPTQ | {"rotation": "hadamard"},
        ("quantization_config: found 'rotation'", "group_size"),
    ),
    "3 bits": (GPTQ | {"bits": 3}, ("quantization_config.bits: found 3", "4 or 8")),
    "a group of no size": (AWQ | {"group_size": 0}, ("group_size: found 0", "at least 1")),
    "a group that is no number": (AWQ | {"group_size": "128"}, ("group_size: found '128'",)),
    "another FP8": (FP8 | {"fmt": "e5m2"}, ("fmt: found 'e5m2'", "'e4m3'")),
    "other bits for some modules": (
        GPTQ | {"dynamic": {"+:.*mlp.*": {"bits": 8}}},
        ("dynamic", "-:pattern"),
    ),
    "a list that is none": (
        FP8 | {"modules_to_not_convert": "lm_head"},
        ("modules_to_not_convert: found 'lm_head'", "a list of texts"),
    ),
    "a broken expression": (FP8 | {"modules_to_not_convert": ["re:("]}, ("a regular expression",)),
    "a broken expression in a table": (
        GPTQ | {"dynamic": {"-:(": {}}},
        ("quantization_config.dynamic: found '-:('", "a regular expression"),
    ),
    "a zero point that is no flag": (AWQ | {"zero_point": "yes"}, ("zero_point: found 'yes'",)),
    "one matrix of a component": (
        FP8 | {"modules_to_not_convert": ["self_attn.k_proj"]},
        ("modules_to_not_convert: found 'self_attn.k_proj'", "a part of attn_proj"),
    ),
    "one layer of a component": (
        FP8 | {"modules_to_not_convert": ["model.layers.2.mlp.experts"]},
        ("modules_to_not_convert: found 'model.layers.2.mlp.experts'", "a part of moe"),
    ),
    "no groups": (
        {"quant_method": "compressed-tensors", "config_groups": {}},
        ("config_groups: found {}",),
    ),
    "a group without targets": (
        {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {}}}},
        ("config_groups.group_0", "targets"),
    ),
    "tensors in a format that is not known": (
        tensors({"num_bits": 2, "type": "int", "group_size": 32}),
        ("config_groups.group_0", "2-bit int in groups of 32", "nvfp4"),
    ),
    "an unknown algorithm": (NVFP4 | {"quant_algo": "W2A2"}, ("quant_algo: found 'W2A2'", "'FP8'")),
    "mixed precision without a list": (
        NVFP4 | {"quant_algo": "MIXED_PRECISION"},
        ("quantized_layers: found {}",),
    ),
    "an unknown algorithm of one module": (
        NVFP4
        | {
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {"model.layers.0.self_attn": {"quant_algo": "W2A2"}},
        },
        ("quantized_layers.model.layers.0.self_attn.quant_algo: found 'W2A2'",),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named(case: str) -> None:
    block, expected = REFUSED[case]
    with pytest.raises(ConfigError) as raised:
        read(block)
    message = str(raised.value)
    assert message.startswith("that-file.json: quantization_config")
    for text in expected:
        assert text in message, message
    assert set(names(read(block, precision="bf16"))) == {"bf16"}, "an override helps"


@given(st.lists(st.sampled_from(["mlp", "experts", "self_attn", "gate", "lm_head"]), min_size=1))
def test_a_dotted_part_fits_where_its_segments_stand_together(segments: list[str]) -> None:
    part = ".".join(segments)
    assert Pattern(part).fits(f"layers.7.{part}.q_proj")
    assert Pattern(f"model.layers.7.{part}").fits(f"layers.7.{part}.q_proj")
    assert not Pattern(f"model.layers.7.{part}").fits(f"layers.17.{part}.q_proj")
    assert not Pattern(part).fits(f"layers.7.x{part}y.q_proj")


@pytest.mark.parametrize(
    ("block", "setting", "expected"),
    [
        (FP8, "fmt", "e4m3"),
        (AWQ, "group_size", "128"),
        (AWQ, "zero_point", "true"),
        (GPTQ, "group_size", "128"),
        (GPTQ, "sym", "true"),
        (NVFP4 | {"quant_algo": "W4A16_AWQ", "group_size": 64}, "group_size", "128"),
    ],
)
def test_every_default_is_an_assumption(block: dict[str, Any], setting: str, expected: str) -> None:
    without = {key: value for key, value in block.items() if key != setting}
    assert read(block).assumptions == ()
    assert read(without).assumptions == (
        f"quantization_config.{setting} is not stated: {expected}",
    )


def test_a_block_as_an_older_exporter_writes_it() -> None:
    """Every setting of a published 4-bit Qwen2.5, most of which say nothing of bytes."""
    block = GPTQ | {
        "batch_size": 1,
        "cache_block_outputs": True,
        "damp_percent": 0.01,
        "dataset": None,
        "desc_act": False,
        "exllama_config": {"version": 1},
        "modules_in_block_to_quantize": None,
        "tokenizer": None,
        "true_sequential": True,
        "use_cuda_fp16": False,
        "use_exllama": True,
    }
    assert set(names(read(block))) == {"int4-g128"}
    only_some = block | {"modules_in_block_to_quantize": [["self_attn.q_proj"]]}
    with pytest.raises(ConfigError, match="modules_in_block_to_quantize"):
        read(only_some)
