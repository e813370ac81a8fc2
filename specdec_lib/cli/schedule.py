"""``specdec schedule``: a draft length for every batch, in the words of an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from specdec_lib.acceptance import Geometric
from specdec_lib.cli.numbers import WholeNumbers
from specdec_lib.cli.output import json_flag, print_json, say
from specdec_lib.cli.points import contexts
from specdec_lib.cli.progress import PART, progress, quiet_flag
from specdec_lib.cli.speculating import plan_of, plan_options
from specdec_lib.records.names import bare
from specdec_lib.schedule import EngineConfig, Schedule

#: The engines by the bare form of their names, and what writes a configuration for each.
_WRITERS: dict[str, Callable[..., EngineConfig]] = {
    "vllm": Schedule.to_vllm,
    "sglang": Schedule.to_sglang,
    "tensorrtllm": Schedule.to_tensorrt_llm,
}

#: Settings of the engines: the option, the engine that knows it, and what its writer calls it.
_SETTINGS = (
    ("method", "vllm", "method"),
    ("draft_model", "vllm", "model"),
    ("max_num_seqs", "vllm", "max_num_seqs"),
    ("max_num_batched_tokens", "vllm", "max_num_batched_tokens"),
    ("cuda_graph_sizes", "sglang", "cuda_graph_sizes"),
    ("algorithm", "sglang", "algorithm"),
    ("engine_version", "tensorrtllm", "version"),
    ("decoding_type", "tensorrtllm", "decoding_type"),
)

_OPTIONS = (
    click.option(
        "--batch-max",
        type=click.IntRange(1, 65_536),
        default=512,
        show_default=True,
        help="The largest batch; above it the length is 0.",
    ),
    contexts("several give a row each, for contexts up to it."),
    click.option("--most", type=click.IntRange(1, 1024), help="At most so many distinct lengths."),
    click.option(
        "--gain", type=float, default=0.0, help="Least relative gain for which it changes: 0.02."
    ),
    click.option(
        "--idle-tax",
        type=float,
        default=0.0,
        help="What drafting nothing costs with speculation enabled, relative to a plain step.",
    ),
    click.option(
        "--floor", type=click.IntRange(0, 1024), default=0, help="The shortest length allowed."
    ),
    click.option("--alpha-low", type=float, help="Low end of what --alpha may be."),
    click.option("--alpha-high", type=float, help="High end of what --alpha may be."),
    click.option("--fit", is_flag=True, help="Write the best that the engine can express."),
    click.option("--method", help="vLLM: method of the speculative config, such as eagle3."),
    click.option("--draft-model", help="vLLM: model of the speculative config."),
    click.option("--max-num-seqs", type=click.IntRange(1), help="vLLM: its largest batch."),
    click.option("--max-num-batched-tokens", type=click.IntRange(1), help="vLLM: tokens a step."),
    click.option("--cuda-graph-sizes", type=WholeNumbers(), help="SGLang: sizes it captures."),
    click.option("--algorithm", help="SGLang: EAGLE or EAGLE3."),
    click.option("--engine-version", help="TensorRT-LLM: its version, such as 1.4."),
    click.option("--decoding-type", help="TensorRT-LLM: such as Eagle3."),
)


def _schedule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return plan_options(command)


@click.command()
@_schedule_options
@quiet_flag
@json_flag
def schedule(quiet: bool, as_json: bool, **options: Any) -> None:
    """Draft lengths by batch, as the configuration that an engine loads.

    With --engine the configuration alone goes to standard output: JSON for vLLM's
    speculative_config and SGLang's adaptive config, YAML for TensorRT-LLM.  Without it a table.

    \b
    Examples:
      specdec schedule --model deepseek-v4-flash --gpu b200 --alpha 0.75 --context 4096 \\
        --batch-max 512 --engine vllm
      specdec schedule --model qwen3-8b --gpu h100-sxm --drafter eagle3 --alpha 0.7 --most 3 \\
        --gain 0.02 --engine sglang --cuda-graph-sizes 1,2,4,8,16,32,64,128,256,512 --fit
      specdec schedule --model deepseek-v3 --gpu h200 --tp 8 --alpha 0.8 --context 4096,32768
    """
    engine = _engine(options["serving"])
    settings = _settings(options, engine)
    planned, longest = plan_of(options, writes_for_engine=True)
    context = options["context"]
    asked = {
        "batch_max": options["batch_max"],
        "context": context[0] if len(context) == 1 else context,
        "gamma_max": longest,
        "shortest": options["floor"],
        "most": options["most"],
        "gain": options["gain"],
        "idle_tax": options["idle_tax"],
    }
    lengths, points = planned.longest(longest)[0] + 1, options["batch_max"] * len(context)
    with progress(lengths, "planning", quiet=quiet or points <= PART) as done:
        made = planned.schedule(**asked, progress=done)
    differing = _sensitivity(planned, options, asked)
    if engine is None:
        if as_json:
            print_json(_record(made) | {"differing": differing})
        else:
            click.echo(repr(made))
        return
    config = _WRITERS[engine](made, fit=options["fit"], **settings)
    for note in made.notes:
        say(f"note: {note}")
    for word in config.explanations:
        say(word)
    for word in config.warnings:
        say(f"warning: {word}")
    for loss in config.losses:
        say(f"lost: {loss}")
    if config.flags:
        say(f"flags: {' '.join(config.flags)}")
    if as_json:
        print_json(_record(made) | {"differing": differing, "engine": _engine_record(config)})
    else:
        click.echo(config.yaml() if engine == "tensorrtllm" else config.json(), nl=False)
        click.echo()


def _engine(name: str | None) -> str | None:
    if name is None:
        return None
    found = {"trtllm": "tensorrtllm", "trt": "tensorrtllm"}.get(bare(name), bare(name))
    if found not in _WRITERS:
        raise click.UsageError(f"--engine {name}: the engines are vllm, sglang and tensorrt-llm")
    return found


def _settings(options: dict[str, Any], engine: str | None) -> dict[str, Any]:
    """What the engine's writer is told; an option of another engine is a mistake."""
    given = {}
    for option, owner, word in _SETTINGS:
        value = options[option]
        if value is None:
            continue
        if owner != engine:
            flag = option.replace("_", "-")
            raise click.UsageError(f"--{flag} is for another engine than {engine or 'none'}")
        given[word] = value
    if options["fit"] and engine is None:
        raise click.UsageError("--fit is for an --engine")
    if engine == "vllm" and options["dp"] is not None:
        given["data_parallel"] = options["dp"]
    return given


