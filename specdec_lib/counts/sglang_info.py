"""SGLang, server information: the mean accept length since the server's start.

``/server_info`` and the results of ``bench_serving`` that hold it have ``avg_spec_accept_length``
for every state of the scheduler.  It is a mean without the counts behind it, and holds the bonus
token.

Source: sglang/srt/managers/scheduler.py of release 0.5.23.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.jsontext import documents, holding, number, optional_count
from specdec_lib.counts.sglang_rate import lengths_behind

ENGINE = "SGLang"

KEY = "avg_spec_accept_length"


def read_server_info(
    text: str, *, num_steps: int | None = None, num_draft_tokens: int | None = None
) -> AcceptanceCounts:
    """The mean accept length of a server's information, and its draft length.

    The draft length is that of the server's own flags, where the text holds them, and else of the
    arguments, which are SGLang's flags of these names.  Raises ReadError where nothing was drafted,
    and where several states have means of their own, which cannot be pooled without their counts.
    """
    found = documents(text, "SGLang server information")
    states = holding(found, {KEY})
    if not states:
        raise ReadError(f"no object holds {KEY}")
    means = [
        number(state, KEY, f"state {i}")
        for i, state in enumerate(states, 1)
        if state[KEY] is not None
    ]
    if not means or set(means) == {0.0}:
        raise ReadError(f"{KEY} is null or 0 in every state: nothing was drafted")
    if len(set(means)) > 1:
        raise ReadError(
            f"{len(means)} states say {KEY} {', '.join(f'{mean:g}' for mean in means)}: a mean "
            "does not say how many steps it stands for; read one state"
        )
    reading = lengths_behind(
        [],
        0.0,
        _flag(found, "speculative_num_steps", num_steps),
        _flag(found, "speculative_num_draft_tokens", num_draft_tokens),
        None,
    )
    return AcceptanceCounts(
        ENGINE,
        "SGLang server information",
        gauge=means[0],
        length=reading.length,
        tree=reading.tree,
        notes=(
            "the mean since the server's start",
            *reading.notes,
            "a mean alone: it holds no counts, and no acceptance by position",
        ),
        cautions=reading.cautions,
    )


def _flag(found: Sequence[Any], name: str, given: int | None) -> int | None:
    """A flag of the server as the text states it, else the one that was given."""
    known = [optional_count(table, name, "flags") for table in holding(found, {name})]
    stated = sorted({value for value in known if value is not None})
    if len(stated) > 1:
        raise ReadError(f"flags: {name} is {' and '.join(map(str, stated))}")
    if stated and given not in (None, stated[0]):
        raise ReadError(f"flags: {name} is {stated[0]} in the text, but {given} was given")
    return stated[0] if stated else given
