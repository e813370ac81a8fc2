"""The ledger: every number in its data file is computed again, and every verdict follows."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest

from specdec_lib.claims import claim as assert_number
from specdec_lib.ledger import Claim, Part, Trial, ledger, of_parts, of_trials, reading
from specdec_lib.records.provenance import DataError
from tests.book.chapters import chapters

LEDGER = ledger()
TRIALS = [(claim.name, trial) for claim in LEDGER for trial in claim.trials]


@pytest.mark.parametrize(
    ("name", "trial"), TRIALS, ids=[f"{n}-{t.measure}-{t.engine}" for n, t in TRIALS]
)
def test_a_trial_gives_what_the_page_says(name: str, trial: Trial) -> None:
    assert_number(trial.printed, trial.value)
    assert trial.holds == trial.stated, f"{name}: {trial.value:g} where {trial.bar} is needed"


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.name)
def test_verdicts_follow_from_the_trials(claim: Claim) -> None:
    assert [part.verdict for part in claim.parts] == [part.stated for part in claim.parts]
    assert claim.verdict == claim.stated


def test_a_changed_number_flips_a_verdict() -> None:
    """A trial whose bar its value no longer meets takes "holds" away from its part."""
    sure = next(claim for claim in LEDGER if claim.verdict == "holds")
    first, *others = sure.parts[0].trials
    moved = Trial(**{**vars_of(first), "at_least": first.value + 1, "at_most": None})
    assert Part(sure.parts[0].says, (moved, *others), "holds").verdict == "holds if"


def vars_of(trial: Trial) -> dict[str, Any]:
    """The fields of a trial, without what was computed."""
    return {name: getattr(trial, name) for name in trial.__dataclass_fields__}


def test_each_claim_is_judged_in_the_chapters_that_it_names() -> None:
    judged = {chapter.name: chapter.prose for chapter in chapters()}
    for claim in LEDGER:
        for name in claim.chapters:
            assert f"Claim {claim.name}, judged" in judged[name], f"{claim.name} in {name}"
    for name, prose in judged.items():
        for claim in LEDGER:
            if f"Claim {claim.name}, judged" in prose:
                assert name in claim.chapters, f"{claim.name} does not name {name}"


def test_each_claim_is_tried_on_the_ideal_engine_or_by_measurement() -> None:
    """And a verdict on engines needs more than the roofline where the claim speaks of cost."""
    for claim in LEDGER:
        assert claim.trials
        if claim.name in {"C1", "C3", "C10", "C12", "C13", "C15", "C16"}:
            assert {trial.engine for trial in claim.trials} & {"real", "measured"}, claim.name


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [([True, True], "holds"), ([True, False], "holds if"), ([False], "fails")],
)
def test_a_verdict_from_outcomes(outcomes: list[bool], verdict: str) -> None:
    assert of_trials(outcomes) == verdict


def test_nothing_tried_is_not_settled() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        of_trials([])


def test_the_worst_part_decides() -> None:
    assert of_parts(["holds", "fails", "holds if"]) == "fails"
    assert of_parts(["holds", "holds if"]) == "holds if"


def damaged(change: Any) -> dict[str, Any]:
    """The data file as tables, with its first claim changed."""
    text = files("specdec_lib").joinpath("data", reading.FILE).read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    change(tables["claim"][0])
    return tables


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(verdict="perhaps"), "verdict is one of"),
        (lambda c: c["part"][0]["trial"][0].update(measure="luck"), "is no measure"),
        (lambda c: c["part"][0]["trial"][0]["at"].update(C=1), "cannot be taken there"),
        (lambda c: c["part"][0]["trial"][0].pop("at_most"), "every value would pass"),
        (lambda c: c["part"][0]["trial"][0].update(engine="warp"), "engine is one of"),
        (lambda c: c["part"][0].update(trial=[]), "has no trial"),
        (lambda c: c.update(nonsense=1), "does not know nonsense"),
        (lambda c: c.pop("statement"), "statement is missing"),
    ],
)
def test_a_damaged_record_is_refused(
    monkeypatch: pytest.MonkeyPatch, change: Any, says: str
) -> None:
    tables = damaged(change)

    def listed(_path: str, name: str) -> tuple[Any, Any, Any]:
        rest = {key: value for key, value in tables.items() if key != name}
        return tables[name], rest, {}

    monkeypatch.setattr(reading, "listed_tables", listed)
    with pytest.raises(DataError, match=says):
        reading.ledger.__wrapped__()
