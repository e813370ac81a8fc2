"""Fitting: what is known is found again, what is not measured stays, and how sure it is."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib.calibrate import PARAMETERS, Measurement, fit
from specdec_lib.calibrate.parameters import Factors, Space, usual_noise, widths
from specdec_lib.calibrate.rows import Rows
from specdec_lib.calibrate.solve import solve
from specdec_lib.deployment import Routing
from tests.calibrate.measured import BASE, DENSE, GPU, MIXTURE, POINTS, steps


class TestSteps:
    """The fit's own step is the step cost, wherever its factors stand."""

    @pytest.mark.parametrize("corner", ["smooth", "hard"])
    @pytest.mark.parametrize("model", [DENSE, MIXTURE], ids=["dense", "mixture"])
    def test_every_point_of_the_fit_is_a_deployment(self, model: sd.Model, corner: str) -> None:
        base = replace(BASE, corner=corner, max_graph_tokens=256)
        names = tuple(PARAMETERS) if model is MIXTURE else tuple(
            n for n in PARAMETERS if n not in ("expert_efficiency", "locality")
        )  # fmt: skip
        space = Space(base, names)
        theta = np.linspace(-0.3, 0.1, len(names))
        theta[-3:] = -0.2
        factors = space.factors(theta)
        cost = sd.StepCost(model, GPU, space.deployment(factors))
        rows = Rows(steps(cost), model, GPU, base, None)
        assert rows.predicted(factors) == pytest.approx(rows.value, rel=1e-12)

    @pytest.mark.parametrize(
        "drafter",
        [
            sd.drafters.mtp(),
            sd.drafters.fraction(0.1),
            sd.drafters.ngram(host=1e-4),
            sd.drafters.mtp(deployment=sd.Deployment.ideal(round_overhead=1e-3)),
        ],
        ids=["passes", "fraction", "look-up", "apart"],
    )
    def test_rounds_are_those_of_a_plan(self, drafter: sd.drafters.Drafter) -> None:
        names = ("fixed_time", "memory_efficiency", "pass_overhead", "round_overhead")
        space = Space(BASE, names)
        factors = space.factors(np.array([0.2, -0.1, 0.3, -0.4]))
        cost = sd.StepCost(MIXTURE, GPU, space.deployment(factors))
        plan = sd.Plan(cost, drafter, sd.Geometric(0.7))
        at = {"gamma": 3, "B": 8, "S": 4096}
        N = float(plan.tokens(**{k: at[k] for k in ("gamma", "S")}))
        rows = [
            Measurement.ratio(**at, ratio=plan.step_ratio(**at)),
            Measurement.speedup(**at, N=N, speedup=plan.speedup(**at)),
            Measurement.round(**at, seconds=plan.round(**at).seconds),
            Measurement.token_time(**at, N=N, seconds=plan.latency(**at)),
            Measurement.throughput(**at, N=N, tokens_per_second=plan.throughput(**at), of="decode"),
        ]
        found = Rows(rows, MIXTURE, GPU, BASE, drafter)
        assert found.predicted(factors) == pytest.approx(found.value, rel=1e-12)
        seconds = plan.round(**at).seconds
        assert found.round_seconds()[2:] == pytest.approx([seconds] * 3, rel=1e-12)


