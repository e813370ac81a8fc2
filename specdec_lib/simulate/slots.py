"""Slots: the requests that an engine is serving, and what became of those that it has served."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from specdec_lib.acceptance.curve import Floats
from specdec_lib.simulate.lengths import as_lengths
from specdec_lib.simulate.workload import Workload

#: More tokens than any request has: one that never ends.
ENDLESS = np.iinfo(np.int64).max // 2


class Slots:
    """Up to ``batch`` requests at a time; the first ``active`` places of each array are served.

    ``context`` and ``left`` are tokens, ``quantile`` says of which kind a request is, and
    ``admitted`` and ``come`` are the times at which its service began and it came.
    """

    def __init__(self, workload: Workload, seeds: np.random.SeedSequence) -> None:
        size = workload.load.batch
        self._random = np.random.default_rng(seeds)
        self._prompt = as_lengths("prompt", workload.prompt)
        self._output = None
        if workload.output is not None:
            self._output = as_lengths("output", workload.output)
        self._coming: Iterator[tuple[int, int, float]] = self._requests()
        self.active = 0
        #: Context tokens of all active requests.
        self.total = 0
        self.context: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self.left: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self.length: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self.quantile: Floats = np.zeros(size)
        self.admitted: Floats = np.zeros(size)
        #: Of each served request: seconds a token, seconds waited, tokens.
        self.served: list[tuple[float, float, int]] = []
        self._come: Floats = np.zeros(size)

    @property
    def endless(self) -> bool:
        """Whether requests never end, and their contexts stay."""
        return self._output is None

    def _requests(self) -> Iterator[tuple[int, int, float]]:
        while True:
            prompts = self._prompt.draw(self._random, 256).tolist()
            outputs = [ENDLESS] * 256
            if self._output is not None:
                outputs = self._output.draw(self._random, 256).tolist()
            yield from zip(prompts, outputs, self._random.random(256).tolist(), strict=True)

    def admit(self, come: float, now: float) -> None:
        """Begin the service of the request that came at a time."""
        i = self.active
        self.context[i], output, self.quantile[i] = next(self._coming)
        self.left[i] = self.length[i] = output
        self.total += int(self.context[i])
        self._come[i], self.admitted[i] = come, now
        self.active += 1

    def commit(self, tokens: NDArray[np.int64], total: int, now: float) -> int:
        """Give every active request its tokens, ``total`` in all and at most those left; how many
        requests ended."""
        count = self.active
        if self.endless:
            self.left[:count] -= tokens
            return 0
        self.context[:count] += tokens
        self.total += total
        left = self.left[:count]
        left -= tokens
        if left.min() > 0:
            return 0
        ended = np.flatnonzero(left == 0)
        for i in ended.tolist():
            length = int(self.length[i])
            self.total -= int(self.context[i])
            waited = float(self.admitted[i] - self._come[i])
            self.served.append(((now - float(self.admitted[i])) / length, waited, length))
        keep = np.flatnonzero(left > 0)
        for values in (
            self.context, self.left, self.length, self.quantile, self.admitted, self._come
        ):  # fmt: skip
            values[: len(keep)] = values[keep]
        self.active = len(keep)
        return len(ended)

    def paces(self, now: float) -> Floats:
        """Seconds a token of the requests still served, for a run in which none has ended."""
        done = self.length[: self.active] - self.left[: self.active]
        some = done > 0
        return np.asarray((now - self.admitted[: self.active][some]) / done[some])
