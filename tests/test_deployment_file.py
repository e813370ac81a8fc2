"""Deployment files: what is written is read again, and mistakes are named by file and field."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

import specdec_lib as sd
from specdec_lib.deployment import (
    Offload,
    Routing,
    VerifyCurve,
    deployment_text,
    read_deployment,
    write_deployment,
)
from specdec_lib.records.provenance import DataError, Provenance

GPU = sd.gpu("b200")


@pytest.mark.parametrize(
    "deployment",
    [
        sd.Deployment.ideal(),
        sd.Deployment.ideal(name='"odd" \\ näme \u2028', tp=2, link=1 / 3 * 1e12),
        sd.Deployment.typical(GPU, tp=8, ep=8, max_graph_tokens=512, kv_cache="fp8"),
        sd.Deployment.typical(
            GPU,
            routing=Routing(popularity=(0.1, 2.0, 3.5), imbalance=1.25),
            offload=Offload(0.5, 64e9, overlapped=True),
            verify_curve=VerifyCurve({2: 1.5, 4: 3.25}),
        ),
    ],
)
def test_round_trip(deployment: sd.Deployment, tmp_path: Path) -> None:
    path = tmp_path / "it.toml"
    write_deployment(deployment, path)
    assert read_deployment(path, GPU) == deployment
    assert deployment_text(read_deployment(path, GPU)) == path.read_text(encoding="utf-8")


def test_sources_are_kept(tmp_path: Path) -> None:
    day = datetime.date(2026, 12, 7)
    origin = Provenance("a profile {of mine}", "measured", day, "high", ("Warm {0}.",))
    deployment = sd.Deployment.ideal(
        step_overhead=1e-3, pass_overhead=2e-4, sources={"step_overhead": origin}
    )
    path = tmp_path / "it.toml"
    write_deployment(deployment, path)
    assert read_deployment(path, GPU).sources == {"step_overhead": origin}
    assert deployment_text(read_deployment(path, GPU)) == path.read_text(encoding="utf-8")
    # a value given above the file does not come from where the file's came from
    assert read_deployment(path, GPU, step_overhead=2e-3).sources == {}


def read(text: str, tmp_path: Path) -> sd.Deployment:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return read_deployment(path, GPU)


def test_a_file_states_what_differs_from_its_base(tmp_path: Path) -> None:
    text = """
        base = "typical"
        engine = "SGLang"
        step_overhead = "1.2 ms"
        layer_overhead = { default = "15 µs" }
        verify_curve = { 2 = 1.3 }
    """
    wanted = sd.Deployment.typical(
        GPU,
        engine="SGLang",
        name="mine",
        step_overhead=1.2e-3,
        layer_overhead={"default": 15e-6},
        verify_curve=VerifyCurve({2: 1.3}),
    )
    assert read(text, tmp_path) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tp = ", "mine.toml.*TOML"),
        ("base = 'perfect'", "base.*'ideal' or 'typical'"),
        ("engine = 'vLLM'", "engine.*typical base"),
        ("base = 'typical'\nengine = 'Foo'", "Foo"),
        ("speed = 3", "does not know speed"),
        ("sources = 3", "sources.*table"),
        ("[sources.speed]\nsource = 'x'", "sources.*speed"),
        ("[sources]\ntp = 3", "sources.tp.*table"),
        ("[sources.tp]\nkind = 'measured'", "sources.tp.*source is missing"),
        ("[sources.tp]\nsource = 'x'\nkind = 'heard'", "sources.tp.*heard"),
        ("[sources.tp]\ntaste = 'x'", "sources.tp.*taste"),
        ("step_overhead = 0.0012", "step_overhead.*must be in s"),
        ("step_overhead = '-1 ms'", "step_overhead.*must lie in"),
        ("step_overhead = '1.2 GB/s'", "step_overhead.*must be in s"),
        ("layer_overhead = { moe = 3 }", "layer_overhead.moe.*must be in s"),
        ("tp = 0", "tp"),
        ("tp = true", "tp"),
        ("tp = 'two'", "tp"),
        ("corner = 'round'", "corner"),
        ("memory_efficiency = { speed = 0.5 }", "memory_efficiency"),
        ("routing = 3", "routing.*table"),
        ("routing = { locality = 2.0 }", "routing.*locality"),
        ("routing = { taste = 1 }", "routing.*taste"),
        ("offload = { share = 0.5 }", "offload.*bandwidth"),
        ("offload = { share = 0.5, bandwidth = 64 }", "offload.bandwidth.*B/s"),
        ("verify_curve = { 2 = 0.5 }", "verify_curve"),
        ("verify_curve = { two = 1.5 }", "verify_curve.*two"),
        ("verify_curve = { 2 = 'x' }", "verify_curve"),
    ],
)
def test_mistakes_are_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said) as caught:
        read(text, tmp_path)
    assert "mine.toml" in str(caught.value)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_deployment(tmp_path / "none.toml", GPU)
