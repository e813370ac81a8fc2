"""The file of typical defaults: whatever is wrong in it is named by its place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from specdec_lib.deployment import defaults
from specdec_lib.deployment.defaults import FILE
from specdec_lib.records import toml
from specdec_lib.records.provenance import DataError
from specdec_lib.records.toml import load_toml


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Each test reads the file anew, and leaves nothing of a damaged one behind."""
    defaults.cache_clear()
    yield
    defaults.cache_clear()


def _without(*places: Any) -> Callable[[dict[str, Any]], None]:
    def edit(tables: dict[str, Any]) -> None:
        *above, last = places
        inner: Any = tables
        for place in above:
            inner = inner[place]
        del inner[last]

    return edit


def _with(value: Any, *places: Any) -> Callable[[dict[str, Any]], None]:
    def edit(tables: dict[str, Any]) -> None:
        *above, last = places
        inner: Any = tables
        for place in above:
            inner = inner[place]
        inner[last] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (_without("fixed"), r"deployments\.toml: .*\[fixed\] is needed"),
        (_without("efficiency"), r"efficiency: found None; tables \[\[efficiency\]\]"),
        (_with(5, "efficiency"), r"efficiency: found 5"),
        (_with([5], "efficiency"), r"efficiency: found \[5\]"),
        (_with(5, "fixed"), r"fixed: found 5; a table is needed"),
        (_with(5, "citations"), r"citations: found 5; texts by name"),
        (_with({}, "fxied"), r"found fixed, fxied"),
        (_with(5, "fixed", "times"), r"fixed, times: found 5; dict is needed"),
        (_without("fixed", "times"), r"fixed: times is missing"),
        (_without("fixed", "times", "step"), r"fixed, times: step is missing"),
        (_without("fixed", "numbers", "eager"), r"fixed, numbers: eager is missing"),
        (_with("much", "fixed", "times", "step"), r"times\.step: found 'much'"),
        (_without("fixed", "layers", "default"), r"has no 'default' efficiency or layer"),
        (_without("efficiency", 0, "gpu"), r"efficiency 1: gpu is missing"),
        (_with(5, "efficiency", 0, "gpu"), r"efficiency 1, gpu: found 5; str is needed"),
        (_with("no such", "efficiency", 1, "gpu"), r"efficiency 2, gpu: .*no such"),
        (_with("default", "efficiency", 1, "gpu"), r"efficiency 2: is there twice"),
        (_without("efficiency", 0, "memory", "default"), r"has no 'default' memory efficiency"),
    ],
)
def test_what_is_wrong_is_named(
    edit: Callable[[dict[str, Any]], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = copy.deepcopy(load_toml(FILE))
    edit(tables)
    monkeypatch.setattr(toml, "load_toml", lambda path: tables if path == FILE else load_toml(path))
    with pytest.raises(DataError, match=said):
        defaults()


def test_the_file_itself_is_whole() -> None:
    assert defaults().times["step"].value > 0
