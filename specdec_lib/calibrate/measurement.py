"""Measurement: one row of a user's own table, as it was measured, before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.formula.domain import DomainError, as_scalar, check

#: What was measured: seconds of a step of a given width; seconds of a round of drafting and
#: verifying; the round over a plain step; tokens per second with drafts over those without;
#: seconds between two tokens of a request; tokens per second of all requests.
Kind = Literal["step", "round", "ratio", "speedup", "token_time", "throughput"]

#: How an error names each kind.
NAMES: dict[Kind, str] = {
    "step": "step time",
    "round": "time of a round",
    "ratio": "ratio of a round to a plain step",
    "speedup": "speedup",
    "token_time": "time between tokens",
    "throughput": "tokens per second",
}


@dataclass(frozen=True)
class Measurement:
    """One measured number.  Make one with a class method; each says what the number is.

    Parameters
    ----------
    kind
        What was measured.
    value
        The number, in seconds, tokens per second or 1.
    B, S
        Sequences in the step and context tokens of each.
    gamma
        Drafted tokens of each sequence; 0 without speculation.
    T
        Tokens of each sequence that the target computes: γ + 1 in a verify pass.
    N
        Tokens committed in a round for each sequence, the bonus token included; None where the
        number does not depend on it.
    row
        What to call it in errors and reports: "row 3 of steps.csv".

    Raises DomainError or TypeError, naming the row, for a value that is out of its domain.

    Examples
    --------
    >>> Measurement.step(B=8, T=1, S=4096, seconds=6.1e-3).T
    1.0
    """

    kind: Kind
    value: float
    B: float
    S: float
    gamma: float = 0.0
    T: float = 1.0
    N: float | None = None
    row: str = ""

    def __post_init__(self) -> None:
        where = self.row or "measurement"
        for keyword in ("B", "S", "gamma", "T"):
            self._settle(keyword, getattr(self, keyword), where)
        if self.N is not None:
            self._settle("N", self.N, where)
            if not 1 <= self.N <= self.gamma + 1:
                raise DomainError(
                    f"{where}: N = {self.N:g} tokens a round; with {self.gamma:g} drafted it lies "
                    f"between 1 and {self.gamma + 1:g}, the bonus token included"
                )
        if self.gamma % 1:
            raise DomainError(f"{where}: gamma = {self.gamma:g} is no whole number of tokens")
        try:
            value = float(as_scalar("C", self.value))
        except (TypeError, DomainError) as error:
            raise type(error)(f"{where}: {NAMES[self.kind]}: {error}") from error
        if not 0 < value < np.inf:
            raise DomainError(f"{where}: {NAMES[self.kind]} = {value:g}; it is positive and finite")
        object.__setattr__(self, "value", value)

    def _settle(self, keyword: str, value: Any, where: str) -> None:
        try:
            number = as_scalar(keyword, value)
            check(where, {keyword: np.float64(number)})
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from error
        object.__setattr__(self, keyword, number)

    def __str__(self) -> str:
        at = f"B = {self.B:g}, S = {self.S:g}"
        with_ = f"gamma = {self.gamma:g}" if self.speculative else f"T = {self.T:g}"
        return f"{self.row or NAMES[self.kind]} ({with_}, {at})"

    @property
    def speculative(self) -> bool:
        """Whether a drafter took part in what was measured."""
        return self.kind != "step" and self.gamma > 0

    # --- ways to have measured -------------------------------------------------------------------

    @classmethod
    def step(
        cls, *, B: float, S: float, seconds: float, T: float = 1, row: str = ""
    ) -> Measurement:
        """The time of one pass of the target over T tokens of each sequence, nothing else in it."""
        return cls("step", seconds, B=B, S=S, T=T, row=row)

    @classmethod
    def round(
        cls, *, B: float, S: float, gamma: float, seconds: float, row: str = ""
    ) -> Measurement:
        """The time of one round: drafting γ tokens and verifying them."""
        return cls._drafted("round", seconds, B, S, gamma, None, row)

    @classmethod
    def ratio(cls, *, B: float, S: float, gamma: float, ratio: float, row: str = "") -> Measurement:
        """The time of a round over that of a plain step of the same batch and context."""
        return cls._drafted("ratio", ratio, B, S, gamma, None, row)

    @classmethod
    def speedup(
        cls, *, B: float, S: float, gamma: float, N: float, speedup: float, row: str = ""
    ) -> Measurement:
        """Decoded tokens per second with drafts of γ over those without, where a round committed N
        tokens for each sequence on the mean."""
        return cls._drafted("speedup", speedup, B, S, gamma, N, row)

    @classmethod
    def token_time(
        cls,
        *,
        B: float,
        S: float,
        seconds: float,
        gamma: float = 0,
        N: float | None = None,
        row: str = "",
    ) -> Measurement:
        """The mean time between two tokens of a request (TPOT), without the first one's prefill.

        With drafts it needs N, the tokens that a round committed.
        """
        return cls._drafted("token_time", seconds, B, S, gamma, N, row)

    @classmethod
    def throughput(
        cls,
        *,
        B: float,
        S: float,
        tokens_per_second: float,
        of: Literal["decode", "whole"] | None = None,
        gamma: float = 0,
        N: float | None = None,
        row: str = "",
    ) -> Measurement:
        """Tokens per second of all B requests together, while B of them decode.

        ``of`` says what it was counted over: "decode", the decoding alone; or "whole", a whole run
        with its prefill and its tail, from which no step time follows.  It has no default: raises
        CalibrationError where it is not stated, and for "whole".
        """
        where = row or "measurement"
        if of != "decode":
            found = "" if of is None else f"{of!r} is a whole run with prefill and tail in it. "
            raise CalibrationError(
                [
                    f"{where}: {tokens_per_second!r:.40} tokens per second: {found}Is it of "
                    "decoding alone, with all B requests running, or of a whole run with its "
                    "prefill? Say of='decode' (--throughput decode) for the first; the second "
                    "holds no step time: give the time between tokens (TPOT) in its place"
                ]
            )
        return cls._drafted("throughput", tokens_per_second, B, S, gamma, N, row)

    @classmethod
    def _drafted(
        cls, kind: Kind, value: float, B: float, S: float, gamma: float, N: float | None, row: str
    ) -> Measurement:
        where = row or "measurement"
        length = as_scalar("gamma", gamma)
        if kind in ("round", "ratio", "speedup") and not length >= 1:
            raise DomainError(f"{where}: a {NAMES[kind]} needs gamma, at least 1 drafted token")
        if kind in ("speedup", "token_time", "throughput"):
            if length and N is None:
                raise CalibrationError(
                    [
                        f"{where}: {NAMES[kind]} with {length:g} drafted tokens needs N, the "
                        "tokens that a round commits for each sequence, the bonus token included"
                    ]
                )
            N = 1.0 if N is None else N
        return cls(kind, value, B=B, S=S, gamma=gamma, T=length + 1, N=N, row=row)
