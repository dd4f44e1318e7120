"""Arrays of dask: rows to the bit, sample axes in chunks to a bound or refused, nothing computed before it is asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symdecouple as sd
from symdecouple import InvalidInput, RefusalWarning, Refused, lazy, stats
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.kernels import compile as compile_

pytest.importorskip("dask")
import dask
import dask.array as da

RNG = np.random.default_rng(11)
ROWS = RNG.exponential(size=(23, 60))
PLAN = sd.decouple(raw_moments(4))
WHOLE: list[Callable[..., Any]] = [
    stats.skewness, stats.kurtosis, stats.orthokurtosis, stats.log_shape, stats.circular_shape, stats.blest,
    stats.decoupled_moments, stats.standardized_moments, stats.skewness_range, stats.kurtosis_range,
    stats.orthokurtosis_range,
]
BY_STATES = [stats.skewness, stats.kurtosis, stats.orthokurtosis, stats.standardized_moments, stats.decoupled_moments]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def columns_of(found: Any) -> Any:
    """A named tuple of arrays as one array."""
    return (da if isinstance(found[0], da.Array) else np).stack(found, axis=-1) if isinstance(found, tuple) else found


@pytest.mark.parametrize(("function", "kind"), [
    *((function, np.float64) for function in WHOLE), (stats.orthokurtosis, np.float32), (stats.blest, np.int32),
])
def test_rows_that_are_whole_give_the_same_bits(function: Callable[..., Any], kind: Any) -> None:
    rows = np.ceil(ROWS[:9] * 50).astype(kind)
    for array, axis in ((rows, 1), (rows.T, 0), (rows.reshape(9, 6, 10), (1, 2))):
        sizes = tuple(-1 if i in np.atleast_1d(axis) else 4 for i in range(array.ndim))
        found = columns_of(function(da.from_array(array, chunks=sizes), axis=axis))
        expected = columns_of(function(array, axis=axis))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert found.numblocks[0] == 3  # one block of rows at a time
        assert np.array_equal(found.compute(), expected)


@pytest.mark.parametrize("function", BY_STATES)
def test_a_sample_axis_in_chunks_is_reduced(function: Callable[..., Any]) -> None:
    few, error = ROWS[:4], 1e-8 if function is stats.decoupled_moments else 1e-12
    for array, axis, chunks in ((few.T, 0, (40, 3)), (few, None, (3, 40)), (few.reshape(4, 3, 20), (0, 2), (3, 2, 12))):
        given = da.from_array(array, chunks=chunks)
        for keepdims in (False, True):
            found, expected = (function(a, axis=axis, keepdims=keepdims) for a in (given, array))
            assert found.shape == np.shape(expected) and found.dtype == np.float64
            if not keepdims:
                np.testing.assert_allclose(found.compute(), expected, rtol=error, atol=error)


@pytest.mark.parametrize("chunks", [2, 3, 4])
@pytest.mark.parametrize("unit", [1, Fraction(1, 3), -1])
@pytest.mark.parametrize("ends", [(0, 0), (1, 7), (1, 2**40)])
def test_numbers_that_a_chunk_rounds_to_an_end(ends: tuple[int, int], unit: Any, chunks: int) -> None:
    """20 beside 2**60 leaves the last bits of a difference: what is near the end is not the end."""
    array = np.array([unit * v for v in (3, 14, 20, 2**60 + 8, *(2**60 + 8 + end for end in ends))])
    precise, (outcome,) = PLAN.transform(array, dps=50, on_refusal="return")
    lazy_array = da.from_array(array, chunks=chunks)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = stats.orthokurtosis(lazy_array).compute()
        moments = stats.decoupled_moments(lazy_array, order=4).compute()
    assert_allclose(found, float(precise[3]), rtol=1e-13)
    assert_allclose(moments[:3], precise[:3].astype(float), rtol=1e-14, atol=1e-15)
    assert outcome.reason == ("limit only" if np.isnan(found) else "")
    assert len(told) == int(np.isnan(found)) + int(np.isnan(moments[3]))
    assert all(("limit only" if np.isnan(found) else "came to one number") in str(note.message) for note in told)


@pytest.mark.parametrize(("function", "options"), [
    (stats.kurtosis, {"fisher": True}), (stats.kurtosis, {"bias": False}),
    (stats.kurtosis, {"fisher": True, "bias": False}), (stats.skewness, {"bias": False}),
    (stats.orthokurtosis, {"fisher": True}),
])
def test_a_sample_axis_in_chunks_has_the_convention_that_is_asked_for(function: Callable[..., Any], options: Any
                                                                      ) -> None:
    found = function(da.from_array(ROWS[:3], chunks=(2, 7)), axis=1, **options).compute()
    np.testing.assert_allclose(found, function(ROWS[:3], axis=1, **options), rtol=1e-12, atol=1e-12)
    if "bias" in options:
        few = da.from_array(ROWS[:1, :2], chunks=1)
        with pytest.warns(RefusalWarning, match="too few values"):
            assert np.isnan(function(few, axis=1, **options).compute()).all()


@pytest.mark.parametrize("make", [
    lambda a: a[a > 0.2], lambda a: a.rechunk(500), lambda a: a.reshape(40, 30), lambda a: a[::3],
    lambda a: a - a.mean(),
    lambda a: da.concatenate([a, a[:0], a[7:8]]), lambda a: a.map_blocks(np.sqrt), lambda a: a.persist(),
    lambda a: a.astype(np.float32), lambda a: da.ma.masked_greater(a, 2),
], ids=["unknown sizes", "rechunked", "grid", "strided", "two reductions", "chunks of 0 and 1", "mapped", "persisted",
        "float32", "masked"])
def test_graphs_of_all_kinds_are_read_twice(make: Callable[[Any], Any]) -> None:
    array = make(da.from_array(ROWS.ravel()[:1200], chunks=300))
    whole = array.compute()
    found = stats.decoupled_moments(array, 4, axis=None)
    error = 1e-6 if found.dtype == np.float32 else 1e-11
    assert found.compute() == pytest.approx(stats.decoupled_moments(whole, 4, axis=None), rel=error, abs=1e-12)
    z = lazy.normalize(array, 3)
    assert z.dtype == found.dtype
    z = np.ma.compressed(z.compute()) if np.ma.isMaskedArray(whole) else z.compute().ravel()
    assert [np.mean(z.astype(float) ** k) for k in (1, 2, 3)] == pytest.approx([0, 1, 0], abs=1e-6)


def test_chunks_are_loaded_again_and_not_kept() -> None:
    """Each chunk is made twice: what the first pass has read is not in memory when the second one reads."""
    made: list[int] = []

    def make(block_info: Any = None) -> Any:
        place = block_info[None]["chunk-location"][0]
        made.append(place)
        return np.random.default_rng(place).normal(size=100)

    array = da.map_blocks(make, chunks=((100,) * 6,), dtype=float, meta=np.empty(0))
    made.clear()
    lazy_values = stats.decoupled_moments(array, 5)
    assert made == []
    lazy_values.compute()
    assert sorted(made) == sorted([*range(6), *range(6)])
    made.clear()
    stats.decoupled_moments(array, 3).compute()
    assert sorted(made) == list(range(6))


@pytest.mark.parametrize("name", ["transform", "normalize", "gradients"])
def test_plans_answer_rows_to_the_bit(name: str) -> None:
    for array, axis in ((ROWS, "last"), (ROWS.astype(np.float32), 1), (ROWS.T, 0)):
        given = da.from_array(array, chunks=(-1, 12) if axis == 0 else (12, -1))
        found, expected = getattr(PLAN, name)(given, axis=axis), getattr(PLAN, name)(array, axis=axis)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert np.array_equal(found.compute(), expected)


def test_a_block_is_answered_by_the_kernels_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def note(self: Any, n_elements: int) -> bool:
        asked.append(max(n_elements, compile_._WHOLE.get()))
        return False

    monkeypatch.setattr(compile_.Kernels, "are_wanted", note)
    rows = da.from_array(np.tile(ROWS[:1], (2000, 1)), chunks=(1000, -1))
    stats.orthokurtosis(rows, axis=1).compute()
    PLAN.transform(rows).compute()
    assert set(asked) == {8, 120_000}  # options are looked at with eight numbers


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_missing_values(policy: Any) -> None:
    rows = ROWS[:3].copy()
    rows[1, 5] = np.nan
    for chunks in ((1, -1), (2, 11)):
        found = stats.orthokurtosis(da.from_array(rows, chunks=chunks), axis=1, nan_policy=policy).compute()
        np.testing.assert_allclose(found, stats.orthokurtosis(rows, axis=1, nan_policy=policy), rtol=1e-13)
    with pytest.raises(InvalidInput, match="nan_policy='raise'"):
        stats.orthokurtosis(da.from_array(rows, chunks=(2, 11)), axis=1, nan_policy="raise").compute()


def test_weights() -> None:
    given, one, each = da.from_array(ROWS, chunks=(5, -1)), RNG.random(60), RNG.random((23, 60))
    for weights in (one, each, each[:1], da.from_array(each, chunks=11)):
        found = stats.skewness(given, axis=1, weights=weights).compute()
        assert np.array_equal(found, stats.skewness(ROWS, axis=1, weights=np.asarray(weights)))


def test_refused_rows_are_told_when_they_are_computed() -> None:
    rows = np.array([[0.0, 0, 0, 1, 2], [1, 2, 3, 5, 8]])
    whole, cut = da.from_array(rows, chunks=(1, -1)), da.from_array(rows, chunks=(2, 3))
    for given in (whole, cut):
        with pytest.warns(RefusalWarning, match="no zero-skew point"):
            found = stats.orthokurtosis(given, axis=1).compute()
        assert np.isnan(found).tolist() == [True, False]
        with pytest.raises(Refused, match="no zero-skew point"):
            stats.orthokurtosis(given, axis=1, on_refusal="raise").compute()
    with pytest.warns(RefusalWarning, match="no zero-skew point"):
        PLAN.transform(whole).compute()


CUT, KEPT = da.from_array(ROWS, chunks=(5, 30)), da.from_array(ROWS, chunks=(5, -1))
REFUSED: list[tuple[Callable[[], Any], str]] = [
    *((lambda f=f: f(CUT, axis=1), r"needs whole samples, and axis 1 is in 2 chunks: a.rechunk\(\{1: -1\}\)")
      for f in WHOLE if f not in BY_STATES),
    (lambda: stats.log_shape(CUT.ravel()), "of one long vector, symdecouple.lazy has more"),
    (lambda: stats.orthokurtosis(da.from_array(np.tile(ROWS, (5, 1)), chunks=(-1, 30)), axis=1),
     r"115 samples in chunks lie in one block, at most 64 can be measured together; make them whole, a.rechunk"),
    (lambda: stats.skewness(CUT, axis=1, weights=np.ones(60)), "skewness with weights needs whole samples"),
    (lambda: stats.decoupled_moments(CUT, 4, axis=1, perturb="ramp"), "decoupled_moments with perturb needs whole"),
    (lambda: stats.skewness(KEPT, axis=1, weights=np.ones(7)), "weights of shape"),
    (lambda: stats.skewness(KEPT, axis=2), "axis=2 was given"),
    (lambda: stats.skewness(KEPT, axis=1, on_refusal="return"), "on_refusal='return'"),
    (lambda: stats.skewness(KEPT, axis=1, nan_policy="drop"), "nan_policy='drop'"),
    (lambda: stats.decoupled_moments(KEPT, 99, axis=1), "order=99"),
    (lambda: stats.skewness(KEPT > 1, axis=1), "booleans"),
    (lambda: stats.skewness(KEPT.astype(complex), axis=1), "complex"),
    (lambda: stats.skewness(KEPT, dim="time"), "names a dimension of an object of xarray"),
    (lambda: stats.skewness(CUT[CUT[:, 0] > 1], axis=1), "compute_chunk_sizes"),
    (lambda: stats.skewness(dask.delayed(sum)([1])), "a Delayed of dask was given"),
    (lambda: PLAN.transform(dask.delayed(sum)([1])), "a Delayed of dask was given"),
    (lambda: lazy.decoupled_moments(dask.delayed(sum)([1])), "a Delayed of dask was given"),
    (lambda: stats.skewness([KEPT[0], KEPT[1]]), "dask.array.stack"),
    (lambda: stats.match(KEPT, mean=0, axis=1), r"give a.compute\(\)"),
    (lambda: PLAN.transform(CUT), "plan.transform needs whole samples, and axis 1 is in 2 chunks"),
    (lambda: PLAN.transform(KEPT, dps=30), "dps= is for arrays in memory"),
    (lambda: PLAN.normalize(KEPT, 9), "level"),
    (lambda: PLAN.denormalize(KEPT, [0, 1]), "denormalize takes arrays in memory"),
    (lambda: PLAN.attainable(KEPT), r"give a.compute\(\)"),
    (lambda: PLAN.transfer(KEPT, KEPT), r"give a.compute\(\)"),
    (lambda: PLAN.transform(ROWS, dim="time"), "use axis= here"),
    (lambda: lazy.normalize(KEPT, on_refusal="return"), "on_refusal='return'"),
    (lambda: lazy.MomentState().update(KEPT), "numbers in memory are expected"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_refusals_come_at_once(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()


def test_a_state_is_delayed() -> None:
    state = lazy.moments(CUT, 6)
    expected = stats.standardized_moments(ROWS, 6, axis=None)
    assert state.compute().finalize().moments == pytest.approx(expected, rel=1e-12)
