"""Step-cost tables: read back by the engine's rule, they give the cost that filled them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib.engines import EngineRefuses, dspark


def additive_cost(*, B: Any, T: Any, S: Any) -> Any:
    """A step that is a sum: 2 ms, 10 µs a request, 3 µs a token, 1 ns a request and context."""
    return 2e-3 + B * (10e-6 + 1e-9 * S) + 3e-6 * B * T


def test_the_additive_form_meets_a_cost_that_is_a_sum() -> None:
    config = dspark.additive(additive_cost, context=4096, gamma_max=5)
    requests = np.array([1, 3, 7, 100, 256])
    for width in (1, 4, 6):
        found = dspark.lookup(config, requests=requests, tokens=requests * width)
        assert found == pytest.approx(additive_cost(B=requests, T=width, S=4096), rel=1e-9)
    assert config["bias_seconds"] > 0
    assert "context 4096" in config.explanations[0]


def test_the_diagonal_form_steps_between_its_samples() -> None:
    config = dspark.diagonal(additive_cost, context=0, gamma=3, batches=[1, 2, 8])
    assert config["sample_batch_tokens"] == [4, 8, 32]
    assert config["max_batch_tokens"] == 32
    exact = [additive_cost(B=b, T=4, S=0) for b in (1, 2, 8)]
    read = dspark.lookup(config, requests=[1, 2, 2, 8], tokens=[4, 8, 31, 32])
    assert read == pytest.approx([exact[0], exact[1], exact[1], exact[2]])


def test_a_priced_model_fills_both_and_says_how_well() -> None:
    """The roofline of a MoE is no sum of the two: the fit has an error, and its words tell it."""
    cost = sd.StepCost(sd.model("qwen3-30b-a3b"), sd.gpu("h100"))
    config = dspark.additive(cost, context=4096, gamma_max=4)
    B, T = np.array([1, 4, 32, 256]), 3
    exact = cost(B=B, T=T, S=4096)
    read = dspark.lookup(config, requests=B, tokens=B * T)
    worst = float(config.explanations[0].split("worst is ")[1].split(" %")[0]) / 100
    assert np.abs(read / exact - 1).max() <= worst * 1.06  # printed with two digits
    assert worst < 0.2
    table = dspark.diagonal(cost, context=4096, gamma=4)
    assert dspark.lookup(table, requests=8, tokens=40) == pytest.approx(cost(B=8, T=5, S=4096))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"bias_seconds": 0.0}, "above zero"),
        ({"bias_seconds": 1.0, "bs_probes": [2, 1], "alpha_seconds": [1, 1]}, "bs_probes"),
        ({"sample_batch_tokens": [1, 1], "sample_steps_per_sec": [1, 1]}, "increase strictly"),
        ({"sample_batch_tokens": [1], "sample_steps_per_sec": [1, 2]}, "as many"),
        (
            {"sample_batch_tokens": [8], "sample_steps_per_sec": [1.0], "max_batch_tokens": 4},
            "below the last sample",
        ),
        ({}, "sample_batch_tokens"),
    ],
)
def test_refuses_what_the_engine_does(config: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineRefuses, match=message):
        dspark.lookup(config, requests=1, tokens=1)


def free(*, B: Any, T: Any, S: Any) -> Any:
    return 0.0 * B


def test_refuses_a_cost_that_is_none() -> None:
    with pytest.raises(ValueError, match="above zero"):
        dspark.diagonal(free, context=1, gamma=1)
    with pytest.raises(ValueError, match="at least two"):
        dspark.diagonal(additive_cost, context=1, gamma=1, batches=[4])
