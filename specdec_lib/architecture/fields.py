"""Fields: reading a model's configuration one setting at a time, guessing nothing in silence.

Every setting that is asked for is either stated, or missing with a default that is written down as
an assumption, or an error that names the field, what was found and what would be accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specdec_lib.architecture.limits import largest
from specdec_lib.formula.domain import shown


class ConfigError(ValueError):
    """A configuration cannot be read; the message names field, what was found, what is accepted."""


#: What a setting's name contains if it may change a model's size or cost.
_WEIGHTY = ("expert", "head", "rank", "window", "layer", "quant", "sparse", "mtp", "_dim", "bias")

#: Settings with such a name that change neither.
_HARMLESS = frozenset(
    {
        "attn_temperature_tuning",
        "ep_size",
        "index_share_for_mtp_iteration",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "layernorm_epsilon",
        "layerdrop",
        "max_window_layers",
        "num_hash_layers",
        "rotary_dim",
        "routed_scaling_factor",
        "use_routing_bias",
        "use_sliding_window",
    }
)

#: The most letters of a value that an error shows.
_SHOWN = 200


class Fields:
    """The settings of one configuration.

    ``origin`` names it in errors.  ``assumptions`` collects, in the order of reading, every default
    that was taken and every weighty setting that nothing read.
    """

    def __init__(self, settings: Mapping[str, Any], origin: str) -> None:
        self.origin = origin
        self.assumptions: list[str] = []
        self._settings = settings
        self._read: set[str] = set()

    def within(self, name: str, settings: Mapping[str, Any]) -> Fields:
        """The settings of a table inside this configuration; they share its assumptions."""
        inner = Fields(settings, f"{self.origin}: {name}")
        inner.assumptions = self.assumptions
        return inner

    def error(self, field: str, found: object, accepted: str) -> ConfigError:
        """An error about a field, to be raised."""
        return ConfigError(
            f"{self.origin}: {field}: found {shown(found, _SHOWN)}; accepted: {accepted}"
        )

    def assume(self, text: str) -> None:
        """Write down an assumption."""
        self.assumptions.append(text)

    def skip(self, *names: str) -> None:
        """Settings of no consequence for this family; they count as read."""
        self._read.update(names)

    def get(self, *names: str) -> tuple[str, Any] | None:
        """The first of several names for one setting that is stated, with its value.

        A null counts as not stated, a zero or false as stated.  Raises ConfigError where two names
        disagree.
        """
        self._read.update(names)
        stated = [(n, self._settings[n]) for n in names if self._settings.get(n) is not None]
        for name, value in stated[1:]:
            if value != stated[0][1]:
                raise self.error(name, value, f"the value of {stated[0][0]}, {stated[0][1]!r}")
        return stated[0] if stated else None

    def has(self, name: str) -> bool:
        """Whether a setting is stated; asking does not count as reading it."""
        return self._settings.get(name) is not None

    def require(self, *names: str) -> None:
        """Raise one ConfigError that names all of these settings that are missing."""
        missing = [name for name in names if self._settings.get(name) is None]
        if missing:
            raise ConfigError(
                f"{self.origin}: missing {', '.join(missing)}; a config.json must state them"
            )

    def _value(self, names: tuple[str, ...], default: Any, because: str, accepted: str) -> Any:
        found = self.get(*names)
        if found is not None:
            return found[1]
        if default is None:
            raise ConfigError(f"{self.origin}: missing {' or '.join(names)}; accepted: {accepted}")
        shown = "none" if default == [] else str(default).lower()
        self.assume(f"{names[0]} is not stated: {shown}, {because}")
        return default

    def integer(
        self, *names: str, low: int = 1, default: int | None = None, because: str = ""
    ) -> int:
        """A whole number from ``low`` to the :func:`~specdec_lib.architecture.limits.largest`
        plausible one; where absent, ``default`` as an assumption."""
        stated = self.get(*names)
        name, accepted = stated[0] if stated else names[0], f"a whole number of at least {low}"
        found = self._value(names, default, because, accepted)
        whole = isinstance(found, float) and found.is_integer()
        if isinstance(found, bool) or not (whole or isinstance(found, int)) or found < low:
            raise self.error(name, found, accepted)
        most = largest(name)
        if found > most:
            raise self.error(
                name, found, f"{accepted} and at most {most}, far beyond any model known"
            )
        return int(found)

    def flag(self, *names: str, default: bool | None = None, because: str = "") -> bool:
        """True or false; where absent, ``default`` as an assumption."""
        value = self._value(names, default, because, "true or false")
        if not isinstance(value, bool):
            raise self.error(names[0], value, "true or false")
        return value

    def at_most(self, *names: str, high: int, of: str) -> int:
        """A whole number from 1 to ``high``, required; ``of`` says of what there are so many."""
        value = self.integer(*names)
        if value > high:
            raise self.error(names[0], value, f"at most {high}, the number of {of}")
        return value

    def divisor(
        self, *names: str, whole: int, of: str, default: int | None = None, because: str = ""
    ) -> int:
        """A divisor of ``whole``; ``of`` says of what there are so many."""
        value = self.integer(*names, default=default, because=because)
        if whole % value:
            raise self.error(names[0], value, f"a divisor of {whole} {of}")
        return value

    def only(self, name: str, accepted: object, why: str) -> None:
        """Raise ConfigError unless a setting is absent or the one ``accepted`` value."""
        found = self.get(name)
        if found is not None and found[1] != accepted:
            raise self.error(name, found[1], f"{accepted!r}; {why}")

    def integers(self, name: str, default: list[int] | None = None, because: str = "") -> list[int]:
        """A list of whole numbers; where absent, ``default`` as an assumption."""
        value = self._value((name,), default, because, "a list of whole numbers")
        if not isinstance(value, list) or any(type(element) is not int for element in value):
            raise self.error(name, value, "a list of whole numbers")
        return value

    def numbered(
        self, name: str, layers: int, default: list[int] | None = None, because: str = ""
    ) -> list[int]:
        """A list of numbers of layers, counted from 0; where absent, ``default`` as an
        assumption."""
        value = self.integers(name, default, because)
        for layer in value:
            if not 0 <= layer < layers:
                raise self.error(name, layer, f"numbers of layers, from 0 to {layers - 1}")
        return value

    def words(self, name: str, accepted: tuple[str, ...]) -> list[str] | None:
        """A list of words out of ``accepted``, or None where the setting is absent."""
        found = self.get(name)
        if found is None:
            return None
        value = found[1]
        if not isinstance(value, list):
            raise self.error(name, value, f"a list of {' or '.join(accepted)}")
        for word in value:
            if word not in accepted:
                raise self.error(name, word, " or ".join(accepted))
        return value

    def leftovers(self) -> None:
        """Write down every weighty setting that is stated and that nothing has read."""
        for name, value in self._settings.items():
            weighty = any(part in name for part in _WEIGHTY)
            idle = value in (None, False, 0, "", [], {})
            if weighty and not idle and name not in self._read | _HARMLESS:
                self.assume(f"{name} = {value!r} is stated and not read")
