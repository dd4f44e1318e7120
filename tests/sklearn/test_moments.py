"""Decoupled moments as a transformer: the numbers of `stats`, and what scikit-learn makes of them."""

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

pytest.importorskip("sklearn")

from sklearn.exceptions import NotFittedError

from symdecouple import InvalidInput, Perturbation, PerturbedWarning, RefusalWarning, Refused
from symdecouple.families.moments import raw_moments
from symdecouple.sklearn import DecoupledMoments
from symdecouple.stats import decoupled_moments

RNG = np.random.default_rng(4)
X = RNG.gamma(3, size=(8, 60))
TIED = np.vstack([np.repeat([0, 0, 0, 1, 7], 12), np.arange(60) ** 2])  # whole numbers; the first has no level 4


def with_nan() -> np.ndarray:
    rows = X.copy()
    rows[1, 5] = np.nan
    return rows


def test_numbers_are_those_of_stats_and_of_the_plan() -> None:
    np.testing.assert_array_equal(DecoupledMoments(5).fit_transform(X), decoupled_moments(X, 5, axis=1))
    moments = DecoupledMoments(6, reference=[1, 2, 4, 12, 32]).fit(X)
    np.testing.assert_allclose(moments.transform(X), moments.plan_.transform(X), rtol=1e-9)
    assert tuple(moments.plan_.features) == tuple(raw_moments(6)) and moments.plan_ is moments.plan_


@pytest.mark.parametrize(("arguments", "names"), [
    ({"order": 1}, ["mean"]),
    ({"order": 6}, ["mean", "variance", "skewness", "orthokurtosis", "decoupled_5", "decoupled_6"]),
    ({"order": 3, "reference": [0, 2]}, ["mean", "variance", "decoupled_3"])])
def test_names(arguments: dict[str, Any], names: list[str]) -> None:
    assert DecoupledMoments(**arguments).fit(X).get_feature_names_out().tolist() == names


def test_frames_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=[f"r{k}" for k in range(len(X))]).rename(columns=str)
    moments = DecoupledMoments(4).set_output(transform="pandas").fit(frame)
    found = moments.transform(frame)
    assert found.columns.tolist() == ["mean", "variance", "skewness", "orthokurtosis"]
    assert found.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(found, decoupled_moments(X, 4, axis=1))
    assert moments.feature_names_in_.tolist() == frame.columns.tolist() and moments.n_features_in_ == 60
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        moments.get_feature_names_out([f"c{k}" for k in range(60)])


@pytest.mark.parametrize(("given", "kind"), [
    ("float64", "float64"), ("float32", "float32"), ("int64", "float64"), ("uint8", "float64"), ("object", "float64"),
    ("bool", "float64")])
def test_types(given: str, kind: str) -> None:
    rows = np.rint(X).astype(given)
    found = DecoupledMoments(2).fit_transform(rows)
    assert found.dtype == kind
    bound = 1e-6 if kind == "float32" else 1e-13  # float32 is what the result is rounded to
    np.testing.assert_allclose(found[:, 1], rows.astype("float64").var(axis=1), rtol=bound)


def test_whole_numbers_past_float64_stay_exact() -> None:
    far = np.array([[0, 1, 2, 5, 9]], dtype=np.int64) + 2**62
    np.testing.assert_allclose(DecoupledMoments(4).fit_transform(far)[0, 1:],
                               decoupled_moments([0, 1, 2, 5, 9], 4)[1:], rtol=1e-13)


# --- missing values ---


def test_nan_is_handed_on_without_a_word() -> None:
    found = DecoupledMoments(4).fit_transform(with_nan())
    assert np.isnan(found[1]).all() and np.isfinite(np.delete(found, 1, axis=0)).all()


def test_nan_is_left_out() -> None:
    found = DecoupledMoments(4, nan_policy="omit").fit_transform(with_nan())
    np.testing.assert_allclose(found[1], decoupled_moments(np.delete(X[1], 5), 4), rtol=1e-12)


