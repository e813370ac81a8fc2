"""StepCost: the price of one decode or verify step, C(B, T, S)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from specdec_lib.architecture import Model
from specdec_lib.catalog import Gpu
from specdec_lib.cost.breakdown import Breakdown, Shares
from specdec_lib.cost.grid import STEP_SYMBOLS, Grid
from specdec_lib.cost.laws import component_laws, price_laws, step_law
from specdec_lib.cost.memory import Memory, cache_law, memory_use, resident_weights
from specdec_lib.cost.part import Part
from specdec_lib.cost.parts import Assembly
from specdec_lib.cost.price import Prices
from specdec_lib.deployment import Deployment
from specdec_lib.formula import Formula
from specdec_lib.formula.domain import (
    DomainError,
    as_float,
    check,
    require_keywords,
    require_one_shape,
)
from specdec_lib.formula.lazy import by_blocks, is_lazy
from specdec_lib.formula.vega import vega_expression

#: The arguments of a step: sequences, query tokens of each, context tokens of each.
ARGUMENTS: tuple[str, ...] = tuple(symbol.name for symbol in STEP_SYMBOLS)


class StepCost:
    """The time of a step of B sequences with T query tokens each over S context tokens each.

    A plain decode step has T = 1, a verify pass of γ drafted tokens T = γ + 1.  Arguments are
    keyword-only and broadcast; an open grid (``B[:, None, None]``, ``T[:, None]``, ``S``) is the
    fastest way to many points, and dask arrays stay lazy.

    Parameters
    ----------
    model
        From the catalogue or from a configuration.
    gpu
        One of the deployment's accelerators.
    deployment
        The ideal engine on one device by default.

    Raises TypeError for what is no such record, DomainError or ValueError where model, accelerator
    and deployment do not fit together.

    Examples
    --------
    >>> from specdec_lib.catalog import gpu, model
    >>> cost = StepCost(model("llama-3.1-8b"), gpu("b200"))
    >>> round(cost(B=1, T=1, S=4096) * 1e6, 6)  # µs, nearly all of it the reading of weights
    1943.339008
    >>> cost.breakdown(B=1, T=1, S=4096)["dense_ffn"].bound
    'memory'
    """

    def __init__(self, model: Model, gpu: Gpu, deployment: Deployment | None = None) -> None:
        for given, wanted, example in (
            (model, Model, "model('deepseek-v4-flash')"),
            (gpu, Gpu, "gpu('b200')"),
            (deployment, Deployment | None, "Deployment.ideal()"),
        ):
            if not isinstance(given, wanted):
                raise TypeError(f"a step cost needs a record such as {example}, not {given!r}")
        self.model = model
        self.gpu = gpu
        self.deployment = Deployment.ideal() if deployment is None else deployment
        assembly = Assembly(model.architecture, gpu, self.deployment)
        self.parts: tuple[Part, ...] = assembly.parts()
        self._assumed = tuple(assembly.assumptions)

    def __repr__(self) -> str:
        return f"StepCost({self.model.name} on {self.gpu.name}, {self.deployment.name})"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was taken for granted: by the model's configuration, then by the accelerator."""
        return (*self.model.assumptions, *self._assumed)

    @property
    def expr(self) -> sympy.Expr:
        """The whole step as one SymPy expression in B, T and S, in seconds."""
        return self.formula.rhs

    @functools.cached_property
    def formula(self) -> Formula:
        """The step as a Formula, for charts and derivations; displayed as its components' sum."""
        return step_law(self.parts)

    @functools.cached_property
    def components(self) -> Mapping[str, Formula]:
        """The time of each component that the step has, by its key in the breakdown."""
        return MappingProxyType(component_laws(self.parts))

    @functools.cached_property
    def prices(self) -> Mapping[str, Formula]:
        """What :meth:`marginal_prices` computes, as Formulas by the same keys."""
        return MappingProxyType(price_laws(self.parts))

    def __call__(self, **values: Any) -> Any:
        """Seconds of a step, for keyword arguments B, T and S that broadcast.

        Scalars give a float, arrays an array of float64.  Raises TypeError for a missing or unknown
        argument or a value that is no real number, DomainError for one outside its domain.
        """
        arrays = self._arrays(values)
        if is_lazy(arrays):
            return by_blocks(self._compute, ARGUMENTS, arrays)
        result = self._compute(*arrays)
        return float(result) if result.ndim == 0 else result

    def breakdown(self, **values: Any) -> Breakdown:
        """FLOPs, bytes, seconds and the binding resource of each component, of the busiest device.

        Arguments as for the cost itself.
        """
        return self._shares(*self._checked(values))

    def marginal_prices(self, **values: Any) -> dict[str, Any]:
        """∂log C/∂log T of each component and, under "step", of the whole: the price of a marginal
        verify token relative to an average one, at fixed B and S.

        Arguments as for the cost itself.
        """
        return self._prices(*self._checked(values))

    def memory(self, **values: Any) -> Memory:
        """Whether weights and cache fit on a device, for keyword arguments B and S that broadcast.

        Where they do not, the result carries a warning.
        """
        weights, law = self._resident
        return memory_use(weights, law, self.gpu, self.deployment, **values)

    def vega(self, **names: str | float) -> str:
        """The step as a Vega expression in seconds: ``cost.vega(B="datum.B", S="context")``.

        Raises as :meth:`specdec_lib.formula.Formula.vega` does.
        """
        unknown = set(names) - set(ARGUMENTS)
        if unknown:
            raise TypeError(f"{self}: no symbol {', '.join(sorted(unknown))}; it takes B, T, S")
        for keyword, name in names.items():
            if not isinstance(name, str):
                check(str(self), {keyword: as_float(keyword, name)})
        return vega_expression(self.expr, names)

    # --- compiled once, when first needed --------------------------------------------------------

    @functools.cached_property
    def _grid(self) -> Grid:
        return Grid(str(self), self.expr)

    @functools.cached_property
    def _shares(self) -> Shares:
        return Shares(self.parts)

    @functools.cached_property
    def _prices(self) -> Prices:
        return Prices(self.parts)

    @functools.cached_property
    def _resident(self) -> tuple[float, Any]:
        architecture = self.model.architecture
        weights = resident_weights(architecture, self.deployment)
        return weights, cache_law(architecture, self.deployment)

    # --- arguments -------------------------------------------------------------------------------

    def _arrays(self, values: dict[str, Any]) -> list[Any]:
        require_keywords(str(self), values, ARGUMENTS)
        arrays = {keyword: as_float(keyword, values[keyword]) for keyword in ARGUMENTS}
        require_one_shape(str(self), arrays)
        return list(arrays.values())

    def _checked(self, values: dict[str, Any]) -> list[Any]:
        arrays = self._arrays(values)
        self._check(arrays)
        return arrays

    def _check(self, arrays: list[Any]) -> None:
        check(str(self), dict(zip(ARGUMENTS, arrays, strict=True)))
        curve = self.deployment.verify_curve
        if curve is not None and np.any(arrays[1] > curve.widest):
            raise DomainError(
                f"{self}: T = {float(np.max(arrays[1])):g} is beyond the verify curve, which was "
                f"measured up to T = {curve.widest:g}"
            )

    def _compute(self, *arrays: Any) -> Any:
        """Check the domain and evaluate: what a lazy array does block by block."""
        self._check(list(arrays))
        return self._grid(*arrays)
