"""Axes, missing values and refusals, whatever the kernel; and that rows never meet."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

from symdecouple.errors import InvalidInput, Outcome, RefusalWarning, Refused
from symdecouple.numeric.samples.batch import RowValues, SampleMatrix, reduce_rows


def first_minus_last(matrix: SampleMatrix) -> RowValues:
    """A kernel that shows the order of the entries; it refuses rows that start above 100."""
    values = matrix.values[:, 0].astype(np.float64) - matrix.values[:, -1]
    refused = np.flatnonzero(matrix.values[:, 0] > 100)
    values[refused] = np.nan
    return RowValues(values, {int(i): Outcome(False, "too high", f"starts at {matrix.values[i, 0]:g}")
                              for i in refused})


def reduce(a: object, **options: object) -> object:
    return reduce_rows("difference", a, first_minus_last, **options)  # type: ignore[arg-type]


A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [3, -4, (0, 3), 1.5, "0", (), True, (0, True), [0]])
def test_axes_that_do_not_exist_are_named(axis: object) -> None:
    with pytest.raises(InvalidInput, match="axis="):
        reduce(A, axis=axis)


def test_an_axis_named_twice() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        reduce(A, axis=(0, -3))


@pytest.mark.parametrize("option", [{"nan_policy": "ignore"}, {"on_refusal": "nan"}])
def test_unknown_policies_list_the_known_ones(option: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="is expected"):
        reduce(A, **option)


def test_single_precision_in_single_precision_out() -> None:
    for kind, expected in [("f2", "f4"), ("f4", "f4"), (">f4", "f4"), ("f8", "f8"), ("i2", "f8"), ("g", "f8")]:
        assert np.asarray(reduce(A.astype(kind), axis=-1)).dtype == np.dtype(expected)


ROWS = np.array([[1.0, 2, np.nan, 4], [5, 6, 7, 8], [np.nan, np.nan, 3, np.nan], [np.nan] * 4])


def test_nan_propagates_without_a_word() -> None:
    assert np.array_equal(reduce(ROWS, axis=1), [np.nan, -3, np.nan, np.nan], equal_nan=True)
    assert np.isnan(reduce(ROWS, axis=1, on_refusal="raise")[0])  # type: ignore[index]
    _, outcomes = reduce(ROWS, axis=1, on_refusal="return")  # type: ignore[misc]
    assert [o.reason for o in outcomes] == ["nan in the input", "", "nan in the input", "nan in the input"]


def test_nan_is_omitted_and_too_short_rows_are_refused() -> None:
    values, outcomes = reduce(ROWS, axis=1, nan_policy="omit", on_refusal="return")  # type: ignore[misc]
    assert np.array_equal(values, [-3, -3, np.nan, np.nan], equal_nan=True)
    assert [o.reason for o in outcomes] == ["", "", "one sample", "no samples"]


def test_nan_raises_where_asked() -> None:
    with pytest.raises(InvalidInput, match=r"3 of 4 samples hold NaN \(at 0, 2, 3, the first\)"):
        reduce(ROWS, axis=1, nan_policy="raise")
    with pytest.raises(InvalidInput, match="1 of 1 samples hold NaN"):
        reduce([1.0, np.nan], nan_policy="raise")
    assert reduce([1.0, 2.0], nan_policy="raise") == -1


def test_one_warning_with_count_places_and_first_reason() -> None:
    rows = np.array([[1.0, 2], [200, 1], [np.inf, 1], [300, 2]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = reduce(rows, axis=1)
    (warning,) = caught
    assert warning.category is RefusalWarning
    assert str(warning.message) == (
        "difference: 3 of 4 samples refused, at 1, 2, 3, the first: too high (starts at 200)"
    )
    assert np.array_equal(values, [-1, np.nan, np.nan, np.nan], equal_nan=True)


def test_many_refusals_name_the_first_five_in_the_shape_of_the_batch() -> None:
    with pytest.warns(RefusalWarning, match=r"at \(0, 0\), \(0, 1\), \(0, 2\), \(1, 0\), \(1, 1\), \.\.\., the first"):
        reduce(np.full((2, 3, 2), 500.0), axis=2)
    with pytest.warns(RefusalWarning, match="difference: the sample is refused: too high"):
        reduce([500.0, 1.0])


def test_raising_comes_last_and_loses_nothing() -> None:
    with pytest.raises(Refused, match="1 of 2 samples refused, at 0: infinite value") as caught:
        reduce([[np.inf, 1], [5, 1]], axis=1, on_refusal="raise")
    assert np.array_equal(caught.value.partial, [np.nan, 4], equal_nan=True)
    assert [o.ok for o in caught.value.outcomes] == [False, True]


def test_empty_and_single() -> None:
    for sample, axis, reason in [([], 0, "no samples"), ([3], 0, "one sample"), (3.0, None, "one sample")]:
        value, outcomes = reduce(sample, axis=axis, on_refusal="return")  # type: ignore[misc]
        assert np.isnan(value) and [o.reason for o in outcomes] == [reason]
    assert reduce(np.empty((3, 0)), axis=0).shape == (0,)  # type: ignore[attr-defined]
    with pytest.warns(RefusalWarning, match="3 of 3 samples refused"):
        assert reduce(np.empty((0, 3)), axis=0).shape == (3,)  # type: ignore[attr-defined]


def test_masked_entries_are_left_out_row_by_row() -> None:
    a = np.ma.masked_array([[1.0, 2, 3], [99, 5, 7], [4, 6, np.nan]], mask=[[0, 0, 0], [1, 0, 0], [0, 0, 1]])
    assert np.array_equal(reduce(a, axis=1, on_refusal="raise"), [-2, -2, -2])
    whole = np.ma.masked_array([[1.0, 2], [3, 4]], mask=[[1, 1], [0, 0]])
    _, outcomes = reduce(whole, axis=1, on_refusal="return")  # type: ignore[misc]
    assert [o.reason for o in outcomes] == ["no samples", ""]
    assert reduce(np.ma.masked_array([9, 1, 4], mask=[1, 0, 0])) == -3


def test_a_callers_strict_floating_point_settings_are_not_disturbed() -> None:
    with np.errstate(all="raise"):
        assert np.isnan(reduce(ROWS, axis=1)[0])  # type: ignore[index]
        assert np.geterr()["over"] == "raise"


@given(st.integers(1, 40), st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_every_row_is_seen_once_whatever_is_odd(n_rows: int, n_samples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_samples))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    values, outcomes = reduce(rows, axis=1, nan_policy="omit", on_refusal="return")  # type: ignore[misc]
    for row, value, outcome in zip(rows, values, outcomes, strict=True):
        kept = row[~np.isnan(row)]
        assert outcome.ok == (len(kept) > 1)
        assert not outcome.ok or value == kept[0] - kept[-1]
