"""Drafters with a model: heads, blocks and independent models, each under a roofline of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import sympy

from specdec_lib.acceptance.curve import Floats
from specdec_lib.architecture import Model
from specdec_lib.cost import StepCost
from specdec_lib.deployment import Deployment
from specdec_lib.drafters.draft import Draft, Drafter
from specdec_lib.drafters.shape import Shape, active_bytes, one_pass, with_vocabulary
from specdec_lib.drafters.target import Law
from specdec_lib.formula import Formula
from specdec_lib.formulas import engine, speculation
from specdec_lib.symbols import B, T

#: Active bytes of a drafter over its target's from which drafting is called dear.  At a fifth, four
#: drafted tokens that are all right and cost nothing to verify bring 5 / 1.8 = 2.8, not 5.
DEAR = 0.2

#: The parts of a pass by the components of its step.
_PARTS: Mapping[str, str] = {
    "attn_proj": "weights",
    "router": "weights",
    "shared": "weights",
    "dense_ffn": "weights",
    "other": "weights",
    "moe": "experts",
    "attn_core": "kv",
    "indexer": "kv",
    "head": "head",
    "overhead": "overhead",
    "communication": "communication",
}


class PassDrafter(Drafter):
    """A drafter whose passes are steps of a small model.

    Parameters
    ----------
    name
        What to call it.
    shape
        Its shape beside a target.
    tp
        Devices that split it; "target" splits it as the target is.
    vocabulary
        Words that it scores, where they are fewer than its card says.
    deployment
        How it is served, where that is not as the target is: its own kernels, devices and fixed
        times of a pass and a round.  It then rules, and ``tp`` does not.

    Raises ValueError for what is no number of devices, TypeError for what is no deployment.
    """

    def __init__(
        self,
        name: str,
        shape: Callable[[Model], Shape],
        *,
        tp: int | Literal["target"] = 1,
        vocabulary: int | None = None,
        deployment: Deployment | None = None,
    ) -> None:
        if not isinstance(deployment, Deployment | None):
            raise TypeError(f"{name}: deployment is a Deployment, not {deployment!r:.60}")
        if not (isinstance(tp, str) and tp == "target") and not _is_count(tp):
            raise ValueError(f"{name}: tp = {tp!r:.60}; a number of devices, or 'target'")
        if vocabulary is not None and not _is_count(vocabulary):
            raise ValueError(f"{name}: vocabulary = {vocabulary!r:.60}; a number of words")
        self.name = name
        self.tp = tp
        self._shape = shape
        self._vocabulary = vocabulary
        self.deployment = deployment

    def _on(self, target: StepCost | Law) -> Draft:
        if not isinstance(target, StepCost):
            raise TypeError(
                f"{self.name} runs on the accelerator of its target: give a StepCost, not "
                f"{target!r}"
            )
        shape = self._shape(target.model)
        if self._vocabulary is not None:
            shape = with_vocabulary(shape, self._vocabulary)
        served = self.deployment or target.deployment
        if self.deployment is None and self.tp != "target":
            served = replace(served, tp=self.tp, dp=1, ep=1)
        return PassDraft(shape, target, served)


class PassDraft(Draft):
    """What the passes of a small model cost beside its target.

    Each pass is a step of its own, read from memory anew, with the fixed time of a pass; a round
    adds one fixed time.  A drafter that is not split as the target is serves each replica's
    sequences on one group of devices.
    """

    def __init__(self, shape: Shape, target: StepCost, served: Deployment) -> None:
        super().__init__(shape.name, target)
        self.shape = shape
        self.step = one_pass(shape, target, served)
        self.width = shape.block or 1
        self.served = served
        self._fixed = {"t_pass": served.pass_overhead, "t_round": served.round_overhead}
        self._replicas = target.deployment.dp if served.dp == 1 else 1
        self.law = speculation.serial_draft if shape.longest is None else speculation.block_draft
        self.warnings = (*shape.warnings, *self._dear(target), *self._growing())
        self.assumptions = (*shape.assumptions, *self.step.assumptions, *self._taken(target))

    @property
    def longest(self) -> float:
        """The block, for one that drafts a block; no limit otherwise."""
        return super().longest if self.shape.longest is None else float(self.shape.longest)

    @functools.cached_property
    def formula(self) -> Formula:
        """The cost as a Formula in γ, B and S."""
        step = self.step.expr.subs({T: self.width, B: self._batch_law}, simultaneous=True)
        return self.law.where(C_pass=step).where(**self._fixed)

    def prepared(self, B: Floats, S: Floats, price: Floats) -> Callable[[Floats], Floats]:
        """See :meth:`Draft.prepared`."""
        del price
        step = np.asarray(self.step(B=self.served_batch(B), T=self.width, S=S))
        return lambda gamma: np.asarray(self.law(gamma=gamma, C_pass=step, **self._fixed))

    def pass_seconds(self, *, B: Any, S: Any) -> Any:
        """Seconds of one pass on its roofline, without the fixed time of a pass."""
        _, batch, context = self._arguments(0, B, S)
        return self.step(B=self.served_batch(batch), T=self.width, S=context)

    def _shares(self, gamma: Floats, B: Floats, S: Floats) -> Mapping[str, Any]:
        passes = gamma if self.shape.longest is None else np.ones(())
        found: dict[str, Any] = {}
        for key, share in self.step.breakdown(B=self.served_batch(B), T=self.width, S=S).items():
            part = _PARTS[key]
            if key in ("overhead", "communication") or np.any(np.asarray(share.seconds) > 0):
                found[part] = found.get(part, 0.0) + passes * share.seconds
        fixed = speculation.serial_draft(gamma=passes, C_pass=0.0, **self._fixed)
        return {**found, "overhead": found.get("overhead", 0.0) + fixed}

    # --- replicas --------------------------------------------------------------------------------

    @property
    def _batch_law(self) -> sympy.Expr:
        return B if self._replicas == 1 else engine.replica_batch.where(dp=self._replicas).rhs

    def served_batch(self, batch: Floats) -> Floats:
        """Sequences that one copy of the drafter serves."""
        if self._replicas == 1:
            return batch
        return np.asarray(engine.replica_batch(B=batch, dp=self._replicas))

    # --- what to say -----------------------------------------------------------------------------

    def _dear(self, target: StepCost) -> tuple[str, ...]:
        """A warning where a drafted token reads nearly what a token of the target does."""
        own = active_bytes(self.shape.architecture)
        whole = target.model.architecture
        active = active_bytes(whole)
        if self.shape.longest is not None or own < DEAR * active:
            return ()
        ratio = own / active
        total = sum(part.bytes for part in whole.weights)
        most = float(speculation.free_speedup(alpha=1, gamma=3, c=ratio))
        return (
            f"{self.name} reads {own / 1e9:.3g} GB for a token, {ratio:.2f} of the "
            f"{active / 1e9:.3g} GB that a token of {target.model.name} reads (not of all its "
            f"{total / 1e9:.3g} GB): three drafted tokens cannot bring more than {most:.2f}, "
            "even if all are right and verifying them costs nothing; it takes a drafter of fewer "
            "active bytes",
        )

    def _growing(self) -> tuple[str, ...]:
        """A warning where each pass reads a cache that grows with the context."""
        shape, cache = self.shape.architecture, self.step.deployment.kv_cache
        far = 1 << 24
        grows = float(shape.moved_cache_bytes(2 * far, cache) - shape.moved_cache_bytes(far, cache))
        if grows <= 0:
            return ()
        tp = self.step.deployment.tp
        split = "unsplit" if tp == 1 else f"split over {tp} devices"
        return (
            f"the cost of {self.name} grows with the context: every pass reads its own cache, "
            f"{grows / far:.4g} B for each context token of a sequence, {split}",
        )

    def _taken(self, target: StepCost) -> tuple[str, ...]:
        taken = ["a pass takes in one token; those committed before ride along in the first one"]
        if self.shape.block is not None:
            taken = [
                f"the pass computes all {self.shape.longest} positions, however few are verified"
            ]
        own, of_target = self.step.deployment.tp, target.deployment.tp
        if own < of_target:
            taken.append(f"{self.name} runs on {own} of the {of_target} devices of a replica")
        return tuple(taken)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
