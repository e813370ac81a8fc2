"""SGLang 0.5.23: log lines, Prometheus gauges, and the meta_info of responses.

Logs and gauges print a mean over the last interval without the counts behind it; only a response's
meta_info counts.  Its proposed drafts are verify steps times the configured length, whatever was
drafted, so that under adaptive lengths its accept rate is too low.

The accept length has always held the bonus token.  The accept rate of logs and gauges changed its
meaning with pull request 23530 of April 2026: before, it is committed over verified tokens, the
root among both; since, accepted over drafted ones.  Names with "accept" and "draft" count drafts
alone, with "accept" alone they hold the bonus token.

Source: sglang/srt/managers of release 0.5.23; sgl-project/sglang#23530, #11572, #13212, #24965.
"""

from __future__ import annotations

import re
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
from specdec_lib.counts.prometheus import gauge, one_model, samples
from specdec_lib.counts.sglang_info import read_server_info as read_server_info
from specdec_lib.counts.sglang_rate import Reading, lengths_behind, read_rate

ENGINE = "SGLang"

MARK = "accept len:"

_NUMBER = r"(\d+\.\d\d)(?=[,\s]|$)"

#: Half of the last of two printed digits; gauges carry all of theirs.
_TWO_DIGITS, _ALL_DIGITS = 0.005 + 1e-9, 1e-6


def read_log(
    text: str,
    *,
    num_steps: int | None = None,
    num_draft_tokens: int | None = None,
    rate_has_root: bool | None = None,
) -> AcceptanceCounts:
    """The ``accept len`` of a log's decode lines: a gauge, the mean over its lines.

    Each line is the mean over an interval of steps, which hold as many sequences as its
    ``#running-req`` says, so that the lines are weighted by it.  The draft length is taken from
    ``num_draft_tokens`` (the root included, so one less), or found from the accept rate;
    ``rate_has_root`` says what the rate means, where both meanings fit.
    """
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if MARK in line]
    if not lines:
        raise ReadError(f"no line says {MARK!r}")
    tokens, rates, weights = [], [], []
    for i, line in lines:
        match = re.search(rf"{MARK} {_NUMBER}", line)
        running = re.search(r"#running-req: (\d+)(?=[,\s]|$)", line)
        rate = re.search(rf"accept rate: {_NUMBER}", line)
        if match is None:
            raise ReadError(f"line {i}: 'accept len' is damaged; it has two digits, as in 2.17")
        if running is None and "#running-req" in line:
            raise ReadError(f"line {i}: '#running-req' is damaged")
        if rate is None and "accept rate" in line:
            raise ReadError(f"line {i}: 'accept rate' is damaged; it has two digits, as in 0.54")
        weight = 1 if running is None else int(running[1])
        if weight == 0:
            continue
        tokens.append(float(match[1]))
        weights.append(weight)
        rates.append(None if rate is None else float(rate[1]))
    if not tokens:
        raise ReadError(f"none of the {len(lines)} lines ran a sequence")
    reading = lengths_behind(
        [(t, r) for t, r in zip(tokens, rates, strict=True) if r is not None],
        _TWO_DIGITS,
        num_steps,
        num_draft_tokens,
        rate_has_root,
    )
    mean = sum(t * w for t, w in zip(tokens, weights, strict=True)) / sum(weights)
    note = f"mean of {len(tokens)} log lines, weighted by running requests"
    whole = _gauge("SGLang log", mean, reading, note if len(tokens) > 1 else "one log line")
    return left_out(whole, len(lines) - len(tokens), len(lines), "lines")


