"""Parameters of drafting heads: the Formulas against matrices laid out by shape."""

from __future__ import annotations

import math

import pytest

from specdec_lib.formula import Formula
from specdec_lib.formulas import drafters, weights

#: Shapes of every matrix, as the heads of Llama-3.1-8B, Qwen3-8B and Vicuna-7B have them.
SHAPES: dict[str, tuple[dict[str, int], list[tuple[int, ...]]]] = {
    "feature_projection": ({"features": 5, "H": 4096}, [(4096, 5 * 4096)]),
    "paired_projection": (
        {"H": 4096, "n_h": 32, "n_kv": 8, "d": 128},
        [(4096, 2 * 4096), (1024, 2 * 4096), (1024, 2 * 4096), (4096, 4096)],
    ),
    "pair_bias": ({"rank": 256, "V": 151936}, [(151936, 256)]),
    "confidence_matrix": ({"H": 4096, "rank": 256}, [(1, 4096 + 256)]),
    "residual_block": ({"H": 4096}, [(4096, 4096)]),
}


def formulas_here() -> dict[str, Formula]:
    return {name: f for name, f in vars(drafters).items() if isinstance(f, Formula)}


@pytest.mark.parametrize("name", SHAPES)
def test_counts_every_element_of_every_matrix(name: str) -> None:
    sizes, shapes = SHAPES[name]
    assert formulas_here()[name](**sizes) == sum(math.prod(shape) for shape in shapes)


def test_every_formula_of_drafters_is_tested() -> None:
    assert set(formulas_here()) == set(SHAPES)


def test_a_paired_layer_reads_twice_what_a_plain_one_does() -> None:
    """All but the output matrix is doubled."""
    size = {"H": 4096, "n_h": 32, "n_kv": 8, "d": 128}
    plain, paired = weights.grouped_projection(**size), drafters.paired_projection(**size)
    assert paired - plain == plain - 4096 * 4096
