"""Steps: the time of a step at fixed points, as a function of what a fit moves.

A fit asks for the same few points again and again with other overheads and efficiencies.  A step is
a sum of parts, each under a roofline that scales with its efficiencies, so that the parts' seconds
of computing and reading are computed once, at the base deployment, and then only scaled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from specdec_lib.calibrate.parameters import Factors
from specdec_lib.cost import StepCost
from specdec_lib.cost.grid import Floats, Varying
from specdec_lib.cost.part import Part
from specdec_lib.cost.parts import replica
from specdec_lib.deployment import Deployment
from specdec_lib.formulas import engine, locality, roofline


def structure(base: Deployment) -> Deployment:
    """A deployment for :class:`Steps`: the base without what is added at each point anew."""
    return replace(base, token_overhead=0.0, routing=replace(base.routing, locality=1.0))


class Steps:
    """The step of ``cost``, whose deployment is a :func:`structure`, and ``token`` seconds for each
    token in each layer beside it."""

    def __init__(self, cost: StepCost, token: float) -> None:
        self.cost = cost
        self.token = token
        deployment = cost.deployment
        self._law = (
            roofline.smooth_roofline_time
            if deployment.corner == "smooth"
            else roofline.roofline_time
        )
        self._roofs = [_Roof(part) for part in cost.parts if part.waits_for is None]
        self._fixed = [Varying(p.seconds) for p in cost.parts if p.waits_for == "fixed"]
        self._links = [Varying(p.seconds) for p in cost.parts if p.waits_for == "link"]
        self._tokens = Varying(replica(deployment)[1])

    def at(self, B: Floats, T: Floats, S: Floats) -> Points:
        """The step at points of one shape."""
        return Points(self, *np.broadcast_arrays(B, T, S))


class _Roof:
    """A part under a roofline, compiled: seconds of computing and of reading."""

    def __init__(self, part: Part) -> None:
        self.experts = part.key == "moe"
        self.computing = Varying(part.computing)
        self.reading = Varying(part.reading)
        self.work = Varying(part.work)
        self.traffic = Varying(part.traffic)


class Points:
    """A step at given points."""

    def __init__(self, steps: Steps, B: Floats, T: Floats, S: Floats) -> None:
        self._steps, self._at = steps, (B, T, S)
        cost, parts = steps.cost, steps._roofs
        self._computing = self._stack(part.computing for part in parts)
        self._reading = self._stack(part.reading for part in parts)
        self._experts = np.array([part.experts for part in parts])
        self._routed = [(i, part.reading) for i, part in enumerate(parts) if part.experts]
        self.fixed = self._sum(steps._fixed)
        self._links = self._sum(steps._links)
        tokens = self._stack([steps._tokens])[0]
        zero = {"t_step": 0.0, "t_layer": 0.0, "L": cost.model.architecture.layers}
        self.per_token = np.asarray(
            engine.recorded_overhead_time(n=tokens, t_token=steps.token, **zero)
        )

    def seconds(self, at: Factors) -> Floats:
        """Seconds at every point."""
        reached = np.where(self._experts, at.expert_efficiency, at.memory_efficiency)
        reading = self._reading if at.locality == 1 else self._shared(at.locality)
        times = self._steps_law(self._computing, reading, at.compute_efficiency, reached)
        return np.asarray(
            times.sum(axis=0)
            + at.fixed_time * self.fixed
            + at.token_overhead * self.per_token
            + self._links
        )

    def floor(self) -> Floats:
        """Seconds below which no engine comes: the whole accelerator's bandwidth and its fastest
        arithmetic, and the experts of one token of each sequence."""
        gpu = self._steps.cost.gpu
        B, T, S = self._at
        work = self._stack(part.work for part in self._steps._roofs)
        traffic = self._stack(part.traffic for part in self._steps._roofs)
        for i, part in enumerate(self._steps._roofs):
            if part.experts:
                traffic[i] = part.traffic(B, np.ones_like(T), S)
        law = roofline.roofline_time
        peak = max(gpu.peak.values())
        least = law(
            work=work, traffic=traffic, peak=peak, bandwidth=gpu.bandwidth, eta_c=1.0, eta_m=1.0
        )
        return np.asarray(np.asarray(least).sum(axis=0))

    def mean_efficiency(self, *, experts: bool) -> float:
        """The base's mean fraction of the bandwidth over these points, by time of reading; NaN
        where nothing is read."""
        chosen = self._experts if experts else ~self._experts
        traffic = self._stack(part.traffic for part in self._steps._roofs)[chosen].sum()
        reading = self._reading[chosen].sum() * self._steps.cost.gpu.bandwidth
        return float(traffic / reading) if reading > 0 else float("nan")

    def _steps_law(self, computing: Floats, reading: Floats, eta_c: float, eta_m: Floats) -> Floats:
        # seconds scale as work and traffic do; a fraction of a rate that may exceed the base's own
        # takes the place of the rate
        law = self._steps._law
        return np.asarray(
            law(
                work=computing,
                traffic=reading,
                peak=eta_c,
                bandwidth=eta_m[:, None],
                eta_c=1.0,
                eta_m=1.0,
            )
        )

    def _shared(self, exponent: float) -> Floats:
        """Seconds of reading where the tokens of a sequence share experts: those of as many
        independent tokens as touch the same number."""
        B, T, S = self._at
        few = np.asarray(locality.independent_tokens(B=B, T=T, locality=exponent))
        reading = self._reading.copy()
        for i, part in self._routed:
            reading[i] = part(few, np.ones_like(T), S)
        return reading

    def _stack(self, functions: Any) -> Floats:
        shape = self._at[0].shape
        return np.array([np.broadcast_to(f(*self._at), shape) for f in functions])

    def _sum(self, functions: list[Varying]) -> Floats:
        return np.asarray(sum((f(*self._at) for f in functions), np.zeros(self._at[0].shape)))
