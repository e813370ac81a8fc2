"""Domains: values that a symbol cannot take never become a number.

Every keyword argument of a Formula passes through here.  What is no number, is not finite, or lies
outside the domain that the notation gives its symbol raises, with the symbol's name and meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from specdec_lib.symbols import RELATIONS, Quantity, quantity


class DomainError(ValueError):
    """A value lies outside the domain of its symbol."""


def as_float(keyword: str, value: Any) -> Any:
    """``value`` as float64: an array that follows NumPy's protocols stays what it is.

    Raises TypeError for what is no real number: text, booleans, complex numbers, masked arrays.
    """
    meaning = quantity(keyword).meaning
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{keyword} ({meaning}): masked values are no numbers; fill or drop them")
    array = value if hasattr(value, "__array_function__") else np.asarray(value)
    kind = getattr(array.dtype, "kind", "O")
    if kind not in "iuf":
        raise TypeError(
            f"{keyword} ({meaning}) must be a real number or an array of them, not {value!r:.60}"
        )
    return array.astype(np.float64)


def _position(bad: Any) -> str:
    """Where in an array the first offending element stands; nothing for a scalar."""
    if np.ndim(bad) == 0:
        return ""
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f" at index {index[0] if len(index) == 1 else index}"


def _first(values: Any, bad: Any) -> float:
    return float(np.broadcast_to(values, np.shape(bad))[bad].flat[0])


def _check_one(title: str, known: Quantity, values: Any) -> None:
    above = values > known.low if known.low_open else values >= known.low
    below = values < known.high if known.high_open else values <= known.high
    bad = ~(above & below & np.isfinite(values))
    if np.any(bad):
        raise DomainError(
            f"{title}: {known.keyword} = {_first(values, bad):g}{_position(bad)} is outside "
            f"{known.domain} ({known.meaning})"
        )


def check(title: str, values: Mapping[str, Any]) -> None:
    """Raise DomainError unless every value lies in its symbol's domain and all agree.

    ``values`` maps keywords to float64 scalars or arrays; ``title`` says in the message what was
    being computed.  Relations between symbols (k ≤ E) are checked where both are given.
    """
    for keyword, value in values.items():
        _check_one(title, quantity(keyword), value)
    for smaller, larger, why in RELATIONS:
        if smaller in values and larger in values:
            bad = np.asarray(values[smaller] > values[larger])
            if np.any(bad):
                raise DomainError(
                    f"{title}: {smaller} = {_first(values[smaller], bad):g} exceeds "
                    f"{larger} = {_first(values[larger], bad):g}{_position(bad)}; {why}"
                )


def require_keywords(title: str, given: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise TypeError unless exactly the ``wanted`` keywords are ``given``."""
    given, wanted = list(given), list(wanted)
    refuse_unknown(title, given, wanted)
    missing = [w for w in wanted if w not in given]
    if missing:
        names = "; ".join(f"{m} ({quantity(m).meaning})" for m in missing)
        raise TypeError(f"{title}: missing {names}")


def refuse_unknown(title: str, given: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise TypeError if a keyword is ``given`` that is not ``wanted``."""
    wanted = list(wanted)
    unknown = [g for g in given if g not in wanted]
    if unknown:
        takes = ", ".join(wanted) or "no symbols"
        raise TypeError(f"{title}: no symbol {', '.join(unknown)} here; it takes {takes}")
