"""The code that the README and the landing page show does what they say it does."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest

from tests.book.chapters import ROOT

PAGES = ["README.md", "book/index.md"]


@pytest.mark.parametrize("page", PAGES)
def test_shown_code_runs_and_gives_the_numbers_beside_it(page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.S)
    assert blocks
    names: dict[str, Any] = {}
    compared = 0
    for line in "".join(blocks).splitlines():
        code, _, comment = line.partition("#")
        if not code.strip():
            continue
        try:
            expression = ast.parse(code.strip(), mode="eval")
        except SyntaxError:
            exec(code.strip(), names)
            continue
        value = eval(compile(expression, page, "eval"), names)
        printed = re.match(r"\s*(\d+(\.\d+)?)", comment)
        if printed:
            digits = len((printed[2] or ".")[1:])
            assert np.round(value, digits) == float(printed[1]), line
            compared += 1
    assert compared >= 2, "numbers that nobody compared"
