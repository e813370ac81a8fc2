"""Patterns: which layers of a model are of which kind, in the ways configurations say it."""

from __future__ import annotations

from typing import Literal

from specdec_lib.architecture.fields import Fields

FULL, SLIDING = "full_attention", "sliding_attention"
CHUNKED, LINEAR = "chunked_attention", "linear_attention"

#: How a family says which layers are routed: all of them; every ``decoder_sparse_step``-th but
#: those in ``mlp_only_layers``; those after ``first_k_dense_replace``, with or without a step;
#: every ``interleave_moe_layer_step``-th or those in ``moe_layers``; or whichever of these is
#: stated.
Routing = Literal["all", "sparse step", "prefix", "prefix and step", "interleaved", "stated"]


def listed(
    fields: Fields, name: str, layers: int, accepted: tuple[str, ...]
) -> tuple[str, ...] | None:
    """A list of one word a layer, None where it is absent; ConfigError for another length."""
    words = fields.words(name, accepted)
    if words is not None and len(words) != layers:
        raise fields.error(name, f"{len(words)} entries", f"{layers}, one a layer")
    return None if words is None else tuple(words)


def flags(fields: Fields, name: str, layers: int) -> tuple[bool, ...] | None:
    """A list of one 0 or 1 a layer, None where it is absent or a single number."""
    found = fields.get(name)
    if found is None or isinstance(found[1], int | float):
        return None
    entries = found[1]
    whole = isinstance(entries, list) and all(type(entry) is int for entry in entries)
    if not whole or len(entries) != layers or not set(entries) <= {0, 1}:
        raise fields.error(name, entries, f"a number, or {layers} entries of 0 or 1, one a layer")
    return tuple(map(bool, entries))


#: The settings by which :data:`Routing` is stated.
_SETTINGS = (
    *("first_k_dense_replace", "moe_layer_freq", "decoder_sparse_step", "mlp_only_layers"),
    *("interleave_moe_layer_step", "moe_layers"),
)


def routed_layers(fields: Fields, layers: int, routing: Routing) -> tuple[bool, ...]:
    """For each layer whether it is routed, by ``mlp_layer_types`` or by the settings of
    ``routing``; ConfigError where the two disagree."""
    kinds = listed(fields, "mlp_layer_types", layers, ("dense", "sparse"))
    if kinds is None:
        return _routed(fields, layers, routing)
    named = tuple(kind == "sparse" for kind in kinds)
    if any(map(fields.has, _SETTINGS)) and named != _routed(fields, layers, routing):
        raise fields.error("mlp_layer_types", kinds, "the layers that the other settings name")
    return named


def _routed(fields: Fields, layers: int, routing: Routing) -> tuple[bool, ...]:
    if routing == "stated":
        routing = _stated(fields)
    if routing == "sparse step":
        return _by_step(fields, layers)
    if routing == "interleaved":
        return _interleaved(fields, layers)
    if routing == "all":
        return (True,) * layers
    return _after_prefix(fields, layers, step=routing == "prefix and step")


def _stated(fields: Fields) -> Routing:
    if fields.has("interleave_moe_layer_step") or fields.has("moe_layers"):
        return "interleaved"
    if fields.has("first_k_dense_replace") or fields.has("moe_layer_freq"):
        return "prefix and step" if fields.has("moe_layer_freq") else "prefix"
    stepped = fields.has("decoder_sparse_step") or fields.has("mlp_only_layers")
    return "sparse step" if stepped else "all"


def _by_step(fields: Fields, layers: int) -> tuple[bool, ...]:
    step = fields.integer("decoder_sparse_step", default=1, because="every layer is routed")
    plain = fields.numbered("mlp_only_layers", layers, default=[], because="no layer is dense")
    return tuple(layer not in plain and (layer + 1) % step == 0 for layer in range(layers))


def _interleaved(fields: Fields, layers: int) -> tuple[bool, ...]:
    if fields.has("moe_layers"):
        chosen = fields.numbered("moe_layers", layers)
        fields.skip("interleave_moe_layer_step")
        return tuple(layer in chosen for layer in range(layers))
    step = fields.integer("interleave_moe_layer_step")
    return tuple((layer + 1) % step == 0 for layer in range(layers))


def _after_prefix(fields: Fields, layers: int, *, step: bool) -> tuple[bool, ...]:
    each = flags(fields, "moe_layer_freq", layers) if step else None
    if each is not None:
        prefix = fields.get("first_k_dense_replace")
        if prefix is not None and any(each[: _prefix(fields, layers)]):
            found = [int(routed) for routed in each]
            raise fields.error("moe_layer_freq", found, f"{prefix[1]} dense layers at first")
        return each
    first = _prefix(fields, layers)
    every = (
        fields.integer("moe_layer_freq", default=1, because="every later layer is routed")
        if step
        else 1
    )
    return tuple(layer >= first and layer % every == 0 for layer in range(layers))


def _prefix(fields: Fields, layers: int) -> int:
    """How many layers are dense before the first routed one."""
    first = fields.integer("first_k_dense_replace", low=0)
    if first > layers:
        raise fields.error("first_k_dense_replace", first, f"at most {layers}, the layers")
    return first


def attention_kinds(
    fields: Fields, layers: int, accepted: tuple[str, ...], otherwise: tuple[str, ...], why: str
) -> tuple[str, ...]:
    """The kind of attention of each layer: ``layer_types`` where it is listed; ``otherwise``, with
    the assumption ``why`` where that is not empty."""
    kinds = listed(fields, "layer_types", layers, accepted)
    if kinds is not None:
        return kinds
    if why:
        fields.assume(f"layer_types is not stated: {why}")
    return otherwise
