"""What must hold of every step, whatever the model, the accelerator and the deployment."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specdec_lib as sd
from specdec_lib.cost.breakdown import COMPONENTS
from specdec_lib.deployment import Offload, Routing, VerifyCurve
from specdec_lib.symbols import B as BATCH
from specdec_lib.symbols import S as CONTEXT
from specdec_lib.symbols import T as WIDTH

MODELS = (
    "deepseek-v4-flash",
    "deepseek-v3",
    "gpt-oss-120b",
    "llama-3.1-8b",
    "qwen3.6-35b-a3b",
)

#: Deployments that between them use every option.
DEPLOYMENTS: dict[str, dict[str, Any]] = {
    "ideal": {},
    "typical, 8 devices": {"typical": True, "tp": 8},
    "typical, 8 replicas, graphs": {"typical": True, "dp": 8, "ep": 8, "max_graph_tokens": 256},
    "options": {
        "corner": "smooth",
        "kv_cache": "fp8",
        "selection_spread": 0.5,
        "tile_rows": 64,
        "routing": Routing(locality=0.74),
        "offload": Offload(0.5, 100e9),
    },
    "curve": {"verify_curve": VerifyCurve({8: 4.0, 64: 64.0})},
}


@functools.cache
def step_cost(model: str, deployment: str) -> sd.StepCost:
    options = dict(DEPLOYMENTS[deployment])
    gpu = sd.gpu("h200")
    if options.pop("typical", False):
        return sd.StepCost(sd.model(model), gpu, sd.Deployment.typical(gpu, **options))
    return sd.StepCost(sd.model(model), gpu, sd.Deployment.ideal(**options))


costs = st.builds(step_cost, st.sampled_from(MODELS), st.sampled_from(sorted(DEPLOYMENTS)))
#: Prices take longest to compile, so that fewer models stand for all kinds of layer.
priced = st.builds(
    step_cost,
    st.sampled_from(("deepseek-v4-flash", "qwen3.6-35b-a3b")),
    st.sampled_from(sorted(DEPLOYMENTS)),
)
batches = st.integers(1, 20_000)
widths = st.integers(1, 64)
contexts = st.integers(0, 1_000_000)


@given(costs, batches, widths, contexts, batches, widths, contexts)
@settings(deadline=None, max_examples=150)
def test_a_step_never_gets_cheaper_with_more_of_anything(
    cost: sd.StepCost, B: int, T: int, S: int, B2: int, T2: int, S2: int
) -> None:
    less = cost(B=min(B, B2), T=min(T, T2), S=min(S, S2))
    more = cost(B=max(B, B2), T=max(T, T2), S=max(S, S2))
    assert 0 < less <= more * (1 + 1e-12)


@given(costs, batches, widths, contexts)
@settings(deadline=None, max_examples=100)
def test_the_breakdown_adds_up(cost: sd.StepCost, B: int, T: int, S: int) -> None:
    parts = cost.breakdown(B=B, T=T, S=S)
    assert set(COMPONENTS) <= set(parts)
    assert parts.seconds == pytest.approx(cost(B=B, T=T, S=S), rel=1e-12)
    for share in parts.values():
        assert share.seconds >= 0 and share.flops >= 0 and share.bytes >= 0
        assert share.bound in ("compute", "memory", "fixed", "link", "none")


@given(priced, batches, widths, contexts)
@settings(deadline=None, max_examples=100)
def test_a_marginal_token_costs_between_nothing_and_an_average_one(
    cost: sd.StepCost, B: int, T: int, S: int
) -> None:
    prices = cost.marginal_prices(B=B, T=T, S=S)
    most = 1 + 1e-9
    if cost.deployment.verify_curve is not None:
        most = 64 / 4  # a measured curve may rise faster than its width
    for name, price in prices.items():
        assert -1e-12 <= price <= most, name


@given(st.sampled_from(MODELS), batches, st.integers(1, 63), contexts)
@settings(deadline=None, max_examples=100)
def test_a_verify_pass_costs_no_more_than_plain_steps(model: str, B: int, T: int, S: int) -> None:
    """0 ≤ r ≤ 1 once more, across corners: C(B, T, S)/T never grows."""
    cost = step_cost(model, "ideal")
    now, next_ = (cost(B=B, T=t, S=S) / t for t in (T, T + 1))
    assert next_ <= now * (1 + 1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_the_price_is_the_slope(model: str) -> None:
    """Against a finite difference of the step itself, away from corners."""
    cost = step_cost(model, "ideal")
    rng = np.random.default_rng(3)
    B, S = rng.integers(1, 3000, 40), rng.integers(10, 300_000, 40)
    T = rng.uniform(1.5, 16, 40)
    h = 1e-5
    slope = np.log(cost(B=B, T=T * (1 + h), S=S) / cost(B=B, T=T * (1 - h), S=S)) / (2 * h)
    np.testing.assert_allclose(cost.marginal_prices(B=B, T=T, S=S)["step"], slope, atol=1e-6)


def test_the_price_of_the_experts_is_the_formula_of_the_chapter() -> None:
    """While memory-bound, the routed experts' price is n·A′(n)/A(n); 0.85 with the shared one."""
    cost = step_cost("deepseek-v4-flash", "ideal")
    n = np.array([1, 4, 16, 64])
    price = cost.marginal_prices(B=n, T=1, S=1)["moe"]
    law = sd.formulas.experts.marginal_price
    np.testing.assert_allclose(price, law(n=n, E=256, k=6, s=0), rtol=1e-12)
    assert law(n=1, E=256, k=6, s=1) == pytest.approx(0.85, abs=0.005)


