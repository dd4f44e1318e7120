"""Series and DataFrames in, the same out: labels, names, alignment by label, and what is refused by its name."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdecouple import Mean, analysis, decouple, x
from symdecouple.errors import InvalidInput, Refused
from symdecouple.families.moments import raw_moments
from symdecouple.stats import (
    blest,
    circular_shape,
    decoupled_moments,
    estimate_moments,
    kurtosis,
    kurtosis_range,
    log_shape,
    match,
    normality_test,
    orthokurtosis,
    orthokurtosis_range,
    orthokurtosis_test,
    skewness,
    skewness_range,
    standardized_moments,
)
from tests.warned import one_refusal

pd = pytest.importorskip("pandas")

VALUES = np.random.default_rng(5).gamma(2.0, size=(9, 3))
FRAME = pd.DataFrame(VALUES, index=[f"day {k}" for k in range(9)], columns=list("abc"))
PLAN = decouple(raw_moments(4))
MOMENTS = ["mean", "variance", "skewness", "orthokurtosis"]


@pytest.mark.parametrize("function", [skewness, kurtosis, orthokurtosis, log_shape])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_number_a_sample_is_a_series(function: Any, axis: int) -> None:
    found = function(FRAME, axis=axis)
    assert isinstance(found, pd.Series) and found.name == function.__name__
    assert found.index.equals(FRAME.axes[1 - axis]) and np.array_equal(found, function(VALUES, axis=axis))
    assert function(FRAME["a"]) == function(VALUES[:, 0]) and np.ndim(function(FRAME, axis=None)) == 0


@pytest.mark.parametrize(("function", "names"), [
    (decoupled_moments, [*MOMENTS, "decoupled_5", "decoupled_6"]),
    (standardized_moments, ["mean", "variance", "skewness", "kurtosis", "standardized_5", "standardized_6"]),
    (blest, ["mean", "variance", "skewness", "blest_4", "standardized_5", "blest_6"])])
def test_orders_are_named_columns(function: Any, names: list[str]) -> None:
    found = function(FRAME, 6)
    assert list(found.columns) == names and list(found.index) == list("abc")
    assert np.array_equal(found, function(VALUES, 6))
    one = function(FRAME["b"], order=3)
    assert list(one.index) == names[:3] and one.name == "b" and np.array_equal(one, function(VALUES[:, 1], order=3))
    assert list(function(FRAME, order=2, keepdims=True).index) == [(function.__name__, k) for k in "abc"]


def test_names_are_those_of_plans_and_are_true() -> None:
    assert list(decoupled_moments(FRAME, 6).columns) == list(decouple(raw_moments(6)).names)
    for reference, names in (((0, 2, 0), ["mean", "variance", "decoupled_3", "decoupled_4"]),
                             ((0, 1, 0.5), [*MOMENTS[:3], "decoupled_4"])):
        assert list(decoupled_moments(FRAME, 4, reference=reference).columns) == names
        assert list(decouple(raw_moments(4), [*reference, None]).names) == names


@pytest.mark.parametrize("function", [skewness_range, kurtosis_range, orthokurtosis_range, circular_shape,
                                      orthokurtosis_test, normality_test])
def test_named_tuples_hold_series(function: Any) -> None:
    found, plain = function(FRAME), function(VALUES)
    for field, column in found._asdict().items():
        assert column.name == field and list(column.index) == list("abc")
        assert np.array_equal(column, getattr(plain, field))


def test_estimates_keep_labels_and_so_do_their_errors() -> None:
    found, plain = estimate_moments(FRAME), estimate_moments(VALUES)
    for name in ("estimate", "standard_error"):
        assert list(getattr(found, name).columns) == MOMENTS and list(getattr(found, name).index) == list("abc")
        assert np.array_equal(getattr(found, name), getattr(plain, name))
    for mine, theirs in zip(found.confidence_interval(0.9), plain.confidence_interval(0.9), strict=True):
        assert list(mine.index) == list("abc") and np.array_equal(mine, theirs)
    one = estimate_moments(FRAME["b"])
    assert list(one.standard_error.index) == MOMENTS and str(one) == str(estimate_moments(VALUES[:, 1]))
    assert np.array_equal(found.covariance, plain.covariance) and found.n_samples.to_dict() == dict.fromkeys("abc", 9)


def test_matched_samples_keep_their_labels_and_targets_are_aligned() -> None:
    made = match(FRAME, mean=pd.Series({"c": 3, "a": 1, "b": 2}), variance=1)
    assert made.values.index.equals(FRAME.index) and list(made.values.columns) == list("abc")
    np.testing.assert_allclose(made.values.mean(), [1, 2, 3], rtol=1e-13)
    assert list(made.statistics.columns) == ["mean", "variance", "skewness", "kurtosis"]
    assert made.residual.name == "residual" and bool(made.ok.all()) and "\nc: mean 3, " in str(made)
    assert match(FRAME["a"], mean=0).values.index.equals(FRAME.index)
    wanted = pd.DataFrame([[1, 0.2, 0.3], [0.2, 1, 0.1], [0.3, 0.1, 1]], index=list("cab"), columns=list("cab"))
    together = match(FRAME, skewness=0, correlation=wanted).values.corr()
    assert np.abs(together - wanted.loc[list("abc"), list("abc")]).to_numpy().max() < 1e-12
    with pytest.raises(InvalidInput, match="correlation= is aligned by its labels"):
        match(FRAME, skewness=0, correlation=wanted.rename(columns={"a": "d"}))
    higher = match(FRAME, skewness=0, kurtosis=2.2, higher=[pd.Series({"c": 0.1, "a": 0.2, "b": 0})]).statistics
    np.testing.assert_allclose(higher["standardized_5"], [0.2, 0, 0.1], atol=1e-12)
    with pytest.raises(InvalidInput, match=r"mean= is aligned by its labels.*has none for 'c'"):
        match(FRAME, mean=pd.Series({"a": 1, "b": 2}))


def test_weights_are_aligned_by_label() -> None:
    weights = pd.Series(np.arange(1.0, 10), index=FRAME.index)
    expected = skewness(VALUES, weights=np.arange(1.0, 10))
    assert np.array_equal(skewness(FRAME, weights=weights.iloc[::-1]), expected)
    assert np.array_equal(skewness(FRAME, weights=pd.DataFrame(dict.fromkeys("cba", weights))), expected)
    assert skewness(FRAME["a"], weights=weights.sample(frac=1, random_state=1)) == expected[0]
    with pytest.raises(InvalidInput, match=r"weights= is aligned.*'day 0'"):
        skewness(FRAME, weights=weights.iloc[1:])


# --- plans ---


def test_a_plan_names_its_columns_and_keeps_labels() -> None:
    rows, columns = PLAN.transform(FRAME.T), PLAN.transform(FRAME, axis=0)
    for found in (rows, columns):
        assert list(found.columns) == MOMENTS and list(found.index) == list("abc")
        assert np.array_equal(found, PLAN.transform(VALUES.T))
    one = PLAN.transform(FRAME["a"])
    assert list(one.index) == MOMENTS and one.name == "a"
    standard = PLAN.normalize(FRAME, axis=0)
    assert standard.index.equals(FRAME.index) and np.array_equal(standard, PLAN.normalize(VALUES, axis=0))
    for values in (columns, columns.iloc[::-1, ::-1]):  # by label
        np.testing.assert_allclose(PLAN.denormalize(standard, values, axis=0), FRAME, atol=1e-12)
    slopes = PLAN.gradients(FRAME, axis=0)
    assert list(slopes.index) == [(k, m) for k in "abc" for m in MOMENTS] and slopes.columns.equals(FRAME.index)
    assert np.array_equal(slopes.to_numpy().reshape(3, 4, 9), PLAN.gradients(VALUES, axis=0))
    assert list(PLAN.gradients(FRAME["a"]).index) == MOMENTS
    matched = PLAN.match(FRAME, [0, 1, 0.5, 2.0], axis=0)
    np.testing.assert_allclose([np.mean(matched["b"] ** k) for k in (1, 2, 3)], [0, 1, 0.5], atol=1e-12)


def test_other_questions_to_a_plan_take_frames() -> None:
    assert np.array_equal(PLAN.attainable(FRAME, axis=0).low, PLAN.attainable(VALUES, axis=0).low)
    made = PLAN.transfer(FRAME.T, FRAME["a"])
    assert np.array_equal(made.values, PLAN.transfer(VALUES.T, VALUES[:, 0]).values)
    angles = analysis.orthogonality(PLAN, FRAME.T)
    assert angles.original.average == analysis.orthogonality(PLAN, VALUES.T).original.average


def test_digits_and_doubtful_axes() -> None:
    precise = PLAN.transform(FRAME, axis=0, dps=30)
    assert list(precise.columns) == MOMENTS and abs(float(precise.loc["a", "mean"]) - VALUES[:, 0].mean()) < 1e-15
    with pytest.warns(match=r"did you mean axis=0\?"):
        decouple([Mean(x), Mean(x**2)]).transform(pd.DataFrame(np.ones((200, 1))))


# --- what columns hold ---


@pytest.mark.parametrize("held", [
    pd.Series([1, 2, None, 4, 9], dtype="Int64"), pd.Series([1, 2, None, 4, 9], dtype="Float64"),
    pd.Series([1, 2, None, 4, 9], dtype=object), pd.Series([1, 2, np.nan, 4, 9]),
    pd.Series([1, 2, pd.NA, Fraction(4), Decimal(9)], dtype=object),
    pd.Series(pd.arrays.SparseArray([1, 2, np.nan, 4, 9]))], ids=lambda held: str(held.dtype))
def test_missing_values_are_nan(held: Any) -> None:
    assert np.isnan(skewness(held))
    assert skewness(held, nan_policy="omit") == skewness([1, 2, 4, 9])
    assert np.isnan(skewness(pd.DataFrame({"u": held, "v": [1, 2, 3, 4, 9]}))).tolist() == [True, False]


def test_whole_numbers_beyond_float64_stay_exact() -> None:
    big = [2**60 + k for k in (1, 2, 4, 8)]
    expected = skewness([1, 2, 4, 8])
    assert skewness(pd.Series(big)) == skewness(pd.Series([*big, None], dtype="Int64"), nan_policy="omit") == expected
    mixed = skewness(pd.DataFrame({"big": big, "float": [0.5, 1, 2, 4]}))
    assert mixed["big"] == mixed["float"] == expected
    narrow = pd.DataFrame({"u": np.float32([1, 2, 5]), "v": np.int16([1, 2, 5])})
    assert skewness(narrow).dtype == np.float32


def test_arrays_and_indices_of_pandas_are_numbers_without_labels() -> None:
    assert skewness(pd.Index([1, 2, 5])) == skewness(pd.array([1, 2, 5])) == skewness([1, 2, 5])
    assert np.array_equal(PLAN.transform(pd.Index(VALUES[:, 0])), PLAN.transform(VALUES[:, 0]))


@pytest.mark.parametrize(("column", "what"), [
    (["x", "y", "z"], "text ('x')"), ([None, "2", "3"], "text ('2')"), (pd.Categorical([1, 2, 3]), "categories"),
    (pd.date_range("2020", periods=3), "dates"), (pd.date_range("2020", periods=3, tz="UTC"), "dates"),
    (pd.timedelta_range("1s", periods=3), "time spans"), ([True, False, True], "booleans"),
    (pd.array([True, None, False], dtype="boolean"), "booleans"), ([1j, 2, 3], "complex numbers"),
    (pd.period_range("2020", periods=3, freq="D"), "periods"), (pd.interval_range(0, 3), "intervals"),
    (np.array([1, "y", 2.5], dtype=object), "text ('y')"), ([[1], [2], [3]], "entries of type list")],
    ids=lambda value: value if isinstance(value, str) else "")
def test_columns_without_numbers_are_refused_by_name(column: Any, what: str) -> None:
    frame = pd.DataFrame({"good": [1.0, 2, 5], "bad": column, "worse": column})
    for ask in (skewness, PLAN.transform):
        with pytest.raises(InvalidInput) as refused:
            ask(frame)
        assert f"columns 'bad' ({what}" in str(refused.value) and "'worse'" in str(refused.value)
        assert "\n" not in str(refused.value) and "select_dtypes" in str(refused.value)
        with pytest.raises(InvalidInput, match=f"Series 'bad' holds {what.partition(' (')[0]}"):
            ask(frame["bad"])
    assert skewness(frame[["good"]])["good"] == skewness([1, 2, 5])


@pytest.mark.parametrize("frame", [pd.DataFrame(), pd.DataFrame({"a": []}), FRAME[[]]])
def test_empty_frames_are_refused(frame: Any) -> None:
    with pytest.raises(InvalidInput, match=r"an empty DataFrame was given, of [0-9]+ rows and [01] column"):
        skewness(frame)


@pytest.mark.parametrize(("held", "said"), [
    (FRAME.rolling(2), "Rolling of pandas was given.*stats.rolling"), ([[1, 2], [3]], "rectangular"),
    (pd.MultiIndex.from_tuples([(1, 2), (3, 4)]), "MultiIndex of 2 levels"), ([FRAME["a"], FRAME["a"]], None)])
def test_what_is_no_array(held: Any, said: str | None) -> None:
    if said is None:
        assert np.array_equal(skewness(held, axis=1), skewness(np.array([VALUES[:, 0]] * 2), axis=1))
    else:
        with pytest.raises(InvalidInput, match=said):
            skewness(held)


def test_a_wrong_axis_is_told() -> None:
    with pytest.raises(InvalidInput, match="axis=1 was given for an array of shape"):
        skewness(FRAME["a"], axis=1)


# --- refusals ---


def test_refused_samples_are_named_by_their_labels() -> None:
    frame = FRAME.assign(flat=1.0)
    for ask, told in ((lambda: skewness(frame), "skewness: 1 of 4 samples refused, at 'flat': zero variance"),
                      (lambda: skewness(a=frame), "skewness: 1 of 4 samples refused, at 'flat': zero variance"),
                      (lambda: skewness(a=frame.to_numpy()), "skewness: 1 of 4 samples refused, at 3: zero variance"),
                      (lambda: PLAN.transform(frame, axis=0), "transform: 1 of 4 samples refused, at 'flat'")):
        with one_refusal(told, __file__):
            ask()
    for ask in (skewness, lambda holed, **options: PLAN.transform(holed, axis=0, **options)):
        with pytest.raises(InvalidInput, match=r"1 of 4 samples hold NaN \(at 'gone'\) and nan_policy='raise'"):
            ask(FRAME.assign(gone=np.nan), nan_policy="raise")
    with pytest.raises(Refused) as refused:
        skewness(frame, on_refusal="raise")
    assert list(refused.value.partial.index) == [*"abc", "flat"]
    for ask in (lambda: skewness(frame, on_refusal="ignore"), lambda: PLAN.transform(frame, on_refusal="ignore")):
        with pytest.raises(InvalidInput, match="on_refusal='ignore' was given"):
            ask()
    found, outcomes = skewness(frame, on_refusal="return")
    assert [outcome.ok for outcome in outcomes] == [True] * 3 + [False] and np.isnan(found["flat"])
