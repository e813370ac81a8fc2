"""``{fact-tables}``: accelerators, models, drafters and reference values, with sources."""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from specdec_book.build_nodes import bullets, entry, here, math, paragraph, section, table
from specdec_book.deployments import deployments
from specdec_book.numbers import common_unit, grouped, with_unit
from specdec_book.records import NONE, Cell, origin, remark, value_cell
from specdec_book.sources import depend_on_library
from specdec_lib import catalog
from specdec_lib.architecture import DRAFTER_KINDS
from specdec_lib.catalog import (
    KINDS,
    Datum,
    DrafterCard,
    Gpu,
    Model,
    Provenance,
    Reference,
)
from specdec_lib.records.names import bare
from specdec_lib.symbols import SYMBOLS

#: Columns of the table of accelerators: heading, field of the record, size of the unit shown.
GPU_COLUMNS: tuple[tuple[str, str, float], ...] = (
    ("Memory (GB)", "memory", 1e9),
    ("Bandwidth (TB/s)", "bandwidth", 1e12),
    ("bf16 (TFLOP/s)", "peak.bf16", 1e12),
    ("fp8 (TFLOP/s)", "peak.fp8", 1e12),
    ("fp4 (TFLOP/s)", "peak.fp4", 1e12),
    ("int8 (TOP/s)", "peak.int8", 1e12),
    ("Power (W)", "power", 1.0),
)
RIDGES = ("bf16", "fp8", "fp4")
#: A table of more rows than the first number is shown by as many rows as the second.
LONGEST_TABLE, FIRST_ROWS = 40, 12


def address(kind: str, name: str) -> str:
    """The label of a fact: the B200 is at ``gpu-b200``."""
    return f"{kind}-{bare(name)}"


