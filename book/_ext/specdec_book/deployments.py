"""The section of the fact page on deployments: what real engines add to the roofline."""

from __future__ import annotations

from collections.abc import Mapping

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from specdec_book.build_nodes import bullets, entry, here, paragraph, section, table
from specdec_book.numbers import with_unit
from specdec_book.records import Cell, origin, remark, value_cell
from specdec_lib.catalog import Datum, Provenance
from specdec_lib.deployment import defaults
from specdec_lib.deployment.defaults import DEFAULT, RESOURCES
from specdec_lib.records.names import bare

#: What a fixed value is, by its group and name; the other names are kinds of layers and engines.
MEANINGS: Mapping[str, str] = {
    "step": "fixed time of a step",
    "pass": "fixed time of a drafter's pass",
    "collective": "latency of an exchange between devices",
    "token": "time of a token in a layer, beside its work",
    "tile": "query rows in a tile of a kernel whose heads share a cache entry",
    "eager": "factor on the fixed times beyond the captured graphs",
    "memory_share": "share of the memory that weights and cache may fill",
    "dense_ffn": "dense feed-forward",
    "moe": "mixture of experts",
    DEFAULT: "any other attention",
}
#: How the groups of fixed values are headed.
GROUPS: Mapping[str, str] = {
    "times": "Times",
    "layers": "Fixed time of one layer, by its kind",
    "rounds": "Fixed time of a round of drafting, by engine",
    "numbers": "Other numbers",
}
#: The columns of the table: a precision of the weights' arithmetic, or a component of the step.
COLUMNS: tuple[tuple[str, str], ...] = (
    *((key, key) for key in ("bf16", "fp8", "fp4")),
    ("moe", "experts"),
    ("attn_core", "attention core"),
    (DEFAULT, "others"),
)


def deployments(directive: SphinxDirective) -> nodes.section:
    """What ``Deployment.typical`` assumes, each value with its source."""
    made = section("Deployments", "facts-deployments", directive)
    made += paragraph(
        "What a typical deployment adds to the ideal engine, as ",
        nodes.literal("", "Deployment.typical"),
        " takes it where the caller says nothing else. The fixed times are sizes that meet "
        "published step times within tens of per cent, not fits to them; one measured step time "
        "of your own replaces them.",
    )
    made += _fixed(directive)
    made += paragraph(
        "Fractions of the bandwidth (memory) and of the peak rate (compute) that are reached, by "
        "the precision of the arithmetic or by the part of the step. Values in ",
        nodes.emphasis("", "italics"),
        " are assumed; where a cell is empty, the default ones hold.",
    )
    header = ["Accelerator", *(f"{r}: {name}" for r in RESOURCES for _, name in COLUMNS)]
    made += table(header, map(_row, defaults().efficiencies), ["facts"])
    made += [_efficiency(name, directive) for name in defaults().efficiencies]
    return made


def _fixed(directive: SphinxDirective) -> nodes.container:
    """The fixed times and other numbers, with the source that most of them share."""
    common = defaults().times["step"].provenance
    made = _entry("Fixed times", "deployment-fixed", common, directive)
    for group, heading in GROUPS.items():
        data: Mapping[str, Datum] = getattr(defaults(), group)
        made += paragraph(heading)
        lines = [_line(name, datum, common) for name, datum in data.items()]
        made += bullets(lines, ["fact-notes"])
    return made


def _line(name: str, datum: Datum, common: Provenance) -> Cell:
    shared = Provenance(common.source, common.kind, common.retrieved, common.confidence)
    own = remark(_without(datum.provenance, common), shared)
    value = with_unit(datum.value, datum.unit)
    return [f"{MEANINGS.get(name, name)}: {value}" + (f" ({own})" if own else "")]


def _without(provenance: Provenance, common: Provenance) -> Provenance:
    """A provenance less the notes that the whole record has."""
    notes = tuple(note for note in provenance.notes if note not in common.notes)
    return Provenance(
        provenance.source, provenance.kind, provenance.retrieved, provenance.confidence, notes
    )


def _row(name: str) -> list[Cell]:
    own = defaults().efficiencies[name]
    link = nodes.reference("", _named(name), internal=True, refid=_address(name))
    cells = [
        value_cell(own[resource].get(key), 1.0) for resource in RESOURCES for key, _ in COLUMNS
    ]
    return [[link], *cells]


def _efficiency(name: str, directive: SphinxDirective) -> nodes.container:
    """One accelerator's fractions: their source, and what single ones say beside it."""
    data = {
        f"{r}, {key}": d
        for r, own in defaults().efficiencies[name].items()
        for key, d in own.items()
    }
    record = next(iter(data.values())).provenance
    made = _entry(_named(name), _address(name), record, directive)
    lines = [
        (key, remark(_without(datum.provenance, record), record)) for key, datum in data.items()
    ]
    said = [[f"{key}: {text}"] for key, text in lines if text]
    if said:
        made += bullets(said, ["fact-notes"])
    return made


def _named(name: str) -> str:
    return "default" if name == DEFAULT else name


def _address(name: str) -> str:
    return f"deployment-{bare(name)}"


def _entry(
    title: str, label: str, provenance: Provenance, directive: SphinxDirective
) -> nodes.container:
    made = entry(label, "fact", directive)
    made += paragraph(nodes.strong("", title), " ", here(label, title))
    source = origin(provenance)
    made += paragraph(source[0].upper() + source[1:], classes=["fact-source"])
    if provenance.notes:
        made += bullets(([note] for note in provenance.notes), ["fact-notes"])
    return made
