"""Distils the tables of measured kernels: ``python -m tools.kernel_tables --package FOLDER``.

NVIDIA publishes, under the Apache License 2.0, the operator timings behind its AIConfigurator as
the package aiconfigurator-core.  This takes the few that the book needs out of them and writes
``specdec_lib/data/measured/``.  It is no part of ``make test``: package and reader are needed to
rebuild the tables, never to use them.  Put both into a folder of their own first::

    uv pip install --target FOLDER --no-deps aiconfigurator-core==0.12.0
    uv pip install --target FOLDER pyarrow

Only the systems and the models named below are opened.  The package holds others; they stay
unread, so that predictions for them can be tested blind.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from specdec_lib.architecture.grouped import GroupedCore
from specdec_lib.catalog import model

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "specdec_lib" / "data" / "measured"
DATA = Path("aiconfigurator_core") / "systems" / "data"

#: Systems of the package that are read, by our names of the accelerators.
SYSTEMS = {
    "a100_sxm": "A100 SXM 80 GB",
    "h100_sxm": "H100 SXM",
    "h200_sxm": "H200 SXM",
    "b200_sxm": "B200",
}

#: Models whose layers are read; the shape of each is taken from the catalogue.
MODELS = (
    "DeepSeek-V3",
    "DeepSeek-V4-Flash",
    "Qwen3-30B-A3B",
    "Qwen3-235B-A22B",
    "Mixtral-8x7B",
    "gpt-oss-120b",
)

#: The engines, and the newest version of each that timed these models on a system.
ENGINES = {"trtllm": "TensorRT-LLM", "vllm": "vLLM", "sglang": "SGLang"}
NEWEST = {"trtllm": "1.3.0rc20", "vllm": "0.24.0", "sglang": "0.5.14"}
VERSIONS = dict.fromkeys(SYSTEMS, NEWEST) | {
    "a100_sxm": {"trtllm": "1.0.0", "vllm": "0.14.0", "sglang": "0.5.10"}
}

#: The package's names of weight formats, by ours of precisions.
FORMATS = {
    "bfloat16": "bf16",
    "fp8": "fp8",
    "fp8_block": "fp8",
    "int4_wo": "int4-g128",
    "nvfp4": "nvfp4",
    "w4a16_mxfp4": "mxfp4-w4a16",
    "w4a8_mxfp4_mxfp8": "mxfp4-w4a8",
}

#: Which token counts are kept of each routing.  The skewed one is needed below the compute knee
#: alone, and says nothing about routing at one token.
TOKENS = {
    "balanced": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384),
    "power_law_1.01": (2, 4, 8, 16, 32, 64, 128),
}
#: Assignments an expert, n·k/E, up to which the skewed routing is kept.
MOST_ASSIGNMENTS = 8

#: Models whose grouped attention is read, and heads of a device for latent attention: a whole
#: layer, and what tensor parallelism over 2 and 8 devices leaves.
GROUPED_MODELS = ("Qwen3-235B-A22B", "Mixtral-8x7B", "gpt-oss-120b")
LATENT_MODEL, LATENT_HEADS = "DeepSeek-V3", (128, 64, 16)
BATCHES, CONTEXTS = (1, 16, 128), (1024, 8192, 65536)

MOE_COLUMNS = (
    *("gpu", "engine", "version", "kernel", "model", "format", "precision"),
    *("routing", "tokens", "ms"),
)
ATTENTION_COLUMNS = (
    *("gpu", "engine", "version", "kernel", "model", "heads", "cache"),
    *("batch", "context", "ms"),
)

Rows = list[dict[str, Any]]
Filter = tuple[str, str, object]


def read(package: Path, operator: str, system: str, engine: str, where: list[Filter]) -> Rows:
    """The rows of one table that meet a filter; none where the package has no such table."""
    if system not in SYSTEMS:
        raise ValueError(f"{system} is held for blind tests; this reads {', '.join(SYSTEMS)}")
    from pyarrow import parquet  # wanted by this tool alone

    folder, _, table = operator.partition("/")
    version = VERSIONS[system][engine]
    file = package / DATA / system / folder / engine / version / f"{table}.parquet"
    if not file.exists():
        return []
    rows: Rows = parquet.read_table(file, filters=where).to_pylist()
    return [row for row in rows if row["version"] == version]  # not those of older runs in it


def moe_rows(package: Path, system: str) -> Iterator[dict[str, Any]]:
    """The kept timings of one layer's routed experts, on one device that holds them all."""
    for name in MODELS:
        known = model(name)
        experts = known.experts
        if experts is None:
            raise ValueError(f"{name} has no routed experts")
        where: list[Filter] = [
            ("hidden_size", "=", known.hidden_size),
            ("inter_size", "=", experts.P_e // (3 * known.hidden_size)),
            ("topk", "=", experts.k),
            ("num_experts", "=", experts.E),
            ("moe_tp_size", "=", 1),
            ("moe_ep_size", "=", 1),
        ]
        for engine in ENGINES:
            for row in read(package, "moe/moe_perf", system, engine, where):
                routing, tokens = row["distribution"], row["num_tokens"]
                sparse = routing == "balanced" or tokens * experts.k <= MOST_ASSIGNMENTS * experts.E
                if tokens in TOKENS.get(routing, ()) and sparse:
                    yield {
                        **_origin(row, system, engine, name),
                        "format": row["moe_dtype"],
                        "precision": FORMATS[row["moe_dtype"]],
                        "routing": routing,
                        "tokens": tokens,
                    }


def attention_rows(package: Path, system: str) -> Iterator[dict[str, Any]]:
    """The kept timings of one layer's attention core at decode, one query token a sequence."""
    table, latent = "attention/generation_attention_perf", "mla/generation_mla_perf"
    for engine in ENGINES:
        for name in GROUPED_MODELS:
            core = next(c for c in model(name).attention if c.kind == "grouped")
            if not isinstance(core, GroupedCore):
                raise ValueError(f"{name} has no grouped attention")
            where: list[Filter] = [
                ("num_heads", "=", core.n_h),
                ("num_key_value_heads", "=", core.n_kv),
                ("head_dim", "=", core.d),
            ]
            found = read(package, table, system, engine, where)
            whole = [row for row in found if not row.get("window_size")]
            yield from _decoding(whole, system, engine, name)
        where = [("num_heads", "in", LATENT_HEADS)]
        yield from _decoding(
            read(package, latent, system, engine, where), system, engine, LATENT_MODEL
        )


def _decoding(found: Rows, system: str, engine: str, name: str) -> Iterator[dict[str, Any]]:
    for row in found:
        batch, context = row["batch_size"], row["step"] + row["isl"]
        cache = FORMATS[row["kv_cache_dtype"]]
        if batch in BATCHES and context in CONTEXTS and cache == "bf16":
            yield {
                **_origin(row, system, engine, name),
                "heads": row["num_heads"],
                "cache": cache,
                "batch": batch,
                "context": context,
            }


def _origin(row: dict[str, Any], system: str, engine: str, name: str) -> dict[str, Any]:
    return {
        "gpu": SYSTEMS[system],
        "engine": ENGINES[engine],
        "version": row["version"],
        "kernel": row["kernel_source"],
        "model": name,
        "ms": float(f"{row['latency']:.6g}"),
    }


def fastest(rows: Iterator[dict[str, Any]], columns: Sequence[str]) -> Rows:
    """Sorted rows, of repeated timings of one thing the fastest."""
    best: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in columns if name != "ms")
        if key not in best or row["ms"] < best[key]["ms"]:
            best[key] = row
    return [best[key] for key in sorted(best)]


def write(file: Path, columns: Sequence[str], rows: Rows) -> None:
    """Write a table and say how long it is."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {file.relative_to(ROOT)}: {len(rows)} rows")


def main() -> None:
    """Build every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, required=True, help="the folder it is installed in")
    package: Path = parser.parse_args().package
    if not (package / DATA).is_dir():
        sys.exit(f"{package / DATA} is not there; install aiconfigurator-core==0.12.0 first.")
    sys.path.insert(0, str(package))
    attention: Rows = []
    for system, gpu in SYSTEMS.items():
        name = gpu.split()[0].lower()
        rows = fastest(moe_rows(package, system), MOE_COLUMNS)
        write(TARGET / f"moe_layers_{name}.csv", MOE_COLUMNS, rows)
        attention += fastest(attention_rows(package, system), ATTENTION_COLUMNS)
    write(TARGET / "decode_attention.csv", ATTENTION_COLUMNS, attention)


if __name__ == "__main__":
    main()
