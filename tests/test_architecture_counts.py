"""Counts: parameters of every model of the catalogue, to the last one.

The exact counts come from building each model without weights, by the program text of transformers
5.24.0; this library counts from the configuration alone.
"""

from __future__ import annotations

import pytest

from specdec_lib import catalog
from specdec_lib.architecture import KEYS

#: Total and active parameters; modules of multi-token prediction and vision towers are excluded,
#: the input embedding is active.
EXACT: dict[str, tuple[int, int]] = {
    "DeepSeek-R1": (671_026_404_352, 37_552_282_624),
    "DeepSeek-V2": (235_741_434_880, 21_375_800_320),
    "DeepSeek-V2-Lite": (15_706_484_224, 2_661_150_208),
    "DeepSeek-V3": (671_026_404_352, 37_552_282_624),
    "DeepSeek-V3.2": (671_877_929_216, 38_403_807_488),
    "DeepSeek-V4-Flash": (284_332_230_231, 13_799_622_231),
    "DeepSeek-V4-Flash-0731": (284_332_230_231, 13_799_622_231),
    "DeepSeek-V4-Flash-FP8": (284_332_230_231, 13_799_622_231),
    "DeepSeek-V4-Flash-NVFP4": (284_332_230_231, 13_799_622_231),
    "DeepSeek-V4-Pro": (1_572_997_179_491, 49_779_058_787),
    "Gemma-4-26B-A4B": (25_233_141_760, 3_822_530_560),
    "GLM-4.5": (352_797_814_784, 33_632_251_904),
    "GLM-4.5-Air": (106_852_245_504, 13_424_123_904),
    "GLM-5": (743_911_199_232, 41_784_709_632),
    "GLM-5.1": (743_911_199_232, 41_784_709_632),
    "GLM-5.2": (743_377_000_704, 41_250_511_104),
    "gpt-oss-120b": (116_829_156_672, 5_711_982_912),
    "gpt-oss-20b": (20_914_757_184, 4_187_440_704),
    "Kimi-K2": (1_026_408_209_408, 32_861_477_888),
    "Kimi-K2.5": (1_026_408_209_408, 32_861_477_888),
    "Llama-3.1-405B": (405_853_388_800, 405_853_388_800),
    "Llama-3.1-70B": (70_553_706_496, 70_553_706_496),
    "Llama-3.1-8B": (8_030_261_248, 8_030_261_248),
    "Llama-3.2-1B": (1_235_814_400, 1_235_814_400),
    "Llama-3.2-3B": (3_212_749_824, 3_212_749_824),
    "Llama-4-Maverick": (400_711_848_960, 17_184_691_200),
    "Llama-4-Scout": (107_769_861_120, 17_172_894_720),
    "MiMo-V2-Flash": (308_778_768_832, 15_445_924_288),
    "MiniMax-M2": (228_689_748_992, 11_030_537_216),
    "MiniMax-M2.5": (228_689_748_992, 11_030_537_216),
    "MiniMax-M2.7": (228_689_748_992, 11_030_537_216),
    "Mixtral-8x22B": (140_620_634_112, 39_152_031_744),
    "Mixtral-8x7B": (46_702_792_704, 12_879_925_248),
    "Nemotron-3-Nano-30B-A3B": (31_577_937_344, 3_580_073_408),
    "OLMoE-1B-7B": (6_919_161_856, 1_282_017_280),
    "Phi-3.5-MoE": (41_873_153_344, 6_640_999_744),
    "Qwen2-57B-A14B": (57_408_658_944, 14_249_270_784),
    "Qwen3-0.6B": (596_049_920, 596_049_920),
    "Qwen3-1.7B": (1_720_574_976, 1_720_574_976),
    "Qwen3-235B-A22B": (235_093_634_560, 22_190_763_520),
    "Qwen3-30B-A3B": (30_532_122_624, 3_353_032_704),
    "Qwen3-32B": (32_762_123_264, 32_762_123_264),
    "Qwen3-8B": (8_190_735_360, 8_190_735_360),
    "Qwen3-Coder-480B-A35B": (480_154_875_392, 35_474_765_312),
    "Qwen3-Next-80B-A3B": (79_674_391_296, 3_874_929_408),
    "Qwen3.5-122B-A10B": (122_111_526_912, 9_771_288_576),
    "Qwen3.5-35B-A3B": (34_660_610_688, 3_454_988_928),
    "Qwen3.5-397B-A17B": (396_346_350_336, 17_349_040_896),
    "Qwen3.6-27B": (26_895_998_464, 26_895_998_464),
    "Qwen3.6-35B-A3B": (34_660_610_688, 3_454_988_928),
}


@pytest.mark.parametrize("name", EXACT)
def test_counts_equal_the_exact_ones(name: str) -> None:
    model = catalog.model(name)
    assert (model.total_parameters, model.active_parameters) == EXACT[name]


def test_every_model_of_the_catalogue_is_counted() -> None:
    assert {model.name for model in catalog.models()} == set(EXACT)
    assert len(EXACT) >= 30


@pytest.mark.parametrize("name", EXACT)
def test_the_sums_are_those_of_the_components(name: str) -> None:
    """Matrices and vectors of every component, but for a head that is the embedding once more."""
    parts = catalog.model(name).architecture.weights
    stored = sum(part.layers * (part.matrices + part.vectors) for part in parts if part.stored)
    assert stored == EXACT[name][0]
    by_key = sum(part.parameters for key in KEYS for part in parts if part.key == key)
    assert by_key == stored
    assert all(0 < part.used <= 1 for part in parts)


PRINTED = [model.name for model in catalog.models() if model.headline]


def test_most_models_have_a_printed_count() -> None:
    assert len(PRINTED) >= 40


@pytest.mark.parametrize("name", PRINTED)
def test_published_headlines(name: str) -> None:
    """Totals agree within rounding; makers' active counts lie between those with the two ends of
    the vocabulary and those without."""
    model = catalog.model(name)
    assert model.headline is not None
    # a module for multi-token prediction or a vision tower may be in the print: 26 for 25.2
    assert model.headline.total == pytest.approx(model.total_parameters, rel=0.031)
    ends = sum(
        part.parameters for part in model.architecture.weights if part.key in ("embedding", "head")
    )
    slack = 0.12 * model.active_parameters  # two digits at most: 3 for 3.45 less an embedding
    most = model.active_parameters + slack
    assert model.active_parameters - ends - slack <= model.headline.active <= most
