"""llama.cpp: the server's line for each request, and the counters of the older examples.

A server line counts drafted and accepted tokens of one request; since pull request 24536 of June
2026 it prints tokens per step and survival by position, too.  The draft length changes from step to
step (``p-min``, ``n-min``), so that positions that were not drafted count as rejected.

Source: tools/server and examples/speculative of ggml-org/llama.cpp.
"""

from __future__ import annotations

import re

from specdec_lib.counts.combine import pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ImpossibleCounts, ReadError
from specdec_lib.counts.jsontext import LONGEST_DRAFT, agree, as_count
from specdec_lib.counts.printed import counts_behind
from specdec_lib.formulas.counting import counted_rate, emitted_steps

ENGINE = "llama.cpp"

#: How a server line starts, with and without "rate".
MARK = re.compile(r"draft acceptance(?: rate)? = ")

_COUNTS = re.compile(r"(\d+\.\d{5}) \(\s*(\d+) accepted /\s*(\d+) generated\)")
_MEAN = re.compile(r", mean acceptance length =\s*(\d+\.\d\d)(?=,)")
_RATES = re.compile(r", acceptance rate per position = \((\d\.\d{3}(?:, \d\.\d{3})*)\)")


def read_server(text: str, *, length: int | None = None) -> AcceptanceCounts:
    """The ``draft acceptance`` lines of a server's log, pooled over its requests.

    Older lines say accepted and drafted tokens alone: ``length``, if every step drafted so many,
    gives the steps.  The ``statistics`` lines of a drafter repeat the same counts and are left out.
    """
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if MARK.search(line)]
    if not lines:
        raise ReadError("no line says 'draft acceptance ='")
    parts = [_line(i, line, length) for i, line in lines]
    if len(parts) > 1 and any(part.steps is None for part in parts):
        raise ReadError(
            f"{len(parts)} requests, of which some lines print no tokens per step: give length, if "
            "every step drafted so many tokens, or read one request"
        )
    return pool(parts)


def _line(i: int, line: str, length: int | None) -> AcceptanceCounts:
    where = f"line {i}"
    _, text = MARK.split(line, maxsplit=1)
    counts = _COUNTS.match(text)
    if counts is None:
        raise ReadError(f"{where}: accepted and generated tokens are missing or damaged")
    accepted, drafted = (as_count(int(counts[group]), where) for group in (2, 3))
    if accepted <= drafted:
        rate = counted_rate(accepted=accepted, drafted=drafted)
        agree(where, **{"draft acceptance": (float(counts[1]), rate, 5e-6 + 1e-9)})
    rest = text[counts.end() :]
    mean, rates = _MEAN.match(rest), None
    if mean is not None:
        rates = _RATES.match(rest, mean.end())
    if mean is not None and rates is not None:
        positions = [float(rate) for rate in rates[1].split(", ")]
        if len(positions) > LONGEST_DRAFT:
            raise ReadError(f"{where}: {len(positions)} positions")
        found = counts_behind(where, accepted, drafted, float(mean[1]), positions)
        return AcceptanceCounts(
            ENGINE,
            "llama.cpp server line",
            steps=found.steps,
            drafted=drafted,
            accepted=accepted,
            survived=found.survived,
            length=len(positions),
            requests=1,
            notes=found.notes,
            cautions=found.cautions,
        )
    if rest.strip():
        raise ReadError(f"{where}: what follows the counts is damaged: {rest.strip()!r:.60}")
    plain = AcceptanceCounts(
        ENGINE,
        "llama.cpp server line, before pull request 24536",
        drafted=drafted,
        accepted=accepted,
        requests=1,
    )
    return plain if length is None else plain.with_fixed_length(length)


_EXAMPLE = ("n_drafted", "n_accept", "n_predict")


def read_example(text: str) -> AcceptanceCounts:
    """The counters that the speculative examples print: ``n_drafted``, ``n_accept``, ``n_predict``.

    The last are the emitted tokens, and each step emits one more than it accepts, so that the steps
    follow.  ``n_draft`` is the most that a step may draft.
    """
    values = {}
    for name in (*_EXAMPLE, "n_draft"):
        # a value that no line feed follows may be cut
        found = re.findall(rf"\b{name}[ \t]*=[ \t]*(\S+)[ \t]*\r?\n", text)
        if not found:
            if name == "n_draft":
                continue
            raise ReadError(f"the counter {name} is missing: was the text cut?")
        if len(found) > 1:
            raise ReadError(f"{name} stands {len(found)} times: read one run at a time")
        if not (found[0].isascii() and found[0].isdecimal() and len(found[0]) <= 16):
            raise ReadError(f"{name}: found {found[0]!r:.40}; wanted is a whole number")
        values[name] = as_count(int(found[0]), name)
    drafted, accepted, emitted = (values[name] for name in _EXAMPLE)
    if accepted >= emitted:
        raise ImpossibleCounts(
            f"{accepted} accepted of {emitted} emitted tokens: each step emits one token more than "
            "it accepts"
        )
    return AcceptanceCounts(
        ENGINE,
        "llama.cpp example counters",
        steps=round(emitted_steps(emitted=emitted, accepted=accepted)),
        drafted=drafted,
        accepted=accepted,
        emitted=emitted,
        length=values.get("n_draft"),
        notes=("steps are emitted less accepted tokens",),
    )
