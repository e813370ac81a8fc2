"""Parse: a configuration to an Architecture, by the reader of its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specdec_lib.architecture import compressed, grouped, latent
from specdec_lib.architecture.architecture import Architecture
from specdec_lib.architecture.components import Layers, Weights, count
from specdec_lib.architecture.fields import ConfigError, Fields
from specdec_lib.architecture.quantization import Quantization, read_quantization
from specdec_lib.formulas import weights

Reader = Callable[[Fields, Quantization], Layers]

#: The reader of each ``model_type``.
READERS: Mapping[str, Reader] = {
    **{name: partial(grouped.read, traits=traits) for name, traits in grouped.TRAITS.items()},
    **dict.fromkeys(latent.FAMILIES, latent.read),
    **dict.fromkeys(compressed.FAMILIES, compressed.read),
}

#: What every configuration must state.
REQUIRED: tuple[str, ...] = (
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "vocab_size",
)


def parse(
    config: Mapping[str, Any],
    origin: str,
    precision: str | Mapping[str, str] | None = None,
) -> Architecture:
    """Read a configuration.

    ``origin`` names it in errors; ``precision`` overrides what it states or leaves unreadable (see
    :func:`~specdec_lib.architecture.quantization.read_quantization`).  Raises ConfigError.
    """
    fields = Fields(config, origin)
    family = str(config.get("model_type", ""))
    if family and family not in READERS:
        raise ConfigError(
            f"{origin}: model_type {family!r} is not read yet; read: {', '.join(READERS)}"
        )
    fields.require(*REQUIRED)
    fields.skip("model_type")
    quantization = read_quantization(fields, precision)
    components, experts = READERS[family](fields, quantization)
    tied = fields.flag(
        "tie_word_embeddings", default=False, because="embedding and head are two matrices"
    )
    modules = fields.get("num_nextn_predict_layers")
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    vocabulary = fields.integer("vocab_size")
    matrix = count(weights.vocabulary_matrix, V=vocabulary, H=hidden)
    ends = (
        Weights("embedding", 1, matrix, 0, quantization["embedding"]),
        Weights("head", 1, matrix, 0, quantization["head"], stored=not tied),
    )
    norms = (
        Weights("other", layers, 0, count(weights.layer_norms, H=hidden), quantization["other"]),
        Weights("other", 1, 0, hidden, quantization["other"]),
    )
    mtp = fields.integer("num_nextn_predict_layers", low=0) if modules else 0
    fields.leftovers()
    return Architecture(
        family=family,
        hidden_size=hidden,
        layers=layers,
        vocabulary=vocabulary,
        components=(ends[0], *components, ends[1], *norms),
        experts=experts,
        tied=tied,
        mtp_modules=mtp,
        assumptions=tuple(fields.assumptions),
    )
