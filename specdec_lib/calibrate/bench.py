"""Bench: measurements from what the benchmarks of vLLM and SGLang write as JSON.

Sources: the result that ``vllm bench serve --save-result`` writes (vLLM 0.33), and the lines of
``sglang.bench_serving`` and ``sglang.bench_one_batch`` (SGLang 0.5.23).  The time between tokens is
taken, never the throughput: a whole run has prefill and tail in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specdec_lib.calibrate.errors import CalibrationError
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import count, documents, holding, number, optional_number
from specdec_lib.formulas import counting

#: The median stands nearer to a decode step than the mean, which holds the pauses in which other
#: requests were prefilled.
_SERVED = {"median_tpot_ms", "total_input_tokens", "total_output_tokens", "completed"}
_ONE_BATCH = {"median_decode_latency", "batch_size", "input_len", "output_len"}
_WHOLE_RUNS = ({"avg_latency", "latencies"}, {"elapsed_time", "tokens_per_second"})

_MS = 1e-3

#: How far from a whole number drafted tokens a round may be and still be one length.
_ONE_LENGTH = 0.02


def read_bench(text: str, *, name: str = "bench", gamma: float | None = None) -> list[Measurement]:
    """The measurements of a benchmark's JSON: one result, or one a line.

    ``gamma`` is the draft length with which the engine ran; vLLM's result tells it itself, SGLang's
    does not.

    Raises CalibrationError, naming the result, for what is no such JSON, for a whole run from which
    no step time follows, and where the batch or the draft length is not known.
    """
    try:
        found = documents(text, name)
        served, single = holding(found, _SERVED), holding(found, _ONE_BATCH)
        if not (served or single):
            for keys in _WHOLE_RUNS:
                if holding(found, keys):
                    raise CalibrationError(
                        [
                            f"{name}: a whole run with its prefill ({', '.join(sorted(keys))}); no "
                            "step time follows from it. Run `vllm bench serve`, and give the time "
                            "between tokens"
                        ]
                    )
            raise CalibrationError(
                [
                    f"{name}: no benchmark of vLLM or SGLang: no object holds "
                    f"{', '.join(sorted(_SERVED))}, nor {', '.join(sorted(_ONE_BATCH))}"
                ]
            )
        rows = [
            _one_batch(table, _title("batch", i, single, name)) for i, table in enumerate(single)
        ]
        for i, table in enumerate(served):
            rows.append(_served(table, _title("result", i, served, name), gamma))
    except ReadError as error:
        raise CalibrationError([str(error)]) from error
    return rows


def _title(what: str, i: int, tables: list[Mapping[str, Any]], name: str) -> str:
    return name if len(tables) == 1 else f"{what} {i + 1} of {name}"


def _one_batch(table: Mapping[str, Any], row: str) -> Measurement:
    """A static batch: all of it decodes at once, without speculation."""
    context = _middle(count(table, "input_len", row), count(table, "output_len", row))
    seconds = number(table, "median_decode_latency", row)
    return _made(row, "step", B=count(table, "batch_size", row), T=1, S=context, seconds=seconds)


def _served(table: Mapping[str, Any], row: str, gamma: float | None) -> Measurement:
    """A served run with a fixed number of requests at a time."""
    completed = count(table, "completed", row)
    if table.get("max_concurrency") is None:
        raise CalibrationError(
            [f"{row}: how many requests ran at a time is not known: run with --max-concurrency"]
        )
    batch = count(table, "max_concurrency", row)
    if completed < batch or not batch:
        raise CalibrationError(
            [
                f"{row}: {completed} requests completed with room for {batch} at a time: the batch "
                "was never full. Send several times as many requests as run at a time"
            ]
        )
    each = {
        key: count(table, f"total_{key}_tokens", row) / completed for key in ("input", "output")
    }
    length, tokens = _drafts(table, row, gamma)
    return _made(
        row,
        "token_time",
        B=batch,
        S=_middle(each["input"], each["output"]),
        seconds=number(table, "median_tpot_ms", row) * _MS,
        gamma=length,
        N=tokens,
    )


def _drafts(table: Mapping[str, Any], row: str, gamma: float | None) -> tuple[float, float | None]:
    """Draft length and tokens of a round; 0 and none without speculation."""
    if table.get("spec_decode_num_drafts"):
        counted = {
            key: count(table, f"spec_decode_{name}", row)
            for key, name in (
                ("steps", "num_drafts"),
                ("drafted", "draft_tokens"),
                ("accepted", "accepted_tokens"),
            )
        }
        length = counted["drafted"] / counted["steps"]
        if gamma is None and abs(length - round(length)) > _ONE_LENGTH:
            raise CalibrationError(
                [
                    f"{row}: {length:.3g} tokens drafted a round, so the length changed in the "
                    "run; measure with one length"
                ]
            )
        if gamma is not None and abs(length - gamma) > _ONE_LENGTH * gamma:
            raise CalibrationError(
                [f"{row}: gamma = {gamma:g} was given, but it drafted {length:.3g} tokens a round"]
            )
        tokens = counting.counted_tokens(steps=counted["steps"], accepted=counted["accepted"])
        return float(round(length)), float(tokens)
    mean = optional_number(table, "accept_length", row)
    if mean is None or mean == 0 or (mean == 1 and not gamma):
        if gamma:
            raise CalibrationError(
                [f"{row}: gamma = {gamma:g} was given, but the result tells of no speculation"]
            )
        return 0.0, None
    if not gamma:
        raise CalibrationError(
            [
                f"{row}: {mean:g} tokens a round were accepted, so it speculated; say with which "
                "draft length: gamma=…, or --gamma"
            ]
        )
    return float(gamma), mean


def _middle(prompt: float, output: float) -> float:
    """The mean context while decoding: the prompt, and half of what was written."""
    return prompt + output / 2


def _made(row: str, kind: str, **given: Any) -> Measurement:
    try:
        made: Measurement = getattr(Measurement, kind)(**given, row=row)
    except (TypeError, ValueError) as error:
        raise CalibrationError([str(error)]) from error
    return made
