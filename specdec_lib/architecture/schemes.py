"""Schemes: what each method of quantization writes into its block, as rules over modules.

One function a method.  Each refuses settings that it does not know: a setting that changes bytes
per weight and is passed over would be wrong by a factor of two or four.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from specdec_lib.architecture.modules import Pattern
from specdec_lib.architecture.precision import precision
from specdec_lib.architecture.rules import Rule, Scheme, Statement

#: What a method turns to fewer bits; embedding, router and head stay at 16 unless it says so.
LINEAR: tuple[str, ...] = ("attn_proj", "moe", "shared", "dense_ffn")


def _rule(block: Statement, setting: str, text: str, form: str) -> Rule:
    """A rule by a pattern as it stands in a setting; an error that names it if it is broken."""
    try:
        return Rule(setting, Pattern(text), form)
    except re.error as error:
        raise block.error(setting, text, f"a regular expression ({error})") from error


def _keep(block: Statement, scheme: Scheme, *settings: str) -> None:
    """Keep the modules that these lists name at 16 bits."""
    for setting, patterns in block.texts(*settings):
        scheme.rules += [_rule(block, setting, text, "bf16") for text in patterns]


def _group(block: Statement, setting: str, value: Any) -> str:
    """A size of groups in the name of a precision; -1 is a whole column."""
    if isinstance(value, bool) or not isinstance(value, int) or (value < 1 and value != -1):
        raise block.error(setting, value, "a whole number of at least 1, or -1 for whole columns")
    return f"g{max(value, 0)}"


def fp8(block: Statement) -> Scheme:
    """8-bit floating point by blocks, as DeepSeek, Qwen and MiniMax publish it."""
    block.one_of("fmt", {"e4m3": "", "float8_e4m3fn": ""}, default="e4m3")
    block.skip("quant_method", "activation_scheme", "scale_fmt", "weight_block_size")
    scheme = Scheme(dict.fromkeys(LINEAR, "fp8"))
    _keep(block, scheme, "modules_to_not_convert", "ignored_layers")
    return scheme


def mxfp4(block: Statement) -> Scheme:
    """4-bit floating point for experts alone, met by 16-bit activations."""
    block.skip("quant_method")
    scheme = Scheme({"moe": "mxfp4-w4a16"})
    _keep(block, scheme, "modules_to_not_convert")
    return scheme


_BITS: Mapping[Any, str] = {4: "int4", 8: "int8"}


def awq(block: Statement) -> Scheme:
    """Whole numbers in groups with zero points."""
    bits = block.one_of("bits", _BITS)
    zero = block.one_of("zero_point", {True: "-zero", False: ""}, default=True)
    name = f"{bits}-{_group(block, 'group_size', block.get('group_size', 128))}{zero}"
    block.skip("quant_method", "version", "backend", "do_fuse", "fuse_max_seq_len")
    block.skip("modules_to_fuse", "exllama_config")
    scheme = Scheme(dict.fromkeys(LINEAR, precision(name).name))
    _keep(block, scheme, "modules_to_not_convert")
    return scheme


def gptq(block: Statement) -> Scheme:
    """Whole numbers in groups; ``dynamic`` may keep modules out."""
    bits = block.one_of("bits", _BITS)
    zero = block.one_of("sym", {True: "", False: "-zero"}, default=True)
    name = f"{bits}-{_group(block, 'group_size', block.get('group_size', 128))}{zero}"
    block.skip("quant_method", "desc_act", "damp_percent", "static_groups", "true_sequential")
    block.skip("checkpoint_format", "meta", "pack_dtype", "version", "model_name_or_path")
    block.skip("model_file_base_name", "tokenizer", "dataset", "batch_size", "use_exllama")
    block.skip("exllama_config", "cache_block_outputs", "backend", "format", "act_group_aware")
    block.skip("use_cuda_fp16", "model_seqlen", "max_input_length", "pad_token_id", "method")
    block.skip("block_name_to_quantize", "module_name_preceding_first_block")
    scheme = Scheme(dict.fromkeys(LINEAR, precision(name).name))
    if block.get("lm_head"):
        scheme.whole["head"] = precision(name).name
    dynamic = block.get("dynamic", {})
    if not isinstance(dynamic, dict) or not all(str(key).startswith("-:") for key in dynamic):
        raise block.error("dynamic", dynamic, "a table whose keys keep modules out, '-:pattern'")
    scheme.rules += [_rule(block, "dynamic", pattern, "bf16") for pattern in dynamic]
    _keep(block, scheme, "modules_to_not_convert")
    return scheme


#: (bits, type of the weights, bits and type of the activations) -> precision of grouped tensors.
_TENSORS: Mapping[tuple[Any, ...], str] = {
    (8, "float", 8, "float"): "fp8",
    (8, "float", None, None): "fp8-w8a16",
    (8, "int", 8, "int"): "int8-w8a8",
    (8, "int", None, None): "int8",
    (4, "int", None, None): "int4",
}
#: The same for 4-bit floating point, by the size of a group.
_FOUR: Mapping[tuple[Any, int | None], str] = {
    (16, 4): "nvfp4",
    (16, None): "nvfp4-w4a16",
    (32, 8): "mxfp4-w4a8",
    (32, None): "mxfp4-w4a16",
}


def _tensors(block: Statement, where: str, group: Mapping[str, Any]) -> str:
    """The precision of one group of compressed tensors."""
    weights, inputs = group.get("weights"), group.get("input_activations") or {}
    if not isinstance(weights, dict) or not isinstance(inputs, dict):
        raise block.error(where, weights, "tables of weights and input_activations")
    bits, kind = weights.get("num_bits"), weights.get("type")
    met = (inputs.get("num_bits"), inputs.get("type"))
    size = weights.get("group_size")
    name = None
    if not any(isinstance(value, dict | list) for value in (bits, kind, *met, size)):
        four = (bits, kind) == (4, "float")
        name = _FOUR.get((size, met[0])) if four else _TENSORS.get((bits, kind, *met))
    if name is None:
        raise block.error(
            where,
            f"{bits}-bit {kind} in groups of {size}, activations {met[0]}-bit {met[1]}",
            f"one of {', '.join((*_TENSORS.values(), *_FOUR.values()))}",
        )
    if kind == "int" and met == (None, None) and size is not None:
        if weights.get("symmetric") is None:
            block.assume(f"quantization_config.{where}.weights.symmetric is not stated: true")
        zero = "-zero" if weights.get("symmetric") is False else ""
        return precision(f"{name}-{_group(block, where, size)}{zero}").name
    return precision(name).name


def compressed_tensors(block: Statement) -> Scheme:
    """Groups of modules, each with its own format, and a list of what is left out."""
    block.skip("quant_method", "format", "kv_cache_scheme", "quantization_status", "version")
    block.skip("global_compression_ratio", "sparsity_config", "transform_config")
    groups = block.get("config_groups")
    if not isinstance(groups, dict) or not groups:
        raise block.error("config_groups", groups, "a table of groups")
    scheme = Scheme()
    _keep(block, scheme, "ignore")
    for name, group in groups.items():
        where = f"config_groups.{name}"
        if not isinstance(group, dict) or not isinstance(group.get("targets"), list):
            raise block.error(where, group, "a table with targets")
        chosen = _tensors(block, where, group)
        for target in group["targets"]:
            if target == "Linear":
                scheme.whole |= dict.fromkeys(LINEAR, chosen)
            else:
                scheme.rules.append(_rule(block, f"{where}.targets", str(target), chosen))
    return scheme


_ALGORITHMS: Mapping[Any, str] = {
    "FP8": "fp8",
    "FP8_PB_WO": "fp8",
    "NVFP4": "nvfp4",
    "NVFP4_AWQ": "nvfp4",
    "W4A16_NVFP4": "nvfp4-w4a16",
    "W4A8_MXFP4_FP8": "mxfp4-w4a8",
    "W4A16_AWQ": "int4",
}


def modelopt(block: Statement) -> Scheme:
    """NVIDIA's exports: one algorithm for all, or one for each module that is listed."""
    if block.get("quant_algo") is None:
        return compressed_tensors(block)
    block.skip("quant_method", "producer", "config_groups", "kv_cache_scheme")
    block.skip("kv_cache_quant_algo")
    algorithm = block.one_of("quant_algo", {**_ALGORITHMS, "MIXED_PRECISION": ""})
    if algorithm == "int4":
        algorithm = f"int4-{_group(block, 'group_size', block.get('group_size', 128))}"
    block.skip("group_size")
    scheme = Scheme(dict.fromkeys(LINEAR, algorithm) if algorithm else {})
    _keep(block, scheme, "ignore", "exclude_modules")
    listed = block.get("quantized_layers", {})
    if not isinstance(listed, dict) or not (listed or algorithm):
        raise block.error("quantized_layers", listed, "a table of modules, each with quant_algo")
    for name, chosen in listed.items():
        method = chosen.get("quant_algo") if isinstance(chosen, dict) else None
        if not isinstance(method, str) or method not in _ALGORITHMS:
            accepted = " or ".join(map(repr, _ALGORITHMS))
            raise block.error(f"quantized_layers.{name}.quant_algo", method, accepted)
        scheme.rules.append(_rule(block, "quantized_layers", name, _ALGORITHMS[method]))
    return scheme


METHODS: Mapping[str, Callable[[Statement], Scheme]] = {
    "fp8": fp8,
    "mxfp4": mxfp4,
    "awq": awq,
    "gptq": gptq,
    "compressed-tensors": compressed_tensors,
    "modelopt": modelopt,
}
