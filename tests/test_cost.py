"""The step cost against an independent calculation, hand counting, and known wrong ways."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import numpy as np
import pytest
import sympy

import specdec_lib as sd
from specdec_lib import catalog, formulas
from specdec_lib.architecture import Model
from specdec_lib.cost import Breakdown
from specdec_lib.cost.breakdown import COMPONENTS
from specdec_lib.cost.grid import SLICE
from specdec_lib.formula import DomainError
from specdec_lib.symbols import B, S, T
from tests.vega_runtime import evaluate_in_vega

GOLDEN = Path(__file__).parent / "data" / "golden_steps.csv"
ROWS = list(csv.DictReader(GOLDEN.read_text().splitlines()))

#: Ten digits are printed.
DIGITS = 1e-9


@functools.cache
def step_cost(model: str, gpu: str) -> sd.StepCost:
    found = sd.model(model)
    if model.startswith("Qwen3.6"):  # its published configuration has a 4-bit export's precision
        found = bf16(found)
    return sd.StepCost(found, sd.gpu(gpu))


def bf16(model: Model) -> Model:
    precisions = {part.precision.name for part in model.architecture.weights}
    assert precisions == {"bf16"}, f"{model.name}: the record is read with precision='bf16'"
    return model


def row_name(row: dict[str, str]) -> str:
    return f"{row['model']}, {row['gpu'].split('-')[0]}, B={row['B']}, T={row['T']}, S={row['S']}"


def point(row: dict[str, str]) -> dict[str, int]:
    return {key: int(row[key]) for key in ("B", "T", "S")}


class TestAgainstAnIndependentCalculation:
    def test_the_table_is_whole(self) -> None:
        assert len(ROWS) == 192
        assert len({(row["model"], row["gpu"]) for row in ROWS}) == 24

    @pytest.mark.parametrize("row", ROWS, ids=row_name)
    def test_every_component_and_their_sum(self, row: dict[str, str]) -> None:
        cost = step_cost(row["model"], row["gpu"])
        parts = cost.breakdown(**point(row))
        for key in COMPONENTS:
            share = parts[key]
            assert share.flops == pytest.approx(float(row[f"flops_{key}"]), rel=DIGITS), key
            assert share.bytes == pytest.approx(float(row[f"bytes_{key}"]), rel=DIGITS), key
            assert share.seconds * 1e6 == pytest.approx(float(row[f"us_{key}"]), rel=DIGITS), key
        assert list(parts) == list(COMPONENTS)
        assert cost(**point(row)) * 1e6 == pytest.approx(float(row["C_us"]), rel=DIGITS)
        assert parts.seconds == pytest.approx(cost(**point(row)), rel=1e-14)

    @pytest.mark.parametrize("row", ROWS, ids=row_name)
    def test_experts_and_intensities(self, row: dict[str, str]) -> None:
        parts = step_cost(row["model"], row["gpu"]).breakdown(**point(row))
        core, experts = parts["attn_core"], parts["moe"]
        assert core.flops / core.bytes == pytest.approx(float(row["attn_intensity"]), rel=DIGITS)
        if row["moe_intensity"]:
            assert experts.flops / experts.bytes == pytest.approx(
                float(row["moe_intensity"]), rel=DIGITS
            )
            mixture = sd.model(row["model"]).experts
            assert mixture is not None
            each = mixture.layers * mixture.P_e * mixture.b
            assert experts.bytes / each == pytest.approx(float(row["distinct_experts"]), rel=DIGITS)

    @pytest.mark.parametrize("pair", ["a0.6_c0.05", "a0.8_c0.05", "a0.8_c0.2", "a0.9_c0.0"])
    def test_the_best_draft_lengths(self, pair: str) -> None:
        """γ* and its speedup follow from the step cost by the Formulas; ties go to the smaller."""
        alpha, c = (float(text[1:]) for text in pair.split("_"))
        gamma = np.arange(17)
        tokens = formulas.acceptance.expected_tokens(alpha=alpha, gamma=gamma)
        for row in ROWS:
            cost = step_cost(row["model"], row["gpu"])
            step = cost(B=int(row["B"]), T=gamma + 1, S=int(row["S"]))
            speedup = formulas.speculation.speedup(
                N=tokens, C_0=step[0], C_verify=step, C_draft=c * gamma * step[0]
            )
            best = int(np.argmax(speedup >= speedup.max() * (1 - 1e-12)))
            assert best == int(row[f"gstar_{pair}"]), row_name(row)
            assert speedup[best] == pytest.approx(float(row[f"speedup_{pair}"]), rel=DIGITS)
            assert speedup[3] == pytest.approx(float(row[f"sp_g3_{pair}"]), rel=DIGITS)


V4 = step_cost("deepseek-v4-flash", "b200")
AT = {"B": 8, "T": 4, "S": 4096}


class TestOneExpression:
    def test_it_has_the_three_arguments_and_no_unit(self) -> None:
        assert V4.expr.free_symbols == {B, T, S}

    def test_it_is_the_sum_of_its_parts(self) -> None:
        assert sympy.Add(*(part.seconds for part in V4.parts)) == V4.expr

    @pytest.mark.parametrize(
        "model", ["deepseek-v4-flash", "gpt-oss-120b", "llama-3.1-8b", "deepseek-v3"]
    )
    def test_numpy_sympy_and_vega_agree(self, model: str) -> None:
        cost = step_cost(model, "b200")
        rng = np.random.default_rng(11)
        points = [
            {"B": float(b), "T": float(t), "S": float(s)}
            for b, t, s in zip(
                rng.integers(1, 512, 12), rng.integers(1, 17, 12), rng.integers(0, 200_000, 12),
                strict=True,
            )
        ]  # fmt: skip
        in_vega = evaluate_in_vega(cost.vega(B="datum.B", T="datum.T", S="datum.S"), points)
        for at, vega in zip(points, in_vega, strict=True):
            exact = float(cost.expr.subs({B: at["B"], T: at["T"], S: at["S"]}).evalf(30))
            assert cost(**at) == pytest.approx(exact, rel=1e-12)
            assert vega == pytest.approx(exact, rel=1e-12)

    @pytest.mark.parametrize("model", ["deepseek-v4-flash", "gpt-oss-120b", "deepseek-v3"])
    def test_its_prices_are_drawn_as_they_are_computed(self, model: str) -> None:
        """Windows and selections put cases into the conditions of cases."""
        cost = step_cost(model, "b200")
        points = [
            {"B": float(b), "T": float(t), "S": float(s)}
            for b in (3, 300) for t in (1, 2, 5) for s in (0, 100, 1000, 10_001)
        ]  # fmt: skip
        at = {name: np.array([point[name] for point in points]) for name in "BTS"}
        computed = cost.marginal_prices(**at)
        for key, law in cost.prices.items():
            fields = {known.keyword: f"datum.{known.keyword}" for known in law.inputs}
            drawn = np.array(evaluate_in_vega(law.vega(**fields), points), dtype=float)
            np.testing.assert_allclose(drawn, computed[key], rtol=1e-9, atol=1e-12)
            at_points = {known.keyword: at[known.keyword] for known in law.inputs}
            np.testing.assert_allclose(
                np.broadcast_to(law(**at_points), drawn.shape), drawn, rtol=1e-9, atol=1e-12
            )

    def test_a_component_without_work_has_no_price(self) -> None:
        """An indexer has nothing to search in an empty context; its price is 0, not 0/0."""
        law = V4.prices["indexer"]
        assert law(B=8, T=4, S=0) == 0
        assert law(B=8, T=4, S=10**6) > 0

    def test_vega_takes_numbers_and_refuses_other_names(self) -> None:
        at = [{"batch": 8.0}]
        drawn = evaluate_in_vega(V4.vega(B="datum.batch", T=4, S=4096), at)[0]
        assert drawn == pytest.approx(V4(**AT), rel=1e-12)
        with pytest.raises(TypeError, match="no symbol n; it takes B, T, S"):
            V4.vega(n="datum.n")
        with pytest.raises(DomainError, match="B = 0"):
            V4.vega(B=0)


class TestArrays:
    def test_arguments_broadcast(self) -> None:
        batch, width, context = np.array([1, 8, 64]), np.array([1, 2, 4, 8]), np.array([512, 65536])
        grid = V4(B=batch[:, None, None], T=width[:, None], S=context)
        assert grid.shape == (3, 4, 2)
        for i, j, k in np.ndindex(grid.shape):
            alone = V4(B=int(batch[i]), T=int(width[j]), S=int(context[k]))
            assert grid[i, j, k] == pytest.approx(alone, rel=1e-15)
            assert isinstance(alone, float)

    def test_a_large_open_grid_equals_the_closed_one(self) -> None:
        """Slices and pieces are an arrangement, not an approximation."""
        axes = np.arange(1, 91.0), np.arange(1, 21.0), np.geomspace(1, 1e6, 200).round()
        closed = np.meshgrid(*axes, indexing="ij")
        opened = np.meshgrid(*axes, indexing="ij", sparse=True)
        assert closed[0].size > 2 * SLICE
        on_open = V4(**dict(zip("BTS", opened, strict=True)))
        on_closed = V4(**dict(zip("BTS", closed, strict=True)))
        flat = V4(**{key: axis.ravel() for key, axis in zip("BTS", closed, strict=True)})
        np.testing.assert_allclose(on_open, on_closed, rtol=1e-14)
        np.testing.assert_array_equal(flat.reshape(on_closed.shape), on_closed)

    def test_values_that_are_not_finite_are_refused_in_either_arrangement(self) -> None:
        for batch in (1e305, np.array([1, 1e305]), np.append(np.ones(2 * SLICE), 1e305)):
            with pytest.raises(DomainError, match="no finite value"):
                V4(B=batch, T=1e10, S=1)

    def test_nothing_to_compute(self) -> None:
        assert V4(B=np.array([]), T=1, S=1).shape == (0,)

    def test_a_breakdown_of_arrays(self) -> None:
        parts = V4.breakdown(B=np.array([1, 512]), T=2, S=4096)
        assert parts["moe"].bound.tolist() == ["memory", "memory"]
        assert parts["attn_proj"].bound.tolist() == ["memory", "compute"]
        assert parts["dense_ffn"].bound.tolist() == ["none", "none"]
        assert parts["head"].seconds.shape == (2,)
        assert "arrays of shape (2,)" in repr(parts)

    def test_a_breakdown_prints_as_a_table(self) -> None:
        text = repr(V4.breakdown(**AT))
        assert text.splitlines()[0].split() == ["GFLOP", "MB", "µs", "waits", "for"]
        assert "dense_ffn" not in text
        assert f"{V4(**AT) * 1e6:12.4g}" in text.splitlines()[-1]

    def test_a_component_that_a_step_has_not(self) -> None:
        with pytest.raises(KeyError, match="no 'overhead'; it has attn_proj"):
            V4.breakdown(**AT)["overhead"]
        assert isinstance(V4.breakdown(**AT), Breakdown)


class TestBadInput:
    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ({"B": 0, "T": 1, "S": 1}, DomainError, "B = 0 is outside \\[1, ∞\\)"),
            ({"B": 1, "T": 0.5, "S": 1}, DomainError, "T = 0.5 is outside"),
            ({"B": 1, "T": 1, "S": -1}, DomainError, "S = -1 is outside"),
            ({"B": np.array([1, np.nan]), "T": 1, "S": 1}, DomainError, "at index 1"),
            ({"B": 1, "T": 1}, TypeError, "missing S \\(context length in tokens\\)"),
            ({"B": 1, "T": 1, "S": 1, "n": 1}, TypeError, "no symbol n here; it takes B, T, S"),
            ({"B": "8", "T": 1, "S": 1}, TypeError, "B .* must be a real number"),
        ],
    )
    def test_is_refused_by_every_method(
        self, values: dict[str, object], error: type[Exception], message: str
    ) -> None:
        for method in (V4, V4.breakdown, V4.marginal_prices):
            with pytest.raises(error, match=message) as caught:
                method(**values)
            assert "StepCost(DeepSeek-V4-Flash" in str(caught.value) or "real number" in message

    def test_names_are_no_records(self) -> None:
        gpu, model = sd.gpu("b200"), sd.model("llama-3.1-8b")
        for wrong in (("llama-3.1-8b", gpu), (model, "b200"), (model, gpu, "typical")):
            with pytest.raises(TypeError, match="a step cost needs a record such as"):
                sd.StepCost(*wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"needs a record such as gpu\('b200'\), not 'b200'"):
            sd.Deployment.typical("b200")  # type: ignore[arg-type]


class TestCounting:
    """Rules of counting, each on a number worked out by hand."""

    def test_the_cache_is_read_once_for_all_tokens_of_a_sequence(self) -> None:
        """Charged T times, as a widely used planner does, verification would never pay."""
        cost = step_cost("llama-3.1-70b", "b200")
        plain, verify = (cost.breakdown(B=32, T=t, S=32768)["attn_core"] for t in (1, 4))
        cache = 32 * 32768 * 80 * (2 * 8 * 128 * 2)
        queries = 32 * 80 * (2 * 64 * 128 * 2)
        assert plain.bytes == cache + queries
        assert verify.bytes == cache + 4 * queries
        charged_four_times = cost(B=32, T=4, S=32768) + 3 * cache / 8e12
        tokens = formulas.acceptance.expected_tokens(alpha=0.7, gamma=3)
        assert tokens * cost(B=32, T=1, S=32768) / cost(B=32, T=4, S=32768) > 2.4
        assert tokens * cost(B=32, T=1, S=32768) / charged_four_times < 0.95

    def test_one_token_does_not_read_every_expert(self) -> None:
        experts = V4.breakdown(B=1, T=1, S=1)["moe"]
        assert experts.bytes == pytest.approx(43 * 6 * 25_165_824 * 0.53125)  # not 43·256 of them

    def test_tokens_share_experts(self) -> None:
        """min(n·k, E) is the most that tokens can touch, not what they do."""
        experts = V4.breakdown(B=8, T=4, S=1)["moe"]
        touched = experts.bytes / (43 * 25_165_824 * 0.53125)
        assert touched == pytest.approx(256 * (1 - (250 / 256) ** 32))
        assert touched < 0.72 * min(32 * 6, 256)

    def test_a_window_is_no_longer_than_it_is(self) -> None:
        """Half the layers of gpt-oss see 128 tokens, whatever the context."""
        cost = step_cost("gpt-oss-120b", "b200")
        core = cost.breakdown(B=1, T=1, S=100_000)["attn_core"]
        entry, query = 2 * 8 * 64 * 2, 2 * 64 * 64 * 2
        assert core.bytes == 18 * (entry * 100_000 + query) + 18 * (entry * 128 + query)

    def test_a_head_width_that_is_stated_is_not_derived(self) -> None:
        """Qwen3-30B-A3B has 32 heads of 128 on a hidden size of 2048: 4096 wide, not 2048."""
        parts = step_cost("qwen3-30b-a3b", "b200").breakdown(B=1, T=1, S=1)
        assert parts["attn_proj"].bytes == 48 * 2 * (2 * 2048 * 4096 + 2 * 2048 * 512)

    def test_a_tied_head_is_read_all_the_same(self) -> None:
        """Case J08: stored once with the embedding, and still read in every step."""
        shape = {
            "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 1000,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "intermediate_size": 128,
        }  # fmt: skip
        tied, apart = (
            sd.StepCost(Model.from_config({**shape, "tie_word_embeddings": flag}), sd.gpu("b200"))
            for flag in (True, False)
        )
        assert tied.breakdown(B=1, T=1, S=1)["head"].bytes == 2 * 1000 * 64
        assert tied(B=1, T=1, S=1) == apart(B=1, T=1, S=1)
        stored = [cost.memory(B=1, S=1).weights for cost in (tied, apart)]
        assert stored[1] - stored[0] == 2 * 1000 * 64

    def test_an_accelerator_without_the_units_computes_at_16_bits_and_says_so(self) -> None:
        """V4-Flash's fp8 and W4A8 weights on an A100, which has a bf16 rate only."""
        cost = step_cost("deepseek-v4-flash", "a100")
        assert any("no fp8 rate: moe in mxfp4-w4a8 is unpacked" in a for a in cost.assumptions)
        experts = cost.breakdown(B=100_000, T=1, S=1)["moe"]
        assert experts.bound == "compute"
        assert experts.seconds == pytest.approx(experts.flops / 312e12)
        assert not any("rate" in text for text in V4.assumptions)

    def test_precisions_of_one_component_are_parts_of_their_own(self) -> None:
        """Two matrices in two formats do not overlap with each other."""
        dense = {part.kind for part in V4.parts if part.key == "attn_proj"}
        assert dense == {"fp8"}
        assert len([part for part in V4.parts if part.key == "attn_core"]) == 3


