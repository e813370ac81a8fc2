"""Curves made of curves: easy and hard requests together, and contexts apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from specdec_lib.acceptance.curve import AcceptanceCurve, Floats
from specdec_lib.acceptance.depth import rate, shown
from specdec_lib.formula.domain import DomainError
from specdec_lib.formulas.acceptance import (
    context_acceptance,
    extended_survival,
    mixed_survival,
)

#: How far shares may be from one in sum, by rounding.
_ROUNDING = 1e-9


class Mixture(AcceptanceCurve):
    """Requests of several kinds, each with a curve of its own: survival is the mean of theirs.

    The conditional rate then rises with depth, because the easy requests are left over; a mean
    rate does not describe it.

    Parameters
    ----------
    curves
        The curve of each kind.
    shares
        The share of the verify steps that each kind has, together 1.  (Requests that are easy take
        fewer steps for the same tokens: a kind with a share w of the tokens and N tokens a step
        has a share of the steps in proportion to w/N.)

    Raises DomainError for shares that are negative or do not sum to 1, TypeError for what is no
    curve, ValueError for another number of shares than of curves.

    Examples
    --------
    >>> from specdec_lib.acceptance import Geometric
    >>> mixed = Mixture([Geometric(0.9), Geometric(0.5)], [0.5, 0.5])
    >>> mixed.rates([1, 2, 3]).round(3).tolist()
    [0.7, 0.757, 0.806]
    """

    def __init__(self, curves: Sequence[AcceptanceCurve], shares: Sequence[Any]) -> None:
        self.curves, given = tuple(curves), tuple(shares)
        for curve in self.curves:
            if not isinstance(curve, AcceptanceCurve):
                raise TypeError(f"a mixture is of acceptance curves, not {curve!r:.60}")
        if len(self.curves) != len(given) or not given:
            raise ValueError(f"{len(self.curves)} curves and {len(given)} shares; one each")
        self.shares = tuple(rate("mixture", "share", share) for share in given)
        total = sum(self.shares[1:], start=self.shares[0])
        if np.any(np.abs(total - 1) > _ROUNDING):
            raise DomainError(f"the shares of a mixture sum to {float(np.max(total)):g}, not to 1")
        self._law = mixed_survival(len(given))

    def __repr__(self) -> str:
        return f"Mixture({', '.join(map(repr, self.curves))})"

    @property
    def longest(self) -> float:
        """The longest draft that all of its curves know."""
        return min(curve.longest for curve in self.curves)

    @property
    def needs_context(self) -> bool:
        """Whether one of its curves depends on the context."""
        return any(curve.needs_context for curve in self.curves)

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of curves and shares."""
        parts = (*(curve.shape for curve in self.curves), *(share.shape for share in self.shares))
        return np.broadcast_shapes(*parts)

    def sliced(self, cut: Callable[[Floats], Floats]) -> Self:
        """See :meth:`AcceptanceCurve.sliced`."""
        curves = [curve.sliced(cut) for curve in self.curves]
        return type(self)(curves, [cut(share) for share in self.shares])

    def _survivals(self, longest: int, S: Floats | None) -> Iterator[Floats]:
        shares = {f"share_{j}": share for j, share in enumerate(self.shares, start=1)}
        for sigmas in zip(*(curve._survivals(longest, S) for curve in self.curves), strict=True):
            parts = {f"sigma_{j}": sigma for j, sigma in enumerate(sigmas, start=1)}
            # a sum of shares may exceed 1 in its last digit
            yield np.minimum(self._law(**shares, **parts), 1.0)


class WithContext(AcceptanceCurve):
    """A rate, the same at every position, that falls by ``drop`` with every doubling of the context
    beyond ``start``; never below 0.

    Parameters
    ----------
    alpha
        Rate in short contexts.
    drop
        What a doubling takes off it.
    start
        Tokens of context up to which it holds.

    Raises DomainError or TypeError for what lies outside its domain.

    Examples
    --------
    >>> WithContext(0.8, drop=0.05, start=4096).survival(1, S=[1024, 4096, 16384]).round(3).tolist()
    [0.8, 0.8, 0.7]
    """

    def __init__(self, alpha: Any, *, drop: Any, start: Any = 1024) -> None:
        title = "acceptance with context"
        self.alpha = rate(title, "alpha", alpha)
        self.drop = rate(title, "drop", drop)
        self.start = rate(title, "S_0", start)

    def __repr__(self) -> str:
        return f"WithContext({shown(self.alpha)}, drop={shown(self.drop)})"

    @property
    def needs_context(self) -> bool:
        """True."""
        return True

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of its parameters."""
        return np.broadcast_shapes(self.alpha.shape, self.drop.shape, self.start.shape)

    def sliced(self, cut: Callable[[Floats], Floats]) -> Self:
        """See :meth:`AcceptanceCurve.sliced`."""
        return type(self)(cut(self.alpha), drop=cut(self.drop), start=cut(self.start))

    def _survivals(self, longest: int, S: Floats | None) -> Iterator[Floats]:
        here = context_acceptance(S=S, alpha=self.alpha, drop=self.drop, S_0=self.start)
        sigma: Any = 1.0
        for _ in range(longest):
            sigma = np.asarray(extended_survival(sigma=sigma, alpha=here))
            yield sigma


class ByContext(AcceptanceCurve):
    """Curves measured at several contexts; between two of them survival goes in a straight line
    over the logarithm of the context, beyond the first and the last it stays.

    Parameters
    ----------
    curves
        The curve by tokens of context, two or more.

    Raises DomainError for a context that is not positive, TypeError for what is no curve,
    ValueError for fewer than two.
    """

    def __init__(self, curves: Mapping[float, AcceptanceCurve]) -> None:
        if len(curves) < 2:
            raise ValueError("curves by context are two or more; one alone does not depend on it")
        known = sorted((float(rate("curves by context", "S_0", S)), c) for S, c in curves.items())
        for _, curve in known:
            if not isinstance(curve, AcceptanceCurve):
                raise TypeError(f"an acceptance curve by context, not {curve!r:.60}")
        self.contexts = tuple(S for S, _ in known)
        self.curves = tuple(curve for _, curve in known)

    def __repr__(self) -> str:
        return f"ByContext({', '.join(f'{S:g}' for S in self.contexts)})"

    @property
    def longest(self) -> float:
        """The longest draft that all of its curves know."""
        return min(curve.longest for curve in self.curves)

    @property
    def needs_context(self) -> bool:
        """True."""
        return True

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape of its curves."""
        return np.broadcast_shapes(*(curve.shape for curve in self.curves))

    def sliced(self, cut: Callable[[Floats], Floats]) -> Self:
        """See :meth:`AcceptanceCurve.sliced`."""
        curves = (curve.sliced(cut) for curve in self.curves)
        return type(self)(dict(zip(self.contexts, curves, strict=True)))

    def _survivals(self, longest: int, S: Floats | None) -> Iterator[Floats]:
        assert S is not None
        places = np.interp(np.log(S), np.log(self.contexts), np.arange(len(self.contexts)))
        # each measured context has the weight of a tent over its place
        weights = [np.clip(1 - np.abs(places - j), 0, 1) for j in range(len(self.contexts))]
        law = mixed_survival(len(self.contexts))
        shares = {f"share_{j}": weight for j, weight in enumerate(weights, start=1)}
        for sigmas in zip(*(curve._survivals(longest, S) for curve in self.curves), strict=True):
            parts = {f"sigma_{j}": sigma for j, sigma in enumerate(sigmas, start=1)}
            yield np.minimum(law(**shares, **parts), 1.0)
