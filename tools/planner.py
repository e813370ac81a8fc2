"""The other planner of the benchmark: NVIDIA's aiconfigurator, installed apart and on request.

It answers from tables of measured kernels where the step cost answers from equations, so its
numbers are others; the benchmark compares only how long both take to answer.
"""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

#: Where it is installed: beside what is built, not into the environment of the book.
FOLDER = Path("_build") / "benchmark"

REQUIREMENT = "aiconfigurator-core==0.12.0"


def install() -> str:
    """Install it unless it is there; what went wrong, or nothing."""
    if not (FOLDER / "aiconfigurator_core").is_dir():
        print(f"\nInstalling {REQUIREMENT} below {FOLDER} (some 180 MB, once)", flush=True)
        target = ["install", "--quiet", "--target", str(FOLDER), REQUIREMENT]
        for tool in (["uv", "pip"], ["pip"]):
            done = subprocess.run(
                [sys.executable, "-m", *tool, *target], capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                break
        else:
            last = (done.stderr or done.stdout).strip().splitlines()
            return last[-1] if last else "it could not be installed"
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))  # last, so that the environment's own NumPy is used
    return ""


class Planner:
    """DeepSeek-V4-Flash on a B200 with SGLang, three drafted tokens verified."""

    name = REQUIREMENT
    width = 4

    def __init__(self) -> None:
        logging.disable(logging.WARNING)  # it reports each table that it falls back to
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self._prepare()

    def _prepare(self) -> None:
        from aiconfigurator_core.sdk import config, perf_database
        from aiconfigurator_core.sdk.backends.factory import get_backend
        from aiconfigurator_core.sdk.config_builders import apply_nextn, build_model_config
        from aiconfigurator_core.sdk.engine import EngineHandle
        from aiconfigurator_core.sdk.models import get_model

        model, system, engine = "deepseek-ai/DeepSeek-V4-Flash", "b200_sxm", "sglang"
        quantized = {"moe_quant_mode": "fp8_block"}  # no table has its experts' own format here
        self._compiled: Any = EngineHandle.compile(
            model, system, engine, nextn=self.width - 1, **quantized
        )
        settings = build_model_config(
            tp_size=1, pp_size=1, attention_dp_size=1, moe_tp_size=1, moe_ep_size=1, **quantized
        )
        apply_nextn(settings, self.width - 1)
        self._model = get_model(model, settings, engine)
        latest = perf_database.get_latest_database_version(system, engine)
        self._database = perf_database.get_database(system, engine, latest)
        self._backend = get_backend(engine)
        self._runtime = config.RuntimeConfig

    def handle(self, batch: float, context: float) -> float:
        """Milliseconds of a step, from the compiled handle."""
        return float(self._compiled.decode_step_latency(int(batch), int(context), 2))

    def public(self, batch: float, context: float) -> float:
        """Milliseconds of a step, from the call that its users make."""
        asked = self._runtime(batch_size=int(batch), beam_width=1, isl=int(context), osl=2)
        found = self._backend.run_static(self._model, self._database, asked, "static_gen")
        return float(sum(found.get_generation_latency_dict().values()))
