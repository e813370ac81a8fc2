"""TensorRT-LLM: Prometheus counters; its JSON is in the module beside this one.

Its counters by position hold how often each position was drafted, so that survival is unbiased even
where the length changes.

Source: tensorrt_llm/metrics/collector.py of the 1.4.0 release candidates.
"""

from __future__ import annotations

from collections.abc import Mapping

from specdec_lib.counts.combine import difference
from specdec_lib.counts.counts import AcceptanceCounts
from specdec_lib.counts.errors import ReadError
from specdec_lib.counts.prometheus import Sample, by_position, gauge, one_model, samples, total
from specdec_lib.counts.tensorrt_llm_json import read_block_file as read_block_file
from specdec_lib.counts.tensorrt_llm_json import read_iterations as read_iterations
from specdec_lib.counts.tensorrt_llm_json import read_requests as read_requests

ENGINE = "TensorRT-LLM"

PREFIX = "trtllm_spec_decode"


def read_prometheus(
    text: str,
    *,
    since: str | None = None,
    labels: Mapping[str, str] | None = None,
    length: int | None = None,
) -> AcceptanceCounts:
    """The counters of a scrape, or what was counted between ``since``, an earlier one, and it.

    With the counters by position (``return_perf_metrics: true``) steps, survival and offers are
    exact.  Without them the steps are not exported: ``length``, if every step drafted so many
    tokens, gives them.
    """
    if since is not None:
        ends = [read_prometheus(end, labels=labels) for end in (text, since)]
        between = difference(*ends)
        return between if length is None else between.with_fixed_length(length)
    found = samples(text, (PREFIX,), labels or {})
    if not found:
        raise ReadError("no series of speculative decoding is here: is speculation on?")
    one_model(found)
    offered = by_position(found, f"{PREFIX}_drafted_tokens", "token_position")
    survived = by_position(found, f"{PREFIX}_accepted_tokens", "token_position")
    drafted = total(found, f"{PREFIX}_num_draft_tokens")
    accepted = total(found, f"{PREFIX}_num_accepted_tokens")
    if (offered is None) != (survived is None):
        raise ReadError(
            "drafted and accepted tokens by position must both be there: was the text cut?"
        )
    if offered is not None and survived is not None:
        if not offered[0]:
            raise ReadError("nothing has been drafted yet")
        survived += (0,) * (len(offered) - len(survived))
        notes = (
            *_never_accepted(text, found),
            *_other_totals(drafted, accepted, sum(offered), sum(survived)),
        )
        return AcceptanceCounts(
            ENGINE,
            "TensorRT-LLM Prometheus counters by position",
            steps=offered[0],
            survived=survived,
            offered=offered,
            length=len(offered),
            notes=("a step is counted where it drafts at least one token", *notes),
        )
    if drafted is None or accepted is None:
        raise ReadError(
            f"{PREFIX}_num_draft_tokens and _num_accepted_tokens must both be there: was the text "
            "cut?"
        )
    last = gauge(found, f"{PREFIX}_acceptance_length")
    note = "steps are not exported" + (
        "" if last is None else f"; the acceptance length {last:g} is of the last iteration alone"
    )
    counts = AcceptanceCounts(
        ENGINE,
        "TensorRT-LLM Prometheus counters",
        drafted=drafted,
        accepted=accepted,
        notes=(note,),
    )
    return counts if length is None else counts.with_fixed_length(length)


def _never_accepted(text: str, found: list[Sample]) -> tuple[str, ...]:
    """A note on drafted series without an accepted one: nothing was accepted there yet.

    Raises ReadError where the text ends with these counters, for then it may be cut.
    """
    series = {
        name: {tuple(sorted(s.labels.items())) for s in found if s.name == f"{PREFIX}_{name}"}
        for name in ("drafted_tokens", "accepted_tokens")
    }
    alone = series["drafted_tokens"] - series["accepted_tokens"]
    if not alone:
        return ()
    rest = text.splitlines(keepends=True)[max(s.line for s in found) :]
    if not any(line.strip() and line.endswith("\n") for line in rest):
        raise ReadError(
            f"{len(alone)} of the drafted counters have no accepted one beside them, and the text "
            "ends there: is it whole?"
        )
    return (f"{len(alone)} drafted counters have no accepted one: none was accepted there",)


def _other_totals(
    drafted: int | None, accepted: int | None, offered: int, survived: int
) -> tuple[str, ...]:
    """A note where the counters of iterations differ from those of finished requests."""
    if (drafted, accepted) in ((None, None), (offered, survived)):
        return ()
    return (
        f"the counters without position say {accepted} of {drafted}; they count iterations, those "
        "by position finished requests",
    )
