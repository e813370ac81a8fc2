"""Families: the reader of each ``model_type``, and of the class names that imply one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specdec_lib.architecture import deepseek_v4, latent, mixed, plain, untyped, varied
from specdec_lib.architecture.fields import ConfigError, Fields
from specdec_lib.architecture.stack import Stack
from specdec_lib.architecture.traits import TRAITS

Reader = Callable[[Fields], Stack]

#: The reader of each ``model_type``.
READERS: Mapping[str, Reader] = {
    **{name: partial(plain.read, traits=traits) for name, traits in TRAITS.items()},
    **dict.fromkeys(latent.FAMILIES, latent.read),
    **dict.fromkeys(latent.SPARSE_FAMILIES, partial(latent.read, sparse=True)),
    **dict.fromkeys(deepseek_v4.FAMILIES, deepseek_v4.read),
    "mimo_v2_flash": varied.read_mimo,
    "gemma4": varied.read_gemma,
    "gemma4_text": varied.read_gemma,
    "nemotron_h": mixed.read_nemotron,
    "kimi_linear": mixed.read_kimi,
}

#: What a configuration is called that states no family and is read by its fields.
UNTYPED = "by fields"


def family(config: Mapping[str, Any], fields: Fields) -> tuple[str, Reader]:
    """The family of a configuration and its reader.

    Where ``model_type`` is absent or not known, ``architectures`` may name the class of a known
    family; where neither is of help, a configuration without ``model_type`` is read by its fields.
    Either is written down as an assumption.  Raises ConfigError for an unknown ``model_type``.
    """
    stated = config.get("model_type")
    fields.skip("model_type", "architectures")
    if isinstance(stated, str) and stated in READERS:
        return stated, READERS[stated]
    implied = _by_class(config.get("architectures"))
    if implied:
        how = "is not stated" if stated is None else f"{stated!r} is not known"
        fields.assume(f"model_type {how}: read as {implied}, as architectures says")
        return implied, READERS[implied]
    if stated is None:
        return UNTYPED, untyped.read
    raise ConfigError(
        f"{fields.origin}: model_type {stated!r} is not read yet; read: {', '.join(READERS)}"
    )


def _by_class(classes: object) -> str:
    """The family whose model a class name is of, ``DeepseekV4ForCausalLM``; empty if none."""
    for name in classes if isinstance(classes, list) else ():
        stem = str(name).partition("For")[0].casefold()
        for known in READERS:
            if stem == known.replace("_", ""):
                return known
    return ""
