"""vLLM 0.33: a schedule as its speculative config, and the rule by which the engine reads it.

The engine holds a list of ``[first, last, K]`` with inclusive batch ranges under
``num_speculative_tokens_per_batch_size``.  Sorted, the first must start at 1 and none may overlap;
a gap takes the K before it, everything above takes the last K, and no K exceeds
``num_speculative_tokens``, by silent clamping.  The batch is every request of the step, those in
prefill included, and K is the same for all of them.  Data parallelism, and methods that the first
model runner does not know here, switch the whole list off with no more than a log line.

Source: vllm/config/speculative.py, vllm/v1/spec_decode/dynamic and vllm/v1/core/sched/scheduler.py
of release 0.33.0, read and its validator executed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.engines.budget import budget_warnings, capture_warnings
from specdec_lib.engines.fit import Ints, best, losses, ranges_of, refuse, scores, single_row
from specdec_lib.engines.fit import wanted_up_to as wanted_lengths
from specdec_lib.engines.refusal import EngineRefuses, batch_indices, whole
from specdec_lib.schedule import CannotExpress, EngineConfig, Schedule

ENGINE = "vLLM 0.33"

#: Methods whose K the first model runner changes from step to step; the second knows no limit.
FIRST_RUNNER_METHODS: tuple[str, ...] = (
    "ngram",
    "eagle",
    "eagle3",
    "mtp",
    "draft_model",
    "dflash",
)

#: The end of the range that switches off, where the largest batch of the engine is not known.
FAR = 4096

LIST = "num_speculative_tokens_per_batch_size"

#: Case C06: an engine that drafts nothing is not one that was started without speculation.
IDLE = (
    "length 0 inside dynamic speculation is not the same as no speculation: graphs become "
    "piecewise, and a step costs more (+6.6 % at 2 and +21.6 % at 189 sequences in "
    "vllm-project/vllm#49548); put this tax into the plan, and where 0 prevails start without"
)


def write(
    schedule: Schedule,
    *,
    fit: bool = False,
    method: str | None = None,
    model: str | None = None,
    num_speculative_tokens: int | None = None,
    model_runner: int | None = None,
    data_parallel: int = 1,
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    capture_sizes: Iterable[int] = (),
) -> EngineConfig:
    """The ``speculative_config`` for a schedule.

    Parameters
    ----------
    schedule
        Without a context axis, which vLLM 0.33 does not know.
    fit
        Write the best that the engine can express instead of refusing, and say what it loses.
    method, model
        Go into the config as they are: "eagle3", the name of the draft model.
    num_speculative_tokens
        The engine's own maximum; by default the longest length of the schedule.
    model_runner, data_parallel
        Of the deployment: what switches dynamic lengths off.
    max_num_seqs, max_num_batched_tokens, capture_sizes
        Limits of the scheduler, and captured graph sizes in tokens; what does not fit is a warning.

    Raises CannotExpress, with the ranges, for what the engine cannot say, and for a schedule that
    never speculates, which is an engine started without a speculative config.
    """
    row, words = single_row(schedule, ENGINE, fit=fit)
    limit = row.longest if num_speculative_tokens is None else num_speculative_tokens
    if limit < 1:
        raise CannotExpress(
            "this schedule never speculates: start vLLM without a speculative config, which is "
            "faster than one that drafts nothing"
        )
    last = max_num_seqs if max_num_seqs is not None else max(FAR, row.batch_max + 1)
    wanted = wanted_lengths(row, last)
    given = _given(row, wanted, limit, max_num_seqs is None, fit=fit)
    static = _static_reason(method, model_runner, data_parallel)
    if static is not None:
        given = _fixed(row, given, limit, static, max_num_seqs is None, fit=fit)
        limit = int(given[0])
    runs = ranges_of(given)
    settings: dict[str, Any] = {} if method is None else {"method": method}
    settings |= {} if model is None else {"model": model}
    settings["num_speculative_tokens"] = limit
    if len(runs) > 1 or runs[0][2] != limit:
        settings[LIST] = [list(run) for run in runs]
        words += (
            "batch ranges are inclusive and leave no gap; the last one is written out because the "
            "engine carries its K on to every larger batch",
            f"{len({run[2] for run in runs})} distinct lengths: each is captured as graphs of its "
            "own at start",
            "a batch counts every request of a step, those in prefill included",
        )
    else:
        words += (f"one length, {limit}, at every batch: a static config, no list needed",)
    return EngineConfig(
        ENGINE,
        settings,
        explanations=(*words, *_missing(method, model)),
        warnings=_warnings(
            runs, method, model_runner, max_num_seqs, max_num_batched_tokens, capture_sizes
        ),
        losses=losses(row, given, max_num_seqs is None),
    )


def _given(row: Schedule, wanted: Ints, limit: int, open_end: bool, *, fit: bool) -> Ints:
    """The wanted lengths, none above ``limit``; within it the best, where ``fit`` must shorten."""
    if wanted.max() <= limit:
        return wanted
    clamped = np.minimum(wanted, limit)
    if not fit:
        refuse(
            row,
            clamped,
            open_end,
            f"vLLM clamps every length to num_speculative_tokens = {limit} without a word",
            f"raise it to {row.longest}, or shorten with fit=True",
        )
    options = best(scores(row, also=limit)[: limit + 1])[: len(wanted)]
    clamped[: len(options)] = np.where(
        wanted[: len(options)] > limit, options, wanted[: len(options)]
    )
    return clamped


def _static_reason(method: str | None, model_runner: int | None, data_parallel: int) -> str | None:
    if data_parallel > 1:
        return f"vLLM drops the list under data parallelism ({data_parallel} replicas)"
    if model_runner == 1 and method is not None and method not in FIRST_RUNNER_METHODS:
        known = ", ".join(FIRST_RUNNER_METHODS)
        return f"vLLM's first model runner drops the list for method {method!r} (it knows {known})"
    return None


def _fixed(row: Schedule, given: Ints, limit: int, why: str, open_end: bool, *, fit: bool) -> Ints:
    """One length at every batch: the wanted one, or the best of all where ``fit`` allows it."""
    if len(ranges_of(given)) == 1 and given[0] > 0:
        return given
    constant = np.full_like(given, min(limit, row.longest))
    if not fit:
        refuse(
            row,
            constant,
            open_end,
            f"{why} and drafts num_speculative_tokens = {constant[0]} at every batch",
            "write one fixed length, or take the best one with fit=True",
        )
    score = scores(row, also=limit)[: limit + 1, : len(given)].mean(axis=1)
    fixed = int(best(score[:, None])[0])
    if fixed == 0:
        raise CannotExpress(
            f"{why}; of the fixed lengths none is better than 0: start vLLM without a speculative "
            "config"
        )
    return np.full_like(given, fixed)


def _missing(method: str | None, model: str | None) -> tuple[str, ...]:
    if method is not None:
        return ()
    wants = "method" if model is not None else "method and, if it has one, model"
    return (f"add {wants} of your drafter to the config",)


def _warnings(
    runs: list[tuple[int, int, int]],
    method: str | None,
    model_runner: int | None,
    sequences: int | None,
    tokens: int | None,
    sizes: Iterable[int],
) -> tuple[str, ...]:
    found = [IDLE] if any(length == 0 for _, _, length in runs) else []
    if len(runs) > 1 and model_runner is None and method not in (None, *FIRST_RUNNER_METHODS):
        found.append(
            f"with the first model runner method {method!r} would drop the list and keep the "
            "static length; look for its warning in the log"
        )
    limits = ("max_num_seqs", "max_num_batched_tokens")
    # the far end of the last range is no batch that anybody asked for
    real = runs if sequences is not None else runs[:-1]
    found += budget_warnings(real, sequences, tokens, limits)
    return (*found, *capture_warnings(real, sizes))


def lookup(config: Mapping[str, Any], B: ArrayLike, *, data_parallel: int = 1) -> Ints:
    """The draft length that the engine uses at batch B, by its own rule.

    Raises EngineRefuses for a config that the engine does not start with.
    """
    batch = batch_indices(B)
    limit = whole(config.get("num_speculative_tokens"), "num_speculative_tokens", least=1)
    entries = config.get(LIST)
    if entries is None or data_parallel > 1:
        return np.full(batch.shape, limit, dtype=np.int64)
    if not isinstance(entries, list | tuple) or not entries:
        raise EngineRefuses(f"{LIST}: found {entries!r}; wanted is a list of [first, last, K]")
    ranges = sorted(_entry(entry) for entry in entries)
    if ranges[0][0] != 1:
        raise EngineRefuses(f"{LIST}: the first range starts at {ranges[0][0]}, not at 1")
    for (_, before, _), (start, _, _) in itertools.pairwise(ranges):
        if start <= before:
            raise EngineRefuses(f"{LIST}: ranges overlap at batch {start}")
    starts = np.array([start for start, _, _ in ranges])
    lengths = np.minimum([length for _, _, length in ranges], limit)
    # a gap and the tail take the K before them: the last range that starts at or below the batch
    return np.asarray(lengths[np.searchsorted(starts, batch, side="right") - 1], dtype=np.int64)


def _entry(entry: Any) -> tuple[int, int, int]:
    if not isinstance(entry, list | tuple) or len(entry) != 3:
        raise EngineRefuses(f"{LIST}: found {entry!r}; an entry is [first, last, K]")
    first, last = (whole(entry[i], f"{LIST}, {entry!r}", least=1) for i in (0, 1))
    if last < first:
        raise EngineRefuses(f"{LIST}: range {entry!r} ends before it starts")
    return first, last, whole(entry[2], f"{LIST}, {entry!r}", least=0)
