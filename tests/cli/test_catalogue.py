"""specdec models, gpus and drafters: the catalogue from a shell."""

from __future__ import annotations

import pytest

import specdec_lib as sd
from specdec_lib import catalog
from tests.cli.shell import specdec


@pytest.mark.parametrize(
    ("verb", "records"),
    [
        ("models", catalog.models()),
        ("gpus", catalog.gpus()),
        ("drafters", catalog.drafter_cards()),
    ],
)
def test_every_record_is_listed(verb: str, records: tuple[catalog.Gpu, ...]) -> None:
    names = [record.name for record in records]
    assert [row["name"] for row in specdec(verb, "--json").json] == names
    table = specdec(verb).out.splitlines()
    assert len(table) == 2 + len(names)
    assert all(line.startswith(name) for line, name in zip(table[2:], names, strict=True))


def test_one_model_with_its_source() -> None:
    record = specdec("models", "DeepSeek V4 Flash", "--json").json
    assert record["total_parameters"] == 284332230231
    assert record["experts"] == "6 of 256"
    assert record["mtp_modules"] == 1
    assert "Hugging Face" in record["source"]
    shown = specdec("models", "deepseek-v4-flash").out
    assert "total parameters" in shown and "284332230231" in shown


def test_one_gpu_with_the_source_of_each_value() -> None:
    record = specdec("gpus", "b200", "--json").json
    assert record["bandwidth"] == 8e12
    assert record["peak"]["fp8"] == 4.5e15
    assert all("(datasheet)" in source for source in record["sources"].values())
    assert set(record["sources"]) >= {"bandwidth", "memory", "peak.bf16"}


def test_one_drafter() -> None:
    record = specdec("drafters", "deepseek-v4-flash-mtp", "--json").json
    assert record["own_parameters"] == sd.drafter_card("deepseek-v4-flash-mtp").own_parameters
    assert record["targets"] == ["DeepSeek-V4-Flash"]


@pytest.mark.parametrize("verb", ["models", "gpus", "drafters"])
def test_unknown_names_are_mistakes(verb: str) -> None:
    answer = specdec(verb, "zzz")
    assert answer.status == 1 and answer.out == "" and "'zzz'" in answer.err
