"""``specdec explain``: why speculation is slow here, and what would change it."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from specdec_lib.cli.output import json_flag, print_json
from specdec_lib.cli.points import one_batch, one_context
from specdec_lib.cli.speculating import plan_of, plan_options
from specdec_lib.cli.words import sentences
from specdec_lib.formulas.experts import distinct_experts
from specdec_lib.formulas.price import drafted_price
from specdec_lib.plan import Plan

#: Batches among which one is looked for at which speculation pays, or pays most.
_BATCHES = np.unique(np.geomspace(1, 1024, 61).round())


@click.command()
@plan_options
@one_batch
@one_context
@click.option(
    "--gamma",
    type=click.IntRange(1, 1024),
    help="The draft length in use.  [the best one, or 1]",
)
@json_flag
def explain(batch: int, context: int, gamma: int | None, as_json: bool, **options: Any) -> None:
    """Why speculation is fast or slow here, and what would change it.

    Tokens a round and seconds a round are told apart: acceptance moves the first, the engine and
    the model the second.

    \b
    Examples:
      specdec explain --model qwen3-30b-a3b --gpu h100-sxm --tp 2 --engine sglang --alpha 0.5 \\
        --gamma 3 --batch 4
      specdec explain --model deepseek-v4-flash --gpu b200 --survival 0.74,0.48,0.26 --batch 8
    """
    planned, longest = plan_of(options)
    found = _findings(planned, batch, context, gamma, longest)
    if as_json:
        print_json(found)
        return
    for sentence in sentences(found):
        click.echo(sentence)


def _findings(
    planned: Plan, batch: int, context: int, gamma: int | None, longest: int
) -> dict[str, Any]:
    at = {"B": batch, "S": context}
    best = planned.best(**at, gamma_max=longest)
    length = gamma if gamma is not None else max(best.gamma, 1)
    round_ = planned.round(gamma=length, **at)
    most = planned.best(B=_BATCHES, S=context, gamma_max=longest)
    place = int(np.argmax(most.speedup))
    gains = np.asarray(planned.speedup(gamma=length, B=_BATCHES, S=context))
    beyond = _BATCHES[(batch < _BATCHES) & (gains <= 1)]
    plain = planned.regime_shares(gamma=0, **at)
    shares = planned.regime_shares(gamma=length, **at)
    whole, before = sum(shares.values()), sum(plain.values())
    return {
        "batch": batch,
        "context": context,
        "gamma": length,
        "speedup": float(planned.speedup(gamma=length, **at)),
        "tokens": float(round_.tokens),
        "plain_seconds": float(round_.C_0),
        "verify_seconds": float(round_.C_verify),
        "draft_seconds": float(round_.C_draft),
        "step_ratio": float(planned.step_ratio(gamma=length, **at)),
        "regime": planned.regime(gamma=length, **at),
        "shares": {name: seconds / whole for name, seconds in shares.items()},
        "grows": {name: (shares[name] - plain[name]) / before for name in shares},
        "hurdle": float(planned.hurdle(**at)),
        "break_even_alpha": float(planned.break_even_alpha(gamma=length, **at)),
        "draft_budget": float(planned.draft_budget(gamma=length, **at)),
        "drafting": planned.draft.breakdown(gamma=length, **at),
        "price": float(drafted_price(C_verify=round_.C_verify, C_0=round_.C_0, gamma=length)),
        **_setting(planned, batch, length),
        "plateau": list(planned.plateau(**at, gamma_max=longest)),
        "loses_from_batch": int(beyond[0]) if len(beyond) else None,
        "best_gamma": best.gamma,
        "best_speedup": best.speedup,
        "best_batch": int(_BATCHES[place]),
        "best_batch_gamma": int(most.gamma[place]),
        "best_batch_speedup": float(most.speedup[place]),
        "warnings": best.warnings,
    }


def _setting(planned: Plan, batch: int, gamma: int) -> dict[str, Any]:
    """What of the model and its deployment bears on a verify pass of γ + 1 tokens."""
    cost = planned.step_cost("an explanation")
    mixture, tokens = cost.model.architecture.experts, batch * (gamma + 1)
    touched = None
    if mixture is not None:
        layer = {"E": mixture.E, "k": mixture.k}
        plain, verify = distinct_experts(n=[batch, tokens], **layer)
        touched = {"of": mixture.E, "plain": plain, "verify": verify}
    return {
        "verified_tokens": tokens,
        "experts": touched,
        "graph_tokens": cost.deployment.max_graph_tokens,
        "measured_verify": cost.deployment.verify_curve is not None,
    }
