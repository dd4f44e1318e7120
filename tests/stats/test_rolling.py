"""Moving windows: against SciPy on each window, and against pandas for where results stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from symdecouple.errors import InvalidInput
from symdecouple.stats import circular_shape, decoupled_moments, match, orthokurtosis, rolling
from tests.traced import peak
from tests.warned import one_refusal

VALUES = np.random.default_rng(8).normal(size=30)


@pytest.mark.parametrize(("statistic", "options"), [
    ("decoupled_moments", {"order": 4}), (decoupled_moments, {"order": 4}), (orthokurtosis, {}),
    ("standardized_moments", {"order": 4}), ("skewness", {"weights": np.arange(1.0, 9)}), (circular_shape, {}),
    ("kurtosis_range", {}), ("orthokurtosis_test", {"alternative": "greater"}), ("kurtosis", {"fisher": True})])
def test_a_window_has_what_its_values_have_alone(statistic: Any, options: dict[str, Any]) -> None:
    from symdecouple import stats

    function = getattr(stats, statistic) if isinstance(statistic, str) else statistic
    found, outcomes = rolling(VALUES, 8, statistic, on_refusal="return", **options)
    for i in range(30):
        mine = found[i] if isinstance(found, np.ndarray) else [field[i] for field in found]
        if i < 7:
            assert np.isnan(mine).all() and outcomes[i].reason == "window not whole"
        else:
            np.testing.assert_array_equal(mine, function(VALUES[i - 7 : i + 1], on_refusal="return", **options)[0])


def test_the_last_axis_or_another_one() -> None:
    rows = np.stack([VALUES, VALUES[::-1]])
    found = rolling(rows, 6, order=3)
    assert found.shape == (2, 30, 3) and np.array_equal(found[1], rolling(VALUES[::-1], 6, order=3), equal_nan=True)
    assert np.array_equal(rolling(rows.T, 6, order=3, axis=0), found.transpose(1, 0, 2), equal_nan=True)


@pytest.mark.parametrize("holes", [[], [3, 4, 17]])
@pytest.mark.parametrize("window", [3, 4, 7])
@pytest.mark.parametrize("min_periods", [None, 2, 3])
def test_results_stand_where_those_of_pandas_do(holes: list[int], window: int, min_periods: int | None) -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series(VALUES, pd.date_range("2020", periods=30), name="v")
    series.iloc[holes] = np.nan

    def oracle(values: np.ndarray) -> float:
        kept = values[~np.isnan(values)]
        return float(scipy.stats.skew(kept))

    for options in ({}, {"center": True}, {"step": 2}, {"step": 3, "center": True}):
        expected = series.rolling(window, min_periods=min_periods, **options).apply(oracle, raw=True)
        found = rolling(series, window, "skewness", min_periods=min_periods, on_refusal="return", **options)[0]
        assert found.index.equals(expected.index) and found.name == "skewness"
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("statistic", "options"), [("skewness", {}), ("kurtosis", {"fisher": True})])
def test_the_estimates_of_pandas(statistic: str, options: dict[str, bool]) -> None:
    pd = pytest.importorskip("pandas")
    windows = pd.Series(VALUES).rolling(9)
    expected = windows.kurt() if options else windows.skew()
    found = rolling(pd.Series(VALUES), 9, statistic, bias=False, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_labels_of_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": VALUES, "b": VALUES**2})
    one = rolling(frame, 5, "skewness")
    assert list(one.columns) == ["a", "b"] and one["b"].equals(rolling(frame["b"], 5, "skewness").rename("b"))
    orders = rolling(frame["a"], 5, order=4)
    assert list(orders.columns) == ["mean", "variance", "skewness", "orthokurtosis"]
    assert rolling(frame, 5, order=2).index.tolist()[:3] == [(0, "a"), (0, "b"), (1, "a")]
    assert rolling(frame["a"], 5, "skewness_range").high.name == "high"
    with pytest.raises(InvalidInput, match="a groupby object was given"):
        rolling(frame.groupby("a"), 5)


def test_masked_integer_and_missing_entries() -> None:
    masked = np.ma.masked_array([1.0, 2, 4, 5, 3, 4], [0, 0, 1, 0, 0, 0])
    found = rolling(masked, 4, "skewness")
    assert found[3] == pytest.approx(scipy.stats.skew([1, 2, 5]), rel=1e-13) and np.isnan(found[:3]).all()
    assert rolling([2**60 + k for k in (1, 2, 4)], 3, "skewness")[2] == pytest.approx(scipy.stats.skew([1, 2, 4]))
    holed = [1.0, np.nan, 4, 5, 3, 4]
    assert np.isnan(rolling(holed, 3, "skewness")).tolist() == [True] * 4 + [False] * 2
    assert np.isnan(rolling(holed, 3, "skewness", nan_policy="omit")).tolist() == [True] * 2 + [False] * 4
    with pytest.raises(InvalidInput, match="NaN at 1 and nan_policy='raise'"):
        rolling(holed, 3, "skewness", nan_policy="raise")
    assert np.isnan(rolling(VALUES, 31, order=4)).all() and rolling([], 3, "skewness").shape == (0,)


def test_refused_windows_are_told_where_they_end_and_short_ones_are_not() -> None:
    with one_refusal("rolling skewness: 2 of 7 samples refused, at 2, 6, the first: zero var", __file__):
        rolling([1.0, 1, 1, 2, 3, 3, 3], 3, "skewness")
        rolling(VALUES, 8, "skewness")


@pytest.mark.parametrize(("arguments", "options", "said"), [
    ((VALUES, 0), {}, "window=0 was given, 1 or more"), ((VALUES, 2.5), {}, "window=2.5 was given, a whole number"),
    ((VALUES, "7D"), {}, "spans of time are not taken"), ((VALUES, 3, "mean"), {}, "statistic='mean' was given"),
    ((VALUES, 3, np.mean), {}, "statistic=mean"), ((VALUES, 3, match), {}, "statistic=match"),
    ((VALUES, 3), {"min_periods": 4}, "windows of 3 entries"), ((VALUES, 3), {"step": 0}, "step=0"),
    ((VALUES, 3), {"center": 1}, "center=1"), ((VALUES, 3), {"groups": VALUES}, "groups= was given, which"),
    ((VALUES, 3), {"foo": 1}, "foo= was given"), ((VALUES, 3), {"order": 40}, "order=40"), ((3.0, 3), {}, "one number"),
    ((VALUES, 3), {"axis": 1}, "axis=1 was given"), ((["a", "b"], 2), {}, "text")])
def test_what_is_no_window(arguments: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        rolling(*arguments, **options)


def test_memory_does_not_grow_with_the_windows() -> None:
    long = np.random.default_rng(0).normal(size=2**16)
    rolling(long[:1000], 128, "skewness")
    assert peak(lambda: rolling(long, 128, "skewness")) < 2**25 < 8 * 128 * 2**16
