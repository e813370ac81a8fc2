"""Drafters: heads, modules and small models of the catalogue, counted to the last parameter.

The counts to reach are those of the training code's own modules (EAGLE-3, DFlash, DSpark), of the
program text of an engine (modules for multi-token prediction) and of the makers' own formula
(Medusa), made without this library.
"""

from __future__ import annotations

from typing import Any

import pytest

from specdec_lib import catalog
from specdec_lib.architecture import DRAFTER_KINDS, ConfigError, read_head
from specdec_lib.cards import read_drafter
from specdec_lib.records.provenance import DataError

#: Own parameters, and those that a pass with one token reads, borrowed ones included.
COUNTED: dict[str, tuple[int, int]] = {
    "Llama-3.1-8B-EAGLE3": (424_689_664, 424_689_664),
    "Llama-3.1-70B-EAGLE3": (1_403_027_456, 1_403_027_456),
    "Qwen3-8B-EAGLE3": (399_523_840, 399_523_840),
    "Qwen3-32B-EAGLE3": (782_520_320, 782_520_320),
    "Qwen3-30B-A3B-EAGLE3": (182_984_704, 182_984_704),
    "Qwen3-235B-A22B-EAGLE3": (592_461_824, 592_461_824),
    "Qwen3-Coder-480B-A35B-EAGLE3": (863_526_912, 863_526_912),
    "Qwen3-Next-80B-A3B-EAGLE3": (208_150_528, 208_150_528),
    "Qwen3.5-35B-A3B-EAGLE3": (208_150_528, 208_150_528),
    "gpt-oss-120b-EAGLE3": (307_641_600, 307_641_600),
    "gpt-oss-20b-EAGLE3": (307_641_600, 307_641_600),
    "DeepSeek-V3-EAGLE3": (1_447_849_984, 1_447_849_984),
    "Llama-4-Scout-EAGLE3": (845_434_880, 845_434_880),
    "Qwen3-8B-DFlash": (1_048_626_432, 1_670_956_288),
    "Qwen3.5-35B-A3B-DFlash": (473_995_264, 982_554_624),
    "Qwen3.6-27B-DFlash": (1_730_213_120, 3_001_611_520),
    # how sure it is, H + 257 parameters, is read as well
    "Qwen3-8B-DSpark": (1_126_422_017, 1_709_851_904 + 4096 + 257),
    "Qwen3.6-27B-DSpark": (1_857_358_337, 3_065_181_440 + 5120 + 257),
    "GLM-5.2-DSpark": (1_715_157_889, 2_627_084_928 + 6144 + 257),
    "DeepSeek-V4-Flash-MTP": (6_610_044_539, 848_119_419),
    "DeepSeek-V4-Pro-MTP": (25_840_138_427, 1_796_028_603),
    "DeepSeek-V3-MTP": (11_610_067_968, 1_614_779_392),
    "DeepSeek-V3.2-MTP": (11_624_027_392, 1_628_738_816),
    "GLM-5-MTP": (9_952_920_320, 1_542_816_512),
    "GLM-4.5-MTP": (3_988_069_632, 1_177_885_952),
    "GLM-4.5-Air-MTP": (2_375_059_456, 919_635_968),
    "Qwen3.6-35B-A3B-MTP": (844_640_768, 573_059_584),
    "Qwen3.5-122B-A10B-MTP": (2_523_679_232, 946_096_640),
    "Qwen3.5-397B-A17B-MTP": (6_595_568_128, 1_296_065_024),
    "Qwen3-Next-80B-A3B-MTP": (1_650_471_424, 382_480_896),
    "Vicuna-7B-Medusa": (739_266_560, 739_266_560),
    "Vicuna-13B-Medusa": (950_297_600, 950_297_600),
    "Llama-3.2-1B": (1_235_814_400, 1_235_814_400),
    "Llama-3.2-3B": (3_212_749_824, 3_212_749_824),
    "Qwen3-0.6B": (596_049_920, 596_049_920),
    "Qwen3-1.7B": (1_720_574_976, 1_720_574_976),
    "n-gram": (0, 0),
}


@pytest.mark.parametrize("name", COUNTED)
def test_own_and_read_parameters(name: str) -> None:
    card = catalog.drafter_card(name)
    assert (card.own_parameters, card.read_parameters) == COUNTED[name]


def test_every_drafter_is_counted() -> None:
    by_hand = {"DeepSeek-V4-Flash-DSpark", "Qwen3.6-27B-MTP"}  # in tests of their own
    assert {card.name for card in catalog.drafter_cards()} == set(COUNTED) | by_hand
    assert len(COUNTED) >= 15


