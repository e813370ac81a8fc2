"""Drafters: what drafts tokens, and what it costs beside a target.

fraction(0.10)                              a tenth of a plain step for each token
"""

from __future__ import annotations

from specdec_lib.drafters.draft import Draft, Drafter
from specdec_lib.drafters.fraction import Fraction
from specdec_lib.drafters.target import Law, as_target


def fraction(c: float) -> Fraction:
    """A drafter that costs ``c`` of a plain step C(B, 1, S) for each drafted token.

    Raises DomainError for a negative fraction, TypeError for what is no number.

    >>> fraction(0.10)
    fraction(0.1)
    """
    return Fraction(c)


__all__ = ["Draft", "Drafter", "Law", "as_target", "fraction"]
