"""Domains: values that a symbol cannot take never become a number.

Every keyword argument of a Formula passes through here.  What is no number, is not finite, or lies
outside the domain that the notation gives its symbol raises, with the symbol's name and meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from specdec_lib.symbols import RELATIONS, Quantity, quantity


class DomainError(ValueError):
    """A value lies outside the domain of its symbol."""


def shown(value: object, most: int = 60) -> str:
    """A value as an error shows it: at most so many letters of it."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print whole numbers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[:most]}…"


def as_float(keyword: str, value: Any) -> Any:
    """``value`` of a symbol as float64; raises as :func:`floats` does, by keyword and meaning."""
    return floats(f"{keyword} ({quantity(keyword).meaning})", value)


def as_scalar(keyword: str, value: Any) -> float:
    """``value`` as one float; raises as :func:`as_float` does, and TypeError for an array."""
    number = as_float(keyword, value)
    if np.ndim(number) != 0:
        raise TypeError(f"{keyword} ({quantity(keyword).meaning}) takes one number, not an array")
    return float(number)


def floats(what: str, value: Any) -> Any:
    """``value`` as float64: an array that follows NumPy's protocols stays what it is.

    ``what`` names it in errors.  Raises TypeError for what is no real number, alone or inside a
    list: text, booleans, complex numbers, masked arrays; DomainError for a whole number beyond the
    range of floating point.
    """
    if hasattr(value, "__array_function__"):
        _refuse_masked(what, value)
        array = value
    else:
        array = _listed(what, value)
    if getattr(array.dtype, "kind", "O") not in "iuf":
        raise _no_number(what, value)
    return array.astype(np.float64)


def _no_number(what: str, value: Any) -> TypeError:
    return TypeError(f"{what} must be a real number or an array of them, not {shown(value)}")


def _refuse_masked(what: str, value: Any) -> None:
    """Raise TypeError for a masked array, or a dask array of them."""
    if isinstance(getattr(value, "_meta", value), np.ma.MaskedArray):
        raise TypeError(f"{what}: masked values are no numbers; fill or drop them")


def _listed(what: str, value: Any) -> Any:
    """A number, or numbers in nested lists, as an array; what NumPy would turn into numbers in
    silence is refused."""
    for element in _elements(value):
        _refuse_masked(what, element)
        if getattr(getattr(element, "dtype", None), "kind", "") == "b" or isinstance(element, bool):
            raise _no_number(what, value)
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        raise _no_number(what, value) from None
    if array.dtype.kind != "O" or not all(isinstance(e, int | float) for e in array.flat):
        return array
    # whole numbers that no integer type of NumPy holds
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise DomainError(f"{what}: {shown(value)} goes beyond floating point") from None


def _elements(value: Any) -> Iterator[Any]:
    """What a nested list holds; anything else holds itself."""
    if isinstance(value, list | tuple):
        for element in value:
            yield from _elements(element)
    else:
        yield value


def require_one_shape(title: str, values: Mapping[str, Any]) -> None:
    """Raise ValueError, naming the symbols, unless the shapes of all ``values`` broadcast."""
    shapes = {keyword: np.shape(value) for keyword, value in values.items()}
    try:
        np.broadcast_shapes(*(_known_shape(shape) for shape in shapes.values()))
    except ValueError:
        shown = ", ".join(f"{keyword} {shape}" for keyword, shape in shapes.items() if shape)
        raise ValueError(f"{title}: shapes that do not broadcast: {shown}") from None


def _known_shape(shape: tuple[float, ...]) -> tuple[int, ...]:
    """A shape whose unknown lengths, which dask gives as NaN, could be anything."""
    return tuple(1 if length != length else int(length) for length in shape)


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


def check(title: str, values: Mapping[str, Any], checked: Collection[str] = ()) -> None:
    """Raise DomainError unless every value lies in its symbol's domain and all agree.

    ``values`` maps keywords to float64 scalars or arrays; ``title`` says in the message what was
    being computed.  Relations between symbols (k ≤ E) are checked where both are given.  Values
    that are ``checked`` already are so against the others alone.
    """
    for keyword, value in values.items():
        if keyword not in checked:
            _check_one(title, quantity(keyword), value)
    for smaller, larger, why in RELATIONS:
        pair = {smaller, larger}
        if pair <= values.keys() and not pair <= set(checked):
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
