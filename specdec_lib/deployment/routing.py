"""Routing of a deployment: by which law the tokens of a step touch experts.

The ideal engine routes uniformly and independently.  A measured popularity makes some experts more
likely (skew), and the tokens of one sequence share experts (locality); experts on several devices
are never quite evenly loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import sympy

from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.formulas import engine, experts
from specdec_lib.routing import inclusion_probabilities
from specdec_lib.symbols import B, T

#: Classes of like popularity into which experts are sorted.  The law is a sum over the classes, so
#: they set how long its expression is; with this many it is within half a per cent of the sum over
#: all experts for the popularity that was measured, and for power laws.
CLASSES = 16

#: Experts less popular than this fraction of the mean share the last class.
_RARE = 1e-3


@dataclass(frozen=True)
class Routing:
    """How the tokens of a step choose experts.

    Parameters
    ----------
    locality
        Exponent ℓ: T tokens of one sequence touch experts like T^ℓ independent ones; 1 is
        independence.  For a batch, B·T^ℓ is an extrapolation.
    popularity
        Weights of the experts, any scale, one for each expert of a layer and the same in all
        layers; empty where all are alike.
    fitted_to
        The law to which the locality was fitted.  An exponent fitted to the uniform law already
        contains the skew and must not meet a popularity.
    imbalance
        Experts that the fullest device reads over the mean of all devices, at least 1; without
        effect on one device.

    Raises DomainError for what lies outside its domain, or where popularity and locality would
    count the skew twice.
    """

    locality: float = 1.0
    popularity: tuple[float, ...] = ()
    fitted_to: Literal["uniform", "skewed"] = "uniform"
    imbalance: float = 1.0

    def __post_init__(self) -> None:
        given = {key: as_float(key, getattr(self, key)) for key in ("locality", "imbalance")}
        check("routing", given)
        object.__setattr__(self, "popularity", tuple(float(share) for share in self.popularity))
        if self.fitted_to not in ("uniform", "skewed"):
            raise DomainError(f"fitted_to = {self.fitted_to!r}; a law is 'uniform' or 'skewed'")
        if self.popularity and self.locality < 1 and self.fitted_to == "uniform":
            raise DomainError(
                f"a locality of {self.locality:g} fitted to the uniform law contains the skew, and "
                "a popularity would count it twice; give one of them, or say fitted_to='skewed'"
            )

    @classmethod
    def power_law(cls, experts: int, exponent: float) -> Routing:
        """Popularity that falls with the rank of an expert like rank^(−exponent).

        Raises DomainError for fewer than one expert or a negative exponent.
        """
        if experts < 1 or not 0 <= exponent < np.inf:
            raise DomainError(f"no power law over {experts} experts with exponent {exponent:g}")
        ranks = np.arange(1, experts + 1, dtype=np.float64)
        return cls(popularity=tuple(ranks**-exponent))

    def distinct(self, E: int, k: int) -> sympy.Expr:
        """Expected distinct experts of a layer with top-``k`` of ``E`` routing, in B and T.

        Raises DomainError for a popularity of another number of experts, or one that top-k routing
        cannot have.
        """
        tokens = B * T if self.locality == 1 else B * T ** sympy.Float(self.locality)
        if not self.popularity:
            if self.locality == 1:
                return experts.distinct_experts.where(E=E, k=k, n=tokens).rhs
            return experts.local_experts.where(E=E, k=k, locality=self.locality).rhs
        if len(self.popularity) != E:
            raise DomainError(
                f"the popularity is of {len(self.popularity)} experts; this model's layers have {E}"
            )
        classes = popularity_classes(inclusion_probabilities(self.popularity, k))
        law = engine.popular_experts.where(n=tokens)
        touched = [law.where(E=number, inclusion=chance).rhs for number, chance in classes]
        return sympy.Add(*touched)


def popularity_classes(inclusion: Sequence[float] | np.ndarray) -> list[tuple[int, float]]:
    """Experts of like popularity together: (how many, the mean chance that a token uses one).

    Exact for up to :data:`CLASSES` different chances; otherwise classes have equal widths in the
    logarithm of the chance.  Experts that no token uses are left out.
    """
    chances = np.asarray(inclusion, dtype=np.float64)
    chances = chances[chances > 0]
    values, counts = np.unique(chances, return_counts=True)
    if len(values) <= CLASSES:
        return [(int(number), float(value)) for value, number in zip(values, counts, strict=True)]
    rare = max(values[0], _RARE * chances.mean())
    edges = np.geomspace(rare, values[-1], CLASSES + 1)[1:-1]
    places = np.digitize(chances, edges)
    parts = [chances[places == i] for i in range(CLASSES)]
    return [(len(part), float(part.mean())) for part in parts if len(part)]