def test_dspark_of_v4_flash() -> None:
    """Three layers of the target's kind, 19.85 billion parameters in 10.9 GB: with the target's own
    155.5 GB the 167 GB that its model card states."""
    card = catalog.drafter_card("DeepSeek-V4-Flash-DSpark")
    target = catalog.model(card.targets[0])
    assert card.own_parameters == 19_845_850_215
    stored = sum(part.bytes for part in card.weights if part.stored)
    rest = sum(part.bytes for part in target.architecture.weights if part.stored)
    assert rest / 1e9 == pytest.approx(155.5, abs=0.2)
    assert (stored + rest) / 1e9 == pytest.approx(167, abs=1)
    assert (card.block, card.passes(5), card.passes(6)) == (5, 1, 2)
    # an account of 1.47 billion is a lower bound: it leaves small vectors out
    assert 1_465_455_296 < card.read_parameters < 1.002 * 1_465_455_296
    (mixture,) = [part for part in card.weights if part.key == "moe"]
    assert (mixture.layers, float(mixture.used)) == (3, 6 / 256)


def test_the_module_of_a_dense_hybrid() -> None:
    """By hand: a projection, one layer of gated attention with a dense block, five norms."""
    card = catalog.drafter_card("Qwen3.6-27B-MTP")
    H, d, width = 5120, 256, 17408
    attention = 2 * H * 24 * d + 2 * H * 4 * d + 24 * d * H + 2 * d
    own = 2 * H * H + attention + 3 * H * width + 5 * H
    assert card.own_parameters == own
    assert card.read_parameters == own + 248320 * H


#: Passes to draft 1, 7 and 16 tokens.
PASSES: dict[str, tuple[int, int, int]] = {
    "Llama-3.1-8B-EAGLE3": (1, 7, 16),
    "DeepSeek-V4-Flash-MTP": (1, 7, 16),
    "Llama-3.2-1B": (1, 7, 16),
    "Qwen3-8B-DFlash": (1, 1, 1),
    "Qwen3-8B-DSpark": (1, 1, 3),
    "Vicuna-7B-Medusa": (1, 2, 4),
    "n-gram": (0, 0, 0),
}


@pytest.mark.parametrize("name", PASSES)
def test_passes(name: str) -> None:
    card = catalog.drafter_card(name)
    assert tuple(card.passes(gamma) for gamma in (1, 7, 16)) == PASSES[name]
    assert card.passes(0) == 0
    with pytest.raises(ValueError, match="gamma = -1"):
        card.passes(-1)


def test_vocabularies() -> None:
    """EAGLE-3 scores words of its own, the others those of the target."""
    words = {card.name: card.vocabulary for card in catalog.drafter_cards()}
    assert words["Llama-3.1-70B-EAGLE3"] == 32000
    assert words["Qwen3-8B-DFlash"] == catalog.model("Qwen3-8B").vocabulary
    assert words["DeepSeek-V3-MTP"] == catalog.model("DeepSeek-V3").vocabulary
    assert words["n-gram"] is None


def test_a_small_model_drafts_the_words_of_its_targets() -> None:
    small = [card for card in catalog.drafter_cards() if card.kind == "model"]
    assert len(small) == 4
    for card in small:
        for target in card.targets:
            assert catalog.model(target).vocabulary == card.vocabulary, (card.name, target)


def test_a_drafter_has_a_cache_of_its_own() -> None:
    """Case P13: its cost grows with the context.  Bytes a token by hand, in bf16."""
    held = {card.name: card.kv_bytes_per_token for card in catalog.drafter_cards()}
    assert held["Qwen3-8B-DFlash"] == 5 * 2 * 8 * 128 * 2
    assert held["Llama-3.1-8B-EAGLE3"] == 2 * 8 * 128 * 2
    assert held["DeepSeek-V3-MTP"] == 576 * 2
    assert held["DeepSeek-V4-Flash-MTP"] == 0  # it sees its window alone
    assert held["Vicuna-7B-Medusa"] == held["n-gram"] == 0
    slide, full = catalog.drafter_card("Qwen3.6-27B-DFlash").attention
    assert (slide.layers, full.layers) == (4, 1)
    assert slide.entries(S=10**5) == 2048


def test_the_head_is_most_of_what_a_small_module_reads() -> None:
    """89 % for Qwen3.6-35B-A3B, by a published account."""
    card = catalog.drafter_card("Qwen3.6-35B-A3B-MTP")
    head = sum(part.read_parameters for part in card.weights if part.key == "head")
    assert head / card.read_parameters == pytest.approx(0.89, abs=0.005)
    assert not any(part.parameters for part in card.weights if part.key == "head")


