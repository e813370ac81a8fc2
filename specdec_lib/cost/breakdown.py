"""Breakdown: what each component of a step computes, reads and takes, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib.cost.grid import Floats, Varying
from specdec_lib.cost.part import Part

#: The keys that every breakdown has; what a model does not have is zero.
COMPONENTS: tuple[str, ...] = (
    "attn_proj",
    "attn_core",
    "indexer",
    "moe",
    "router",
    "shared",
    "dense_ffn",
    "head",
)

#: Every key in order, those that only some steps have last.
ORDER: tuple[str, ...] = (*COMPONENTS, "other", "overhead", "communication")


@dataclass(frozen=True, eq=False)
class Share:
    """A component's part of a step: floats and a word, or arrays of them.

    ``flops``, ``bytes`` and ``seconds`` are of the busiest device; ``bound`` is the resource that
    most of its time is spent waiting for: "compute", "memory", "fixed" or "link", and "none" where
    the model has no such component.
    """

    flops: Any
    bytes: Any
    seconds: Any
    bound: Any


class Breakdown(Mapping[str, Share]):
    """The shares of the components of a step, by key; ``seconds`` is their sum."""

    def __init__(self, shares: Mapping[str, Share]) -> None:
        self._shares = dict(shares)

    def __getitem__(self, key: str) -> Share:
        if key not in self._shares:
            raise KeyError(f"this step has no {key!r}; it has {', '.join(self._shares)}")
        return self._shares[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    @property
    def seconds(self) -> Any:
        """The whole step."""
        return sum(share.seconds for share in self._shares.values())

    def __repr__(self) -> str:
        if any(np.ndim(share.seconds) for share in self._shares.values()):
            shape = np.shape(next(iter(self._shares.values())).seconds)
            return f"Breakdown({', '.join(self._shares)}; arrays of shape {shape})"
        lines = [f"{'':14}{'GFLOP':>12}{'MB':>12}{'µs':>12}  waits for"]
        lines += [
            f"{key:14}{share.flops / 1e9:12.4g}{share.bytes / 1e6:12.4g}"
            f"{share.seconds * 1e6:12.4g}  {share.bound}"
            for key, share in self._shares.items()
            if share.seconds > 0
        ]
        return "\n".join([*lines, f"{'step':14}{'':24}{self.seconds * 1e6:12.4g}"])


class Shares:
    """The parts of a step, compiled to be told apart."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [
            (
                part,
                [
                    Varying(e)
                    for e in (part.work, part.traffic, part.seconds, part.computing, part.reading)
                ],
            )
            for part in sorted(parts, key=lambda part: ORDER.index(part.key))
        ]

    def __call__(self, *arguments: Floats) -> Breakdown:
        """The breakdown at the points of B, T and S, which broadcast."""
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        none = [np.float64(0)] * 4
        sums: dict[str, list[Any]] = dict.fromkeys(COMPONENTS, none)
        waits: dict[str, str | None] = dict.fromkeys(COMPONENTS, "none")
        for part, functions in self._parts:
            work, traffic, seconds, computing, reading = (f(*arguments) for f in functions)
            # what computes longer than it reads counts for compute, and what does not against it
            lead = np.where(computing > reading, seconds, -seconds)
            values = [work, traffic, seconds, lead]
            known = sums.get(part.key, none)
            sums[part.key] = [old + new for old, new in zip(known, values, strict=True)]
            waits[part.key] = part.waits_for
        return Breakdown({key: _share(shape, sums[key], waits[key]) for key in sums})


def _share(shape: tuple[int, ...], sums: Sequence[Any], waits_for: str | None) -> Share:
    work, traffic, seconds, lead = (np.broadcast_to(values, shape) for values in sums)
    bound = np.where(lead > 0, "compute", "memory")
    if waits_for is not None:
        bound = np.broadcast_to(np.asarray(waits_for), shape)
    if shape == ():
        return Share(float(work), float(traffic), float(seconds), str(bound))
    return Share(work, traffic, seconds, bound)
