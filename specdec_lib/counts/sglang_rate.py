"""What SGLang's accept rate means, found from the accept length that is printed beside it.

With m accepted of k drafted tokens a rate was (m + 1)/(k + 1) and is m/k.  Tokens per step say m,
so either meaning gives a k, and it must be whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from specdec_lib.counts.errors import ImpossibleCounts, ReadError
from specdec_lib.counts.jsontext import agree
from specdec_lib.formulas.acceptance import mean_acceptance
from specdec_lib.formulas.counting import counted_rate, rooted_tokens

#: No chain that is drafted in earnest is longer.
_LONGEST = 64


@dataclass(frozen=True)
class Reading:
    """The draft length, whether the draft is a tree, and how that was found."""

    length: int | None = None
    tree: bool = False
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


def lengths_behind(
    pairs: Sequence[tuple[float, float]],
    half: float,
    num_steps: int | None,
    num_draft_tokens: int | None,
    has_root: bool | None,
) -> Reading:
    """The draft length behind (tokens per step, rate) pairs that are printed to within ``half``.

    ``num_draft_tokens`` and ``num_steps`` are the server's flags, if known; ``has_root`` is the
    rate's meaning, if known.  Raises ImpossibleCounts for a rate above 1, and ReadError where no
    meaning fits.
    """
    for tokens, rate in pairs:
        if tokens < 1 - half:
            raise ImpossibleCounts(
                f"an accept length of {tokens:g} is below 1, yet every step commits one token"
            )
        if not rate >= 0:
            raise ReadError(f"an accept rate of {rate:g} is no rate")
        if rate > 1 + half:
            raise ImpossibleCounts(
                f"an accept rate of {rate:g} is above 1, which cannot be: SGLang had this defect "
                "(sgl-project/sglang#11572, #13212); use the accept length"
            )
    if num_draft_tokens is not None and num_draft_tokens < 2:
        raise ReadError(f"{num_draft_tokens} draft tokens are the root alone: nothing is drafted")
    if num_steps is not None and num_draft_tokens not in (None, num_steps + 1):
        return Reading(
            num_steps,
            tree=True,
            notes=(f"a tree of {num_draft_tokens} tokens, {num_steps} deep",),
            cautions=("its accept rate is ignored: in a tree it is no rate of a token",),
        )
    known = num_steps if num_draft_tokens is None else num_draft_tokens - 1
    meanings = [True, False] if has_root is None else [has_root]
    fitting = [
        (k, root)
        for k in (range(1, _LONGEST + 1) if known is None else [known])
        for root in meanings
        if all(_fits(tokens, rate, half, k, root) for tokens, rate in pairs)
    ]
    if not pairs:
        return Reading(known, notes=() if known is None else (f"draft length {known} as given",))
    if not fitting:
        tokens, rate = pairs[0]
        what = f"draft length {known}" if known is not None else "any draft length"
        raise ReadError(
            f"an accept rate of {rate:g} beside {tokens:g} tokens per step fits neither meaning of "
            f"the rate at {what}: is the draft a tree? Then give num_steps and num_draft_tokens"
        )
    lengths = sorted({k for k, _ in fitting})
    if len(lengths) > 1:
        listed = ", ".join(map(str, lengths[:6])) + (", …" if len(lengths) > 6 else "")
        caution = f"the draft length could be {listed}: give num_draft_tokens to settle it"
        return Reading(cautions=(caution,))
    meaning = {root for _, root in fitting}
    words = {
        True: "its accept rate counts the root of the draft, as before pull request 23530",
        False: "its accept rate is accepted over drafted tokens, as since pull request 23530",
    }
    note = words[meaning.pop()] if len(meaning) == 1 else "its accept rate fits both meanings"
    return Reading(lengths[0], notes=(note,))


def _fits(tokens: float, rate: float, half: float, k: int, has_root: bool) -> bool:
    """Whether a rate of this meaning can stand beside the tokens, each printed within ``half``."""
    if not 1 - half <= tokens <= k + 1 + half:
        return False
    clipped = min(max(tokens, 1.0), k + 1.0)
    if has_root:
        # compared in tokens, whose error is then that of the rate times its width
        back = rooted_tokens(rooted_rate=min(rate, 1.0), gamma=k)
        return math.isclose(back, tokens, rel_tol=0, abs_tol=half * (k + 2))
    exact = mean_acceptance(N=clipped, gamma=k)
    return math.isclose(exact, rate, rel_tol=0, abs_tol=half * (1 + 1 / k))


def read_rate(where: str, printed: float | None, accepted: int, drafted: int) -> None:
    """Check a response's rate, which has always been accepted over proposed drafts.

    Raises ImpossibleCounts above 1, ReadError where the counts say otherwise.
    """
    if printed is None or accepted > drafted:
        return  # more accepted than drafted tokens is refused with its own reason
    if printed > 1:
        raise ImpossibleCounts(f"{where}: an accept rate of {printed:g} is above 1")
    exact = counted_rate(accepted=accepted, drafted=drafted)
    agree(where, spec_accept_rate=(printed, exact, 0.005 + 1e-9))
