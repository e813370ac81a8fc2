"""The acceptance rate behind measured tokens per step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.formulas.acceptance import expected_tokens

#: Halvings of [0, 1]: one bit of α each, so that the last digit of a float64 is reached.
_HALVINGS = 60


def acceptance_for_tokens(tokens: ArrayLike, gamma: ArrayLike) -> Any:
    """The acceptance rate α at which a draft of γ commits that many tokens per step.

    The inverse of :data:`specdec_lib.formulas.acceptance.expected_tokens` in α: with measured
    tokens per step it is the constant-α fit, with the break-even tokens of a price it is the
    break-even acceptance.

    Parameters
    ----------
    tokens
        Tokens committed per step, the bonus token included, between 1 and γ + 1.
    gamma
        Draft length, above zero; broadcasts with ``tokens``.

    Returns
    -------
    α in [0, 1], a float for scalars.

    Raises
    ------
    DomainError
        For tokens outside [1, γ + 1], which no acceptance rate gives, and for γ = 0, where every
        rate gives one token.
    """
    wanted, length = np.broadcast_arrays(
        np.asarray(as_float("N", tokens)), np.asarray(as_float("gamma", gamma))
    )
    check("acceptance for tokens", {"N": wanted, "gamma": length})
    if np.any(length == 0):
        raise DomainError("gamma = 0 drafts nothing: every acceptance rate gives one token")
    if np.any(wanted > length + 1):
        worst = int(np.argmax(wanted - length))
        raise DomainError(
            f"{wanted.flat[worst]:g} tokens per step exceed gamma + 1 = "
            f"{length.flat[worst] + 1:g}; "
            "does the count leave out steps, or gamma the bonus token?"
        )
    low, high = np.zeros_like(wanted), np.ones_like(wanted)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = np.asarray(expected_tokens(alpha=middle, gamma=length)) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    rate = np.where(wanted == 1, 0.0, high)
    return float(rate) if rate.ndim == 0 else rate
