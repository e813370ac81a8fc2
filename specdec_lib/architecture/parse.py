"""Parse: a configuration to an Architecture, by the reader of its family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from specdec_lib.architecture.architecture import Architecture
from specdec_lib.architecture.components import Core, Weights, count
from specdec_lib.architecture.families import family
from specdec_lib.architecture.fields import ConfigError, Fields
from specdec_lib.architecture.quantization import read_quantization
from specdec_lib.architecture.stack import assemble, assemble_draft
from specdec_lib.formulas import weights

#: What every configuration must state.
REQUIRED: tuple[str, ...] = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "vocab_size",
)

#: Where configurations of models that also see or hear keep the settings of language.
_LANGUAGE: tuple[str, ...] = ("text_config", "llm_config", "language_config")

#: The settings that count modules of multi-token prediction.
_MODULES: tuple[str, ...] = (
    "num_nextn_predict_layers",
    "num_mtp_modules",
    "mtp_num_hidden_layers",
    "num_mtp_layers",
)


def language_settings(
    config: Mapping[str, Any], origin: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The settings of the language model, and what had to be assumed to find them.

    Nested ones stand above those around them, but for tied embeddings, which belong to the whole.
    Raises ConfigError where the nest is no table.
    """
    for name in config:
        if not isinstance(name, str):
            raise ConfigError(
                f"{origin}: found a setting {name!r:.80}; names of settings are texts"
            )
    nest = next((name for name in _LANGUAGE if config.get(name) is not None), None)
    if nest is None:
        return config, ()
    inner = config[nest]
    if not isinstance(inner, Mapping):
        raise ConfigError(f"{origin}: {nest}: found {inner!r}; accepted: a table of settings")
    around = {name: value for name, value in config.items() if not name.endswith("_config")}
    around |= {k: v for k, v in config.items() if k == "quantization_config"}
    stated = {name: value for name, value in inner.items() if value is not None}
    tied = "tie_word_embeddings"
    whole = around.get(tied)
    if whole is None or stated.get(tied, whole) == whole:
        return {**around, **stated}, ()
    assumed = f"{tied} is {str(whole).lower()}, though {nest} says otherwise"
    return {**around, **stated, tied: whole}, (assumed,)


@contextmanager
def _sized(origin: str) -> Iterator[None]:
    """Sizes that do not go together, or that no count can hold, are errors of the configuration."""
    try:
        yield
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{origin}: {error}") from error


def parse(
    config: Mapping[str, Any],
    origin: str,
    precision: str | Mapping[str, str] | None = None,
) -> Architecture:
    """Read a configuration.

    ``origin`` names it in errors; ``precision`` overrides what it states or leaves unreadable (see
    :func:`~specdec_lib.architecture.quantization.read_quantization`).  Raises ConfigError.
    """
    settings, assumed = language_settings(config, origin)
    fields = Fields(settings, origin)
    name, reader = family(settings, fields)
    fields.require(*REQUIRED)
    for text in assumed:
        fields.assume(text)
    with _sized(origin):
        stack = reader(fields)
    quantization = read_quantization(fields, precision)
    with _sized(origin):
        components, experts = assemble(stack, quantization)
        draft = assemble_draft(stack, quantization)
        for part in components:
            if isinstance(part, Core):
                part.coefficients()
    tied = fields.flag(
        "tie_word_embeddings", default=False, because="embedding and head are two matrices"
    )
    modules = fields.integer(*_MODULES, low=0) if fields.get(*_MODULES) else 0
    fields.skip("mtp_transformer_layers", "mtp_use_dedicated_embeddings", "use_mtp")
    vocabulary = fields.integer("vocab_size")
    with _sized(origin):
        matrix = count(weights.vocabulary_matrix, V=vocabulary, H=stack.hidden)
    bias = vocabulary if stack.head_bias else 0
    head = quantization.at("head")
    ends = [Weights("head", 1, matrix, 0 if tied else bias, head, stored=not tied)]
    if tied and bias:
        ends.append(Weights("head", 1, 0, bias, head))
    embedding = Weights("embedding", 1, matrix, 0, quantization.at("embedding"))
    quantization.leftovers()
    fields.leftovers()
    return Architecture(
        family=name,
        hidden_size=stack.hidden,
        layers=len(stack.layers),
        vocabulary=vocabulary,
        components=(embedding, *components, *ends),
        experts=experts,
        tied=tied,
        mtp_modules=modules,
        mtp=draft,
        assumptions=tuple(fields.assumptions),
    )
