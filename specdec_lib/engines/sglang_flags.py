"""SGLang's three flags for a draft: steps, branching, and tokens to verify.

``--speculative-num-steps`` is how many passes the drafter makes one after another,
``--speculative-eagle-topk`` how far it branches, ``--speculative-num-draft-tokens`` how many tokens
the target verifies for each request, the root included.  A chain of γ tokens is γ steps, no
branching, and γ + 1 tokens; anything else is a tree.
"""

from __future__ import annotations

from collections.abc import Sequence


def chain(gamma: int) -> tuple[str, ...]:
    """The flags of a chain of ``gamma`` drafted tokens.

    >>> chain(3)[-1]
    '4'
    """
    if gamma < 1:
        raise ValueError(f"a draft of {gamma} tokens has no flags: leave speculation out")
    return (
        "--speculative-num-steps",
        str(gamma),
        "--speculative-eagle-topk",
        "1",
        "--speculative-num-draft-tokens",
        str(gamma + 1),
    )


def draft_length(num_steps: int, topk: int, num_draft_tokens: int) -> int:
    """The draft length γ behind the flags of a chain.  ValueError, with the reason, for a tree."""
    if topk == 1 and num_draft_tokens == num_steps + 1:
        return num_steps
    raise ValueError(
        f"{num_steps} steps, topk {topk} and {num_draft_tokens} draft tokens are a tree: "
        f"{num_draft_tokens} tokens are verified for each request, and no single draft length says "
        f"what is accepted; a chain of {num_steps} has topk 1 and {num_steps + 1} draft tokens"
    )


def check_flags(
    num_steps: int,
    topk: int,
    num_draft_tokens: int,
    *,
    batch: int,
    cuda_graph_sizes: Sequence[int],
) -> tuple[str, ...]:
    """What is wrong with the flags of a server that reaches this ``batch``; empty if nothing is.

    Case C02 (SafeAILab/EAGLE#298) has all of it: a tree of 32 tokens, graphs up to batch 2, and a
    wish for a chain.
    """
    found = []
    if topk != 1 or num_draft_tokens != num_steps + 1:
        found.append(
            f"each request verifies {num_draft_tokens} tokens, {batch * num_draft_tokens} a step "
            f"at batch {batch}: work for which acceptance must pay"
        )
        found.append(
            f"this is a tree; a chain is --speculative-eagle-topk 1 and "
            f"--speculative-num-draft-tokens {num_steps + 1} for {num_steps} steps, and 2 to 4 "
            "steps are enough above batch 2"
        )
    largest = max(cuda_graph_sizes, default=0)
    if batch > largest:
        found.append(
            f"CUDA graphs end at batch {largest}: larger batches run without one, each kernel "
            "launched by itself; capture up to the batch that is served"
        )
    return tuple(found)
