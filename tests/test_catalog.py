"""Catalogue: names, values and ridge points against published ones, and reference records."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lib import catalog
from specdec_lib.formulas import attention, experts, published
from specdec_lib.records.names import Index, UnknownName, bare
from specdec_lib.records.provenance import DataError

#: Dense peaks in TFLOP/s (bf16, FP8, FP4), bandwidth in TB/s, memory in GB.
PRINTED: dict[str, tuple[float | None, float | None, float | None, float, float]] = {
    "A100 SXM 80 GB": (312, None, None, 2.039, 80),
    "H100 SXM": (989.4, 1978.9, None, 3.35, 80),
    "H100 PCIe": (756.5, 1513, None, 2.0, 80),
    "H200": (989.4, 1978.9, None, 4.8, 141),
    "H20": (148, 296, None, 4.0, 96),
    "GH200": (989.4, 1978.9, None, 4.0, 96),
    "B200": (2250, 4500, 9000, 8.0, 180),
    "GB200": (2500, 5000, 10000, 8.0, 186),
    "B300": (2250, 4500, 14000, 7.75, 270),
    "GB300": (2500, 5000, 15000, 8.0, 288),
    "MI300X": (1307.4, 2614.9, None, 5.3, 192),
    "MI325X": (1307.4, 2614.9, None, 6.0, 256),
    "MI355X": (2516.6, 5033.2, 10066, 8.0, 288),
    "RTX 4090": (165.2, 330.3, None, 1.008, 24),
    "RTX 5090": (209.5, 419, 1676, 1.792, 32),
    "RTX PRO 6000": (503.8, 1007.6, 2015, 1.792, 96),
    "L40S": (362.05, 733, None, 0.864, 48),
    "L4": (121, 242, None, 0.3, 24),
}


@pytest.mark.parametrize("name", PRINTED)
def test_printed_values_in_si_units(name: str) -> None:
    gpu = catalog.gpu(name)
    *peaks, bandwidth, memory = PRINTED[name]
    for precision, printed in zip(("bf16", "fp8", "fp4"), peaks, strict=True):
        found = gpu.peak.get(precision)
        assert found == (None if printed is None else pytest.approx(printed * 1e12, rel=1e-15))
    assert gpu.bandwidth == pytest.approx(bandwidth * 1e12, rel=1e-15)
    assert gpu.memory == memory * 1e9


@pytest.mark.parametrize(
    ("name", "precision", "ridge"),
    [
        ("b200", "bf16", 281.25),
        ("b200", "fp8", 562.5),
        ("b200", "fp4", 1125),
        ("h100-sxm", "bf16", 295.3),
        ("h100-sxm", "fp8", 590.7),
        ("h200", "bf16", 206.1),
        ("gb200", "bf16", 312.5),
        ("h20", "bf16", 37),
        ("mi355x", "fp4", 1258.2),
        ("rtx 4090", "bf16", 163.9),
    ],
)
def test_published_ridge_points(name: str, precision: str, ridge: float) -> None:
    assert catalog.gpu(name).ridge(precision) == pytest.approx(ridge, abs=0.06)


def test_records_print_as_one_line_of_sizes() -> None:
    """As the catalogue's first test and the counts of the architecture have them."""
    assert repr(catalog.gpu("b200")) == (
        "Gpu(B200: bf16 2250, fp8 4500, fp4 9000, int8 4500 TFLOP/s, 8 TB/s, 180 GB)"
    )
    assert repr(catalog.model("deepseek-v4-flash")) == (
        "Model(DeepSeek-V4-Flash: 284.3 B parameters, 13.8 B active)"
    )
    assert repr(catalog.model("qwen3-0.6b")) == "Model(Qwen3-0.6B: 596 M parameters)"
    for record in (*catalog.gpus(), *catalog.models()):
        assert record.name in repr(record) and len(repr(record)) < 120


def test_a_precision_that_a_gpu_lacks() -> None:
    with pytest.raises(ValueError, match="A100 SXM 80 GB has no fp8 rate; it has bf16, int8"):
        catalog.gpu("a100").ridge("fp8")
    with pytest.raises(ValueError, match="no fp4 rate"):
        catalog.gpu("h100").rate("fp4")


def test_a_link_counts_one_direction() -> None:
    assert catalog.gpu("h100").link == 450e9
    assert catalog.gpu("l4").link == 32e9
    assert catalog.gpu("b200").data["link"].value == 1800e9, "as printed, both directions"


