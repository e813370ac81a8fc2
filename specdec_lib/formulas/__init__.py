"""Every equation of the book, one module a topic; nothing here computes, plots or reads data."""

from __future__ import annotations

from specdec_lib.formula import Formula
from specdec_lib.formulas import (
    acceptance,
    adapting,
    attention,
    communication,
    counting,
    drafters,
    engine,
    experts,
    locality,
    price,
    published,
    roofline,
    sharing,
    speculation,
    weights,
)

__all__ = [
    "acceptance",
    "adapting",
    "all_formulas",
    "attention",
    "communication",
    "counting",
    "drafters",
    "engine",
    "experts",
    "locality",
    "price",
    "published",
    "roofline",
    "sharing",
    "speculation",
    "weights",
]


def all_formulas() -> dict[str, Formula]:
    """Every module-level Formula as ``{"module.name": Formula}``, in the order of the book."""
    layers = (roofline, weights, experts, locality, attention, sharing)
    step = (engine, communication, price)
    order = (*layers, *step, drafters, acceptance, speculation, counting, adapting, published)
    found: dict[str, Formula] = {}
    for module in order:
        topic = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            new = isinstance(value, Formula) and all(value is not known for known in found.values())
            if new and not name.startswith("_"):
                found[f"{topic}.{name}"] = value
    return found