def test_a_module_is_in_the_precision_of_its_target() -> None:
    forms = {
        part.key: part.precision.name
        for part in catalog.drafter_card("DeepSeek-V4-Flash-MTP").weights
    }
    assert (forms["moe"], forms["shared"], forms["head"]) == ("mxfp4-w4a8", "fp8", "bf16")
    assert forms["draft"] == "bf16"


def test_targets_are_models_of_the_catalogue() -> None:
    known = {model.name for model in catalog.models()} | {"Vicuna-7B", "Vicuna-13B"}
    for card in catalog.drafter_cards():
        assert set(card.targets) <= known, card.name
        assert card.targets or card.kind == "ngram"
        assert card.kind in DRAFTER_KINDS


def test_every_kind_is_in_the_catalogue() -> None:
    assert {card.kind for card in catalog.drafter_cards()} == set(DRAFTER_KINDS)


# --- what cannot be read --------------------------------------------------------------------------

EAGLE: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "draft_vocab_size": 50,
    "torch_dtype": "bfloat16",
}
DFLASH: dict[str, Any] = EAGLE | {
    "num_hidden_layers": 2,
    "vocab_size": 100,
    "block_size": 8,
    "dflash_config": {"target_layer_ids": [1, 5]},
}

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "two layers": ("eagle3", EAGLE | {"num_hidden_layers": 2}, "num_hidden_layers: found 2"),
    "no vocabulary": ("eagle3", EAGLE | {"draft_vocab_size": None}, "draft_vocab_size"),
    "a target of another width": (
        "eagle3",
        EAGLE | {"target_hidden_size": 128},
        "target_hidden_size: found 128",
    ),
    "no layers of the target": ("dflash", DFLASH | {"dflash_config": {}}, "target_layer_ids"),
    "no table": ("dflash", DFLASH | {"dflash_config": None}, "dflash_config: found None"),
    "no block": ("dflash", DFLASH | {"block_size": 0}, "block_size"),
    "no rank": ("dspark", DFLASH, "dflash_config: missing markov_rank"),
    "no heads": ("medusa", {"hidden_size": 64, "vocab_size": 100}, "medusa_num_heads"),
    "two blocks a head": (
        "medusa",
        {"hidden_size": 64, "vocab_size": 100, "medusa_num_heads": 3, "medusa_num_layers": 2},
        "medusa_num_layers: found 2",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_head_that_cannot_be_read_is_named(case: str) -> None:
    kind, config, expected = REFUSED[case]
    with pytest.raises(ConfigError) as raised:
        read_head(kind, config, "that-file.json")
    assert str(raised.value).startswith("that-file.json: ")
    assert expected in str(raised.value)


def test_a_kind_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no head of kind 'eagle9'; kinds are eagle3"):
        read_head("eagle9", EAGLE, "that-file.json")


def record(**changes: Any) -> dict[str, Any]:
    import datetime

    plain = {
        "name": "a drafter",
        "method": "eagle3",
        "targets": ["Llama-3.1-8B"],
        "source": "a paper, table 2",
        "kind": "published",
        "retrieved": datetime.date(2026, 11, 30),
        "config": EAGLE,
    }
    return {key: value for key, value in (plain | changes).items() if value is not None}


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no source": (record(source=None), "source is missing"),
    "no method": (record(method=None), "method is missing"),
    "an unknown method": (record(method="oracle"), "found 'oracle'; it is one of eagle3"),
    "no configuration": (record(config=None), "config is missing"),
    "a misspelt key": (record(target=["x"]), "does not know target"),
    "a module of two targets": (
        record(method="mtp", config=None, targets=["DeepSeek-V3", "DeepSeek-R1"]),
        "a module has one target",
    ),
    "a module of a family without": (
        record(method="mtp", config=None, targets=["Llama-3.1-8B"]),
        "the module of Llama-3.1-8B is not known",
    ),
    "no small model": (record(method="model", config=None), "model is missing"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_refused(case: str) -> None:
    table, expected = BROKEN[case]
    with pytest.raises(DataError) as raised:
        read_drafter("some.toml", table, {}, catalog.model)
    assert str(raised.value).startswith("some.toml, a drafter"), raised.value
    assert expected in str(raised.value)


def test_the_template_is_valid() -> None:
    card = read_drafter("some.toml", record(), {}, catalog.model)
    H = 64
    layer = 2 * H * 4 * 16 + 4 * H * 2 * 16 + 4 * 16 * H + 3 * H * 96
    assert card.own_parameters == 3 * H * H + layer + 50 * H + 4 * H
    assert (card.kind, card.block, card.vocabulary) == ("eagle3", None, 50)
