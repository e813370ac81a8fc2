"""Notation: every symbol of the book once, with its LaTeX, unit, meaning and domain.

The symbols are SymPy symbols and module attributes (``symbols.alpha``, ``symbols.m_c``); what is
known about each is its :class:`Quantity` in :data:`SYMBOLS`.  The notation page of the book, the
error messages of :class:`specdec_lib.formula.Formula` and the labels of the charts are made from
this table.  One letter has one meaning everywhere.
"""

from __future__ import annotations

import math
from dataclasses import replace

import sympy

from specdec_lib.quantity import BYTE as BYTE
from specdec_lib.quantity import FLOP as FLOP
from specdec_lib.quantity import ONE as ONE
from specdec_lib.quantity import SECOND as SECOND
from specdec_lib.quantity import UNITS as UNITS
from specdec_lib.quantity import Quantity as Quantity

#: Every symbol by keyword, in the order of the notation page.
SYMBOLS: dict[str, Quantity] = {}


def _declare(
    keyword: str,
    latex: str,
    unit: sympy.Expr,
    meaning: str,
    *,
    low: float = 0.0,
    high: float = math.inf,
    positive: bool = False,
) -> sympy.Symbol:
    """Enter a symbol in the table; ``positive`` opens a domain that starts at zero."""
    if keyword in SYMBOLS:
        raise ValueError(f"symbol {keyword!r} is declared twice")
    quantity = Quantity(keyword, latex, unit, meaning, low, high, low_open=positive)
    SYMBOLS[keyword] = quantity
    return quantity.symbol


# --- acceptance and the step -------------------------------------------------------------------
alpha = _declare(
    "alpha",
    r"\alpha",
    ONE,
    "acceptance rate of a drafted token, given that all before it were accepted",
    high=1,
)
gamma = _declare("gamma", r"\gamma", ONE, "draft length")
B = _declare("B", "B", ONE, "batch: sequences per step", low=1)
T = _declare("T", "T", ONE, "verify width: query tokens per sequence in a step", low=1)
n = _declare("n", "n", ONE, "tokens in a step")
S = _declare("S", "S", ONE, "context length in tokens")
N = _declare("N", "N", ONE, "expected tokens committed per step, bonus included", low=1)
sigma = _declare(
    "sigma", r"\sigma", ONE, "survival: all drafted tokens up to this one accepted", high=1
)
p = _declare("p", "p", ONE, "probability of a token under the target", high=1)
q = _declare("q", "q", ONE, "probability of a token under the drafter", high=1)
h = _declare("h", "h", ONE, "probability that a first stage keeps a drafted token", high=1)

# --- experts -----------------------------------------------------------------------------------
E = _declare("E", "E", ONE, "routed experts in a layer", low=1)
k = _declare("k", "k", ONE, "experts per token", low=1)
s = _declare("s", "s", ONE, "always-on shared experts in a layer")
A = _declare("A", "A", ONE, "distinct routed experts that a step touches")
P_e = _declare("P_e", "P_e", ONE, "parameters of one expert", positive=True)
P = _declare("P", "P", ONE, "parameters of a weight component", positive=True)
b = _declare("b", "b", BYTE, "bytes per weight", positive=True)
G = _declare("G", "G", ONE, "devices that share the experts of a layer", low=1)
locality = _declare(
    "locality",
    r"\ell",
    ONE,
    "locality exponent: T tokens of one sequence touch experts like T^ℓ independent ones",
    high=1,
)
coverage = _declare("coverage", r"\chi", ONE, "share of the routed experts touched", high=1)

