"""Workload: what a simulated engine serves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specdec_lib.acceptance import AcceptanceCurve
from specdec_lib.simulate.lengths import Lengths, as_lengths
from specdec_lib.simulate.load import Closed, Open
from specdec_lib.simulate.population import Population


@dataclass(frozen=True)
class Workload:
    """Requests, by when they come, how long they are and how well their drafts are accepted.

    Parameters
    ----------
    load
        :class:`Closed` or :class:`Open`.
    prompt
        Tokens of context that a request starts with: a number, or a law of lengths.
    output
        Tokens that it is answered with.  None for requests that never end, in a context that stays
        as it is: the constant conditions of the closed formula.
    acceptance
        A curve for all requests or a :class:`Population`; None for that of the plan.

    Raises TypeError or ValueError for what is none of these.
    """

    load: Closed | Open
    prompt: Lengths | int
    output: Lengths | int | None = None
    acceptance: AcceptanceCurve | Population | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.load, Closed | Open):
            raise TypeError(f"a load such as Closed(8) or Open(20, 64), not {self.load!r:.60}")
        object.__setattr__(self, "prompt", as_lengths("prompt", self.prompt))
        if self.output is not None:
            object.__setattr__(self, "output", as_lengths("output", self.output))
        elif isinstance(self.load, Open):
            raise ValueError("requests that come by themselves must end: give an output length")
        if self.acceptance is not None:
            object.__setattr__(self, "acceptance", _population(self.acceptance))

    def filled(self, acceptance: AcceptanceCurve) -> Workload:
        """The workload with an acceptance where it has none."""
        return self if self.acceptance is not None else replace(self, acceptance=acceptance)

    @property
    def population(self) -> Population:
        """Its acceptance.  Raises ValueError where it has none."""
        if not isinstance(self.acceptance, Population):
            raise ValueError("the workload has no acceptance: give one, or run it with a plan")
        return self.acceptance

    @property
    def contexts(self) -> tuple[int, int]:
        """The shortest and the longest context that it can come to."""
        prompt = as_lengths("prompt", self.prompt)
        added = 0 if self.output is None else as_lengths("output", self.output).high
        return prompt.low, prompt.high + added


def _population(acceptance: AcceptanceCurve | Population) -> Population:
    return acceptance if isinstance(acceptance, Population) else Population([acceptance])