def test_traps_are_noted() -> None:
    assert any("sparsity" in note for note in catalog.gpu("h100").notes)
    assert any("superchip" in note for note in catalog.gpu("gb200").notes)
    assert any("W4A8" in note for note in catalog.gpu("b200").notes)
    assert any("7.7 TB/s" in n for n in catalog.gpu("b200").data["bandwidth"].provenance.notes)
    assert any("FP32" in note for note in catalog.gpu("rtx 4090").notes)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("b200", "B200"),
        ("B200-SXM (HGX/DGX)", "B200"),
        ("NVIDIA B200", "B200"),
        ("h100-sxm", "H100 SXM"),
        ("H100-SXM5-80GB", "H100 SXM"),
        ("GB200 (per GPU, NVL72)", "GB200"),
        ("nvidia a100", "A100 SXM 80 GB"),
        ("rtx pro 6000 blackwell (workstation)", "RTX PRO 6000 Blackwell Workstation"),
        ("  Mi300x ", "MI300X"),
        ("TPU v6e (Trillium)", "TPU v6e"),
    ],
)
def test_names_of_gpus(alias: str, name: str) -> None:
    assert catalog.gpu(alias).name == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("deepseek-v4-flash", "DeepSeek-V4-Flash"),
        ("DeepSeek V4 Flash", "DeepSeek-V4-Flash"),
        ("deepseek-ai/DeepSeek-V3", "DeepSeek-V3"),
        ("Kimi-K2-Instruct", "Kimi-K2"),
        ("mistralai/Mixtral-8x7B-v0.1", "Mixtral-8x7B"),
        ("qwen3 30b a3b", "Qwen3-30B-A3B"),
        ("gptoss120b", "gpt-oss-120b"),
        ("Meta-Llama-3.1-70B", "Llama-3.1-70B"),
        ("DeepSeek-V4-Flash-0731-DSpark", "DeepSeek-V4-Flash-0731"),
        ("glm 5.2", "GLM-5.2"),
        ("Qwen/Qwen3.6-35B-A3B", "Qwen3.6-35B-A3B"),
        ("Llama-4-Scout-17B-16E-Instruct", "Llama-4-Scout"),
        ("gemma-4-26b-a4b", "Gemma-4-26B-A4B"),
    ],
)
def test_names_of_models(alias: str, name: str) -> None:
    assert catalog.model(alias).name == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("deepseek-v4-flash-mtp", "DeepSeek-V4-Flash-MTP"),
        ("llama3-8B-eagle3", "Llama-3.1-8B-EAGLE3"),
        ("Llama-3.2-1B-as-draft", "Llama-3.2-1B"),
        ("Medusa-Vicuna-7B", "Vicuna-7B-Medusa"),
        ("prompt lookup", "n-gram"),
    ],
)
def test_names_of_drafters(alias: str, name: str) -> None:
    assert catalog.drafter_card(alias).name == name


@pytest.mark.parametrize(
    ("lookup", "wrong", "near"),
    [
        (catalog.gpu, "b20", "B200"),
        (catalog.gpu, "h100 sxm6", "H100 SXM"),
        (catalog.gpu, "RTX 6000 PRO", "RTX PRO 6000 Blackwell Workstation"),
        (catalog.model, "deepseek-v4", "DeepSeek-V4-Flash"),
        (catalog.model, "llama 3.1 80b", "Llama-3.1-8B"),
        (catalog.model, "mixtral", "Mixtral-8x7B"),
        (catalog.drafter_card, "qwen3-8b-dflsh", "Qwen3-8B-DFlash"),
        (catalog.published, "calculater", "calculator"),
        (catalog.measured, "experts", "distinct-experts"),
    ],
)
def test_a_wrong_name_lists_near_ones(lookup: object, wrong: str, near: str) -> None:
    assert callable(lookup)
    with pytest.raises(UnknownName) as raised:
        lookup(wrong)
    message = str(raised.value)
    assert repr(wrong) in message and near in message
    assert isinstance(raised.value, LookupError) and not message.startswith("'")


def test_a_name_like_no_other_lists_them_all() -> None:
    with pytest.raises(UnknownName) as raised:
        catalog.gpu("zzz")
    assert all(gpu.name in str(raised.value) for gpu in catalog.gpus())
    with pytest.raises(UnknownName):
        catalog.gpu("")


@pytest.mark.parametrize("wrong", [None, 200, ["b200"]])
def test_a_name_is_a_text(wrong: object) -> None:
    with pytest.raises(TypeError, match="by its name"):
        catalog.gpu(wrong)  # type: ignore[arg-type]


def test_every_name_and_alias_finds_its_record() -> None:
    for gpu in catalog.gpus():
        for name in (gpu.name, *gpu.aliases):
            assert catalog.gpu(name) is gpu
    for model in catalog.models():
        for name in (model.name, *model.aliases, model.repository):
            assert catalog.model(name) is model
    for card in catalog.drafter_cards():
        for name in (card.name, *card.aliases):
            assert catalog.drafter_card(name) is card


