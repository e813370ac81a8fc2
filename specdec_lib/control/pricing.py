"""Pricing: expected tokens over cost for every draft length, and the length at its maximum."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from specdec_lib.acceptance.curve import Floats
from specdec_lib.control.compiled import compiled
from specdec_lib.formulas import acceptance, speculation

_speedup = compiled(speculation.speedup, "N", "C_0", "C_verify", "C_draft")
_longer = compiled(acceptance.extended_tokens, "N", "sigma")
_survival = compiled(acceptance.extended_survival, "sigma", "alpha")

#: Speedups that differ by less, relative to the larger, are the same; the shorter draft has it.
TIE = 1e-12


def survivals(rates: Iterable[float]) -> list[float]:
    """Survival at positions 1, 2, … from the acceptance of each."""
    found, sigma = [], 1.0
    for alpha in rates:
        sigma = _survival(sigma, alpha)
        found.append(sigma)
    return found


def tokens_by_length(sigmas: Iterable[float]) -> Floats:
    """Expected tokens of drafts of 0, 1, 2, … from the survival at positions 1, 2, …."""
    found = [1.0]
    for sigma in sigmas:
        found.append(_longer(found[-1], sigma))
    return np.array(found)


def speedups(tokens: Floats, seconds: Floats) -> Floats:
    """Speedup of every draft length from its expected tokens and the seconds of its round; the
    first is a plain step."""
    count = min(len(tokens), len(seconds))
    return np.asarray(_speedup(tokens[:count], seconds[0], seconds[:count], 0.0))


def best_length(tokens: Floats, seconds: Floats) -> tuple[int, Floats]:
    """The length of the highest speedup, the shorter of equal ones, and all the speedups.

    All lengths are compared: with experts the speedup may fall before it rises.
    """
    every = speedups(tokens, seconds)
    return int(np.argmax(every >= every.max() * (1 - TIE))), every