# --- attention ---------------------------------------------------------------------------------
f = _declare("f", "f", FLOP, "attention FLOPs per (query, context) pair, per layer", positive=True)
m_c = _declare(
    "m_c", "m_c", BYTE, "bytes per context token, read once a sequence, per layer", positive=True
)
m_q = _declare("m_q", "m_q", BYTE, "bytes per query token, per layer")
n_h = _declare("n_h", "n_h", ONE, "query heads", low=1)
n_kv = _declare("n_kv", r"n_{\mathrm{kv}}", ONE, "key-value heads", low=1)
d = _declare("d", "d", ONE, "head dimension", low=1)
d_c = _declare("d_c", "d_c", ONE, "latent width of a compressed cache entry", low=1)
d_r = _declare("d_r", "d_r", ONE, "rotary width of a compressed cache entry")
b_kv = _declare("b_kv", r"b_{\mathrm{kv}}", BYTE, "bytes per cached element", positive=True)
b_q = _declare("b_q", "b_q", BYTE, "bytes per query element", positive=True)
window = _declare("window", "w", ONE, "tokens of a sliding window", low=1)
compression = _declare(
    "compression", r"\kappa", ONE, "context tokens behind one compressed entry", low=1
)
topk = _declare("topk", r"K_{\mathrm{top}}", ONE, "cache entries that an indexer selects", low=1)
i_h = _declare("i_h", "i_h", ONE, "heads of an indexer", low=1)
i_d = _declare("i_d", "i_d", ONE, "head dimension of an indexer", low=1)
n_v = _declare("n_v", "n_v", ONE, "value heads of a linear-attention layer", low=1)
d_k = _declare("d_k", "d_k", ONE, "key head dimension", low=1)
d_v = _declare("d_v", "d_v", ONE, "value head dimension", low=1)
b_s = _declare("b_s", "b_s", BYTE, "bytes per element of a recurrent state", positive=True)
f_s = _declare("f_s", "f_s", FLOP, "FLOPs per state element and token", positive=True)
state_passes = _declare(
    "state_passes", "u", ONE, "times a recurrent state crosses memory in a step", positive=True
)

# --- hardware ----------------------------------------------------------------------------------
peak = _declare("peak", r"\pi_p", FLOP / SECOND, "peak rate at precision p", positive=True)
bandwidth = _declare("bandwidth", r"\beta", BYTE / SECOND, "memory bandwidth", positive=True)
ridge = _declare("ridge", "R", FLOP / BYTE, "ridge point: peak over bandwidth", positive=True)
eta_m = _declare(
    "eta_m", r"\eta_m", ONE, "fraction of the bandwidth that is reached", high=1, positive=True
)
eta_c = _declare(
    "eta_c", r"\eta_c", ONE, "fraction of the peak rate that is reached", high=1, positive=True
)
work = _declare("work", "W", FLOP, "FLOPs of a component in a step")
traffic = _declare("traffic", "Q", BYTE, "bytes that a component moves in a step")
intensity = _declare("intensity", "I", FLOP / BYTE, "arithmetic intensity")
t_0 = _declare("t_0", "t_0", SECOND, "fixed time of a kernel or step")
t_e = _declare("t_e", "t_e", SECOND, "time per distinct expert touched")

# --- price and speedup -------------------------------------------------------------------------
c = _declare("c", "c", ONE, "cost of one draft token over the cost of one plain decode step")
C = _declare("C", "C", SECOND, "step time", positive=True)
C_0 = _declare("C_0", "C_0", SECOND, "plain decode step time C(B, 1, S)", positive=True)
C_verify = _declare(
    "C_verify", r"C_{\mathrm{verify}}", SECOND, "time of the verify pass", positive=True
)
C_draft = _declare("C_draft", r"C_{\mathrm{draft}}", SECOND, "time to draft γ tokens")
dC = _declare("dC", r"\Delta C", SECOND, "time that one more drafted token adds", positive=True)
r = _declare(
    "r", "r", ONE, "price of a marginal verify token relative to an average one: ∂log C/∂log T"
)
target_speedup = _declare(
    "target_speedup",
    r"\mathrm{Sp}_{\min}",
    ONE,
    "speedup that must at least be reached",
    positive=True,
)
phi = _declare("phi", r"\varphi", ONE, "first stage's cost as a fraction of a full pass")
keep_good = _declare(
    "keep_good", "g", ONE, "first stage's pass rate for tokens the target would accept", high=1
)
keep_bad = _declare(
    "keep_bad", "h_r", ONE, "first stage's pass rate for tokens the target would reject", high=1
)

