"""vLLM 0.33: Prometheus counters and log lines; its JSON is in the module beside this one.

All its rates by position are survival: steps in which the position was accepted, over all steps
with a draft.  It counts how often each position was drafted, too, but exports that nowhere, so that
where the length changes from step to step survival is too low.

Source: vllm/v1/spec_decode/metrics.py of release 0.33.0; vllm-project/vllm#17908 for the bonus
token that mean acceptance lengths before May 2025 leave out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from specdec_lib.counts.combine import difference, left_out, pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import agree, as_count
from specdec_lib.counts.printed import counts_behind
from specdec_lib.counts.prometheus import by_position, one_model, samples, total
from specdec_lib.counts.vllm_json import read_bench as read_bench
from specdec_lib.counts.vllm_json import read_requests as read_requests
from specdec_lib.formulas.counting import counted_rate

ENGINE = "vLLM"

#: The counters, without the ``_total`` that Prometheus adds; llama.cpp's server has the same ones.
PREFIXES = {"vllm:spec_decode": "vLLM", "llamacpp:spec_decode": "llama.cpp"}


def read_prometheus(
    text: str, *, since: str | None = None, labels: Mapping[str, str] | None = None
) -> AcceptanceCounts:
    """The counters of a scrape, or what was counted between ``since``, an earlier one, and it.

    Series of several engines are added up; of several models, ``labels`` must choose one.  Without
    ``since`` the counts begin with the engine, its warm-up included.
    """
    if since is not None:
        parts = (read_prometheus(text, labels=labels), read_prometheus(since, labels=labels))
        return difference(*parts)
    found = samples(text, tuple(PREFIXES), labels or {})
    if not found:
        raise ReadError("no series of speculative decoding is here: is speculation on?")
    prefixes = sorted({prefix for s in found for prefix in PREFIXES if s.name.startswith(prefix)})
    if len(prefixes) > 1:
        raise ReadError(f"{' and '.join(prefixes)} are the counters of two engines: read one")
    one_model(found)
    prefix = prefixes[0]
    wanted = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
    totals = [total(found, f"{prefix}_{name}") for name in wanted]
    for name, value in zip(wanted, totals, strict=True):
        if value is None:
            raise ReadError(f"the counter {prefix}_{name} is missing: was the text cut?")
    survived = by_position(found, f"{prefix}_num_accepted_tokens_per_pos", "position")
    steps, drafted, accepted = totals
    return AcceptanceCounts(
        PREFIXES[prefix],
        f"{PREFIXES[prefix]} Prometheus counters",
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        survived=survived,
        length=None if survived is None else len(survived),
        notes=() if survived is not None else ("no counter by position",),
    )


_FIELDS = {
    "Mean acceptance length": r"(\d+\.\d\d)",
    "Accepted": r"(\d+) tokens",
    "Drafted": r"(\d+) tokens",
    "Per-position acceptance rate": r"(\d\.\d{3}(?:, \d\.\d{3})*)",
    "Avg Draft acceptance rate": r"(\d+\.\d)%",
}

MARK = "SpecDecoding metrics:"


def read_log(text: str, *, mean_has_bonus: bool | None = None) -> AcceptanceCounts:
    """The ``SpecDecoding metrics`` lines of a log, pooled.

    The line prints no steps: they are found from its digits.  Whether its mean acceptance length
    has the bonus token is found by the sum over the positions, unless ``mean_has_bonus`` says so.
    """
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if MARK in line]
    if not lines:
        raise ReadError(f"no line says {MARK!r}")
    idle, parts = 0, []
    for i, line in lines:
        part = _line(i, line.split(MARK, 1)[1], mean_has_bonus)
        if part is None:
            idle += 1
        else:
            parts.append(part)
    if not parts:
        raise ReadError(f"none of the {len(lines)} lines drafted a token")
    return left_out(pool(parts), idle, len(lines), "lines")


def _line(i: int, text: str, mean_has_bonus: bool | None) -> AcceptanceCounts | None:
    if re.search(r"[\s,]Accepted: 0 tokens, Drafted: 0 tokens,", text):
        return None  # its means are divisions by zero
    values = {}
    for field, pattern in _FIELDS.items():
        match = re.search(rf"(?:^|[\s,]){re.escape(field)}: {pattern}(?=,|\s*$)", text)
        if match is None:
            raise ReadError(f"line {i}: {field!r} is missing or damaged")
        values[field] = match[1]
    where = f"line {i}"
    accepted = as_count(int(values["Accepted"]), f"{where}: Accepted")
    drafted = as_count(int(values["Drafted"]), f"{where}: Drafted")
    rates = [float(rate) for rate in values["Per-position acceptance rate"].split(", ")]
    mean = float(values["Mean acceptance length"])
    cautions: tuple[str, ...] = ()
    if mean_has_bonus is None:
        mean_has_bonus = abs(1 + sum(rates) - mean) <= abs(sum(rates) - mean)
    if not mean_has_bonus:
        mean += 1
        cautions = (
            "its mean acceptance length leaves out the bonus token, as vLLM did before pull "
            "request 17908: 1 is added",
        )
    share = float(values["Avg Draft acceptance rate"]) / 100
    if accepted <= drafted:
        rate = counted_rate(accepted=accepted, drafted=drafted)
        agree(where, **{"Avg Draft acceptance rate": (share, rate, 0.0005 + 1e-9)})
    found = counts_behind(where, accepted, drafted, mean, rates)
    return AcceptanceCounts(
        ENGINE,
        "vLLM log line",
        steps=found.steps,
        drafted=drafted,
        accepted=accepted,
        survived=found.survived,
        length=len(rates),
        notes=found.notes,
        cautions=(*cautions, *found.cautions),
    )
