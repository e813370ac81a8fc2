"""SGLang 0.5.23: a schedule as its adaptive config, and the rule by which the engine reads it.

The config is JSON with batch sizes as text for keys; each holds ``candidate_steps``, and a list of
one step count pins it.  The engine pads a batch to the next captured CUDA-graph size and takes the
slot of the largest key at or below that; below the first key the first slot applies, beyond the
largest graph nothing is padded.  So every batch that runs in one graph has one length, and a length
that changes inside a graph cannot be said.

Source: sglang/srt/speculative/adaptive_spec_params.py and sglang/srt/arg_groups/fields/spec.py of
release 0.5.23, read and executed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.engines.fit import (
    Ints,
    best,
    losses,
    ranges_of,
    refuse,
    scores,
    single_row,
    wanted_up_to,
)
from specdec_lib.engines.refusal import EngineRefuses, batch_indices, whole
from specdec_lib.engines.sglang_flags import chain
from specdec_lib.schedule import CannotExpress, EngineConfig, Schedule

ENGINE = "SGLang 0.5.23"

#: Algorithms whose step count the engine changes; the others keep the static one.
ADAPTIVE_ALGORITHMS: tuple[str, ...] = ("EAGLE", "EAGLE3")


def write(
    schedule: Schedule,
    *,
    cuda_graph_sizes: Iterable[int] | None = None,
    fit: bool = False,
    algorithm: str | None = None,
    attention_dp: bool = False,
    max_running_requests: int | None = None,
) -> EngineConfig:
    """The adaptive config for a schedule, and the flags that go with it.

    Parameters
    ----------
    schedule
        Without a context axis, which SGLang does not know.
    cuda_graph_sizes
        The batch sizes that the server captures; none of them if empty.  By default the config
        chooses them, the powers of two and the end of every range, and its flags set them.
    fit
        Write the best that the engine can express instead of refusing, and say what it loses.
    algorithm, attention_dp
        Of the deployment: what switches adaptive lengths off.
    max_running_requests
        The largest batch of the server; larger ones are not looked at.

    Raises CannotExpress, with the ranges, for what the engine cannot say, and for a schedule that
    never speculates, which is a server started without speculation.
    """
    row, words = single_row(schedule, ENGINE, fit=fit)
    if row.longest < 1:
        raise CannotExpress(
            "this schedule never speculates: start SGLang without a speculative algorithm"
        )
    top = row.batch_max + 1 if max_running_requests is None else max_running_requests
    sizes = _own_sizes(row, top) if cuda_graph_sizes is None else graph_sizes(cuda_graph_sizes)
    open_end = max_running_requests is None
    if open_end:
        top = max([top, *sizes])
    wanted = wanted_up_to(row, top)
    given = _by_graph(row, wanted, sizes)
    static = _static_reason(algorithm, attention_dp)
    if static is not None:
        given = np.full_like(wanted, _fixed(row, static))
    if not fit:
        because, instead = (
            (static, "pin one length, or take the best one with fit=True")
            if static is not None
            else (
                "batches that are padded to one CUDA graph share a length",
                "capture the end of each range (--cuda-graph-bs-decode), or take the best of each "
                "graph with fit=True",
            )
        )
        refuse(row, given, open_end, because, instead)
    if given.max() < 1:
        raise CannotExpress("the best that SGLang can express never speculates: start without")
    runs = ranges_of(given)
    settings = {str(first): {"candidate_steps": [length]} for first, _, length in runs}
    flags = chain(int(given.max()))
    if static is None:
        flags = ("--speculative-adaptive", "--speculative-adaptive-config", "FILE", *flags)
        words += (
            "a list of one candidate pins the steps of a slot: a static schedule, without the "
            "engine's own reaction to acceptance",
            "drafted steps are the draft length; the target verifies one token more, the root",
        )
    else:
        words += (f"{static}: one length, {given[0]}, for all batches",)
    if cuda_graph_sizes is None and sizes:
        flags += ("--cuda-graph-bs-decode", *map(str, sizes))
        words += ("the captured sizes hold the end of every range, so that padding crosses none",)
    return EngineConfig(
        ENGINE,
        settings,
        flags=flags,
        explanations=words,
        warnings=_warnings(runs, algorithm, sizes, top),
        losses=losses(row, given, open_end),
    )


def graph_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """Captured batch sizes, increasing; ValueError for what is none."""
    found = sorted({whole(size, "captured batch sizes", least=1) for size in sizes})
    return tuple(found)


def _own_sizes(row: Schedule, top: int) -> tuple[int, ...]:
    ends = {cell.last for cell in row.cells if cell.last <= top}
    powers = {1 << i for i in range(min(top, row.batch_max).bit_length())}
    return tuple(sorted(ends | {size for size in powers if size <= min(top, row.batch_max)}))


def padded(batch: ArrayLike, sizes: Iterable[int]) -> Ints:
    """The batch that runs: the next captured size, or itself beyond the largest."""
    known = np.asarray(graph_sizes(sizes), dtype=np.int64)
    here = np.asarray(batch, dtype=np.int64)
    if not known.size:
        return here
    at = np.minimum(np.searchsorted(known, here), len(known) - 1)
    return np.asarray(np.where(here <= known[-1], known[at], here), dtype=np.int64)


def _by_graph(row: Schedule, wanted: Ints, sizes: tuple[int, ...]) -> Ints:
    """One length for all batches of a graph: the wanted one, or the best where they differ."""
    given, score = wanted.copy(), scores(row)
    ends = [
        0,
        *(size for size in sizes if size < len(wanted)),
        min(len(wanted), max(sizes, default=0)),
    ]
    for start, end in itertools.pairwise(ends):
        if end <= start or np.all(wanted[start:end] == wanted[start]):
            continue
        known = score[:, start : min(end, row.batch_max)]
        given[start:end] = int(best(known.mean(axis=1)[:, None])[0])
    return given


def _static_reason(algorithm: str | None, attention_dp: bool) -> str | None:
    if attention_dp:
        return "SGLang keeps the static length under data-parallel attention"
    if algorithm is not None and algorithm.upper() not in ADAPTIVE_ALGORITHMS:
        known = " and ".join(ADAPTIVE_ALGORITHMS)
        return f"SGLang keeps the static length for {algorithm} (it adapts {known})"
    return None


def _fixed(row: Schedule, why: str) -> int:
    length = int(best(scores(row).mean(axis=1)[:, None])[0])
    if length == 0:
        raise CannotExpress(f"{why}, and no fixed length is better than 0: start without")
    return length


def _warnings(
    runs: list[tuple[int, int, int]], algorithm: str | None, sizes: tuple[int, ...], top: int
) -> tuple[str, ...]:
    found = []
    if any(length == 0 for _, _, length in runs):
        found.append(
            "0 steps inside speculation are not the same as a server without it; put the tax of "
            "idle speculation into the plan"
        )
    if algorithm is None:
        found.append(
            "adaptive lengths need --speculative-algorithm EAGLE or EAGLE3, topk 1, and no "
            "data-parallel attention, multi-layer EAGLE, two-batch overlap or PD multiplexing; "
            "else SGLang warns and keeps the static length"
        )
    if sizes and top > sizes[-1] + 1:
        found.append(
            f"graphs end at batch {sizes[-1]}: larger batches run without one, and no speedup "
            "holds there"
        )
    return tuple(found)


def lookup(config: Mapping[str, Any], B: ArrayLike, *, cuda_graph_sizes: Iterable[int]) -> Ints:
    """The draft length that the engine uses at batch B, by its own rule.

    Raises EngineRefuses for a config that the engine does not start with, and ValueError for one
    whose slots hold several candidates, among which the engine chooses by what it measures.
    """
    # what is no batch size is a setting for all slots, or passed over
    slots = sorted((int(key), _steps(key, slot)) for key, slot in config.items() if key.isdigit())
    if not slots:
        raise EngineRefuses(
            f"the adaptive config has no key that is a batch size as text, such as '16'; its keys "
            f"are {list(config)}"
        )
    keys = np.array([key for key, _ in slots])
    lengths = np.array([steps for _, steps in slots])
    run = padded(batch_indices(B), cuda_graph_sizes)
    at = np.maximum(np.searchsorted(keys, run, side="right") - 1, 0)
    return np.asarray(lengths[at], dtype=np.int64)


def _steps(key: str, slot: Any) -> int:
    steps = slot.get("candidate_steps") if isinstance(slot, Mapping) else None
    if not isinstance(steps, list | tuple) or not steps:
        raise EngineRefuses(f"slot {key!r}: candidate_steps must be a list of step counts")
    counts = [whole(count, f"slot {key!r}, candidate_steps", least=0) for count in steps]
    if len(counts) > 1:
        raise ValueError(f"slot {key!r} holds {counts}; only a single candidate pins a length")
    return counts[0]
