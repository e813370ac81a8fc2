"""Measures of a whole step, on the ideal engine, on a typical one, and as others have timed it."""

from __future__ import annotations

import functools

import numpy as np

from specdec_lib import catalog
from specdec_lib.catalog import measured
from specdec_lib.cost import StepCost
from specdec_lib.deployment import Deployment
from specdec_lib.formulas import price, roofline

__all__ = [
    "drafted_price",
    "free_band",
    "growth_in_speed",
    "least_drafted_price",
    "step_price",
    "timed_drafted_price",
    "timed_growth_in_speed",
    "timed_matrix_growth",
    "verify_ratio",
]


@functools.cache
def step(model: str, gpu: str, engine: str) -> StepCost:
    """The step of a model on one device, on the "ideal" or the "typical" engine."""
    device = catalog.gpu(gpu)
    served = {"ideal": Deployment.ideal(), "typical": Deployment.typical(device)}[engine]
    return StepCost(catalog.model(model), device, served)


def verify_ratio(*, model: str, gpu: str, engine: str, B: int, T: int, S: int) -> float:
    """A pass that verifies T tokens, in plain steps."""
    cost = step(model, gpu, engine)
    return float(cost(B=B, T=T, S=S) / cost(B=B, T=1, S=S))


def free_band(*, model: str, gpu: str, engine: str, T: int, S: int, within: float) -> float:
    """How many batches up to 8 192 verify T tokens within that fraction of a plain step."""
    cost, batches = step(model, gpu, engine), np.arange(1, 8193)
    ratio = cost(B=batches, T=T, S=S) / cost(B=batches, T=1, S=S)
    return float(np.count_nonzero(ratio <= 1 + within))


def step_price(*, model: str, gpu: str, engine: str, B: int, T: int, S: int) -> float:
    """Price of a marginal verify token in the whole step, relative to an average one."""
    return float(step(model, gpu, engine).marginal_prices(B=B, T=T, S=S)["step"])


def drafted_price(*, model: str, gpu: str, engine: str, gamma: int, B: int, S: int) -> float:
    """What each of γ drafted tokens adds to the step, in plain steps."""
    cost = step(model, gpu, engine)
    plain, verify = cost(B=B, T=1, S=S), cost(B=B, T=gamma + 1, S=S)
    return float(price.drafted_price(C_verify=verify, C_0=plain, gamma=gamma))


def least_drafted_price(
    *, model: str, gpu: str, engine: str, gamma: int, B_max: int, S: int
) -> float:
    """The least of these prices over all batches up to ``B_max``."""
    cost, batches = step(model, gpu, engine), np.arange(1, B_max + 1)
    plain, verify = (cost(B=batches, T=T, S=S) for T in (1, gamma + 1))
    return float(np.min(price.drafted_price(C_verify=verify, C_0=plain, gamma=gamma)))


def growth_in_speed(*, model: str, gpu: str, engine: str, B: int, S: int) -> float:
    """Tokens a second of B sequences over those of one, over B: 1 where speed follows the batch."""
    cost = step(model, gpu, engine)
    return float(cost(B=1, T=1, S=S) / cost(B=B, T=1, S=S))


def timed_growth_in_speed(*, B: int) -> float:
    """The same of DeepSeek-V4-Flash on four B300, as it was timed."""
    seen = measured("verify-step-b300")
    at = dict(zip(seen["n"], seen["time"], strict=True))
    return float(at[1] / at[B])


def timed_drafted_price(*, gamma: int) -> float:
    """What each of γ drafted tokens adds for one user of a mixture, in plain steps, as timed."""
    timed = measured("verify-widths-mlx")
    at = dict(zip(timed["T"], timed["time"], strict=True))
    return float(price.drafted_price(C_verify=at[gamma + 1], C_0=at[1], gamma=gamma))


def timed_matrix_growth(*, gpu: str, few: int, many: int) -> float:
    """Time of the matrix products of Llama-3.1-70B with many tokens over that with few, from the
    measured shares of bandwidth and peak that such products reach."""
    small, large = measured("dense-gemm-reading"), measured("dense-gemm-computing")
    device, key = catalog.gpu(gpu), gpu.lower()
    weights = catalog.model("llama-3.1-70b").architecture
    keys = ("dense_ffn", "attn_proj", "head")
    P = sum(weights.matrix_parameters(part) for part in keys)
    traffic = roofline.weight_traffic(P=P, b=weights.precision("dense_ffn").bytes)

    def time(tokens: int) -> float:
        reads = tokens in small["n"]
        table = small if reads else large
        share = float(table[key][list(table["n"]).index(tokens)])
        return float(
            roofline.roofline_time(
                work=roofline.weight_work(P=P, n=tokens),
                traffic=traffic,
                peak=device.rate("bf16"),
                bandwidth=device.bandwidth,
                eta_m=share if reads else 1,
                eta_c=1 if reads else share,
            )
        )

    return time(many) / time(few)
