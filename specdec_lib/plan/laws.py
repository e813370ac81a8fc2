"""Laws: the speedup of a plan as one Formula."""

from __future__ import annotations

from specdec_lib.acceptance import AcceptanceCurve, Geometric
from specdec_lib.drafters import Draft
from specdec_lib.drafters.fraction import FractionDraft
from specdec_lib.formula import Formula
from specdec_lib.formulas.acceptance import expected_tokens
from specdec_lib.formulas.speculation import speedup
from specdec_lib.symbols import C_0, ONE, SECOND, C_draft, C_verify, N, T, gamma


def speedup_law(draft: Draft, curve: AcceptanceCurve, *, any_fraction: bool = False) -> Formula:
    """The speedup in γ, B, S and α; with ``any_fraction`` in c as well.

    The rate stays a symbol, whatever the curve has for it.  Raises ValueError for a curve that is
    not one rate for all positions, or a drafter that is no fraction.
    """
    if not isinstance(curve, Geometric):
        raise ValueError(
            f"a speedup in closed form takes one acceptance rate for all positions, not {curve!r}; "
            "Plan.table gives the values of any curve"
        )
    drafting = draft.formula
    if any_fraction:
        if not isinstance(draft, FractionDraft):
            raise ValueError(f"c is free only for drafters.fraction(…), not for {draft.name}")
        drafting = draft.general
    step = draft.target.expr
    price = Formula("C(B, 1, S)", step.subs(T, 1), SECOND, "derived: step")
    verify = Formula(r"C(B, \gamma + 1, S)", step.subs(T, gamma + 1), SECOND, "derived: step")
    parts = {N: expected_tokens.rhs, C_0: price.rhs, C_verify: verify.rhs, C_draft: drafting.rhs}
    rhs = speedup.rhs.subs(parts, simultaneous=True)
    lhs = r"\mathrm{Sp}(\gamma, B, S, \alpha)"
    # a fraction of a plain step is shown as that, the passes of a model by one name
    named = (verify, price) if isinstance(draft, FractionDraft) else (verify, drafting, price)
    return Formula(lhs, rhs, ONE, "derived: speedup", using=named)
