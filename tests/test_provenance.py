"""Provenance: every datum of the package says where it comes from, and a record that does not, or
that is not valid, is refused with file, record and field."""

from __future__ import annotations

import copy
import datetime
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lib import catalog
from specdec_lib.architecture import ConfigError
from specdec_lib.prefixes import PREFIXES
from specdec_lib.records.provenance import CONFIDENCES, KINDS, DataError, Provenance
from specdec_lib.records.references import read_reference
from specdec_lib.records.toml import (
    BASES,
    Bounds,
    Record,
    data_files,
    listed_tables,
    load_toml,
    quantity,
)

GPU: dict[str, Any] = {
    "name": "X1",
    "vendor": "Acme",
    "source": "Acme X1 datasheet, page 2",
    "kind": "datasheet",
    "retrieved": datetime.date(2026, 11, 30),
    "confidence": "high",
    "notes": ["Printed rates are sparse."],
    "peak": {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"},
    "bandwidth": "2 TB/s",
    "memory": "80 GB",
}


def edited(edit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    record = copy.deepcopy(GPU)
    edit(record)
    return record


def everything() -> dict[str, Provenance]:
    """Every provenance of the package, by what it belongs to."""
    found: dict[str, Provenance] = {}
    for gpu in catalog.gpus():
        found[gpu.name] = gpu.provenance
        found |= {f"{gpu.name}, {field}": d.provenance for field, d in gpu.data.items()}
    for model in catalog.models():
        assert model.provenance is not None
        found[model.name] = model.provenance
        if model.headline is not None:
            found[f"{model.name}, headline"] = model.headline.provenance
    for card in catalog.drafter_cards():
        found[f"drafter {card.name}"] = card.provenance
    for reference in catalog.references():
        found[reference.name] = reference.provenance
        found |= {f"{reference.name}, {k}": d.provenance for k, d in reference.data.items()}
    return found


EVERYTHING = everything()


@pytest.mark.parametrize("owner", EVERYTHING)
def test_every_datum_has_a_provenance(owner: str) -> None:
    origin = EVERYTHING[owner]
    assert len(origin.source) >= 8, f"{owner}: {origin.source!r} cites nothing"
    assert "{" not in origin.source + "".join(origin.notes), f"{owner}: a citation is not filled in"
    assert origin.kind in KINDS
    assert origin.confidence is None or origin.confidence in CONFIDENCES
    assert datetime.date(2024, 1, 1) <= origin.retrieved <= datetime.date(2027, 1, 1)


def test_no_data_file_is_left_out() -> None:
    """A file that no loader reads would carry facts without a check."""
    gpus = [table["name"] for file in data_files("gpus") for table in load_toml(file)["gpu"]]
    assert sorted(gpus) == sorted(gpu.name for gpu in catalog.gpus())
    models = [load_toml(file)["name"] for file in data_files("models")]
    assert sorted(models) == sorted(model.name for model in catalog.models())
    drafters = [t["name"] for file in data_files("drafters") for t in load_toml(file)["drafter"]]
    assert sorted(drafters) == sorted(card.name for card in catalog.drafter_cards())
    kept = [
        n for f in ("published.toml", "measured.toml") for n in load_toml(f) if n != "citations"
    ]
    assert sorted(kept) == sorted(reference.name for reference in catalog.references())


def test_what_is_remembered_or_scaled_is_not_called_a_datasheet() -> None:
    for owner, origin in EVERYTHING.items():
        if any(word in origin.source for word in ("memory", "scaled", "taken to be")):
            assert origin.kind == "assumed", f"{owner}: {origin.source}"


def test_the_template_is_valid() -> None:
    gpu = catalog.read_gpu("acme.toml", GPU, {})
    assert (gpu.bandwidth, gpu.memory, gpu.peak["fp8"]) == (2e12, 80e9, 200e12)
    assert gpu.cache is None and gpu.link is None and gpu.power is None


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no source": (lambda r: r.pop("source"), "source is missing"),
    "an empty source": (lambda r: r.update(source=" "), "source"),
    "no kind": (lambda r: r.pop("kind"), "kind is missing"),
    "an unknown kind": (lambda r: r.update(kind="rumour"), "found 'rumour'; kinds are datasheet"),
    "no date": (lambda r: r.pop("retrieved"), "retrieved"),
    "a date as text": (lambda r: r.update(retrieved="2026-11-30"), "a date is needed"),
    "an unknown confidence": (lambda r: r.update(confidence="sure"), "high, medium, low"),
    "a note that is no text": (lambda r: r.update(notes=[1]), "notes"),
    "a citation that is missing": (lambda r: r.update(source="{nobody}"), "nobody"),
    "no bandwidth": (lambda r: r.pop("bandwidth"), "bandwidth is missing"),
    "a negative bandwidth": (lambda r: r.update(bandwidth="-2 TB/s"), "must lie in"),
    "a bandwidth with a wrong prefix": (lambda r: r.update(bandwidth="2 PB/s"), "must lie in"),
    "a bandwidth in bits": (lambda r: r.update(bandwidth="2 Tb/s"), "must be in B/s"),
    "a bandwidth without a unit": (lambda r: r.update(bandwidth=2e12), "must be in B/s"),
    "a bandwidth that is no number": (lambda r: r.update(bandwidth="fast TB/s"), "no number"),
    "a bandwidth that is NaN": (lambda r: r.update(bandwidth="nan TB/s"), "must lie in"),
    "a peak in bytes": (lambda r: r["peak"].update(bf16="100 TB/s"), "peak.bf16"),
    "no bf16 peak": (lambda r: r["peak"].pop("bf16"), "peak.bf16 is missing"),
    "an unknown precision": (lambda r: r["peak"].update(fp16="1 TFLOP/s"), "'fp16'"),
    "a sparse peak": (lambda r: r["peak"].update(fp8="400 TFLOP/s"), "with sparsity?"),
    "an FP8 peak below bf16": (lambda r: r["peak"].update(fp8="50 TFLOP/s"), "peak.fp8"),
    "a misspelt field": (lambda r: r.update(bandwith="2 TB/s"), "bandwith; check the spelling"),
    "a field with a misspelt key": (
        lambda r: r.update(memory={"value": "80 GB", "sauce": "x"}),
        "memory",
    ),
    "a field without a value": (lambda r: r.update(memory={"source": "a datasheet"}), "memory"),
    "a link of three directions": (
        lambda r: r.update(link="900 GB/s", link_directions=3),
        "link_directions",
    ),
    "a link of unknown directions": (lambda r: r.update(link="900 GB/s"), "link_directions"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_refused(case: str) -> None:
    edit, expected = BROKEN[case]
    with pytest.raises(DataError) as raised:
        catalog.read_gpu("acme.toml", edited(edit), {})
    message = str(raised.value)
    assert message.startswith("acme.toml, X1"), message
    assert expected in message


def test_a_field_may_have_its_own_provenance() -> None:
    own = {"value": "40 MiB", "source": "somebody's blog", "kind": "assumed", "notes": ["Old."]}
    gpu = catalog.read_gpu("acme.toml", edited(lambda r: r.update(cache=own)), {})
    cache, memory = gpu.data["cache"], gpu.data["memory"]
    assert cache.value == 40 * 2**20
    assert cache.provenance.source == "somebody's blog"
    assert cache.provenance.kind == "assumed"
    assert cache.provenance.retrieved == GPU["retrieved"], "what it does not state is inherited"
    assert cache.provenance.notes == ("Old.",)
    assert memory.provenance.source == GPU["source"]
    assert memory.provenance.notes == (), "a record's notes are not a field's"


def test_a_table_may_have_its_own_provenance() -> None:
    edit = edited(lambda r: r["peak"].update(source="a clock times units", kind="assumed"))
    gpu = catalog.read_gpu("acme.toml", edit, {})
    assert gpu.data["peak.bf16"].provenance.kind == "assumed"
    assert gpu.data["bandwidth"].provenance.kind == "datasheet"
    assert set(gpu.peak) == {"bf16", "fp8"}


def test_citations_are_written_out() -> None:
    record = edited(lambda r: r.update(source="{sheet}, page 2", notes=["{sheet} is sparse."]))
    gpu = catalog.read_gpu("acme.toml", record, {"sheet": "Acme's datasheet"})
    assert gpu.provenance.source == "Acme's datasheet, page 2"
    assert gpu.notes == ("Acme's datasheet is sparse.",)


@given(
    st.decimals(min_value="0.001", max_value=9999, places=3),
    st.sampled_from(sorted(PREFIXES)),
    st.sampled_from(sorted(BASES)),
)
def test_quantities_are_read_to_the_nearest_float(number: Any, prefix: str, unit: str) -> None:
    """As Python reads the same number with the power of ten written out."""
    read = quantity(f"{number} {prefix}{unit}", Bounds(unit, 0), "test")
    assert read == float(f"{number}e{PREFIXES[prefix]}")


@given(st.text(max_size=12))
def test_no_text_becomes_a_quantity_by_accident(text: str) -> None:
    try:
        value = quantity(text, Bounds("B/s", 0), "test")
    except DataError:
        return
    assert math.isfinite(value)
    assert text.strip().endswith("B/s")


@pytest.mark.parametrize("value", [True, None, [1], {"a": 1}, "", "1", "TB/s", "1TB/s", "1 TB"])
def test_what_is_no_quantity(value: object) -> None:
    with pytest.raises(DataError, match="test"):
        quantity(value, Bounds("B/s", 0), "test")


REFERENCE: dict[str, Any] = {
    "meaning": "a table",
    "source": "a published table",
    "kind": "published",
    "retrieved": datetime.date(2026, 11, 30),
    "constants": {"E": 256, "b": "0.53 B"},
    "columns": {"n": {"values": [1, 2]}, "time": {"unit": "µs", "meaning": "t", "values": [3, 4]}},
}


def test_a_reference_record_in_si_units() -> None:
    reference = read_reference("x.toml", "t", REFERENCE, {})
    assert dict(reference.constants) == {"E": 256.0, "b": 0.53}
    assert reference["time"].tolist() == [3e-6, 4e-6]
    assert reference.columns["time"].unit == "s"
    with pytest.raises(KeyError, match="it has n, time"):
        reference["tokens"]
    with pytest.raises(ValueError, match="read-only"):
        reference["n"][0] = 5


def test_a_column_that_says_what_it_holds_is_not_the_symbol_of_its_name() -> None:
    """A rate of acceptance is at most 1; a column of tokens a second may be called rate too."""
    rate = {"meaning": "output tokens a second", "values": [159.8]}
    told = read_reference("x.toml", "t", {**REFERENCE, "columns": {"rate": rate}}, {})
    assert told["rate"].tolist() == [159.8]


BROKEN_REFERENCES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no source": (lambda r: r.pop("source"), "source is missing"),
    "no meaning": (lambda r: r.pop("meaning"), "meaning is missing"),
    "a constant outside the notation": (lambda r: r["constants"].update(zeta=1), "'zeta'"),
    "a constant in another unit": (lambda r: r["constants"].update(b="0.53 s"), "must be in B"),
    "a constant outside its domain": (lambda r: r["constants"].update(E=0.5), "must lie in"),
    "zero bytes a weight": (lambda r: r["constants"].update(b="0 B"), "must lie in"),
    "an unequal column": (lambda r: r["columns"]["n"].update(values=[1]), "different lengths"),
    "an empty column": (lambda r: r["columns"]["n"].update(values=[]), "no values"),
    "a hole in a column": (lambda r: r["columns"]["n"].update(values=[1, "-"]), "[1]"),
    "a column without meaning": (lambda r: r["columns"]["time"].pop("meaning"), "its meaning"),
    "a column in an unknown unit": (lambda r: r["columns"]["time"].update(unit="h"), "'h'"),
    "a column's misspelt key": (lambda r: r["columns"]["n"].update(units="1"), "units"),
    "nothing in it": (lambda r: (r.pop("constants"), r.pop("columns")), "neither"),
    "a misspelt field": (lambda r: r.update(column={}), "column; check the spelling"),
}


@pytest.mark.parametrize("case", BROKEN_REFERENCES)
def test_a_broken_reference_is_refused(case: str) -> None:
    edit, expected = BROKEN_REFERENCES[case]
    record = copy.deepcopy(REFERENCE)
    edit(record)
    with pytest.raises(DataError) as raised:
        read_reference("x.toml", "t", record, {})
    assert str(raised.value).startswith("x.toml, t")
    assert expected in str(raised.value)


def test_a_record_is_a_table() -> None:
    with pytest.raises(DataError, match="a table is needed"):
        Record("x.toml", ["not", "a", "table"])


PEDIGREE = {key: GPU[key] for key in ("source", "kind", "retrieved")}

#: What a table may hold by mistake.
ODD: list[Any] = [
    *(None, 5, -1, 0, 1.5, math.nan, math.inf, True, 10**5000, b"x", datetime.date(2026, 1, 1)),
    *(
        "",
        " ",
        "x",
        "1 TB/s",
        "1e999999999 TB/s",
        "nan TB/s",
        "sNaN B",
        "1 2 3",
        "{",
        "{no}",
        "{0}",
    ),
    *("{a.b}", "{a[b]}", [], [1], [None], ["a"], [[]], [{}], {}, {"value": 5}, {"a": {"b": 1}}),
]


def places(table: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside nested tables and lists."""
    keys = list(table) if isinstance(table, dict) else range(len(table))
    found = [(table, key) for key in keys]
    for key in keys:
        if isinstance(table[key], dict | list):
            found += places(table[key])
    return found


def read_record(kind: str, file: str, table: Any) -> None:
    citations = {"nvidia": "a", "a": "b"}
    if kind == "gpus":
        catalog.read_gpu(file, table, citations)
    elif kind == "models":
        catalog.read_model(file, table)
    elif kind == "drafters":
        catalog.read_drafter(file, table, citations, catalog.model)
    else:
        read_reference(file, "name", table, citations)


def a_record(kind: str, data: st.DataObject) -> tuple[str, dict[str, Any]]:
    """A record of the package that can be spoilt."""
    if kind == "references":
        file = data.draw(st.sampled_from(["published.toml", "measured.toml"]))
        tables = load_toml(file)
        tables.pop("citations", None)
        return file, tables[data.draw(st.sampled_from(sorted(tables)))]
    file = data.draw(st.sampled_from(data_files(kind)))
    if kind == "models":
        return file, load_toml(file)
    tables, shared, _ = listed_tables(file, kind[:-1])
    return file, {**shared, **data.draw(st.sampled_from(tables))}


@pytest.mark.parametrize("kind", ["gpus", "models", "drafters", "references"])
@given(data=st.data(), odd=st.sampled_from(range(len(ODD))))
@settings(deadline=None, max_examples=150)
def test_a_spoilt_record_is_read_or_refused_by_name(
    kind: str, data: st.DataObject, odd: int
) -> None:
    """One place of a record of the package is spoilt: any error is ours and names the file."""
    file, table = a_record(kind, data)
    container, key = data.draw(st.sampled_from(places(table)))
    container[key] = copy.deepcopy(ODD[odd])
    message = file
    try:
        read_record(kind, file, table)
    except (DataError, ConfigError) as error:
        message = str(error)
    assert message.startswith(file)


@pytest.mark.parametrize("kind", ["gpus", "models", "drafters", "references"])
@pytest.mark.parametrize("odd", [None, 5, "x", [], 1.5])
def test_what_is_no_record_is_refused_by_name(kind: str, odd: object) -> None:
    with pytest.raises(DataError, match=r"^file\.toml.*a table is needed"):
        read_record(kind, "file.toml", odd)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[gpu]", "x.toml: is not TOML: "),
        ("a = " + "[" * 10**5, "x.toml: is not TOML: "),
        ("a = " + "9" * 5000, "x.toml: is not TOML: "),
        (b"\xff\xfe", "x.toml: is not TOML: "),
        ("", r"x.toml, gpu: found None; tables \[\[gpu\]\] are needed"),
        ("gpu = 3", "x.toml, gpu: found 3; tables"),
        ("gpu = [1]", r"x.toml, gpu: found \[1\]; tables"),
        ("citations = 3\n[[gpu]]", "x.toml, citations: found 3; texts by name"),
        ("[citations]\na = 3\n[[gpu]]", "x.toml, citations: found .*; texts by name"),
    ],
)
def test_a_file_that_holds_no_records(
    text: str | bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "data" / "x.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    monkeypatch.setattr("specdec_lib.records.toml.files", lambda _: tmp_path)
    with pytest.raises(DataError, match=message):
        listed_tables("x.toml", "gpu")


def test_a_misspelt_setting_of_a_whole_file_is_refused() -> None:
    tables, shared, citations = listed_tables("gpus/others.toml", "gpu")
    with pytest.raises(DataError, match="does not know vendr"):
        catalog.read_gpu("x.toml", {**shared, "vendr": "x", **tables[0]}, citations)


def test_a_drafter_for_an_unknown_model_names_its_record() -> None:
    record = {**PEDIGREE, "name": "m", "method": "mtp", "targets": ["deepseek-v5"]}
    with pytest.raises(DataError, match=r"x\.toml, m, targets: no model is called 'deepseek-v5'"):
        catalog.read_drafter("x.toml", record, {}, catalog.model)
