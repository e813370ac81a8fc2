"""How a chart becomes an output of a notebook: its Vega-Lite JSON and one sentence, nothing else.

The JSON is stored under the name that JupyterLab draws; the book's pages draw it with a script of
their own; whatever can draw nothing shows the sentence.  The same chart always gives the same
bytes, so that the tests can compare stored outputs strictly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np

from specdec_lib import theme

__all__ = ["MIME", "ChartError", "enable", "mimebundle", "require_description", "significant"]

#: JupyterLab knows this name alone; the chart's own schema says which Vega-Lite it is written in.
MIME = "application/vnd.vegalite.v5+json"

#: Names that Altair makes up, by counting or from a hash: they change with the chart's contents or
#: with what was drawn before it.
_MADE_UP = re.compile(r"(param|view|concat|selector|data)[-_](\d+|[0-9a-f]{16,})")


class ChartError(ValueError):
    """A chart that the book must not store."""


def require_description(text: object) -> str:
    """``text`` if it is a sentence that can stand for the chart; otherwise ChartError."""
    if not isinstance(text, str) or len(text.split()) < 4:
        raise ChartError(
            "this chart has no description: add description='…', a sentence that says what is "
            "drawn and what to see (readers who cannot see the chart get this sentence instead)"
        )
    return " ".join(text.split())


def significant(value: float) -> float | int:
    """``value`` to six significant digits; whole numbers lose their decimal point."""
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def _rounded(value: Any, where: str) -> Any:
    """Data of a chart with its numbers rounded; ChartError for what JSON cannot say."""
    if isinstance(value, Mapping):
        return {key: _rounded(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ChartError(f"{where} is {value}: leave such rows out of the chart's data")
        return significant(float(value))
    return value


def _tidied(node: Any, where: str = "chart") -> Any:
    """A specification with the numbers of its data rounded, and those of its scales and settings
    to twelve digits: the last ones depend on the machine."""
    if isinstance(node, float):
        return float(f"{node:.12g}")
    if isinstance(node, list):
        return [_tidied(item, f"{where}[{i}]") for i, item in enumerate(node)]
    if not isinstance(node, Mapping):
        return node
    tidy: dict[str, Any] = {}
    for key, item in node.items():
        here = f"{where}.{key}"
        is_data = (key == "data" and isinstance(item, Mapping)) or key == "datasets"
        tidy[key] = _rounded(item, here) if is_data else _tidied(item, here)
    return tidy


def _names(node: Any) -> Iterator[str]:
    """Every name that a specification gives: of parameters, views and data sets."""
    if isinstance(node, list):
        for item in node:
            yield from _names(item)
    elif isinstance(node, Mapping):
        if isinstance(node.get("name"), str):
            yield node["name"]
        yield from node.get("datasets", {})
        for item in node.values():
            yield from _names(item)


def mimebundle(spec: Mapping[str, Any], **_: Any) -> dict[str, Any]:
    """The output of one chart: its specification under :data:`MIME` and its description as text.

    Raises ChartError for a chart without a description, with a name that Altair made up, or with
    data that are not finite.
    """
    sentence = require_description(spec.get("description"))
    for name in _names(spec):
        if _MADE_UP.fullmatch(name):
            raise ChartError(
                f"{name!r} is a name that Altair made up and may change: give the "
                "parameter or view a name of its own (name='…')"
            )
    tidy = _tidied(dict(spec))
    tidy["description"] = sentence
    return {MIME: tidy, "text/plain": sentence}


def enable() -> None:
    """Set up a notebook: the theme, the renderer, and numbers shown with six significant digits.

    Outside IPython there is no display to set, and only Altair is.
    """
    theme.register()
    alt.renderers.register("specdec", mimebundle)
    alt.renderers.enable("specdec")
    _show_six_digits()


def _show_six_digits() -> None:
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is None:
        return
    shell.display_formatter.formatters["text/plain"].float_precision = "%.6g"
    np.set_printoptions(formatter={"float_kind": lambda value: f"{value:.6g}"})
