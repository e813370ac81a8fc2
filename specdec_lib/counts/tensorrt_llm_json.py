"""TensorRT-LLM, JSON: iteration statistics, per-request metrics, and the statistics file of its
block drafters.

The acceptance length of an iteration is a mean over the requests that carried drafts in it, Q of
them, and is 0 or 1 where there were none: it must be weighted by Q.

Source: tensorrt_llm/_torch/speculative of the 1.4.0 release candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specdec_lib.counts.combine import left_out, pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import (
    agree,
    count,
    documents,
    holding,
    optional_count,
    optional_number,
    row,
    survivors,
)
from specdec_lib.formulas.counting import counted_rate, counted_tokens

ENGINE = "TensorRT-LLM"

_PRINTED = 0.005 + 1e-9

ITERATION_KEYS = {"numDraftTokens", "numAcceptedTokens", "numRequestsWithDraftTokens"}


def read_iterations(text: str, *, length: int | None = None) -> AcceptanceCounts:
    """The ``specDecodingStats`` of one or many iterations, added up.

    Iterations in which no request carried a draft are left out, whatever acceptance length they
    print.  ``length`` is the configured draft length, for the checks.
    """
    tables = holding(documents(text, "TensorRT-LLM iterations"), ITERATION_KEYS)
    if not tables:
        raise ReadError(f"no object holds {', '.join(sorted(ITERATION_KEYS))}")
    idle, steps, drafted, accepted, full = 0, 0, 0, 0, True
    for i, table in enumerate(tables, 1):
        where = f"iteration {i}"
        d, a, q = (
            count(table, key, where)
            for key in ("numDraftTokens", "numAcceptedTokens", "numRequestsWithDraftTokens")
        )
        if q == 0:
            if d or a:
                raise ReadError(f"{where}: {d} drafted and {a} accepted tokens of no request")
            idle += 1
            continue
        printed = optional_number(table, "acceptanceLength", where)
        exact = counted_tokens(accepted=a, steps=q)
        agree(where, acceptanceLength=(printed, exact, _PRINTED))
        steps, drafted, accepted = steps + q, drafted + d, accepted + a
        full = full and (length is None or d == q * length)
    if not steps:
        raise ReadError(f"none of the {len(tables)} iterations drafted a token")
    found = AcceptanceCounts(
        ENGINE,
        "TensorRT-LLM iteration statistics",
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        length=length,
        notes=(f"{len(tables) - idle} iterations, each weighted by its requests with drafts",),
        cautions=() if full else ("some iterations drafted less than the configured length",),
    )
    return left_out(found, idle, len(tables), "iterations")


REQUEST_KEYS = {"num_spec_steps", "total_accepted_draft_tokens", "total_draft_tokens"}


def read_requests(text: str, *, lossy: bool = False) -> AcceptanceCounts:
    """The speculative metrics of one or many responses, pooled."""
    tables = holding(documents(text, "TensorRT-LLM per-request metrics"), REQUEST_KEYS)
    if not tables:
        raise ReadError(f"no object holds {', '.join(sorted(REQUEST_KEYS))}")
    idle, parts = 0, []
    for i, table in enumerate(tables, 1):
        where = f"request {i}"
        steps = count(table, "num_spec_steps", where)
        drafted = count(table, "total_draft_tokens", where)
        accepted = count(table, "total_accepted_draft_tokens", where)
        if not (steps or drafted or accepted):
            idle += 1
            continue
        survived = None
        if table.get("acceptance_histogram") is not None:
            histogram = row(table, "acceptance_histogram", where)
            agree(where, acceptance_histogram=(float(sum(histogram)), float(steps), 0))
            survived = survivors(histogram)
        if accepted <= drafted:
            rate = counted_rate(accepted=accepted, drafted=drafted)
            printed = optional_number(table, "acceptance_rate", where)
            agree(where, acceptance_rate=(printed, rate, _PRINTED))
        parts.append(
            AcceptanceCounts(
                ENGINE,
                "TensorRT-LLM per-request metrics",
                steps=steps,
                drafted=drafted,
                accepted=accepted,
                survived=survived,
                length=optional_count(table, "num_spec_tokens", where),
                requests=1,
                lossy=lossy,
            )
        )
    if not parts:
        raise ReadError(f"none of the {len(tables)} requests drafted a token")
    return left_out(pool(parts), idle, len(tables), "requests")


BLOCK_KEYS = {"accepted_draft_hist"}


def read_block_file(text: str) -> AcceptanceCounts:
    """The ``dflash_accept_stats_rank*.json`` that ``TLLM_DFLASH_ACCEPT_STATS_DIR`` asks for.

    The files of several ranks, one a line, are added up.
    """
    tables = holding(documents(text, "TensorRT-LLM block statistics"), BLOCK_KEYS)
    if not tables:
        raise ReadError("no object holds accepted_draft_hist")
    parts = [_block(table, f"file {i}") for i, table in enumerate(tables, 1)]
    return pool(parts)


def _block(table: Mapping[str, Any], where: str) -> AcceptanceCounts:
    histogram = row(table, "accepted_draft_hist", where)
    if len(histogram) < 2 or not sum(histogram):
        raise ReadError(f"{where}: accepted_draft_hist holds no steps with a draft")
    steps = optional_count(table, "num_steps", where)
    agree(where, num_steps=(None if steps is None else float(steps), float(sum(histogram)), 0))
    return AcceptanceCounts(
        ENGINE,
        "TensorRT-LLM block statistics",
        steps=sum(histogram),
        survived=survivors(histogram),
        length=len(histogram) - 1,
        notes=(
            "every step drafts the whole block; how much of it was verified is not in the file",
        ),
    )