def test_how_much_the_catalogue_holds() -> None:
    held = (catalog.models(), catalog.gpus(), catalog.drafter_cards())
    assert [len(records) >= least for records, least in zip(held, (30, 25, 15), strict=True)] == [
        True
    ] * 3


def test_a_name_means_one_record() -> None:
    index: Index[int] = Index("thing")
    index.add("B-200", ("two hundred",), 1)
    with pytest.raises(DataError, match="'b 200' already names B-200"):
        index.add("other", ("b 200",), 2)
    with pytest.raises(DataError, match="two things"):
        index.add("B-200", (), 3)
    assert list(index) == ["B-200"]
    index.add("other", (), 4)  # a refused record has left nothing behind
    assert index.find("Other") == 4


@given(st.text())
def test_bare_names_are_settled(name: str) -> None:
    assert bare(bare(name)) == bare(name)
    assert bare(f" -{name}_/(") == bare(name)


def test_every_field_of_a_config_is_read() -> None:
    """A record carries the settings that decide a price and no others."""
    for record in (*catalog.models(), *catalog.drafter_cards()):
        assert not [a for a in record.assumptions if "not read" in a], record.name


#: What published configurations of these models leave open; the others leave nothing.
OPEN: dict[str, set[str]] = {
    "DeepSeek-V4-Flash-0731": {"the last 3 entries of compress_ratios", "torch_dtype"},
    "DeepSeek-V4-Flash-FP8": {"model_type", "tie_word_embeddings"},
    "gpt-oss-120b": {"torch_dtype"},
    "gpt-oss-20b": {"torch_dtype"},
    "Llama-3.1-8B": {"head_dim"},
    "Llama-3.1-70B": {"head_dim"},
    "Llama-3.1-405B": {"head_dim"},
    "Llama-4-Maverick": {"layer_types", "tie_word_embeddings"},
    "Llama-4-Scout": {"layer_types", "tie_word_embeddings"},
    "MiniMax-M2": {"torch_dtype"},
    "MiniMax-M2.5": {"torch_dtype"},
    "Mixtral-8x7B": {"head_dim"},
    "Mixtral-8x22B": {"head_dim"},
    "OLMoE-1B-7B": {"head_dim", "torch_dtype"},
    "Phi-3.5-MoE": {"head_dim"},
    "Qwen2-57B-A14B": {"head_dim", "qkv_bias", "mlp_only_layers"},
    "Qwen3-Coder-480B-A35B": {"attention_bias"},
    "Qwen3-Next-80B-A3B": {"attention_bias"},
}


def test_assumptions_of_the_catalogue() -> None:
    found = {model.name: model.assumptions for model in catalog.models() if model.assumptions}
    assert set(found) == set(OPEN)
    for name, assumptions in found.items():
        started = {field for field in OPEN[name] for a in assumptions if a.startswith(field)}
        assert (started, len(assumptions)) == (OPEN[name], len(OPEN[name])), name


def test_the_catalogue_is_read_when_it_is_asked_for() -> None:
    """Importing the library opens none of its data files."""
    code = (
        "import sys, specdec_lib.catalog as c\n"
        "indices = (c._gpu_index, c._model_index, c._drafter_index)\n"
        "print(*(index.cache_info().currsize for index in indices))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0", "0"]


def test_records_are_read_once_and_cannot_be_changed() -> None:
    gpu = catalog.gpu("b200")
    assert catalog.gpu("B200") is gpu
    with pytest.raises(TypeError):
        gpu.peak["bf16"] = 1.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        gpu.bandwidth = 1.0  # type: ignore[misc]


# --- reference records -------------------------------------------------------------------------
def test_published_intensities_are_those_of_the_formula() -> None:
    table = catalog.published("mla-intensity")
    shape = {key: table.constants[key] for key in ("n_h", "d_c", "d_r")}
    found = attention.intensity(
        T=table["T"],
        S=table["S"],
        f=attention.latent_pair_work(**shape),
        m_c=attention.latent_context_bytes(d_c=512, d_r=64, b_kv=table.constants["b_kv"]),
        m_q=attention.latent_query_bytes(b_q=table.constants["b_q"], **shape),
    )
    assert np.abs(found - table["intensity"]).max() <= 0.5
    assert len(found) == 20


def test_the_calculators_constants_fit_its_formula() -> None:
    constants = catalog.published("calculator").constants
    assert set(constants) == {q.keyword for q in published.layer_bytes.inputs} - {"B", "T", "S"}
    assert (constants["f"], constants["m_c"]) == (139264, 576)
    assert (constants["P_a"], constants["P_e"], constants["b"]) == (107e6, 25.2e6, 0.53)


