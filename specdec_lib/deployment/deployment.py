"""Deployment: the devices, formats, efficiencies and fixed times with which a model is served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from specdec_lib.architecture.precision import element_bytes
from specdec_lib.catalog import Gpu
from specdec_lib.deployment.curve import VerifyCurve
from specdec_lib.deployment.defaults import DEFAULT, EFFICIENCY_KEYS, defaults
from specdec_lib.deployment.offload import Offload
from specdec_lib.deployment.routing import Routing
from specdec_lib.formula.domain import DomainError, as_float, check
from specdec_lib.records.provenance import Provenance

#: The symbol whose domain each plain number of a deployment has.
_DOMAINS: Mapping[str, str] = {
    "tp": "tp",
    "ep": "G",
    "dp": "dp",
    "link": "link",
    "collective_latency": "t_c",
    "tile_rows": "tile",
    "selection_spread": "spread",
    "step_overhead": "t_step",
    "token_overhead": "t_token",
    "pass_overhead": "t_0",
    "round_overhead": "t_0",
    "max_graph_tokens": "graph_tokens",
    "eager_factor": "eager",
    "memory_share": "eta_m",
}


@dataclass(frozen=True)
class Deployment:
    """How a model is served.  Every default is that of the ideal engine on one device.

    Times are in seconds, rates in B/s.  Raises DomainError, TypeError or ValueError, naming the
    field, for what is out of its domain.

    Parameters
    ----------
    name
        What to call it.
    tp, dp, ep
        Devices that split every matrix of a replica; replicas that split the batch; groups of
        devices that split the experts.  There are tp·dp devices in all, so ``ep`` divides that;
        with several replicas it is 1 or all devices.
    link
        Rate of a device's link in one direction; None is the accelerator's own.
    collective_latency
        Latency of an all-reduce or all-to-all.
    activation
        Format of the hidden states that devices exchange.
    kv_cache, query, count_output
        Format of the cache, None being the one in which each kind of attention is served; format of
        the query; whether the output written counts beside the query read.
    selection_spread
        Exponent x: T tokens of a sequence select T^x times the entries of one; 0 where all select
        the same, which is a lower bound, 1 where no two do.
    corner
        "hard", where reading and computing overlap wholly, or "smooth", (a² + b²)^½.
    memory_efficiency, compute_efficiency
        Fractions of bandwidth and peak rate that are reached, by component ("moe"), else by
        precision of the weights' arithmetic ("fp8"), else under "default", else 1.
    tile_rows
        Query rows in a tile of an attention kernel whose heads share one cache entry; 1 pays for
        no more rows than there are.
    step_overhead, layer_overhead, token_overhead
        Fixed time of a step; of a layer, by kind of attention and of feed-forward ("moe",
        "dense_ffn"), with "default" for the other kinds of attention; of a token in a layer.
    max_graph_tokens, eager_factor
        Tokens of the largest captured graph, None for no limit, and what the fixed times of a step
        are multiplied with beyond it.
    pass_overhead, round_overhead
        Fixed time of a drafter's pass, and of a round of drafting; drafters take them from here.
    routing
        By which law tokens touch experts.
    offload
        Slower memory that holds a share of the routed experts.
    verify_curve
        Measured ratios of verify passes to a plain step; they replace the model's own growth in T.
    memory_share
        Share of a device's memory that weights and cache may fill.
    sources
        Where the values come from that are not the caller's own, by field.
    """

    name: str = "custom"
    tp: int = 1
    ep: int = 1
    dp: int = 1
    link: float | None = None
    collective_latency: float = 0.0
    activation: str = "bf16"
    kv_cache: str | None = None
    query: str = "bf16"
    count_output: bool = True
    selection_spread: float = 0.0
    corner: Literal["hard", "smooth"] = "hard"
    memory_efficiency: Mapping[str, float] = field(default_factory=dict)
    compute_efficiency: Mapping[str, float] = field(default_factory=dict)
    tile_rows: int = 1
    step_overhead: float = 0.0
    layer_overhead: Mapping[str, float] = field(default_factory=dict)
    token_overhead: float = 0.0
    max_graph_tokens: float | None = None
    eager_factor: float = 1.0
    pass_overhead: float = 0.0
    round_overhead: float = 0.0
    routing: Routing = field(default_factory=Routing)
    offload: Offload | None = None
    verify_curve: VerifyCurve | None = None
    memory_share: float = 1.0
    sources: Mapping[str, Provenance] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, keyword in _DOMAINS.items():
            value = getattr(self, name)
            if value is not None:
                _check(name, keyword, value)
        for name in ("tp", "ep", "dp", "tile_rows"):
            if getattr(self, name) % 1:
                raise DomainError(f"deployment: {name} = {getattr(self, name)} is no whole number")
        object.__setattr__(self, "tile_rows", int(self.tile_rows))
        if self.devices % self.ep or (self.dp > 1 and self.ep not in (1, self.devices)):
            accepted = "1 or all devices" if self.dp > 1 else "a divisor of them"
            raise DomainError(
                f"deployment: ep = {self.ep} does not fit tp·dp = {self.devices} devices; with "
                f"dp = {self.dp} it is {accepted}"
            )
        for name in ("activation", "query", "kv_cache"):
            if getattr(self, name) is not None:
                element_bytes(getattr(self, name))
        if self.corner not in ("hard", "smooth"):
            raise ValueError(f"deployment: corner = {self.corner!r}; it is 'hard' or 'smooth'")
        for name in ("memory_efficiency", "compute_efficiency", "layer_overhead"):
            object.__setattr__(self, name, _by_kind(name, getattr(self, name)))
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    @property
    def devices(self) -> int:
        """Devices in all."""
        return self.tp * self.dp

    def efficiency(self, resource: Literal["memory", "compute"], key: str, precision: str) -> float:
        """Fraction of a resource that a component (``key``) reaches at a precision."""
        fractions = self.memory_efficiency if resource == "memory" else self.compute_efficiency
        for name in (key, precision, DEFAULT):
            if name in fractions:
                return fractions[name]
        return 1.0

    def layer_time(self, kind: str) -> float:
        """Fixed time of a layer's attention or feed-forward of a kind."""
        return self.layer_overhead.get(kind, self.layer_overhead.get(DEFAULT, 0.0))

    @classmethod
    def ideal(cls, **changes: Any) -> Deployment:
        """The ideal engine: the roofline of one device and nothing else.

        ``changes`` are fields; with ``tp=8`` its devices exchange at the full rate of their links.
        """
        return cls(**{"name": "ideal", **changes})

    @classmethod
    def typical(cls, gpu: Gpu, *, engine: str = "vLLM", **changes: Any) -> Deployment:
        """A real engine with the documented, provisional defaults of ``data/deployments.toml``.

        Parameters
        ----------
        gpu
            The accelerator, whose efficiencies it takes.
        engine
            "vLLM", "SGLang" or "TensorRT-LLM"; it sets what a round of drafting costs.
        changes
            Fields that differ, such as ``tp=8`` or ``step_overhead=1e-3``.

        Raises ValueError for an unknown engine, TypeError for what is no accelerator, and as the
        class does.
        """
        if not isinstance(gpu, Gpu):
            raise TypeError(f"a typical deployment needs a record such as gpu('b200'), not {gpu!r}")
        known = defaults()
        engine = known.engine(engine)
        values: dict[str, Any] = {
            "name": f"typical {engine} on {gpu.name}",
            "corner": "smooth",
            "step_overhead": known.times["step"],
            "token_overhead": known.times["token"],
            "pass_overhead": known.times["pass"],
            "collective_latency": known.times["collective"],
            "round_overhead": known.rounds[engine],
            "layer_overhead": known.layers,
            "tile_rows": known.numbers["tile"],
            "eager_factor": known.numbers["eager"],
            "memory_share": known.numbers["memory_share"],
            "memory_efficiency": known.efficiency(gpu, "memory"),
            "compute_efficiency": known.efficiency(gpu, "compute"),
        }
        sources: dict[str, Provenance] = {}
        for name, value in values.items():
            if name in changes or isinstance(value, str):
                continue
            if isinstance(value, Mapping):
                sources |= {f"{name}.{key}": datum.provenance for key, datum in value.items()}
                values[name] = {key: datum.value for key, datum in value.items()}
            else:
                sources[name], values[name] = value.provenance, value.value
        return cls(**{**values, "sources": sources, **changes})


def _check(name: str, keyword: str, value: object) -> None:
    try:
        check(f"deployment, {name}", {keyword: as_float(keyword, value)})
    except TypeError as error:
        raise TypeError(f"deployment: {name}: {error}") from error


def _by_kind(name: str, values: object) -> Mapping[str, float]:
    """A mapping of fractions or times, checked; a number alone holds for every kind."""
    given: Mapping[str, Any] = values if isinstance(values, Mapping) else {DEFAULT: values}
    keyword = "t_layer" if name == "layer_overhead" else "eta_m"
    for key, value in given.items():
        if name != "layer_overhead" and key not in EFFICIENCY_KEYS:
            known = ", ".join(EFFICIENCY_KEYS)
            raise ValueError(f"deployment: {name} has no {key!r}; there are {known}")
        _check(f"{name} of {key}", keyword, value)
    return MappingProxyType({key: float(value) for key, value in given.items()})


#: The fields of a deployment, for what reads one from a file or a command line.
FIELDS: tuple[str, ...] = tuple(known.name for known in fields(Deployment))