class TestRecovery:
    """Known parameters come back."""

    def test_exact_times_give_the_step_back(self) -> None:
        truth = replace(
            BASE,
            step_overhead=BASE.step_overhead * 2,
            layer_overhead={k: 2 * t for k, t in BASE.layer_overhead.items()},
            memory_efficiency={k: 0.9 * e for k, e in BASE.memory_efficiency.items()},
        )
        found = fit(steps(sd.StepCost(DENSE, GPU, truth)), DENSE, GPU, BASE, noise=1e-3)
        assert found["fixed_time"].value / found["fixed_time"].base == pytest.approx(2, rel=0.01)
        fraction = found["memory_efficiency"]
        assert fraction.value / fraction.base == pytest.approx(0.9, rel=0.01)
        assert max(abs(row.residual) for row in found.rows) < 1e-3
        again = sd.StepCost(DENSE, GPU, found.deployment)
        for row in found.rows:
            m = row.measurement
            assert again(B=m.B, T=m.T, S=m.S) == pytest.approx(row.predicted, rel=1e-9)

    def test_locality_is_found(self) -> None:
        truth = replace(BASE, routing=Routing(locality=0.6))
        rows = steps(sd.StepCost(MIXTURE, GPU, truth), [(1, 1), (4, 1), (4, 8), (16, 8)])
        found = fit(rows, MIXTURE, GPU, BASE, noise=0.01)
        assert found["locality"].determined
        assert found["locality"].value == pytest.approx(0.6, abs=0.05)
        assert found.deployment.routing.locality == found["locality"].value

    def test_intervals_hold_what_they_say(self) -> None:
        """80 % intervals hold the truth in 80 % of many fits, where the truth is drawn from what is
        known before and the noise is as said."""
        names = ("fixed_time", "token_overhead", "memory_efficiency")
        space = Space(BASE, names)
        random = np.random.default_rng(7)
        rows = Rows(steps(sd.StepCost(DENSE, GPU, BASE)), DENSE, GPU, BASE, None)
        held: list[list[bool]] = []
        for _ in range(60):
            theta = np.minimum(random.normal(0, space.width), space.high)
            times = rows.predicted(space.factors(theta))
            times = times * np.exp(0.03 * random.standard_normal(len(times)))
            measured = [
                Measurement.step(B=B, T=T, S=4096, seconds=t)
                for (B, T), t in zip(POINTS, times, strict=True)
            ]
            found = fit(measured, DENSE, GPU, BASE, noise=0.03, parameters=names)
            factors = np.exp(theta)
            held.append(
                [
                    found[name].low <= found[name].base * factor * (1 + 1e-9)
                    and found[name].base * factor <= found[name].high * (1 + 1e-9)
                    for name, factor in zip(names, factors, strict=True)
                ]
            )
        share = np.mean(held)
        assert 0.72 <= share <= 0.90, share  # 180 trials, not all independent: ± 3 deviations
        each = np.mean(held, axis=0)
        assert (each > 0.62).all(), each

    def test_noise_that_is_larger_than_said_widens(self) -> None:
        rows = steps(sd.StepCost(DENSE, GPU, BASE), noise=0.05, seed=4)
        told, found = (fit(rows, DENSE, GPU, BASE, noise=n) for n in (0.05, 0.02))
        assert told.spread < 1.1
        assert found.spread > 1.5
        assert any("further from the model" in note for note in found.notes)
        width = {n: np.log(f["fixed_time"].high / f["fixed_time"].low)
                 for n, f in (("told", told), ("found", found))}  # fmt: skip
        assert 0.5 < width["found"] / width["told"] < 2


class TestPrior:
    """Little data moves what it can."""

    def test_a_vague_row_is_weighed_against_what_was_known(self) -> None:
        """One parameter and one row, by hand: θ = w²·s·r / (σ² + w²·s²), to first order in r, where
        s is the fixed share of the step."""
        base = replace(BASE, token_overhead=0.0)
        cost = sd.StepCost(DENSE, GPU, base)
        at = {"B": 1, "T": 1, "S": 4096}
        share = cost.breakdown(**at)["overhead"].seconds / cost(**at)
        off, noise, width = 0.01, 0.5, widths()["fixed_time"].value
        row = Measurement.step(**at, seconds=cost(**at) * np.exp(off))
        found = fit(row, DENSE, GPU, base, noise=noise, parameters=["fixed_time"])["fixed_time"]
        wanted = width**2 * share * off / (noise**2 + (width * share) ** 2)
        assert np.log(found.value / found.base) == pytest.approx(wanted, rel=0.02)
        left = noise**2 / (noise**2 + (width * share) ** 2)
        assert found.learned == pytest.approx(1 - left, rel=0.02)

    def test_one_plain_step(self) -> None:
        cost = sd.StepCost(MIXTURE, GPU, replace(BASE, step_overhead=5e-3))
        [row] = steps(cost, [(1, 1)])
        found = fit(row, MIXTURE, GPU, BASE)
        assert found["fixed_time"].determined
        assert found["fixed_time"].rows == ("row 0",)
        # the step is met within the noise that was said
        assert abs(found.rows[0].residual) < 0.03
        for untouched in ("pass_overhead", "round_overhead", "locality"):
            assert found[untouched].learned == pytest.approx(0, abs=1e-9)
            assert found[untouched].value == pytest.approx(found[untouched].base, rel=1e-12)
            assert not found[untouched].rows
        assert found.deployment.pass_overhead == BASE.pass_overhead
        assert found.deployment.sources["pass_overhead"] == BASE.sources["pass_overhead"]

    def test_what_no_row_touches_keeps_its_width(self) -> None:
        found = fit(steps(sd.StepCost(DENSE, GPU, BASE), [(1, 1)]), DENSE, GPU, BASE)
        ends = found["round_overhead"]
        z = 1.2815515655446004  # the normal quantile of 0.9
        width = widths()["round_overhead"].value
        assert np.log(ends.high / ends.base) == pytest.approx(z * width, rel=1e-9)
        assert np.log(ends.low / ends.base) == pytest.approx(-z * width, rel=1e-9)

    def test_two_points_tell_more_than_one(self) -> None:
        rows = steps(sd.StepCost(DENSE, GPU, BASE), [(1, 1), (512, 4)])
        one, two = fit(rows[:1], DENSE, GPU, BASE), fit(rows, DENSE, GPU, BASE)
        assert two["compute_efficiency"].learned > one["compute_efficiency"].learned + 0.1
        assert two["fixed_time"].learned >= one["fixed_time"].learned

    def test_identical_points_add_nothing(self) -> None:
        rows = steps(sd.StepCost(DENSE, GPU, replace(BASE, step_overhead=2e-3)), [(1, 1)])
        one, three = fit(rows, DENSE, GPU, BASE), fit(rows * 3, DENSE, GPU, BASE)
        for name, each in one.items():
            for field in ("value", "low", "high", "learned"):
                assert getattr(three[name], field) == pytest.approx(
                    getattr(each, field), rel=1e-6, abs=1e-9
                ), (name, field)
        assert any("3 times" in note for note in three.notes)

    def test_one_round_moves_what_drafting_costs(self) -> None:
        truth = replace(BASE, round_overhead=6e-3)
        plan = sd.Plan(sd.StepCost(MIXTURE, GPU, truth), sd.drafters.mtp(), sd.Geometric(0.7))
        at = {"gamma": 3, "B": 8, "S": 4096}
        plain = Measurement.step(B=8, S=4096, seconds=plan.cost(B=8, T=1, S=4096))
        row = Measurement.ratio(**at, ratio=plan.step_ratio(**at))
        found = fit([plain, row], MIXTURE, GPU, BASE, drafter=sd.drafters.mtp())
        assert found["round_overhead"].value > 1.5 * BASE.round_overhead
        assert "round_overhead" in found.deployment.sources
        before = sd.Plan(sd.StepCost(MIXTURE, GPU, BASE), sd.drafters.mtp(), plan.acceptance)
        after = sd.Plan(
            sd.StepCost(MIXTURE, GPU, found.deployment), sd.drafters.mtp(), plan.acceptance
        )
        wanted = plan.step_ratio(**at)
        assert abs(np.log(after.step_ratio(**at) / wanted)) < 0.05
        assert abs(np.log(before.step_ratio(**at) / wanted)) > 0.15

    def test_a_zero_of_the_base_stays_zero(self) -> None:
        ideal = sd.Deployment.ideal()
        found = fit(steps(sd.StepCost(DENSE, GPU, BASE), [(1, 1)]), DENSE, GPU, ideal)
        assert set(found) == {"memory_efficiency", "compute_efficiency"}
        assert found.deployment.step_overhead == 0
        assert found["memory_efficiency"].value < 0.8  # the whole overhead is put on it

    def test_an_efficiency_never_exceeds_one(self) -> None:
        fast = replace(BASE, memory_efficiency={"default": 0.99}, step_overhead=0,
                       layer_overhead={}, token_overhead=0)  # fmt: skip
        found = fit(steps(sd.StepCost(DENSE, GPU, fast)), DENSE, GPU, BASE, noise=0.01)
        assert max(found.deployment.memory_efficiency.values()) <= 1


