"""Plans: the speedup, its optimum by plain search, inverses, limits, regimes, one Formula."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specdec_lib as sd
from specdec_lib import DomainError, Geometric, Mixture, PerPosition, Plan, WithContext, drafters
from specdec_lib.deployment import VerifyCurve
from specdec_lib.formulas.published import layer_bytes
from specdec_lib.plan.search import HELD
from specdec_lib.records import references
from tests.vega_runtime import evaluate_in_vega

DATA = Path(__file__).parent / "data"
BATCH = [1, 2, 4, 8, 11, 16, 32, 43, 64, 100, 128, 256, 512, 1024, 4096, 16384]
V4 = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
LLAMA = sd.StepCost(sd.model("llama-3.1-8b"), sd.gpu("h100-sxm"))
CALCULATOR = layer_bytes.where(**references.published("calculator").constants)
LONGEST = int(references.published("calculator-search").constants["gamma"])


def v4(alpha: object = 0.75, c: float = 0.10) -> Plan:
    return Plan(V4, drafters.fraction(c), Geometric(alpha))


def published(alpha: object, c: float = 0.10) -> Plan:
    return Plan(CALCULATOR, drafters.fraction(c), Geometric(alpha))


class TestPublishedOptimum:
    """The calculator's table, with its constants, in its unit of bytes."""

    def test_every_row(self) -> None:
        with (DATA / "published_optimum.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 192
        alpha, S, B, gamma, gain = (
            np.array([float(row[key]) for row in rows])
            for key in ("alpha", "S", "B", "gamma_star", "speedup")
        )
        assert {row["c_draft"] for row in rows} == {"0.1"}
        best = published(alpha).best(B=B, S=S, gamma_max=LONGEST)
        assert best.gamma.tolist() == gamma.tolist()
        assert best.speedup == pytest.approx(gain, abs=6e-7)

    @pytest.mark.parametrize(
        ("alpha", "S", "off"),
        [
            (0.75, 4096, range(4, 14)),
            (0.6, 4096, range(2, 27)),
            (0.79, 4096, range(0)),
            (0.8, 131072, range(6, 10)),
        ],
    )
    def test_the_gutter(self, alpha: float, S: int, off: range) -> None:
        small = np.arange(1, 41)
        gamma = published(alpha).best(B=small, S=S, gamma_max=LONGEST).gamma
        assert small[gamma == 0].tolist() == list(off)

    def test_two_maxima(self) -> None:
        """A search that climbs from 0 stops at once, and the γ = 1 hurdle says off."""
        plan = published(0.95, c=0.265)
        at = {"B": 6, "S": 4096}
        assert plan.speedup(gamma=1, **at) == pytest.approx(0.9993, abs=5e-5)
        assert plan.hurdle(**at) > 0.95
        assert plan.marginal_return(gamma=1, **at) < 1
        best = plan.best(**at, gamma_max=LONGEST)
        assert best.gamma == 17
        assert best.speedup == pytest.approx(1.154, abs=5e-4)

    def test_without_seconds_there_are_no_latencies_and_no_regimes(self) -> None:
        plan, at = published(0.75), {"B": 8, "S": 4096}
        for question in (plan.latency, plan.throughput, plan.regime, plan.round):
            with pytest.raises(TypeError, match="give a StepCost"):
                question(gamma=1, **at)
        with pytest.raises(TypeError, match="give a StepCost"):
            plan.marginal_price(gamma=1, **at)


class TestRealArchitecture:
    def test_the_optimum_of_v4_flash(self) -> None:
        expected = [2, 1, 1, 1, 1, 4, 6, 5, 5, 4, 4, 4, 3, 2, 1, 0]
        assert v4().best(B=BATCH, S=4096).gamma.tolist() == expected

    def test_its_gutter(self) -> None:
        small = np.arange(1, 41)
        assert not np.any(v4(0.75).best(B=small, S=4096).gamma == 0)
        off = small[v4(0.7).best(B=small, S=4096).gamma == 0]
        assert off.tolist() == list(range(5, 15))

    def test_an_independent_calculation(self) -> None:
        """Best lengths and speedups of twelve models on two accelerators."""
        rows = list(csv.DictReader((DATA / "golden_steps.csv").read_text().splitlines()))
        for model, gpu in sorted({(row["model"], row["gpu"]) for row in rows}):
            cost = sd.StepCost(sd.model(model), sd.gpu(gpu))
            here = [row for row in rows if (row["model"], row["gpu"]) == (model, gpu)]
            B, S = (np.array([int(row[key]) for row in here]) for key in "BS")
            for alpha, c in ((0.6, 0.05), (0.8, 0.05), (0.8, 0.2), (0.9, 0.0)):
                name = f"a{alpha}_c{c}"
                plan = Plan(cost, drafters.fraction(c), Geometric(alpha))
                best = plan.best(B=B, S=S, gamma_max=16)
                assert best.gamma.tolist() == [int(row[f"gstar_{name}"]) for row in here]
                gains = [float(row[f"speedup_{name}"]) for row in here]
                assert best.speedup == pytest.approx(gains, rel=1e-9)
                three = [float(row[f"sp_g3_{name}"]) for row in here]
                assert plan.speedup(gamma=3, B=B, S=S) == pytest.approx(three, rel=1e-9)


class TestSearch:
    @settings(max_examples=60, deadline=None)
    @given(
        st.floats(0, 1),
        st.floats(0, 0.5),
        st.integers(1, 2000),
        st.integers(1, 200_000),
        st.integers(0, 20),
    )
    def test_plain_search_finds_the_same(
        self, alpha: float, c: float, B: int, S: int, gamma_max: int
    ) -> None:
        price = V4(B=B, T=1, S=S)
        gains = [1.0]
        for gamma in range(1, gamma_max + 1):
            tokens = sum(alpha**i for i in range(gamma + 1))
            gains.append(tokens * price / (V4(B=B, T=gamma + 1, S=S) + c * gamma * price))
        top = max(gains)
        wanted = next(g for g, gain in enumerate(gains) if gain >= top * (1 - 1e-9))
        best = v4(alpha, c).best(B=B, S=S, gamma_max=gamma_max)
        assert best.speedup == pytest.approx(top, rel=1e-12)
        assert gains[best.gamma] == pytest.approx(top, rel=1e-12)
        assert wanted == best.gamma or gains[wanted] < top * (1 - 1e-13)
        rest = [gain for g, gain in enumerate(gains) if g != best.gamma]
        if rest:
            assert best.margin == pytest.approx(best.speedup / max(rest) - 1, abs=1e-9)
        else:
            assert best.margin == math.inf

    def test_ties_go_to_the_shorter_draft(self) -> None:
        """All accepted, free drafts, and a curve along which each length costs what it brings."""
        ratios = {gamma + 1: gamma + 1.0 for gamma in range(1, 9)}
        set_up = sd.Deployment.ideal(verify_curve=VerifyCurve(ratios))
        cost = sd.StepCost(LLAMA.model, LLAMA.gpu, set_up)
        best = Plan(cost, drafters.fraction(0), Geometric(1.0)).best(B=3, S=100, gamma_max=8)
        assert best.gamma == 0
        assert best.speedup == 1.0
        assert best.margin == pytest.approx(0, abs=1e-12)

    def test_slices_change_nothing(self) -> None:
        """More points than are held at once, as an open grid and flat, are what scalars are."""
        rng = np.random.default_rng(3)
        alpha = np.linspace(0.3, 0.99, 60)
        B, S = np.unique(rng.integers(1, 500, 70)), rng.integers(64, 100_000, 50)
        grid = v4(alpha).best(B=B[:, None, None], S=S[:, None], gamma_max=16)
        assert grid.gamma.shape == (len(B), len(S), len(alpha))
        assert grid.gamma.size * 17 > HELD
        flat = v4(np.broadcast_to(alpha, grid.gamma.shape).ravel()).best(
            B=np.repeat(B, len(S) * len(alpha)), S=np.tile(np.repeat(S, len(alpha)), len(B))
        )
        assert np.array_equal(flat.gamma, grid.gamma.ravel())
        assert flat.speedup == pytest.approx(grid.speedup.ravel(), rel=1e-13)
        for i, j, k in rng.integers(0, (len(B), len(S), len(alpha)), (20, 3)):
            one = v4(float(alpha[k])).best(B=int(B[i]), S=int(S[j]))
            assert one.gamma == grid.gamma[i, j, k]
            assert one.speedup == pytest.approx(grid.speedup[i, j, k], rel=1e-13)
            assert one.regime == grid.regime[i, j, k]
            assert one.tokens == pytest.approx(grid.tokens[i, j, k], rel=1e-13)
            assert one.step_ratio == pytest.approx(one.tokens / one.speedup, rel=1e-12)

    @pytest.mark.parametrize(
        "curve",
        [
            PerPosition.survivals([np.array([0.9, 0.6]), np.array([0.8, 0.2])], beyond="repeat"),
            Mixture([Geometric([0.9, 0.6]), Geometric(0.3)], [[0.5, 0.2], [0.5, 0.8]]),
            WithContext([0.9, 0.7], drop=0.05),
            sd.Decaying([0.9, 0.6], 0.8),
            sd.ByContext({512: Geometric([0.9, 0.8]), 65536: Geometric(0.4)}),
        ],
        ids=lambda curve: type(curve).__name__,
    )
    def test_every_curve_is_searched(self, curve: sd.AcceptanceCurve) -> None:
        plan = Plan(V4, drafters.fraction(0.05), curve)
        B, S = np.array([1, 16, 128])[:, None, None], np.array([[300], [40_000]])
        best = plan.best(B=B, S=S, gamma_max=9)
        every = np.stack([plan.speedup(gamma=g, B=B, S=S) for g in range(10)])
        assert best.gamma.shape == (3, 2, 2)
        assert np.array_equal(best.gamma, np.argmax(every, axis=0))
        assert best.speedup == pytest.approx(every.max(axis=0), rel=1e-13)
        assert plan.table(B=B, S=S, gamma_max=9).speedup == pytest.approx(every, rel=1e-13)

    def test_a_plateau_is_told(self) -> None:
        plan = v4(0.8)
        shortest, longest = plan.plateau(B=64, S=4096, within=0.05)
        gains = [plan.speedup(gamma=g, B=64, S=4096) for g in range(17)]
        near = [g for g, gain in enumerate(gains) if gain >= 0.95 * max(gains)]
        assert (shortest, longest) == (near[0], near[-1])
        assert shortest < plan.best(B=64, S=4096).gamma < longest

    def test_what_is_not_known_is_not_tried(self) -> None:
        plan = Plan(V4, drafters.fraction(0.1), PerPosition.survivals([0.9, 0.8]))
        best = plan.best(B=64, S=4096)
        assert (best.gamma, best.longest) == (2, 2)
        assert "up to 2 tokens were tried, not 16" in best.warnings[0]
        assert "longest" in best.reason
        assert not any("tried" in text for text in plan.best(B=64, S=4096, gamma_max=2).warnings)


class TestLimits:
    @pytest.mark.parametrize(
        "drafter", [drafters.fraction(0.3), drafters.mtp(), drafters.ngram()], ids=repr
    )
    def test_no_draft_is_exactly_one(self, drafter: drafters.Drafter) -> None:
        typical = sd.Deployment.typical(V4.gpu)
        plan = Plan(sd.StepCost(V4.model, V4.gpu, typical), drafter, Geometric([0.0, 0.5, 1.0]))
        B = np.arange(1, 300)[:, None]
        assert np.all(plan.speedup(gamma=0, B=B, S=777) == 1.0)
        assert np.all(plan.step_ratio(gamma=0, B=B, S=777) == 1.0)
        assert plan.best(B=7, S=777, gamma_max=0).speedup.tolist() == [1.0] * 3

    def test_nothing_accepted(self) -> None:
        best = v4(0.0).best(B=BATCH, S=4096)
        assert np.all(best.gamma == 0)
        assert np.all(best.speedup == 1.0)
        off = "off: every draft costs more than the tokens it brings; the step is"
        bound = ["weight", "expert", "compute"]
        assert set(best.reason) == {f"{off} {name}-bound" for name in bound}

    def test_everything_accepted_by_a_free_drafter_is_free_verification(self) -> None:
        """A dense model that waits for its weights: nearly γ + 1 times as fast."""
        plan = Plan(LLAMA, drafters.fraction(0.0), Geometric(1.0))
        assert plan.speedup(gamma=7, B=1, S=128) == pytest.approx(8, rel=2e-3)
        assert plan.best(B=1, S=128).gamma == 16

    def test_a_dense_model_has_one_maximum(self) -> None:
        """N is concave and the cost of a dense model convex in γ, so the speedup rises, then
        falls."""
        for alpha in (0.3, 0.7, 0.95):
            plan = Plan(LLAMA, drafters.fraction(0.05), Geometric(alpha))
            B = np.array([1, 30, 100, 400])
            change = np.diff(plan.table(B=B, S=2048, gamma_max=40).speedup, axis=0)
            for column in change.T:
                signs = np.sign(column[np.abs(column) > 1e-14])
                assert np.all(np.diff(signs) <= 0)


class TestInverses:
    @settings(max_examples=40, deadline=None)
    @given(st.floats(0.05, 0.98), st.integers(1, 12), st.integers(1, 500), st.integers(1, 60_000))
    def test_break_even_and_budget(self, alpha: float, gamma: int, B: int, S: int) -> None:
        plan, at = v4(alpha), {"gamma": gamma, "B": B, "S": S}
        even = plan.break_even_alpha(**at)
        if math.isinf(even):
            assert v4(1.0).speedup(**at) < 1
        else:
            assert v4(even).speedup(**at) == pytest.approx(1, rel=1e-12)
        for target in (1.0, 1.3):
            c = plan.fraction_budget(**at, target=target)
            seconds = plan.draft_budget(**at, target=target)
            assert seconds == pytest.approx(c * gamma * V4(B=B, T=1, S=S), rel=1e-9, abs=1e-12)
            if c >= 0:
                assert v4(alpha, c).speedup(**at) == pytest.approx(target, rel=1e-12)
            else:
                assert v4(alpha, 0).speedup(**at) < target

    def test_the_hurdle_is_the_break_even_of_one_token(self) -> None:
        B = np.array(BATCH)
        plan = v4()
        hurdle = plan.hurdle(B=B, S=4096)
        even = plan.break_even_alpha(gamma=1, B=B, S=4096)
        assert np.all((hurdle > 1) == np.isinf(even))
        low = hurdle <= 1
        assert even[low] == pytest.approx(hurdle[low], rel=1e-9)

    def test_the_last_token_pays_where_the_speedup_rises(self) -> None:
        plan, B = v4(0.85), np.array([1, 6, 32, 300])
        gains = plan.table(B=B, S=4096, gamma_max=12).speedup
        for gamma in range(1, 13):
            returns = plan.marginal_return(gamma=gamma, B=B, S=4096)
            assert np.array_equal(returns > 1, gains[gamma] > gains[gamma - 1])

    def test_a_token_that_costs_nothing(self) -> None:
        flat = sd.Deployment.ideal(verify_curve=VerifyCurve({2: 1.5, 3: 1.5}))
        plan = Plan(sd.StepCost(V4.model, V4.gpu, flat), drafters.fraction(0), Geometric(0.5))
        assert plan.marginal_return(gamma=2, B=1, S=10) == math.inf

    def test_the_marginal_price_is_that_of_the_step(self) -> None:
        step = 1e-6
        low, high = (V4(B=4, T=4 * (1 + e), S=4096) for e in (-step, step))
        slope = (math.log(high) - math.log(low)) / (2 * step)
        assert v4().marginal_price(gamma=3, B=4, S=4096) == pytest.approx(slope, rel=1e-6)


class TestSeconds:
    def test_latency_and_throughput_by_hand(self) -> None:
        plan, at = v4(), {"gamma": 3, "B": 16, "S": 4096}
        price, verify = V4(B=16, T=1, S=4096), V4(B=16, T=4, S=4096)
        seconds = verify + 0.3 * price
        tokens = 1 + 0.75 + 0.75**2 + 0.75**3
        assert plan.latency(**at) == pytest.approx(seconds / tokens, rel=1e-12)
        assert plan.throughput(**at) == pytest.approx(16 * tokens / seconds, rel=1e-12)
        told = plan.round(**at)
        assert told.request_throughput == pytest.approx(tokens / seconds, rel=1e-12)
        assert told.seconds == pytest.approx(seconds, rel=1e-12)
        assert told.speedup == plan.speedup(**at)
        assert told.step_ratio == plan.step_ratio(**at)
        without = plan.latency(gamma=0, B=16, S=4096)
        assert without == price
        assert without / plan.latency(**at) == pytest.approx(plan.speedup(**at), rel=1e-12)

    def test_arrays(self) -> None:
        told = v4([0.5, 0.9]).round(gamma=2, B=[[1], [8], [64]], S=4096)
        assert told.throughput.shape == (3, 2)
        with pytest.raises(ValueError, match="scalar rounds"):
            told.against(told)


class TestRegimes:
    def test_the_largest_share_has_the_name(self) -> None:
        typical = sd.StepCost(V4.model, V4.gpu, sd.Deployment.typical(V4.gpu))
        for cost, B, S, name in (
            (typical, 1, 1000, "overhead"),
            (V4, 32, 4096, "expert"),
            (LLAMA, 1, 1000, "weight"),
            (LLAMA, 64, 30_000, "kv"),
            (LLAMA, 5000, 10, "compute"),
        ):
            plan = Plan(cost, drafters.fraction(0.1), Geometric(0.7))
            shares = plan.regime_shares(gamma=2, B=B, S=S)
            assert sum(shares.values()) == pytest.approx(cost(B=B, T=3, S=S), rel=1e-12)
            assert max(shares, key=lambda key: shares[key]) == name
            assert plan.regime(gamma=2, B=B, S=S) == name

    def test_shares_are_those_of_the_breakdown(self) -> None:
        parts = V4.breakdown(B=16, T=2, S=50_000)
        shares = v4().regime_shares(gamma=1, B=16, S=50_000)
        assert parts["moe"].bound == "memory"
        assert shares["expert"] == parts["moe"].seconds
        assert shares["overhead"] == 0

    def test_communication_counts_as_overhead(self) -> None:
        set_up = sd.Deployment.ideal(tp=8, collective_latency=1e-3)
        plan = Plan(sd.StepCost(V4.model, V4.gpu, set_up), drafters.fraction(0.1), Geometric(0.7))
        assert plan.regime(gamma=1, B=1, S=100) == "overhead"

    def test_best_has_the_regimes_of_its_lengths(self) -> None:
        best = v4().best(B=BATCH, S=4096)
        again = [v4().regime(gamma=g, B=b, S=4096) for g, b in zip(best.gamma, BATCH, strict=True)]
        assert best.regime.tolist() == again


class TestOneFormula:
    POINTS = (
        {"gamma": 0, "B": 4, "S": 900, "alpha": 0.3},
        {"gamma": 3, "B": 8, "S": 4096, "alpha": 0.75},
        {"gamma": 9, "B": 700, "S": 70_000, "alpha": 0.9},
        {"gamma": 5, "B": 1, "S": 100, "alpha": 1.0},
    )

    @pytest.mark.parametrize(
        "drafter",
        [
            drafters.fraction(0.1),
            drafters.mtp(),
            drafters.block("DeepSeek-V4-Flash-DSpark"),
            drafters.ngram(1e-4),
        ],
        ids=repr,
    )
    def test_it_is_the_speedup(self, drafter: drafters.Drafter) -> None:
        set_up = sd.Deployment.typical(V4.gpu)
        plan = Plan(sd.StepCost(V4.model, V4.gpu, set_up), drafter, Geometric(0.5))
        assert [known.keyword for known in plan.formula.inputs] == ["alpha", "gamma", "B", "S"]
        points = [p for p in self.POINTS if p["gamma"] <= plan.draft.longest]
        in_a_page = evaluate_in_vega(
            plan.vega(gamma="datum.g", B="datum.b", S="datum.s", alpha="datum.a"),
            [dict(g=p["gamma"], b=p["B"], s=p["S"], a=p["alpha"]) for p in points],
        )
        for point, page in zip(points, in_a_page, strict=True):
            alpha = point["alpha"]
            here = Plan(plan.cost, drafter, Geometric(alpha))
            gain = here.speedup(gamma=point["gamma"], B=point["B"], S=point["S"])
            assert plan.formula(**point) == pytest.approx(gain, rel=1e-12)
            assert page == pytest.approx(gain, rel=1e-12)

    @pytest.mark.parametrize("drafter", [drafters.fraction(0.1), drafters.mtp()], ids=repr)
    def test_it_is_displayed_by_its_terms(self, drafter: drafters.Drafter) -> None:
        shown = Plan(V4, drafter, Geometric(0.5)).formula.latex()
        assert len(shown) < 400
        for term in (r"\alpha^{\gamma + 1}", "C(B, 1, S)", r"C(B, \gamma + 1, S)"):
            assert term in shown

    def test_the_fraction_may_stay_free(self) -> None:
        text = v4().vega(gamma="datum.g", B=8, S=4096, alpha="datum.a", c="datum.c")
        [page] = evaluate_in_vega(text, [dict(g=3, a=0.75, c=0.4)])
        assert page == pytest.approx(v4(c=0.4).speedup(gamma=3, B=8, S=4096), rel=1e-12)

    def test_only_where_there_is_a_closed_form(self) -> None:
        plan = Plan(V4, drafters.mtp(), PerPosition.survivals([0.5]))
        with pytest.raises(ValueError, match="one acceptance rate"):
            _ = plan.formula
        with pytest.raises(ValueError, match="c is free only"):
            Plan(V4, drafters.mtp(), Geometric(0.5)).vega(c="c")


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: Plan("v4", drafters.fraction(0.1), Geometric(0.5)), TypeError, "StepCost"),
        (lambda: Plan(V4, 0.1, Geometric(0.5)), TypeError, r"drafters\.fraction"),
        (lambda: Plan(V4, drafters.fraction(0.1), 0.5), TypeError, "Geometric"),
        (lambda: Plan(layer_bytes, drafters.fraction(0.1), Geometric(0.5)), TypeError, "where"),
        (lambda: v4().speedup(gamma=2.5, B=1, S=1), DomainError, "no whole number"),
        (lambda: v4().speedup(gamma=-1, B=1, S=1), DomainError, "no whole number"),
        (lambda: v4().speedup(gamma=1, B=0, S=1), DomainError, "B = 0"),
        (lambda: v4().speedup(gamma=1, B=1, S=float("nan")), DomainError, "S = nan"),
        (lambda: v4().speedup(gamma=1, B="1", S=1), TypeError, "real number"),
        (lambda: v4().best(B=-2, S=1), DomainError, "B = -2"),
        (lambda: v4().best(B=1, S=1, gamma_max=-1), DomainError, "gamma_max = -1"),
        (lambda: v4().best(B=1, S=1, gamma_max=2.0), TypeError, "no whole number"),
        (lambda: v4().best(B=[1, 2], S=[1, 2, 3]), ValueError, "broadcast"),
        (lambda: v4().break_even_alpha(gamma=0, B=1, S=1), DomainError, "drafts nothing"),
        (lambda: v4().fraction_budget(gamma=0, B=1, S=1), DomainError, "drafts nothing"),
        (lambda: v4().marginal_return(gamma=0, B=1, S=1), DomainError, "no last token"),
        (lambda: v4().draft_budget(gamma=1, B=1, S=1, target=0), DomainError, "target_speedup"),
        (lambda: v4().plateau(B=1, S=1, within=1.0), DomainError, "within"),
        (
            lambda: Plan(V4, drafters.fraction(0.1), PerPosition.survivals([0.5])).speedup(
                gamma=2, B=1, S=1
            ),
            DomainError,
            "goes up to 1",
        ),
    ],
)
def test_bad_input_never_becomes_a_number(
    ask: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask()
