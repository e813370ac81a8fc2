"""Counts on a page, as text and as a table."""

from __future__ import annotations

import contextlib
import html
from typing import TYPE_CHECKING

from specdec_lib.counts.errors import NotCounted

if TYPE_CHECKING:
    from specdec_lib.counts.counts import AcceptanceCounts


def facts(counts: AcceptanceCounts) -> list[tuple[str, str]]:
    """What the counts say, each with its name; what they do not say is left out."""
    found: list[tuple[str, str]] = []
    for name, value in (
        ("verify steps", counts.steps),
        ("drafted tokens", counts.drafted),
        ("accepted tokens", counts.accepted),
        ("draft length", counts.length),
    ):
        if value is not None:
            found.append((name, str(value)))
    try:
        found.append(("tokens per step", f"{counts.tokens:.4g}"))
    except NotCounted as missing:
        found.append(("tokens per step", f"not known: {missing}"))
    with contextlib.suppress(NotCounted):
        found.append(("accepted / drafted", f"{counts.rate:.4g}"))
    try:
        survival, conditional = counts.survival, counts.conditional
    except NotCounted:
        return found
    found.append(("survival", ", ".join(f"{value:.3f}" for value in survival)))
    found.append(("conditional", ", ".join(f"{value:.3f}" for value in conditional)))
    return found


def as_text(counts: AcceptanceCounts) -> str:
    """The facts in two columns, then notes and warnings."""
    rows = facts(counts)
    width = max(len(name) for name, _ in rows)
    lines = [f"{counts.engine}: {counts.found}"]
    lines += [f"  {name:{width}}  {value}" for name, value in rows]
    lines += [f"note: {note}" for note in counts.notes]
    return "\n".join([*lines, *(f"beware: {warning}" for warning in counts.warnings)])


def as_html(counts: AcceptanceCounts) -> str:
    """The facts as a table for a notebook, then notes and warnings."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
        for name, value in facts(counts)
    )
    caption = html.escape(f"{counts.engine}: {counts.found}")
    remarks = [*counts.notes, *(f"beware: {warning}" for warning in counts.warnings)]
    # the class by which pages know a table of data, in their light and dark themes
    head = f'<table class="dataframe"><caption>{caption}</caption>'
    return f"{head}<tbody>{rows}</tbody></table>" + "".join(
        f"<p>{html.escape(remark)}</p>" for remark in remarks
    )
