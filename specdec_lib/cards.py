"""Cards: records of models and drafters read from their tables, through the parser of configs.

A record carries the settings of a published configuration that decide a price, and its pedigree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from specdec_lib.architecture import (
    DRAFTER_KINDS,
    ConfigError,
    DrafterCard,
    Headline,
    Model,
    Weights,
    read_head,
)
from specdec_lib.records.names import UnknownName
from specdec_lib.records.provenance import DataError
from specdec_lib.records.toml import Bounds, Record, title


def read_model(where: str, table: Mapping[str, Any]) -> Model:
    """Read one model record; DataError if it is not valid, ConfigError if its config is not.

    ``precision`` overrides what the configuration states, as in ``Model.from_config``.
    """
    record = Record(where, table)
    config, name = record.take("config", dict), record.take("name", str)
    precision = record.take("precision", dict, default={})
    try:
        read = Model.from_config(config, name=f"{where}, config", precision=precision or None)
    except ConfigError:
        raise
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}, precision", str(error)) from error
    found = replace(
        read,
        name=name,
        aliases=record.texts("aliases"),
        repository=record.take("repository", str),
        headline=_headline(record, where) if record.has("headline") else None,
        provenance=record.provenance,
    )
    record.finish()
    return found


def _headline(record: Record, where: str) -> Headline:
    printed = Record(f"{where}, headline", record.take("headline", dict))
    sizes = [printed.datum(field, Bounds("1", 1e6, 1e14)) for field in ("total", "active")]
    printed.finish()
    return Headline(sizes[0].value, sizes[1].value, printed.provenance)


def read_drafter(
    where: str,
    table: Mapping[str, Any],
    citations: Mapping[str, str],
    find: Callable[[str], Model],
) -> DrafterCard:
    """Read one drafter record; DataError if it is not valid, ConfigError if its config is not.

    A head has a ``config`` of its own; a module for multi-token prediction is that of its one
    target, and a small ``model`` is one of the catalogue, looked up by ``find``.
    """
    record = Record(title(where, table), table, citations)
    method, targets = record.take("method", str), record.texts("targets")
    if method not in DRAFTER_KINDS:
        kinds = ", ".join(DRAFTER_KINDS)
        raise DataError(record.where, f"method: found {method!r}; it is one of {kinds}")
    card = DrafterCard(
        record.take("name", str),
        method,
        targets,
        (),
        None,
        None,
        record.provenance,
        record.texts("aliases"),
    )
    if method == "ngram":
        card = replace(card, block=0)
    elif method == "mtp":
        card = _module(card, record.where, _finding(find, f"{record.where}, targets"))
    elif method == "model":
        small = _finding(find, f"{record.where}, model")(record.take("model", str))
        parts, words = small.architecture.components, small.vocabulary
        assumed = small.assumptions
        card = replace(card, components=parts, vocabulary=words, assumptions=assumed)
    else:
        head = read_head(method, record.take("config", dict), f"{record.where}, config")
        card = replace(
            card,
            components=head.components,
            block=head.block,
            vocabulary=head.vocabulary,
            assumptions=head.assumptions,
        )
    record.finish()
    return card


def _finding(find: Callable[[str], Model], where: str) -> Callable[[str], Model]:
    """``find`` with errors that name file, record and field."""

    def found(name: str) -> Model:
        try:
            return find(name)
        except UnknownName as error:
            raise DataError(where, str(error)) from error

    return found


def _module(card: DrafterCard, where: str, find: Callable[[str], Model]) -> DrafterCard:
    """A module for multi-token prediction of the one target; it uses the target's own head."""
    if len(card.targets) != 1:
        raise DataError(where, f"targets: found {list(card.targets)}; a module has one target")
    target = find(card.targets[0])
    parts = target.architecture.mtp
    if not parts:
        raise DataError(where, f"targets: the module of {target.name} is not known")
    head = [
        Weights("head", part.layers, part.matrices, 0, part.precision, stored=False)
        for part in target.architecture.weights
        if part.key == "head" and part.matrices
    ]
    return replace(card, components=(*parts, *head), vocabulary=target.vocabulary)
