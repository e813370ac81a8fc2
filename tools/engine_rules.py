"""Holds our look-up rules against the engines' own: ``python -m tools.engine_rules``.

The engines themselves need a GPU and gigabytes, but the functions that read a schedule need almost
nothing.  They are loaded from wherever an engine's package lies, installed or unpacked
(``--vllm``, ``--sglang``: the folder that holds the package), with what they import of the rest
left out.  Random schedules then go through both rules, for every batch.

It is no part of ``make test``, which needs no engine.  The exit status is 1 where a rule differs
and 2 where no engine was found.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from specdec_lib.engines import dspark, sglang, vllm
from specdec_lib.schedule import CannotExpress, Schedule

EVERY = np.arange(1, 4097)
ROUNDS = 200


def package(name: str, folder: Path | None) -> Path | None:
    """Where a package lies, without importing it."""
    if folder is not None:
        return folder / name
    spec = importlib.util.find_spec(name)
    return (
        Path(spec.submodule_search_locations[0])
        if spec and spec.submodule_search_locations
        else None
    )


def loaded(file: Path, without: tuple[str, ...] = ()) -> ModuleType:
    """A module from its file, the modules named in ``without`` being left out."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in without}):
        spec.loader.exec_module(module)
    return module


def random_schedule(rng: random.Random) -> Schedule:
    """A few ranges of any widths and lengths, at least one of which drafts."""
    ends = sorted(rng.sample(range(1, 4097), rng.randint(1, 6)))
    lengths = [rng.randint(0, 6) for _ in ends]
    lengths[rng.randrange(len(ends))] = rng.randint(1, 6)
    starts = [1, *(end + 1 for end in ends[:-1])]
    return Schedule.from_ranges(zip(starts, ends, lengths, strict=True))


def check_vllm(root: Path, rng: random.Random) -> int:
    """Schedules that vLLM's own table reads otherwise than ours, or than they say."""
    theirs = loaded(root / "v1/spec_decode/dynamic/utils.py").build_dynamic_sd_schedule_lookup
    wrong = 0
    for _ in range(ROUNDS):
        schedule = random_schedule(rng)
        config = json.loads(schedule.to_vllm().json())
        limit = config["num_speculative_tokens"]
        # through gaps as well, which we never write
        entries = config[vllm.LIST]
        gappy = [entries[0], *(e for e in entries[1:] if rng.random() < 0.7)]
        for written, wanted in ((entries, schedule.length(EVERY)), (gappy, None)):
            read = theirs(written, len(EVERY), limit)[1:]
            ours = vllm.lookup({**config, vllm.LIST: written}, EVERY).tolist()
            wrong += read != ours or (wanted is not None and read != wanted.tolist())
    return wrong


def check_sglang(root: Path, rng: random.Random) -> int:
    """Schedules that SGLang's own routing reads otherwise than ours, or than they say."""
    module = loaded(
        root / "srt/speculative/adaptive_spec_params.py",
        without=(
            "sglang",
            "sglang.srt",
            "sglang.srt.arg_groups",
            "sglang.srt.arg_groups.overrides",
            "sglang.srt.runtime_context",
            "sglang.srt.speculative",
            "sglang.srt.speculative.spec_info",
            "sglang.srt.utils",
        ),
    )
    wrong = 0
    for _ in range(ROUNDS):
        schedule, sizes = random_schedule(rng), rng.sample(range(1, 513), rng.randint(0, 12))
        config = schedule.to_sglang(sizes, fit=True) if rng.random() < 0.5 else schedule.to_sglang()
        if "--cuda-graph-bs-decode" in config.flags:
            at = config.flags.index("--cuda-graph-bs-decode")
            sizes = [int(size) for size in config.flags[at + 1 :]]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(config.json())
            file.flush()
            steps = int(config.flags[config.flags.index("--speculative-num-steps") + 1])
            if steps not in module.resolve_candidate_steps_from_config(file.name):
                wrong += 1
            params = module.AdaptiveSpeculativeParams(steps, file.name)
        params.set_cuda_graph_bs(sizes)
        read = [params.get_steps_for_batch(int(batch)) for batch in EVERY]
        wrong += read != sglang.lookup(config, EVERY, cuda_graph_sizes=sizes).tolist()
        if not config.losses:
            wrong += read != schedule.length(EVERY).tolist()
    return wrong


def check_dspark(root: Path, rng: random.Random) -> int:
    """Step-cost tables that SGLang's own classes read otherwise than ours, or do not load."""
    module = loaded(root / "srt/speculative/dspark_components/dspark_sps.py")

    def cost(*, B: Any, T: Any, S: Any) -> Any:
        return 2e-3 + B * (1e-5 + 1e-9 * S) + 3e-6 * (B * T) ** 0.9

    diagonal = dspark.diagonal(cost, context=4096, gamma=4)
    additive = dspark.additive(cost, context=4096, gamma_max=6)
    table = module.SpsCostTable.from_json(diagonal.json())
    sum_table = module.SpsAdditiveCostTable.from_json(additive.json())
    wrong = 0
    for _ in range(ROUNDS):
        requests = rng.randint(1, 300)
        tokens = requests * rng.randint(1, 7)
        ours = dspark.lookup(diagonal, requests=requests, tokens=tokens)
        wrong += not np.isclose(1 / table.lookup(tokens), ours, rtol=1e-12)
        ours = dspark.lookup(additive, requests=requests, tokens=tokens)
        theirs = sum_table.step_time(num_reqs=requests, budget=tokens - requests)
        wrong += not np.isclose(theirs, ours, rtol=1e-12)
    return wrong


CHECKS: dict[str, tuple[str, Callable[[Path, random.Random], int]]] = {
    "vLLM's schedule": ("vllm", check_vllm),
    "SGLang's adaptive config": ("sglang", check_sglang),
    "SGLang's step-cost tables": ("sglang", check_dspark),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the checks of every engine that is there; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("vllm", "sglang"):
        parser.add_argument(f"--{name}", type=Path, help=f"the folder that holds {name}/")
    given = vars(parser.parse_args(arguments))
    found, wrong = 0, 0
    for what, (name, check) in CHECKS.items():
        root = package(name, given[name])
        if root is None or not root.is_dir():
            print(f"{what}: {name} is not here; install it, or give --{name} FOLDER")
            continue
        try:
            differing = check(root, random.Random(2026))
        except (CannotExpress, ImportError) as error:
            print(f"{what}: not checked: {error}")
            continue
        found += 1
        wrong += differing
        print(f"{what}: {differing} differences in {ROUNDS} rounds")
    return 2 if not found else int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
