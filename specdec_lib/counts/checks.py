"""What counts cannot be, and what they are known to get wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from specdec_lib.counts.errors import ImpossibleCounts
from specdec_lib.formulas.counting import end_bias

if TYPE_CHECKING:
    from specdec_lib.counts.counts import AcceptanceCounts

#: Below this many steps a request its last step weighs (vllm-project/vllm#56101).
FEW_STEPS = 20

#: Half of the last digit that engines print of tokens per step, and a little for binary fractions.
ROUNDING = 0.005 + 1e-9

#: Whole numbers beyond this are no counters but rounding.
LARGEST = 2**53


def check(counts: AcceptanceCounts) -> None:
    """Raise ImpossibleCounts for numbers that no engine can have counted."""
    for problem in itertools.chain(_numbers(counts), _totals(counts), _positions(counts)):
        raise ImpossibleCounts(f"{counts.found}: {problem}")


def _numbers(counts: AcceptanceCounts) -> Iterator[str]:
    plain = ("steps", "drafted", "accepted", "length", "emitted", "requests")
    values = [(name, getattr(counts, name)) for name in plain]
    for name in ("survived", "offered"):
        values += [
            (f"{name}, position {i}", v) for i, v in enumerate(getattr(counts, name) or (), 1)
        ]
    for name, value in values:
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"{name} = {value!r} is no whole number"
        elif not 0 <= value <= LARGEST:
            yield f"{name} = {value} cannot be counted"
    for name, least in (("steps", 1), ("length", 1), ("requests", 1)):
        value = getattr(counts, name)
        if value is not None and value < least:
            yield f"{name} = {value}: nothing was drafted, so there is no acceptance to read"
    for i, rate in enumerate(counts.rates or (), 1):
        if not 0 <= rate <= 1:
            yield f"position {i}: an acceptance rate of {rate} is not within 0 and 1"


def _totals(counts: AcceptanceCounts) -> Iterator[str]:
    steps, drafted, accepted, length = counts.steps, counts.drafted, counts.accepted, counts.length
    if drafted is not None and accepted is not None and accepted > drafted:
        yield (
            f"{accepted} accepted of {drafted} drafted tokens is an acceptance rate of "
            f"{accepted / max(drafted, 1):.3g}, above 1: is the bonus token among the accepted "
            "ones, or do the two counts come from different times?"
        )
    if steps is not None and length is not None:
        if accepted is not None and accepted > steps * length:
            yield (
                f"{accepted} accepted tokens in {steps} steps are more than the draft length "
                f"{length} a step, so that tokens per step exceed {length + 1}: is the bonus token "
                "among the accepted ones, or the draft length that of another run?"
            )
        if drafted is not None and drafted > steps * length and not counts.tree:
            yield (
                f"{drafted} drafted tokens in {steps} steps are {drafted / steps:.3g} a step, more "
                f"than the draft length {length}: a tree was read as a chain; for a tree only "
                "tokens per step mean something"
            )
    if counts.gauge is not None:
        yield from _gauge(counts.gauge, length)


def _gauge(gauge: float, length: int | None) -> Iterator[str]:
    if not math.isfinite(gauge):
        yield f"tokens per step of {gauge} are no number"
    elif gauge < 1 - ROUNDING:
        yield (
            f"{gauge:g} tokens per step are below 1, yet every step commits one: is the bonus "
            "token missing, as in vLLM before pull request 17908?"
        )
    elif length is not None and gauge > length + 1 + ROUNDING:
        yield (
            f"{gauge:g} tokens per step exceed draft length + 1 = {length + 1}: is the draft "
            "length that of another run?"
        )


def _positions(counts: AcceptanceCounts) -> Iterator[str]:
    survived, offered, steps = counts.survived, counts.offered, counts.steps
    for name, values in (
        ("steps survived", survived), ("survival", counts.rates), ("steps offered", offered)
    ):  # fmt: skip
        for i, (before, after) in enumerate(itertools.pairwise(values or ()), 1):
            if after > before + 1e-9:
                hint = "" if name == "steps offered" else (
                    ": a token counts only where all before it were accepted, so survival cannot "
                    "rise; are these conditional rates, or positions of a tree?"
                )  # fmt: skip
                yield f"{name} rise from {before:g} at position {i} to {after:g}{hint}"
    for values in (survived, counts.rates):
        if counts.length is not None and len(values or ()) > counts.length:
            yield f"{len(values or ())} positions exceed the draft length {counts.length}"
    for name, row in (("survived", survived), ("offered", offered)):
        if row and steps is not None and row[0] > steps:
            yield f"position 1 has {row[0]} steps {name} of {steps} in all"
    if survived is not None and counts.accepted != sum(survived):
        yield (
            f"the positions add up to {sum(survived)} accepted tokens, the total says "
            f"{counts.accepted}: is a position missing, or are they from different times?"
        )
    if offered is not None:
        if survived is not None and len(survived) != len(offered):
            yield f"{len(survived)} positions survived, but {len(offered)} were offered"
        for i, (s, o) in enumerate(zip(survived or (), offered, strict=False), 1):
            if s > o:
                yield f"position {i}: {s} steps accepted it, {o} offered it"
        if counts.drafted != sum(offered):
            yield f"the positions offered add up to {sum(offered)}, drafted are {counts.drafted}"


def biases(counts: AcceptanceCounts) -> Iterator[str]:
    """What counts like these are known to get wrong, each a sentence."""
    steps, length = counts.steps, counts.length
    by_position = counts.survived is not None or counts.rates is not None
    if steps and length and counts.drafted is not None and by_position and counts.offered is None:
        missing = steps * length - counts.drafted
        if missing > 0 and not counts.tree:
            yield (
                f"{missing} of {steps * length} positions were never drafted, for the draft length "
                "changed from step to step; they count as rejected, so that survival is too low at "
                "later positions"
            )
    if steps and counts.requests and steps / counts.requests < FEW_STEPS:
        worst = ""
        if length:
            bound = end_bias(gamma=length, requests=counts.requests, steps=steps)
            worst = f" by up to {bound:.2g}"
        yield (
            f"{steps / counts.requests:.3g} steps a request are few: tokens accepted behind the "
            f"end of a sequence count, and tokens per step can be too high{worst}; emitted tokens "
            "over steps are free of that"
        )
    if steps and counts.emitted is not None and counts.accepted is not None:
        surplus = counts.accepted + steps - counts.emitted
        if surplus > 0:
            yield (
                f"{surplus} of the accepted tokens never came out; tokens per step are "
                f"{counts.emitted / steps:.4g} by what did"
            )
    if counts.survived is not None and counts.offered is not None:
        shares = [s / o for s, o in zip(counts.survived, counts.offered, strict=True) if o]
        if any(after > before for before, after in itertools.pairwise(shares)):
            yield (
                "survival rises where later positions were offered in fewer steps: longer drafts "
                "were made where acceptance was higher, so that positions cannot be compared"
            )
    if steps and counts.drafted is not None and counts.drafted < steps:
        yield (
            f"{counts.drafted} drafted tokens in {steps} steps: some steps drafted nothing, and "
            "count against acceptance"
        )
    if counts.tree:
        yield "a tree: tokens per step hold, a rate per drafted token does not"
    if counts.lossy:
        yield (
            "relaxed acceptance commits tokens that the target would not: these counts are of "
            "another output, and no guide to exact verification"
        )
