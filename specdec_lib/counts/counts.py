"""AcceptanceCounts: what an engine counted of its drafts, in one meaning whatever the engine.

R verify steps, D drafted tokens, A accepted ones with the bonus token left out, and by position the
steps in which all drafted tokens up to it were accepted.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from specdec_lib.counts.checks import biases, check
from specdec_lib.counts.display import as_html, as_text
from specdec_lib.counts.errors import ImpossibleCounts, NotCounted
from specdec_lib.formulas.acceptance import expected_tokens_from_survival
from specdec_lib.formulas.counting import counted_rate, counted_tokens, emitted_tokens


@dataclass(frozen=True)
class AcceptanceCounts:
    """Counted drafts.  What is None was not counted.

    Parameters
    ----------
    engine, found
        Who counted, and in which format it was found.
    steps, drafted, accepted
        R, D and A: verify steps with a draft, drafted tokens, and accepted ones without the bonus.
    survived
        Steps in which all of the first 1, 2, … drafted tokens were accepted; never rising.
    offered
        Steps that drafted at least 1, 2, … tokens; without it every position is divided by all
        steps, which is too many where the length changes.
    rates
        Survival by position as printed, where the counts behind it cannot be had.
    length
        The configured draft length.
    gauge
        Tokens per step, bonus included, as printed, where the counts behind it cannot be had.
    emitted, requests
        Tokens that came out, and requests that they belong to.
    tree
        The draft branched: accepted over drafted tokens is no rate of a token then.
    lossy
        Accepted by a rule that changes the output (relaxed, typical or threshold acceptance).
    notes, cautions
        What a reader did, and what it warns of.

    Raises ImpossibleCounts for numbers that no engine can have counted.
    """

    engine: str
    found: str
    _: KW_ONLY
    steps: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    survived: tuple[int, ...] | None = None
    offered: tuple[int, ...] | None = None
    rates: tuple[float, ...] | None = None
    length: int | None = None
    gauge: float | None = None
    emitted: int | None = None
    requests: int | None = None
    tree: bool = False
    lossy: bool = False
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("survived", "offered", "rates", "notes", "cautions"):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, tuple(value))
        if self.accepted is None and self.survived is not None:
            object.__setattr__(self, "accepted", sum(self.survived))
        if self.drafted is None and self.offered is not None:
            object.__setattr__(self, "drafted", sum(self.offered))
        check(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Known biases of these counts, and what their reader warns of."""
        return tuple(dict.fromkeys((*self.cautions, *biases(self))))

    @property
    def tokens(self) -> float:
        """N: tokens committed per step, the bonus token included."""
        if self.steps is not None and self.accepted is not None:
            return float(counted_tokens(accepted=self.accepted, steps=self.steps))
        if self.gauge is not None:
            return self.gauge
        if self.rates is not None:
            return tokens_from_survival(self.rates)
        raise NotCounted(
            f"{self.found}: tokens per step need the verify steps, which are not there; "
            "with a fixed draft length they are drafted / length, .with_fixed_length(length)"
        )

    @property
    def tokens_out(self) -> float:
        """N from the tokens that came out: free of tokens accepted behind an end of sequence."""
        if self.steps is None or self.emitted is None:
            raise NotCounted(f"{self.found}: emitted tokens and steps were not both counted")
        return float(emitted_tokens(emitted=self.emitted, steps=self.steps))

    @property
    def rate(self) -> float:
        """Accepted over drafted tokens, which depends on the draft length."""
        if self.tree:
            raise NotCounted(
                f"{self.found}: the draft is a tree, and accepted over drafted tokens is no "
                "acceptance rate of a token there; use tokens per step"
            )
        if self.drafted is None or self.accepted is None:
            raise NotCounted(f"{self.found}: drafted and accepted tokens were not both counted")
        return float(counted_rate(accepted=self.accepted, drafted=self.drafted))

    @property
    def survival(self) -> tuple[float, ...]:
        """σ: share of the steps in which all of the first 1, 2, … tokens were accepted.

        Of the steps that offered the position, where they were counted.
        """
        if self.survived is not None and self.offered is not None:
            pairs = zip(self.survived, self.offered, strict=True)
            return tuple(s / o for s, o in pairs if o)
        if self.survived is not None and self.steps is not None:
            return tuple(s / self.steps for s in self.survived)
        if self.rates is not None:
            return self.rates
        raise NotCounted(
            f"{self.found}: acceptance was not counted by position; vLLM, TensorRT-LLM and "
            "llama.cpp print it, SGLang in the histogram of a response's meta_info"
        )

    @property
    def conditional(self) -> tuple[float, ...]:
        """α₁, α₂, …: acceptance of a position where all before it were accepted.

        It ends where nothing comes so far, and is 1 where survival rises, which it can only where
        positions were offered in different steps.
        """
        found: list[float] = []
        before = 1.0
        for here in self.survival:
            if before == 0:
                break
            found.append(min(here / before, 1.0))
            before = here
        return tuple(found)

    @property
    def histogram(self) -> tuple[int, ...]:
        """Steps that accepted exactly 0, 1, 2, … drafted tokens."""
        if self.survived is None or self.steps is None:
            raise NotCounted(f"{self.found}: steps were not counted by accepted tokens")
        tails = (self.steps, *self.survived, 0)
        return tuple(here - deeper for here, deeper in itertools.pairwise(tails))

    def beyond(self, gamma: int) -> float:
        """Tokens per step that the positions after ``gamma`` add: what longer drafts are worth."""
        return sum(self.survival[gamma:])

    def with_fixed_length(self, gamma: int) -> AcceptanceCounts:
        """The same counts, every step having drafted ``gamma`` tokens: that gives the steps.

        Raises ImpossibleCounts where the drafted tokens are no whole number of such steps.
        """
        if self.drafted is None:
            raise NotCounted(f"{self.found}: drafted tokens were not counted")
        if gamma < 1 or self.drafted % gamma:
            raise ImpossibleCounts(
                f"{self.found}: {self.drafted} drafted tokens are no whole number of steps of "
                f"{gamma}: the length was another, or changed"
            )
        steps = self.drafted // gamma
        if self.steps not in (None, steps):
            raise ImpossibleCounts(
                f"{self.found}: {self.drafted} drafted tokens are {steps} steps of {gamma}, yet "
                f"{self.steps} were counted"
            )
        note = f"steps taken from drafted tokens, {gamma} in every step"
        return replace(self, steps=steps, length=gamma, notes=(*self.notes, note))

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def tokens_from_survival(survival: Sequence[float]) -> float:
    """N = 1 + Σ σᵢ of a draft with these survivals."""
    values = {f"sigma_{i}": value for i, value in enumerate(survival, start=1)}
    return float(expected_tokens_from_survival(len(survival))(**values))