class TestKnownBefore:
    def test_every_parameter_has_a_width_with_a_source(self) -> None:
        assert set(widths()) == set(PARAMETERS)
        for datum in (*widths().values(), usual_noise()):
            assert datum.provenance.source
            assert datum.provenance.kind == "assumed"


class TestReport:
    def test_reproducible(self) -> None:
        rows = steps(sd.StepCost(DENSE, GPU, BASE), noise=0.05)
        day = datetime.date(2026, 12, 7)
        one, other = (fit(rows, DENSE, GPU, BASE, on=day) for _ in range(2))
        assert one.deployment == other.deployment
        assert one.deployment.sources == other.deployment.sources
        assert dict(one) == dict(other)

    def test_every_value_that_moved_has_a_source_of_this_day(self) -> None:
        day = datetime.date(2026, 12, 7)
        found = fit(steps(sd.StepCost(DENSE, GPU, BASE), noise=0.1), DENSE, GPU, BASE, on=day)
        sources, fitted = found.deployment.sources, found.deployment
        moved = [f"memory_efficiency.{k}" for k in fitted.memory_efficiency if k != "moe"]
        moved += [f"layer_overhead.{k}" for k in fitted.layer_overhead] + ["step_overhead"]
        for name in moved:
            assert sources[name].retrieved == day, name
            assert "row" in sources[name].source, name
        for kept in ("memory_efficiency.moe", "collective_latency"):
            assert sources[kept] == BASE.sources[kept]
        assert fitted.memory_efficiency["moe"] == BASE.memory_efficiency["moe"]

    def test_fast(self) -> None:
        """Well under a second where the model's parts are put together in a tenth of one: counted
        in evaluations of the model, which a busy machine does not change."""
        rows = Rows(steps(sd.StepCost(DENSE, GPU, BASE)), DENSE, GPU, BASE, None)
        calls = 0
        whole = rows.predicted

        def counted(at: Factors) -> np.ndarray:
            nonlocal calls
            calls += 1
            return whole(at)

        space = Space(BASE, ("fixed_time", "memory_efficiency", "compute_efficiency"))
        value = np.log(rows.value * 1.2)
        solve(
            lambda theta: np.log(counted(space.factors(theta))) - value,
            np.full(len(value), 0.05),
            space.width,
            space.low,
            space.high,
        )
        assert 0 < calls < 300
