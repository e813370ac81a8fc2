"""Measured tables: read as the manifest says, refused where they do not agree with it."""

from __future__ import annotations

import csv
import fnmatch
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdec_lib.evidence.tables import Field, read_rows, read_table, table, tables
from specdec_lib.records.names import UnknownName
from specdec_lib.records.provenance import DataError
from specdec_lib.records.toml import Bounds, listed_tables

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "specdec_lib" / "data" / "measured"

FIELDS = {
    "gpu": Field("gpu", "accelerator", None, None, False),
    "tokens": Field("tokens", "tokens", "1", Bounds("1", 1, 1e6), False),
    "ms": Field("seconds", "time", "ms", Bounds("s", 1e-6, 10), False),
    "note": Field("note", "note", None, None, True),
}
HEADER = "gpu,tokens,ms,note\n"


def entry(name: str) -> dict[str, Any]:
    return next(e for e in listed_tables("measured/manifest.toml", "table")[0] if e["name"] == name)


def test_every_table_is_read_whole() -> None:
    for found in tables():
        assert len(found) > 0 and found.licence and found.credit
        assert found.provenance.kind == "measured", found.name
        assert all(not column.flags.writeable for column in found.columns.values())


def test_the_distilled_tables_are_small() -> None:
    assert len(table("moe-layers")) + len(table("decode-attention")) <= 3000


def test_a_cell_is_read_to_SI() -> None:
    """Against the file, read by another reader."""
    with (FOLDER / "moe_layers_h100.csv").open() as file:
        row = next(r for r in csv.DictReader(file) if r["model"] == "DeepSeek-V4-Flash")
    found = table("moe-layers")
    at = (found["gpu"] == "H100 SXM") & (found["model"] == row["model"])
    first = int(np.flatnonzero(at)[0])
    assert found["seconds"][first] == pytest.approx(float(row["ms"]) / 1000, rel=1e-15)
    assert found["tokens"][first] == int(row["tokens"])
    assert found["kernel"][first] == row["kernel"]


def test_a_published_cell_survived_the_carrying_over() -> None:
    """FlashMLA issue 30: 16 heads, 4 096 tokens, 5 query tokens take 1.168 ms."""
    found = table("mla-multi-query")
    at = (found["width"] == 5) & (found["heads"] == 16)
    assert found["seconds"][at].tolist() == [1.168e-3]
    assert np.isnan(found["seconds"]).sum() == 6, "prose rows give no time"
    assert found["rate"][found["note"] == "sparse decode over an fp8 cache"].tolist() == [
        410e12, 350e12,
    ]  # fmt: skip
    assert len(table("moe-shards")) == 31


BROKEN = {
    "another header": ("gpu,ms\nA,1\n", "it must have gpu, tokens, ms, note"),
    "a short row": (HEADER + "A,1,1\n", "x.csv, row 2: has 3 cells"),
    "a long row": (HEADER + "A,1,1,,\n", "x.csv, row 2: has 5 cells"),
    "a word for a number": (HEADER + "A,1,1,\nA,two,1,\n", "x.csv, row 3, tokens"),
    "no number": (HEADER + "A,1,nan,\n", "x.csv, row 2, ms"),
    "an infinite number": (HEADER + "A,1,inf,\n", "x.csv, row 2, ms"),
    "a negative time": (HEADER + "A,1,-1,\n", "x.csv, row 2, ms"),
    "seconds for milliseconds": (HEADER + "A,1,1e-7,\n", "x.csv, row 2, ms"),
    "a blank number": (HEADER + "A,,1,\n", "x.csv, row 2, tokens: is blank"),
    "a blank text": (HEADER + " ,1,1,\n", "x.csv, row 2, gpu: is blank"),
    "a row twice": (HEADER + "A,1,1,\nB,1,1,\nA,1,1,\n", "row 4: is row 2 over again"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_malformed_row_is_refused(case: str) -> None:
    text, expected = BROKEN[case]
    with pytest.raises(DataError) as raised:
        list(read_rows("x.csv", text, FIELDS))
    assert expected in str(raised.value)


def test_a_sound_row_is_read() -> None:
    assert list(read_rows("x.csv", HEADER + "A,16,0.25,\n", FIELDS)) == [("A", 16.0, 0.00025, "")]


def test_a_blank_optional_number_is_nan() -> None:
    field = Field("ms", "time", "ms", Bounds("s", 0, 1), True)
    found = field.read("", "x.csv")
    assert isinstance(found, float) and math.isnan(found)


ENTRIES = {
    "a lost row": ({"rows": 17}, "has 18 rows; the manifest says 17"),
    "no licence": ({"licence": None}, "licence is missing"),
    "no source": ({"source": None}, "source is missing"),
    "a file that is not there": ({"files": ["nowhere.csv"]}, "nowhere.csv"),
    "a misspelt key": ({"lisence": "MIT"}, "lisence; check the spelling"),
    "a column less": ({"columns": {"gpu": {"meaning": "x"}}}, "it must have gpu"),
    "a column without bounds": ({"columns": {"ms": {"meaning": "x", "unit": "ms"}}}, "the least"),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_an_entry_that_does_not_agree_is_refused(case: str) -> None:
    edit, expected = ENTRIES[case]
    edited = {**entry("mla-multi-query"), **edit}
    with pytest.raises(DataError) as raised:
        read_table("m", {key: v for key, v in edited.items() if v is not None}, {})
    assert expected in str(raised.value)


def test_an_unknown_table_and_column_name_what_there_is() -> None:
    with pytest.raises(UnknownName, match="moe-layers"):
        table("moe-layer")
    with pytest.raises(KeyError, match="it has gpu"):
        table("moe-layers")["latency"]


def test_the_package_ships_every_file() -> None:
    """What stands in the folder matches a pattern of the package's data."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["specdec_lib"]
    for file in FOLDER.iterdir():
        name = f"data/measured/{file.name}"
        flat = [pattern.replace("**/", "*/") for pattern in patterns]
        assert any(fnmatch.fnmatch(name, pattern) for pattern in flat), name


def test_the_licence_of_the_kernel_tables_comes_with_them() -> None:
    notice = (FOLDER / "notice.txt").read_text()
    assert "NVIDIA" in notice and "Apache License, Version 2.0" in notice
    assert "aiconfigurator-core 0.12.0" in notice
    assert "Version 2.0, January 2004" in (FOLDER / "apache-2.0.txt").read_text()
    for name in ("moe-layers", "decode-attention"):
        assert table(name).licence == "Apache-2.0"
        assert "aiconfigurator-core 0.12.0" in table(name).provenance.source


def test_a_file_is_listed_once() -> None:
    listed = [f for e in listed_tables("measured/manifest.toml", "table")[0] for f in e["files"]]
    assert len(listed) == len(set(listed)) and all((FOLDER / name).is_file() for name in listed)
