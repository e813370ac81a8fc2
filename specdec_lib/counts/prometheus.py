"""The Prometheus text format: samples with their labels, of the series that were asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import LONGEST_DRAFT, as_count

_SAMPLE = re.compile(
    r"(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)\s*(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?\s*"
)
_LABEL = re.compile(r'\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*,?')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


@dataclass(frozen=True)
class Sample:
    """One line: the name without ``_total``, the labels, the value, and where it stands."""

    name: str
    labels: Mapping[str, str]
    value: float
    line: int


def samples(text: str, prefixes: tuple[str, ...], wanted: Mapping[str, str]) -> list[Sample]:
    """The samples whose name starts with one of ``prefixes`` and whose labels are the ``wanted``.

    Times of creation are left out.  Raises ReadError, with the line, for one of these that is
    damaged or may be cut; the text's other series are none of ours.
    """
    found = []
    last = len(text.splitlines()) if not text.endswith("\n") else 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip().startswith(prefixes):
            continue
        if number == last:
            raise ReadError(
                f"line {number}: the text ends without a line feed inside a series that is wanted, "
                "so that its value may be cut; every line of this format ends with one"
            )
        sample = _sample(line.strip(), number)
        if sample.name.endswith("_created"):
            continue
        if all(sample.labels.get(key) == value for key, value in wanted.items()):
            found.append(sample)
    return found


def _sample(line: str, number: int) -> Sample:
    match = _SAMPLE.fullmatch(line)
    if match is None:
        raise ReadError(
            f"line {number}: {line!r:.80} is no sample of the form name{{labels}} value"
        )
    try:
        value = float(match["value"])
    except ValueError:
        raise ReadError(f"line {number}: the value {match['value']!r:.40} is no number") from None
    labels = _labels(match["labels"] or "", number)
    return Sample(match["name"].removesuffix("_total"), labels, value, number)


def _labels(text: str, number: int) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while text[at:].strip():
        match = _LABEL.match(text, at)
        if match is None or match["name"] in found:
            raise ReadError(f"line {number}: {text!r:.80} are no labels")
        found[match["name"]] = re.sub(
            r"\\.", lambda escape: _ESCAPES.get(escape[0], escape[0]), match["value"]
        )
        at = match.end()
    return found


def one_model(found: list[Sample]) -> None:
    """Raise ReadError where samples of several models would be added up."""
    models = sorted({name for s in found if (name := s.labels.get("model_name")) is not None})
    if len(models) > 1:
        raise ReadError(
            f"these are the counters of {len(models)} models, {', '.join(models)}: say which, "
            f"labels={{'model_name': {models[0]!r}}}"
        )


def total(found: list[Sample], name: str) -> int | None:
    """The sum of a counter over its series (engines, ranks); None where there is none."""
    here = [sample for sample in found if sample.name == name]
    _no_twins(here)
    if not here:
        return None
    return sum(as_count(s.value, f"line {s.line}: {s.name}") for s in here)


def by_position(found: list[Sample], name: str, label: str) -> tuple[int, ...] | None:
    """The sums of a counter by the position in ``label``, which must run from 0 without a gap."""
    here = [sample for sample in found if sample.name == name]
    _no_twins(here)
    if not here:
        return None
    sums: dict[int, int] = {}
    for sample in here:
        text = sample.labels.get(label, "")
        if not (
            text.isascii() and text.isdecimal() and len(text) <= 4 and int(text) < LONGEST_DRAFT
        ):
            raise ReadError(f"line {sample.line}: {sample.name} has no {label} but {text!r:.40}")
        position = int(text)
        value = as_count(sample.value, f"line {sample.line}: {sample.name}")
        sums[position] = sums.get(position, 0) + value
    if sorted(sums) != list(range(len(sums))):
        raise ReadError(f"{name}: positions {sorted(sums)} do not run from 0 without a gap")
    return tuple(sums[position] for position in range(len(sums)))


def gauge(found: list[Sample], name: str) -> float | None:
    """A gauge that all its series agree on; None where there is none.

    Raises ReadError where they differ: gauges without counts cannot be averaged.
    """
    values = {sample.value for sample in found if sample.name == name}
    if not values:
        return None
    if len(values) > 1:
        raise ReadError(
            f"{name} has {len(values)} values, {', '.join(f'{v:g}' for v in sorted(values))}: a "
            "gauge does not say how many steps it stands for, so say which series, labels={…}"
        )
    return values.pop()


def _no_twins(found: list[Sample]) -> None:
    seen: dict[tuple[object, ...], int] = {}
    for sample in found:
        key = (sample.name, *sorted(sample.labels.items()))
        if key in seen:
            raise ReadError(
                f"lines {seen[key]} and {sample.line} are the same series: two scrapes in one "
                "text? Read them one by one, and take the difference"
            )
        seen[key] = sample.line
