"""Drafting heads: EAGLE-3, DFlash, DSpark and Medusa, their configurations as components.

A head shares the embedding of its target.  EAGLE-3 scores a vocabulary of its own; the others use
the target's head, which is then a component that is read and not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from specdec_lib.architecture import deepseek_v4, plain
from specdec_lib.architecture.components import Component, Weights, count
from specdec_lib.architecture.fields import Fields
from specdec_lib.architecture.precision import precision
from specdec_lib.architecture.quantization import read_quantization
from specdec_lib.architecture.stack import assemble
from specdec_lib.architecture.traits import TRAITS
from specdec_lib.formulas import drafters, weights

#: Hidden states of three layers of the target enter an EAGLE-3 head.
_EAGLE_FEATURES = 3
#: Norms of an EAGLE-3 layer: of embedding, hidden state, attended state and output.
_EAGLE_NORMS = 4


class Head(NamedTuple):
    """A drafting head as read: its components, the tokens that one pass drafts (None for one token
    a pass), the words that it can draft, and what was assumed."""

    components: tuple[Component, ...]
    block: int | None
    vocabulary: int
    assumptions: tuple[str, ...]


def read_head(kind: str, config: Mapping[str, Any], origin: str) -> Head:
    """Read the configuration of a head of this kind, "eagle3", "dflash", "dspark" or "medusa".

    Raises ConfigError for what cannot be read, ValueError for another kind.
    """
    if kind not in _READERS:
        raise ValueError(f"no head of kind {kind!r}; kinds are {', '.join(_READERS)}")
    fields = Fields(config, origin)
    fields.skip("model_type", "architectures", "max_window_layers", "num_target_layers")
    components, block, vocabulary = _READERS[kind](fields)
    fields.leftovers()
    return Head(components, block, vocabulary, tuple(fields.assumptions))


_Read = tuple[tuple[Component, ...], int | None, int]


def _eagle3(fields: Fields) -> _Read:
    """One layer whose attention reads embedding and hidden state side by side."""
    hidden = fields.integer("hidden_size")
    fields.only("num_hidden_layers", 1, "an EAGLE-3 head has one layer")
    fields.only("target_hidden_size", hidden, "a target of the head's own width")
    fields.only("tie_word_embeddings", False, "the head scores words of its own")
    attention = plain.full_attention(fields, TRAITS["llama"], hidden)
    width, words = fields.integer("intermediate_size"), fields.integer("draft_vocab_size")
    fields.skip("vocab_size", "sliding_window", "use_sliding_window", "decoder_sparse_step")
    form = read_quantization(fields).at("attn_proj")
    heads = {"n_h": attention.n_h, "n_kv": attention.n_kv, "d": attention.d}
    features = count(drafters.feature_projection, features=_EAGLE_FEATURES, H=hidden)
    paired = count(drafters.paired_projection, H=hidden, **heads)
    core = attention.core(1)
    norms = count(weights.layer_norms, norms=_EAGLE_NORMS, H=hidden)
    return (
        (
            Weights("draft", 1, features, 0, form),
            Weights("attn_proj", 1, paired, attention.vectors, form),
            core,
            Weights("dense_ffn", 1, count(weights.gated_ffn, H=hidden, H_ff=width), 0, form),
            Weights("other", 1, 0, norms, precision("bf16")),
            Weights("head", 1, count(weights.vocabulary_matrix, V=words, H=hidden), 0, form),
        ),
        None,
        words,
    )


def _dflash(fields: Fields) -> _Read:
    """Layers that draft a whole block in one pass, from hidden states of the target."""
    stack = plain.read(fields, TRAITS["qwen3"])
    settings = _within(fields, "dflash_config")
    components, _ = assemble(stack, read_quantization(fields))
    sources = settings.integers("target_layer_ids")
    block, words = fields.integer("block_size"), fields.integer("vocab_size")
    return (
        (
            _features(stack.hidden, len(sources)),
            *components,
            _borrowed_head(words, stack.hidden),
        ),
        block,
        words,
    )


def _dspark(fields: Fields) -> _Read:
    """DFlash with a correction between neighbours; of DeepSeek-V4's own layers where the
    configuration is that of a DeepSeek-V4."""
    if fields.has("dspark_block_size"):
        return _dspark_stages(fields)
    components, block, words = _dflash(fields)
    settings = _within(fields, "dflash_config")
    rank, hidden = settings.integer("markov_rank"), fields.integer("hidden_size")
    sure = settings.flag("enable_confidence_head", default=False, because="no confidence head")
    return (*components, *_correction(hidden, words, rank, sure=sure, biased=True)), block, words


def _dspark_stages(fields: Fields) -> _Read:
    """One layer with its own window for each hidden state of the target that enters."""
    sources = fields.integers("dspark_target_layer_ids")
    stack = deepseek_v4.read_stages(fields, len(sources))
    components, _ = assemble(stack, read_quantization(fields))
    words, rank = fields.integer("vocab_size"), fields.integer("dspark_markov_rank")
    fields.skip("num_hidden_layers", "num_nextn_predict_layers", "compress_ratios")
    fields.skip("tie_word_embeddings")
    return (
        (
            _features(stack.hidden, len(sources)),
            *components,
            _borrowed_head(words, stack.hidden),
            *_correction(stack.hidden, words, rank, sure=True, biased=False),
        ),
        fields.integer("dspark_block_size"),
        words,
    )


def _medusa(fields: Fields) -> _Read:
    """Heads that each draft one token from the target's last hidden state, all in one pass."""
    hidden, words = fields.integer("hidden_size"), fields.integer("vocab_size")
    heads = fields.integer("medusa_num_heads")
    fields.only("medusa_num_layers", 1, "one residual block a head")
    form = read_quantization(fields).at("attn_proj")
    block = count(drafters.residual_block, H=hidden)
    scores = count(weights.vocabulary_matrix, V=words, H=hidden)
    return (
        (
            Weights("draft", heads, block, hidden, form),
            Weights("head", heads, scores, 0, form),
        ),
        heads,
        words,
    )


def _within(fields: Fields, name: str) -> Fields:
    found = fields.get(name)
    if found is None or not isinstance(found[1], Mapping):
        raise fields.error(name, found and found[1], "a table of settings")
    return fields.within(name, found[1])


def _features(hidden: int, sources: int) -> Weights:
    """The projection of the target's hidden states, with a norm."""
    matrix = count(drafters.feature_projection, features=sources, H=hidden)
    return Weights("draft", 1, matrix, hidden, precision("bf16"))


def _borrowed_head(words: int, hidden: int) -> Weights:
    """The target's own head: read, not stored."""
    matrix = count(weights.vocabulary_matrix, V=words, H=hidden)
    return Weights("head", 1, matrix, 0, precision("bf16"), stored=False)


def _correction(
    hidden: int, words: int, rank: int, *, sure: bool, biased: bool
) -> tuple[Component, ...]:
    """The two matrices between neighbours, of which one is looked up, and how sure the head is."""
    form = precision("bf16")
    pair = count(drafters.pair_bias, rank=rank, V=words)
    looked_up, scored = Weights("embedding", 1, pair, 0, form), Weights("draft", 1, pair, 0, form)
    if not sure:
        return looked_up, scored
    matrix = count(drafters.confidence_matrix, H=hidden, rank=rank)
    return looked_up, scored, Weights("draft", 1, matrix, int(biased), form)


_READERS: Mapping[str, Callable[[Fields], _Read]] = {
    "eagle3": _eagle3,
    "dflash": _dflash,
    "dspark": _dspark,
    "medusa": _medusa,
}
