"""Drafters: what drafts tokens, and what that costs beside a target.

Heads (:func:`autoregressive`, :func:`mtp`, :func:`eagle1`), blocks (:func:`block`), models of their
own (:func:`independent`), look-ups (:func:`ngram`) and a plain :func:`fraction` of the target; one
by its name is :func:`named`.
"""

from __future__ import annotations

from specdec_lib.drafters.draft import Draft, Drafter
from specdec_lib.drafters.kinds import (
    autoregressive,
    block,
    eagle1,
    fraction,
    independent,
    mtp,
    named,
    ngram,
)
from specdec_lib.drafters.target import Law, as_target

__all__ = [
    "Draft",
    "Drafter",
    "Law",
    "as_target",
    "autoregressive",
    "block",
    "eagle1",
    "fraction",
    "independent",
    "mtp",
    "named",
    "ngram",
]