def _sensitivity(planned: Any, options: dict[str, Any], asked: dict[str, Any]) -> list[Any] | None:
    low, high = options["alpha_low"], options["alpha_high"]
    if low is None and high is None:
        return None
    if low is None or high is None or options["alpha"] is None:
        raise click.UsageError("--alpha-low, --alpha and --alpha-high go together")
    if not low <= options["alpha"] <= high:
        raise click.UsageError("--alpha must lie between --alpha-low and --alpha-high")
    found = planned.sensitivity(low=Geometric(low), high=Geometric(high), **asked)
    say(f"lengths for acceptances of {low:g}, {options['alpha']:g} and {high:g}:", repr(found))
    return [
        {"first": first, "last": last, "context": at or None, "lengths": lengths}
        for first, last, at, lengths in found.differing
    ]


def _record(made: Schedule) -> dict[str, Any]:
    rows = zip(made.contexts or (None,), made.rows, strict=True)
    return {
        "name": made.name,
        "batch_max": made.batch_max,
        "assumptions": made.assumptions,
        "notes": made.notes,
        "rows": [
            {"context": context, "ranges": [vars(cell) for cell in cells]}
            for context, cells in rows
        ],
    }


def _engine_record(config: EngineConfig) -> dict[str, Any]:
    return {
        "engine": config.engine,
        "config": dict(config),
        "flags": config.flags,
        "explanations": config.explanations,
        "warnings": config.warnings,
        "losses": [vars(loss) for loss in config.losses],
    }
