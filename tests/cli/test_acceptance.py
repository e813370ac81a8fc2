"""specdec acceptance: an engine's own numbers, from a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import as_process, specdec

PLAIN = "steps 23, drafted 161, accepted 44, length 7"
#: Case M08, as vLLM logs it.
LOG = (
    "INFO SpecDecoding metrics: Mean acceptance length: 2.91, Accepted throughput: 4.40 tokens/s, "
    "Drafted throughput: 16.10 tokens/s, Accepted: 44 tokens, Drafted: 161 tokens, Per-position "
    "acceptance rate: 0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043, Avg Draft acceptance rate: "
    "27.3%\n"
)


def test_m08_a_low_rate_is_no_fault() -> None:
    """Case M08: 27.3 % of 7 drafted tokens are 2.91 tokens a step."""
    record = specdec("acceptance", "-", "--json", given=LOG).json
    assert (record["steps"], record["drafted"], record["accepted"]) == (23, 161, 44)
    assert record["tokens"] == pytest.approx(1 + 44 / 23, rel=1e-12)
    assert sum(record["survival"]) == pytest.approx(44 / 23, rel=1e-12)
    low, high = (record["intervals"]["tokens"][end] for end in ("low", "high"))
    assert 1 < low < record["tokens"] < high < 8


def test_as_a_process_from_standard_input() -> None:
    answer = as_process("acceptance", "-", given=PLAIN)
    assert answer.status == 0
    assert "tokens per step     2.913" in answer.out and "no intervals" in answer.out


def test_m02_what_the_rate_of_sglang_means_is_said_by_the_user() -> None:
    """Case M02: accept rate 0.54 with 4 draft tokens is 0.39 of 3 drafted ones."""
    line = "Decode batch, #running-req: 1, accept len: 2.17, accept rate: 0.54, gen throughput: 9\n"
    record = specdec("acceptance", "-", "--num-draft-tokens", "4", "--json", given=line).json
    assert record["tokens"] == pytest.approx(2.17)
    assert record["length"] == 3


def test_two_scrapes_are_a_difference(tmp_path: Path) -> None:
    def scrape(drafts: int, drafted: int, accepted: int) -> str:
        names = {"drafts": drafts, "draft_tokens": drafted, "accepted_tokens": accepted}
        rows = [f"vllm:spec_decode_num_{name}_total {value}" for name, value in names.items()]
        return "\n".join([*rows, ""])

    now, before = tmp_path / "now.txt", tmp_path / "before.txt"
    now.write_text(scrape(130, 390, 240))
    before.write_text(scrape(30, 90, 40))
    record = specdec("acceptance", str(now), "--since", str(before), "--json").json
    assert (record["steps"], record["drafted"], record["accepted"]) == (100, 300, 200)


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        ("", (), 1, "the text is empty"),
        ("hello", (), 1, "no known count of acceptance"),
        ("{}", (), 1, "holds no known count"),
        ("steps 10, drafted 10, accepted 12", (), 1, "12"),
        (PLAIN, ("--num-steps", "3"), 2, "num_steps"),
        (PLAIN, ("--level", "1"), 2, "level"),
        (LOG[:90], (), 1, ""),
    ],
)
def test_mistakes_are_named(text: str, words: tuple[str, ...], status: int, said: str) -> None:
    answer = specdec("acceptance", "-", *words, given=text)
    assert (answer.status, answer.out) == (status, "")
    assert said in answer.err


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\xff\xfe\x00")
    answer = specdec("acceptance", str(path))
    assert answer.status == 1 and "no text in UTF-8" in answer.err
    assert specdec("acceptance", str(tmp_path / "none")).status == 1
