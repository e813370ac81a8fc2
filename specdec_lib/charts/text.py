"""The words on a chart: symbols as plain text, titles with units, and what a slider is called."""

from __future__ import annotations

import json
import re
from typing import Any

from specdec_lib.formula import Formula, unit_text
from specdec_lib.prefixes import exponent

__all__ = ["display_unit", "literal", "meaning", "plain", "quantity_title", "titled", "unit_of"]

_GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "Delta": "Δ",
    "epsilon": "ε",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "varsigma": "ς",
    "tau": "τ",
    "phi": "φ",
    "varphi": "φ",
    "chi": "χ",
    "omega": "ω",
    "ell": "ℓ",
    "infty": "∞",
}

#: The longest title that fits beside nothing else on a page 390 px wide.
TITLE_LIMIT = 48


def plain(latex: str) -> str:
    r"""LaTeX of a symbol as text that a chart can show.

    >>> plain(r"\pi_p"), plain(r"n_{\mathrm{kv}}"), plain(r"\Delta C"), plain(r"\mathrm{Sp}_{\min}")
    ('π_p', 'n_kv', 'ΔC', 'Sp_min')
    >>> plain(r"\hat\alpha"), plain(r"\bar\alpha")
    ('α', 'α')
    """
    text = re.sub(r"\\(?:mathrm|text|bar|hat|tilde)\s*", "", latex)
    text = re.sub(r"\\([A-Za-z]+)\s*", lambda found: _GREEK.get(found[1], found[1]), text)
    return text.replace("{", "").replace("}", "").replace("\\", "")


def meaning(known: Any) -> str:
    """The short form of a Quantity's meaning: what stands before the first comma or colon."""
    return re.split(r"[:,]", known.meaning, maxsplit=1)[0].strip()


def display_unit(base: str, shown: str | None) -> tuple[str, float]:
    """The unit to print and its size in base units.

    ``base`` is the unit that the numbers come in ("1", "s", "FLOP/B"), ``shown`` the one wanted
    on the chart: ``base`` behind an SI prefix, "%" for a plain number, or None for ``base``.

    >>> display_unit("s", "ms"), display_unit("1", None), display_unit("1", "%")
    (('ms', 0.001), ('', 1.0), ('%', 0.01))
    """
    if shown is None or shown == base:
        return ("" if base == "1" else base), 1.0
    if base == "1":
        if shown == "%":
            return "%", 0.01
        raise ValueError(f"a plain number has no unit {shown!r}; only '%' can be shown")
    return shown, float(f"1e{exponent(shown, base)}")


def titled(words: str, unit: str) -> str:
    """A title with its unit in brackets; ValueError where it is empty or does not fit a phone."""
    if not words.strip():
        raise ValueError("an axis needs a title")
    title = f"{words} ({unit})" if unit else words
    if len(title) > TITLE_LIMIT:
        raise ValueError(
            f"the title {title!r} has {len(title)} characters; {TITLE_LIMIT} fit on a narrow page: "
            "shorten it and say the rest in the text"
        )
    return title


def quantity_title(known: Any, words: str | None, unit: str) -> str:
    """The title of an axis over a symbol: its own words, or the symbol's short meaning."""
    return titled(words if words is not None else f"{meaning(known)}, {plain(known.latex)}", unit)


def unit_of(formulas: dict[str, Formula]) -> str:
    """The unit that all of ``formulas`` share, as text; ValueError where they do not share one."""
    units = {label: unit_text(formula.unit) for label, formula in formulas.items()}
    if len(set(units.values())) > 1:
        listed = ", ".join(f"{label!r} in {unit}" for label, unit in units.items())
        raise ValueError(f"one axis cannot show several units: {listed}")
    return next(iter(units.values()))


def literal(value: Any) -> str:
    """A string, number or list as a literal of Vega's expression language."""
    return json.dumps(value, ensure_ascii=False)
