"""Words: what ``specdec explain`` says of its findings."""

from __future__ import annotations

from typing import Any

#: What a regime means for verification, and what moves it.
_REGIMES = {
    "overhead": "fixed times rule the step (launches, scheduling, communication), so that verified "
    "tokens are nearly free: what limits is acceptance and the drafter's own passes",
    "expert": "reading routed experts rules the step, and every verified token touches more of "
    "them until all are touched: verification is dear at small batches and cheap beyond",
    "weight": "reading weights rules the step, the same for one token or several: verification is "
    "nearly free until the products are compute-bound",
    "kv": "reading the context rules the step, once a sequence for all its verified tokens: "
    "verification is nearly free as long as attention is memory-bound",
    "compute": "arithmetic rules the step, and every verified token costs its full share: only "
    "high acceptance pays",
}

#: A drafted token that costs this much of a plain step has paid for its own reading of weights.
_UNSHARED = 0.75

#: Beyond this share of the experts, further tokens find next to none that is not read yet.
_SATURATED = 0.95


def sentences(found: dict[str, Any]) -> list[str]:
    """The findings of ``specdec explain`` in plain words, a line each."""
    gamma, speedup = found["gamma"], found["speedup"]
    verdict = "faster" if speedup > 1 else "slower"
    lines = [
        f"Drafting {gamma} at batch {found['batch']} and context {found['context']}: "
        f"{speedup:.2f}×, {verdict} than not speculating.",
        f"  A round commits {found['tokens']:.2f} tokens in "
        f"{_ms(found['verify_seconds'] + found['draft_seconds'])} "
        f"({_ms(found['verify_seconds'])} to verify, {_ms(found['draft_seconds'])} to draft); a "
        f"plain step commits 1 in {_ms(found['plain_seconds'])}. So it costs "
        f"{found['step_ratio']:.2f} plain steps and must commit as many tokens.",
        f"  Regime: {found['regime']}. {_REGIMES[found['regime']].capitalize()}.",
    ]
    grown = max(found["grows"], key=lambda name: found["grows"][name])
    if found["grows"][grown] > 0.005:
        lines.append(
            f"  What grows most from 1 to {gamma + 1} verified tokens: {grown}, by "
            f"{100 * found['grows'][grown]:.0f} % of a plain step."
        )
    lines += _verifying(found)
    drafting = found["draft_seconds"] / found["plain_seconds"]
    lines.append(
        f"  Drafting takes {100 * drafting:.0f} % of a plain step; it may take "
        f"{100 * found['draft_budget'] / found['plain_seconds']:.0f} % before nothing is won."
        if found["draft_budget"] > 0
        else f"  Drafting takes {100 * drafting:.0f} % of a plain step, and not even a free "
        "drafter would pay."
    )
    parts = {name: seconds for name, seconds in found["drafting"].items() if seconds > 0}
    if len(parts) > 1:
        told = ", ".join(f"{name} {_ms(seconds)}" for name, seconds in parts.items())
        lines.append(
            f"  Of drafting: {told}; kv is the drafter's own cache and grows with context."
        )
    lines.append(f"What would change it: {'; '.join(_remedies(found))}.")
    lines += [f"Beware: {warning}" for warning in found["warnings"]]
    return lines


def _verifying(found: dict[str, Any]) -> list[str]:
    """What makes verified tokens dear, beside the regime."""
    lines = []
    touched, gamma = found["experts"], found["gamma"]
    if touched is not None:
        plain, verify, of = (touched[key] for key in ("plain", "verify", "of"))
        lines.append(
            f"  A plain step touches {plain:.1f} of {of} routed experts in a layer, this verify "
            f"pass {verify:.1f}, {verify / plain:.2f} times as many (uniform routing)"
            + ("; nearly all are read by then, so that further tokens read no more."
               if verify >= _SATURATED * of else ".")
        )  # fmt: skip
    most = found["graph_tokens"]
    if most is not None and found["verified_tokens"] > most:
        lines.append(
            f"  The pass has {found['verified_tokens']} tokens ({found['batch']} × {gamma + 1}), "
            f"but graphs are captured up to {most:g}: it runs eagerly. Capture larger batches, or "
            "verify fewer tokens: a short chain instead of a tree."
        )
    if found["measured_verify"] and found["price"] >= _UNSHARED:
        lines.append(
            f"  As measured, every drafted token costs {found['price']:.2f} plain steps to verify: "
            "the small-batch kernels of this engine read the weights anew for each token. Until "
            "they are mended, speculation stays off, whatever a roofline promises."
        )
    return lines


def _remedies(found: dict[str, Any]) -> list[str]:
    said = []
    if found["best_gamma"] == 0:
        said.append("nothing short of off wins at this batch: do not speculate here")
    elif found["best_gamma"] != found["gamma"]:
        said.append(f"a draft of {found['best_gamma']} is best here ({found['best_speedup']:.2f}×)")
    else:
        said.append("the draft length is the best one")
    shortest, longest = found["plateau"]
    if shortest < longest and found["best_gamma"] > 0:
        said.append(
            f"drafts of {shortest} to {longest} are within 5 % of each other, which a measurement "
            "will hardly tell apart"
        )
    needed = found["break_even_alpha"]
    said.append(
        f"drafts of {found['gamma']} break even at an acceptance of {needed:.2f} at every position"
        if needed <= 1
        else f"no acceptance pays for drafts of {found['gamma']}"
    )
    if found["hurdle"] <= 1:
        said.append(f"a single drafted token pays above {found['hurdle']:.2f}")
    if found["speedup"] > 1 and found["loses_from_batch"] is not None:
        said.append(
            f"drafts of {found['gamma']} stop paying near batch {found['loses_from_batch']} at "
            "this context"
        )
    if found["best_batch_speedup"] > max(found["best_speedup"], 1) * 1.02:
        said.append(
            f"at batch {found['best_batch']} drafts of {found['best_batch_gamma']} bring "
            f"{found['best_batch_speedup']:.2f}×"
        )
    return said


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