@pytest.mark.parametrize("model", [model.name for model in catalog.models()])
def test_every_model_of_the_catalogue_has_a_price(model: str) -> None:
    """One token for one sequence reads at least its active matrices, and little more."""
    found = sd.model(model)
    cost = sd.StepCost(found, sd.gpu("b200"))
    parts = cost.breakdown(B=1, T=1, S=1)
    read = sum(share.bytes for key, share in parts.items() if key not in ("attn_core", "indexer"))
    active = sum(
        part.bytes * float(part.used)
        for part in found.architecture.weights
        if part.key not in ("embedding", "mtp")
    )
    assert read == pytest.approx(active, rel=1e-12)
    assert cost(B=1, T=1, S=1) >= read / 8e12
    assert cost.memory(B=1, S=1).weights >= active


class TestMemory:
    def test_a_model_that_fits(self) -> None:
        memory = V4.memory(B=64, S=8192)
        assert memory.fits is True and memory.warning is None
        # 155.5 GB at rest, as published for this model; 21 CSA and 20 HCA layers of 584-byte
        # entries, a 64-byte key for every fourth token, 43 windows of 128
        assert memory.weights == pytest.approx(155.5e9, rel=2e-3)
        token = 21 * (584 + 64) / 4 + 20 * 584 / 128
        assert memory.cache == pytest.approx(64 * (8192 * token + 43 * 128 * 584))
        assert memory.needed == memory.weights + memory.cache
        assert memory.available == 180e9

    def test_one_that_does_not_is_warned_of_and_priced_all_the_same(self) -> None:
        cost = step_cost("deepseek-v3", "b200")
        memory = cost.memory(B=np.array([1, 4096]), S=4096)
        assert memory.fits.tolist() == [False, False]
        assert memory.warning is not None
        assert "at 2 of 2 points weights of 67" in memory.warning
        assert "180 GB of B200 are available" in memory.warning
        assert cost(B=1, T=1, S=4096) > 0

    def test_a_window_is_allocated_whole_and_read_in_part(self) -> None:
        """Case F04: 73 728 bytes a token as an engine allocates gpt-oss-120b; 12 GiB for 32
        sequences of 8 192 of gpt-oss-20b, of which a step reads 6.09."""
        assert step_cost("gpt-oss-120b", "h100").memory(B=1, S=1).cache == 73_728
        cost = step_cost("gpt-oss-20b", "h100")
        assert cost.memory(B=32, S=8192).cache / 2**30 == pytest.approx(12.0, abs=0.005)
        core = cost.breakdown(B=32, T=1, S=8192)["attn_core"]
        queries = 32 * 24 * (2 * 64 * 64 * 2)
        assert (core.bytes - queries) / 2**30 == pytest.approx(6.09, abs=0.005)

    def test_bad_input(self) -> None:
        with pytest.raises(DomainError, match="B = 0"):
            V4.memory(B=0, S=1)
        with pytest.raises(TypeError):
            V4.memory(B=1)


