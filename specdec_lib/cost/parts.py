"""Parts: a model on an accelerator in a deployment, as the terms whose sum is a step.

Counting: every query attends to S cached entries; weights are read once a step, the cache of a
sequence once for all of its T tokens; matrices count, norms, biases and the like do not; the
embedding is looked up, not read.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from specdec_lib.architecture import Architecture, Core, Indexer, Precision
from specdec_lib.catalog import Gpu
from specdec_lib.cost.network import network_parts
from specdec_lib.cost.part import Part, Roof
from specdec_lib.deployment import Deployment
from specdec_lib.formulas import attention, engine, experts, roofline
from specdec_lib.symbols import B, T

#: Components of weights whose matrices a step reads whole, in the order in which it meets them.
WHOLE: tuple[str, ...] = ("attn_proj", "router", "shared", "dense_ffn", "head", "other")

#: The precision at whose rate attention cores and indexers compute.
CORE_PRECISION = "bf16"


def replica(deployment: Deployment) -> tuple[sympy.Expr, sympy.Expr]:
    """Sequences and tokens of the fullest replica: of the only one, all that there are, in parts of
    a sequence too."""
    if deployment.dp == 1:
        return B, B * T
    split = {"dp": deployment.dp}
    return engine.replica_batch.where(**split).rhs, engine.replica_tokens.where(**split).rhs


class Assembly:
    """A model's architecture, an accelerator and a deployment, being put together.

    ``assumptions`` collects what was taken for granted on the way.
    """

    def __init__(self, architecture: Architecture, gpu: Gpu, deployment: Deployment) -> None:
        self.architecture = architecture
        self.gpu = gpu
        self.deployment = deployment
        self.assumptions: list[str] = []
        self._batch, self._tokens = replica(deployment)

    def parts(self) -> tuple[Part, ...]:
        """Every part of a step."""
        found = [
            *self._weights(),
            *(self._core(core) for core in self.architecture.attention),
            *(self._indexer(scan) for scan in self.architecture.indexers),
            *self._experts(),
            *self._overhead(),
            *network_parts(self.architecture, self.gpu, self.deployment, self._tokens),
        ]
        curve = self.deployment.verify_curve
        return tuple(part.measured(curve.expression) for part in found) if curve else tuple(found)

    # --- weights ---------------------------------------------------------------------------------

    def _weights(self) -> Iterator[Part]:
        """One part for each precision of a component.  Devices split every matrix but the router,
        which each of them holds whole."""
        for key in WHOLE:
            for form, matrices in self._matrices(key).items():
                share = 1 if key == "router" else self.deployment.tp
                size = {"P": matrices / share}
                yield Part.under(
                    self._roof(key, form),
                    key,
                    form.name,
                    work=roofline.weight_work.where(n=self._tokens, **size).rhs,
                    traffic=roofline.weight_traffic.where(b=form.bytes, **size).rhs,
                )

    def _experts(self) -> Iterator[Part]:
        """The routed experts: those that the step touches are read, each token works with k."""
        mixture = self.architecture.experts
        if mixture is None:
            return
        set_up = self.deployment
        slices = set_up.devices // set_up.ep  # devices that split each expert
        touched = set_up.routing.distinct(mixture.E, mixture.k)
        imbalance = 1.0
        if set_up.ep > 1:
            imbalance = set_up.routing.imbalance
            known = {"E": mixture.E, "G": set_up.ep, "imbalance": imbalance}
            touched = engine.fullest_experts.where(**known).where(A=touched).rhs
        for form, matrices in self._matrices("moe").items():
            each = matrices / mixture.E / slices  # of one expert, over all layers
            work = experts.experts_work.where(k=mixture.k, s=0, P_e=each * imbalance / set_up.ep)
            yield Part.under(
                self._roof("moe", form),
                "moe",
                form.name,
                work=work.where(n=B * T).rhs,
                traffic=roofline.weight_traffic.where(b=form.bytes, P=touched * each).rhs,
            )

    def _matrices(self, key: str) -> dict[Precision, int]:
        """Parameters in the matrices of a component over all layers, by precision."""
        found: dict[Precision, int] = {}
        for part in self.architecture.weights:
            if part.key == key and part.matrices:
                found[part.precision] = found.get(part.precision, 0) + part.matrix_parameters
        return found

    # --- attention -------------------------------------------------------------------------------

    def _core(self, core: Core) -> Part:
        set_up = self.deployment
        size = core.coefficients(
            cache=set_up.kv_cache, query=set_up.query, output=set_up.count_output
        )
        share = float(engine.entry_share(n_kv=core.cache_heads, tp=set_up.tp))
        f = sympy.Float(size["f"] / set_up.tp)
        heads = core.tiled_heads / set_up.tp
        # where the heads of each token fill whole tiles, nothing is rounded up
        if set_up.tile_rows > 1 and heads % set_up.tile_rows:
            f *= engine.row_padding.where(n_h=heads, tile=set_up.tile_rows).rhs
        one = {"B": 1, "m_c": size["m_c"] * share, "m_q": size["m_q"] / set_up.tp}
        work = attention.core_work.where(B=1, S=core.entries.rhs).where(f=f).rhs
        traffic = attention.core_traffic.where(**one)
        read = core.entries_read(set_up.selection_spread).rhs
        return Part.under(
            self._roof("attn_core", None),
            "attn_core",
            core.kind,
            work=core.layers * work,
            traffic=core.layers * traffic.where(S=read).rhs,
            times=self._batch,
        )

    def _indexer(self, scan: Indexer) -> Part:
        """The scan of an indexer's keys, which every device that splits a replica does for its own
        heads."""
        keys = scan.entries.rhs
        f = scan.pair_work / self.deployment.tp
        work = attention.core_work.where(B=1, S=keys, f=f).rhs
        traffic = attention.core_traffic.where(B=1, m_c=scan.key_bytes, m_q=0).where(S=keys).rhs
        return Part.under(
            self._roof("indexer", None),
            "indexer",
            "scan",
            work=scan.layers * work,
            traffic=scan.layers * traffic,
            times=self._batch,
        )

    # --- the rest --------------------------------------------------------------------------------

    def _overhead(self) -> Iterator[Part]:
        set_up, layers = self.deployment, self.architecture.layers
        each = sum(c.layers * set_up.layer_time(c.kind) for c in self.architecture.attention)
        for key in ("moe", "dense_ffn"):
            if set_up.layer_overhead.get(key):
                having = sum(p.layers for p in self.architecture.weights if p.key == key)
                each += having * set_up.layer_overhead[key]
        if not (each or set_up.step_overhead or set_up.token_overhead):
            return
        known = {"L": layers, "t_layer": each / layers, "t_step": set_up.step_overhead}
        law = engine.recorded_overhead_time
        if set_up.max_graph_tokens is not None:
            known |= {"graph_tokens": set_up.max_graph_tokens, "eager": set_up.eager_factor}
            law = engine.overhead_time
        seconds = law.where(n=self._tokens).where(t_token=set_up.token_overhead, **known).rhs
        yield Part.beside("overhead", "fixed and per token", seconds, "fixed")

    def _roof(self, key: str, form: Precision | None) -> Roof:
        """The roofline of a component: the rate of its precision, or the 16-bit one where the
        accelerator has no units for it, and the memory or memories that it is read from."""
        set_up = self.deployment
        peak = CORE_PRECISION if form is None else form.peak
        if form is not None and peak not in self.gpu.peak:
            self._assume(
                f"{self.gpu.name} has no {peak} rate: {key} in {form.name} is unpacked and "
                f"computed at {CORE_PRECISION}"
            )
            peak = CORE_PRECISION
        bandwidth = self.gpu.bandwidth
        if key == "moe" and set_up.offload is not None:
            bandwidth = set_up.offload.mean_bandwidth(bandwidth)
        return Roof(
            self.gpu.rate(peak),
            bandwidth,
            set_up.efficiency("compute", key, peak),
            set_up.efficiency("memory", key, peak),
            set_up.corner == "smooth",
        )

    def _assume(self, text: str) -> None:
        if text not in self.assumptions:
            self.assumptions.append(text)
