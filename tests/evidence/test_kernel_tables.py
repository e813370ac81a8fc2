"""The builder of the kernel tables reads what it says and nothing that is held for blind tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from specdec_lib.catalog import gpu, model
from specdec_lib.evidence.tables import table
from tools import kernel_tables as builder

SYSTEMS = {
    "a100_sxm": "A100 SXM 80 GB",
    "h100_sxm": "H100 SXM",
    "h200_sxm": "H200 SXM",
    "b200_sxm": "B200",
}
MODELS = {
    "DeepSeek-V3", "DeepSeek-V4-Flash", "Qwen3-30B-A3B", "Qwen3-235B-A22B", "Mixtral-8x7B",
    "gpt-oss-120b",
}  # fmt: skip


def test_the_builder_reads_these_systems_and_models_only() -> None:
    assert builder.SYSTEMS == SYSTEMS
    assert set(builder.MODELS) == MODELS
    assert set(builder.VERSIONS) == set(SYSTEMS)
    assert {*builder.GROUPED_MODELS, builder.LATENT_MODEL} <= MODELS


def test_the_builder_spells_out_no_other_system() -> None:
    """Every folder it can open is put together from the lists above."""
    text = Path(builder.__file__).read_text()
    assert set(re.findall(r'"(\w+_(?:sxm|pcie|server))"', text)) == set(SYSTEMS)
    assert not re.search(r"glob|iterdir|listdir|walk|scandir", text), "it looks at no folder"


@pytest.mark.parametrize("system", ["", "another_sxm", "..", "B200"])
def test_another_system_is_refused_before_anything_is_opened(system: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="held for blind tests"):
        builder.read(tmp_path, "moe/moe_perf", system, "vllm", [])


@pytest.mark.parametrize("name", ["moe-layers", "decode-attention"])
def test_the_tables_hold_these_systems_and_models_only(name: str) -> None:
    found = table(name)
    assert set(found["gpu"]) == set(SYSTEMS.values())
    assert set(found["model"]) <= MODELS
    newest = {
        (SYSTEMS[system], builder.ENGINES[engine], version)
        for system, versions in builder.VERSIONS.items()
        for engine, version in versions.items()
    }
    assert set(zip(found["gpu"], found["engine"], found["version"], strict=True)) <= newest
    assert {gpu(one).name for one in set(found["gpu"])} == set(found["gpu"])
    assert {model(one).name for one in set(found["model"])} == set(found["model"])


def test_all_six_models_are_there() -> None:
    assert set(table("moe-layers")["model"]) == MODELS
    assert set(table("moe-layers")["routing"]) == {"balanced", "power_law_1.01"}


def test_of_repeated_timings_the_fastest_is_kept() -> None:
    rows: list[dict[str, Any]] = [
        {"a": 2, "ms": 5.0}, {"a": 1, "ms": 3.0}, {"a": 1, "ms": 2.0}, {"a": 1, "ms": 4.0},
    ]  # fmt: skip
    assert builder.fastest(iter(rows), ("a", "ms")) == [{"a": 1, "ms": 2.0}, {"a": 2, "ms": 5.0}]
