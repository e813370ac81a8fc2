"""Precisions: how many bytes a weight takes and at which peak rate it is computed with.

The format of the weights alone does not say the rate: MXFP4 weights met by FP8 activations run at
the FP8 rate, met by 16-bit activations at the bf16 rate.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from specdec_lib.formulas.weights import block_scaled_bytes


@dataclass(frozen=True)
class Precision:
    """A storage format of weights with the activations that meet it.

    ``bits`` a weight, ``scale_bits`` shared by every ``block`` weights (zero points and minima
    included); ``peak`` is the precision whose peak rate rules: "bf16", "fp8", "fp4" or "int8".
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


def _grouped(bits: int, group: int, zero: bool) -> Precision:
    """Whole numbers with one 16-bit scale, and a zero point if any, for each group of weights; a
    group of 0 is a whole column, whose scale does not count."""
    name = f"int{bits}-g{group}" + ("-zero" if zero else "")
    scales = 0 if group == 0 else 16 + (bits if zero else 0)
    points = ", a zero point beside the scale" if zero else ""
    column = f"{bits}-bit whole numbers, one scale a column, 16-bit activations"
    groups = f"{bits}-bit whole numbers in groups of {group}{points}, 16-bit activations"
    return Precision(name, "bf16", bits, scales, group or 1, groups if group else column)


#: Every precision by name.  Whole numbers in groups of another size are named like int4-g32, those
#: with a zero point like int4-g32-zero.
PRECISIONS: Mapping[str, Precision] = {
    known.name: known
    for known in (
        Precision("bf16", "bf16", 16, 0, 1, "16-bit floating point, bf16 or fp16"),
        # scales of 128 × 128 blocks, 4 bytes for 16 384 weights, are not counted
        Precision("fp8", "fp8", 8, 0, 1, "8-bit floating point, activations too"),
        Precision("fp8-w8a16", "bf16", 8, 0, 1, "8-bit floating point, 16-bit activations"),
        Precision("mxfp4-w4a8", "fp8", 4, 8, 32, "MXFP4 weights, 8-bit activations"),
        Precision("mxfp4-w4a16", "bf16", 4, 8, 32, "MXFP4 weights, 16-bit activations"),
        Precision("nvfp4", "fp4", 4, 8, 16, "NVFP4 weights and activations"),
        Precision("nvfp4-w4a16", "bf16", 4, 8, 16, "NVFP4 weights, 16-bit activations"),
        Precision("int8-w8a8", "int8", 8, 0, 1, "8-bit whole numbers, activations too"),
        _grouped(8, 0, zero=False),
        _grouped(4, 128, zero=False),
        _grouped(4, 128, zero=True),
        # llama.cpp: blocks of ggml-common.h in bits, and computed with at 16 bits
        Precision("q8_0", "bf16", 8, 16, 32, "llama.cpp Q8_0: 34 bytes for 32 weights"),
        Precision("q6_k", "bf16", 6, 144, 256, "llama.cpp Q6_K: 210 bytes for 256 weights"),
        Precision("q5_k", "bf16", 5, 128, 256, "llama.cpp Q5_K: 176 bytes for 256 weights"),
        Precision("q4_k", "bf16", 4, 128, 256, "llama.cpp Q4_K: 144 bytes for 256 weights"),
        Precision("q4_0", "bf16", 4, 16, 32, "llama.cpp Q4_0: 18 bytes for 32 weights"),
    )
}

#: Short names that leave the group to custom.
_SHORT: Mapping[str, str] = {"int4": "int4-g128", "int8": "int8-g0"}

#: Bytes of one element of a cache or of a query, without scales, by format: b_kv and b_q.
ELEMENT_BYTES: Mapping[str, float] = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0, "fp4": 0.5}


def precision(name: str) -> Precision:
    """The precision of this name, in any case; ValueError naming those there are, TypeError for
    what is no text.

    "int4" is in groups of 128, "int8" by columns.

    >>> precision("mxfp4-w4a8").bytes
    0.53125
    >>> precision("int4-g32").bytes
    0.5625
    """
    if not isinstance(name, str):
        raise TypeError(f"a precision is found by its name, a text such as 'fp8', not by {name!r}")
    wanted = _SHORT.get(name.casefold(), name.casefold())
    if wanted in PRECISIONS:
        return PRECISIONS[wanted]
    grouped = re.fullmatch(r"int([48])-g(\d+)(-zero)?", wanted)
    if grouped is None:
        known = ", ".join((*_SHORT, *PRECISIONS))
        raise ValueError(f"no precision {name!r}; there are {known}, and int4-g32 and the like")
    bits, group, zero = grouped.groups()
    return _grouped(int(bits), int(group), zero=zero is not None)


def element_bytes(name: str) -> float:
    """Bytes of a cache or query element of this format; ValueError naming those there are."""
    if name not in ELEMENT_BYTES:
        raise ValueError(f"no element format {name!r}; there are {', '.join(ELEMENT_BYTES)}")
    return ELEMENT_BYTES[name]
