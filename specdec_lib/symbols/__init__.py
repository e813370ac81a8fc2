"""Notation: every symbol of the book once, with its LaTeX, unit, meaning and domain.

The symbols are SymPy symbols and module attributes (``symbols.alpha``, ``symbols.m_c``); what is
known about each is its :class:`Quantity` in :data:`SYMBOLS`.  The notation page of the book, the
error messages of :class:`specdec_lib.formula.Formula` and the labels of the charts are made from
this table.  One letter has one meaning everywhere.
"""

from __future__ import annotations

from specdec_lib.notation import INDEXED as INDEXED
from specdec_lib.notation import SYMBOLS as SYMBOLS
from specdec_lib.notation import declare
from specdec_lib.notation import indexed as indexed
from specdec_lib.notation import notation_order as notation_order
from specdec_lib.notation import quantity as quantity
from specdec_lib.quantity import BYTE as BYTE
from specdec_lib.quantity import FLOP as FLOP
from specdec_lib.quantity import ONE as ONE
from specdec_lib.quantity import SECOND as SECOND
from specdec_lib.quantity import UNITS as UNITS
from specdec_lib.quantity import Quantity as Quantity

# --- acceptance and the step -------------------------------------------------------------------
alpha = declare(
    "alpha",
    r"\alpha",
    ONE,
    "acceptance rate of a drafted token, given that all before it were accepted",
    high=1,
)
gamma = declare("gamma", r"\gamma", ONE, "draft length")
B = declare("B", "B", ONE, "batch: sequences per step", low=1)
T = declare("T", "T", ONE, "verify width: query tokens per sequence in a step", low=1)
n = declare("n", "n", ONE, "tokens in a step")
S = declare("S", "S", ONE, "context length in tokens")
N = declare("N", "N", ONE, "expected tokens committed per step, bonus included", low=1)
sigma = declare("sigma", r"\sigma", ONE, "survival: all drafted tokens so far accepted", high=1)
position = declare("position", "i", ONE, "place of a drafted token in its draft, from 1", low=1)
decay = declare("decay", r"\delta", ONE, "what is left of a difference one position on", high=1)
alpha_end = declare("alpha_end", r"\alpha_\infty", ONE, "acceptance rate far into a draft", high=1)
share = declare("share", r"\omega", ONE, "share of the steps that one kind of request has", high=1)
drop = declare("drop", "x_c", ONE, "fall of the acceptance rate when the context doubles", high=1)
S_0 = declare("S_0", "S_0", ONE, "context up to which acceptance does not fall", positive=True)
p = declare("p", "p", ONE, "probability of a token under the target", high=1)
q = declare("q", "q", ONE, "probability of a token under the drafter", high=1)
h = declare("h", "h", ONE, "probability that a first stage keeps a drafted token", high=1)
temperature = declare(
    "temperature",
    r"\tau",
    ONE,
    "temperature of sampling; close to 0 it is greedy",
    low=0.05,
    high=20,
)
lenience = declare(
    "lenience",
    r"\lambda",
    ONE,
    "factor on q before p must reach it; 1 is exact",
    positive=True,
    high=1,
)

# --- experts -----------------------------------------------------------------------------------
E = declare("E", "E", ONE, "routed experts in a layer", low=1)
k = declare("k", "k", ONE, "experts per token", low=1)
s = declare("s", "s", ONE, "always-on shared experts in a layer")
A = declare("A", "A", ONE, "distinct routed experts that a step touches")
P_e = declare("P_e", "P_e", ONE, "parameters of one expert", positive=True)
P = declare("P", "P", ONE, "parameters of a weight component", positive=True)
b = declare("b", "b", BYTE, "bytes per weight", positive=True)
G = declare("G", "G", ONE, "devices that share the experts of a layer", low=1)
locality = declare(
    "locality",
    r"\ell",
    ONE,
    "locality exponent: T tokens of one sequence touch experts like T^ℓ independent ones",
    high=1,
)
coverage = declare("coverage", r"\chi", ONE, "share of the routed experts touched", high=1)

# --- attention ---------------------------------------------------------------------------------
f = declare("f", "f", FLOP, "attention FLOPs per (query, context) pair, per layer", positive=True)
m_c = declare("m_c", "m_c", BYTE, "bytes per context token, read once a sequence", positive=True)
m_q = declare("m_q", "m_q", BYTE, "bytes per query token")
n_h = declare("n_h", "n_h", ONE, "query heads", low=1)
n_kv = declare("n_kv", r"n_{\mathrm{kv}}", ONE, "key-value heads", low=1)
d = declare("d", "d", ONE, "head dimension", low=1)
d_c = declare("d_c", "d_c", ONE, "latent width of a compressed cache entry", low=1)
d_r = declare("d_r", "d_r", ONE, "rotary width of a compressed cache entry")
b_kv = declare("b_kv", r"b_{\mathrm{kv}}", BYTE, "bytes per cached element", positive=True)
b_q = declare("b_q", "b_q", BYTE, "bytes per query element", positive=True)
window = declare("window", "w", ONE, "tokens of a sliding window", low=1)
compression = declare(
    "compression", r"\kappa", ONE, "context tokens behind one compressed entry", low=1
)
topk = declare("topk", r"K_{\mathrm{top}}", ONE, "cache entries that an indexer selects", low=1)
i_h = declare("i_h", "i_h", ONE, "heads of an indexer", low=1)
i_d = declare("i_d", "i_d", ONE, "head dimension of an indexer", low=1)
f_i = declare("f_i", "f_i", FLOP, "indexer FLOPs per (query, key) pair, per layer", positive=True)
m_i = declare("m_i", "m_i", BYTE, "bytes of an indexer's key", positive=True)
n_k = declare("n_k", "n_k", ONE, "key heads of a linear-attention layer", low=1)
n_v = declare("n_v", "n_v", ONE, "value heads of a linear-attention layer", low=1)
d_k = declare("d_k", "d_k", ONE, "key head dimension", low=1)
d_v = declare("d_v", "d_v", ONE, "value head dimension", low=1)
b_s = declare("b_s", "b_s", BYTE, "bytes per element of a recurrent state", positive=True)
f_s = declare("f_s", "f_s", FLOP, "FLOPs per state element and token", positive=True)
state_passes = declare(
    "state_passes", "u", ONE, "times a recurrent state crosses memory in a step", positive=True
)

# --- hardware ----------------------------------------------------------------------------------
peak = declare("peak", r"\pi_p", FLOP / SECOND, "peak rate at precision p", positive=True)
bandwidth = declare("bandwidth", r"\beta", BYTE / SECOND, "memory bandwidth", positive=True)
ridge = declare("ridge", "R", FLOP / BYTE, "ridge point: peak over bandwidth", positive=True)
eta_m = declare(
    "eta_m", r"\eta_m", ONE, "fraction of the bandwidth that is reached", high=1, positive=True
)
eta_c = declare(
    "eta_c", r"\eta_c", ONE, "fraction of the peak rate that is reached", high=1, positive=True
)
work = declare("work", "W", FLOP, "FLOPs of a component in a step")
traffic = declare("traffic", "Q", BYTE, "bytes that a component moves in a step")
intensity = declare("intensity", "I", FLOP / BYTE, "arithmetic intensity")
t_0 = declare("t_0", "t_0", SECOND, "fixed time of a kernel or step")
t_e = declare("t_e", "t_e", SECOND, "time per distinct expert touched")

# --- price and speedup -------------------------------------------------------------------------
c = declare("c", "c", ONE, "cost of one draft token over the cost of one plain decode step")
C = declare("C", "C", SECOND, "step time", positive=True)
C_0 = declare("C_0", "C_0", SECOND, "plain decode step time C(B, 1, S)", positive=True)
C_verify = declare(
    "C_verify", r"C_{\mathrm{verify}}", SECOND, "time of the verify pass", positive=True
)
C_draft = declare("C_draft", r"C_{\mathrm{draft}}", SECOND, "time to draft γ tokens")
dC = declare("dC", r"\Delta C", SECOND, "time that one more drafted token adds", positive=True)
premium = declare("premium", r"\delta", ONE, "extra cost of a verify pass, in plain steps")
r = declare(
    "r", "r", ONE, "price of a marginal verify token relative to an average one: ∂log C/∂log T"
)
target_speedup = declare(
    "target_speedup",
    r"\mathrm{Sp}_{\min}",
    ONE,
    "speedup that must at least be reached",
    positive=True,
)
phi = declare("phi", r"\varphi", ONE, "first stage's cost as a fraction of a full pass")
keep_good = declare(
    "keep_good", "g", ONE, "first stage's pass rate for tokens the target would accept", high=1
)
keep_bad = declare(
    "keep_bad", "h_r", ONE, "first stage's pass rate for tokens the target would reject", high=1
)

