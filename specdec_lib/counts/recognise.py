"""Which format a text is in, and the counts that it holds."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

from specdec_lib.counts import llama_cpp, plain, sglang, tensorrt_llm, vllm, vllm_json
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError

Reader = Callable[..., AcceptanceCounts]

#: (name, what only this format holds, its reader); in the text of a JSON document the keys count.
FORMATS: tuple[tuple[str, re.Pattern[str], Reader], ...] = (
    ("vLLM log", re.compile(r"SpecDecoding metrics:"), vllm.read_log),
    (
        "vLLM or llama.cpp Prometheus",
        re.compile(r"^\s*(vllm|llamacpp):spec_decode_", re.MULTILINE),
        vllm.read_prometheus,
    ),
    (
        "vLLM per-request JSON",
        re.compile(r'"num_accepted_draft_tokens"'),
        vllm_json.read_requests,
    ),
    ("vLLM bench JSON", re.compile(r'"spec_decode_num_drafts"'), vllm_json.read_bench),
    ("SGLang log", re.compile(r"accept len:"), sglang.read_log),
    (
        "SGLang Prometheus",
        re.compile(r"^\s*sglang:spec_", re.MULTILINE),
        sglang.read_prometheus,
    ),
    ("SGLang meta_info", re.compile(r'"spec_verify_ct"'), sglang.read_responses),
    ("SGLang server info", re.compile(r'"avg_spec_accept_length"'), sglang.read_server_info),
    (
        "TensorRT-LLM Prometheus",
        re.compile(r"^\s*trtllm_spec_decode_", re.MULTILINE),
        tensorrt_llm.read_prometheus,
    ),
    (
        "TensorRT-LLM iteration JSON",
        re.compile(r'"numRequestsWithDraftTokens"'),
        tensorrt_llm.read_iterations,
    ),
    (
        "TensorRT-LLM per-request JSON",
        re.compile(r'"total_accepted_draft_tokens"'),
        tensorrt_llm.read_requests,
    ),
    (
        "TensorRT-LLM block statistics",
        re.compile(r'"accepted_draft_hist"'),
        tensorrt_llm.read_block_file,
    ),
    ("llama.cpp server log", llama_cpp.MARK, llama_cpp.read_server),
    (
        "llama.cpp example counters",
        re.compile(r"\bn_accept\s*="),
        llama_cpp.read_example,
    ),
)

_PLAIN = re.compile(r"\b(steps|drafted|accepted|survived|histogram)\b")


def recognise(text: str) -> tuple[str, Reader]:
    """The name of the format and its reader.

    Raises ReadError where none is found, and where a text holds two, which must be read apart.
    """
    if not isinstance(text, str):
        raise TypeError(f"acceptance is read from text, not from {type(text).__name__}")
    found = [(name, reader) for name, mark, reader in FORMATS if mark.search(text)]
    if len(found) > 1:
        names = " and ".join(name for name, _ in found)
        raise ReadError(f"the text holds {names}: read one of them, with its own reader")
    if found:
        return found[0]
    if _PLAIN.search(text):
        return "plain counts", plain.read
    known = ", ".join(name for name, _, _ in FORMATS)
    raise ReadError(f"{_what(text)}; known are {known}, and plain counts")


def _what(text: str) -> str:
    """What the text is, as far as one can tell, for a message."""
    if not text.strip():
        return "the text is empty"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "no known count of acceptance is in this text"
    keys = ", ".join(list(value)[:5]) if isinstance(value, dict) else type(value).__name__
    return f"this JSON ({keys}) holds no known count of acceptance"


def read_acceptance(text: str, **options: Any) -> AcceptanceCounts:
    """The counts in a text of any known format; ``.found`` tells which it was.

    ``options`` go to the reader of that format: an earlier scrape ``since=…`` for Prometheus
    counters, ``num_draft_tokens=…`` for SGLang's log, ``length=…`` where steps are not counted.

    Raises ReadError, naming line or field, for a text that is not whole or says the impossible,
    and TypeError for an option that this format does not know.

    >>> read_acceptance("steps 23, drafted 161, accepted 44, length 7").tokens
    2.9130434782608696
    """
    name, reader = recognise(text)
    try:
        inspect.signature(reader).bind(text, **options)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return reader(text, **options)
