"""Deployments: devices, communication, fixed times, efficiencies and the options of each."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib import catalog
from specdec_lib.architecture import Model
from specdec_lib.deployment import Offload, Routing, VerifyCurve, defaults
from specdec_lib.deployment.routing import popularity_classes
from specdec_lib.formula import DomainError
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.records.provenance import KINDS
from specdec_lib.routing import distinct_experts_by_popularity, inclusion_probabilities

B200, H100 = sd.gpu("b200"), sd.gpu("h100")
V4, V3 = sd.model("deepseek-v4-flash"), sd.model("deepseek-v3")
LLAMA, QWEN = sd.model("llama-3.1-70b"), sd.model("qwen3-30b-a3b")
AT = {"B": 8, "T": 4, "S": 4096}


def ideal(model: Model, gpu: sd.Gpu = B200, **changes: Any) -> sd.StepCost:
    return sd.StepCost(model, gpu, sd.Deployment.ideal(**changes))


class TestIdeal:
    def test_it_is_the_default_and_says_so(self) -> None:
        assert sd.StepCost(V4, B200).deployment == sd.Deployment.ideal()
        assert sd.Deployment.ideal().name == "ideal"
        assert "ideal" in repr(sd.StepCost(V4, B200))
        assert sd.Deployment.ideal().sources == {}

    def test_it_has_neither_overhead_nor_communication(self) -> None:
        assert {"overhead", "communication"}.isdisjoint(ideal(V4).breakdown(**AT))


class TestFixedTimes:
    def test_step_layers_and_tokens_add_up(self) -> None:
        """80 layers of 10 µs of attention and 5 of feed-forward, 1 ms, and 0.2 µs a token and
        layer."""
        times = {"grouped": 10e-6, "dense_ffn": 5e-6, "moe": 1.0}
        cost = ideal(LLAMA, step_overhead=1e-3, layer_overhead=times, token_overhead=0.2e-6)
        share = cost.breakdown(**AT)["overhead"]
        assert share.seconds == pytest.approx(1e-3 + 80 * 15e-6 + 32 * 80 * 0.2e-6)
        assert (share.flops, share.bytes, share.bound) == (0, 0, "fixed")
        assert cost(**AT) == pytest.approx(ideal(LLAMA)(**AT) + share.seconds)

    def test_kinds_of_attention_have_times_of_their_own(self) -> None:
        """2 windows, 21 CSA, 20 HCA, and 43 routed layers."""
        times = {"sliding window": 1e-6, "CSA": 10e-6, "HCA": 100e-6, "moe": 1e-3}
        share = ideal(V4, layer_overhead=times).breakdown(**AT)["overhead"]
        assert share.seconds == pytest.approx(2e-6 + 210e-6 + 2000e-6 + 43e-3)

    def test_one_number_holds_for_every_kind_of_attention(self) -> None:
        share = ideal(V4, layer_overhead=50e-6).breakdown(**AT)["overhead"]
        assert share.seconds == pytest.approx(43 * 50e-6)

    def test_beyond_the_captured_graphs_fixed_times_grow(self) -> None:
        """Case C02: 32 verified tokens and graphs up to batch 2, so larger batches run eagerly."""
        cost = ideal(sd.model("qwen3-8b"), step_overhead=2e-3, max_graph_tokens=64, eager_factor=5)
        fixed = cost.breakdown(B=np.array([1, 2, 3, 8]), T=32, S=1000)["overhead"].seconds
        assert fixed.tolist() == pytest.approx([2e-3, 2e-3, 10e-3, 10e-3])


class TestRoofline:
    def test_efficiencies_go_by_component_then_precision_then_default(self) -> None:
        cost = ideal(V4, memory_efficiency={"moe": 0.5, "fp8": 0.8, "default": 0.9})
        plain, slowed = ideal(V4).breakdown(**AT), cost.breakdown(**AT)
        for key, fraction in {"moe": 0.5, "attn_proj": 0.8, "shared": 0.8, "head": 0.9}.items():
            assert plain[key].bound == "memory"
            assert slowed[key].seconds == pytest.approx(plain[key].seconds / fraction)

    def test_compute_efficiency(self) -> None:
        at = {"B": 4096, "T": 1, "S": 1}
        plain = ideal(LLAMA).breakdown(**at)["dense_ffn"]
        slowed = ideal(LLAMA, compute_efficiency=0.5).breakdown(**at)["dense_ffn"]
        assert plain.bound == slowed.bound == "compute"
        assert slowed.seconds == pytest.approx(2 * plain.seconds)

    def test_a_smooth_corner_is_the_root_of_the_squares(self) -> None:
        smooth = ideal(V4, corner="smooth").breakdown(**AT)
        for share, peak in ((smooth["moe"], 4.5e15), (smooth["head"], 2.25e15)):
            both = math.hypot(share.flops / peak, share.bytes / 8e12)
            assert share.seconds == pytest.approx(both, rel=1e-14)
        assert ideal(V4)(**AT) < smooth.seconds < math.sqrt(2) * ideal(V4)(**AT)

    def test_formats_of_the_cache(self) -> None:
        """An fp8 cache halves what Llama reads of it; without the output a query moves half."""
        bf16 = ideal(LLAMA).breakdown(**AT)["attn_core"].bytes
        fp8 = ideal(LLAMA, kv_cache="fp8").breakdown(**AT)["attn_core"].bytes
        alone = ideal(LLAMA, count_output=False).breakdown(**AT)["attn_core"].bytes
        cache, moved = 8 * 4096 * 80 * 4096, 8 * 4 * 80 * 2 * 64 * 128 * 2
        assert bf16 == cache + moved
        assert fp8 == cache / 2 + moved
        assert alone == cache + moved / 2

    def test_the_published_latent_layer_comes_out_of_its_formats(self) -> None:
        """64 heads, fp8 entries, the query alone in bf16: 910 FLOP/B at T = 4 and S = 8192."""
        shape = V3.architecture
        assert shape.attention[0].tiled_heads == 128
        share = ideal(V3, kv_cache="fp8", count_output=False).breakdown(B=1, T=4, S=8192)
        intensity = share["attn_core"].flops / share["attn_core"].bytes
        # with twice the heads of the published table, f and m_q double
        assert intensity == pytest.approx(2 * 139264 * 4 * 8192 / (576 * 8192 + 2 * 73728 * 4))

    def test_tiles_of_rows(self) -> None:
        """FlashMLA on an H20 with 16 heads a device: four tokens fill a tile of 64 rows, a fifth
        pays for a second one; the published times jump by 1.9 there and are flat on both sides."""
        cost = ideal(V3, sd.gpu("h20"), tp=8, tile_rows=64)
        widths = np.arange(1, 9)
        core = cost.breakdown(B=128, T=widths, S=4096)["attn_core"]
        assert np.ptp(core.flops[:4]) == 0 and np.ptp(core.flops[4:]) == 0
        assert core.flops[4] == 2 * core.flops[3]
        timed = np.array([0.601, 0.606, 0.609, 0.614, 1.168, 1.172])
        jump = core.seconds[:6] / core.seconds[0]
        np.testing.assert_allclose(jump, timed / timed[0], rtol=0.06)
        exact = ideal(V3, sd.gpu("h20"), tp=8).breakdown(B=128, T=widths, S=4096)["attn_core"]
        np.testing.assert_allclose(core.flops[[3, 7]], exact.flops[[3, 7]])

    def test_selections_that_are_not_shared(self) -> None:
        """A lower bound reads 512 entries for any T; where no two tokens agree it is 512 for each,
        at most the 16 384 there are."""
        width = np.array([1, 2, 8, 64])
        at = {"B": 1, "T": width, "S": 65536}
        shared, apart = (ideal(V4, selection_spread=x).breakdown(**at)["attn_core"] for x in (0, 1))
        more = (apart.bytes - shared.bytes) / (21 * 584)
        assert more.tolist() == pytest.approx([0, 512, 7 * 512, 16384 - 512])
        assert (apart.flops == shared.flops).all()

    def test_lower_selection_of_latent_attention(self) -> None:
        sparse = sd.model("deepseek-v3.2")
        at = {"B": 1, "T": 4, "S": 65536}
        shared, apart = (
            ideal(sparse, selection_spread=x).breakdown(**at)["attn_core"].bytes for x in (0, 1)
        )
        assert apart - shared == 3 * 2048 * 61 * 576 * 2


class TestDevices:
    def test_tensor_parallel_devices_split_the_work(self) -> None:
        one, eight = (ideal(LLAMA, tp=n).breakdown(**AT) for n in (1, 8))
        for key in ("attn_proj", "attn_core", "dense_ffn", "head"):
            assert eight[key].flops == pytest.approx(one[key].flops / 8)
            assert eight[key].bytes == pytest.approx(one[key].bytes / 8)

    def test_a_latent_cache_is_on_every_device(self) -> None:
        one, eight = (ideal(V3, tp=n).breakdown(**AT)["attn_core"] for n in (1, 8))
        entries, queries = 8 * 4096 * 61 * 576 * 2, 8 * 4 * 61 * 2 * 128 * (2 * 512 + 64)
        assert one.bytes == entries + queries
        assert eight.bytes == entries + queries / 8
        assert eight.flops == one.flops / 8
        caches = [ideal(V3, tp=n).memory(B=8, S=4096).cache for n in (1, 8)]
        assert caches[0] == caches[1] == entries

    def test_more_devices_than_key_value_heads(self) -> None:
        """8 heads on 16 devices: each keeps one whole."""
        cache = {n: ideal(LLAMA, tp=n).memory(B=1, S=1).cache for n in (8, 16)}
        assert cache[16] == cache[8]

    def test_all_reduces(self) -> None:
        """161 sums of 32 hidden states and one gathering of their logits, over 8 devices whose
        links carry 900 GB/s each way."""
        cost = ideal(LLAMA, tp=8, collective_latency=5e-6)
        share = cost.breakdown(**AT)["communication"]
        sums = 161 * (5e-6 + 2 * 7 / 8 * 32 * 8192 * 2 / 900e9)
        gathering = 5e-6 + 7 / 8 * 32 * 128256 * 2 / 900e9
        assert share.seconds == pytest.approx(sums + gathering)
        assert share.bound == "link"

    def test_expert_parallel_devices_read_their_experts(self) -> None:
        """Eight replicas: attention for a share of the batch, experts for all of it."""
        at = {"B": 256, "T": 2, "S": 4096}
        one = ideal(V4).breakdown(**at)
        eight = ideal(V4, dp=8, ep=8).breakdown(**at)
        assert eight["moe"].bytes == pytest.approx(one["moe"].bytes / 8)
        assert eight["moe"].flops == pytest.approx(one["moe"].flops / 8)
        assert eight["attn_core"].bytes == pytest.approx(one["attn_core"].bytes / 8)
        assert eight["shared"].bytes == one["shared"].bytes
        assert eight["shared"].flops == one["shared"].flops / 8

    def test_the_knee_of_expert_parallel_layers(self) -> None:
        """Beside its experts a device holds the shared one whole: the knee is
        (R·b/2)(E/G + s)/(k + s) tokens a device."""
        knee = sd.formulas.experts.expert_parallel_knee(
            E=256, k=6, s=1, G=8, b=0.53125, ridge=B200.ridge("fp8")
        )
        cost = ideal(V4, dp=8, ep=8)
        parts = cost.breakdown(B=8 * knee, T=1, S=1)
        # the shared expert is in fp8 here: count its bytes as if it were one more routed expert
        work = parts["moe"].flops + parts["shared"].flops
        read = parts["moe"].bytes + parts["shared"].bytes * 0.53125
        assert work / B200.rate("fp8") == pytest.approx(read / B200.bandwidth, rel=2e-3)

    def test_the_fullest_replica_and_device_set_the_pace(self) -> None:
        uneven = ideal(QWEN, dp=4, ep=4).breakdown(B=9, T=1, S=4096)
        even = ideal(QWEN).breakdown(B=3, T=1, S=4096)
        assert uneven["attn_core"].bytes == even["attn_core"].bytes
        loads = [
            ideal(QWEN, dp=4, ep=4, routing=Routing(imbalance=x)).breakdown(B=64, T=1, S=1)["moe"]
            for x in (1.0, 1.5, 4.0)
        ]
        assert loads[1].flops == pytest.approx(1.5 * loads[0].flops)
        assert loads[2].bytes == 48 * 32 * 3 * 2048 * 768 * 2  # all that a device holds

    def test_dispatch_and_combine(self) -> None:
        """Each device sends its eighth of the tokens to the 8·(1 − (7/8)⁶) devices that hold their
        experts, and gets as much back, in 43 layers."""
        share = ideal(V4, dp=8, ep=8, collective_latency=1e-5).breakdown(**AT)["communication"]
        sent = 32 * 4096 * 2 / 8 * 8 * (1 - (7 / 8) ** 6)
        assert share.seconds == pytest.approx(2 * 43 * (1e-5 + 7 / 8 * sent / 900e9))

    @pytest.mark.parametrize(("B", "fullest"), [(1, 1), (8, 1), (9, 2), (16, 2)])
    def test_the_fullest_replica_sends_what_all_wait_for(self, B: int, fullest: int) -> None:
        """One sequence on eight replicas is all on one of them, which sends all four tokens."""
        share = ideal(V4, dp=8, ep=8).breakdown(B=B, T=4, S=4096)["communication"]
        sent = fullest * 4 * 4096 * 2 * 8 * (1 - (7 / 8) ** 6)
        assert share.seconds == pytest.approx(2 * 43 * 7 / 8 * sent / 900e9)

    def test_replicas_that_split_each_expert_gather_all_tokens(self) -> None:
        share = ideal(V4, dp=8).breakdown(**AT)["communication"]
        assert share.seconds == pytest.approx(2 * 43 * 7 / 8 * (1 * 4 * 4096 * 2) / 900e9)
        experts = ideal(V4, dp=8).breakdown(**AT)["moe"]
        assert experts.bytes == pytest.approx(ideal(V4).breakdown(**AT)["moe"].bytes / 8)

    def test_weights_in_memory(self) -> None:
        """671 billion fp8 parameters on eight devices, and all of them in host memory."""
        alone, eight = (ideal(V3, tp=n).memory(B=1, S=1).weights for n in (1, 8))
        router = 58 * 256 * 7168 * 2
        vectors = sum(w.layers * w.vectors * 2 for w in V3.architecture.weights)
        assert eight - router - vectors == pytest.approx((alone - router - vectors) / 8)
        gone = ideal(V3, offload=Offload(1.0, 50e9)).memory(B=1, S=1).weights
        assert alone - gone == 58 * 256 * 3 * 7168 * 2048

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"tp": 0}, "deployment, tp: tp = 0"),
            ({"dp": -1}, "deployment, dp: dp = -1"),
            ({"tp": 2.5}, "tp = 2.5 is no whole number"),
            ({"tp": 4, "ep": 3}, "ep = 3 does not fit tp·dp = 4 devices; .* a divisor of them"),
            ({"dp": 4, "ep": 2}, "ep = 2 .*; with dp = 4 it is 1 or all devices"),
            ({"link": 0}, "deployment, link: link = 0"),
            ({"collective_latency": -1}, "collective_latency: t_c = -1"),
            ({"memory_share": 1.2}, "memory_share: eta_m = 1.2"),
            ({"memory_efficiency": {"moe": 0}}, "memory_efficiency of moe: eta_m = 0"),
            ({"memory_efficiency": {"mole": 1}}, "memory_efficiency has no 'mole'; there are"),
            ({"compute_efficiency": 1.5}, "compute_efficiency of default: eta_m = 1.5"),
            ({"layer_overhead": {"moe": -1}}, "layer_overhead of moe: t_layer = -1"),
            ({"step_overhead": math.inf}, "step_overhead: t_step = inf"),
            ({"max_graph_tokens": 0}, "max_graph_tokens: graph_tokens = 0"),
            ({"eager_factor": 0.5}, "eager_factor: eager = 0.5"),
            ({"tile_rows": 0}, "tile_rows: tile = 0"),
            ({"selection_spread": 2}, "selection_spread: spread = 2"),
            ({"corner": "round"}, "corner = 'round'; it is 'hard' or 'smooth'"),
            ({"kv_cache": "int3"}, "no element format 'int3'"),
        ],
    )
    def test_what_is_out_of_its_domain(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            sd.Deployment.ideal(**changes)

    def test_what_is_no_number_or_no_field(self) -> None:
        with pytest.raises(TypeError, match=r"deployment: step_overhead: .* real number"):
            sd.Deployment.ideal(step_overhead="1 ms")
        with pytest.raises(TypeError, match="unexpected keyword argument 'tensor'"):
            sd.Deployment.ideal(tensor=2)

    def test_devices_without_a_link(self) -> None:
        alone = replace(B200, link=None)
        with pytest.raises(ValueError, match=r"B200 has no link .* 2 devices need one; .*link="):
            ideal(LLAMA, alone, tp=2)
        assert ideal(LLAMA, alone, tp=2, link=64e9)(**AT) > ideal(LLAMA, B200, tp=2)(**AT)


class TestRouting:
    def test_locality_touches_fewer_experts(self) -> None:
        """16 tokens of one sequence touched 55.1 of 256 experts, top-8, in a measurement."""
        model = sd.model("qwen3.6-35b-a3b")
        mixture = model.experts
        assert mixture is not None and (mixture.E, mixture.k) == (256, 8)
        cost = ideal(model, routing=Routing(locality=0.74))
        each = mixture.layers * mixture.P_e * mixture.b
        touched = cost.breakdown(B=1, T=16, S=1)["moe"].bytes / each
        assert touched == pytest.approx(55.1, rel=0.02)
        assert cost(B=8, T=1, S=1) == ideal(model)(B=8, T=1, S=1)

    @pytest.mark.parametrize("exponent", [0.2, 0.6, 0.7])
    def test_popularity_is_the_sum_over_the_experts(self, exponent: float) -> None:
        law = Routing.power_law(256, exponent)
        inclusion = inclusion_probabilities(law.popularity, 6)
        tokens = np.array([1, 4, 32, 256, 4096])
        cost = ideal(V4, routing=law)
        each = 43 * 25_165_824 * 0.53125
        touched = cost.breakdown(B=tokens, T=1, S=1)["moe"].bytes / each
        exact = distinct_experts_by_popularity(tokens, inclusion)
        np.testing.assert_allclose(touched, exact, rtol=0.005)
        assert touched[0] == pytest.approx(6)
        assert (touched <= distinct_experts(n=tokens, E=256, k=6) + 1e-9).all()

    def test_few_popularities_are_exact(self) -> None:
        """Half of the experts three times as popular as the other half."""
        inclusion = inclusion_probabilities([3.0] * 128 + [1.0] * 128, 6)
        assert popularity_classes(inclusion) == [(128, 6 / 512), (128, 18 / 512)]
        cost = ideal(V4, routing=Routing(popularity=(3.0,) * 128 + (1.0,) * 128))
        touched = cost.breakdown(B=50, T=1, S=1)["moe"].bytes / (43 * 25_165_824 * 0.53125)
        assert touched == pytest.approx(float(distinct_experts_by_popularity(50, inclusion)))

    def test_a_flat_popularity_is_the_uniform_law(self) -> None:
        flat = ideal(V4, routing=Routing(popularity=(1.0,) * 256))
        assert flat(**AT) == pytest.approx(ideal(V4)(**AT), rel=1e-13)

    def test_locality_within_a_skewed_law(self) -> None:
        both = Routing(0.79, Routing.power_law(256, 0.6).popularity, fitted_to="skewed")
        skewed = Routing(popularity=both.popularity)
        assert ideal(V4, routing=both)(**AT) < ideal(V4, routing=skewed)(**AT)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"locality": 1.5}, "locality = 1.5"),
            ({"imbalance": 0.5}, "imbalance = 0.5"),
            ({"locality": 0.74, "popularity": (1.0, 2.0)}, "would count it twice"),
            ({"fitted_to": "both"}, "a law is 'uniform' or 'skewed'"),
        ],
    )
    def test_bad_input(self, values: dict[str, Any], message: str) -> None:
        with pytest.raises(DomainError, match=message):
            Routing(**values)

    def test_a_popularity_that_cannot_be(self) -> None:
        with pytest.raises(DomainError, match="of 2 experts; this model's layers have 256"):
            ideal(V4, routing=Routing(popularity=(1.0, 2.0)))
        with pytest.raises(DomainError, match="expert 0 takes"):
            ideal(V4, routing=Routing.power_law(256, 3.0))
        with pytest.raises(DomainError, match="no power law over 0 experts"):
            Routing.power_law(0, 1.0)


class TestOffload:
    def test_the_slower_tier_sets_the_pace(self) -> None:
        """Case F09: nine tenths of the experts behind a link of 64 GB/s."""
        plain = ideal(V4).breakdown(**AT)["moe"]
        slow = ideal(V4, offload=Offload(0.9, 64e9)).breakdown(**AT)["moe"]
        assert slow.seconds == pytest.approx(plain.bytes * (0.1 / 8e12 + 0.9 / 64e9))
        at_once = ideal(V4, offload=Offload(0.9, 64e9, overlapped=True)).breakdown(**AT)["moe"]
        assert at_once.seconds == pytest.approx(plain.bytes * 0.9 / 64e9)

    def test_nothing_offloaded_changes_nothing(self) -> None:
        assert ideal(V4, offload=Offload(0.0, 64e9))(**AT) == pytest.approx(ideal(V4)(**AT))

    def test_the_marginal_price_rises_with_it(self) -> None:
        prices = [
            ideal(V4, offload=tier).marginal_prices(**AT)["step"]
            for tier in (None, Offload(0.9, 64e9))
        ]
        assert prices[0] < prices[1]

    @pytest.mark.parametrize(("share", "rate"), [(1.1, 1e9), (-0.1, 1e9), (0.5, 0), (0.5, np.nan)])
    def test_bad_input(self, share: float, rate: float) -> None:
        with pytest.raises(DomainError, match="offload: "):
            Offload(share, rate)


class TestVerifyCurve:
    #: Case P21: Qwen3.6-27B on a Radeon AI PRO R9700 with llama.cpp.
    MEASURED = VerifyCurve({3: 2.81, 4: 3.58})

    def test_it_replaces_the_growth_in_the_width(self) -> None:
        """Case P21: the roofline calls three drafted tokens nearly free, the kernels charge for
        each; with the measured curve no draft pays."""
        model, gpu = sd.model("qwen3-8b"), sd.gpu("rtx-4090")
        free = ideal(model, gpu)
        real = ideal(model, gpu, verify_curve=self.MEASURED)
        width = np.array([1, 2, 3, 3.5, 4])
        at = {"B": 1, "S": 1000}
        assert (free(T=width, **at) / free(T=1, **at)).max() < 1.01
        ratios = real(T=width, **at) / real(T=1, **at)
        assert ratios.tolist() == pytest.approx([1, 1.905, 2.81, 3.195, 3.58])
        assert real(T=1, **at) == free(T=1, **at)
        for gamma, tokens in ((2, 2.638), (3, 3.139)):
            assert tokens / ratios[{2: 2, 3: 4}[gamma]] < 1 < tokens
        assert sum(share.seconds for share in real.breakdown(T=4, **at).values()) == pytest.approx(
            real(T=4, **at)
        )

    def test_beyond_what_was_measured_it_is_unknown(self) -> None:
        cost = ideal(sd.model("qwen3-8b"), verify_curve=self.MEASURED)
        with pytest.raises(DomainError, match=r"T = 5 is beyond the verify curve.*up to T = 4"):
            cost(B=1, T=np.array([1, 5]), S=1)

    def test_times_instead_of_ratios(self) -> None:
        curve = VerifyCurve.from_times({1: 8.47, 2: 13.49, 8: 28.13})
        assert curve.widest == 8
        assert dict(curve)[2] == pytest.approx(13.49 / 8.47)

    @pytest.mark.parametrize(
        ("ratios", "message"),
        [
            ({}, "has a wider point"),
            ({1: 2.0, 2: 3.0}, "starts at width 1 with the ratio 1"),
            ({0.5: 0.5, 2: 3.0}, "starts at width 1"),
            ({2: 3.0, 3: 2.0}, "from width 2 to 3 the ratio goes from 3 to 2"),
            ({2: math.nan}, "takes no less time"),
            ({2: math.inf}, "takes no less time"),
        ],
    )
    def test_bad_input(self, ratios: dict[float, float], message: str) -> None:
        with pytest.raises(DomainError, match=message):
            VerifyCurve(ratios)

    def test_times_without_a_plain_step(self) -> None:
        with pytest.raises(DomainError, match="needs the time of a plain step"):
            VerifyCurve.from_times({2: 13.49})


class TestTypical:
    def test_every_value_has_a_source(self) -> None:
        deployment = sd.Deployment.typical(B200, tp=4)
        for name, origin in deployment.sources.items():
            assert origin.kind in ("measured", "assumed", "published"), name
            assert len(origin.source) > 10, name
        named = {name.partition(".")[0] for name in deployment.sources}
        assert named == {
            "step_overhead", "token_overhead", "pass_overhead", "round_overhead", "eager_factor",
            "layer_overhead", "collective_latency", "tile_rows", "memory_share",
            "memory_efficiency", "compute_efficiency",
        }  # fmt: skip

    def test_every_datum_of_the_file_has_a_provenance(self) -> None:
        for place, origin in defaults().provenances().items():
            assert origin.kind in KINDS, place
            assert "{" not in origin.source + "".join(origin.notes), place
            assert datetime.date(2024, 1, 1) <= origin.retrieved <= datetime.date(2027, 1, 1)
            if any(word in origin.source for word in ("scaled", "taken to be")):
                assert origin.kind == "assumed", place

    def test_what_the_caller_says_is_no_longer_a_default(self) -> None:
        deployment = sd.Deployment.typical(B200, step_overhead=3e-3, name="mine")
        assert deployment.step_overhead == 3e-3 and deployment.name == "mine"
        assert "step_overhead" not in deployment.sources

    def test_accelerators_have_their_own_efficiencies_or_the_default_ones(self) -> None:
        assert sd.Deployment.typical(H100).efficiency("memory", "moe", "fp8") == 0.88
        assert sd.Deployment.typical(B200).efficiency("memory", "moe", "fp8") == 0.78
        other = sd.Deployment.typical(sd.gpu("mi300x"))
        assert other.efficiency("compute", "attn_proj", "bf16") == 0.7
        listed = set(defaults().efficiencies) - {"default"}
        assert listed <= {gpu.name for gpu in catalog.gpus()}

    def test_engines_differ_in_what_a_round_costs(self) -> None:
        rounds = {
            name: sd.Deployment.typical(B200, engine=name).round_overhead
            for name in ("tensorrt-llm", "vllm", "SGLang")
        }
        assert list(rounds.values()) == [0.4e-3, 1.3e-3, 3e-3]
        with pytest.raises(ValueError, match="no engine 'ollama'; there are TensorRT-LLM, vLLM"):
            sd.Deployment.typical(B200, engine="ollama")

    @pytest.mark.parametrize("name", ["a100", "h100", "b200", "rtx-4090", "mi355x", "tpu-v6e"])
    def test_a_typical_step_takes_longer_than_the_ideal_one(self, name: str) -> None:
        gpu = sd.gpu(name)
        assert sd.StepCost(QWEN, gpu, sd.Deployment.typical(gpu))(**AT) > ideal(QWEN, gpu)(**AT)

    def test_every_kind_of_layer_has_a_fixed_time(self) -> None:
        kinds = {core.kind for model in catalog.models() for core in model.attention}
        listed = set(defaults().layers)
        assert kinds <= listed, "data/deployments.toml: fixed.layers"
        assert {"moe", "dense_ffn", "default"} <= listed

    def test_small_batches_are_mostly_overhead(self) -> None:
        """On four B300, V4-Flash's pass of 16, 64, 256 tokens takes 1.1, 1.5, 2.2 plain steps; the
        roofline says 5, 11, 15.  More than nine tenths of the plain step are fixed."""
        gpu = sd.gpu("b300")
        width = np.array([1, 16, 64, 256])
        real = sd.StepCost(V4, gpu, sd.Deployment.typical(gpu, tp=4))
        bare = sd.StepCost(V4, gpu, sd.Deployment.ideal(tp=4))
        at = {"B": 1, "S": 2000}
        grown = real(T=width, **at) / real(T=1, **at)
        assert np.abs(grown[1:] / [1.1, 1.5, 2.2] - 1).max() < 0.3
        assert (bare(T=width, **at) / bare(T=1, **at))[1:] == pytest.approx([5, 11, 15], rel=0.35)
        parts = real.breakdown(T=1, **at)
        fixed = parts["overhead"].seconds + parts["communication"].seconds
        assert fixed > 0.85 * parts.seconds


class TestCases:
    def test_p01_a_small_moe_at_batch_one(self) -> None:
        """Case P01: Qwen3-30B-A3B on two H100 with SGLang.  Four verified tokens touch 29 of 128
        experts, 3.64 times the routed and 2.57 times all weight bytes; a step takes 4.5 ms, five
        times its bytes, so 60 tokens are not 9.7 plain steps but some 4."""
        bare = sd.StepCost(QWEN, H100, sd.Deployment.ideal(tp=2))
        real = sd.StepCost(QWEN, H100, sd.Deployment.typical(H100, engine="SGLang", tp=2))
        one, four, sixty = (bare.breakdown(B=1, T=t, S=500) for t in (1, 4, 60))
        assert four["moe"].bytes / one["moe"].bytes == pytest.approx(3.64, abs=0.01)
        weights = ("attn_proj", "moe", "router", "head")
        read = [sum(parts[key].bytes for key in weights) for parts in (one, four)]
        assert read[1] / read[0] == pytest.approx(2.57, abs=0.02)
        assert sixty.seconds / one.seconds == pytest.approx(9.7, rel=0.05)
        at = {"B": 1, "S": 500}
        assert real(T=1, **at) == pytest.approx(4.5e-3, rel=0.15)
        draft = 3 * real.deployment.pass_overhead + real.deployment.round_overhead
        assert (real(T=4, **at) + draft) / real(T=1, **at) == pytest.approx(2.59, rel=0.25)
        assert 2.5 < (real(T=60, **at) + draft) / real(T=1, **at) < 6

    def test_p17_experts_of_a_loaded_step(self) -> None:
        """Case P17: gpt-oss-120b on one MI300X reads 111.2 of 128 experts at batch 64, and a step
        of 256 sequences takes 1.86 times one of 64."""
        gpu, model = sd.gpu("mi300x"), sd.model("gpt-oss-120b")
        each = 36 * 24_883_200 * 0.53125
        touched = sd.StepCost(model, gpu).breakdown(B=64, T=1, S=1024)["moe"].bytes / each
        assert touched == pytest.approx(111.2, abs=0.5)
        real = sd.StepCost(model, gpu, sd.Deployment.typical(gpu))
        steps = real(B=np.array([64, 96, 128, 256]), T=1, S=1536)
        assert (np.diff(steps) > 0).all()
        assert steps[-1] / steps[0] == pytest.approx(1.86, rel=0.25)
