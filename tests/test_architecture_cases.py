"""User cases on reading configurations, J01 to J12, F02, F03 and F04: each test names its case.

The configurations are small synthetic ones that state no ``model_type``, so all of them are read by
their fields, and say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specdec_lib import catalog
from specdec_lib.architecture import Architecture, ConfigError, Experts, Model, Weights
from specdec_lib.architecture.grouped import GroupedCore
from specdec_lib.architecture.latent import LatentCore

CONFIGS = Path(__file__).parent / "data" / "configs"
CASES = sorted(path.stem for path in CONFIGS.glob("j*.json"))


def read(case: str, **options: Any) -> Architecture:
    (path,) = CONFIGS.glob(f"{case}_*.json")
    return Model.from_config(path, **options).architecture


def layers(architecture: Architecture, key: str) -> int:
    return sum(part.layers for part in architecture.weights if part.key == key)


def only_core(architecture: Architecture) -> GroupedCore:
    (core,) = architecture.attention
    assert isinstance(core, GroupedCore)
    return core


def experts(architecture: Architecture) -> Experts:
    assert architecture.experts is not None
    return architecture.experts


def test_all_cases_are_here() -> None:
    assert [case[:3] for case in CASES] == [f"j{number:02}" for number in range(1, 13)]


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("j11")])
def test_reading_by_fields_is_an_assumption(case: str) -> None:
    architecture = read(case[:3])
    assert architecture.family == "by fields"
    assert any(a.startswith("model_type is not stated") for a in architecture.assumptions)


def test_j01_settings_of_language_in_a_nest() -> None:
    """The quantization block stands beside the nest; embedding and head stay at 16 bits."""
    architecture = read("j01")
    core = only_core(architecture)
    assert (architecture.layers, architecture.hidden_size) == (28, 3072)
    assert (core.n_h, core.n_kv, core.d) == (24, 4, 128)
    assert architecture.experts is None and not architecture.tied
    assert architecture.precision("attn_proj").bits == architecture.precision("dense_ffn").bits == 4
    assert {architecture.precision(key).bits for key in ("embedding", "head")} == {16}
    assert architecture.kv_bytes_per_token("bf16") == 57344


def test_j02_a_null_head_width_is_missing() -> None:
    architecture = read("j02")
    assert only_core(architecture).d == 128
    assert architecture.kv_bytes_per_token("bf16") == 81920
    assert architecture.experts is None
    assert any(a.startswith("head_dim is not stated: 128") for a in architecture.assumptions)


def test_j03_a_stated_head_width_is_not_derived() -> None:
    """The derived one would give 24 576 bytes a token; queries are wider than the hidden size."""
    architecture = read("j03")
    core = only_core(architecture)
    assert core.d == 128 and core.n_h * core.d == 4096 > architecture.hidden_size
    assert architecture.kv_bytes_per_token("bf16") == 49152 == 2 * 24576
    assert architecture.tied


def test_j04_num_experts_is_an_alias() -> None:
    architecture = read("j04")
    mixture = experts(architecture)
    assert (mixture.E, mixture.k, mixture.s) == (64, 8, 1)
    assert mixture.P_e == 3 * 2048 * 512
    assert layers(architecture, "moe") == layers(architecture, "shared") == 16
    (routed,) = [part for part in architecture.weights if part.key == "moe"]
    assert routed.matrices == 201_326_592
    assert int(routed.matrices * routed.used) == 25_165_824
    assert architecture.matrix_parameters("shared") == 16 * mixture.P_e


def test_j04_an_unknown_setting_of_experts_is_told() -> None:
    """Nothing that looks like experts is passed over in silence."""
    (path,) = CONFIGS.glob("j02_*.json")
    import json

    config = json.loads(path.read_text()) | {"num_specialists_experts": 32}
    read_so = Model.from_config(config).assumptions
    assert "num_specialists_experts = 32 is stated and not read" in read_so


def test_j05_a_dense_prefix_and_a_latent_cache() -> None:
    architecture = read("j05")
    mixture = experts(architecture)
    (core,) = architecture.attention
    assert isinstance(core, LatentCore) and core.kind == "latent"
    assert (layers(architecture, "moe"), layers(architecture, "dense_ffn")) == (27, 3)
    assert (mixture.E, mixture.k, mixture.s) == (160, 6, 2)
    assert core.d_c + core.d_r == 576
    assert architecture.kv_bytes_per_token("bf16") == 34560
    assert architecture.mtp_modules == 1


def test_j06_sliding_layers_are_allocated_whole_and_read_by_window() -> None:
    architecture = read("j06")
    mixture = experts(architecture)
    assert (mixture.E, mixture.k, mixture.P_e) == (32, 4, 3 * 2880 * 2880)
    assert {core.kind: core.layers for core in architecture.attention} == {
        "sliding window": 6,
        "grouped": 6,
    }
    each = {core.coefficients()["m_c"] for core in architecture.attention}
    assert each == {2048}
    assert architecture.kv_bytes_per_token("bf16") * 4096 == 100_663_296
    assert architecture.moved_cache_bytes(S=4096) == 51_904_512


def test_j07_a_hybrid_with_its_module_in_the_nest() -> None:
    """A count over all layers would give 131 072 bytes a token."""
    architecture = read("j07")
    kinds = {core.kind: core.layers for core in architecture.attention}
    assert kinds == {"GatedDeltaNet": 24, "grouped": 8}
    assert architecture.kv_bytes_per_token("bf16") == 32768
    assert architecture.mtp_modules == 1
    assert architecture.tied
    # 24 layers of 32 heads of 128 × 128 in fp32
    assert architecture.state_bytes() == 24 * 32 * 128 * 128 * 4


def test_j08_a_tied_head_is_read_and_not_stored() -> None:
    architecture = read("j08")
    ends = {part.key: part for part in architecture.weights if part.key in ("embedding", "head")}
    assert architecture.tied and only_core(architecture).d == 128
    assert ends["embedding"].parameters == 256_000_000
    assert ends["head"].parameters == 0
    assert ends["head"].bytes == 512_000_000
    assert 2 * architecture.matrix_parameters("head") == 512_000_000  # FLOPs a token


def test_j09_fp8_in_blocks() -> None:
    architecture = read("j09")
    for key in ("attn_proj", "dense_ffn"):
        assert (architecture.precision(key).bits, architecture.precision(key).bytes) == (8, 1)
    for key in ("embedding", "head", "other"):
        assert {p.precision.bits for p in architecture.weights if p.key == key} == {16}
    # the format of the cache is a matter of serving
    assert {core.cache for core in architecture.attention} == {"bf16"}


def test_j10_mxfp4_for_experts_alone() -> None:
    architecture = read("j10")
    bits = {
        key: 8 * architecture.precision(key).bytes
        for key in ("moe", "attn_proj", "router", "embedding", "head")
    }
    assert bits == {"moe": 4.25, "attn_proj": 16, "router": 16, "embedding": 16, "head": 16}


def test_j11_an_empty_configuration_is_declined() -> None:
    with pytest.raises(ConfigError) as raised:
        read("j11")
    for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"):
        assert name in str(raised.value)


def test_j12_zero_experts_are_none() -> None:
    """An explicit zero does not fall through to another name."""
    architecture = read("j12")
    assert architecture.experts is None
    assert layers(architecture, "dense_ffn") == 12
    assert only_core(architecture).d == 128
    assert architecture.kv_bytes_per_token("bf16") == 12288


def test_f02_modules_are_counted_and_limit_no_draft() -> None:
    """GLM-5.2 states one module and is served with five speculative tokens."""
    model = catalog.model("GLM-5.2")
    assert model.mtp_modules == 1
    assert model.architecture.mtp
    card = catalog.drafter_card("GLM-5-MTP")
    assert [card.passes(gamma) for gamma in (0, 1, 5)] == [0, 1, 5]


@pytest.mark.parametrize("name", ["Qwen3.5-35B-A3B", "Qwen3.6-27B", "Qwen3.6-35B-A3B"])
def test_f03_only_full_layers_have_a_cache(name: str) -> None:
    """Charging every layer of a hybrid is four times too much."""
    model = catalog.model(name)
    (full,) = [core for core in model.attention if core.kind == "grouped"]
    naive = model.layers * full.coefficients()["m_c"]
    assert naive / model.kv_bytes_per_token() == 4
    assert model.state_bytes() > 0


@pytest.mark.parametrize(("name", "allocated"), [("gpt-oss-120b", 73728), ("gpt-oss-20b", 49152)])
def test_f04_allocated_is_not_read(name: str, allocated: int) -> None:
    """Of 36 layers with 2 048 bytes a token, half slide over 128 tokens."""
    model = catalog.model(name)
    assert model.kv_bytes_per_token() == allocated
    moved = model.architecture.moved_cache_bytes(S=[8192, 10**6])
    assert moved[0] / (allocated * 8192) == pytest.approx(0.5 + 0.5 * 128 / 8192, rel=1e-12)
    # 78 384 tokens in 5.38 GiB, as an engine reports of gpt-oss-120b
    if name == "gpt-oss-120b":
        assert allocated * 78384 / 2**30 == pytest.approx(5.38, abs=0.005)


def test_a_part_is_either_weights_or_works_on_the_cache() -> None:
    for architecture in map(read, (case[:3] for case in CASES if not case.startswith("j11"))):
        cached = {*architecture.attention, *architecture.indexers}
        assert all(
            (part in cached) != isinstance(part, Weights) for part in architecture.components
        )
