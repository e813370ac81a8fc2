"""Drafters: what a drafting head has beside the layers whose shape it shares, in parameters.

A head reads hidden states of the target and is trained to guess its next tokens.  As in
:mod:`~specdec_lib.formulas.weights`, matrices and vectors are counted apart.
"""

from __future__ import annotations

from specdec_lib.formula import Formula
from specdec_lib.symbols import ONE, H, V, d, features, n_h, n_kv, rank

feature_projection = Formula(r"P_{\mathrm{feat}}", features * H * H, ONE, "li2025eagle3")
"""Hidden states of several layers of the target, projected to one."""

paired_projection = Formula(
    r"P_{\mathrm{pair}}", 2 * H * n_h * d + 4 * H * n_kv * d + n_h * d * H, ONE, "li2025eagle3"
)
"""Attention of an EAGLE-3 layer: query, key and value are projected from the embedding and the
hidden state side by side."""

pair_bias = Formula(r"P_{\mathrm{Markov}}", rank * V, ONE, "specforge")
"""One of the two matrices through which a drafted token shifts the scores of the next; the other
is looked up like an embedding."""

confidence_matrix = Formula(r"P_{\mathrm{conf}}", H + rank, ONE, "specforge")
"""How sure the drafter is of a token, from its hidden state and its shift."""

residual_block = Formula(r"P_{\mathrm{Medusa}}", H * H, ONE, "cai2024")
"""The residual block before the scores of a Medusa head."""
