"""Decode attention against its roofline, by hand and with whole tiles of query rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from specdec_lib.evidence import decode_attention
from specdec_lib.evidence.decode_attention import (
    attention_fits,
    cores,
    multi_query_cores,
    multi_query_fit,
    plausible,
    read_cores,
)
from specdec_lib.evidence.tables import table
from specdec_lib.records.provenance import DataError


def test_a_grouped_row_by_hand() -> None:
    """Mixtral, 16 sequences of 8 192: 4 096 B of cache a token, 512 FLOP a head and token."""
    timed = cores()
    row = timed.keep(
        (timed.model == "Mixtral-8x7B") & (timed.B == 16) & (timed.S == 8192)
        & (timed.gpu == "H100 SXM") & (timed.engine == "vLLM")
    )  # fmt: skip
    assert len(row) == 1
    assert row.traffic()[0] == pytest.approx(16 * (8192 * 4096 + 32 * 128 * 2 * 2))
    assert row.work()[0] == pytest.approx(16 * 8192 * 32 * 128 * 4)
    assert row.bandwidth_share[0] == pytest.approx(row.traffic()[0] / 3.35e12 / row.seconds[0])


def test_a_multi_query_row_by_hand() -> None:
    """16 heads, 5 query tokens: 80 rows take two tiles, so 128 × 128 × 4 096 × 2 176 FLOP."""
    rows = multi_query_cores()
    row = rows.keep((rows.n_h == 16) & (rows.T == 5))
    assert row.work(64)[0] == pytest.approx(128 * 128 * 4096 * 2176)
    assert row.work(1)[0] == pytest.approx(128 * 80 * 4096 * 2176)
    assert row.peak[0] == 148e12 and row.bandwidth[0] == 4e12
    assert len(rows) == 12 and rows.row.tolist() == list(range(1, 13))


def test_whole_tiles_explain_every_published_time() -> None:
    errors = multi_query_fit().errors
    assert len(errors) == 12 and np.abs(errors).max() < 0.10


def test_without_tiles_the_narrow_rows_are_far_too_short() -> None:
    """One query token of 16 heads fills a quarter of a tile: a law without tiles says a third."""
    errors = multi_query_fit(tile=1).errors
    assert errors[0] < -0.6
    assert np.abs(errors).max() > 5 * np.abs(multi_query_fit().errors).max()


def test_a_kernel_that_beats_the_memory_is_left_out() -> None:
    timed, kept = cores(), plausible()
    out = set(timed.row.tolist()) - set(kept.row.tolist())
    assert set(timed.engine[np.isin(timed.row, list(out))]) == {"TensorRT-LLM"}
    assert set(timed.gpu[np.isin(timed.row, list(out))]) == {"A100 SXM 80 GB"}
    assert set(timed.kind[np.isin(timed.row, list(out))]) == {"grouped"}
    assert (kept.bandwidth_share <= 1).all()


def test_fits_are_reproducible_and_find_what_was_put_in() -> None:
    timed = cores()
    rows = timed.keep((timed.gpu == "H200 SXM") & (timed.engine == "SGLang"))
    seconds = 12e-6 + rows.traffic() / (0.77 * rows.bandwidth)
    (latent, grouped) = sorted(
        attention_fits(replace(rows, seconds=seconds)), key=lambda fit: fit.kind, reverse=True
    )
    for fit in (latent, grouped):
        assert fit.eta_m == pytest.approx(0.77, rel=1e-3)
        assert fit.microseconds == pytest.approx(12, rel=1e-3)
    assert attention_fits() == attention_fits()


def test_what_decode_attention_reaches() -> None:
    """Grouped kernels read at 0.73 to 0.9 on Hopper and Blackwell, latent ones less on a B200."""
    found = {(fit.gpu, fit.kind, fit.engine): fit.eta_m for fit in attention_fits()}
    grouped = [eta for (gpu, kind, _), eta in found.items() if kind == "grouped" and gpu[0] != "A"]
    assert len(grouped) == 9 and min(grouped) > 0.7 and max(grouped) < 0.95
    assert found["B200", "latent", "SGLang"] < 0.75 < found["H100 SXM", "latent", "SGLang"]


def test_a_row_that_names_no_device_is_refused() -> None:
    found = table("decode-attention")
    gpus = found["gpu"].astype("<U20")
    gpus[4] = "H101"
    with pytest.raises(DataError, match=r"decode-attention, row 5: .*H101"):
        read_cores(replace(found, columns={**found.columns, "gpu": gpus}))


def test_a_model_without_such_attention_is_refused() -> None:
    found = table("decode-attention")
    names = found["model"].astype("<U30")
    names[0] = "DeepSeek-V4-Flash"
    with pytest.raises(DataError, match=r"row 1: .*neither grouped nor latent"):
        read_cores(replace(found, columns={**found.columns, "model": names}))


def test_the_tile_is_that_of_the_deployments() -> None:
    from specdec_lib.deployment.defaults import defaults

    assert defaults().numbers["tile"].value == decode_attention.TILE
