"""The ledger of claims: what the book set out to settle, held against numbers that are computed.

``data/claims.toml`` says each claim in words, how it is derived, under which conditions it holds,
and which trials decide it.  A trial names a measure, where it is taken, and what it would have to
be if the claim were true; the number is computed from the book's formulas and facts, and the
verdict follows from the trials.
"""

from __future__ import annotations

from specdec_lib.ledger.claim import Claim, Part, Trial
from specdec_lib.ledger.reading import ledger
from specdec_lib.ledger.verdict import VERDICTS, of_parts, of_trials

__all__ = ["VERDICTS", "Claim", "Part", "Trial", "ledger", "of_parts", "of_trials"]
