"""Deployment: how a model is served, on how many devices, by which engine, how well."""

from __future__ import annotations

from specdec_lib.deployment.curve import VerifyCurve
from specdec_lib.deployment.defaults import Defaults, defaults
from specdec_lib.deployment.deployment import Deployment
from specdec_lib.deployment.file import deployment_text, read_deployment, write_deployment
from specdec_lib.deployment.offload import Offload
from specdec_lib.deployment.routing import Routing

__all__ = [
    "Defaults",
    "Deployment",
    "Offload",
    "Routing",
    "VerifyCurve",
    "defaults",
    "deployment_text",
    "read_deployment",
    "write_deployment",
]
