"""Counts: acceptance as engines count it, read from their metrics, logs and responses."""

from __future__ import annotations

from specdec_lib.counts import definitions, llama_cpp, plain, sglang, tensorrt_llm, vllm
from specdec_lib.counts.combine import difference, pool
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.curve import acceptance_curve
from specdec_lib.counts.decide import Decision, decide
from specdec_lib.counts.errors import ImpossibleCounts, NotCounted, ReadError
from specdec_lib.counts.posterior import Interval, Posterior
from specdec_lib.counts.recognise import read_acceptance, recognise

__all__ = [
    "AcceptanceCounts",
    "Decision",
    "ImpossibleCounts",
    "Interval",
    "NotCounted",
    "Posterior",
    "ReadError",
    "acceptance_curve",
    "decide",
    "definitions",
    "difference",
    "llama_cpp",
    "plain",
    "pool",
    "read_acceptance",
    "recognise",
    "sglang",
    "tensorrt_llm",
    "vllm",
]
