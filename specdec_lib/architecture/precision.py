"""Precisions: how many bytes a weight takes and at which peak rate it is computed with.

The format of the weights alone does not say the rate: MXFP4 weights met by FP8 activations run at
the FP8 rate, met by 16-bit activations at the bf16 rate.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from specdec_lib.formulas.weights import block_scaled_bytes


@dataclass(frozen=True)
class Precision:
    """A storage format of weights with the activations that meet it.

    ``bits`` a weight, ``scale_bits`` shared by every ``block`` weights; ``peak`` is the precision
    whose peak rate rules: "bf16", "fp8" or "fp4".
    """

    name: str
    peak: str
    bits: int
    scale_bits: int
    block: int
    meaning: str

    @functools.cached_property
    def bytes(self) -> float:
        """Bytes per weight, scales included: the symbol b."""
        return float(
            block_scaled_bytes(bits=self.bits, scale_bits=self.scale_bits, block=self.block)
        )


#: Every precision by name.
PRECISIONS: Mapping[str, Precision] = {
    known.name: known
    for known in (
        Precision("bf16", "bf16", 16, 0, 1, "16-bit floating point, bf16 or fp16"),
        # scales of 128 × 128 blocks, 4 bytes for 16 384 weights, are not counted
        Precision("fp8", "fp8", 8, 0, 1, "8-bit floating point, activations too"),
        Precision("mxfp4-w4a8", "fp8", 4, 8, 32, "MXFP4 weights, 8-bit activations"),
        Precision("mxfp4-w4a16", "bf16", 4, 8, 32, "MXFP4 weights, 16-bit activations"),
        Precision("nvfp4", "fp4", 4, 8, 16, "NVFP4 weights and activations"),
    )
}

#: Bytes of one element of a cache or of a query, without scales, by format: b_kv and b_q.
ELEMENT_BYTES: Mapping[str, float] = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0, "fp4": 0.5}


def precision(name: str) -> Precision:
    """The precision of this name; ValueError naming those there are.

    >>> precision("mxfp4-w4a8").bytes
    0.53125
    """
    if name not in PRECISIONS:
        raise ValueError(f"no precision {name!r}; there are {', '.join(PRECISIONS)}")
    return PRECISIONS[name]


def element_bytes(name: str) -> float:
    """Bytes of a cache or query element of this format; ValueError naming those there are."""
    if name not in ELEMENT_BYTES:
        raise ValueError(f"no element format {name!r}; there are {', '.join(ELEMENT_BYTES)}")
    return ELEMENT_BYTES[name]
