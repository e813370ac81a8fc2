"""vLLM 0.33, JSON: the metrics of a response, and the result of a benchmark.

Source: vllm/v1/spec_decode/metrics.py and vllm/benchmarks of release 0.33.0.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from specdec_lib.counts.combine import left_out, pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import (
    LONGEST_DRAFT,
    agree,
    count,
    documents,
    holding,
    index,
    number,
    optional_count,
    optional_number,
    row,
    survivors,
)

ENGINE = "vLLM"

#: Rates and means may be rounded to two digits.
_PRINTED = 0.005 + 1e-9

REQUEST_KEYS = {"num_spec_steps", "num_accepted_draft_tokens", "num_draft_tokens"}


def read_requests(text: str, *, lossy: bool = False) -> AcceptanceCounts:
    """The ``speculative_decoding`` metrics of one or many responses, pooled.

    They come with ``--per-request-spec-decode-metrics``, and leave out steps without a draft.  The
    ``usage`` beside them says how many tokens came out: a response whose end lies within an
    accepted draft counts tokens that nobody received (vllm-project/vllm#56101).
    """
    found = documents(text, "vLLM per-request metrics")
    tables = holding(found, REQUEST_KEYS)
    if not tables:
        raise ReadError(f"no object holds {', '.join(sorted(REQUEST_KEYS))}")
    completions = _completions(found)
    idle, parts = 0, []
    for i, table in enumerate(tables, 1):
        part = _request(table, f"request {i}", lossy, completions.get(id(table)))
        if part is None:
            idle += 1
        else:
            parts.append(part)
    if not parts:
        raise ReadError(f"none of the {len(tables)} requests drafted a token")
    return left_out(pool(parts), idle, len(tables), "requests")


def _completions(found: list[Any]) -> dict[int, int]:
    """Completion tokens of each response, by the identity of its table of speculative decoding."""
    known = {}
    for i, response in enumerate(holding(found, {"usage", "metrics"}), 1):
        usage, metrics = response["usage"], response["metrics"]
        if not (isinstance(usage, Mapping) and isinstance(metrics, Mapping)):
            continue
        completion = optional_count(usage, "completion_tokens", f"response {i}: usage")
        if completion is not None:
            known[id(metrics.get("speculative_decoding"))] = completion
    return known


def _request(
    table: Mapping[str, Any], where: str, lossy: bool, completion: int | None
) -> AcceptanceCounts | None:
    steps = count(table, "num_spec_steps", where)
    accepted = count(table, "num_accepted_draft_tokens", where)
    drafted = count(table, "num_draft_tokens", where)
    if steps == 0 and accepted == 0 and drafted == 0:
        return None
    survived, offered = _positions(table, where, steps, drafted)
    emitted = None
    if completion is not None:
        if completion < 1:
            raise ReadError(f"{where}: {steps} steps, yet no completion token")
        # the prefill gives the first token, and steps without a draft, which nobody counts, others
        emitted = min(completion - 1, accepted + steps)
    part = AcceptanceCounts(
        ENGINE,
        "vLLM per-request metrics",
        emitted=emitted,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        survived=survived,
        offered=offered,
        length=optional_count(table, "num_spec_tokens", where),
        requests=1,
        lossy=lossy,
    )
    agree(
        where,
        mean_acceptance_length=(
            optional_number(table, "mean_acceptance_length", where),
            part.tokens,
            _PRINTED,
        ),
        draft_acceptance_rate=(
            optional_number(table, "draft_acceptance_rate", where),
            part.rate,
            _PRINTED,
        ),
    )
    return part


def _positions(
    table: Mapping[str, Any], where: str, steps: int, drafted: int
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Steps that accepted, and that drafted, at least 1, 2, … tokens, as far as they are there."""
    if table.get("acceptance_histogram_by_draft_length") is not None:
        return _by_length(table, where, steps, drafted)
    if table.get("acceptance_histogram") is None:
        return None, None
    histogram = row(table, "acceptance_histogram", where)
    agree(where, acceptance_histogram=(float(sum(histogram)), float(steps), 0))
    survived = survivors(histogram)
    if table.get("per_step_drafted") is None:
        return survived, None
    drafts = row(table, "per_step_drafted", where)
    agree(where, per_step_drafted=(float(sum(drafts)), float(drafted), 0))
    if max(drafts, default=0) > LONGEST_DRAFT:
        raise ReadError(f"{where}: a step that drafts {max(drafts)} tokens cannot be")
    deepest = max(len(survived), *drafts, 0)
    survived += (0,) * (deepest - len(survived))
    return survived, tuple(sum(draft > i for draft in drafts) for i in range(deepest))


def _by_length(
    table: Mapping[str, Any], where: str, steps: int, drafted: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The same from a histogram for every draft length, in which steps of other lengths do not
    count as rejections.

    Releases after 0.33 have it.  Its shape is taken from its name, an object of histograms by draft
    length; sums that are not those of the counters beside it are refused.
    """
    name = "acceptance_histogram_by_draft_length"
    stated = table[name]
    if not isinstance(stated, Mapping):
        raise ReadError(f"{where}: {name}: found {stated!r:.60}; wanted are histograms by length")
    rows = {
        index(length, f"{where}: {name}"): row(stated, length, f"{where}: {name}")
        for length in stated
    }
    deepest = max(rows, default=0)
    total = [0] * (deepest + 1)
    for length, histogram in rows.items():
        if any(histogram[length + 1 :]):
            raise ReadError(f"{where}: {name}: more than {length} of {length} drafted tokens")
        for accepted, here in enumerate(histogram[: length + 1]):
            total[accepted] += here
    counted = {length: sum(histogram) for length, histogram in rows.items()}
    proposed = sum(length * number_of for length, number_of in counted.items())
    agree(
        where,
        **{
            f"sum of {name}": (float(sum(total)), float(steps), 0),
            f"drafted tokens of {name}": (float(proposed), float(drafted), 0),
        },
    )
    whole = table.get("acceptance_histogram")
    if whole is not None:
        pairs = itertools.zip_longest(row(table, "acceptance_histogram", where), total, fillvalue=0)
        if any(one != other for one, other in pairs):
            raise ReadError(f"{where}: {name} and acceptance_histogram are not of the same steps")
    offered = tuple(
        sum(here for length, here in counted.items() if length > i) for i in range(deepest)
    )
    return survivors(total), offered


BENCH_KEYS = {"spec_decode_num_drafts", "spec_decode_draft_tokens", "spec_decode_accepted_tokens"}


def read_bench(text: str) -> AcceptanceCounts:
    """The speculative fields of a result that ``vllm bench`` wrote."""
    tables = holding(documents(text, "vLLM bench result"), BENCH_KEYS)
    if len(tables) != 1:
        raise ReadError(
            f"{len(tables)} objects hold {', '.join(sorted(BENCH_KEYS))}; wanted is one"
        )
    table, where = tables[0], "bench result"
    names = ("num_drafts", "draft_tokens", "accepted_tokens")
    steps, drafted, accepted = (count(table, f"spec_decode_{name}", where) for name in names)
    rates = table.get("spec_decode_per_position_acceptance_rates")
    survived = None
    if rates is not None:
        if not isinstance(rates, list):
            raise ReadError(f"{where}: per-position acceptance rates: found {rates!r:.40}")
        shares = [number({"rate": rate}, "rate", where) for rate in rates]
        survived = tuple(round(share * steps) for share in shares)
        for i, (share, steps_here) in enumerate(zip(shares, survived, strict=True)):
            if abs(share * steps - steps_here) > 0.01:
                raise ReadError(f"{where}: position {i}: {share} of {steps} steps is no whole step")
    part = AcceptanceCounts(
        ENGINE,
        "vLLM bench result",
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        survived=survived,
        length=None if survived is None else len(survived),
        requests=optional_count(table, "completed", where) or None,
    )
    length = optional_number(table, "spec_decode_acceptance_length", where)
    printed = optional_number(table, "spec_decode_acceptance_rate", where)
    if printed is not None and abs(printed / 100 - part.rate) < abs(printed - part.rate):
        printed /= 100  # some versions write per cent
    agree(
        where,
        spec_decode_acceptance_length=(length, part.tokens, _PRINTED),
        spec_decode_acceptance_rate=(printed, part.rate, _PRINTED),
    )
    return part