@pytest.mark.parametrize("where", ["fit", "transform"])
def test_nan_is_an_error(where: str) -> None:
    moments = DecoupledMoments(4, nan_policy="raise").fit(X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        getattr(moments, where)(with_nan())


def test_masked_entries_are_missing() -> None:
    """scikit-learn would take what lies below the mask."""
    masked = np.ma.masked_array(np.rint(X).astype(int), np.isnan(with_nan()))
    found = DecoupledMoments(4, nan_policy="omit").fit_transform(masked)
    np.testing.assert_allclose(found[1], decoupled_moments(np.delete(np.rint(X[1]), 5), 4), rtol=1e-12)


@pytest.mark.parametrize(("bad", "error", "said"), [
    (np.where(X > 5, np.inf, X), ValueError, "infinity"), (X + 1j, ValueError, "Complex data not supported"),
    (X[:, :5], ValueError, "X has 5 features, but DecoupledMoments is expecting 60"), (X[0], ValueError, "2D array"),
    (X[:0], ValueError, "0 sample"), ([["a", "b"]], ValueError, "numeric|could not convert"),
    ([[1, 2], [3]], InvalidInput, "entry 0 has length 2, entry 1 has 1"), (X.astype("M8[s]"), InvalidInput, "dates")])
def test_what_is_no_row_of_numbers(bad: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        DecoupledMoments().fit(X).transform(bad)


@pytest.mark.parametrize(("column", "said"), [
    ("text", "column 'a'|numeric"), ("category", "column 'a'|X holds what is no number"), ("dates", "dates")])
def test_columns_that_are_no_numbers(column: str, said: str) -> None:
    pandas = pytest.importorskip("pandas")
    dates = pandas.to_datetime(["2020-01-01", "2020-01-02"])
    given = {"category": pandas.Categorical(["x", "y"]), "dates": dates, "text": ["x", "y"]}[column]
    frame = pandas.DataFrame({"a": given, "b": dates if column == "dates" else [1.5, 2.0]})
    with pytest.raises(ValueError, match=said):
        DecoupledMoments().fit(frame)


# --- refusals ---


def test_refused_rows_are_nan_with_one_warning() -> None:
    with pytest.warns(RefusalWarning, match=r"1 of 2 samples refused, at 0: no zero-skew point") as caught:
        found = DecoupledMoments(4).fit_transform(TIED)
    assert len(caught) == 1
    assert np.isfinite(found[0, :3]).all() and np.isnan(found[0, 3]) and np.isfinite(found[1]).all()


def test_refused_rows_are_an_error_once_all_are_done() -> None:
    with pytest.raises(Refused) as caught:
        DecoupledMoments(4, on_refusal="raise").fit_transform(TIED)
    assert [outcome.ok for outcome in caught.value.outcomes] == [False, True]
    assert np.isfinite(caught.value.partial[1]).all()


@pytest.mark.parametrize("perturb", ["ramp", Perturbation("ramp", seed=3)])
def test_refused_rows_are_perturbed(perturb: Any) -> None:
    with pytest.warns(PerturbedWarning, match="1 of 2 samples perturbed, at 0") as caught:
        found = DecoupledMoments(4, perturb=perturb).fit_transform(TIED)
    assert len(caught) == 1 and np.isfinite(found).all()
    expected = decoupled_moments(TIED, 4, axis=1, perturb=perturb, on_refusal="return")[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("parameters", "said"), [
    ({"order": 0}, "order=0"), ({"order": 13}, "order=13"), ({"order": 2.5}, r"order=2\.5"),
    ({"order": "4"}, "order='4'"), ({"reference": "x"}, "reference='x'"), ({"reference": [0, 1]}, "at least order - 1"),
    ({"reference": 3}, "reference=3"), ({"nan_policy": "drop"}, "nan_policy='drop'"),
    ({"on_refusal": "return"}, "on_refusal='return' was given, one of 'warn', 'raise'"),
    ({"perturb": "noise"}, "perturb='noise'"), ({"n_jobs": 0}, "n_jobs=0"), ({"n_jobs": 1.5}, r"n_jobs=1\.5"),
    ({"n_jobs": "all"}, "n_jobs='all'")])
def test_parameters_are_looked_at_by_fit(parameters: dict[str, Any], said: str) -> None:
    moments = DecoupledMoments(**parameters)
    with pytest.raises(InvalidInput, match=said):
        moments.fit(X)


@pytest.mark.parametrize("ask", [
    lambda m: m.transform(X), lambda m: m.inverse_transform(X[:, :6]), lambda m: m.plan_,
    lambda m: m.get_feature_names_out()], ids=["transform", "inverse", "plan", "names"])
def test_before_fit(ask: Any) -> None:
    with pytest.raises(NotFittedError):
        ask(DecoupledMoments())


# --- back ---


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_what_comes_back_has_the_moments(order: int) -> None:
    moments = DecoupledMoments(order).fit(X)
    values = moments.transform(X)
    back = moments.inverse_transform(values)
    assert back.shape == X.shape and (np.diff(back, axis=1) > 0).all()  # in increasing order
    np.testing.assert_allclose(moments.transform(back), values, rtol=1e-8)
    np.testing.assert_allclose(back.mean(axis=1), X.mean(axis=1), rtol=1e-12)
    if order > 1:
        np.testing.assert_allclose(back.var(axis=1), X.var(axis=1), rtol=1e-12)


def test_the_rows_themselves_come_back() -> None:
    moments = DecoupledMoments(5).fit(X)
    np.testing.assert_allclose(moments.inverse_transform(moments.transform(X), samples=X), X, rtol=1e-8, atol=1e-8)


def test_of_one_normal_row_standard_values_give_the_quantiles() -> None:
    """A sample that is at the reference already stays: mean and variance are put on it."""
    quantiles = scipy_stats.norm.ppf((np.arange(60) + 0.5) / 60)
    back = DecoupledMoments(2).fit(X).inverse_transform([[10.0, 4.0]])
    np.testing.assert_allclose(back[0], 10 + 2 * quantiles / quantiles.std(), rtol=1e-12)


def test_back_in_float32_and_one_sample_for_all() -> None:
    moments = DecoupledMoments(3).fit(X)
    values = moments.transform(X.astype(np.float32))
    back = moments.inverse_transform(values, samples=X[0])
    assert back.dtype == np.float32
    np.testing.assert_allclose(scipy_stats.skew(back.astype(float), axis=1), values[:, 2], rtol=0, atol=1e-5)
    assert (np.argsort(back, axis=1, kind="stable") == np.argsort(X[0], kind="stable")).all()


def test_values_that_no_row_has() -> None:
    moments = DecoupledMoments(4).fit(X)
    with pytest.warns(RefusalWarning, match="2 of 3 samples refused, at 0, 1, the first: moment not attainable"):
        back = moments.inverse_transform([[0, 1, 0, 0.5], [0, 1, 0, np.nan], [0, 1, 0, 3]])
    assert np.isnan(back[:2]).all() and np.isfinite(back[2]).all()


@pytest.mark.parametrize(("values", "samples", "said"), [
    (X[:, :3], None, "X has 3 columns, and DecoupledMoments.transform returns 4"),
    (X[:, :4], X[:3], "3 samples were given for 8 rows"), (X[:, :4], X[:, :9], "samples of 9 values were given; 60"),
    (X[0, :4], None, "2D array")])
def test_what_cannot_be_taken_back(values: Any, samples: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DecoupledMoments(4).fit(X).inverse_transform(values, samples=samples)


@pytest.mark.slow  # processes start anew
def test_processes_answer_the_same() -> None:
    rows = np.vstack([X, np.ones((3, 60)), with_nan()])
    one, two = DecoupledMoments(6), DecoupledMoments(6, n_jobs=2)
    with pytest.warns(RefusalWarning) as before:
        expected = one.fit_transform(rows)
    with warnings.catch_warnings(record=True) as after:
        warnings.simplefilter("always")
        found = two.fit_transform(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert [str(w.message) for w in after if w.category is RefusalWarning] == [str(w.message) for w in before]


@pytest.mark.parametrize("kind", [int, Fraction])
def test_numbers_that_float64_would_round_are_those_of_stats(kind: Any) -> None:
    """In lists and object arrays, which scikit-learn rounds."""
    rows = [[kind(10**25 + v) for v in (1, 3, 4, 9, 10)], [kind(10**25 + v * v) for v in (1, 3, 4, 9, 10)]]
    expected = decoupled_moments(rows, 4, axis=1)
    assert expected[0, 1] == 12.24
    for given in (rows, np.array(rows, dtype=object)):
        np.testing.assert_array_equal(DecoupledMoments(order=4).fit_transform(given), expected)
