"""Engines: schedules as vLLM, SGLang and TensorRT-LLM read them, and their look-up rules."""

from __future__ import annotations

from specdec_lib.engines import dspark, sglang, sglang_flags, tensorrt_llm, vllm
from specdec_lib.engines.refusal import EngineRefuses
from specdec_lib.schedule.config import register

__all__ = ["EngineRefuses", "dspark", "sglang", "sglang_flags", "tensorrt_llm", "vllm"]

# Schedules find their writers here, so that they need to know no engine.
register("vllm", vllm.write)
register("sglang", sglang.write)
register("tensorrt_llm", tensorrt_llm.write)
