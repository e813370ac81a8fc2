"""TensorRT-LLM 1.4: a schedule as its speculative config, and the rule by which it is read.

The engine holds ``draft_len_schedule``, a mapping from batch size to draft length.  A key is the
last batch of its range: the first key at or above the batch decides, and above the last key
nothing is drafted.  The value of the smallest key must be ``max_draft_len``, and none may exceed
it, so that a schedule cannot rise from its first range.  Some drafters may not be left out, and
draft at least one token whatever the schedule says.

Before pull request 10860 of March 2026 the same mapping meant something else: a key was the first
batch of its range, the smallest had to be 1, and the last range had no end.

Source: tensorrt_llm/llmapi/llm_args.py and tensorrt_llm/_torch/speculative/utils.py of the 1.4.0
release candidates, and tests of pull request 16888.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.engines.budget import budget_warnings
from specdec_lib.engines.fit import Ints, losses, ranges_of, refuse, scores, single_row
from specdec_lib.engines.fit import wanted_up_to as wanted_lengths
from specdec_lib.engines.refusal import EngineRefuses, batch_indices, whole
from specdec_lib.schedule import CannotExpress, EngineConfig, Schedule

#: What each drafter drafts at least, however large the batch; in lower case.
FLOORS: dict[str, int] = {
    "eagle3": 0,
    "mtp": 0,
    "ngram": 0,
    "drafttarget": 1,
    "pard": 1,
    "dynamictree": 1,
    "mtp+sa": 1,
}

#: Versions from this one on read a key as the last batch of its range.
UPPER_SINCE = (1, 4)

MAPPING = "draft_len_schedule"


def write(
    schedule: Schedule,
    *,
    version: str = "1.4",
    fit: bool = False,
    decoding_type: str | None = None,
    speculative_model: str | None = None,
    floor: int | None = None,
    keys: str | None = None,
    max_batch_size: int | None = None,
    max_num_tokens: int | None = None,
) -> EngineConfig:
    """The ``speculative_config`` for a schedule.

    Parameters
    ----------
    schedule
        Without a context axis, which TensorRT-LLM does not know.
    version, keys
        Of the engine; ``keys`` is "upper" or "lower", what a key of the mapping is to it.  It must
        be given for versions before 1.4, which changed from one to the other.
    fit
        Write the best that the engine can express instead of refusing, and say what it loses.
    decoding_type, speculative_model
        Go into the config as they are: "Eagle3", "DraftTarget", "NGram".
    floor
        The least that the drafter drafts; by default that of its ``decoding_type``, 0 if unknown.
    max_batch_size, max_num_tokens
        Limits of the engine: larger batches are not looked at, and what does not fit a step's
        tokens is a warning.

    Raises CannotExpress, with the ranges, for what the engine cannot say, and for a schedule that
    never speculates, which is an engine started without a speculative config.
    """
    engine = f"TensorRT-LLM {version}"
    meaning = _meaning(version, keys)
    row, words = single_row(schedule, engine, fit=fit)
    if row.longest < 1:
        raise CannotExpress(
            f"this schedule never speculates: start {engine} without a speculative config"
        )
    least = _floor(decoding_type) if floor is None else whole(floor, "floor", least=0)
    last = row.batch_max + 1 if max_batch_size is None else max_batch_size
    wanted = wanted_lengths(row, last)
    given = _best(row, wanted, least) if fit else wanted
    open_end = max_batch_size is None
    if not fit:
        refuse(
            row,
            np.maximum(wanted, least),
            open_end,
            f"this drafter drafts at least {least} whatever the batch",
            "limit the engine to batches that speculate (max_batch_size), or take it with fit=True",
        )
        refuse(
            row,
            np.minimum(wanted, wanted[0]),
            open_end,
            f"the first range must hold max_draft_len, and no other may exceed it ({wanted[0]})",
            "lengthen the first range, or take the best that does not rise with fit=True",
        )
    if given[0] < 1:
        raise CannotExpress(f"the best that {engine} can express never speculates: start without")
    runs = ranges_of(given)
    settings: dict[str, Any] = {} if decoding_type is None else {"decoding_type": decoding_type}
    settings["max_draft_len"] = int(given[0])
    settings |= {} if speculative_model is None else {"speculative_model": speculative_model}
    settings[MAPPING] = _mapping(runs, meaning, open_end=open_end)
    words += (
        "a key is the last batch of its range; above the last key nothing is drafted"
        if meaning == "upper"
        else "a key is the first batch of its range; the last range has no end",
        "the smallest key holds max_draft_len, as the engine demands",
    )
    return EngineConfig(
        engine,
        {"speculative_config": settings},
        explanations=(*words, *_missing(decoding_type)),
        warnings=_warnings(runs, row, decoding_type, least, floor, max_batch_size, max_num_tokens),
        losses=losses(row, given, open_end),
    )


def _meaning(version: str, keys: str | None) -> str:
    if keys not in (None, "upper", "lower"):
        raise ValueError(f"keys are 'upper' or 'lower' ends of ranges, not {keys!r}")
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        raise ValueError(f"version {version!r} is none; write it as in '1.4'")
    if keys is not None:
        return keys
    if (int(parts[0]), int(parts[1])) >= UPPER_SINCE:
        return "upper"
    raise CannotExpress(
        f"TensorRT-LLM {version}: until pull request 10860 (March 2026) a key was the first batch "
        "of its range, since then it is the last; the same mapping means two things, so say which "
        "your build has, keys='lower' or keys='upper', or use 1.4"
    )


def _floor(decoding_type: str | None) -> int:
    return 0 if decoding_type is None else FLOORS.get(decoding_type.casefold(), 0)


def _best(row: Schedule, wanted: Ints, least: int) -> Ints:
    """The best lengths of which none is below ``least`` or above that of the first batch.

    The first length is searched over all; each other batch then has the best one not above it.
    """
    if wanted.min() >= least and wanted.max() == wanted[0]:
        return wanted
    if least > row.longest:
        raise CannotExpress(f"a drafter that drafts at least {least} exceeds every wanted length")
    score = scores(row, also=least or None)[:, : len(wanted)]
    kept, options = score.shape[1], []
    for first in sorted({least, *row.distinct} - set(range(max(1, least)))):
        allowed = score[least : first + 1]
        lengths = least + np.argmax(allowed, axis=0)
        # where the wish is allowed it stays, so that equal scores change nothing
        wish = wanted[:kept]
        lengths = np.where((least <= wish) & (wish <= first), wish, lengths)
        lengths[0] = first
        options.append((float(score[lengths, np.arange(kept)].sum()), -first, lengths))
    _, _, found = max(options, key=lambda option: option[:2])
    beyond = np.full(len(wanted) - kept, least, dtype=np.int64)
    return np.concatenate([found, beyond]).astype(np.int64)


def _mapping(runs: list[tuple[int, int, int]], meaning: str, *, open_end: bool) -> dict[int, int]:
    if meaning == "lower":
        return {first: length for first, _, length in runs}
    # what lies above the last key is not drafted anyway
    kept = runs[:-1] if open_end and len(runs) > 1 else runs
    return {last: length for _, last, length in kept}


def _missing(decoding_type: str | None) -> tuple[str, ...]:
    if decoding_type is not None:
        return ()
    return ("add decoding_type and, if your drafter has one, speculative_model",)


def _warnings(
    runs: list[tuple[int, int, int]],
    row: Schedule,
    decoding_type: str | None,
    least: int,
    floor: int | None,
    largest: int | None,
    tokens: int | None,
) -> tuple[str, ...]:
    found = []
    if decoding_type is not None and decoding_type.casefold() == "mtp":
        found.append("plain MTP keeps its static length; only its EAGLE-like one-model form adapts")
    if floor is None and least == 0 and any(length == 0 for _, _, length in runs):
        found.append(
            "whether 0 is drafted as 0 depends on the build: some draft at least 1 with every "
            "one-model drafter; see min_runtime_draft_len, and say floor=1 if yours does"
        )
    limits = ("max_batch_size", "max_num_tokens")
    return (*found, *budget_warnings(runs, largest or row.batch_max, tokens, limits))


def lookup(config: Mapping[str, Any], B: ArrayLike, *, floor: int = 0, keys: str = "upper") -> Ints:
    """The draft length that the engine uses at batch B, by its own rule.

    ``config`` is the speculative config, with or without its outer name.  Raises EngineRefuses for
    one that the engine does not start with.
    """
    inner = config.get("speculative_config", config)
    batch = batch_indices(B)
    limit = whole(inner.get("max_draft_len"), "max_draft_len", least=1)
    entries = inner.get(MAPPING)
    if entries is None:
        return np.full(batch.shape, max(limit, floor), dtype=np.int64)
    if not isinstance(entries, Mapping) or not entries:
        raise EngineRefuses(f"{MAPPING}: found {entries!r}; wanted is {{batch: length}}")
    pairs = sorted(
        (whole(key, f"{MAPPING}, key", least=1), whole(value, f"{MAPPING}, {key}", least=0))
        for key, value in entries.items()
    )
    if pairs[0][1] != limit:
        raise EngineRefuses(
            f"{MAPPING}: the smallest key, {pairs[0][0]}, holds {pairs[0][1]}; it must hold "
            f"max_draft_len, {limit}"
        )
    if any(value > limit for _, value in pairs):
        raise EngineRefuses(f"{MAPPING}: a length exceeds max_draft_len, {limit}")
    ends = np.array([key for key, _ in pairs])
    if keys == "lower":
        if ends[0] != 1:
            raise EngineRefuses(f"{MAPPING}: the smallest key is {ends[0]}; it must be 1")
        lengths = np.array([value for _, value in pairs])
        found = lengths[np.searchsorted(ends, batch, side="right") - 1]
    else:
        found = np.array([*(value for _, value in pairs), 0])[np.searchsorted(ends, batch)]
    return np.asarray(np.maximum(found, floor), dtype=np.int64)
