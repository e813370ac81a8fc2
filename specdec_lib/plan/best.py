"""Best: the draft lengths that a search found, with what they bring."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specdec_lib.plan.regimes import REGIMES
from specdec_lib.plan.search import Found


@dataclass(frozen=True, eq=False)
class Best:
    """The best draft length at every point: numbers for a scalar question, else arrays.

    Parameters
    ----------
    gamma
        Draft length; 0 where not speculating is best.
    speedup, tokens, step_ratio
        What it brings: the speedup, expected tokens a step, and verification and drafting over a
        plain step.
    margin
        By what fraction its speedup exceeds that of the next best length, ``next_gamma``; infinite
        where no other was tried.  Below a few per cent the two are the same in practice.
    longest
        The longest draft that was tried.
    warnings
        What a reader should know before believing it.
    """

    gamma: Any
    speedup: Any
    tokens: Any
    step_ratio: Any
    margin: Any
    next_gamma: Any
    longest: int
    warnings: tuple[str, ...]
    _codes: Callable[[Any], Any] = field(repr=False)

    @classmethod
    def of(
        cls, found: Found, longest: int, warnings: tuple[str, ...], codes: Callable[[Any], Any]
    ) -> Best:
        """The record of a search; ``codes`` gives the regimes at draft lengths as places in
        :data:`~specdec_lib.plan.regimes.REGIMES`."""
        with np.errstate(divide="ignore"):
            margin = found.speedup / np.maximum(found.next_speedup, 0.0) - 1
        return cls(
            _whole(found.gamma),
            _number(found.speedup),
            _number(found.tokens),
            _number(found.step_ratio),
            _number(margin),
            _whole(found.next_gamma),
            longest,
            warnings,
            codes,
        )

    @functools.cached_property
    def regime(self) -> Any:
        """What takes most of the target's step at the best draft length, by
        :meth:`Plan.regime`."""
        return _words(np.asarray(REGIMES)[self._places])

    @functools.cached_property
    def reason(self) -> Any:
        """Why it is this length and not another, in words."""
        gamma = np.asarray(self.gamma)
        kind = np.where(gamma == 0, 0, np.where(gamma == self.longest, 1, 2))
        texts = np.asarray([[text.format(name) for name in REGIMES] for text in _REASONS])
        return _words(texts[kind, self._places])

    @functools.cached_property
    def _places(self) -> Any:
        return self._codes(self.gamma)


#: Reasons by kind; the name is that of the regime.
_REASONS: tuple[str, ...] = (
    "off: every draft costs more than the tokens it brings; the step is {}-bound",
    "the longest draft that was tried: a longer one may bring more; the step is {}-bound",
    "one token more or less brings less than it costs; the step is {}-bound",
)


def _whole(values: Any) -> Any:
    return int(values) if np.ndim(values) == 0 else values


def _number(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values


def _words(values: Any) -> Any:
    return str(values) if np.ndim(values) == 0 else values
