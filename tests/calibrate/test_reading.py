"""Reading measurements: tables and benchmarks, whole or an error that names the row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specdec_lib.calibrate import CalibrationError, Measurement, read_measurements
from specdec_lib.calibrate.table import COLUMNS


def read(text: str, **how: Any) -> list[Measurement]:
    return read_measurements(text, name="it.csv", **how)


class TestTable:
    @pytest.mark.parametrize(
        ("unit", "cell"),
        [("ms", "6.1"), ("seconds", "0.0061"), ("us", "6100"), ("µs", "6100"), ("MS", "6.1")],
    )
    def test_units(self, unit: str, cell: str) -> None:
        [row] = read(f"b,t,s,{unit}\n8,4,4096,{cell}\n")
        assert row.value == pytest.approx(6.1e-3, rel=1e-15)
        assert (row.kind, row.B, row.T, row.S) == ("step", 8, 4, 4096)
        assert row.row == "line 2 of it.csv"

    def test_every_kind_side_by_side(self) -> None:
        text = """\ufeff# steps of 3 December
id, B, T, S, gamma, N, ms, round_ms, tpot_ms, ratio, speedup, decode_tokens_per_second

plain, 8, 1, 4096, , , 6, , , , ,
round, 8, , 4096, 3, , , 9, , , ,
tpot,  8, 4, 4096, 3, 2.5, , , 3.6, , ,
ratio, 8, , 4096, 3, , , , , 1.5, ,
speed, 8, , 4096, 3, 2.5, , , , , 1.6,
many,  8, , 4096, , , , , , , , 1300
"""
        rows = read(text)
        assert [r.kind for r in rows] == [
            "step", "round", "token_time", "ratio", "speedup", "throughput",
        ]  # fmt: skip
        assert [r.value for r in rows] == pytest.approx([6e-3, 9e-3, 3.6e-3, 1.5, 1.6, 1300])
        assert [r.gamma for r in rows] == [0, 3, 3, 3, 3, 0]
        assert [r.T for r in rows] == [1, 4, 4, 4, 4, 1]
        assert rows[0].row == "plain, line 4 of it.csv"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "empty"),
            ("B,S,ms\n", "no rows"),
            ("B,S,speed\n1,1,1\n", "no column 'speed'.*tokens_per_second"),
            ("B,S,T\n1,1,1\n", "nothing measured"),
            ("B,T,ms\n1,1,1\n", "column S is missing"),
            ("B,b,S,ms\n1,1,1,1\n", "column B is there twice"),
            ("B,T,S,ms\n1,1,4096,6\n1,1,6\n", "line 3 of it.csv: 3 cells under 4"),
            ("B,T,S,ms\n1,1,4096,fast\n", "line 2 of it.csv: ms: 'fast'"),
            ("B,T,S,ms\n1,1,4096,nan\n", "line 2 of it.csv: ms: 'nan'"),
            ("B,T,S,ms\n1,1,4096,1_0\n", "line 2 of it.csv: ms: '1_0'"),
            ("B,T,S,ms\n1,1,4096,-6\n", "line 2 of it.csv.*positive"),
            ("B,T,S,ms\n1,1,4096,\n", "line 2 of it.csv: one measured value.*none"),
            ("B,T,S,ms,us\n1,1,4096,6,6000\n", "ms and us"),
            ("B,T,S,ms\n1,,4096,6\n", "T is missing for ms"),
            ("B,S,tpot_ms,gamma\n1,4096,6,3\n", "needs N"),
            ("B,S,speedup,gamma\n1,4096,6,3\n", "N is missing for speedup"),
            ("B,T,S,ms,gamma\n1,4,4096,6,3\n", "pass of the target alone.*round_ms"),
            ("B,T,S,round_ms,gamma\n1,3,4096,6,3\n", "T = 3 beside gamma = 3"),
            ("B,S,ratio,gamma,N\n1,4096,1.5,3,2\n", "ratio does not depend on N"),
            ("B,S,tokens_per_second\n1,4096,150\n", "line 2 of it.csv.*Is it of decoding alone"),
            ('B,T,S,ms\n1,1,4096,"6\n', "no CSV"),
        ],
    )
    def test_mistakes_are_named(self, text: str, said: str) -> None:
        with pytest.raises(CalibrationError, match=said):
            read(text)

    def test_every_wrong_row_is_named_at_once(self) -> None:
        with pytest.raises(CalibrationError) as caught:
            read("B,T,S,ms\n0,1,1,1\n1,1,1,1\n1,1,1,x\n1,1,1,0\n")
        named = [problem.split(" of ")[0] for problem in caught.value.problems]
        assert named == ["line 2", "line 4", "line 5"]

    def test_throughput_said_beside_the_table(self) -> None:
        text = "B,S,tokens_per_second\n1,4096,150\n"
        assert read(text, throughput="decode")[0].value == 150
        with pytest.raises(CalibrationError, match="whole run"):
            read(text, throughput="whole")


SERVED = {
    "backend": "vllm",
    "max_concurrency": 16,
    "completed": 160,
    "total_input_tokens": 160 * 1000,
    "total_output_tokens": 160 * 200,
    "output_throughput": 900.0,
    "mean_tpot_ms": 13.0,
    "median_tpot_ms": 12.0,
}
DRAFTED = {
    "spec_decode_num_drafts": 1000,
    "spec_decode_draft_tokens": 3000,
    "spec_decode_accepted_tokens": 1500,
}
BATCH = {
    "run_name": "default",
    "batch_size": 8,
    "input_len": 1024,
    "output_len": 64,
    "prefill_latency": 0.2,
    "median_decode_latency": 0.0071,
}


class TestBench:
    def test_plain(self) -> None:
        [row] = read(json.dumps(SERVED))
        assert row == Measurement.token_time(B=16, S=1100, seconds=12e-3, row="it.csv")

    def test_vllm_counts_its_drafts(self) -> None:
        [row] = read(json.dumps(SERVED | DRAFTED))
        assert (row.gamma, row.T, row.N) == (3, 4, 2.5)

    def test_sglang_is_told_its_length(self) -> None:
        table = SERVED | {"accept_length": 2.5}
        with pytest.raises(CalibrationError, match="say with which draft length"):
            read(json.dumps(table))
        [row] = read(json.dumps(table), gamma=3)
        assert (row.gamma, row.N) == (3, 2.5)

    def test_one_a_line(self) -> None:
        lines = [SERVED | {"max_concurrency": n} for n in (1, 4)] + [BATCH]
        rows = read("\n".join(map(json.dumps, lines)))
        assert [(r.kind, r.B) for r in rows] == [("step", 8), ("token_time", 1), ("token_time", 4)]
        assert rows[0].value == 0.0071
        assert rows[0].S == 1056
        assert rows[1].row == "result 1 of it.csv"

    @pytest.mark.parametrize(
        ("table", "said"),
        [
            ({"speed": 3}, "no benchmark of vLLM or SGLang"),
            ({"avg_latency": 3.0, "latencies": [3.0]}, "no step time follows"),
            ({"elapsed_time": 3.0, "tokens_per_second": 9.0}, "no step time follows"),
            (SERVED | {"max_concurrency": None}, "--max-concurrency"),
            (SERVED | {"completed": 12}, "never full"),
            (SERVED | {"median_tpot_ms": None}, "median_tpot_ms"),
            (SERVED | {"median_tpot_ms": 0}, "positive"),
            (SERVED | {"total_input_tokens": -1}, "total_input_tokens"),
            (SERVED | DRAFTED | {"spec_decode_draft_tokens": 2500}, "length changed"),
            (SERVED | DRAFTED | {"spec_decode_accepted_tokens": 3500}, "between 1 and 4"),
        ],
    )
    def test_mistakes_are_named(self, table: dict[str, Any], said: str) -> None:
        with pytest.raises(CalibrationError, match=said):
            read(json.dumps(table))

    @pytest.mark.parametrize("table", [SERVED, SERVED | DRAFTED | {"spec_decode_num_drafts": 750}])
    def test_another_length_than_was_said(self, table: dict[str, Any]) -> None:
        with pytest.raises(CalibrationError, match="gamma = 3 was given"):
            read(json.dumps(table), gamma=3)

    def test_cut_off(self) -> None:
        with pytest.raises(CalibrationError, match=r"it\.csv.*no JSON"):
            read(json.dumps(SERVED)[:-9])


CELLS = st.one_of(
    st.sampled_from(["", "1", "4096", "3", "0", "-1", "nan", "1e999", "x", '"', "1,5", "٣"]),
    st.floats().map(str),
    st.text(max_size=8),
)


@given(
    st.lists(st.sampled_from([*COLUMNS, "speed"]), min_size=1, max_size=8),
    st.lists(st.lists(CELLS, max_size=8), max_size=6),
    st.sampled_from([None, "decode", "whole"]),
)
@settings(deadline=None, max_examples=150)
def test_any_table_is_read_or_refused(
    head: list[str], rows: list[list[str]], throughput: str | None
) -> None:
    text = "\n".join(",".join(cells) for cells in [head, *rows])
    try:
        found = read(text, throughput=throughput)
    except CalibrationError:  # any other error fails the test
        return
    assert found
    assert all(0 < row.value < float("inf") for row in found)


@given(st.text(max_size=80))
@example("{")
@example("[" * 5000)
@example('{"completed": 1' + "0" * 5000 + "}")
@settings(deadline=None, max_examples=150)
def test_any_text_is_refused_by_name(text: str) -> None:
    with pytest.raises(CalibrationError):
        read(text)


@given(
    st.dictionaries(
        st.sampled_from([*SERVED, *DRAFTED, *BATCH, "accept_length"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    ),
    st.sampled_from([None, 1.0, 3.0]),
)
@settings(deadline=None, max_examples=200)
def test_any_result_is_read_or_refused(changed: dict[str, Any], gamma: float | None) -> None:
    for whole in (SERVED, SERVED | DRAFTED, BATCH):
        try:
            found = read(json.dumps(whole | changed), gamma=gamma)
        except CalibrationError:  # any other error fails the test
            continue
        assert all(0 < row.value < float("inf") for row in found)
