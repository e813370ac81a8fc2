"""Definitions: what engines, papers and tools mean by acceptance, and what makes N of it.

One word stands for several quantities: tokens per step with the bonus token (N) or without it,
accepted over drafted tokens, the same with the root of the draft counted, and rates by position
that are survival or conditional.  Each definition here says which, and converts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specdec_lib.counts.errors import NotCounted
from specdec_lib.counts.plain import from_rates
from specdec_lib.formula import DomainError, Formula
from specdec_lib.formulas.acceptance import (
    expected_tokens_from_survival,
    expected_tokens_per_position,
)
from specdec_lib.formulas.counting import (
    counted_tokens,
    drafts_tokens,
    emitted_tokens,
    length_tokens,
    rated_tokens,
    rooted_tokens,
)


@dataclass(frozen=True)
class Kind:
    """One of the quantities that are called acceptance.

    ``value`` is the symbol for it in ``formula``, which gives N; without a formula it is N itself,
    a list by position, or no rate at all.
    """

    name: str
    bonus: str
    formula: Formula | None = None
    value: str = ""


TOKENS = Kind("tokens per step", "yes")
DRAFTS = Kind("accepted tokens per step", "no", drafts_tokens, "accepted")
RATE = Kind("accepted over drafted", "no", length_tokens, "rate")
UNEVEN_RATE = Kind("accepted over drafted, lengths differ", "no", rated_tokens, "rate")
ROOTED = Kind("committed over verified", "yes, and the root", rooted_tokens, "rooted_rate")
SURVIVAL = Kind("survival by position", "no", expected_tokens_from_survival(3))
CONDITIONAL = Kind("conditional rates by position", "no", expected_tokens_per_position(3))
HISTOGRAM = Kind("steps by accepted tokens", "no")
COUNTS = Kind("counters", "no", counted_tokens, "accepted")
EMITTED = Kind("emitted tokens", "yes", emitted_tokens, "emitted")
UNUSABLE = Kind("no tokens per step", "no")


@dataclass(frozen=True)
class Definition:
    """What one source calls acceptance.

    Parameters
    ----------
    source, metric
        Who prints it, under which name.
    meaning
        In R verify steps, D drafted and A accepted tokens, k the draft length.
    kind
        The quantity that it is.
    note
        What to beware of.
    """

    source: str
    metric: str
    meaning: str
    kind: Kind
    note: str = ""

    @property
    def name(self) -> str:
        """Source and metric, as :func:`find` takes it."""
        return f"{self.source}: {self.metric}"

    def tokens(self, value: float | Sequence[float], **beside: float) -> float:
        """N, the tokens per step, of a printed value.

        ``beside`` is what the kind needs beside it: ``gamma`` for a rate of chains, ``drafted`` and
        ``steps`` for one over drafts of several lengths, ``steps`` for counters.  Raises
        DomainError for a value that the kind cannot take, TypeError for what is missing, and
        NotCounted where no N follows.
        """
        kind = self.kind
        if kind is UNUSABLE:
            raise NotCounted(f"{self.name} gives no tokens per step: {self.note}")
        if kind in (SURVIVAL, CONDITIONAL, HISTOGRAM):
            if isinstance(value, int | float):
                raise TypeError(f"{self.name} is a list by position")
            return _of_list(kind, value)
        if not isinstance(value, int | float):
            raise TypeError(f"{self.name} is one number")
        if kind is TOKENS:
            if value < 1:
                raise DomainError(f"{self.name}: {value:g} tokens per step; is the bonus missing?")
            return float(value)
        assert kind.formula is not None
        found = float(kind.formula(**{kind.value: value, **beside}))
        if found < 1:
            raise DomainError(f"{self.name}: {value:g} would be {found:g} tokens per step, below 1")
        return found


def _of_list(kind: Kind, values: Sequence[float]) -> float:
    if kind is not HISTOGRAM:
        reading = "survival" if kind is SURVIVAL else "conditional"
        return from_rates(values, reading=reading).tokens
    steps = sum(values)
    accepted = sum(j * count for j, count in enumerate(values))
    return float(counted_tokens(accepted=accepted, steps=steps))


DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "vLLM log",
        "mean acceptance length",
        "1 + A/R",
        TOKENS,
        "since pull request 17908 of May 2025; before, A/R",
    ),
    Definition(
        "vLLM log before May 2025", "mean acceptance length", "A/R", DRAFTS, "1 too low as N"
    ),
    Definition(
        "vLLM log",
        "avg draft acceptance rate",
        "A/D, in per cent",
        UNEVEN_RATE,
        "with k only where every step drafted k; it falls with k where acceptance does not",
    ),
    Definition("vLLM log", "per-position acceptance rate", "accepted at i / R", SURVIVAL),
    Definition(
        "vLLM Prometheus",
        "spec_decode_num_drafts",
        "R",
        UNUSABLE,
        "it is the divisor: take num_accepted_tokens over it",
    ),
    Definition(
        "vLLM Prometheus",
        "spec_decode_num_draft_tokens",
        "D",
        UNUSABLE,
        "drafted tokens are not steps: take num_accepted_tokens over num_drafts",
    ),
    Definition(
        "vLLM Prometheus",
        "spec_decode_num_accepted_tokens",
        "A",
        COUNTS,
        "over the drafts of the same window",
    ),
    Definition(
        "vLLM response",
        "acceptance_histogram",
        "[j]: steps that accepted exactly j",
        HISTOGRAM,
        "steps without a draft are left out",
    ),
    Definition("SGLang", "spec_accept_length", "(A + R)/R", TOKENS, "a gauge over a log interval"),
    Definition(
        "SGLang before April 2026",
        "spec_accept_rate",
        "(A + R)/(R·(k + 1))",
        ROOTED,
        "pull request 23530; nothing accepted still reads 1/(k + 1)",
    ),
    Definition("SGLang", "spec_accept_rate", "A/(R·k)", RATE, "chains alone"),
    Definition(
        "TensorRT-LLM",
        "acceptanceLength",
        "(A + Q)/Q of an iteration, Q requests with drafts",
        TOKENS,
        "weigh by Q; 0 or 1 where nothing was drafted, to be left out",
    ),
    Definition(
        "TensorRT-LLM",
        "acceptance_rate_threshold",
        "A/D over a window",
        RATE,
        "below it speculation is switched off for good",
    ),
    Definition("llama.cpp", "draft acceptance", "A/D", UNEVEN_RATE, "the length differs by step"),
    Definition("llama.cpp", "mean acceptance length", "1 + A/R", TOKENS),
    Definition("llama.cpp", "acceptance rate per position", "accepted at i / R", SURVIVAL),
    Definition(
        "llama.cpp examples",
        "n_predict",
        "emitted tokens; R = n_predict − n_accept",
        EMITTED,
        "over those steps",
    ),
    Definition(
        "EAGLE", "tau", "tokens per forward pass of the target", TOKENS, "+1 is in the code"
    ),
    Definition(
        "EAGLE",
        "n-alpha",
        "acceptance at depth n + 1 of a chain, given all before",
        CONDITIONAL,
        "chains alone",
    ),
    Definition(
        "EAGLE-2 and EAGLE-3",
        "tau",
        "tokens generated in a cycle of drafting and verifying",
        TOKENS,
        "glossed as accepted tokens; the author counts the bonus",
    ),
    Definition(
        "speculators",
        "EAL",
        "Σ of products of conditional rates",
        DRAFTS,
        "from teacher-forced data: an upper estimate of serving",
    ),
    Definition("aiconfigurator", "nextn_accepted", "A/R", DRAFTS),
    Definition(
        "aiconfigurator before July 2026",
        "nextn_accept_rates",
        "five conditional rates",
        CONDITIONAL,
        "folded as a product; its default was optimistic and silent",
    ),
)


def find(source: str, metric: str, among: Iterable[Definition] = DEFINITIONS) -> Definition:
    """The definition of a source's metric.  LookupError if there is none."""
    known = list(among)
    for definition in known:
        if (definition.source, definition.metric) == (source, metric):
            return definition
    raise LookupError(
        f"no definition of {source}: {metric}; there are "
        + ", ".join(definition.name for definition in known)
    )