def test_measured_experts_of_one_sequence_follow_the_locality_exponent() -> None:
    """The uniform law at T^0.74 tokens within 2 %, and no other exponent fits better."""
    record = catalog.measured("distinct-experts")
    E, k, fitted = (record.constants[key] for key in ("E", "k", "locality"))
    T, seen = record["n"], record["one_sequence"]
    assert (seen[-1], record["many_sequences"][-1]) == (55.05, 81.54)

    def worst(exponent: float) -> float:
        law = experts.distinct_experts(n=T**exponent, E=E, k=k)
        return float(np.abs(law / seen - 1).max())

    assert worst(fitted) < 0.02
    exponents = np.arange(0.5, 1.0, 0.01)
    assert abs(exponents[np.argmin([worst(e) for e in exponents])] - fitted) < 0.015
    assert experts.distinct_experts(n=16, E=E, k=k) == pytest.approx(102.0, abs=0.05)


def test_the_measured_popularity_is_a_ranking_of_all_experts() -> None:
    record = catalog.measured("expert-popularity")
    share = record["share"]
    assert len(share) == record.constants["E"] == 256
    assert np.all(np.diff(share) <= 0) and share[-1] > 0
    assert share.sum() == pytest.approx(1, abs=2e-4)
    # the source's own words: the busiest expert draws about eight times its fair share
    assert share[0] * 256 == pytest.approx(8.4, abs=0.05)


def test_measured_survival_falls_with_depth() -> None:
    record = catalog.measured("mtp-survival")
    assert record["gamma"].tolist() == list(range(1, 9))
    assert np.all(np.diff(record["sigma"]) < 0) and record["sigma"][0] == 0.779


def test_measured_rollback_agrees_with_the_throughputs_in_the_text() -> None:
    """At B = 512 its source states tokens a second beside its tables of ratios."""
    record = catalog.measured("state-rollback")
    largest = record["B"] == 512
    assert record["T"][largest].tolist() == [2, 4]
    from_copies = record["over_plain"][largest] / record["over_copies"][largest]
    np.testing.assert_allclose(from_copies, [9223 / 10398, 9395 / 10398], rtol=0.01)
    assert record["over_plain"][largest][1] == pytest.approx(19707 / 10398, rel=0.01)


def test_measured_overlap_lies_between_one_selection_and_all_apart() -> None:
    record = catalog.measured("selection-overlap")
    topk, T, together = record.constants["topk"], record["T"][0], record["together"][0]
    assert topk < together < topk * T
    # the source prints the share of bytes that a kernel reading each block once would need
    assert together / (topk * T) == pytest.approx(0.345, abs=5e-4)


def test_the_measured_moe_layer_follows_its_line() -> None:
    """Balanced routing touches min(n·k, E) experts; the line meets the table within 6 %."""
    record = catalog.measured("moe-layer-b200")
    t_0, t_e = record.constants["t_0"], record.constants["t_e"]
    touched = np.minimum(record["n"] * 6, 256)
    below = record["n"] <= 32
    line = t_0 + t_e * touched
    assert np.abs(line / record["time"] - 1)[below].max() < 0.06
    assert (record["time"][~below] > line[~below]).all(), "compute takes over beyond the line"


def test_the_measured_step_of_four_b300_jumps_where_its_drawing_says() -> None:
    """The drawing prints both sides of the limit of captured graphs: 20.6 and 104 ms."""
    record = catalog.measured("verify-step-b300")
    assert np.all(np.diff(record["n"]) > 0) and record["n"][0] == 1
    time = dict(zip(record["n"].tolist(), record["time"].tolist(), strict=True))
    assert time[1024] == pytest.approx(20.6e-3, abs=0.05e-3)
    assert time[1536] == pytest.approx(104e-3, abs=0.6e-3)


def test_measured_times_between_tokens_agree_with_the_throughputs_beside_them() -> None:
    """A batch over the time between tokens is the throughput, but for the reading of prompts."""
    record = catalog.measured("decode-tpot-mi300x")
    stated = np.array([2008, 2561, 2990, 4271])
    np.testing.assert_allclose(record["B"] / record["time"], stated, rtol=0.04)
    assert np.all(record["B"] / record["time"] > stated)


def test_every_reported_setting_of_the_eagle_head_is_slower() -> None:
    record = catalog.measured("eagle3-qwen3-h100")
    assert np.all(record["rate"] < record["plain"])
    assert np.all((record["N"] > 1) & (record["N"] <= record["passes"] + 1))