class FactTables(SphinxDirective):
    """Sections for accelerators, models, and what others have published or measured."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        depend_on_library(self.env)
        return [
            self._kinds(),
            self._gpus(),
            self._models(),
            self._drafters(),
            deployments(self),
            self._references(),
        ]

    def _kinds(self) -> nodes.section:
        made = section("Kinds of evidence", "facts-kinds", self)
        made += bullets(
            ([nodes.strong("", kind), f": {meaning}"] for kind, meaning in KINDS.items()),
            ["fact-kinds"],
        )
        return made

    # --- accelerators ----------------------------------------------------------------------------

    def _gpus(self) -> nodes.section:
        made = section("Accelerators", "facts-gpus", self)
        made += paragraph(
            "For one device, dense rates. Values in ",
            nodes.emphasis("", "italics"),
            " are assumed. The ridge point is the rate over the bandwidth.",
        )
        ridges = [f"Ridge {precision} (FLOP/B)" for precision in RIDGES]
        header = ["Accelerator", *(name for name, _, _ in GPU_COLUMNS), *ridges]
        made += table(header, map(self._gpu_row, catalog.gpus()), ["facts"])
        made += [self._gpu(gpu) for gpu in catalog.gpus()]
        return made

    def _gpu_row(self, gpu: Gpu) -> list[Cell]:
        link = nodes.reference("", gpu.name, internal=True, refid=address("gpu", gpu.name))
        values = [value_cell(gpu.data.get(field), size) for _, field, size in GPU_COLUMNS]
        ridges = [[grouped(gpu.ridge(p)) if p in gpu.peak else NONE] for p in RIDGES]
        return [[link], *values, *ridges]

    def _gpu(self, gpu: Gpu) -> nodes.container:
        beside: dict[str, list[str]] = {}
        for field, datum in gpu.data.items():
            text = remark(datum.provenance, gpu.provenance)
            if text:
                beside.setdefault(text, []).append(field.removeprefix("peak."))
        lines = [f"{', '.join(fields)}: {text}" for text, fields in beside.items()]
        return self._fact("gpu", f"{gpu.vendor} {gpu.name}", gpu.name, gpu.provenance, lines)

    # --- models ----------------------------------------------------------------------------------

    def _models(self) -> nodes.section:
        made = section("Models", "facts-models", self)
        made += paragraph(
            "Parameters are counted from the configuration, modules of multi-token prediction "
            "excluded; beside them stands what the makers print."
        )
        header = (
            *("Model", "Layers", "H", "E", "k", "s", "Total (10⁹)", "Printed"),
            *("Active (10⁹)", "Printed", "Attention (layers)"),
        )
        made += table(header, map(self._model_row, catalog.models()), ["facts", "models"])
        made += [self._model(model) for model in catalog.models()]
        return made

    def _model_row(self, model: Model) -> list[Cell]:
        link = nodes.reference("", model.name, internal=True, refid=address("model", model.name))
        experts = model.experts
        routed = (experts.E, experts.k, experts.s) if experts else (NONE, NONE, NONE)
        total = grouped(round(model.total_parameters / 1e9, 2))
        active = grouped(round(model.active_parameters / 1e9, 2))
        printed = model.headline
        total_printed = grouped(printed.total / 1e9) if printed else NONE
        active_printed = grouped(printed.active / 1e9) if printed else NONE
        cores = ", ".join(f"{core.kind} ({core.layers})" for core in model.attention)
        plain = [
            *(str(model.layers), grouped(model.hidden_size), *map(str, routed)),
            *(total, total_printed, active, active_printed, cores),
        ]
        return [[link], *([text] for text in plain)]

    def _model(self, model: Model) -> nodes.container:
        lines = [f"Taken for granted: {text}." for text in model.architecture.assumptions]
        if model.headline:
            printed = model.headline.provenance
            lines.append(f"Printed totals: {'; '.join([origin(printed), *printed.notes])}")
        return self._fact("model", model.name, model.name, model.provenance, lines)

    # --- drafters --------------------------------------------------------------------------------

    def _drafters(self) -> nodes.section:
        made = section("Drafters", "facts-drafters", self)
        made += paragraph(
            "A drafter's own parameters are stored beside the target's; what one pass with one "
            "token reads includes what it borrows from the target, such as the head."
        )
        made += bullets(
            ([nodes.strong("", kind), f": {meaning}"] for kind, meaning in DRAFTER_KINDS.items()),
            ["fact-kinds"],
        )
        header = (
            *("Drafter", "Kind", "Drafts for", "Own (10⁶)", "Read in a pass (10⁶)"),
            *("Tokens a pass", "Words"),
        )
        made += table(header, map(self._drafter_row, catalog.drafter_cards()), ["facts", "models"])
        made += [self._drafter(card) for card in catalog.drafter_cards()]
        return made

    def _drafter_row(self, card: DrafterCard) -> list[Cell]:
        link = nodes.reference("", card.name, internal=True, refid=address("drafter", card.name))
        sizes = (card.own_parameters, card.read_parameters)
        own, read = (grouped(round(size / 1e6, 1)) for size in sizes)
        words = NONE if card.vocabulary is None else grouped(card.vocabulary)
        each = NONE if card.block == 0 else str(card.block or 1)
        plain = [card.kind, ", ".join(card.targets) or "any", own, read, each, words]
        return [[link], *([text] for text in plain)]

    def _drafter(self, card: DrafterCard) -> nodes.container:
        lines = [f"Taken for granted: {text}." for text in card.assumptions]
        return self._fact("drafter", card.name, card.name, card.provenance, lines)

    # --- reference values ------------------------------------------------------------------------

    def _references(self) -> nodes.section:
        made = section("Published and measured values", "facts-references", self)
        made += paragraph("What others have stated or timed, for the chapters to hold against.")
        for reference in catalog.references():
            made += self._reference(reference)
        return made

    def _reference(self, reference: Reference) -> nodes.container:
        made = self._fact("reference", reference.meaning, reference.name, reference.provenance, [])
        if reference.constants:
            lines = (
                self._constant(keyword, datum, reference.provenance)
                for keyword, datum in reference.data.items()
            )
            made += bullets(lines, ["fact-constants"])
        if reference.columns:
            columns = reference.columns.values()
            units = [common_unit(column.values, column.unit) for column in columns]
            names = [
                column.meaning + (f" ({unit})" if unit != "1" else "")
                for column, (unit, _) in zip(columns, units, strict=True)
            ]
            scaled = (c.values / size for c, (_, size) in zip(columns, units, strict=True))
            numbers = list(zip(*scaled, strict=True))
            shown = numbers if len(numbers) <= LONGEST_TABLE else numbers[:FIRST_ROWS]
            rows = ([[grouped(number)] for number in row] for row in shown)
            made += table(names, rows, ["facts", "reference"])
            if len(shown) < len(numbers):
                left = len(numbers) - len(shown)
                made += paragraph(f"The record in the library has {left} more rows.")
        return made

    def _constant(self, keyword: str, datum: Datum, record: Provenance) -> Cell:
        known = SYMBOLS.get(keyword)
        name = math(known.latex) if known else nodes.literal("", keyword)
        own = remark(datum.provenance, record)
        own = f" ({own})" if own else ""
        meaning = f" {known.meaning}: " if known else ": "
        return [name, f"{meaning}{with_unit(datum.value, datum.unit)}{own}"]

    # --- what all have ---------------------------------------------------------------------------

    def _fact(
        self,
        kind: str,
        title: str,
        name: str,
        provenance: Provenance | None,
        lines: Iterable[str],
    ) -> nodes.container:
        label = address(kind, name)
        made = entry(label, "fact", self)
        made += paragraph(nodes.strong("", title), " ", here(label, title))
        if provenance is None:
            raise ValueError(f"{name} has no provenance; every fact of the catalogue has one")
        source = origin(provenance)
        made += paragraph(source[0].upper() + source[1:], classes=["fact-source"])
        notes = [*provenance.notes, *lines]
        if notes:
            made += bullets(([note] for note in notes), ["fact-notes"])
        return made


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("fact-tables", FactTables)
