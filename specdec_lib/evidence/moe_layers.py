"""Timed MoE layers as arrays in the symbols of the notation, and which rows a law is held against.

The screening uses no fit and no law: it asks whether a kernel can have read what it was asked to,
and whether other kernels do the same work faster.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdec_lib.architecture.precision import precision
from specdec_lib.catalog import gpu, model
from specdec_lib.evidence.tables import Table, table
from specdec_lib.formula import Formula
from specdec_lib.formulas.experts import balanced_experts, expert_knee, experts_work
from specdec_lib.formulas.roofline import roofline_time, weight_traffic
from specdec_lib.records.provenance import DataError

Floats = NDArray[np.float64]
Texts = NDArray[np.str_]
Mask = NDArray[np.bool_]

#: Assignments an expert, n·k/E, up to which a layer counts as below its compute knee.
BELOW_KNEE = 4.0
#: A kernel that takes this much longer than the fastest, in the median, is no candidate.
SLOW = 1.25
#: Share of the bandwidth that the best kernel for a model and format must reach.
REACH = 0.6

KEPT = "kept"


@dataclass(frozen=True, eq=False)
class Layers:
    """Timed layers, one array element a row.

    ``n`` tokens meet ``E`` experts of ``P_e`` parameters with ``b`` bytes each, ``k`` a token;
    ``seconds`` were measured on a device with ``bandwidth`` and, at this precision, ``peak``.
    ``row`` is the row's number in the table ``moe-layers``, from 1.
    """

    row: NDArray[np.int64]
    gpu: Texts
    engine: Texts
    kernel: Texts
    model: Texts
    format: Texts
    routing: Texts
    n: Floats
    E: Floats
    k: Floats
    P_e: Floats
    b: Floats
    bandwidth: Floats
    peak: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.row)

    def keep(self, mask: Mask | NDArray[np.int64]) -> Layers:
        """The rows where ``mask`` is true, or those at these places in this order."""
        return Layers(
            **{field.name: getattr(self, field.name)[mask] for field in dataclasses.fields(self)}
        )

    def number(self, *names: str) -> NDArray[np.int64]:
        """A number for every row, the same where the named columns are."""
        joined = functools.reduce(lambda a, b: np.char.add(np.char.add(a, "|"), b),
                                  [getattr(self, name).astype(str) for name in names])  # fmt: skip
        return np.unique(joined, return_inverse=True)[1].astype(np.int64)

    def groups(self, *names: str) -> Iterator[tuple[tuple[str, ...], Layers]]:
        """The rows of each combination of the named columns, with its values."""
        number = self.number(*names)
        for group in range(int(number.max(initial=-1)) + 1):
            rows = self.keep(number == group)
            yield tuple(str(getattr(rows, name)[0]) for name in names), rows

    def of(self, formula: Formula) -> Floats:
        """A Formula whose symbols are all columns, on every row."""
        given = {known.keyword: getattr(self, known.keyword) for known in formula.inputs}
        return np.broadcast_to(formula(**given), self.n.shape)

    def work(self) -> Floats:
        """FLOPs of the routed experts."""
        return np.asarray(experts_work(n=self.n, k=self.k, s=0, P_e=self.P_e), dtype=np.float64)

    def traffic(self, experts: Floats) -> Floats:
        """Bytes of so many distinct experts."""
        return np.asarray(weight_traffic(P=experts * self.P_e, b=self.b), dtype=np.float64)

    def reading(self, experts: Floats) -> Floats:
        """Seconds to read so many experts at the whole bandwidth."""
        return np.asarray(
            roofline_time(
                work=0, traffic=self.traffic(experts), peak=self.peak, bandwidth=self.bandwidth,
                eta_c=1, eta_m=1,
            ),
            dtype=np.float64,
        )  # fmt: skip

    @property
    def bandwidth_share(self) -> Floats:
        """Share of the bandwidth that a layer reached if it read what balanced routing touches."""
        return self.reading(self.of(balanced_experts)) / self.seconds

    @property
    def assignments(self) -> Floats:
        """Assignments an expert, n·k/E."""
        return self.n / self.of(expert_knee)


def read_layers(found: Table) -> Layers:
    """Layers from a table, the shapes and the device put in from the catalogue.

    Raises DataError, naming the row, for a model without routed experts, an unknown accelerator,
    or a precision that it has no rate for.
    """
    shape = np.empty((len(found), 6))
    for i, (device, name, kind) in enumerate(
        zip(found["gpu"], found["model"], found["precision"], strict=True)
    ):
        try:
            shape[i] = _shape(str(device), str(name), str(kind))
        except (LookupError, ValueError) as error:
            raise DataError(f"{found.name}, row {i + 1}", str(error)) from error
    E, k, P_e, b, bandwidth, peak = shape.T
    return Layers(
        np.arange(1, len(found) + 1), found["gpu"], found["engine"], found["kernel"],
        found["model"], found["format"], found["routing"], found["tokens"], E, k, P_e, b,
        bandwidth, peak, found["seconds"],
    )  # fmt: skip


@functools.cache
def _shape(device: str, name: str, kind: str) -> tuple[float, ...]:
    known, experts, stored = gpu(device), model(name).experts, precision(kind)
    if experts is None:
        raise ValueError(f"{name} has no routed experts")
    rate = known.rate(stored.peak)
    return experts.E, experts.k, experts.P_e, stored.bytes, known.bandwidth, rate


@functools.cache
def layers() -> Layers:
    """Every timed layer of the package."""
    return read_layers(table("moe-layers"))


def verdicts(timed: Layers) -> Texts:
    """For every row ``"kept"``, or why no law is held against its kernel.

    In this order: a kernel without balanced routing to judge it by; one that beats the memory's
    peak on a model, or on more than half of its models and then everywhere; one that others are
    faster than; and a format that no kernel reads at :data:`REACH` of the bandwidth.
    """
    verdict = np.full(len(timed), KEPT, dtype="<U40")
    series = timed.number("gpu", "engine", "kernel", "format", "model")
    kernel = timed.number("gpu", "engine", "kernel", "format")
    judged = (timed.routing == "balanced") & (timed.assignments <= BELOW_KNEE)

    verdict[~np.isin(series, series[judged])] = "timed without balanced routing"

    beats = np.unique(series[judged & (timed.bandwidth_share > 1)])
    verdict[np.isin(series, beats)] = "faster than the memory"
    for one in np.unique(kernel):
        models = np.unique(series[judged & (kernel == one)])
        if np.isin(models, beats).sum() * 2 > len(models):
            verdict[kernel == one] = "faster than the memory"

    candidate = judged & (verdict == KEPT)
    point = timed.number("gpu", "model", "format", "n")
    best = np.full(point.max() + 1, np.inf)
    np.minimum.at(best, point[candidate], timed.seconds[candidate])
    contested = candidate & (np.bincount(point[candidate], minlength=len(best))[point] > 1)
    for one in np.unique(kernel[contested]):
        at = contested & (kernel == one)
        if np.median(timed.seconds[at] / best[point[at]]) > SLOW:
            verdict[(kernel == one) & (verdict == KEPT)] = "slower than other kernels"

    candidate = judged & (verdict == KEPT)
    group = timed.number("gpu", "model", "format")
    reach = np.zeros(group.max() + 1)
    np.maximum.at(reach, group[candidate], timed.bandwidth_share[candidate])
    verdict[(reach[group] < REACH) & (verdict == KEPT)] = "far from the bandwidth"
    return verdict


def screened(timed: Layers | None = None) -> Layers:
    """The rows that a law is held against: kernels that pass :func:`verdicts`."""
    timed = layers() if timed is None else timed
    return timed.keep(verdicts(timed) == KEPT)


def below_knee(timed: Layers, routing: str = "balanced") -> Layers:
    """The rows of a routing with at most :data:`BELOW_KNEE` assignments an expert."""
    return timed.keep((timed.routing == routing) & (timed.assignments <= BELOW_KNEE))


def fastest(timed: Layers) -> Layers:
    """Of each device, model, format, routing and token count the row of the fastest kernel."""
    order = np.argsort(timed.seconds, kind="stable")
    points = timed.number("gpu", "model", "format", "routing", "n")[order]
    first = np.unique(points, return_index=True)[1]
    chosen = np.zeros(len(timed), dtype=bool)
    chosen[order[first]] = True
    return timed.keep(chosen)
