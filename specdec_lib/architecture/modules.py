"""Modules: the names under which checkpoints keep a component's matrices, and patterns over them.

A quantization block says by such patterns what it leaves at 16 bits.  They come in four dialects:
a dotted part of a name (``self_attn``, ``model.layers.0.mlp``), the same with stars, a regular
expression behind ``re:``, and one behind ``-:``.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

#: The matrices of a component within a layer, or of the whole model, by each way of naming them.
Styles = tuple[tuple[str, ...], ...]


def _projections(path: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{path}.{name}" for name in names)


_GATED = ("gate_proj", "up_proj", "down_proj")
_NUMBERED = ("w1", "w2", "w3")

MODULES: Mapping[str, Styles] = {
    "embedding": (("embed_tokens",), ("embed",), ("embeddings",)),
    "head": (("lm_head",), ("head",)),
    "router": (
        ("mlp.gate",),
        ("mlp.router",),
        ("block_sparse_moe.gate",),
        ("feed_forward.router",),
        ("ffn.gate",),
        ("mixer.gate",),
    ),
    "moe": (
        _projections("mlp.experts.0", *_GATED),
        _projections("mlp.experts", "gate_up_proj", "down_proj"),
        _projections("block_sparse_moe.experts.0", *_NUMBERED),
        _projections("feed_forward.experts", "gate_up_proj", "down_proj"),
        _projections("ffn.experts.0", *_NUMBERED),
        _projections("mixer.experts.0", "up_proj", "down_proj"),
    ),
    "shared": (
        _projections("mlp.shared_experts", *_GATED),
        _projections("mlp.shared_expert", *_GATED),
        _projections("feed_forward.shared_expert", *_GATED),
        _projections("ffn.shared_experts", *_NUMBERED),
        _projections("mixer.shared_experts", "up_proj", "down_proj"),
    ),
    "dense_ffn": (
        _projections("mlp", *_GATED),
        _projections("mlp", "gate_up_proj", "down_proj"),
        _projections("feed_forward", *_GATED),
        _projections("ffn", *_NUMBERED),
        _projections("mixer", "up_proj", "down_proj"),
    ),
}

GROUPED: Styles = (
    _projections("self_attn", "q_proj", "k_proj", "v_proj", "o_proj"),
    _projections("self_attn", "qkv_proj", "o_proj"),
    _projections("attn", "q_proj", "k_proj", "v_proj", "o_proj"),
    _projections("mixer", "q_proj", "k_proj", "v_proj", "o_proj"),
)
LATENT: Styles = (
    _projections("self_attn", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"),
    _projections("self_attn", "q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"),
    _projections("attn", "wq_a", "wq_b", "wkv", "wo_a", "wo_b"),
)
LINEAR: Styles = (
    _projections("linear_attn", "in_proj_qkvz", "out_proj"),
    _projections("linear_attn", "in_proj_qkv", "in_proj_z", "out_proj"),
    _projections("self_attn", "q_proj", "k_proj", "v_proj", "o_proj"),
    _projections("mixer", "in_proj", "out_proj"),
)

#: What stands before the layers of the language model.
_PATH = re.compile(r"^((model|language_model|text_model|transformer|backbone)\.)+")

#: Parts of a name that say that a pattern means nothing which is counted by component: other
#: towers, modules of multi-token prediction, norms and the like.
_OUTSIDE = re.compile(
    r"visual|vision|audio|mm_proj|multi_modal|projector|merger|mtp|nextn|eh_proj|shared_head|norm|"
    r"conv|bias|sink|a_log|dt_|rotary|scale"
)
#: Matrices too small to count apart from the component that they belong to.
_SMALL = re.compile(
    r"in_proj_(a|b|ba)\b|shared_expert_gate|indexer|compressor|weights_proj|\.b_proj"
)


def full_names(
    styles: Styles, where: Sequence[int], *, draft: bool = False
) -> Iterator[tuple[str, ...]]:
    """The full names of the matrices, for each way of naming them: in the layers ``where``, or in
    the model where that is empty.  A module for multi-token prediction (``draft``) may count as a
    layer beyond the last, or stand by itself."""
    if not where:
        yield from styles
        return
    paths = [f"layers.{layer}" for layer in where]
    for style in styles:
        yield tuple(f"{path}.{name}" for path in paths for name in style)
        if draft:
            yield tuple(f"mtp.layers.0.{name}" for name in style)


def _bare(text: str) -> str:
    """A pattern without the path of the language model, and without a dot at its end."""
    return _PATH.sub("", text.rstrip("."))


class Pattern:
    """One entry of a quantization block's lists; ``met`` turns true when it fits a name.

    ``text`` is the entry as it stands there.  Raises re.error for a broken regular expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.met = False
        self._regex: re.Pattern[str] | None = None
        self._part = ""
        self._heads: tuple[str, ...] = ()
        if text[:3] == "re:" or text[:2] == "-:":
            self._regex = re.compile(text.partition(":")[2])
            self._heads = ("model.", "", "language_model.model.", "model.language_model.")
        elif "*" in text or "?" in text:
            self._regex = re.compile(fnmatch.translate(_bare(text)))
            self._heads = ("model.",) if text.startswith("*") else ("",)
        else:
            self._part = f".{_bare(text)}."

    def fits(self, name: str) -> bool:
        """Whether a matrix of this full name, or a module that holds it, is meant."""
        found = f".{name}.".find(self._part) >= 0 if self._regex is None else self._matches(name)
        self.met = self.met or found
        return found

    def _matches(self, name: str) -> bool:
        assert self._regex is not None
        holders = list(itertools.accumulate(name.split("."), "{}.{}".format))
        names = [head + holder for head in self._heads for holder in holders]
        return any(self._regex.match(candidate) for candidate in names)

    @property
    def outside(self) -> bool:
        """Whether it means something that no component holds."""
        return bool(_OUTSIDE.search(self.text.casefold()))

    @property
    def small(self) -> bool:
        """Whether it means a matrix too small to count apart."""
        return bool(_SMALL.search(self.text.casefold()))
