"""The acceptance curve that counts support, and how far."""

from __future__ import annotations

from specdec_lib.acceptance import AcceptanceCurve, Geometric, PerPosition, acceptance_for_tokens
from specdec_lib.acceptance.positions import Beyond
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import NotCounted


def acceptance_curve(
    counts: AcceptanceCounts, *, beyond: Beyond | None = None
) -> tuple[AcceptanceCurve, str]:
    """The curve of some counts, and in a sentence what it stands on.

    Counts by position give a curve by position; longer drafts are refused by it unless ``beyond``
    says "zero" or "repeat".  Counts without positions give the one rate with which drafts of their
    length commit as many tokens: what that says of another length is an assumption.

    Raises NotCounted for counts that give neither, and for trees.
    """
    if counts.tree:
        raise NotCounted(f"{counts.found}: a tree has no acceptance by position of a chain")
    if counts.survived is not None or counts.rates is not None:
        rates = counts.conditional
        if rates:
            curve = PerPosition.conditional(rates, beyond=beyond)
            return curve, f"acceptance by position of drafts of {len(rates)} tokens"
    if counts.length is None:
        raise NotCounted(
            f"{counts.found}: neither positions nor a draft length; tokens per step alone fit many "
            "acceptances"
        )
    alpha = float(acceptance_for_tokens(counts.tokens, counts.length))
    return Geometric(alpha), (
        f"one rate, {alpha:.3f}, with which drafts of {counts.length} tokens commit "
        f"{counts.tokens:.3f}; by position it may differ, and so may other lengths"
    )
