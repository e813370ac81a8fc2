"""Setting: the options that say what is served on what and how, and the step cost they mean."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from specdec_lib import catalog
from specdec_lib.architecture import Model
from specdec_lib.catalog import Gpu, read_gpu
from specdec_lib.cli.output import read_text, say
from specdec_lib.cost import StepCost
from specdec_lib.deployment import Deployment, defaults, read_deployment
from specdec_lib.records.provenance import DataError

#: What to know before believing a deployment that is not one's own.
_CAVEATS = {
    "typical": "the typical deployment is provisional: a step time of your own, in a deployment "
    "file, is worth more",
    "ideal": "the ideal engine is a bound, not a forecast: real kernels and engines are slower",
}

_OPTIONS = (
    click.option(
        "--model",
        required=True,
        metavar="NAME|PATH",
        help="A model of the catalogue (specdec models), or the path of a config.json.",
    ),
    click.option(
        "--precision",
        metavar="FORMAT",
        help="Format of the weights, where it differs from what the configuration states.",
    ),
    click.option(
        "--gpu",
        required=True,
        metavar="NAME|PATH",
        help="An accelerator of the catalogue (specdec gpus), or the path of its .toml record.",
    ),
    click.option(
        "--deployment",
        metavar="ideal|typical|FILE",
        help="The ideal engine, one with typical overheads, or a deployment file.  [typical]",
    ),
    click.option(
        "--engine",
        "serving",
        metavar="vllm|sglang|tensorrt-llm",
        help="Whose overheads a typical deployment has, and for whom a schedule is written.  "
        "[vllm]",
    ),
    click.option("--tp", type=click.IntRange(1), help="Devices that split every matrix.  [1]"),
    click.option("--ep", type=click.IntRange(1), help="Devices that split the experts.  [1]"),
    click.option("--dp", type=click.IntRange(1), help="Replicas that split the batch.  [1]"),
    click.option(
        "--kv-dtype",
        metavar="FORMAT",
        help="Format of the cache, such as fp8.  [what each kind of attention is served in]",
    ),
)


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a setting."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def find_model(name: str, precision: str | None) -> Model:
    """A model of the catalogue, or of a configuration where the name is a path.

    Raises UnknownName or ConfigError.
    """
    path = Path(name)
    if path.suffix == ".json" or path.is_dir() or path.is_file():
        return Model.from_config(path, precision=precision)
    found = catalog.model(name)
    if precision is not None:
        raise ValueError(
            f"--precision is for a configuration given by its path; {found.name} of the catalogue "
            "is in the format in which it is published"
        )
    return found


def find_gpu(name: str) -> Gpu:
    """An accelerator of the catalogue, or of a TOML record where the name is the path of one.

    Raises UnknownName, DataError naming what is wrong in the file, or OSError.
    """
    path = Path(name)
    if path.suffix != ".toml":
        return catalog.gpu(name)
    try:
        table = tomllib.loads(read_text(name))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(name, f"is not TOML: {error}") from error
    return read_gpu(name, table, {})


def served(
    options: Mapping[str, Any], *, writes_for_engine: bool = False
) -> tuple[Model, Gpu, Deployment, str]:
    """Model, accelerator and deployment that the options of a setting mean, and the deployment's
    kind; names every default in force.

    An engine means nothing to a deployment that is not typical, unless a command also
    ``writes_for_engine``.
    """
    model = find_model(options["model"], options["precision"])
    gpu = find_gpu(options["gpu"])
    fallen: list[str] = []

    def given(name: str, default: Any, flag: str | None = None) -> Any:
        if options[name] is None:
            fallen.append(f"--{flag or name.replace('_', '-')} {default}")
            return default
        return options[name]

    kind = given("deployment", "typical")
    degrees = {}
    if kind in ("ideal", "typical") or any(options[name] for name in ("tp", "ep", "dp")):
        degrees = {name: given(name, 1) for name in ("tp", "ep", "dp")}
    changes: dict[str, Any] = dict(degrees)
    if options["kv_dtype"] is not None:
        changes["kv_cache"] = options["kv_dtype"]
    if kind == "typical":
        engine = given("serving", "vLLM", "engine")
        deployment = Deployment.typical(gpu, engine=engine, **changes)
    elif options["serving"] is not None and not writes_for_engine:
        raise ValueError(
            f"--engine {options['serving']} is for a typical deployment, not for {kind}; the "
            f"engines are {', '.join(defaults().rounds)}"
        )
    elif kind == "ideal":
        deployment = Deployment.ideal(**changes)
    else:
        deployment = read_deployment(kind, gpu, **changes)
    if fallen:
        say(f"defaults in force: {' '.join(fallen)}")
    return model, gpu, deployment, kind


def step_cost(options: Mapping[str, Any], *, writes_for_engine: bool = False) -> StepCost:
    """The step cost that the options of a setting mean; names every default and assumption.

    ``writes_for_engine`` as for :func:`served`.
    """
    model, gpu, deployment, kind = served(options, writes_for_engine=writes_for_engine)
    cost = StepCost(model, gpu, deployment)
    for assumption in cost.assumptions:
        say(f"assumed: {assumption}")
    if kind in _CAVEATS:
        say(_CAVEATS[kind])
    return cost
