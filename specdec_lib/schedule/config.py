"""What engines are given: a configuration with its explanations; and the register of writers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specdec_lib.schedule.cell import span


class CannotExpress(ValueError):
    """An engine has no way to say this schedule; the message names the ranges and what to do."""


@dataclass(frozen=True)
class Loss:
    """A range of batches in which an engine drafts another length than wanted.

    ``last`` is None where the range has no end.  ``speedup`` is the expected speedup given up
    there, mean over the range; None where the schedule does not know it.
    """

    first: int
    last: int | None
    wanted: int
    given: int
    speedup: float | None

    def __str__(self) -> str:
        lost = (
            "at a price that this schedule does not know"
            if self.speedup is None
            else f"{self.speedup:.3g} of expected speedup lost"
        )
        where = span(self.first, self.last)
        return f"batch {where}: drafts {self.given} where {self.wanted} is wanted, {lost}"


class EngineConfig(Mapping[str, Any]):
    """The configuration of one engine: a mapping, its text, and what to know about it.

    Attributes
    ----------
    engine
        Name and version that it was written for.
    flags
        Command-line flags that go with it, in order.
    explanations
        What each part does and why; a sentence each.
    warnings
        What a user should check or may not expect.
    losses
        Where the engine will draft another length than wanted; empty unless ``fit`` was asked for.
    """

    def __init__(
        self,
        engine: str,
        settings: Mapping[str, Any],
        *,
        flags: tuple[str, ...] = (),
        explanations: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
        losses: tuple[Loss, ...] = (),
    ) -> None:
        self._settings = dict(settings)
        self.engine = engine
        self.flags = flags
        self.explanations = explanations
        self.warnings = warnings
        self.losses = losses

    def __getitem__(self, key: str) -> Any:
        return self._settings[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def json(self, indent: int | None = None) -> str:
        """The configuration as JSON; a whole-number key becomes text, which every engine reads."""
        return json.dumps(self._settings, indent=indent)

    def yaml(self) -> str:
        """The configuration as YAML: blocks, the innermost mappings and lists on one line."""
        return "".join(f"{line}\n" for line in _block(self._settings))

    def __repr__(self) -> str:
        words = [f"{self.engine}: {self.json()}"]
        words += [" ".join(self.flags)] if self.flags else []
        words += [f"- {sentence}" for sentence in self.explanations]
        words += [f"- beware: {sentence}" for sentence in self.warnings]
        return "\n".join([*words, *(f"- {loss}" for loss in self.losses)])


def _block(settings: Mapping[Any, Any], indent: str = "") -> Iterator[str]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and any(isinstance(v, Mapping | str) for v in value.values()):
            yield f"{indent}{_flow(key)}:"
            yield from _block(value, indent + "  ")
        else:
            yield f"{indent}{_flow(key)}: {_flow(value)}"


def _flow(value: Any) -> str:
    """A value on one line; text that is no plain word is quoted as JSON is, which YAML reads."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, str) and _is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_plain(word: str) -> bool:
    """Whether YAML reads the word back as itself: a name, and none that YAML takes for a value."""
    values = {"true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"}
    return word.isidentifier() and word.isascii() and word.casefold() not in values


Writer = Callable[..., EngineConfig]

_writers: dict[str, Writer] = {}


def register(engine: str, write: Writer) -> None:
    """Enter the writer of an engine, under the name by which :func:`writer` finds it."""
    _writers[engine] = write


def writer(engine: str) -> Writer:
    """The writer of an engine.  LookupError if none has this name."""
    if engine not in _writers:
        raise LookupError(f"no writer for {engine!r}; there are {', '.join(_writers) or 'none'}")
    return _writers[engine]
