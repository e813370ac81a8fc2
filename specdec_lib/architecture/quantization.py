"""Quantization: the precision of each component, from a configuration or by the caller's word.

A quantization block that cannot be read is an error: bytes per weight decide the price, and a guess
would be wrong by a factor of two or four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specdec_lib.architecture.fields import ConfigError, Fields
from specdec_lib.architecture.modules import MODULES, Styles, full_names
from specdec_lib.architecture.precision import PRECISIONS, Precision, precision
from specdec_lib.architecture.rules import Scheme, Statement
from specdec_lib.architecture.schemes import LINEAR, METHODS

#: The components that have a precision of their own; all else is at 16 bits.
_KEYS: tuple[str, ...] = ("embedding", *LINEAR, "router", "head")
_WHERE = "quantization_config"


class Quantization:
    """The precision of each component, layer by layer.

    ``chosen`` by the caller goes before the rules of the configuration's ``scheme``, and those
    before what it says of whole components.
    """

    def __init__(self, fields: Fields, scheme: Scheme, chosen: Mapping[str, str]) -> None:
        self._fields = fields
        self._scheme = scheme
        self._chosen = chosen

    def at(
        self,
        key: str,
        where: Sequence[int] = (),
        modules: Styles | None = None,
        *,
        draft: bool = False,
    ) -> Precision:
        """The precision of a component in the layers ``where``.

        ``modules`` names its matrices where :data:`~specdec_lib.architecture.modules.MODULES` does
        not; ``draft`` says that the layer is a module for multi-token prediction.  Raises
        ConfigError where only a part of the component is kept out.
        """
        if key in self._chosen:
            return precision(self._chosen[key])
        whole = self._scheme.whole.get(key, "bf16")
        if not self._scheme.rules:
            return precision(whole)
        part: dict[str, str | None] = {}
        for names in full_names(modules or MODULES.get(key, ()), where, draft=draft):
            each = {name: self._rule(name) for name in names}
            if any(each.values()):
                met = {chosen or whole for chosen in each.values()}
                if len(met) == 1:
                    return precision(met.pop())
                part = each
        if part and not draft:
            self._refuse_part(key, part)
        if part:
            self._fields.assume(
                f"{key} of modules for multi-token prediction, partly kept, is bf16"
            )
            return precision("bf16")
        return precision(whole)

    def _rule(self, name: str) -> str | None:
        """The precision that the first rule which fits a matrix gives it; None where none does."""
        fitting = [rule for rule in self._scheme.rules if rule.pattern.fits(name)]
        return fitting[0].precision if fitting else None

    def _refuse_part(self, key: str, each: Mapping[str, str | None]) -> None:
        for rule in self._scheme.rules:
            if any(rule.pattern.fits(name) for name, chosen in each.items() if chosen):
                raise self._fields.error(
                    f"{_WHERE}.{rule.setting}",
                    rule.pattern.text,
                    f"whole components, where this is a part of {key}; "
                    f"precision={{{key!r}: …}} overrides it",
                )

    def leftovers(self) -> None:
        """Write down the patterns that mean nothing which is counted, other towers apart."""
        for rule in self._scheme.rules:
            pattern = rule.pattern
            if pattern.met or pattern.outside:
                continue
            fate = (
                "is too small to count apart" if pattern.small else "names nothing that is counted"
            )
            self._fields.assume(f"{_WHERE}.{rule.setting}: {pattern.text!r} {fate}")


def read_quantization(
    fields: Fields, override: str | Mapping[str, str] | None = None
) -> Quantization:
    """The precisions that a configuration states, with ``override`` above them.

    ``override`` is one precision for attention projections and feed-forward, or a mapping from
    component keys to precisions.  The configuration's own statement is not read at all where the
    override leaves nothing open.  Raises ConfigError for a statement that cannot be read,
    ValueError for a key or a precision that does not exist, TypeError for an override of another
    type.
    """
    if not isinstance(override, str | Mapping | None):
        raise TypeError(
            f"precision is a name such as 'fp8', or a mapping from components to names, "
            f"not {override!r:.80}"
        )
    given = dict.fromkeys(LINEAR, override) if isinstance(override, str) else dict(override or {})
    for key, name in given.items():
        if key not in _KEYS:
            raise ValueError(
                f"no component {key!r} has a precision; these have: {', '.join(_KEYS)}"
            )
        given[key] = precision(name).name
    if set(LINEAR) <= set(given):
        fields.skip(_WHERE, "quantization", "expert_dtype", "torch_dtype", "dtype")
        return Quantization(fields, Scheme(), given)
    return Quantization(fields, _stated(fields), given)


def _stated(fields: Fields) -> Scheme:
    stored = fields.get("torch_dtype", "dtype")
    if stored is None:
        fields.assume("torch_dtype is not stated: what is not quantized is taken to be bf16")
    elif stored[1] not in ("bfloat16", "float16"):
        raise fields.error(stored[0], stored[1], f"bfloat16 or float16, or precision={_names()}")
    block = fields.get(_WHERE, "quantization")
    scheme = Scheme() if block is None else _block(fields, block[1])
    experts = fields.get("expert_dtype")
    if experts is not None:
        if experts[1] != "fp4":
            raise fields.error("expert_dtype", experts[1], f"'fp4', or precision={_names()}")
        scheme.whole["moe"] = "mxfp4-w4a8"
    return scheme


def _block(fields: Fields, settings: Any) -> Scheme:
    if not isinstance(settings, Mapping):
        raise fields.error(_WHERE, settings, f"a table of settings; precision={_names()}")
    method = settings.get("quant_method")
    reader = METHODS.get(method) if isinstance(method, str) else None
    if reader is None:
        accepted = f"{' or '.join(map(repr, METHODS))}; precision={_names()} overrides it"
        raise fields.error(f"{_WHERE}.quant_method", method, accepted)
    block = Statement(settings, partial(_error, fields), fields.assume)
    scheme = reader(block)
    block.finish()
    return scheme


def _error(fields: Fields, setting: str, found: object, accepted: str) -> ConfigError:
    where = f"{_WHERE}.{setting}" if setting else _WHERE
    return fields.error(where, found, f"{accepted}; precision={_names()} overrides it")


def _names() -> str:
    return " | ".join(map(repr, PRECISIONS))
