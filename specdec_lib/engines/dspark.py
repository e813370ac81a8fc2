"""SGLang's step-cost tables for DSpark drafters, filled from a step cost instead of a profile.

The engine decides at each step how many drafted tokens to verify, by a table of what a step of so
many tokens costs.  It is measured with a profiler on the GPU; a priced step fills it without one.
There are two forms, and none has a context axis, so a table is for one context.

*Diagonal*: ``sample_batch_tokens`` (strictly increasing) and ``sample_steps_per_sec``; the largest
sample at or below the tokens of a step decides, up to ``max_batch_tokens``.

*Additive*: step time = bias + α(requests) + θ(tokens), both linear between their probes and
constant beyond; the bias is above zero.

Source: sglang/srt/speculative/dspark_components/dspark_sps.py of release 0.5.23.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.engines.refusal import EngineRefuses, batch_indices, whole
from specdec_lib.formulas.counting import step_tokens
from specdec_lib.schedule import EngineConfig

Floats = NDArray[np.float64]

ENGINE = "SGLang 0.5.23, DSpark"

#: The smallest bias of the additive form, as a share of the cheapest step: it must be above zero.
_LEAST_BIAS = 1e-6


class Cost(Protocol):
    """Anything that prices steps: ``cost(B=…, T=…, S=…)`` in seconds, over arrays."""

    def __call__(self, *, B: Any, T: Any, S: Any) -> Any:
        """Seconds of a step of B sequences with T query tokens each over S context tokens."""


def diagonal(
    cost: Cost, *, context: float, gamma: int, batches: Iterable[int] | None = None
) -> EngineConfig:
    """The diagonal table: steps per second by the tokens of a step, all drafts being full.

    ``gamma`` drafted tokens a request, one more verified; ``batches`` are the request counts to
    sample, the powers of two to 256 by default.
    """
    count = _batches(batches)
    tokens = np.asarray(step_tokens(B=count, gamma=_length(gamma)), dtype=np.int64)
    seconds = _priced(cost, count, np.full(len(count), gamma + 1), context)
    return EngineConfig(
        ENGINE,
        {
            "sample_batch_tokens": tokens.tolist(),
            "sample_steps_per_sec": (1 / seconds).tolist(),
            "max_batch_tokens": int(tokens[-1]),
        },
        flags=_FLAGS,
        explanations=(
            f"steps of {gamma + 1} tokens a request at context {context:g}, priced, not measured",
            *_WORDS,
        ),
    )


def additive(
    cost: Cost,
    *,
    context: float,
    gamma_max: int,
    batches: Iterable[int] | None = None,
) -> EngineConfig:
    """The additive table: the least-squares split of the step time over all request counts and
    verify widths from 1 to ``gamma_max`` + 1.

    The words tell how far the table is from the cost at worst: a step whose time is no sum of the
    two is met only nearly.
    """
    count = _batches(batches)
    widths = np.arange(1, _length(gamma_max) + 2)
    requests, width = (axis.ravel() for axis in np.meshgrid(count, widths, indexing="ij"))
    tokens = requests * width
    seconds = _priced(cost, requests, width, context)
    probes = np.unique(np.concatenate([count, count * widths[-1]]))
    by_requests, by_tokens = _hats(requests, count), _hats(tokens, probes)
    # the first hat of each would only repeat the bias
    design = np.column_stack([np.ones(len(seconds)), by_requests[:, 1:], by_tokens[:, 1:]])
    # relative errors count, so that small steps are met as well as large ones
    solved = np.linalg.lstsq(design / seconds[:, None], np.ones(len(seconds)), rcond=None)[0]
    alpha = np.concatenate([[0.0], solved[1 : len(count)]])
    theta = np.concatenate([[0.0], solved[len(count) :]])
    bias = max(float(solved[0]), _LEAST_BIAS * float(seconds.min()))
    error = np.abs(bias + by_requests @ alpha + by_tokens @ theta - seconds) / seconds
    return EngineConfig(
        ENGINE,
        {
            "bias_seconds": bias,
            "bs_probes": count.tolist(),
            "alpha_seconds": alpha.tolist(),
            "m_probes": probes.tolist(),
            "theta_seconds": theta.tolist(),
        },
        flags=_FLAGS,
        explanations=(
            f"fitted to {len(seconds)} priced steps at context {context:g}; the worst is "
            f"{100 * error.max():.2g} % off, the mean {100 * error.mean():.2g} %",
            *_WORDS,
        ),
    )


_FLAGS = ("--speculative-dspark-sps-table-path", "FILE")
_WORDS = (
    "the table has no context axis: write one for the context that is served",
    "it is read only where SGLANG_RAGGED_VERIFY_MODE is cap-accept or compact",
)


def lookup(config: Mapping[str, Any], *, requests: ArrayLike, tokens: ArrayLike) -> Any:
    """Seconds of a step of ``tokens`` in all of ``requests``, as the engine reads either form.

    Raises EngineRefuses for a table that the engine does not load.
    """
    many = batch_indices(tokens)
    if "bias_seconds" in config:
        bias = float(config["bias_seconds"])
        if not 0 < bias < np.inf:
            raise EngineRefuses(f"bias_seconds: found {bias}; it must be above zero")
        xs, ys = _curve(config, "bs_probes", "alpha_seconds")
        us, vs = _curve(config, "m_probes", "theta_seconds")
        return bias + np.interp(batch_indices(requests), xs, ys) + np.interp(many, us, vs)
    xs, ys = _curve(config, "sample_batch_tokens", "sample_steps_per_sec")
    limit = whole(config.get("max_batch_tokens"), "max_batch_tokens", least=1)
    if limit < xs[-1]:
        raise EngineRefuses(f"max_batch_tokens: {limit} is below the last sample, {xs[-1]:g}")
    at = np.maximum(np.searchsorted(xs, many, side="right") - 1, 0)
    return 1 / ys[at]


def _curve(config: Mapping[str, Any], points: str, values: str) -> tuple[Floats, Floats]:
    xs, ys = (np.asarray(config.get(key, ()), dtype=np.float64) for key in (points, values))
    if xs.ndim != 1 or xs.shape != ys.shape or not xs.size or np.any(np.diff(xs) <= 0):
        raise EngineRefuses(f"{points} must increase strictly, with as many {values}")
    return xs, ys


def _hats(at: NDArray[np.int64], probes: NDArray[np.int64]) -> Floats:
    """Weights of linear interpolation between ``probes``: row i adds up to one at ``at[i]``."""
    return np.column_stack(
        [np.interp(at, probes, row) for row in np.eye(len(probes), dtype=np.float64)]
    )


def _batches(batches: Iterable[int] | None) -> NDArray[np.int64]:
    count = np.unique(batch_indices([1 << i for i in range(9)] if batches is None else [*batches]))
    if len(count) < 2:
        raise ValueError("a step-cost table needs at least two request counts")
    return count


def _length(gamma: int) -> int:
    return whole(gamma, "draft length", least=1)


def _priced(cost: Cost, requests: Any, widths: Any, context: float) -> Floats:
    seconds = np.asarray(cost(B=requests, T=widths, S=context), dtype=np.float64)
    seconds = np.broadcast_to(seconds, np.shape(requests))
    if not np.all((seconds > 0) & np.isfinite(seconds)):
        raise ValueError("the cost of a step must be a finite time above zero")
    return seconds
