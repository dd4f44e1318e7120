"""Samples that are groups of one vector: against a loop over the groups, and pandas' own groupby."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from symdecouple import decouple
from symdecouple.errors import InvalidInput, RefusalWarning
from symdecouple.families.moments import raw_moments
from symdecouple.stats import (
    circular_shape,
    decoupled_moments,
    estimate_moments,
    kurtosis,
    kurtosis_range,
    match,
    orthokurtosis,
    orthokurtosis_test,
    skewness,
    standardized_moments,
)
from tests.warned import one_refusal

RNG = np.random.default_rng(3)
LABELS = np.repeat(["one", "ten", "few", "many", "some"], [1, 10, 4, 30, 10])[RNG.permutation(55)]
VALUES = RNG.normal(size=55)
PLAN = decouple(raw_moments(4))


def parts() -> list[tuple[str, np.ndarray]]:
    return [(label, VALUES[label == LABELS]) for label in sorted(set(LABELS))]


@pytest.mark.parametrize(("function", "options"), [
    (skewness, {}), (kurtosis, {}), (orthokurtosis, {}), (decoupled_moments, {"order": 6}),
    (standardized_moments, {"order": 3}), (PLAN.transform, {}), (kurtosis_range, {}), (circular_shape, {}),
    (orthokurtosis_test, {})],
    ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("given", [list, np.asarray, np.ma.asarray])
def test_a_group_has_what_it_has_alone(function: Any, options: dict[str, Any], given: Callable[..., Any]) -> None:
    (labels, found), outcomes = function(given(VALUES), groups=given(LABELS), on_refusal="return", **options)
    alone = [function(part, on_refusal="return", **options) for _, part in parts()]
    assert labels.tolist() == [label for label, _ in parts()]
    for k, (value, (outcome,)) in enumerate(alone):
        mine = found[k] if isinstance(found, np.ndarray) else [field[k] for field in found]
        np.testing.assert_array_equal(mine, value)
        assert outcomes[k] == outcome


def test_estimates_of_groups() -> None:
    (_, found), outcomes = estimate_moments(VALUES, groups=LABELS, on_refusal="return")
    for k, (_, part) in enumerate(parts()):
        alone, (outcome,) = estimate_moments(part, on_refusal="return")
        np.testing.assert_array_equal(found.standard_error[k], alone.standard_error)
        np.testing.assert_array_equal(found.covariance[k], alone.covariance)
        np.testing.assert_array_equal(found.n_samples[k], alone.n_samples)
        assert outcomes[k] == outcome


def test_what_has_the_shape_of_the_values_comes_back_in_place() -> None:
    normalized = PLAN.normalize(VALUES, groups=LABELS, on_refusal="return")[0]
    slopes = PLAN.gradients(VALUES, groups=LABELS, on_refusal="return")[0]
    made = match(VALUES, mean=[1, 2, 3, 4, 5], groups=LABELS, on_refusal="return")[0].values
    asked = PLAN.match(VALUES, [0, 1, 0, 1.9], groups=LABELS, on_refusal="return")[0]
    assert normalized.shape == made.values.shape == asked.shape == (55,) and slopes.shape == (4, 55)
    for k, (label, part) in enumerate(parts()):
        if len(part) > 1:
            np.testing.assert_array_equal(normalized[label == LABELS], PLAN.normalize(part))
            np.testing.assert_array_equal(slopes[:, label == LABELS], PLAN.gradients(part))
            assert made.values[label == LABELS].mean() == pytest.approx(k + 1, rel=1e-14)
            assert made.outcomes[k].ok and made.statistics[k, 0] == pytest.approx(k + 1, rel=1e-14)
    values = PLAN.transform(VALUES, groups=LABELS, on_refusal="return")[0].values
    again = PLAN.denormalize(normalized, values, groups=LABELS, on_refusal="return")[0]
    whole = LABELS != "one"
    np.testing.assert_allclose(again[whole], VALUES[whole], atol=1e-12)
    assert np.isnan(again[~whole]).all()


def test_groups_along_an_axis_of_several() -> None:
    both = np.stack([VALUES, VALUES**2])
    for array, options in ((both, {"axis": 1}), (both.T, {})):
        found = decoupled_moments(array, 4, groups=LABELS, on_refusal="return", **options)[0].values
        assert found.shape == (5, 2, 4)
        for k in range(2):
            expected = decoupled_moments(both[k], 4, groups=LABELS, on_refusal="return")[0].values
            np.testing.assert_array_equal(found[:, k], expected)
    np.testing.assert_array_equal(PLAN.normalize(both, groups=LABELS, on_refusal="return")[0][1],
                                  PLAN.normalize(VALUES**2, groups=LABELS, on_refusal="return")[0])


@pytest.mark.parametrize("weights", [np.arange(1.0, 56), np.arange(1, 56)])
def test_weights_belong_to_entries(weights: Any) -> None:
    found = skewness(VALUES, groups=LABELS, weights=weights, on_refusal="return")[0].values
    for k, (label, part) in enumerate(parts()):
        if len(part) > 1:
            assert found[k] == skewness(part, weights=weights[label == LABELS])


def test_masked_missing_and_exact_entries() -> None:
    hidden = np.zeros(55, dtype=bool)
    hidden[::7] = True
    holed = np.where(hidden, np.nan, VALUES)
    left_out = skewness(np.ma.masked_array(VALUES, hidden), groups=LABELS, on_refusal="return")[0].values
    omitted = skewness(holed, groups=LABELS, nan_policy="omit", on_refusal="return")[0].values
    np.testing.assert_array_equal(left_out, omitted)
    np.testing.assert_array_equal(PLAN.transform(np.ma.masked_array(VALUES, hidden), groups=LABELS,
                                                 on_refusal="return")[0].values[:, 2], left_out)
    with pytest.raises(InvalidInput, match=r"[0-9] of 5 groups hold NaN \(at .*nan_policy='raise'"):
        skewness(holed, groups=LABELS, nan_policy="raise")
    exact = skewness([2**60 + 1, Fraction(1, 3), 2**60 + 2, Fraction(2, 3), 2**60 + 5, Fraction(5, 3)],
                     groups=[0, 1] * 3).values
    assert exact.tolist() == pytest.approx([skewness([1, 2, 5])] * 2, rel=1e-15)
    assert skewness(np.float32(VALUES), groups=np.arange(55) % 3).values.dtype == np.float32


@pytest.mark.parametrize(("labels", "expected"), [
    ([2, 1, None, 2, 1, 2], [1, 2, np.nan]), ([2.5, 1, np.nan, 2.5, 1, 2.5], [1, 2.5, np.nan]),
    (["b", "a", None, "b", "a", "b"], ["a", "b", np.nan]), ([1, "1", None, 1, "1", 1], [1, "1", np.nan]),
    (np.ma.masked_array([2, 1, 9, 2, 1, 2], [0, 0, 1, 0, 0, 0]), [1, 2, np.nan]),
    (np.array(["2021", "2020", "NaT", "2021", "2020", "2021"], dtype="M8[Y]"), None),
    ([True, False, None, True, False, True], [False, True, np.nan])], ids=str)
def test_labels_of_any_kind_are_sorted_and_no_label_is_the_last(labels: Any, expected: Any) -> None:
    found, means = standardized_moments([1.0, 2, 4, 8, 16, 32], 1, groups=labels)
    assert sorted(means.ravel().tolist()) == pytest.approx([4, 9, 41 / 3])
    assert means[-1] == 4
    if expected is None:
        assert np.isnat(found[-1])
    else:
        assert found[:-1].tolist() == expected[:-1] and np.isnan(found[-1])


@pytest.mark.parametrize("labels", [
    RNG.integers(-5, 7, 50), RNG.integers(0, 200, 60).astype(np.uint8), RNG.integers(-128, 128, 200).astype(np.int8),
    np.array([2**63 - 1, 2**63 - 2, 2**63 - 1]), np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64),
    np.array([-(2**63), 2**63 - 1]), np.array([1000, 3, 3]), np.sort(RNG.integers(0, 4, 30))], ids=str)
def test_whole_numbers_as_labels(labels: Any) -> None:
    expected, codes = np.unique(labels, return_inverse=True)
    found, means = standardized_moments(np.arange(len(labels)), 1, groups=labels)
    assert found.dtype == labels.dtype and np.array_equal(found, expected)
    np.testing.assert_allclose(means[:, 0], np.bincount(codes, np.arange(len(labels))) / np.bincount(codes), rtol=1e-13)


def test_groups_of_one_are_said() -> None:
    with one_refusal("skewness: 1 of 5 samples refused, at 'one'", __file__):
        skewness(VALUES, groups=LABELS)
    moments = standardized_moments(VALUES, 2, groups=LABELS).values
    assert moments[2].tolist() == [VALUES[LABELS == "one"][0], 0]


@pytest.mark.parametrize(("values", "options", "said"), [
    (VALUES, {"groups": LABELS[:5]}, "5 labels for 55 entries"), (VALUES, {"groups": "a"}, "takes a DataFrame"),
    (VALUES, {"groups": [LABELS, LABELS]}, "in one dimension"), (VALUES, {"groups": [{}] * 55}, "no labels"),
    (VALUES, {"groups": [[1], [1, 2]]}, "lists of several lengths"),
    (VALUES.reshape(5, 11), {"groups": range(5), "axis": None}, "along one axis; name it"),
    (VALUES, {"groups": LABELS, "keepdims": True}, "keepdims"), (3.0, {"groups": [1]}, "one number"),
    ([], {"groups": []}, "no values"), (VALUES, {"groups": LABELS, "weights": [1, 2]}, "weights= of shape")], ids=str)
def test_what_groups_do_not_fit(values: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        skewness(values, **options)


def test_progress_counts_all_groups() -> None:
    told: list[tuple[int, int]] = []
    PLAN.transform(VALUES, groups=LABELS, on_refusal="return", progress=lambda k, n: told.append((k, n)))
    assert told[-1] == (5, 5) and [k for k, _ in told] == sorted(k for k, _ in told)
    with pytest.raises(InvalidInput, match="a checkpoint keeps samples of one length"):
        PLAN.transform(VALUES, groups=LABELS, checkpoint="never.npz")


# --- pandas ---


def test_a_series_gives_one_labelled_row_a_group() -> None:
    pd = pytest.importorskip("pandas")
    index = pd.Index(range(100, 155))
    values, keys = pd.Series(VALUES, index, name="v"), pd.Series(LABELS, index, name="g")
    expected = values.groupby(keys).apply(lambda part: scipy.stats.skew(part) if len(part) > 1 else np.nan)
    for a, groups in ((values, keys), (values, keys.sample(frac=1, random_state=2)), (values.groupby(keys), None)):
        found = skewness(a, groups=groups, on_refusal="return")[0]
        pd.testing.assert_series_equal(found, expected, check_names=False, rtol=1e-12)
        assert found.name == "skewness" and found.index.name == "g"
    rows = decoupled_moments(values, 4, groups=keys, on_refusal="return")[0]
    assert list(rows.columns) == list(PLAN.names) and np.array_equal(
        rows, PLAN.transform(values, groups=keys, on_refusal="return")[0], equal_nan=True)
    normalized = PLAN.normalize(values, groups=keys, on_refusal="return")[0]
    assert normalized.index.equals(index)
    back = PLAN.denormalize(normalized, rows.iloc[::-1], groups=keys, on_refusal="return")[0]
    assert np.nanmax(np.abs(back - values)) < 1e-12
    targets = pd.Series({"many": 4, "few": 1, "some": 3, "ten": 2, "one": 0})
    for samples, labels in ((values, keys), (values, LABELS), (VALUES, LABELS)):  # targets are aligned by label always
        made = match(samples, mean=targets, groups=labels, on_refusal="return")[0]
        statistics = np.asarray((made.values if samples is VALUES else made).statistics)
        assert statistics[:, 0].round(12).tolist() == [1, 4, 0, 3, 2]  # few, many, one, some, ten
    with pytest.raises(InvalidInput, match="mean= is aligned by its labels with the samples, and has none for 'one'"):
        match(VALUES, mean=targets.drop("one"), groups=LABELS)


def test_frames_with_a_column_of_labels() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"g": LABELS, "v": VALUES, "w": VALUES**2})
    found = skewness(frame, groups="g", on_refusal="return")[0]
    assert list(found.columns) == ["v", "w"] and found.index.name == "g"
    for column in "vw":
        expected = skewness(frame[column], groups=frame["g"], on_refusal="return")[0]
        assert np.array_equal(found[column], expected, equal_nan=True)
    assert np.array_equal(skewness(frame.groupby("g"), on_refusal="return")[0], found, equal_nan=True)
    rows = PLAN.transform(frame, groups="g", on_refusal="return")[0]
    assert rows.index.names == ["g", None] and rows.loc[("many", "w"), "skewness"] == found.loc["many", "w"]
    twice = standardized_moments(frame.assign(h=frame["v"] > 0), 1, groups=["g", "h"])
    expected = frame.groupby(["g", frame["v"] > 0])["w"].mean().to_numpy()
    np.testing.assert_allclose(twice.xs("w", level=2)["mean"], expected, rtol=1e-12)
    keys = pd.MultiIndex.from_frame(frame[["g"]].assign(h=frame["v"] > 0))
    with pytest.warns(RefusalWarning, match=r"2 of 9 samples refused, at \('few', True\), \('one', False\)"):
        levels = skewness(frame["v"], groups=keys)
    assert levels.index.names == ["g", "h"] and len(levels) == len(twice) // 2
    with pytest.raises(InvalidInput, match="'q' is not among 'g', 'v', 'w'"):
        skewness(frame, groups="q")
    with pytest.raises(InvalidInput, match="no column is left beside the groups"):
        skewness(frame[["g"]], groups="g")
    some = frame["v"].iloc[5:]
    assert skewness(some, groups=frame["g"], on_refusal="return")[0].equals(
        skewness(some, groups=frame["g"].iloc[5:], on_refusal="return")[0])
    with pytest.raises(InvalidInput, match=r"groups= is aligned by its labels .* has 3 twice"):
        skewness(some, groups=pd.concat([frame["g"], frame["g"].iloc[[3]]]))
    with pytest.raises(InvalidInput, match="has none for 0, 1, 2"):
        skewness(frame["v"], groups=frame["g"].iloc[3:])


def test_categories_without_entries_and_groupby_options() -> None:
    pd = pytest.importorskip("pandas")
    values = pd.Series([1.0, 2, 4, 8, 16, 32])
    keys = pd.Series(pd.Categorical(["b", "a", None, "b", "a", "b"], categories=["z", "b", "a"]))
    found, outcomes = standardized_moments(values, 1, groups=keys, on_refusal="return")
    assert found.index.tolist()[:3] == ["z", "b", "a"] and np.isnan(found["mean"].iloc[0])
    assert outcomes[0].reason == "no samples" and found["mean"].iloc[-1] == 4
    for options in ({"sort": False}, {"dropna": False}, {"observed": False}, {"observed": True}):
        by = values.groupby(keys, **{"observed": False, **options})
        found = standardized_moments(by, 1, on_refusal="return")[0]["mean"]
        pd.testing.assert_series_equal(found, by.mean(), check_names=False)
    dropped = PLAN.normalize(values.groupby(keys, observed=True), level=1)
    assert np.isnan(dropped[2]) and dropped.notna().sum() == 5


def test_bins_of_time_and_no_entries_at_all() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series(VALUES[:4], pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-20", "2024-01-21"]))
    by = series.groupby(pd.Grouper(freq="5D"))
    found = standardized_moments(by, 1, on_refusal="return")[0]["mean"]
    pd.testing.assert_series_equal(found, by.mean(), check_names=False, check_freq=False)
    with pytest.raises(InvalidInput, match=r"spans of time: \.groupby\(pd\.Grouper"):
        skewness(series.resample("5D"))
    with pytest.raises(InvalidInput, match="each group is empty"):
        skewness(np.array([]), groups=pd.Categorical([], categories=["a"]))


def test_many_ragged_groups_cost_what_rows_do() -> None:
    """A loop over these groups takes a hundred times as long as one matrix."""
    import time

    labels = np.random.default_rng(0).integers(0, 5_000, 100_000)
    values = np.random.default_rng(1).normal(size=100_000)
    took = {}
    for name, ask in (("matrix", lambda: orthokurtosis(values.reshape(-1, 20), axis=1)),
                      ("groups", lambda: orthokurtosis(values, groups=labels, on_refusal="return"))):
        ask()
        start = time.thread_time()
        ask()
        took[name] = time.thread_time() - start
    assert took["groups"] < 8 * took["matrix"] + 0.2  # 2 to 3 times at ease