class TestLaws:
    """The Formulas of a step give what its compiled calls give, point by point."""

    @pytest.mark.parametrize("name", ["deepseek-v4-flash", "llama-3.1-8b", "qwen3-next-80b-a3b"])
    @pytest.mark.parametrize("engine", ["ideal", "typical"])
    def test_step_components_and_prices(self, name: str, engine: str) -> None:
        gpu = sd.gpu("b200")
        deployment = sd.Deployment.ideal() if engine == "ideal" else sd.Deployment.typical(gpu)
        cost = sd.StepCost(sd.model(name), gpu, deployment)
        batches, widths = np.array([1.0, 8, 300])[:, None, None], np.array([1.0, 5])[:, None]
        point = {"B": batches, "T": widths, "S": np.array([100.0, 4096, 131072])}
        asked = {"step": cost.formula, **cost.components}
        shares = cost.breakdown(**point)
        for key, law in asked.items():
            wanted = cost(**point) if key == "step" else shares[key].seconds
            given = law(**{known.keyword: point[known.keyword] for known in law.inputs})
            np.testing.assert_allclose(np.broadcast_to(given, wanted.shape), wanted, rtol=1e-12)
        prices = cost.marginal_prices(**point)
        for key, law in cost.prices.items():
            given = law(**{known.keyword: point[known.keyword] for known in law.inputs})
            shape = prices[key].shape
            np.testing.assert_allclose(np.broadcast_to(given, shape), prices[key], atol=1e-12)
        assert set(cost.components) == {k for k, share in shares.items() if np.any(share.seconds)}

    def test_the_step_is_displayed_as_the_sum_of_its_components(self) -> None:
        gpu = sd.gpu("b200")
        smooth = sd.Deployment.typical(gpu)
        for deployment in (sd.Deployment.ideal(), smooth):
            cost = sd.StepCost(sd.model("deepseek-v4-flash"), gpu, deployment)
            names = [law.lhs for law in cost.components.values()]
            assert sorted(cost.formula.latex().removeprefix("C = ").split(" + ")) == sorted(names)

    def test_they_are_read_only(self) -> None:
        cost = sd.StepCost(sd.model("llama-3.1-8b"), sd.gpu("b200"))
        with pytest.raises(TypeError):
            cost.components["moe"] = cost.formula  # type: ignore[index]
