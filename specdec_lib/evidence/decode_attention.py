"""Decode attention against the roofline of its core, and latent kernels that take whole tiles."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdec_lib.architecture.grouped import GroupedCore
from specdec_lib.architecture.latent import LatentCore
from specdec_lib.catalog import gpu, model
from specdec_lib.evidence.fitting import COMPUTE, FIXED_TIME, MEMORY, Fit, Floats, fitted, score
from specdec_lib.evidence.tables import Table, table
from specdec_lib.formulas.attention import core_traffic, core_work
from specdec_lib.formulas.engine import row_padding
from specdec_lib.formulas.roofline import kernel_time, roofline_time
from specdec_lib.records.provenance import DataError

#: Query rows in a tile of the latent kernels, as issue 30 of FlashMLA shows.
TILE = 64


@dataclass(frozen=True, eq=False)
class Cores:
    """Timed attention cores, one array element a row, in the symbols of the notation.

    ``row`` is the row's number in its table, from 1; ``kind`` is grouped or latent.
    """

    row: NDArray[np.int64]
    gpu: NDArray[np.str_]
    engine: NDArray[np.str_]
    model: NDArray[np.str_]
    kind: NDArray[np.str_]
    B: Floats
    T: Floats
    S: Floats
    n_h: Floats
    f: Floats
    m_c: Floats
    m_q: Floats
    bandwidth: Floats
    peak: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.row)

    def keep(self, mask: NDArray[Any]) -> Cores:
        """The rows where ``mask`` is true."""
        return Cores(
            **{field.name: getattr(self, field.name)[mask] for field in dataclasses.fields(self)}
        )

    def groups(self, *names: str) -> Iterator[tuple[tuple[str, ...], Cores]]:
        """The rows of each combination of the named columns, with its values."""
        keys = list(zip(*(getattr(self, name).tolist() for name in names), strict=True))
        for key in dict.fromkeys(keys):
            yield key, self.keep(np.array([other == key for other in keys]))

    def work(self, tile: int = 1) -> Floats:
        """FLOPs of whole tiles of query rows; a tile of one row pads nothing."""
        wanted = core_work(B=self.B, T=self.T, S=self.S, f=self.f)
        return np.asarray(wanted * row_padding(T=self.T, n_h=self.n_h, tile=tile))

    def traffic(self) -> Floats:
        """Bytes: each sequence's cache once, its queries and outputs."""
        return np.asarray(core_traffic(B=self.B, T=self.T, S=self.S, m_c=self.m_c, m_q=self.m_q))

    @property
    def bandwidth_share(self) -> Floats:
        """Share of the bandwidth that a row reached."""
        return self.roof(work=0.0, traffic=self.traffic(), eta_c=1, eta_m=1) / self.seconds

    def roof(self, **given: Any) -> Floats:
        """Seconds on the device's roofline."""
        return np.asarray(roofline_time(peak=self.peak, bandwidth=self.bandwidth, **given))


def _core(name: str, heads: int) -> GroupedCore | LatentCore:
    for core in model(name).attention:
        if isinstance(core, LatentCore) or (
            isinstance(core, GroupedCore) and core.kind == "grouped"
        ):
            return replace(core, n_h=heads)
    raise ValueError(f"{name} has neither grouped nor latent attention")


@functools.cache
def _shape(device: str, name: str, heads: int, cache: str) -> tuple[float, ...]:
    numbers = _core(name, heads).coefficients(cache=cache)
    return (*numbers.values(), gpu(device).bandwidth, gpu(device).rate("bf16"))  # type: ignore[arg-type]


