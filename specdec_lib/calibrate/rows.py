"""Rows: what a model says of each measurement, as a function of what a fit moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specdec_lib.architecture import Model
from specdec_lib.calibrate.measurement import Measurement
from specdec_lib.calibrate.parameters import Factors
from specdec_lib.calibrate.steps import Points, Steps, structure
from specdec_lib.catalog import Gpu
from specdec_lib.cost import StepCost
from specdec_lib.cost.grid import Floats
from specdec_lib.deployment import Deployment
from specdec_lib.drafters import Drafter
from specdec_lib.drafters.fraction import Fraction, FractionDraft
from specdec_lib.drafters.lookup import Lookup, LookupDraft
from specdec_lib.drafters.passes import PassDraft, PassDrafter
from specdec_lib.formulas import speculation


class Rows:
    """The measurements, and a model, an accelerator, a base deployment and a drafter for them."""

    def __init__(
        self,
        measurements: Sequence[Measurement],
        model: Model,
        gpu: Gpu,
        base: Deployment,
        drafter: Drafter | None,
    ) -> None:
        self.measurements = tuple(measurements)
        self.cost = StepCost(model, gpu, structure(base))
        self._kind = np.array([m.kind for m in measurements])
        self.B, self.S, self.T, gamma, self.value = (
            np.array([getattr(m, name) for m in measurements], dtype=np.float64)
            for name in ("B", "S", "T", "gamma", "value")
        )
        self.N = np.array([1.0 if m.N is None else m.N for m in measurements])
        self._gamma = np.where([m.speculative for m in measurements], gamma, 0.0)
        steps = Steps(self.cost, base.token_overhead)
        self.verify = steps.at(self.B, self.T, self.S)
        self._plain = steps.at(self.B, np.ones_like(self.T), self.S)
        self._draft = self._drafting(drafter, base)
        # a plain step is needed where something is told as a share of it
        self._compares = bool(np.isin(self._kind, ("ratio", "speedup")).any()) or isinstance(
            drafter, Fraction
        )

    def __len__(self) -> int:
        return len(self.measurements)

    @property
    def drafting(self) -> bool:
        """Whether a drafter took part in any row."""
        return bool(self._gamma.any())

    def predicted(self, at: Factors) -> Floats:
        """What every row should have measured."""
        times = {"C_verify": self.verify.seconds(at), "C_draft": np.zeros(len(self))}
        plain = self._plain.seconds(at) if self._compares else np.ones(len(self))
        if self._draft is not None:
            times["C_draft"] = self._draft(at, plain)
        return self._as_measured(times, plain)

    def at_most(self) -> Floats:
        """The floor of every row that is a time: no engine comes below it; NaN for the others.

        For tokens per second it is the most, not the least.
        """
        times = {"C_verify": self.verify.floor(), "C_draft": np.zeros(len(self))}
        found = self._as_measured(times, np.ones(len(self)))
        found[np.isin(self._kind, ("ratio", "speedup"))] = np.nan
        return found

    def round_seconds(self) -> Floats:
        """Seconds of the step or round behind each row; NaN for one that compares two."""
        found = np.where(np.isin(self._kind, ("step", "round")), self.value, np.nan)
        token = self._kind == "token_time"
        found[token] = self.value[token] * self.N[token]
        many = self._kind == "throughput"
        # tokens over seconds and seconds over tokens: the law is its own inverse
        found[many] = speculation.throughput(
            B=self.B[many], N=self.N[many], C_verify=self.value[many], C_draft=np.zeros(many.sum())
        )
        return found

    def _as_measured(self, times: dict[str, Floats], plain: Floats) -> Floats:
        both = {**times, "C_0": plain}
        laws: dict[str, Callable[[], Floats]] = {
            "step": lambda: times["C_verify"],
            "round": lambda: np.asarray(speculation.token_time(**times, N=1.0)),
            "ratio": lambda: np.asarray(speculation.break_even_tokens(**both)),
            "speedup": lambda: np.asarray(speculation.speedup(**both, N=self.N)),
            "token_time": lambda: np.asarray(speculation.token_time(**times, N=self.N)),
            "throughput": lambda: np.asarray(speculation.throughput(**times, N=self.N, B=self.B)),
        }
        found = np.empty(len(self))
        for kind in set(self._kind.tolist()):
            of_it = self._kind == kind
            found[of_it] = laws[kind]()[of_it]
        return found

    # --- drafting --------------------------------------------------------------------------------

    def _drafting(
        self, drafter: Drafter | None, base: Deployment
    ) -> Callable[[Factors, Floats], Floats] | None:
        """Seconds of drafting in each row, from the factors and the plain steps."""
        if drafter is None or not self.drafting:
            return None
        draft = drafter.on(self.cost)
        longest = self._gamma.max()
        if longest > draft.longest:
            # the draft's own words for it
            draft.seconds(gamma=longest, B=1, S=1)
        gamma = self._gamma
        if isinstance(draft, FractionDraft):
            c = draft.c
            return lambda _, plain: np.asarray(
                speculation.fraction_draft(c=c, gamma=gamma, C_0=plain)
            )
        if isinstance(draft, LookupDraft) and isinstance(drafter, Lookup):
            host = drafter.host
            return lambda at, _: np.asarray(
                speculation.lookup_draft(
                    gamma=gamma, t_round=host + base.round_overhead * at.round_overhead
                )
            )
        if isinstance(draft, PassDraft) and not _is_apart(drafter):
            return self._passes(draft, base)
        known = np.asarray(draft.seconds(gamma=gamma, B=self.B, S=self.S))
        return lambda *_: known

    def _passes(self, draft: PassDraft, base: Deployment) -> Callable[[Factors, Floats], Floats]:
        """Passes that are served as the target is, and so move with it."""
        batch = np.asarray(draft.served_batch(self.B))
        width = np.full_like(self.T, draft.width)
        passes: Points = Steps(draft.step, base.token_overhead).at(batch, width, self.S)

        def seconds(at: Factors, plain: Floats) -> Floats:
            del plain
            return np.asarray(
                draft.law(
                    gamma=self._gamma,
                    C_pass=passes.seconds(at),
                    t_pass=base.pass_overhead * at.pass_overhead,
                    t_round=base.round_overhead * at.round_overhead,
                )
            )

        return seconds


def _is_apart(drafter: Drafter) -> bool:
    """Whether a drafter is served in a deployment of its own, which a fit leaves alone."""
    return isinstance(drafter, PassDrafter) and drafter.deployment is not None
