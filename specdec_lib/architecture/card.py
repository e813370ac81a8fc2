"""DrafterCard: what drafts tokens for a model, as components with a pedigree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specdec_lib.architecture.components import Component
from specdec_lib.architecture.composed import Composed
from specdec_lib.records.provenance import Provenance

#: The kinds of drafters, and how each works.
DRAFTER_KINDS: Mapping[str, str] = {
    "eagle3": "one layer on hidden states of the target, one token a pass, a vocabulary of its own",
    "mtp": "a module of the target trained with it, one token a pass",
    "dflash": "a few layers that draft a block of tokens in one pass",
    "dspark": "the same with a correction between neighbouring tokens",
    "medusa": "several heads on the target's last hidden state, one token each, all in one pass",
    "model": "a smaller model of its own, one token a pass",
    "ngram": "a look-up in the text so far, without weights",
}


@dataclass(frozen=True)
class DrafterCard(Composed):
    """A drafter.

    Parameters
    ----------
    name, aliases
        What it is called.
    kind
        One of :data:`DRAFTER_KINDS`.
    targets
        Names of the models that it drafts for; empty for one that drafts for any.
    components
        Its parts, counted, those that it borrows from its target among them: a pass reads them.
    block
        Tokens that one pass drafts; None for one token a pass, 0 where there is no pass.
    vocabulary
        Words that it can draft; None where it has no vocabulary.
    provenance
        Where this comes from.
    assumptions
        What its configuration left open and how it was filled.
    """

    name: str
    kind: str
    targets: tuple[str, ...]
    components: tuple[Component, ...]
    block: int | None
    vocabulary: int | None
    provenance: Provenance
    aliases: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def own_parameters(self) -> int:
        """Parameters stored beside those of the target."""
        return sum(part.parameters for part in self.weights)

    @property
    def read_parameters(self) -> int:
        """Parameters that one pass with one token reads, borrowed ones included; embeddings are
        looked up and not read."""
        return sum(part.read_parameters for part in self.weights)

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes that a context token adds to the drafter's own cache, as it is served."""
        return sum(core.layers * core.token_bytes() for core in self.attention)

    def passes(self, gamma: int) -> int:
        """Passes that it takes to draft ``gamma`` tokens, 0 for none; ValueError below 0.

        A parallel drafter takes one pass for every block.
        """
        if gamma < 0:
            raise ValueError(f"gamma = {gamma}: a draft has 0 or more tokens")
        if self.block == 0:
            return 0
        return -(-gamma // (self.block or 1))
