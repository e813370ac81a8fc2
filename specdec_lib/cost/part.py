"""Part: one term of the step, the time of what is read and computed together.

A part is a maximum of its own; the parts of a step follow one another.  Its expressions are in B, T
and S, in FLOP, bytes and seconds of the busiest device, and are made from the Formulas alone.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import sympy

from specdec_lib.formula import Formula
from specdec_lib.formulas import roofline
from specdec_lib.symbols import ONE, UNITS, T

#: What a part waits for, beside "compute" and "memory", whichever takes it longer.
Fixed = Literal["fixed", "link"]


def bare(expression: sympy.Expr) -> sympy.Expr:
    """An expression with its units (FLOP, BYTE, SECOND) counted as one."""
    return expression.subs(dict.fromkeys(UNITS, 1))


@dataclass(frozen=True)
class Roof:
    """The roofline that a part is under: peak rate in FLOP/s, bandwidth in B/s, the fractions of
    each that are reached, and whether its corner is smooth."""

    peak: float
    bandwidth: float
    eta_c: float = 1.0
    eta_m: float = 1.0
    smooth: bool = False

    @functools.cached_property
    def law(self) -> Formula:
        """The time of a part, in its work and its traffic."""
        law = roofline.smooth_roofline_time if self.smooth else roofline.roofline_time
        rates = {"peak": self.peak, "bandwidth": self.bandwidth}
        return law.where(eta_c=self.eta_c, eta_m=self.eta_m, **rates)

    def time(self, work: sympy.Expr, traffic: sympy.Expr) -> sympy.Expr:
        """Seconds for ``work`` FLOPs and ``traffic`` bytes."""
        return bare(self.law.where(work=work, traffic=traffic).rhs)


@dataclass(frozen=True)
class Part:
    """One term of the step.

    Parameters
    ----------
    key
        The component that it belongs to: a key of the breakdown.
    kind
        What tells it from the other parts of its component: a kind of attention, a precision.
    work, traffic
        FLOPs and bytes of the busiest device.
    computing, reading
        Seconds that either would take alone.
    seconds
        Its time.
    waits_for
        "fixed" or "link" for what is under no roofline.
    """

    key: str
    kind: str
    work: sympy.Expr
    traffic: sympy.Expr
    computing: sympy.Expr
    reading: sympy.Expr
    seconds: sympy.Expr
    waits_for: Fixed | None = None

    @classmethod
    def under(
        cls,
        roof: Roof,
        key: str,
        kind: str,
        *,
        work: sympy.Expr,
        traffic: sympy.Expr,
        times: sympy.Expr = ONE,
    ) -> Part:
        """A part under a roofline that is met ``times`` times, once a sequence for a cache.

        The time of all is that of one times their number, because a roofline is homogeneous: twice
        the work and twice the bytes take twice the time.
        """
        work, traffic = bare(work), bare(traffic)
        alone = roof.time(work, sympy.Integer(0)), roof.time(sympy.Integer(0), traffic)
        return cls(
            key,
            kind,
            times * work,
            times * traffic,
            times * alone[0],
            times * alone[1],
            times * roof.time(work, traffic),
        )

    @classmethod
    def beside(cls, key: str, kind: str, seconds: sympy.Expr, waits_for: Fixed) -> Part:
        """A part under no roofline."""
        none = sympy.Integer(0)
        return cls(key, kind, none, none, none, none, bare(seconds), waits_for)

    def measured(self, curve: sympy.Expr) -> Part:
        """The part of a step whose growth in T is a measured ``curve``: its time at T = 1, times
        the curve."""
        plain = {T: sympy.Integer(1)}
        return Part(
            self.key,
            self.kind,
            self.work,
            self.traffic,
            self.computing.subs(plain) * curve,
            self.reading.subs(plain) * curve,
            self.seconds.subs(plain) * curve,
            self.waits_for,
        )
