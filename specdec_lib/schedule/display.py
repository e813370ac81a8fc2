"""A schedule on a page: as text for a terminal, as a table for a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from specdec_lib.schedule.cell import Cell, span

if TYPE_CHECKING:
    from specdec_lib.schedule.table import Schedule

_HEADS = ("batch", "draft length", "speedup", "margin", "reason")


def as_text(schedule: Schedule) -> str:
    """The ranges in aligned columns; columns that are empty everywhere are left out."""
    lines = [f"Schedule{': ' + schedule.name if schedule.name else ''}"]
    for title, table in _tables(schedule):
        lines += [title] if title else []
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += [
            "  ".join(
                entry.ljust(width) if head == "reason" else entry.rjust(width)
                for head, entry, width in zip(table[0], row, widths, strict=True)
            ).rstrip()
            for row in table
        ]
    return "\n".join([*lines, _beyond(schedule), *_remarks(schedule)])


def as_html(schedule: Schedule) -> str:
    """The ranges as a table for a notebook, with a caption."""
    parts = []
    for title, table in _tables(schedule):
        caption = " · ".join(word for word in (schedule.name, title) if word)
        head, *body = table
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(entry)}</td>" for entry in row) + "</tr>"
            for row in body
        )
        heads = "".join(f'<th scope="col">{html.escape(entry)}</th>' for entry in head)
        parts.append(
            # the class by which pages know a table of data, in their light and dark themes
            '<table class="dataframe">'
            f"<caption>{html.escape(caption or 'Draft length by batch')}</caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )
    remarks = (_beyond(schedule), *_remarks(schedule))
    return "".join(parts) + "".join(f"<p>{html.escape(remark)}</p>" for remark in remarks)


def _beyond(schedule: Schedule) -> str:
    context = f" or context {schedule.contexts[-1]}" if schedule.contexts else ""
    return f"above batch {schedule.batch_max}{context}: 0"


def _remarks(schedule: Schedule) -> list[str]:
    assumed = [f"assumed: {sentence}" for sentence in schedule.assumptions]
    return [*assumed, *(f"note: {sentence}" for sentence in schedule.notes)]


def _tables(schedule: Schedule) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Each row of contexts with its title and its table, heads first."""
    every = [cell for cells in schedule.rows for cell in cells]
    used = [i for i in range(len(_HEADS)) if i < 2 or any(_entries(cell)[i] for cell in every)]
    found, low = [], 1
    for row, cells in enumerate(schedule.rows):
        title = ""
        if schedule.contexts:
            title = f"context {span(low, schedule.contexts[row])}"
            low = schedule.contexts[row] + 1
        lines = [_HEADS, *(_entries(cell) for cell in cells)]
        found.append((title, [tuple(line[i] for i in used) for line in lines]))
    return found


def _entries(cell: Cell) -> tuple[str, ...]:
    speedup = "" if cell.speedup is None else f"{cell.speedup:.3f}"
    margin = "" if cell.margin is None else f"{cell.margin:+.3f}"
    return (cell.span, str(cell.length), speedup, margin, cell.reason)
