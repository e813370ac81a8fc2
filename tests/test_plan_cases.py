"""Questions of users about drafters, draft lengths and slowdowns, by the name of their case.

A deployment is the typical one unless the case gives a measured step or verify time, which then
rules.  Where a report gives no acceptance, measured curves of like drafters stand in, and the test
says so.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib import Decaying, Deployment, Geometric, PerPosition, Plan, StepCost, drafters
from specdec_lib.acceptance import acceptance_for_tokens
from specdec_lib.catalog import read_gpu
from specdec_lib.deployment import VerifyCurve
from specdec_lib.records.toml import load_toml

S = 1000  # tokens of context where a report says "short"


def typical(gpu: sd.Gpu, **changes: Any) -> Deployment:
    return Deployment.typical(gpu, **changes)


def in_precision(name: str, **precision: str) -> sd.Model:
    """A model of the catalogue in the precisions of a case."""
    config = load_toml(f"models/{name}.toml")["config"]
    return sd.Model.from_config(config, precision=precision, name=sd.model(name).name)


def device(name: str, bf16: str, bandwidth: str, memory: str) -> sd.Gpu:
    """A device that the catalogue does not have; the peak rate is a remembered one of its maker."""
    table = {
        "name": name,
        "vendor": "as the case names it",
        "source": "bandwidth and memory from the case, peak rate from memory",
        "kind": "assumed",
        "retrieved": datetime.date(2026, 11, 30),
        "peak": {"bf16": bf16},
        "bandwidth": bandwidth,
        "memory": memory,
    }
    return read_gpu("cases", table, {})


H100 = sd.gpu("h100-sxm")


class TestP01:
    """EAGLE-3 on Qwen3-30B-A3B, two H100, SGLang: eight settings, each slower than none."""

    TARGET = StepCost(sd.model("qwen3-30b-a3b"), H100, typical(H100, engine="SGLang", tp=2))
    #: steps of the drafter, tokens verified, batch, tokens a step, speedup observed
    ROWS = (
        (3, 4, 1, 1.86, 0.718),
        (3, 8, 1, 2.20, 0.778),
        (3, 4, 1, 1.99, 0.933),
        (7, 16, 1, 2.52, 0.863),
        (6, 12, 1, 2.42, 0.771),
        (8, 60, 1, 3.20, 0.798),
        (3, 4, 4, 1.86, 0.791),
        (3, 8, 4, 2.27, 0.753),
    )

    def ratio(self, steps: int, width: int, B: int) -> float:
        """A tree: passes by its depth, verified tokens by its size."""
        drafting = drafters.named("eagle3", self.TARGET.model).on(self.TARGET)
        verify = self.TARGET(B=B, T=width, S=S)
        whole = verify + drafting.seconds(gamma=steps, B=B, S=S)
        return float(whole / self.TARGET(B=B, T=1, S=S))

    def test_every_setting_is_slower(self) -> None:
        for steps, width, B, tokens, observed in self.ROWS:
            predicted = tokens / self.ratio(steps, width, B)
            assert predicted < 1, (steps, width, B)
            assert predicted == pytest.approx(observed, rel=0.20)

    def test_the_cost_of_a_chain_and_of_a_large_tree(self) -> None:
        assert self.ratio(3, 4, 1) == pytest.approx(2.59, rel=0.25)
        assert self.ratio(8, 60, 1) < 5  # by bytes of weights alone it would be 9.7

    def test_what_verifying_reads(self) -> None:
        """Four tokens touch 29 of 128 experts, 3.64 times the routed bytes."""
        ideal = StepCost(self.TARGET.model, H100)
        four, one = (ideal.breakdown(B=1, T=T, S=S)["moe"].bytes for T in (4, 1))
        assert four / one == pytest.approx(3.64, abs=0.01)

    def test_off_or_one_token(self) -> None:
        """The conditional rate of the chain that commits 1.86 tokens, at every position."""
        alpha = acceptance_for_tokens(1.86, 3)
        plan = Plan(self.TARGET, drafters.named("eagle3", self.TARGET.model), Geometric(alpha))
        assert np.all(plan.best(B=[1, 4], S=S).gamma <= 1)


class TestP03:
    """EAGLE-1 on Llama-3.1-8B, one H100, vLLM: two tokens beat four beat seven."""

    TARGET = StepCost(sd.model("llama-3.1-8b"), H100, typical(H100))

    @pytest.mark.parametrize("decay", [0.74, 0.80, 0.85])
    def test_the_order_of_lengths(self, decay: float) -> None:
        """The report gives no acceptance.  A head trained to guess one token ahead loses it with
        depth, like the module that DeepSeek-V4-Pro applies to its own output (0.74 a position in
        the tests' curves); up to 0.85 the order is that of the report."""
        plan = Plan(self.TARGET, drafters.eagle1(), Decaying(0.7, decay))
        two, four, seven = (plan.speedup(gamma=g, B=1, S=S) for g in (2, 4, 7))
        assert two > four > seven
        assert two == pytest.approx(1.516, rel=0.20)
        assert four == pytest.approx(1.489, rel=0.20)
        assert seven == pytest.approx(1.278, rel=0.20)

    def test_without_passes_and_head_seven_would_look_best(self) -> None:
        free = Plan(self.TARGET, drafters.fraction(0.0), Decaying(0.7, 0.85))
        assert np.argmax([free.speedup(gamma=g, B=1, S=S) for g in (2, 4, 7)]) == 2

    def test_a_smaller_vocabulary_pays(self) -> None:
        """EAGLE-3 at two tokens, 1.656; its rates in chat, by the tests' curves."""
        head = drafters.named("eagle3", self.TARGET.model)
        plan = Plan(self.TARGET, head, Geometric(0.65))
        assert plan.speedup(gamma=2, B=1, S=S) == pytest.approx(1.656, rel=0.20)
        parts, old = (
            d.on(self.TARGET).breakdown(gamma=2, B=1, S=S) for d in (head, drafters.eagle1())
        )
        assert parts["head"] < old["head"] / 3


class TestP05:
    """MTP with one token on DeepSeek-R1, eight devices: 1.63 at the lowest load, then less."""

    def plan(self) -> Plan:
        """With the measured plain step of 55.47 ms: what the roofline lacks of it is fixed."""
        model, gpu = sd.model("deepseek-r1"), sd.gpu("h200-sxm")
        bare = StepCost(model, gpu, typical(gpu, tp=8))
        more = 55.47e-3 - bare(B=1, T=1, S=2000)
        set_up = replace(bare.deployment, step_overhead=bare.deployment.step_overhead + more)
        cost = StepCost(model, gpu, set_up)
        assert cost(B=1, T=1, S=2000) == pytest.approx(55.47e-3)
        return Plan(cost, drafters.mtp(), PerPosition.survivals([0.815]))

    def test_the_lowest_load_and_falling(self) -> None:
        gains = self.plan().speedup(gamma=1, B=[1, 2, 4, 8, 16], S=2000)
        assert gains[0] == pytest.approx(1.632, rel=0.15)
        assert np.all(np.diff(gains) < 0)


class TestP07:
    """MTP on DeepSeek-R1 in NVFP4, eight B200, TensorRT-LLM: best with three tokens, 2.16."""

    @pytest.mark.parametrize(("alpha", "decay"), [(0.943, 0.733), (0.798, 0.740)])
    def test_best_at_three(self, alpha: float, decay: float) -> None:
        """Rates of the one measured module that is applied to its own output, without and with
        thinking (DeepSeek-V4-Pro, in the tests' curves)."""
        model, gpu = in_precision("deepseek-r1", moe="nvfp4", shared="nvfp4"), sd.gpu("b200")
        cost = StepCost(model, gpu, typical(gpu, engine="TensorRT-LLM", tp=8, ep=2))
        plan = Plan(cost, drafters.mtp(tp="target"), Decaying(alpha, decay))
        assert plan.best(B=1, S=2000).gamma == 3
        assert plan.speedup(gamma=3, B=1, S=2000) == pytest.approx(2.16, rel=0.20)


def test_p09_a_flat_optimum_is_told_as_a_plateau() -> None:
    """MTP on Qwen3.6-35B-A3B with 4-bit experts, one small device; rates from the tests' curves."""
    model = in_precision("qwen3.6-35b-a3b", moe="int4")
    gpu = device("Strix Halo", "59 TFLOP/s", "256 GB/s", "128 GB")
    rates = PerPosition.survivals([0.779, 0.583, 0.444, 0.349, 0.279, 0.226])
    plan = Plan(StepCost(model, gpu, typical(gpu)), drafters.mtp(), rates)
    at = {"B": 1, "S": 400}
    gains = plan.table(**at, gamma_max=6).speedup
    assert np.all(gains[1:] > 1)
    assert np.argmax(gains) in (2, 3, 4)
    assert gains[6] < gains[3]
    assert plan.plateau(**at, gamma_max=6) == (2, 4)
    assert plan.best(**at, gamma_max=6).margin < 0.04


def test_p10_two_lists_of_rates_tie_for_one_sequence() -> None:
    """Gemma-4-26B-A4B in NVFP4 on one small device, four tokens against two."""
    model = in_precision("gemma-4-26b-a4b", moe="nvfp4", attn_proj="nvfp4", dense_ffn="nvfp4")
    gpu = device("GB10", "125 TFLOP/s", "273 GB/s", "128 GB")
    cost = StepCost(model, gpu, typical(gpu))
    four = Plan(cost, drafters.fraction(0.05), PerPosition.survivals([0.844, 0.599, 0.385, 0.271]))
    two = Plan(cost, drafters.fraction(0.05), PerPosition.survivals([0.766, 0.545]))
    assert four.tokens(gamma=4) == pytest.approx(3.10, abs=0.01)
    assert two.tokens(gamma=2) == pytest.approx(2.31, abs=0.01)
    change = two.throughput(gamma=2, B=1, S=S) / four.throughput(gamma=4, B=1, S=S) - 1
    assert abs(change) <= 0.10
    # the shorter draft gains on the longer one with the batch, as reported
    later = two.throughput(gamma=2, B=8, S=S) / four.throughput(gamma=4, B=8, S=S) - 1
    assert later < 0.10


class TestP13:
    """A block drafter with a cache of its own, six layers over the whole context, four RTX 4090."""

    GPU = sd.gpu("rtx-4090")
    TARGET = StepCost(
        in_precision("qwen3.6-27b", attn_proj="int4", dense_ffn="int4"),
        GPU,
        typical(GPU, tp=4, link=32e9),
    )

    #: Bytes that its five layers add to a pass between the two contexts.
    CACHE = 184_000 * 5 * 2 * 8 * 128 * 2

    def test_the_cache_is_reported_by_itself_and_unsplit(self) -> None:
        ideal = StepCost(self.TARGET.model, self.GPU, Deployment.ideal(tp=4, link=32e9))
        draft = drafters.block("Qwen3.6-27B-DSpark").on(ideal)
        near, far = (draft.breakdown(gamma=4, B=1, S=s) for s in (1000, 185_000))
        assert far["kv"] - near["kv"] == pytest.approx(self.CACHE / self.GPU.bandwidth, rel=1e-9)
        assert far["kv"] / near["kv"] > 100
        assert far["weights"] == near["weights"]
        assert any("grows with the context" in text for text in draft.warnings)

    def test_a_win_becomes_a_loss(self) -> None:
        """182 ms a cycle in the drafter's attention, many times the reading of its cache: a kernel
        problem, which the drafter's own deployment takes as an efficiency."""
        reached = self.CACHE / self.GPU.bandwidth / 182e-3
        assert reached < 1 / 17
        efficiency = {"attn_core": reached, "default": 0.8}
        served = typical(self.GPU, memory_efficiency=efficiency)
        slow = drafters.block("Qwen3.6-27B-DSpark", deployment=served)
        plan = Plan(self.TARGET, slow, Geometric(0.85))
        for gamma in (2, 4):
            assert plan.speedup(gamma=gamma, B=1, S=1000) > 1
            assert plan.speedup(gamma=gamma, B=1, S=185_000) < 1
        told = plan.draft.breakdown(gamma=4, B=1, S=185_000)["kv"]
        assert told == pytest.approx(182e-3, rel=0.02)
        assert plan.best(B=1, S=185_000).gamma == 0


class TestP15:
    """A dense draft of 9 billion for Qwen3.5-397B-A17B on a desktop: 0.65 times as fast."""

    SMALL = sd.Model.from_config(
        {
            "model_type": "qwen3",
            "hidden_size": 4096,
            "num_hidden_layers": 36,
            "vocab_size": 248320,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "intermediate_size": 12288,
            "tie_word_embeddings": False,
        },
        precision="int4",
        name="draft of 9 billion",
    )

    def target(self) -> StepCost:
        gpu = device("M4 Ultra", "57 TFLOP/s", "819 GB/s", "512 GB")
        model = in_precision("qwen3.5-397b-a17b", moe="int4", attn_proj="int4", shared="int4")
        return StepCost(model, gpu, typical(gpu))

    def test_it_loses(self) -> None:
        assert self.SMALL.total_parameters == pytest.approx(9e9, rel=0.01)
        for alpha in (0.3, 0.6, 0.8):
            plan = Plan(self.target(), drafters.independent(self.SMALL), Geometric(alpha))
            assert plan.speedup(gamma=3, B=1, S=S) < 1
        assert self.target()(B=1, T=4, S=S) / self.target()(B=1, T=1, S=S) > 1.5  # expert union

    def test_the_warning_has_the_ratio_of_active_bytes(self) -> None:
        [warning, *_] = drafters.independent(self.SMALL).on(self.target()).warnings
        assert "0.56 of the 10.1 GB" in warning  # 9 of 17 billion
        assert "cannot bring more than 1.5" in warning  # 4 / (1 + 3 · 0.56)


class TestP18:
    """Qwen3-Coder-30B-A3B, in the shape of Qwen3-30B-A3B: EAGLE-3 that is right once."""

    def test_one_token_is_best_and_a_flat_rate_hides_it(self) -> None:
        gpu = sd.gpu("RTX PRO 6000 Blackwell Server")
        cost = StepCost(
            in_precision("qwen3-30b-a3b", moe="nvfp4", attn_proj="nvfp4"), gpu, typical(gpu)
        )
        head = drafters.named("eagle3", sd.model("qwen3-30b-a3b"))
        plan = Plan(cost, head, PerPosition.survivals([0.69, 0, 0]))
        best = plan.best(B=1, S=S, gamma_max=3)
        assert best.gamma == 1
        assert plan.speedup(gamma=3, B=1, S=S) < 1  # observed: 0.94
        assert plan.tokens(gamma=3) == pytest.approx(1.69)
        assert Plan(cost, head, Geometric(0.23)).best(B=1, S=S).gamma == 0


def test_p19_a_block_is_not_free_to_verify() -> None:
    """One pass drafts fifteen tokens, but all fifteen are verified; loaded, two are better."""
    gpu = sd.gpu("rtx-5090")
    cost = StepCost(
        in_precision("qwen3-30b-a3b", moe="nvfp4", attn_proj="nvfp4"), gpu, typical(gpu)
    )
    block = drafters.block("qwen3.5-35b-a3b-dflash")
    plan = Plan(cost, block, PerPosition.survivals([0.71, 0.48], beyond="repeat"))
    B = np.array([8, 32, 64])
    assert plan.tokens(gamma=2) == pytest.approx(2.19)
    assert np.all(plan.speedup(gamma=2, B=B, S=S) > 1)
    short, long = (plan.step_ratio(gamma=g, B=B, S=S) for g in (2, 15))
    assert np.all(long > short * 1.2)
    assert plan.draft.seconds(gamma=2, B=64, S=S) == plan.draft.seconds(gamma=15, B=64, S=S)
    assert plan.speedup(gamma=2, B=64, S=S) > plan.speedup(gamma=15, B=64, S=S)


class TestP21:
    """Qwen3.6-27B on one R9700: measured passes of 2.81 and 3.59 plain steps."""

    GPU = device("R9700", "191 TFLOP/s", "640 GB/s", "32 GB")
    MODEL = in_precision("qwen3.6-27b", attn_proj="q8_0", dense_ffn="q8_0")
    RATES = PerPosition.conditional([0.819, 0.819, 0.6])

    def test_a_measured_curve_says_off(self) -> None:
        measured = Deployment.ideal(verify_curve=VerifyCurve({3: 2.81, 4: 3.59}))
        plan = Plan(StepCost(self.MODEL, self.GPU, measured), drafters.fraction(0), self.RATES)
        assert plan.best(B=1, S=S, gamma_max=3).gamma == 0
        assert not plan.warnings

    def test_the_roofline_says_what_it_is(self) -> None:
        plan = Plan(StepCost(self.MODEL, self.GPU), drafters.fraction(0), self.RATES)
        best = plan.best(B=1, S=S, gamma_max=3)
        assert best.speedup > 2
        assert "a bound, not a forecast" in best.warnings[-1]
        assert "verify_curve" in best.warnings[-1]


def test_p23_tokens_and_milliseconds_are_told_apart() -> None:
    """Acceptance rose from 0.82 to 0.88 and the speed stayed: one saw more tokens a cycle, the
    other longer cycles."""
    model, gpu = (
        sd.model("deepseek-v4-flash"),
        device("M3 Ultra", "57 TFLOP/s", "819 GB/s", "512 GB"),
    )
    slower = Deployment.ideal(verify_curve=VerifyCurve({2: 1.60}))
    slowest = Deployment.ideal(verify_curve=VerifyCurve({2: 1.65}))
    before, after = (
        Plan(StepCost(model, gpu, d), drafters.mtp(), Geometric(a)).round(gamma=1, B=1, S=S)
        for d, a in ((slower, 0.82), (slowest, 0.88))
    )
    assert after.tokens == pytest.approx(1.88)
    assert after.tokens > before.tokens
    assert after.seconds > before.seconds
    assert after.speedup == pytest.approx(before.speedup, rel=0.02)
    told = after.against(before)
    assert "tokens a round +3.3%" in told
    assert "verifying +2" in told
    assert "drafting +0.0%" in told
    assert "1.88 tokens a round" in str(after)
    assert "ms a round" in str(after)


def test_c01_c09_break_even_by_length_and_batch() -> None:
    """A table of break-even acceptance, and when the claim holds that it rises with the length
    whatever the batch: only until the experts are all touched."""
    cost = StepCost(sd.model("qwen3-30b-a3b"), H100)
    plan = Plan(cost, drafters.fraction(0.05), Geometric(0.5))
    gamma, B = np.array([[1], [2], [4], [8]]), np.array([1, 8, 64, 256])
    even = plan.break_even_alpha(gamma=gamma, B=B, S=S)
    assert even.shape == (4, 4)
    assert np.all(even > 0)
    assert np.all(np.diff(even[:, 0]) > 0)  # one sequence: every token brings experts of its own
    assert np.all(even[:, 2] < even[:, 1])  # saturated: more tokens read no more experts
    best = plan.best(B=B, S=S)
    assert best.gamma.tolist()[:2] == [0, 0]
    assert best.gamma[2] > 0
    # two measured step times, width 1 and width γ + 1, replace the model's own
    measured = Deployment.ideal(verify_curve=VerifyCurve.from_times({1: 8.0, 4: 20.0}))
    again = Plan(StepCost(cost.model, H100, measured), drafters.fraction(0), Geometric(0.5))
    assert again.break_even_alpha(gamma=3, B=1, S=S) == pytest.approx(acceptance_for_tokens(2.5, 3))


def test_c02_wide_trees_and_few_captured_graphs() -> None:
    """Qwen3-8B on an A800, 32 tokens verified for each request, graphs for two requests."""
    gpu = sd.gpu("A100 SXM 80 GB")  # an A800 is one with slower links
    model = sd.model("qwen3-8b")
    whole = StepCost(model, gpu, typical(gpu, engine="SGLang"))
    capped = StepCost(model, gpu, typical(gpu, engine="SGLang", max_graph_tokens=2 * 32))
    for B, times in ((2, 1.0), (3, 1.5)):
        assert capped(B=B, T=32, S=S) / whole(B=B, T=32, S=S) >= times
    assert capped(B=2, T=32, S=S) == whole(B=2, T=32, S=S)
    plan = Plan(capped, drafters.named("eagle3", model), Geometric(0.6))
    assert np.all(plan.speedup(gamma=31, B=[3, 8], S=S) < 1)
    assert np.all(
        (plan.best(B=[3, 4, 8], S=S).gamma >= 2) & (plan.best(B=[3, 4, 8], S=S).gamma <= 4)
    )


def test_c03_the_root_is_verified_and_not_drafted() -> None:
    """A chain of γ drafted tokens takes γ passes of the drafter and γ + 1 verified tokens."""
    set_up = Deployment.ideal(pass_overhead=1.0)
    plan = Plan(StepCost(sd.model("llama-3.1-8b"), H100, set_up), drafters.eagle1(), Geometric(0.5))
    told = plan.round(gamma=3, B=2, S=S)
    assert told.C_verify == plan.cost(B=2, T=4, S=S)
    assert int(told.C_draft) == 3  # passes of a second each


def test_f02_the_number_of_modules_is_no_draft_length() -> None:
    """GLM-5.2 counts one module for multi-token prediction, and its recipe drafts five tokens."""
    model = sd.model("glm-5.2")
    assert model.mtp_modules == 1
    gpu = sd.gpu("b200")
    plan = Plan(StepCost(model, gpu, typical(gpu, tp=8)), drafters.mtp(tp="target"), Geometric(0.9))
    assert plan.speedup(gamma=5, B=1, S=S) > plan.speedup(gamma=1, B=1, S=S) > 1
    assert plan.best(B=1, S=S).gamma > 1


def test_f08_seventeen_tokens_are_past_the_knee_of_a_small_device() -> None:
    """Qwen2.5-Coder-32B, in the shape of Qwen3-32B, with a draft of 3 billion on an M4 Pro: 371
    tokens, 313 of 912 drafted ones accepted, no gain with sixteen tokens."""
    steps = 371 - 313
    assert steps == 58
    drafted, tokens = 912 / steps, 371 / steps
    assert drafted == pytest.approx(15.7, abs=0.05)
    assert tokens == pytest.approx(6.4, abs=0.05)
    gpu = device("M4 Pro", "9.2 TFLOP/s", "273 GB/s", "64 GB")
    target = StepCost(
        in_precision("qwen3-32b", attn_proj="q4_k", dense_ffn="q4_k"), gpu, typical(gpu)
    )
    assert 1 / target(B=1, T=1, S=S) == pytest.approx(11, rel=0.1)  # tokens a second without
    draft = drafters.independent(in_precision("llama-3.2-3b", attn_proj="q4_0", dense_ffn="q4_0"))
    plan = Plan(target, draft, Geometric(acceptance_for_tokens(tokens, drafted)))
    assert plan.best(B=1, S=S).gamma < 8
    assert target(B=1, T=17, S=S) / target(B=1, T=1, S=S) > 2  # bandwidth alone says 1
    assert plan.speedup(gamma=16, B=1, S=S) < plan.speedup(gamma=4, B=1, S=S)
    # with the times of the thread, 0.44 s and 0.15 s on a plain step of 0.091 s, nothing is gained
    measured = Deployment.ideal(verify_curve=VerifyCurve.from_times({1: 0.091, 17: 0.44}))
    again = Plan(StepCost(target.model, gpu, measured), drafters.fraction(0.15 / 16 / 0.091),
                 plan.acceptance)  # fmt: skip
    assert again.speedup(gamma=16, B=1, S=S) == pytest.approx(1.0, abs=0.05)
