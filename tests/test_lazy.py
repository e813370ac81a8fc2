"""Arrays that are computed later: sweeps larger than memory, on threads and on a cluster."""

from __future__ import annotations

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specdec_lib as sd
from specdec_lib.formula import DomainError
from specdec_lib.formulas.attention import intensity

COST = sd.StepCost(sd.model("deepseek-v4-flash"), sd.gpu("b200"))
AXES = np.arange(1, 41.0), np.arange(1, 9.0), np.geomspace(100, 1e6, 50).round()


def open_grid(lazy: bool) -> dict[str, object]:
    batch, width, context = (
        (da.from_array(axis, chunks=(len(axis) + 1) // 2) if lazy else axis) for axis in AXES
    )
    return {"B": batch[:, None, None], "T": width[:, None], "S": context}


def test_a_lazy_grid_has_the_shape_and_the_numbers_of_the_eager_one() -> None:
    lazy, eager = COST(**open_grid(lazy=True)), COST(**open_grid(lazy=False))
    assert lazy.shape == eager.shape == (40, 8, 50)
    assert lazy.numblocks == (2, 2, 2)
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), eager)


def test_formulas_broadcast_lazily_too() -> None:
    known = {"f": 139264, "m_c": 576, "m_q": 73728}
    width, context = AXES[1][:, None], AXES[2]
    lazy = intensity(T=da.from_array(width, chunks=3), S=da.from_array(context, chunks=20), **known)
    assert lazy.shape == (8, 50) and lazy.numblocks == (3, 3)
    np.testing.assert_array_equal(lazy.compute(), intensity(T=width, S=context, **known))


def test_plain_numbers_go_with_lazy_arrays() -> None:
    lazy = COST(B=da.arange(1, 9, chunks=4), T=2, S=np.float64(4096))
    np.testing.assert_array_equal(lazy.compute(), COST(B=np.arange(1, 9), T=2, S=4096))


@given(st.data())
@settings(deadline=None)
def test_any_shapes_and_chunks_broadcast_as_arrays_do(data: st.DataObject) -> None:
    """Lists, arrays and dask arrays beside each other, with axes of length one and none."""
    whole = data.draw(st.lists(st.integers(1, 5), max_size=3))
    eager: dict[str, np.ndarray] = {}
    mixed: dict[str, object] = {}
    for place, keyword in enumerate(("T", "S", "f", "m_c", "m_q")):
        axes = whole[data.draw(st.integers(0, len(whole))) :]
        shape = tuple(length if data.draw(st.booleans()) else 1 for length in axes)
        array = 1 + place + np.arange(np.prod(shape, dtype=int)).reshape(shape) / 7
        eager[keyword] = array
        chunks = tuple(data.draw(st.integers(1, length)) for length in shape)
        forms = [array, array.tolist(), da.from_array(array, chunks=chunks)]
        mixed[keyword] = data.draw(st.sampled_from(forms)) if place else forms[2]
    values = intensity(**mixed)
    expected = np.asarray(intensity(**eager))
    assert isinstance(values, da.Array) and values.shape == expected.shape
    np.testing.assert_array_equal(values.compute(scheduler="synchronous"), expected)


def test_masked_blocks_are_refused() -> None:
    """At once where the array says so, and when they are computed where it does not."""
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    hidden = da.from_delayed(dask.delayed(lambda: masked)(), (2,), meta=np.empty(0))
    with pytest.raises(TypeError, match=r"T .*masked values are no numbers"):
        COST(B=1, T=da.from_array(masked), S=1)
    with pytest.raises(TypeError, match=r"T .*masked values are no numbers"):
        COST(B=1, T=hidden, S=1).compute(scheduler="synchronous")
    with pytest.raises(TypeError, match=r"T .*masked values are no numbers"):
        intensity(T=hidden, S=1, f=1, m_c=1, m_q=1).compute(scheduler="synchronous")


def test_blocks_of_text_are_refused() -> None:
    text = da.from_delayed(dask.delayed(lambda: np.array(["1"]))(), (1,), dtype=float)
    with pytest.raises(TypeError, match=r"T .*must be a real number"):
        intensity(T=text, S=1, f=1, m_c=1, m_q=1).compute(scheduler="synchronous")


def test_shapes_that_do_not_broadcast_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"do not broadcast: B \(3,\), S \(2,\)"):
        COST(B=da.arange(1, 4), T=1, S=[1, 2])


def test_the_domain_is_checked_when_a_block_is_computed() -> None:
    lazy = COST(B=da.arange(0, 8, chunks=4), T=1, S=1)
    with pytest.raises(DomainError, match="B = 0 at index 0 is outside"):
        lazy.compute(scheduler="synchronous")
    assert lazy[4:].compute(scheduler="synchronous").shape == (4,)


def test_a_grid_beyond_memory_is_reduced_block_by_block() -> None:
    """2·10¹⁰ points would take 160 GB; asking for a hundredth of them touches as much."""
    batch = da.arange(1, 2001, chunks=100)[:, None, None]
    width = da.arange(1, 11, chunks=10)[None, :, None]
    context = da.arange(1, 1_000_001, chunks=10_000)[None, None, :]
    whole = COST(B=batch, T=width, S=context)
    assert whole.nbytes == 160e9
    corner = whole[:100, :, :10_000]
    assert float(corner.max().compute()) == COST(B=100, T=10, S=10_000)


def test_a_local_cluster_of_two_workers_gives_the_same_numbers() -> None:
    """The example for sweeps that outgrow one process: nothing of ours runs there but the cost."""
    lazy, eager = COST(**open_grid(lazy=True)), COST(**open_grid(lazy=False))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        np.testing.assert_array_equal(lazy.compute(), eager)
        cheapest = int(lazy.argmin().compute())
    assert cheapest == int(eager.argmin())