def read_prometheus(
    text: str,
    *,
    labels: Mapping[str, str] | None = None,
    num_steps: int | None = None,
    num_draft_tokens: int | None = None,
    rate_has_root: bool | None = None,
) -> AcceptanceCounts:
    """The gauges of a scrape: tokens per step over the last interval, and the draft length.

    The other arguments are as in :func:`read_log`; the scrape's own gauges come first.
    """
    found = samples(text, ("sglang:spec_",), labels or {})
    if not found:
        raise ReadError("no series of speculative decoding is here: is speculation on?")
    one_model(found)
    tokens = gauge(found, "sglang:spec_accept_length")
    if tokens is None:
        raise ReadError("the gauge sglang:spec_accept_length is missing: was the text cut?")
    rate = gauge(found, "sglang:spec_accept_rate")
    steps = _whole(gauge(found, "sglang:spec_num_steps"), "sglang:spec_num_steps")
    drafts = _whole(gauge(found, "sglang:spec_num_draft_tokens"), "sglang:spec_num_draft_tokens")
    if tokens == 0:
        raise ReadError("sglang:spec_accept_length is 0: nothing has been drafted yet")
    reading = lengths_behind(
        [] if rate is None else [(tokens, rate)],
        _ALL_DIGITS,
        num_steps if steps is None else steps,
        num_draft_tokens if drafts is None else drafts,
        rate_has_root,
    )
    return _gauge("SGLang Prometheus gauges", tokens, reading, "the last log interval")


def _whole(value: float | None, name: str) -> int | None:
    if value is None or value == 0:
        return None
    if not 1 <= value <= 4096 or value != int(value):
        raise ReadError(f"{name}: found {value:g}; wanted is a whole number")
    return int(value)


def _gauge(found: str, tokens: float, reading: Reading, note: str) -> AcceptanceCounts:
    return AcceptanceCounts(
        ENGINE,
        found,
        gauge=tokens,
        length=reading.length,
        tree=reading.tree,
        notes=(note, *reading.notes, "a gauge: it holds no counts, and no acceptance by position"),
        cautions=reading.cautions,
    )


#: The counters of a response, by their present names and those before 0.5.10 or so.
RESPONSE_KEYS = (
    {"spec_verify_ct", "spec_num_correct_drafts", "spec_num_proposed_drafts"},
    {"spec_verify_ct", "spec_accept_token_num", "spec_draft_token_num"},
)
_HISTOGRAMS = ("spec_correct_drafts_histogram", "spec_accept_histogram")


def read_responses(
    text: str, *, ngram_counts_one_less: bool = False, lossy: bool = False
) -> AcceptanceCounts:
    """The ``meta_info`` of one or many responses, pooled.

    ``ngram_counts_one_less`` is for n-gram drafts before pull request 24965, whose accepted tokens
    are one too few in every verify step of a request.
    """
    found = documents(text, "SGLang responses")
    for names in RESPONSE_KEYS:
        tables = holding(found, names)
        if tables:
            break
    else:
        wanted = ", ".join(sorted(RESPONSE_KEYS[0]))
        raise ReadError(f"no object holds {wanted}: was the request drafted at all?")
    idle, parts = 0, []
    for i, table in enumerate(tables, 1):
        part = _response(table, f"response {i}", lossy, ngram_counts_one_less)
        if part is None:
            idle += 1
        else:
            parts.append(part)
    if not parts:
        raise ReadError(f"none of the {len(tables)} responses drafted a token")
    return left_out(pool(parts), idle, len(tables), "responses")


def _response(
    table: Mapping[str, Any], where: str, lossy: bool, one_less: bool
) -> AcceptanceCounts | None:
    old = "spec_accept_token_num" in table
    steps = count(table, "spec_verify_ct", where)
    accepted = count(table, "spec_accept_token_num" if old else "spec_num_correct_drafts", where)
    drafted = count(table, "spec_draft_token_num" if old else "spec_num_proposed_drafts", where)
    emitted = optional_count(table, "completion_tokens", where)
    if steps == 0 and accepted == 0:
        return None
    names = [name for name in _HISTOGRAMS if table.get(name)]
    histogram = row(table, names[0], where) if names else ()
    survived = None
    if sum(histogram):
        agree(where, histogram=(float(sum(histogram)), float(steps), 0))
        survived = survivors(histogram)
    rate = optional_number(table, "spec_accept_rate", where)
    read_rate(where, rate, accepted, drafted)
    notes: tuple[str, ...] = ()
    if one_less:
        accepted, survived = accepted + steps, None
        notes = ("one accepted token a step is added, which n-gram drafts did not count",)
    return AcceptanceCounts(
        ENGINE,
        "SGLang meta_info",
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        survived=survived,
        emitted=emitted,
        requests=1,
        lossy=lossy,
        notes=notes,
    )
