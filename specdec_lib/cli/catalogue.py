"""``specdec models``, ``gpus`` and ``drafters``: what the catalogue holds, and where it is from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from specdec_lib import catalog
from specdec_lib.architecture import DrafterCard, Model
from specdec_lib.catalog import Gpu
from specdec_lib.cli.output import json_flag, print_json, print_table
from specdec_lib.cli.setting import find_model
from specdec_lib.records.provenance import Provenance

_NAME = click.argument("name", required=False)


@click.command()
@_NAME
@json_flag
def models(name: str | None, as_json: bool) -> None:
    """The models of the catalogue, or one with its sources; NAME may be a config.json.

    \b
    Examples:
      specdec models
      specdec models deepseek-v4-flash
      specdec models ./config.json --json
    """
    if name is not None:
        _print_record(_model(find_model(name, None)), as_json)
        return
    rows = [_model(each) for each in catalog.models()]
    if as_json:
        print_json(rows)
        return
    print_table(
        {
            "model": [row["name"] for row in rows],
            "total (10⁹)": [row["total_parameters"] / 1e9 for row in rows],
            "active (10⁹)": [row["active_parameters"] / 1e9 for row in rows],
            "experts": [row["experts"] or "" for row in rows],
            "attention": [", ".join(row["attention"]) for row in rows],
            "cache (B/token)": [row["cache_bytes_per_token"] for row in rows],
        }
    )


@click.command()
@_NAME
@json_flag
def gpus(name: str | None, as_json: bool) -> None:
    """The accelerators of the catalogue, or one with the source of each of its values.

    \b
    Examples:
      specdec gpus
      specdec gpus b200
    """
    if name is not None:
        _print_record(_gpu(catalog.gpu(name)), as_json)
        return
    rows = [_gpu(each) for each in catalog.gpus()]
    if as_json:
        print_json(rows)
        return
    print_table(
        {"accelerator": [row["name"] for row in rows]}
        | {
            f"{form} (TFLOP/s)": [_scaled(row["peak"].get(form), 1e12) for row in rows]
            for form in catalog.PEAKS
        }
        | {
            "bandwidth (TB/s)": [row["bandwidth"] / 1e12 for row in rows],
            "memory (GB)": [row["memory"] / 1e9 for row in rows],
            "ridge, bf16": [row["ridge"]["bf16"] for row in rows],
        }
    )


@click.command()
@_NAME
@json_flag
def drafters(name: str | None, as_json: bool) -> None:
    """The drafters of the catalogue, or one with its source.

    \b
    Examples:
      specdec drafters
      specdec drafters deepseek-v4-flash-mtp
    """
    if name is not None:
        _print_record(_drafter(catalog.drafter_card(name)), as_json)
        return
    rows = [_drafter(each) for each in catalog.drafter_cards()]
    if as_json:
        print_json(rows)
        return
    print_table(
        {
            "drafter": [row["name"] for row in rows],
            "kind": [row["kind"] for row in rows],
            "own (10⁶)": [row["own_parameters"] / 1e6 for row in rows],
            "targets": [", ".join(row["targets"]) for row in rows],
        }
    )


def _model(model: Model) -> dict[str, Any]:
    mixture = model.experts
    return {
        "name": model.name,
        "aliases": model.aliases,
        "repository": model.repository,
        "total_parameters": model.total_parameters,
        "active_parameters": model.active_parameters,
        "layers": model.layers,
        "hidden_size": model.hidden_size,
        "vocabulary": model.vocabulary,
        "experts": f"{mixture.k} of {mixture.E}" if mixture else None,
        "attention": list(dict.fromkeys(core.kind for core in model.attention)),
        "cache_bytes_per_token": model.kv_bytes_per_token(),
        "state_bytes": model.state_bytes(),
        "mtp_modules": model.mtp_modules,
        "assumptions": model.assumptions,
        **_origin(model.provenance),
    }


def _gpu(gpu: Gpu) -> dict[str, Any]:
    return {
        "name": gpu.name,
        "vendor": gpu.vendor,
        "aliases": gpu.aliases,
        "peak": dict(gpu.peak),
        "bandwidth": gpu.bandwidth,
        "memory": gpu.memory,
        "cache": gpu.cache,
        "link": gpu.link,
        "power": gpu.power,
        "ridge": {form: gpu.ridge(form) for form in gpu.peak},
        "notes": gpu.notes,
        "sources": {
            field: f"{datum.provenance.source} ({datum.provenance.kind})"
            for field, datum in gpu.data.items()
        },
    }


def _drafter(card: DrafterCard) -> dict[str, Any]:
    return {
        "name": card.name,
        "aliases": card.aliases,
        "kind": card.kind,
        "targets": card.targets,
        "own_parameters": card.own_parameters,
        "parameters_read_a_pass": card.read_parameters,
        "cache_bytes_per_token": card.kv_bytes_per_token,
        "vocabulary": card.vocabulary,
        "block": card.block,
        "assumptions": card.assumptions,
        **_origin(card.provenance),
    }


def _origin(provenance: Provenance | None) -> dict[str, Any]:
    if provenance is None:
        return {"source": None, "notes": ()}
    return {
        "source": provenance.source,
        "source_kind": provenance.kind,
        "notes": provenance.notes,
    }


def _print_record(record: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(record)
        return
    said = {key: value for key, value in record.items() if value not in (None, (), [], {}, "")}
    width = max(len(key) for key in said)
    for key, value in said.items():
        first, *rest = list(_lines(value)) or [""]
        click.echo(f"{key.replace('_', ' '):{width}}  {first}")
        for line in rest:
            click.echo(f"{'':{width}}  {line}")


def _lines(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{key}: {each:.6g}" if isinstance(each, float) else f"{key}: {each}"
    elif isinstance(value, list | tuple):
        yield from map(str, value)
    else:
        yield f"{value:.6g}" if isinstance(value, float) else str(value)


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit
