"""Rules: a quantization block as a list of rules over modules, and the reading of its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdec_lib.architecture.fields import ConfigError
from specdec_lib.architecture.modules import Pattern


@dataclass
class Rule:
    """Modules that a list of the block, ``setting``, gives a precision."""

    setting: str
    pattern: Pattern
    precision: str


@dataclass
class Scheme:
    """A quantization block as read: a precision for whole components, and rules that go before."""

    whole: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)


class Statement:
    """A quantization block being read; its errors name the setting.

    ``error`` makes one, ``assume`` writes down a default that was taken.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        error: Callable[..., ConfigError],
        assume: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._error = error
        self.assume = assume
        self._read: set[str] = set()

    def error(self, setting: str, found: object, accepted: str) -> ConfigError:
        """An error about a setting, to be raised."""
        return self._error(setting, found, accepted)

    def get(self, setting: str, default: Any = None) -> Any:
        """A setting; ``default`` where it is absent or null, which is written down as an assumption
        unless it is empty."""
        self._read.add(setting)
        value = self._settings.get(setting)
        if value is not None:
            return value
        if default not in (None, [], {}):
            self.assume(f"quantization_config.{setting} is not stated: {str(default).lower()}")
        return default

    def skip(self, *settings: str) -> None:
        """Settings that change nothing here."""
        self._read.update(settings)

    def one_of(self, setting: str, accepted: Mapping[Any, str], default: Any = None) -> str:
        """What a setting's value stands for; an error where it stands for nothing."""
        value = self.get(setting, default)
        if isinstance(value, dict | list) or value not in accepted:
            raise self.error(setting, value, " or ".join(map(repr, accepted)))
        return accepted[value]

    def texts(self, *settings: str) -> list[tuple[str, list[str]]]:
        """Each of these settings that is stated, a list of texts, with its name."""
        found = [(setting, self.get(setting, [])) for setting in settings]
        for setting, value in found:
            if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                raise self.error(setting, value, "a list of texts")
        return found

    def finish(self) -> None:
        """Raise an error that names the settings which nothing has read."""
        stated = {key for key, value in self._settings.items() if value is not None}
        unread = sorted(stated - self._read)
        if unread:
            known = ", ".join(sorted(self._read))
            raise self.error("", ", ".join(unread), f"only the settings of this method: {known}")