# --- weights and architecture ------------------------------------------------------------------
H = _declare("H", "H", ONE, "hidden size", low=1)
V = _declare("V", "V", ONE, "vocabulary size", low=1)
L = _declare("L", "L", ONE, "layers", low=1)
H_ff = _declare("H_ff", r"H_{\mathrm{ff}}", ONE, "width of a feed-forward block or expert", low=1)
d_q = _declare("d_q", "d_q", ONE, "rank of the query down-projection", low=1)
d_n = _declare("d_n", "d_n", ONE, "width of a head's part without rotary position", low=1)
d_o = _declare("d_o", "d_o", ONE, "rank of a group's output projection", low=1)
o_groups = _declare("o_groups", "g_o", ONE, "groups of heads in the output projection", low=1)
overlap = _declare("overlap", "o", ONE, "windows that overlap in a compressed entry", low=1)
streams = _declare("streams", r"\mu", ONE, "residual streams of hyper-connections", low=1)
bits = _declare("bits", "z", ONE, "bits of a stored weight", positive=True)
scale_bits = _declare("scale_bits", "z_s", ONE, "bits of the scale of a block of weights")
block = _declare("block", r"\nu", ONE, "weights that share one scale", low=1)
b_r = _declare("b_r", "b_r", BYTE, "bytes per rotary element of a cache entry", positive=True)
b_scale = _declare("b_scale", "b_z", BYTE, "bytes of the block scales in a cache entry")

# --- the published calculator ------------------------------------------------------------------
P_a = _declare("P_a", "P_a", ONE, "parameters of one layer's attention projections", positive=True)
b_a = _declare("b_a", "b_a", BYTE, "bytes per weight of the attention projections", positive=True)
ridge_projection = _declare(
    "ridge_projection",
    r"R_{\mathrm{proj}}",
    FLOP / BYTE,
    "ridge point at the precision of the attention projections",
    positive=True,
)
ridge_expert = _declare(
    "ridge_expert",
    r"R_{\mathrm{exp}}",
    FLOP / BYTE,
    "ridge point at the precision of the experts",
    positive=True,
)
ridge_core = _declare(
    "ridge_core",
    r"R_{\mathrm{core}}",
    FLOP / BYTE,
    "ridge point at the precision of the attention core",
    positive=True,
)

#: (smaller, larger, why): what must hold between two symbols whenever both are given.
RELATIONS: tuple[tuple[str, str, str], ...] = (
    ("k", "E", "a token cannot use more experts than the layer has"),
    ("d_r", "d", "the rotary part of a cache entry is a part of it"),
)

#: Symbols that stand for a vector of quantities, one symbol an element (p_1, p_2, …).
INDEXED: tuple[str, ...] = ("alpha", "sigma", "p", "q", "h")


def indexed(keyword: str, index: int) -> sympy.Symbol:
    """Element ``index`` (from 1) of a vector symbol: ``indexed("p", 2)`` is p₂.

    Raises ValueError for a symbol that is not one of :data:`INDEXED` or an index below 1.
    """
    if keyword not in INDEXED:
        raise ValueError(f"{keyword!r} has no elements; vectors are {', '.join(INDEXED)}")
    if index < 1:
        raise ValueError(f"elements are counted from 1, not {index}")
    return quantity(f"{keyword}_{index}").symbol


def quantity(keyword: str) -> Quantity:
    """The Quantity behind a keyword, elements of vectors (``"p_2"``) included.

    Raises KeyError for an unknown keyword.
    """
    if keyword in SYMBOLS:
        return SYMBOLS[keyword]
    stem, _, index = keyword.rpartition("_")
    if stem in INDEXED and index.isdigit():
        whole = SYMBOLS[stem]
        meaning = f"{whole.meaning} (element {index})"
        return replace(whole, keyword=keyword, latex=f"{whole.latex}_{{{index}}}", meaning=meaning)
    raise KeyError(f"no symbol {keyword!r}; the notation has {', '.join(SYMBOLS)}")


def notation_order(keyword: str) -> tuple[int, int]:
    """The place of a keyword in the notation; elements of a vector follow their symbol.

    Raises KeyError for an unknown keyword.
    """
    if keyword in SYMBOLS:
        return _PLACES[keyword], 0
    quantity(keyword)
    stem, _, index = keyword.rpartition("_")
    return _PLACES[stem], int(index)


_PLACES = {keyword: place for place, keyword in enumerate(SYMBOLS)}
