"""Drafters: each counted by hand, its growth with context, its parts, what it warns of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import specdec_lib as sd
from specdec_lib import DomainError, Geometric, Plan, drafters
from specdec_lib.deployment import VerifyCurve
from specdec_lib.drafters import Law, as_target
from specdec_lib.formulas.published import layer_bytes

H100, B200 = sd.gpu("h100-sxm"), sd.gpu("b200")
LLAMA = sd.StepCost(sd.model("llama-3.1-8b"), H100)
V4 = sd.StepCost(sd.model("deepseek-v4-flash"), B200)
READ = 3.35e12  # bytes a second of an H100
AT = {"gamma": 3, "B": 1, "S": 4096}

EVERY = {
    "fraction": (drafters.fraction(0.1), LLAMA),
    "eagle1": (drafters.eagle1(), LLAMA),
    "eagle3": (drafters.autoregressive("llama3-8B-eagle3"), LLAMA),
    "mtp": (drafters.mtp(), V4),
    "dspark": (drafters.block("DeepSeek-V4-Flash-DSpark"), V4),
    "dflash": (drafters.block("qwen3-8b-dflash"), sd.StepCost(sd.model("qwen3-8b"), H100)),
    "medusa": (drafters.block("Medusa-Vicuna-7B"), LLAMA),
    "independent": (drafters.independent("llama-3.2-1b"), LLAMA),
    "ngram": (drafters.ngram(1e-4), LLAMA),
}


class TestByHand:
    """Bytes over bandwidth: on one H100 with one sequence everything waits for memory."""

    def test_an_eagle3_head(self) -> None:
        """Three hidden states to one; queries, keys and values of embedding and hidden state;
        a block 14 336 wide; 32 000 words."""
        H = 4096
        weights = 3 * H * H + 2 * H * (32 + 8 + 8) * 128 + 32 * 128 * H + 3 * H * 14336
        head = 32000 * H
        cache = 4096 * 2 * 8 * 128 + 2 * 32 * 128  # keys and values; query in, output out
        parts = drafters.autoregressive("llama3-8B-eagle3").on(LLAMA).breakdown(**AT)
        assert parts["weights"] == pytest.approx(3 * 2 * weights / READ, rel=1e-12)
        assert parts["head"] == pytest.approx(3 * 2 * head / READ, rel=1e-12)
        assert parts["kv"] == pytest.approx(3 * 2 * cache / READ, rel=1e-12)
        assert parts["overhead"] == 0

    def test_a_first_eagle_head_reads_the_whole_vocabulary(self) -> None:
        H = 4096
        layer = 2 * H * 32 * 128 + 2 * H * 8 * 128 + 3 * H * 14336
        parts = drafters.eagle1().on(LLAMA).breakdown(**AT)
        assert parts["weights"] == pytest.approx(3 * 2 * (layer + 2 * H * H) / READ, rel=1e-12)
        assert parts["head"] == pytest.approx(3 * 2 * 128256 * H / READ, rel=1e-12)
        fewer = drafters.eagle1(vocabulary=32000).on(LLAMA).breakdown(**AT)
        assert fewer["head"] == pytest.approx(3 * 2 * 32000 * H / READ, rel=1e-12)
        assert fewer["weights"] == parts["weights"]

    def test_the_module_of_v4_flash(self) -> None:
        """Attention, router, one shared expert and a projection of two states to one; six of 256
        experts; the whole head at 16 bits."""
        H, read = 4096, 8e12
        weights = 106_954_752 + 3 * H * 2048 + 2 * 256 * H + 2 * 2 * H * H
        parts = drafters.mtp().on(V4).breakdown(**AT)
        assert parts["weights"] == pytest.approx(3 * weights / read, rel=1e-12)
        assert parts["experts"] == pytest.approx(3 * 6 * 3 * H * 2048 * 0.53125 / read, rel=1e-12)
        assert parts["head"] == pytest.approx(3 * 2 * 129280 * H / read, rel=1e-12)

    def test_an_independent_model_is_its_own_step(self) -> None:
        small = sd.StepCost(sd.model("llama-3.2-1b"), H100)
        draft = drafters.independent("llama-3.2-1b").on(LLAMA)
        alone = small(B=[1, 60], T=1, S=9000)
        assert draft.seconds(gamma=5, B=[1, 60], S=9000) == pytest.approx(5 * alone, rel=1e-12)

    def test_a_block_reads_its_weights_once_and_computes_all_positions(self) -> None:
        """DSpark of V4-Flash: three layers, five tokens of a sequence, up to 30 experts in each."""
        draft = drafters.block("DeepSeek-V4-Flash-DSpark").on(V4)
        parts = draft.breakdown(**AT)
        touched = 256 * (1 - (1 - 6 / 256) ** 5)
        experts = 3 * touched * 3 * 4096 * 2048 * 0.53125
        assert parts["experts"] == pytest.approx(experts / 8e12, rel=1e-12)
        assert parts["head"] == pytest.approx(2 * 129280 * 4096 / 8e12, rel=1e-12)
        each = [draft.seconds(gamma=g, B=1, S=4096) for g in range(6)]
        assert each[0] == 0
        assert len(set(each[1:])) == 1

    def test_heads_of_medusa_read_one_state(self) -> None:
        parts = drafters.block("Medusa-Vicuna-7B").on(LLAMA).breakdown(gamma=5, B=1, S=1)
        assert parts["head"] == pytest.approx(2 * 5 * 32000 * 4096 / READ, rel=1e-12)
        many = drafters.block("Medusa-Vicuna-7B").on(LLAMA).breakdown(gamma=5, B=400, S=1)
        assert many["head"] == pytest.approx(2 * 400 * 5 * 32000 * 4096 / 989.4e12, rel=1e-12)

    def test_a_fraction_is_of_a_plain_step(self) -> None:
        plain = LLAMA(B=7, T=1, S=500)
        cost = drafters.fraction(0.2).on(LLAMA).seconds(gamma=4, B=7, S=500)
        assert cost == pytest.approx(0.8 * plain, rel=1e-15)

    def test_fixed_times(self) -> None:
        set_up = sd.Deployment.ideal(pass_overhead=1e-3, round_overhead=7e-3)
        slow = sd.StepCost(LLAMA.model, H100, set_up)
        for drafter, adds in (
            (drafters.eagle1(), 3 * 1e-3 + 7e-3),
            (drafters.independent("llama-3.2-1b"), 3 * 1e-3 + 7e-3),
            (drafters.block("Medusa-Vicuna-7B"), 1e-3 + 7e-3),
            (drafters.ngram(2e-3), 7e-3 + 2e-3),
            (drafters.fraction(0.1), 0.0),
        ):
            bare, found = drafter.on(LLAMA), drafter.on(slow)
            more = found.seconds(**AT) - bare.seconds(**AT)
            assert more == pytest.approx(adds if drafter.name != "n-gram" else 7e-3, rel=1e-9)
            if drafter.name != drafters.fraction(0.1).name:
                assert found.breakdown(**AT)["overhead"] == pytest.approx(adds, rel=1e-9)


@pytest.mark.parametrize("name", EVERY)
class TestEvery:
    def test_no_draft_costs_exactly_nothing(self, name: str) -> None:
        drafter, target = EVERY[name]
        draft = drafter.on(target)
        assert draft.seconds(gamma=0, B=3, S=77) == 0.0
        assert set(draft.breakdown(gamma=0, B=3, S=77).values()) == {0.0}
        some = draft.seconds(gamma=[0, 1, 2], B=[[1], [9]], S=77)
        assert some.shape == (2, 3)
        assert some[:, 0].tolist() == [0.0, 0.0]
        assert np.all(some[:, 1:] > 0)

    def test_parts_add_up(self, name: str) -> None:
        drafter, target = EVERY[name]
        draft = drafter.on(target)
        at = {"gamma": [1, 4], "B": [[1], [64]], "S": 12_345}
        assert sum(draft.breakdown(**at).values()) == pytest.approx(draft.seconds(**at), rel=1e-12)

    def test_the_formula_is_the_cost(self, name: str) -> None:
        drafter, target = EVERY[name]
        typical = sd.Deployment.typical(target.gpu)
        draft = drafter.on(sd.StepCost(target.model, target.gpu, typical))
        for gamma, B, S in ((0, 1, 10), (1, 5, 300), (4, 900, 70_000)):
            known = {"gamma": gamma, "B": B, "S": S}
            inputs = {q.keyword for q in draft.formula.inputs}
            value = draft.formula(**{k: v for k, v in known.items() if k in inputs})
            assert value == pytest.approx(draft.seconds(**known), rel=1e-12)

    def test_bad_input(self, name: str) -> None:
        drafter, target = EVERY[name]
        draft = drafter.on(target)
        for bad in ({"gamma": 1.5}, {"gamma": -1}, {"B": 0}, {"S": -1}, {"S": float("nan")}):
            with pytest.raises(DomainError):
                draft.seconds(**{"gamma": 1, "B": 1, "S": 1, **bad})
            with pytest.raises(DomainError):
                draft.breakdown(**{"gamma": 1, "B": 1, "S": 1, **bad})


class TestContext:
    """An error of other tools: a drafter whose cost ignores context, or its own head."""

    def test_serial_heads_read_their_cache_in_every_pass(self) -> None:
        draft = drafters.autoregressive("llama3-8B-eagle3").on(LLAMA)
        near, far = (draft.breakdown(gamma=4, B=8, S=S) for S in (1000, 101_000))
        grown = 4 * 8 * 100_000 * 2 * 8 * 128 * 2 / READ
        assert far["kv"] - near["kv"] == pytest.approx(grown, rel=1e-9)
        assert far["weights"] == near["weights"]
        [warning] = draft.warnings
        assert "grows with the context" in warning
        assert "4096 B" in warning
        assert "unsplit" in warning

    def test_a_window_does_not_grow(self) -> None:
        draft = drafters.mtp().on(V4)
        assert draft.seconds(gamma=3, B=8, S=1_000_000) == draft.seconds(gamma=3, B=8, S=500)
        assert not draft.warnings

    def test_the_head_is_most_of_some_modules(self) -> None:
        """Qwen3.6-35B-A3B: the vocabulary is 89 % of what a pass reads."""
        cost = sd.StepCost(sd.model("qwen3.6-35b-a3b"), H100)
        parts = drafters.mtp().on(cost).breakdown(gamma=1, B=1, S=1)
        assert parts["head"] / sum(parts.values()) == pytest.approx(0.89, abs=0.005)


class TestDevices:
    SPLIT = sd.StepCost(sd.model("llama-3.1-8b"), H100, sd.Deployment.ideal(tp=8))

    def test_a_drafter_is_unsplit_unless_said(self) -> None:
        alone = drafters.eagle1().on(self.SPLIT)
        assert alone.seconds(**AT) == drafters.eagle1().on(LLAMA).seconds(**AT)
        assert any("1 of the 8 devices" in text for text in alone.assumptions)
        split = drafters.eagle1(tp="target").on(self.SPLIT).breakdown(**AT)
        whole = alone.breakdown(**AT)
        for key in ("weights", "head", "kv"):
            assert split[key] == pytest.approx(whole[key] / 8, rel=1e-12)
        assert split["communication"] > 0
        four = drafters.eagle1(tp=4).on(self.SPLIT).breakdown(**AT)
        assert four["weights"] == pytest.approx(whole["weights"] / 4, rel=1e-12)

    def test_a_drafter_may_be_served_in_its_own_way(self) -> None:
        """Its own devices, kernels and fixed times rule."""
        own = sd.Deployment.ideal(memory_efficiency=0.5, pass_overhead=1e-3)
        draft = drafters.eagle1(deployment=own).on(self.SPLIT)
        twice = drafters.eagle1().on(LLAMA).seconds(**AT)
        assert draft.seconds(**AT) == pytest.approx(2 * twice + 3e-3, rel=1e-12)

    def test_each_replica_drafts_for_its_own(self) -> None:
        two = sd.StepCost(sd.model("llama-3.1-8b"), H100, sd.Deployment.ideal(dp=2))
        draft, alone = drafters.eagle1().on(two), drafters.eagle1().on(LLAMA)
        here, half = draft.seconds(gamma=2, B=5, S=9000), alone.seconds(gamma=2, B=3, S=9000)
        assert here == pytest.approx(half, rel=1e-12)
        assert draft.formula(gamma=2, B=5, S=9000) == pytest.approx(here, rel=1e-12)

    def test_what_is_the_targets_stays_with_it(self) -> None:
        """A measured verify curve, offloaded experts and the fixed time of a step."""
        set_up = sd.Deployment.ideal(verify_curve=VerifyCurve({4: 3.9}), step_overhead=0.1)
        odd = sd.StepCost(LLAMA.model, H100, set_up)
        assert drafters.eagle1().on(odd).seconds(**AT) == drafters.eagle1().on(LLAMA).seconds(**AT)
        block = drafters.block("Medusa-Vicuna-7B")
        assert block.on(odd).seconds(**AT) == block.on(LLAMA).seconds(**AT)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "target", "found"),
        [
            ("fraction:0.25", "llama-3.1-8b", "a fraction 0.25 of a plain step"),
            ("mtp", "deepseek-v4-flash", "the target's own module"),
            ("eagle3", "llama-3.1-8b", "Llama-3.1-8B-EAGLE3"),
            ("EAGLE3", "deepseek-v3", "DeepSeek-V3-EAGLE3"),
            ("dflash", "qwen3-8b", "Qwen3-8B-DFlash"),
            ("llama3-8B-eagle3", "llama-3.1-8b", "Llama-3.1-8B-EAGLE3"),
            ("DeepSeek-V3-MTP", "deepseek-v3", "DeepSeek-V3-MTP"),
            ("qwen3-0.6b", "qwen3-8b", "Qwen3-0.6B"),
            ("qwen3-32b", "qwen3-235b-a22b", "Qwen3-32B"),
            ("n-gram", "qwen3-8b", "n-gram"),
            ("prompt lookup", "qwen3-8b", "n-gram"),
            ("eagle1", "llama-3.1-8b", "EAGLE head"),
        ],
    )
    def test_found(self, name: str, target: str, found: str) -> None:
        model = sd.model(target)
        drafter = drafters.named(name, model)
        assert drafter.name == found
        typical = sd.Deployment.typical(B200)
        assert drafter.on(sd.StepCost(model, B200, typical)).seconds(**AT) > 0

    @pytest.mark.parametrize(
        ("name", "error", "message"),
        [
            ("eagle9", LookupError, "eagle9"),
            ("fraction:x", ValueError, "fraction:0.10"),
            ("fraction:-1", ValueError, "c = -1"),
            ("dspark", ValueError, "has none for Llama-3.1-8B"),
        ],
    )
    def test_not_found(self, name: str, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            drafters.named(name, sd.model("llama-3.1-8b"))

    def test_a_kind_needs_its_target(self) -> None:
        with pytest.raises(ValueError, match="for which target"):
            drafters.named("eagle3")

    def test_a_card_for_another_target_is_said(self) -> None:
        draft = drafters.autoregressive("llama3-8B-eagle3").on(V4)
        assert "listed as a drafter for Llama-3.1-8B" in draft.warnings[0]

    def test_the_card_and_the_module_are_one(self) -> None:
        by_card = drafters.autoregressive("DeepSeek-V4-Flash-MTP").on(V4)
        assert by_card.seconds(**AT) == drafters.mtp().on(V4).seconds(**AT)


def test_near_active_bytes_are_warned_of_not_total() -> None:
    """An error of other tools: a draft of 1.7 billion is small beside 235 billion of which a token
    uses 22; beside 30.5 billion of which it uses 3 it is not."""
    small = drafters.independent("qwen3-1.7b")
    large = sd.StepCost(sd.model("qwen3-235b-a22b"), B200)
    assert not any("reads" in text and "for a token" in text for text in small.on(large).warnings)
    sparse = sd.StepCost(sd.model("qwen3-30b-a3b"), B200)
    warning = small.on(sparse).warnings[0]
    assert "0.57 of the 6.08 GB" in warning
    assert "not of all its 61.1 GB" in warning
    drafted = sum(p.matrix_parameters for p in sd.model("qwen3-1.7b").architecture.weights) * 2
    assert drafted / 1e9 < 0.07 * 61.1  # against the total it would look harmless


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: drafters.fraction(-0.1), DomainError, "c = -0.1"),
        (lambda: drafters.fraction("0.1"), TypeError, "real number"),
        (lambda: drafters.ngram(-1.0), DomainError, "t_round"),
        (lambda: drafters.mtp(tp=0), ValueError, "tp = 0"),
        (lambda: drafters.mtp(tp="all"), ValueError, "tp = 'all'"),
        (lambda: drafters.mtp(deployment="fast"), TypeError, "is a Deployment"),
        (lambda: drafters.mtp().on(LLAMA), ValueError, "not known"),
        (lambda: drafters.eagle1().on(V4), ValueError, "not all dense"),
        (lambda: drafters.eagle1(vocabulary=10**6).on(LLAMA), ValueError, "cannot be reduced"),
        (lambda: drafters.independent(7), TypeError, "a Model"),
        (lambda: drafters.independent("gpt-9"), LookupError, "gpt-9"),
        (lambda: drafters.autoregressive("qwen3-8b-dflash"), ValueError, "one token a pass"),
        (lambda: drafters.autoregressive(3), TypeError, "card"),
        (lambda: drafters.block("llama3-8B-eagle3"), ValueError, "block a pass"),
        (lambda: drafters.block("DeepSeek-V4-Flash-DSpark").on(LLAMA), ValueError, "same layout"),
        (
            lambda: drafters.block("DeepSeek-V4-Flash-DSpark").on(V4).seconds(gamma=6, B=1, S=1),
            DomainError,
            "at most 5 tokens a round, not 6",
        ),
        (lambda: drafters.mtp().on(Law(layer_bytes)), TypeError, "bind the others"),
        (lambda: drafters.mtp().on(_price()), TypeError, "give a StepCost"),
        (lambda: drafters.ngram().on(_price()), TypeError, "give a StepCost"),
        (lambda: as_target(3.0), TypeError, "StepCost"),
        (lambda: Plan(_price(), drafters.mtp(), Geometric(0.5)), TypeError, "give a StepCost"),
    ],
)
def test_bad_input_never_becomes_a_number(
    ask: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask()


def _price() -> sd.Formula:
    known = dict(E=256, k=6, s=1, P_e=25.2e6, b=0.53, P_a=107e6, b_a=1, f=139264, m_c=576)
    ridges = dict(ridge_projection=563, ridge_expert=1125, ridge_core=281)
    return layer_bytes.where(**known, **ridges)
