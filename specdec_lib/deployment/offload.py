"""Offload: routed experts that lie in slower memory than the accelerator's own."""

from __future__ import annotations

from dataclasses import dataclass

from specdec_lib.formula.domain import as_float, check
from specdec_lib.formulas import engine


@dataclass(frozen=True)
class Offload:
    """A slower tier for routed experts.

    Which experts lie there is independent of which a step touches.

    Parameters
    ----------
    share
        Share of the routed experts' bytes in the slower tier, from 0 to 1.
    bandwidth
        Rate in B/s at which a device reads it; over PCIe, or of the host's memory.
    overlapped
        Whether both tiers are read at once; one after the other otherwise.

    Raises DomainError for a share outside [0, 1] or a rate that is not positive.
    """

    share: float
    bandwidth: float
    overlapped: bool = False

    def __post_init__(self) -> None:
        given = {
            "offloaded": as_float("offloaded", self.share),
            "slow_bandwidth": as_float("slow_bandwidth", self.bandwidth),
        }
        check("offload", given)

    def mean_bandwidth(self, bandwidth: float) -> float:
        """Mean rate of reading experts in B/s where the faster tier reads at ``bandwidth``.

        >>> round(Offload(0.5, 25e9).mean_bandwidth(100e9) / 1e9, 6)
        40.0
        """
        law = engine.overlapped_bandwidth if self.overlapped else engine.tiered_bandwidth
        rates = {"bandwidth": bandwidth, "slow_bandwidth": self.bandwidth}
        return float(law(offloaded=self.share, **rates))
