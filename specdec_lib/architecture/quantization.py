"""Quantization: the precision of each component, from a configuration or by the caller's word.

A quantization block that cannot be read is an error: bytes per weight decide the price, and a guess
would be wrong by a factor of two or four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import PRECISIONS, Precision, precision

#: What a quantization method turns to fewer bits; embedding, router and head stay at 16.
_LINEAR: tuple[str, ...] = ("attn_proj", "moe", "shared", "dense_ffn")
_ALL: tuple[str, ...] = ("embedding", *_LINEAR, "router", "head")

#: The names that checkpoints give to the modules of a component.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "self_attn": ("attn_proj",),
    "mlp": ("dense_ffn", "moe", "shared"),
    "mlp.experts": ("moe",),
    "mlp.shared_experts": ("shared",),
    "mlp.router": ("router",),
    "mlp.gate": ("router",),
    "embed_tokens": ("embedding",),
    "lm_head": ("head",),
}


#: The settings that may stand in a block of each method.
_METHODS: Mapping[str, frozenset[str]] = {
    "fp8": frozenset(
        {
            "quant_method",
            "fmt",
            "activation_scheme",
            "scale_fmt",
            "weight_block_size",
            "modules_to_not_convert",
        }
    ),
    "mxfp4": frozenset({"quant_method", "modules_to_not_convert"}),
}


class Quantization(Mapping[str, Precision]):
    """The precision of each component by key; ``other`` is always bf16."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = dict.fromkeys((*_ALL, "other"), "bf16") | dict(chosen)

    def __getitem__(self, key: str) -> Precision:
        return precision(self._chosen[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)


def read_quantization(
    fields: Fields, override: str | Mapping[str, str] | None = None
) -> Quantization:
    """The precisions that a configuration states, with ``override`` above them.

    ``override`` is one precision for attention projections and feed-forward, in which case the
    configuration's own statement is not read at all, or a mapping from component keys to
    precisions.  Raises ConfigError for a statement that cannot be read, ValueError for a key or a
    precision that does not exist.
    """
    if isinstance(override, str):
        precision(override)
        fields.skip("quantization_config", "expert_dtype", "torch_dtype", "dtype")
        return Quantization(dict.fromkeys(_LINEAR, override))
    chosen = _stated(fields)
    for key, name in (override or {}).items():
        if key not in _ALL:
            raise ValueError(f"no component {key!r} has a precision; these have: {', '.join(_ALL)}")
        chosen[key] = precision(name).name
    return Quantization(chosen)


def _stated(fields: Fields) -> dict[str, str]:
    stored = fields.get("torch_dtype", "dtype")
    if stored is None:
        fields.assume("torch_dtype is not stated: what is not quantized is taken to be bf16")
    elif stored[1] not in ("bfloat16", "float16"):
        raise fields.error(stored[0], stored[1], f"bfloat16 or float16, or precision={_names()}")
    chosen: dict[str, str] = {}
    block = fields.get("quantization_config")
    if block is not None:
        chosen = _block(fields, block[1])
    experts = fields.get("expert_dtype")
    if experts is not None:
        if experts[1] != "fp4":
            raise fields.error("expert_dtype", experts[1], f"'fp4', or precision={_names()}")
        chosen["moe"] = "mxfp4-w4a8"
    return chosen


def _block(fields: Fields, block: Any) -> dict[str, str]:
    where = "quantization_config"
    accepted = (
        f"quant_method {' or '.join(map(repr, _METHODS))} with nothing but the settings of that "
        f"method; from_config(…, precision={_names()}) overrides it"
    )
    method = block.get("quant_method") if isinstance(block, dict) else None
    known = _METHODS.get(method) if isinstance(method, str) else None
    if known is None:
        raise fields.error(f"{where}.quant_method", method, accepted)
    unread = {key for key, value in block.items() if value is not None} - known
    if unread:
        raise fields.error(where, ", ".join(sorted(unread)), accepted)
    if block.get("fmt", "e4m3") not in ("e4m3", "float8_e4m3fn"):
        raise fields.error(f"{where}.fmt", block["fmt"], "'e4m3'")
    chosen = {"moe": "mxfp4-w4a16"} if method == "mxfp4" else dict.fromkeys(_LINEAR, "fp8")
    for pattern in block.get("modules_to_not_convert") or []:
        name = re.sub(r"^(model\.)?(layers\.\*\.)?", "", str(pattern))
        if name not in _MODULES:
            raise fields.error(
                f"{where}.modules_to_not_convert",
                pattern,
                f"whole components ({', '.join(_MODULES)}); precision= overrides it",
            )
        for key in _MODULES[name]:
            chosen[key] = "bf16"
    return chosen


def _names() -> str:
    return " | ".join(map(repr, PRECISIONS))
