"""Timed MoE layers: shapes from the catalogue, and a screening that knows no law."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from specdec_lib.evidence import moe_layers
from specdec_lib.evidence.moe_layers import KEPT, Layers, below_knee, fastest, layers, verdicts
from specdec_lib.evidence.tables import table
from specdec_lib.records.provenance import DataError


def some(gpu: str, model: str, stored: str, engine: str = "vLLM") -> Layers:
    timed = layers()
    return timed.keep(
        (timed.gpu == gpu)
        & (timed.model == model)
        & (timed.format == stored)
        & (timed.engine == engine)
        & (timed.routing == "balanced")
    )


def test_a_row_by_hand() -> None:
    """One token of DeepSeek-V3 in fp8: 8 × 44.04 MB take 105.2 µs of an H100's 3.35 TB/s."""
    row = some("H100 SXM", "DeepSeek-V3", "fp8_block", "SGLang").keep(np.array([0]))
    assert (row.n[0], row.E[0], row.k[0], row.P_e[0], row.b[0]) == (1, 256, 8, 44_040_192, 1)
    assert row.reading(np.array([8.0]))[0] == pytest.approx(105.17e-6, rel=1e-4)
    assert row.bandwidth_share[0] == pytest.approx(105.17 / 141.897, rel=1e-4)
    assert row.assignments[0] == pytest.approx(1 / 32)
    assert row.work()[0] == pytest.approx(2 * 8 * 44_040_192)


def test_bytes_of_the_formats() -> None:
    timed = layers()
    bits = {stored: set(8 * timed.b[timed.format == stored]) for stored in set(timed.format)}
    assert bits["bfloat16"] == {16} and bits["fp8"] == bits["fp8_block"] == {8}
    assert bits["nvfp4"] == {4.5} and bits["int4_wo"] == {4.125}
    assert bits["w4a16_mxfp4"] == bits["w4a8_mxfp4_mxfp8"] == {4.25}
    assert set(timed.peak[timed.format == "w4a8_mxfp4_mxfp8"]) == {4.5e15}, "B200 at its fp8 rate"


def test_a_model_without_experts_is_refused_by_row() -> None:
    found = table("moe-layers")
    names = found["model"].astype("<U40")
    names[2] = "Llama-3.1-8B"
    with pytest.raises(DataError, match=r"moe-layers, row 3: .*no routed experts"):
        moe_layers.read_layers(replace(found, columns={**found.columns, "model": names}))


def test_a_precision_that_the_device_lacks_is_refused_by_row() -> None:
    found = table("moe-layers")
    kinds = found["precision"].astype("<U20")
    kinds[0] = "fp8"
    with pytest.raises(DataError, match=r"row 1: A100 SXM 80 GB has no fp8 rate"):
        moe_layers.read_layers(replace(found, columns={**found.columns, "precision": kinds}))


# --- the screening, on rows made for it -----------------------------------------------------------


def timed_at(share: float, engine: str) -> Layers:
    """The rows of one kernel, as if they had all reached this share of the bandwidth."""
    rows = some("B200", "Qwen3-235B-A22B", "bfloat16")
    return replace(
        rows,
        engine=np.full(len(rows), engine),
        kernel=np.full(len(rows), engine),
        seconds=rows.seconds * rows.bandwidth_share / share,
    )


def joined(*parts: Layers) -> Layers:
    names = Layers.__dataclass_fields__
    return Layers(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})


@pytest.mark.parametrize(
    "shares, expected",
    [
        ((0.9, 0.8), (KEPT, KEPT)),
        ((0.9, 0.6), (KEPT, "slower than other kernels")),
        ((1.1, 0.8), ("faster than the memory", KEPT)),
        ((0.5, 0.45), ("far from the bandwidth", "far from the bandwidth")),
        ((1.1, 0.5), ("faster than the memory", "far from the bandwidth")),
    ],
)
def test_a_kernel_is_judged_by_the_memory_and_by_its_rivals(
    shares: tuple[float, float], expected: tuple[str, str]
) -> None:
    timed = joined(timed_at(shares[0], "one"), timed_at(shares[1], "other"))
    found = verdicts(timed)
    for engine, verdict in zip(("one", "other"), expected, strict=True):
        assert set(found[timed.engine == engine]) == {verdict}


def test_a_kernel_without_balanced_rows_is_not_judged() -> None:
    rows = replace(timed_at(0.9, "one"), routing=np.full(13, "power_law_1.01"))
    assert set(verdicts(rows)) == {"timed without balanced routing"}


def test_what_is_screened_out_of_the_tables() -> None:
    """DeepSeek-V3's shape is read faster than memory allows by all but TensorRT-LLM's kernel."""
    timed = layers()
    found = verdicts(timed)
    deepseek = (timed.model == "DeepSeek-V3") & (timed.gpu == "H100 SXM")
    assert set(found[deepseek & (timed.engine != "TensorRT-LLM")]) == {"faster than the memory"}
    assert set(found[deepseek & (timed.engine == "TensorRT-LLM")]) == {KEPT}
    kept = timed.keep(found == KEPT)
    below = below_knee(kept)
    assert (below.bandwidth_share <= 1).all()
    assert set(kept.model) == set(timed.model) and set(kept.gpu) == set(timed.gpu)


def test_the_fastest_kernel_at_each_point() -> None:
    timed = joined(timed_at(0.8, "one"), timed_at(0.9, "other"))
    best = fastest(timed)
    assert len(best) == 13 and set(best.engine) == {"other"}
    names = ("gpu", "model", "format", "routing", "n")
    real = layers()
    least: dict[tuple[object, ...], float] = {}
    for i in range(len(real)):
        key = tuple(getattr(real, name)[i] for name in names)
        least[key] = min(least.get(key, np.inf), float(real.seconds[i]))
    assert sorted(fastest(real).seconds) == sorted(least.values())
