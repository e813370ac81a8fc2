"""The price of a marginal token, r = ∂log C/∂log T: of the parts of a step, of the whole, and what
a draft pays by it.

The price of experts is :data:`specdec_lib.formulas.experts.marginal_price`, that of weights
:data:`specdec_lib.formulas.roofline.weight_elasticity`; the price of a given model's step comes
with its :class:`specdec_lib.StepCost`.
"""

from __future__ import annotations

from sympy import Add, log

from specdec_lib.formula import Formula
from specdec_lib.formulas import attention, engine
from specdec_lib.formulas.roofline import elasticity
from specdec_lib.symbols import C_0, ONE, C_verify, N, T, gamma, indexed, r

_HERE = "derived: marginal"

core_price = elasticity(attention.core_time.where(B=1), "T", r"r_{\mathrm{core}}(T)")
"""Price of a marginal token in one layer's attention core: the share of the queries in its bytes
while it is memory-bound, 1 from where it is compute-bound.  The batch cancels."""

overhead_price = elasticity(engine.recorded_overhead_time, "n", r"r_{\mathrm{over}}(n)")
"""Price of a marginal token in what an engine adds to the roofline: 0 for the fixed time, 1 for the
time of each token, and between them the share of the latter."""

drafted_price = Formula(r"r_\gamma", (C_verify / C_0 - 1) / gamma, ONE, _HERE)
"""What a drafted token adds to a step, averaged over a draft of γ and in plain steps."""

mean_price = Formula(r"\bar r(\gamma)", log(C_verify / C_0) / log(gamma + 1), ONE, _HERE)
"""The price averaged over log T from a plain step to a verify pass of γ + 1 tokens."""

verify_growth = Formula(r"\frac{C_{\mathrm{verify}}}{C_0}", (gamma + 1) ** r, ONE, _HERE)
"""A verify pass of γ + 1 tokens over a plain step, where the mean price between them is r."""

survival_needed = Formula(r"\sigma_{\min}", r * N / T, ONE, _HERE)
"""Survival from which one more token of a free draft pays: the price times the tokens that the step
commits for each token it verifies.  σ·C ≥ N·ΔC with ΔC = r·C/T; a local rule."""


def blended_price(parts: int) -> Formula:
    """Price of a step of ``parts`` parts: the mean of their prices r₁, r₂, …, weighted with their
    times C₁, C₂, ….

    Raises ValueError for a step without parts.
    """
    if parts < 1:
        raise ValueError(f"a step cannot have {parts} parts")
    times = [indexed("C", i) for i in range(1, parts + 1)]
    adds = [time * indexed("r", i) for i, time in enumerate(times, start=1)]
    return Formula("r", Add(*adds) / Add(*times), ONE, _HERE)
