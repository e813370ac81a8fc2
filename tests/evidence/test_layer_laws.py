"""Fits of MoE layers: they find what was put in, and predict models that they have not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from specdec_lib.deployment.defaults import defaults
from specdec_lib.evidence import knees, layer_laws, routing_laws
from specdec_lib.evidence.fitting import MEMORY, fitted, score
from specdec_lib.evidence.layer_laws import device_fits, fit_layers, held_against, left_out_errors
from specdec_lib.evidence.moe_layers import Layers, below_knee, layers
from specdec_lib.formulas.roofline import kernel_time

T_0, ETA = 21e-6, 0.83


def made(timed: Layers, experts: np.ndarray) -> Layers:
    """These rows, timed by a device with a fixed time of 21 µs at 0.83 of its bandwidth."""
    return replace(timed, seconds=T_0 + experts * timed.P_e * timed.b / (ETA * timed.bandwidth))


@pytest.fixture(scope="module")
def held() -> Layers:
    return held_against()


@pytest.mark.parametrize("law", ["balanced", "uniform", "linear", "all experts"])
def test_a_fit_finds_what_was_put_in_by_each_law(held: Layers, law: str) -> None:
    n, k, E = held.n, held.k, held.E
    experts = {
        "balanced": np.minimum(n * k, E),
        "uniform": E - E * np.exp(n * np.log1p(-k / E)),
        "linear": n * k,
        "all experts": E,
    }[law]
    fit = fit_layers(made(held, experts), law)
    assert fit.values["t_0"] == pytest.approx(T_0, rel=1e-3)
    assert fit.values["eta_m"] == pytest.approx(ETA, rel=1e-4)
    assert np.abs(fit.errors).max() < 1e-3


def test_a_few_odd_rows_do_not_bend_a_fit(held: Layers) -> None:
    rows = made(held, np.minimum(held.n * held.k, held.E))
    odd = rows.seconds.copy()
    odd[::12] *= 1.5
    fit = fit_layers(replace(rows, seconds=odd))
    assert fit.values["eta_m"] == pytest.approx(ETA, rel=0.01)
    assert fit.values["t_0"] == pytest.approx(T_0, rel=0.05)


def test_too_few_rows_are_refused(held: Layers) -> None:
    with pytest.raises(ValueError, match="1 rows cannot settle t_0, eta_m"):
        fit_layers(held.keep(np.array([0])))
    with pytest.raises(ValueError, match="no row to score"):
        score("nothing", np.array([]))


def test_a_fit_is_the_same_twice(held: Layers) -> None:
    assert device_fits(held) == device_fits(held)


def test_a_left_out_model_has_no_say_in_its_prediction(held: Layers) -> None:
    """With its own times doubled, each prediction for it stays: its error halves from 1 + e."""
    errors = left_out_errors(held)
    own = (held.model == "DeepSeek-V4-Flash") & (held.gpu == "B200")
    moved = replace(held, seconds=np.where(own, 2 * held.seconds, held.seconds))
    np.testing.assert_allclose(1 + left_out_errors(moved)[own], (1 + errors[own]) / 2, rtol=1e-9)
    others = held.gpu != "B200"
    np.testing.assert_allclose(left_out_errors(moved)[others], errors[others], rtol=1e-9)


def test_a_device_with_one_model_has_none_to_learn_from(held: Layers) -> None:
    with pytest.raises(ValueError, match="H100 SXM has no model but Mixtral-8x7B"):
        left_out_errors(held.keep((held.gpu == "H100 SXM") & (held.model == "Mixtral-8x7B")))


def test_the_published_fit_of_one_kernel() -> None:
    """An account of the same package fits DeepSeek-V4-Flash's MXFP4 layer on B200 with SGLang as
    19.8 µs and 1.968 µs an expert, from every token count up to 256 and by least squares."""
    timed = below_knee(layers())
    rows = timed.keep(
        (timed.gpu == "B200")
        & (timed.engine == "SGLang")
        & (timed.model == "DeepSeek-V4-Flash")
        & (timed.format == "w4a8_mxfp4_mxfp8")
    )
    fit = fit_layers(rows)
    per_expert = 25_165_824 * 0.53125 / (fit.values["eta_m"] * 8e12)
    assert fit.values["t_0"] == pytest.approx(19.8e-6, abs=1.5e-6)
    assert per_expert == pytest.approx(1.968e-6, rel=0.02)


def test_the_law_beats_its_rivals(held: Layers) -> None:
    law, *rest = layer_laws.rivals(held)
    assert law.what == "balanced" and law.rows == len(held)
    assert all(law.median < other.median and law.p90 < other.p90 for other in rest)
    assert abs(law.bias) < 0.01


def test_devices_reach_the_bandwidth_that_they_are_known_for() -> None:
    """The published range of marginal bandwidths: 0.8 to 0.93 on all four."""
    found = device_fits()
    assert {fit.gpu for fit in found} == {"A100 SXM 80 GB", "H100 SXM", "H200 SXM", "B200"}
    assert all(0.8 < fit.eta_m < 0.93 and 10 < fit.microseconds < 45 for fit in found)


def test_the_deployments_read_experts_about_as_fast_as_the_fits() -> None:
    """Their efficiencies are medians over kernels and models; the fits take the fastest kernels."""
    for fit in device_fits():
        known = defaults().efficiencies[fit.gpu]["memory"]["moe"]
        assert known.value == pytest.approx(fit.eta_m, abs=0.1), fit.gpu
        assert known.value <= fit.eta_m + 0.01


# --- routing ---


def test_experts_are_read_back_from_skewed_times() -> None:
    """Rows timed by the uniform law imply exactly its experts."""
    timed = layers()
    one = timed.keep((timed.gpu == "H200 SXM") & (timed.engine == "TensorRT-LLM"))
    n, k, E = one.n, one.k, one.E
    even = one.routing == "balanced"
    experts = np.where(even, np.minimum(n * k, E), E * (1 - (1 - k / E) ** n))
    found = routing_laws.implied_experts(made(one, experts))
    assert len(found) > 20
    for touched in found:
        assert touched.implied == pytest.approx(touched.uniform, rel=1e-3)


# --- knees ---


def curve(timed: Layers, early: float, smooth: bool) -> Layers:
    """Rows of a device without fixed time that reads at full speed and computes at peak/early."""
    reading = np.minimum(timed.n * timed.k, timed.E) * timed.P_e * timed.b / timed.bandwidth
    computing = 2 * timed.n * timed.k * timed.P_e * early / timed.peak
    both = np.hypot(reading, computing) if smooth else np.maximum(reading, computing)
    return replace(timed, seconds=both)


@pytest.mark.parametrize("early", [2.0, 4.0])
def test_the_knee_of_a_rounded_curve_is_found(early: float) -> None:
    """It is read where the curve has risen by √2: at the ridge over ``early``."""
    rows = curve(knees.balanced_curves(), early, smooth=True)
    found = knees.knees(rows)
    assert found
    for knee in found:
        assert knee.early == pytest.approx(early, rel=0.05)
        assert knee.top_rate == pytest.approx(1 / early, rel=0.1)


def test_the_ridge_in_tokens_by_hand() -> None:
    """B200 at fp8, MXFP4 weights: 562.5 × 0.53125 / 2 × 256/6 = 6 375 tokens."""
    (flash,) = (
        knee
        for knee in knees.knees()
        if (knee.gpu, knee.model, knee.format) == ("B200", "DeepSeek-V4-Flash", "w4a8_mxfp4_mxfp8")
    )
    assert flash.ridge == pytest.approx(6375)
    assert flash.early == pytest.approx(flash.ridge / flash.measured)
    assert 512 < flash.measured < 4096 and flash.top_rate == pytest.approx(0.53, abs=0.01)


@pytest.mark.parametrize("corner, smooth", [("hard", False), ("smooth", True)])
def test_a_corner_is_fitted_by_its_own_law(corner: str, smooth: bool) -> None:
    rows = knees.balanced_curves()
    fit = knees.whole_curve(curve(rows, 2.5, smooth).keep(rows.gpu == "H100 SXM"), corner)
    assert fit.values["eta_c"] == pytest.approx(0.4, rel=0.01)
    assert fit.values["eta_m"] == pytest.approx(1, rel=0.01)


def test_kernels_have_rounded_corners() -> None:
    found = knees.corners()
    hard, smooth = (
        np.array([one.p90 for one in found if one.corner == corner]) for corner in knees.CORNERS
    )
    assert (smooth < hard).all(), "in the 90th percentile, on every device and format"


def test_a_fit_may_have_any_law() -> None:
    fit = fitted(
        lambda eta, **given: kernel_time(t_0=0, eta_m=eta, eta_c=eta, **given),
        {"eta": MEMORY},
        np.array([2.0, 4.0]),
        work=0.0, traffic=np.array([1.0, 2.0]), peak=1.0, bandwidth=1.0,
    )  # fmt: skip
    assert fit.values["eta"] == pytest.approx(0.5)