# --- weights and architecture ------------------------------------------------------------------
H = declare("H", "H", ONE, "hidden size", low=1)
V = declare("V", "V", ONE, "vocabulary size", low=1)
L = declare("L", "L", ONE, "layers", low=1)
H_ff = declare("H_ff", r"H_{\mathrm{ff}}", ONE, "width of a feed-forward block or expert", low=1)
d_q = declare("d_q", "d_q", ONE, "rank of the query down-projection", low=1)
d_n = declare("d_n", "d_n", ONE, "width of a head's part without rotary position", low=1)
d_o = declare("d_o", "d_o", ONE, "rank of a group's output projection", low=1)
o_groups = declare("o_groups", "g_o", ONE, "groups of heads in the output projection", low=1)
overlap = declare("overlap", "o", ONE, "windows that overlap in a compressed entry", low=1)
streams = declare("streams", r"\mu", ONE, "residual streams of hyper-connections", low=1)
taps = declare("taps", r"k_{\mathrm{conv}}", ONE, "tokens that a short convolution sees", low=1)
s_groups = declare(
    "s_groups", "g_s", ONE, "groups of heads that share a Mamba-2 layer's input vectors", low=1
)
norms = declare("norms", "u_n", ONE, "vectors of width H in the norms of a layer", low=1)
bits = declare("bits", "z", ONE, "bits of a stored weight", positive=True)
scale_bits = declare("scale_bits", "z_s", ONE, "bits of the scale of a block of weights")
block = declare("block", r"\nu", ONE, "weights that share one scale", low=1)
b_r = declare("b_r", "b_r", BYTE, "bytes per rotary element of a cache entry", positive=True)
b_scale = declare("b_scale", "b_z", BYTE, "bytes of the block scales in a cache entry")

# --- drafters ----------------------------------------------------------------------------------
features = declare(
    "features", "n_t", ONE, "layers of the target whose hidden states a drafter reads", low=1
)
C_pass = declare("C_pass", r"C_{\mathrm{pass}}", SECOND, "time of a drafter's pass on its roofline")
t_pass = declare("t_pass", r"t_{\mathrm{pass}}", SECOND, "fixed time of a drafter's pass")
t_round = declare("t_round", r"t_{\mathrm{round}}", SECOND, "fixed time of a round of drafting")
rank = declare("rank", r"\rho", ONE, "rank of the correction between drafted neighbours", low=1)

# --- engines and links -------------------------------------------------------------------------
m_s = declare("m_s", "m_s", BYTE, "bytes of a sequence's cache whatever its length")
D = declare("D", "D", ONE, "devices in a collective operation", low=1)
tp = declare("tp", r"D_{\mathrm{t}}", ONE, "devices that split every matrix of a replica", low=1)
dp = declare("dp", r"D_{\mathrm{d}}", ONE, "replicas that split the batch", low=1)
link = declare(
    "link",
    r"\beta_{\mathrm{link}}",
    BYTE / SECOND,
    "rate of a device's link to the others, in one direction",
    positive=True,
)
b_x = declare("b_x", "b_x", BYTE, "bytes per element of an activation", positive=True)
t_c = declare("t_c", "t_c", SECOND, "latency of a collective operation")
t_step = declare("t_step", r"t_{\mathrm{step}}", SECOND, "fixed time of a step")
t_layer = declare("t_layer", "t_L", SECOND, "fixed time of a layer, mean over the layers")
t_token = declare("t_token", r"t_{\mathrm{tok}}", SECOND, "time that a token adds to a layer")
graph_tokens = declare("graph_tokens", "n_g", ONE, "tokens of the largest captured graph", low=1)
eager = declare("eager", r"\epsilon", ONE, "factor on fixed times beyond captured graphs", low=1)
tile = declare("tile", r"\theta", ONE, "query rows in a tile of an attention kernel", low=1)
spread = declare(
    "spread", "x_s", ONE, "exponent: T tokens of one sequence select like T^x apart", high=1
)
inclusion = declare("inclusion", "p_e", ONE, "chance that a token uses an expert", high=1)
imbalance = declare(
    "imbalance", r"\iota", ONE, "experts that the fullest device reads, over the mean", low=1
)
offloaded = declare(
    "offloaded", "x_o", ONE, "share of the routed experts kept in slower memory", high=1
)
slow_bandwidth = declare(
    "slow_bandwidth",
    r"\beta_{\mathrm{slow}}",
    BYTE / SECOND,
    "rate at which slower memory is read",
    positive=True,
)

# --- the published calculator, and what engines count ------------------------------------------
# here so that their symbols come in this place
from specdec_lib.symbols import adapting as adapting  # noqa: E402
from specdec_lib.symbols import calculator as calculator  # noqa: E402
from specdec_lib.symbols import counted as counted  # noqa: E402

#: (smaller, larger, why): what must hold between two symbols whenever both are given.
RELATIONS: tuple[tuple[str, str, str], ...] = (
    ("k", "E", "a token cannot use more experts than the layer has"),
    ("d_r", "d", "the rotary part of a cache entry is a part of it"),
    *counted.RELATIONS,
)
