"""The kinds of drafters, as one calls them, and how to find one by name."""

from __future__ import annotations

import re
from typing import Literal

from specdec_lib import catalog
from specdec_lib.architecture import DrafterCard, Model
from specdec_lib.deployment import Deployment
from specdec_lib.drafters import shape
from specdec_lib.drafters.draft import Drafter
from specdec_lib.drafters.fraction import Fraction
from specdec_lib.drafters.lookup import Lookup
from specdec_lib.drafters.passes import PassDrafter

Split = int | Literal["target"]

#: A number as a user writes one; float() would also read 1_0 and other alphabets' digits.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

_SERIAL = ("eagle3", "mtp")
_BLOCK = ("dflash", "dspark", "medusa")


def fraction(c: float) -> Fraction:
    """A drafter that costs ``c`` of a plain step C(B, 1, S) for each drafted token.

    Raises DomainError for a negative fraction, TypeError for what is no number.

    >>> fraction(0.10)
    fraction(0.1)
    """
    return Fraction(c)


def ngram(host: float = 0.0) -> Lookup:
    """A look-up in the text so far: no model, and ``host`` seconds a round beside the
    deployment's own for a round.

    Raises DomainError for a negative time.
    """
    return Lookup(host)


def autoregressive(
    card: DrafterCard | str,
    *,
    tp: Split = 1,
    vocabulary: int | None = None,
    deployment: Deployment | None = None,
) -> PassDrafter:
    """A head that drafts one token a pass: EAGLE-3, or a module for multi-token prediction.

    Its γ passes follow one another; each reads the head's weights, its own cache of the whole
    context, and scores its vocabulary.

    Parameters
    ----------
    card
        A drafter's card, or its name.
    tp
        Devices that split it; one, as engines have it unless told otherwise.  "target" splits it
        as the target is.
    vocabulary
        Words that it scores, where engines leave out the rare ones.
    deployment
        How it is served, where its kernels or fixed times are not the target's; it then rules, and
        ``tp`` does not.

    Raises ValueError for a card of another kind, UnknownName for an unknown name.
    """
    known = _card(card, _SERIAL, "drafts one token a pass")
    return PassDrafter(
        known.name,
        lambda target: shape.of_card(known, target),
        tp=tp,
        vocabulary=vocabulary,
        deployment=deployment,
    )


def mtp(
    *, tp: Split = 1, vocabulary: int | None = None, deployment: Deployment | None = None
) -> PassDrafter:
    """The target's own module for multi-token prediction, applied to its own output for as many
    tokens as wanted; parameters as for :func:`autoregressive`."""
    return PassDrafter(
        "the target's own module",
        shape.own_module,
        tp=tp,
        vocabulary=vocabulary,
        deployment=deployment,
    )


def eagle1(
    *, tp: Split = 1, vocabulary: int | None = None, deployment: Deployment | None = None
) -> PassDrafter:
    """An EAGLE head of the first kind: one layer of a dense target's own and the target's whole
    head; parameters as for :func:`autoregressive`."""
    return PassDrafter(
        "EAGLE head", shape.first_eagle, tp=tp, vocabulary=vocabulary, deployment=deployment
    )


def block(
    card: DrafterCard | str, *, tp: Split = 1, deployment: Deployment | None = None
) -> PassDrafter:
    """A drafter of whole blocks: DFlash and DSpark, or the heads of Medusa.

    One pass computes all positions of its block, however many of them are verified; a draft is at
    most a block.  Raises ValueError for a card of another kind, UnknownName for an unknown name.
    """
    known = _card(card, _BLOCK, "drafts a block a pass")
    return PassDrafter(
        known.name, lambda target: shape.of_card(known, target), tp=tp, deployment=deployment
    )


def independent(
    model: Model | str, *, tp: Split = 1, deployment: Deployment | None = None
) -> PassDrafter:
    """A model of its own that drafts one token a pass, with a cache of its own.

    Where its active bytes are near the target's, the result carries a warning.  Raises TypeError
    for what is no model, UnknownName for an unknown name.
    """
    known = catalog.model(model) if isinstance(model, str) else model
    if not isinstance(known, Model):
        raise TypeError(f"an independent drafter is a Model or the name of one, not {model!r:.60}")
    return PassDrafter(known.name, lambda _: shape.of_model(known), tp=tp, deployment=deployment)


def named(name: str, target: Model | None = None, *, tp: Split = 1) -> Drafter:
    """The drafter of a name.

    Parameters
    ----------
    name
        "fraction:0.10"; "mtp", "eagle1" or "ngram" for any target; a kind, such as "eagle3" or
        "dflash", for the card of that kind that the catalogue has for the target; or the name of
        a card or of a model.
    target
        The model to draft for; a kind needs it.
    tp
        As for :func:`autoregressive`.

    Raises UnknownName, listing near ones, for a name that is none of these, ValueError where the
    catalogue has none or several of a kind for the target.
    """
    if not isinstance(name, str):
        raise TypeError(f"a drafter is found by its name, a text, not by {name!r:.60}")
    plain = name.strip().casefold()
    kind, _, value = plain.partition(":")
    if kind == "fraction" and value:
        try:
            if not _NUMBER.fullmatch(value.strip()):
                raise ValueError(f"{value.strip()!r} is no number")
            return fraction(float(value))
        except ValueError as error:
            raise ValueError(f"drafter {name!r}: {error}; such as fraction:0.10") from error
    if plain in ("mtp", "eagle1"):
        return mtp(tp=tp) if plain == "mtp" else eagle1(tp=tp)
    if plain in ("ngram", "n-gram"):
        return ngram()
    card = _of_kind(plain, target) if plain in (*_SERIAL, *_BLOCK) else _find(name)
    if isinstance(card, Model):
        return independent(card, tp=tp)
    if card.kind == "ngram":
        return ngram()
    if card.kind == "model":
        return independent(card.name, tp=tp)
    return autoregressive(card, tp=tp) if card.kind in _SERIAL else block(card, tp=tp)


def _find(name: str) -> DrafterCard | Model:
    try:
        return catalog.drafter_card(name)
    except catalog.UnknownName as error:
        try:
            return catalog.model(name)
        except catalog.UnknownName:
            raise error from None


def _of_kind(kind: str, target: Model | None) -> DrafterCard:
    if target is None:
        raise ValueError(f"drafter {kind!r}: say for which target")
    known = catalog.drafter_cards()
    found = [card for card in known if card.kind == kind and target.name in card.targets]
    if len(found) != 1:
        names = ", ".join(card.name for card in found) or "none"
        raise ValueError(
            f"drafter {kind!r}: the catalogue has {names} for {target.name}; name one card"
        )
    return found[0]


def _card(card: DrafterCard | str, kinds: tuple[str, ...], what: str) -> DrafterCard:
    known = catalog.drafter_card(card) if isinstance(card, str) else card
    if not isinstance(known, DrafterCard):
        raise TypeError(f"a drafter's card or its name, not {card!r:.60}")
    if known.kind not in kinds:
        raise ValueError(
            f"{known.name} is of kind {known.kind!r}; what {what} is {', '.join(kinds)}"
        )
    return known
