"""Network: what the devices of a deployment exchange in a step.

A replica is split over ``tp`` devices, which add up their parts of the hidden states after the
embedding, after the attention and after the feed-forward of every layer, and gather the scores of
the vocabulary.  With several replicas, the tokens travel to their experts and back in every routed
layer: to the devices that hold them where experts are whole, to all where they are split.
"""

from __future__ import annotations

import sympy

from specdec_lib.architecture import Architecture
from specdec_lib.architecture.precision import element_bytes
from specdec_lib.catalog import Gpu
from specdec_lib.cost.part import Part
from specdec_lib.deployment import Deployment
from specdec_lib.formula import Formula
from specdec_lib.formulas import communication


def network_parts(
    architecture: Architecture, gpu: Gpu, deployment: Deployment, tokens: sympy.Expr
) -> list[Part]:
    """The collective operations of a step with ``tokens`` in the fullest replica, by kind; none on
    one device.

    Raises ValueError where there are several devices and no link between them is known.
    """
    if deployment.devices == 1:
        return []
    link = deployment.link or gpu.link
    if link is None:
        raise ValueError(
            f"{gpu.name} has no link in the catalogue and {deployment.devices} devices need one; "
            "give the rate of a device in one direction: link=…"
        )
    b_x = element_bytes(deployment.activation)
    hidden = {"H": architecture.hidden_size, "b_x": b_x}
    states = communication.activation_bytes.where(n=tokens, **hidden).rhs

    def times(law: Formula, devices: int, payload: sympy.Expr) -> sympy.Expr:
        latency = deployment.collective_latency
        return law.where(D=devices, link=link, t_c=latency).where(traffic=payload).rhs

    parts: dict[str, sympy.Expr] = {}
    if deployment.tp > 1:
        sums = 2 * architecture.layers + 1
        parts["all-reduce"] = sums * times(communication.all_reduce_time, deployment.tp, states)
        logits = communication.logit_bytes.where(n=tokens, V=architecture.vocabulary, b_x=b_x).rhs
        parts["all-gather"] = times(communication.exchange_time, deployment.tp, logits)
    experts = architecture.experts
    if deployment.dp > 1 and experts is not None:
        everyone = deployment.devices
        sent = states
        if deployment.ep > 1:
            reached = communication.dispatch_bytes.where(D=everyone, G=deployment.ep, k=experts.k)
            # what the fullest replica sends: more than the mean where B does not divide
            sent = reached.where(n=deployment.dp * tokens, **hidden).rhs
        one_way = times(communication.exchange_time, everyone, sent)
        parts["dispatch and combine"] = 2 * experts.layers * one_way
    return [Part.beside("communication", kind, t, "link") for kind, t in parts.items()]
