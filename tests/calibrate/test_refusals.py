"""What no fit should take: named, row by row, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

import specdec_lib as sd
from specdec_lib.calibrate import CalibrationError, Measurement, fit
from specdec_lib.deployment import VerifyCurve
from tests.calibrate.measured import BASE, DENSE, GPU, MIXTURE, steps

QWEN = sd.model("qwen3-8b")


def step(B: float, seconds: float, T: float = 1, S: float = 4096) -> Measurement:
    return Measurement.step(B=B, T=T, S=S, seconds=seconds, row=f"row B={B:g} T={T:g} S={S:g}")


class TestPhysics:
    def test_below_the_bandwidth(self) -> None:
        """Llama-3.1-8B has 7.505e9 parameters in matrices, of 2 bytes, and 131 072 B of cache a
        token: at 8 TB/s that is 1.876 + 2·4096·0.0000164 = 2.01 ms for two sequences."""
        rows = [step(1, 4e-3), step(2, 0.9e-3), step(4, 1.0e-3)]
        with pytest.raises(CalibrationError, match="full bandwidth") as caught:
            fit(rows, DENSE, GPU)
        below = [text for text in caught.value.problems if "full bandwidth" in text]
        assert len(below) == 2
        assert "row B=2" in below[0]
        assert "2.01" in below[0]
        assert "row B=4" in below[1]

    def test_at_the_bandwidth_is_no_offence(self) -> None:
        ideal = sd.StepCost(DENSE, GPU)
        fit(step(1, ideal(B=1, T=1, S=4096)), DENSE, GPU)

    def test_tokens_above_the_bandwidth(self) -> None:
        row = Measurement.throughput(B=1, S=4096, tokens_per_second=900, of="decode", row="here")
        with pytest.raises(CalibrationError, match=r"here.*51\d.* at most"):
            fit(row, DENSE, GPU)

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([step(1, 6e-3), step(8, 4e-3)], "row B=8 .*fewer sequences"),
            ([step(8, 6e-3), step(8, 4e-3, T=4)], "T=4 .*fewer tokens of each"),
            ([step(8, 6e-3), step(8, 4e-3, S=9000)], "S=9000 .*fewer context"),
            ([step(1, 4e-3), step(2, 16e-3)], "row B=2 .*grows faster than its work"),
            ([step(1, 4e-3), step(1, 16e-3, T=2)], "T=2 .*grows faster than its work"),
        ],
    )
    def test_falling_and_bursting(self, rows: list[Measurement], said: str) -> None:
        with pytest.raises(CalibrationError, match=said):
            fit(rows, DENSE, GPU)
        with pytest.raises(CalibrationError, match=said):
            fit(rows[::-1], DENSE, GPU)

    def test_a_harness_that_prefills(self) -> None:
        """Times grown tenfold for twice the batch are those of a run in which requests wait."""
        rows = [
            Measurement.throughput(B=B, S=4096, tokens_per_second=t, of="decode", row=f"B {B}")
            for B, t in ((8, 1600.0), (16, 320.0))
        ]
        with pytest.raises(CalibrationError, match=r"B 16.*prefill"):
            fit(rows, DENSE, GPU)

    def test_beyond_the_graphs_a_step_may_jump(self) -> None:
        rows = [step(256, 8e-3, S=128), step(257, 30e-3, S=128)]
        with pytest.raises(CalibrationError, match="max_graph_tokens"):
            fit(rows, DENSE, GPU, BASE)
        graphs = sd.Deployment.typical(GPU, max_graph_tokens=256)
        fit(rows, DENSE, GPU, graphs)

    def test_replicas_fill_one_after_the_other(self) -> None:
        base = sd.Deployment.typical(GPU, dp=8)
        cost = sd.StepCost(DENSE, GPU, base)
        fit([step(B, 2 * cost(B=B, T=1, S=4096)) for B in (2040, 2041)], DENSE, GPU, base)

    @pytest.mark.parametrize(
        "row",
        [
            Measurement.ratio(B=8, S=4096, gamma=3, ratio=0.7, row="here"),
            Measurement.speedup(B=8, S=4096, gamma=3, N=2.0, speedup=3.1, row="here"),
        ],
    )
    def test_a_round_faster_than_a_step(self, row: Measurement) -> None:
        with pytest.raises(CalibrationError, match=r"here.*no less than a plain step"):
            fit(row, DENSE, GPU, drafter=sd.drafters.fraction(0.1))

    @pytest.mark.parametrize("model", [DENSE, MIXTURE], ids=["dense", "mixture"])
    def test_no_modelled_step_is_refused(self, model: sd.Model) -> None:
        """Steps of the model itself break none of its rules, ideal or typical."""
        points = [(B, T) for B in (1, 2, 3, 7, 8, 64, 65, 1024) for T in (1, 2, 5, 8)]
        for base in (BASE, sd.Deployment.ideal()):
            fit(steps(sd.StepCost(model, GPU, base), points), model, GPU, BASE, noise=0.05)


class TestQuestions:
    def test_what_throughput_is(self) -> None:
        given: dict[str, Any] = {"B": 8, "S": 4096, "tokens_per_second": 1600.0, "row": "row 2"}
        with pytest.raises(CalibrationError, match=r"row 2.*Is it of decoding alone.*of='decode'"):
            Measurement.throughput(**given)
        with pytest.raises(CalibrationError, match="holds no step time"):
            Measurement.throughput(**given, of="whole")
        assert Measurement.throughput(**given, of="decode").N == 1

    def test_tokens_of_a_round(self) -> None:
        with pytest.raises(CalibrationError, match="needs N"):
            Measurement.token_time(B=8, S=4096, gamma=3, seconds=3e-3)

    def test_what_drafted(self) -> None:
        row = Measurement.ratio(B=8, S=4096, gamma=3, ratio=1.7, row="row 2")
        with pytest.raises(CalibrationError, match=r"row 2.*drafter="):
            fit(row, DENSE, GPU)

    @pytest.mark.parametrize(
        ("name", "hint"), [("pass_overhead", "round with drafts"), ("locality", "T > 1")]
    )
    def test_what_plain_steps_do_not_tell(self, name: str, hint: str) -> None:
        row = step(1, 8e-3)
        with pytest.raises(CalibrationError, match=f"{name}: no row says anything.*{hint}"):
            fit(row, MIXTURE, GPU, parameters=[name])

    def test_what_the_model_does_not_have(self) -> None:
        with pytest.raises(CalibrationError, match=r"locality: Llama-3.1-8B.*has none"):
            fit(step(1, 4e-3), DENSE, GPU, parameters=["locality"])

    def test_unknown_parameter(self) -> None:
        with pytest.raises(CalibrationError, match=r"'speed'.*fixed_time"):
            fit(step(1, 4e-3), DENSE, GPU, parameters=["speed"])

    @pytest.mark.parametrize("noise", [0, 1, -0.1, float("nan")])
    def test_noise(self, noise: float) -> None:
        with pytest.raises(CalibrationError, match="noise"):
            fit(step(1, 4e-3), DENSE, GPU, noise=noise)

    def test_nothing(self) -> None:
        with pytest.raises(CalibrationError, match="nothing was measured"):
            fit([], DENSE, GPU)

    def test_a_verify_curve_stands_in_the_way(self) -> None:
        curve = VerifyCurve({2: 1.5})
        with pytest.raises(CalibrationError, match="verify curve"):
            fit(step(1, 4e-3), DENSE, GPU, sd.Deployment.typical(GPU, verify_curve=curve))

    def test_a_drafter_that_does_not_fit(self) -> None:
        row = Measurement.ratio(B=8, S=4096, gamma=3, ratio=1.7)
        with pytest.raises(ValueError, match="not known"):
            fit(row, DENSE, GPU, drafter=sd.drafters.mtp())  # it has no module of its own

    def test_a_draft_longer_than_its_block(self) -> None:
        row = Measurement.ratio(B=8, S=4096, gamma=900, ratio=9.0)
        drafter = sd.drafters.named("Qwen3-8B DFlash", QWEN)
        with pytest.raises(sd.DomainError, match="drafts at most"):
            fit(row, QWEN, GPU, drafter=drafter)


class TestRows:
    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: Measurement.step(B=0, S=1, seconds=1, row="r 7"), "r 7.*B = 0"),
            (lambda: Measurement.step(B=1, S=-1, seconds=1, row="r 7"), "r 7.*S = -1"),
            (lambda: Measurement.step(B=1, S=1, T=0.5, seconds=1, row="r 7"), "r 7.*T = 0.5"),
            (lambda: Measurement.step(B=1, S=1, seconds=0, row="r 7"), "r 7.*step time = 0"),
            (lambda: Measurement.step(B=1, S=1, seconds=-1, row="r 7"), "r 7.*positive"),
            (lambda: Measurement.step(B=1, S=1, seconds=float("nan"), row="r 7"), "r 7.*nan"),
            (lambda: Measurement.step(B=1, S=1, seconds=float("inf"), row="r 7"), "r 7.*inf"),
            (lambda: Measurement.ratio(B=1, S=1, gamma=0, ratio=1, row="r 7"), "r 7.*gamma"),
            (lambda: Measurement.ratio(B=1, S=1, gamma=1.5, ratio=1, row="r 7"), "r 7.*1.5"),
            (
                lambda: Measurement.speedup(B=1, S=1, gamma=2, N=3.5, speedup=1, row="r 7"),
                "r 7.*N = 3.5.*between 1 and 3",
            ),
        ],
    )
    def test_out_of_domain(self, make: Any, said: str) -> None:
        with pytest.raises(ValueError, match=said):
            make()

    @pytest.mark.parametrize("wrong", ["4", None, True, [1.0, 2.0]])
    def test_no_number(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="r 7"):
            Measurement.step(B=wrong, S=1, seconds=1, row="r 7")
        with pytest.raises(TypeError, match="r 7"):
            Measurement.step(B=1, S=1, seconds=wrong, row="r 7")

    def test_no_record(self) -> None:
        with pytest.raises(TypeError, match="Measurement"):
            fit([3.0], DENSE, GPU)  # type: ignore[list-item]
        with pytest.raises(TypeError, match="drafter"):
            fit(step(1, 4e-3), DENSE, GPU, drafter="mtp")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="Deployment"):
            fit(step(1, 4e-3), DENSE, GPU, "typical")  # type: ignore[arg-type]