def test_heads_that_fill_whole_tiles_pay_for_every_token() -> None:
    """64 heads on tiles of 64 rows make no staircase: the price is that without tiles."""
    V4, gpu = sd.model("deepseek-v4-flash"), sd.gpu("h200")
    at = {"B": 64, "T": np.array([1, 2, 5]), "S": 200_000}
    plain, tiled = (
        sd.StepCost(V4, gpu, sd.Deployment.ideal(tile_rows=rows)).marginal_prices(**at)
        for rows in (1, 64)
    )
    np.testing.assert_array_equal(tiled["attn_core"], plain["attn_core"])
    assert tiled["attn_core"][-1] > 0.9


def test_the_step_price_is_the_mean_of_its_parts() -> None:
    cost = step_cost("deepseek-v3", "typical, 8 devices")
    at = {"B": 16, "T": 4, "S": 20_000}
    parts, prices = cost.breakdown(**at), cost.marginal_prices(**at)
    mean = sum(parts[key].seconds * price for key, price in prices.items() if key != "step")
    assert prices["step"] == pytest.approx(mean / parts.seconds, rel=1e-12)


def test_the_ideal_engine_waits_for_nothing_but_its_roofline() -> None:
    """Faster memory and arithmetic by one factor make the whole step faster by it."""
    gpu = sd.gpu("h200")
    double = replace(
        gpu, bandwidth=2 * gpu.bandwidth, peak={key: 2 * rate for key, rate in gpu.peak.items()}
    )
    at = {"B": np.array([1, 100, 5000]), "T": 3, "S": 10_000}
    for model in MODELS:
        ratio = step_cost(model, "ideal")(**at) / sd.StepCost(sd.model(model), double)(**at)
        np.testing.assert_allclose(ratio, 2, rtol=1e-12)


@pytest.mark.parametrize(
    "deployment", ["typical, 8 devices", "typical, 8 replicas, graphs", "options", "curve"]
)
def test_every_deployment_is_one_expression_too(deployment: str) -> None:
    """NumPy and SymPy agree, whatever a deployment adds."""
    cost = step_cost("deepseek-v4-flash", deployment)
    for b, t, s in ((1, 1, 0), (7, 3, 4097), (300, 5, 100_000), (4096, 2, 777)):
        exact = float(cost.expr.subs({BATCH: b, WIDTH: t, CONTEXT: s}).evalf(30))
        assert cost(B=b, T=t, S=s) == pytest.approx(exact, rel=1e-12)
