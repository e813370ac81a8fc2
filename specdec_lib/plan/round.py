"""Round: what a round of drafting and verifying commits and takes, each by itself.

Acceptance moves the tokens, the engine moves the seconds; a speedup alone hides which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib.formulas import speculation


@dataclass(frozen=True, eq=False)
class Round:
    """A round: floats, or arrays that broadcast.

    Parameters
    ----------
    gamma, B
        Drafted tokens for each of B sequences.
    tokens
        Expected tokens that it commits for a sequence, the bonus token included.
    C_0, C_verify, C_draft
        Seconds of a plain step, of the verify pass and of drafting.
    """

    gamma: Any
    B: Any
    tokens: Any
    C_0: Any
    C_verify: Any
    C_draft: Any

    @property
    def seconds(self) -> Any:
        """Seconds of the round."""
        return self.C_verify + self.C_draft

    @property
    def step_ratio(self) -> Any:
        """The round over a plain step."""
        return speculation.break_even_tokens(**self._times, C_0=self.C_0)

    @property
    def speedup(self) -> Any:
        """Tokens per second over those of plain steps."""
        return speculation.speedup(**self._times, C_0=self.C_0, N=self.tokens)

    @property
    def token_time(self) -> Any:
        """Mean seconds between two tokens of a request (TPOT)."""
        return speculation.token_time(**self._times, N=self.tokens)

    @property
    def throughput(self) -> Any:
        """Tokens per second of all requests together."""
        return speculation.throughput(**self._times, N=self.tokens, B=self.B)

    @property
    def request_throughput(self) -> Any:
        """Tokens per second of one request."""
        return speculation.throughput(**self._times, N=self.tokens, B=1)

    @property
    def _times(self) -> dict[str, Any]:
        return {"C_verify": self.C_verify, "C_draft": self.C_draft}

    def __str__(self) -> str:
        if np.ndim(self.speedup):
            return repr(self)
        return (
            f"drafts of {self.gamma:g}: {self.tokens:.3g} tokens a round for each of {self.B:g} "
            f"requests, {self.seconds * 1e3:.4g} ms a round ({self.C_verify * 1e3:.4g} to verify, "
            f"{self.C_draft * 1e3:.4g} to draft); a plain step takes {self.C_0 * 1e3:.4g} ms for "
            f"one token, so {self.speedup:.3g} times as fast"
        )

    def against(self, before: Round) -> str:
        """Where a change of speed since another round comes from, in words; for scalar rounds.

        Raises ValueError for arrays.
        """
        if np.ndim(self.speedup) or np.ndim(before.speedup):
            raise ValueError("a comparison in words is of two scalar rounds")
        tokens = self.tokens / before.tokens - 1
        seconds = self.seconds / before.seconds - 1
        speed = before.token_time / self.token_time - 1
        verify = (self.C_verify - before.C_verify) / before.seconds
        drafting = (self.C_draft - before.C_draft) / before.seconds
        return (
            f"tokens a round {tokens:+.1%} (acceptance and draft length), seconds a round "
            f"{seconds:+.1%} (verifying {verify:+.1%}, drafting {drafting:+.1%}): tokens per "
            f"second {speed:+.1%}"
        )
