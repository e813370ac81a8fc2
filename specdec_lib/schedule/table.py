"""Schedule: how many tokens to draft, by batch and, where it matters, by context.

A plain table.  It knows neither plan nor engine: a plan fills it, engines write it out, a
controller reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdec_lib.schedule.cell import Cell, ScheduleError, check_row, whole
from specdec_lib.schedule.config import EngineConfig, writer
from specdec_lib.schedule.display import as_html, as_text
from specdec_lib.schedule.fill import as_lengths, as_table, cells_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Schedule:
    """Draft length by range of batches and, optionally, of contexts.

    Beyond the last range of batches, and beyond the last context, the length is 0.  Made by
    :meth:`from_ranges` or :meth:`from_lengths`.

    Parameters
    ----------
    rows
        The cells of each range of contexts, in order; without contexts there is one row.
    contexts
        The largest context of each row, in tokens, increasing; empty where the context plays no
        part.
    name
        What the schedule is for.
    assumptions, notes
        What it stands on, and what a reader should know; each a sentence.
    speedups
        Expected speedup of every length at every batch, ``[length, batch − 1]`` or ``[length,
        batch − 1, context row]``, if known.  With it a writer finds the best that an engine can
        express, and says what that loses.

    Raises ScheduleError for ranges with gaps or overlaps, rows that end at different batches,
    contexts that do not increase, and speedups of another shape.
    """

    rows: tuple[tuple[Cell, ...], ...]
    contexts: tuple[int, ...] = ()
    _: KW_ONLY
    name: str = ""
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    speedups: Floats | None = None

    def __post_init__(self) -> None:
        contexts = tuple(whole(c, "a context") for c in self.contexts)
        object.__setattr__(self, "contexts", contexts)
        for field in ("assumptions", "notes"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if any(later <= earlier for earlier, later in zip((0, *contexts), contexts, strict=False)):
            raise ScheduleError(f"contexts must increase from 1 on: {list(contexts)}")
        if len(self.rows) != max(1, len(contexts)):
            raise ScheduleError(f"{len(self.rows)} rows for {len(contexts)} ranges of contexts")
        for cells in self.rows:
            check_row(cells)
        ends = {cells[-1].last for cells in self.rows}
        if len(ends) > 1:
            raise ScheduleError(f"rows must end at the same batch; they end at {sorted(ends)}")
        if self.speedups is not None:
            shape = (self.batch_max, len(contexts)) if contexts else (self.batch_max,)
            table = as_table(self.speedups, shape)
            if self.longest >= len(table):
                raise ScheduleError(
                    f"length {self.longest} has no speedup; the table ends at {len(table) - 1}"
                )
            object.__setattr__(self, "speedups", table)

    # --- making -------------------------------------------------------------------------------
    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int, int] | Cell], **about: Any) -> Schedule:
        """The schedule of ``(first, last, length)`` ranges, or cells, without a context axis.

        ``about`` is name, assumptions, notes and speedups.

        >>> Schedule.from_ranges([(1, 16, 4), (17, 64, 2)]).length([1, 16, 17, 64, 65]).tolist()
        [4, 4, 2, 2, 0]
        """
        cells = [entry if isinstance(entry, Cell) else Cell(*entry) for entry in ranges]
        return cls((tuple(cells),), **about)

    @classmethod
    def from_lengths(
        cls,
        lengths: ArrayLike,
        *,
        contexts: Sequence[int] = (),
        speedups: ArrayLike | None = None,
        reasons: ArrayLike | None = None,
        **about: Any,
    ) -> Schedule:
        """The schedule of a length for every batch from 1 on: ``[batch − 1]`` or ``[batch − 1,
        context row]``.

        Neighbours of the same length become one range.  ``reasons`` has the shape of ``lengths``;
        ``speedups`` has the lengths as a further first axis.  ``about`` is name, assumptions and
        notes.
        """
        wanted = as_lengths(lengths, len(contexts))
        table = None if speedups is None else as_table(speedups, wanted.shape)
        words = None if reasons is None else np.asarray(reasons, dtype=object)
        if words is not None and words.shape != wanted.shape:
            raise ScheduleError(f"reasons have shape {words.shape}, lengths {wanted.shape}")
        rows = []
        for row in range(max(1, len(contexts))):
            here: Any = (..., row) if contexts else ...
            rows.append(
                cells_of(
                    wanted[here],
                    None if table is None else table[here],
                    None if words is None else words[here],
                )
            )
        return cls(tuple(rows), tuple(contexts), speedups=table, **about)

    # --- reading ------------------------------------------------------------------------------
    @property
    def batch_max(self) -> int:
        """The last batch of the last range; above it nothing is drafted."""
        return self.rows[0][-1].last

    @property
    def distinct(self) -> tuple[int, ...]:
        """The lengths that occur, increasing; each but zero costs an engine a captured graph."""
        return tuple(sorted({cell.length for cells in self.rows for cell in cells}))

    @property
    def longest(self) -> int:
        """The largest length that occurs."""
        return self.distinct[-1]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of a schedule without a context axis.  ScheduleError if it has one."""
        if self.contexts:
            raise ScheduleError("this schedule has a context axis: take one row, .at(context=…)")
        return self.rows[0]

    @property
    def lengths(self) -> Ints:
        """The length of every batch from 1 to ``batch_max``: ``[batch − 1]`` or ``[batch − 1,
        context row]``."""
        columns = [
            np.repeat([cell.length for cell in cells], [cell.batches for cell in cells])
            for cells in self.rows
        ]
        return np.stack(columns, axis=-1) if self.contexts else columns[0]

    def length(self, B: ArrayLike, S: ArrayLike | None = None) -> Any:
        """The draft length at batches B and contexts S, which broadcast; an int for scalars.

        Raises TypeError where a context is missing, or given to a schedule without contexts, and
        ScheduleError for what is no whole batch from 1 on or no context from 0 on.
        """
        batch = _counted(B, 1, "batch")
        if (S is None) is bool(self.contexts):
            needs = "needs a context S" if self.contexts else "has no context axis"
            raise TypeError(f"this schedule {needs}")
        lengths, end = self.lengths, self.batch_max
        inside = batch <= end
        at = np.minimum(batch, end) - 1
        if S is None:
            found = np.where(inside, lengths[at], 0)
        else:
            context = _counted(S, 0, "context")
            row = np.searchsorted(self.contexts, context)
            inside = inside & (row < len(self.contexts))
            found = np.where(inside, lengths[at, np.minimum(row, len(self.contexts) - 1)], 0)
        return int(found) if found.ndim == 0 else found

    def at(self, context: int) -> Schedule:
        """The schedule of one context, without the axis.  ScheduleError beyond the last context."""
        if not self.contexts:
            return self
        row = int(np.searchsorted(self.contexts, whole(context, "a context")))
        if row == len(self.contexts):
            raise ScheduleError(
                f"context {context} is beyond {self.contexts[-1]}, the last of this schedule"
            )
        table = None if self.speedups is None else self.speedups[..., row]
        return replace(self, rows=(self.rows[row],), contexts=(), speedups=table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schedule):
            return NotImplemented
        plain = ("rows", "contexts", "name", "assumptions", "notes")
        if any(getattr(self, field) != getattr(other, field) for field in plain):
            return False
        if self.speedups is None or other.speedups is None:
            return self.speedups is other.speedups
        return bool(np.array_equal(self.speedups, other.speedups))

    def __hash__(self) -> int:
        return hash((self.rows, self.contexts, self.name))

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    # --- writing ------------------------------------------------------------------------------
    # Engines know schedules, not the other way round: they enter their writers in a register that
    # importing specdec_lib fills.
    def to_vllm(self, *, fit: bool = False, **setting: Any) -> EngineConfig:
        """The speculative config of vLLM; settings as in :func:`specdec_lib.engines.vllm.write`."""
        return writer("vllm")(self, fit=fit, **setting)

    def to_sglang(
        self, cuda_graph_sizes: Iterable[int] | None = None, *, fit: bool = False, **setting: Any
    ) -> EngineConfig:
        """The adaptive config of SGLang; settings as in
        :func:`specdec_lib.engines.sglang.write`."""
        return writer("sglang")(self, cuda_graph_sizes=cuda_graph_sizes, fit=fit, **setting)

    def to_tensorrt_llm(
        self, version: str = "1.4", *, fit: bool = False, **setting: Any
    ) -> EngineConfig:
        """The speculative config of TensorRT-LLM; settings as in
        :func:`specdec_lib.engines.tensorrt_llm.write`."""
        return writer("tensorrt_llm")(self, version=version, fit=fit, **setting)


def _counted(values: ArrayLike, least: int, what: str) -> Ints:
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind not in "iuf" or (kind == "f" and not bool(np.all(array == np.floor(array)))):
        raise ScheduleError(f"{what}: {values!r:.60} is not whole")
    if array.size and (not np.all(np.isfinite(array)) or array.min() < least):
        raise ScheduleError(f"{what}: {array.min()} is below {least}")
    return array.astype(np.int64)