def read_cores(found: Table, *, latent: str = "DeepSeek-V3") -> Cores:
    """Cores from a table, shapes and devices put in from the catalogue.

    A table without a column ``model`` is of latent attention with the widths of ``latent``; one
    without ``width`` has one query token a sequence.  Raises DataError, naming the row.
    """
    columns, many = found.columns, len(found)
    names = columns.get("model", np.full(many, latent))
    shape = np.empty((many, 5))
    for i in range(many):
        try:
            shape[i] = _shape(
                str(columns["gpu"][i]), str(names[i]), int(columns["heads"][i]),
                str(columns["cache"][i]),
            )  # fmt: skip
        except (LookupError, ValueError) as error:
            raise DataError(f"{found.name}, row {i + 1}", str(error)) from error
    kinds = np.array([_core(str(name), 1).kind for name in names])
    f, m_c, m_q, bandwidth, peak = shape.T
    return Cores(
        np.arange(1, many + 1), columns["gpu"],
        columns.get("engine", np.full(many, "FlashMLA")), names, kinds, columns["batch"],
        columns.get("width", np.ones(many)), columns["context"], columns["heads"], f, m_c, m_q,
        bandwidth, peak, columns["seconds"],
    )  # fmt: skip


@functools.cache
def cores() -> Cores:
    """Every timed core of the table ``decode-attention``: one query token a sequence."""
    return read_cores(table("decode-attention"))


@functools.cache
def multi_query_cores() -> Cores:
    """The rows of ``mla-multi-query`` that give a time, all on the H20."""
    found = table("mla-multi-query")
    timed = ~np.isnan(found["seconds"])
    rows = replace(found, columns={name: column[timed] for name, column in found.columns.items()})
    read = read_cores(rows)
    return replace(read, row=np.flatnonzero(timed) + 1)


def multi_query_fit(tile: int = TILE) -> Fit:
    """One efficiency, of the arithmetic and of the bandwidth alike, for every multi-query row."""
    rows = multi_query_cores()
    return fitted(
        lambda eta, **given: kernel_time(t_0=0, eta_c=eta, eta_m=eta, **given),
        {"eta": MEMORY},
        rows.seconds,
        work=rows.work(tile),
        traffic=rows.traffic(),
        peak=rows.peak,
        bandwidth=rows.bandwidth,
    )


def plausible(timed: Cores | None = None) -> Cores:
    """Rows of kernels that never beat the memory's peak; one that does is left out as a whole."""
    timed = cores() if timed is None else timed
    beats = np.zeros(len(timed), dtype=bool)
    for device, engine, kind in {
        *zip(timed.gpu.tolist(), timed.engine.tolist(), timed.kind.tolist(), strict=True)
    }:
        own = (timed.gpu == device) & (timed.engine == engine) & (timed.kind == kind)
        beats |= own & bool((timed.bandwidth_share[own] > 1).any())
    return timed.keep(~beats)


class AttentionFit(NamedTuple):
    """One fixed time and two efficiencies of a kernel, and its absolute relative errors."""

    gpu: str
    kind: str
    engine: str
    rows: int
    microseconds: float
    eta_m: float
    eta_c: float
    median: float
    p90: float


def attention_fits(timed: Cores | None = None) -> tuple[AttentionFit, ...]:
    """t_0, eta_m and eta_c for every device, kind and engine.

    The rows have one query token a sequence.  The grouped ones never come near the ridge, so that
    their eta_c is taken to be 1 and not fitted.
    """
    found = []
    for (device, kind, engine), rows in plausible(timed).groups("gpu", "kind", "engine"):
        latent = kind == "latent"
        fit = fitted(
            kernel_time,
            {"t_0": FIXED_TIME, "eta_m": MEMORY} | ({"eta_c": COMPUTE} if latent else {}),
            rows.seconds,
            work=rows.work(TILE if latent else 1),
            traffic=rows.traffic(),
            peak=rows.peak,
            bandwidth=rows.bandwidth,
            **({} if latent else {"eta_c": 1.0}),
        )
        off = score(f"{device}, {kind}, {engine}", fit.errors)
        t_0, eta_m, eta_c = (fit.values.get(key, 1.0) for key in ("t_0", "eta_m", "eta_c"))
        found.append(
            AttentionFit(
                device, kind, engine, len(fit), t_0 * 1e6, eta_m, eta_c, off.median, off.p90
            )
        )
    return tuple(found)
