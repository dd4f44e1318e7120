"""Declared features as a transformer: the plan that is made, its numbers, and what comes back."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.sparse import csr_array

pytest.importorskip("sklearn")

from sklearn.base import clone

from symdecouple import Feature, FeatureSet, Filter, Mean, Reference, decouple, x
from symdecouple.errors import InvalidInput, PerturbedWarning, RefusalWarning, Refused
from symdecouple.families import second_order_moments, tils
from symdecouple.numeric.perturbing import Perturbation
from symdecouple.sklearn import DecoupledFilterBank, DecoupledMoments, FeatureDecoupler
from tests.sklearn import test_images, test_moments

RNG = np.random.default_rng(7)
X = RNG.gamma(3, size=(6, 40))
DIFFERENCE = FeatureSet([Mean(Filter([1, 1, 1])(x) ** 2), Mean(Filter([-1, 2, -1])(x) ** 2)], names=["low", "high"])


@pytest.mark.parametrize(("features", "names"), [
    (["mean(x)", "variance()", "mean(x^3)"], ["mean", "variance", "skewness"]),
    ([Mean(x), "mean(x^2)"], ["mean", "variance"]),
    (np.array(["mean(x)", "mean(exp(x))"]), ["Mean(x)", "Mean(exp(x))"]),
    (FeatureSet(["mean(x)", "mean(exp(x/4))"], names=["place", "tail"]), ["place", "tail"]),
    ([Mean(x), Feature.from_callable(lambda row: float(np.mean(np.abs(row) ** 1.5)), name="box")], ["mean", "box"]),
    (DIFFERENCE, ["low", "high"])], ids=["text", "objects", "array", "named", "black box", "filters"])
def test_columns_are_those_of_the_plan(features: Any, names: list[str]) -> None:
    decoupler = FeatureDecoupler(features).fit(X)
    plan = decouple(features if isinstance(features, FeatureSet) else list(features))
    assert decoupler.get_feature_names_out().tolist() == list(plan.names)
    assert plan.names[0] in (names[0], "mean") and len(plan.names) == len(names)
    np.testing.assert_array_equal(decoupler.transform(X), plan.transform(X))


def test_the_default_is_four_moments() -> None:
    assert FeatureDecoupler().fit(X).get_feature_names_out().tolist() == [
        "mean", "variance", "skewness", "orthokurtosis"]


# --- references ---


def test_the_reference_of_the_data_is_the_average_of_each_feature() -> None:
    plan = FeatureDecoupler(["mean(x)", "mean(x^2)", "mean(x^4)"], reference="data").fit(X).plan_
    expected = [X.mean(), (X**2).mean(), (X**4).mean()]  # of rows of one length, all of the numbers
    np.testing.assert_allclose([float(v) for v in plan.reference], expected, rtol=1e-13)


def test_the_reference_of_filtered_data() -> None:
    energies = [np.mean((np.roll(X, 1, 1) + X + np.roll(X, -1, 1)) ** 2),
                np.mean((np.roll(X, 1, 1) - 2 * X + np.roll(X, -1, 1)) ** 2)]
    plan = FeatureDecoupler(DIFFERENCE, reference="data").fit(X).plan_
    np.testing.assert_allclose([float(v) for v in plan.reference], energies, rtol=1e-12)


def test_rows_with_nan_are_no_part_of_the_reference() -> None:
    rows = X.copy()
    rows[2, 3] = np.nan
    plan = FeatureDecoupler(["mean(x)", "mean(x^2)"], reference="data").fit(rows).plan_
    assert abs(float(plan.reference[0]) - np.delete(X, 2, axis=0).mean()) < 1e-13


@pytest.mark.parametrize("reference", [[0, 2], (0, 2, 1), {"mean(x)": 0, "mean(x^2)": 2}, Reference.of([-1, 0, 1]),
                                       scipy_stats.uniform(0, 1)], ids=["short", "whole", "mapping", "sample", "law"])
def test_other_references_are_those_of_decouple(reference: Any) -> None:
    features = ["mean(x)", "mean(x^2)", "mean(x^3)"]
    decoupler = clone(FeatureDecoupler(features, reference=reference)).fit(X)
    assert decoupler.plan_.reference == decouple(features, reference).reference
    np.testing.assert_array_equal(decoupler.transform(X), decouple(features, reference).transform(X))


@pytest.mark.parametrize(("arguments", "said"), [
    ({"features": "mean(x)"}, "takes a list of features"), ({"features": None}, "takes a list of features"),
    ({"features": []}, "at least one feature"), ({"features": ["mean(x"]}, "parenthesis is missing"),
    ({"features": ["mean(a*x)"]}, "a must be bound"), ({"features": [lambda v: v]}, "from_callable"),
    ({"features": ["mean(x)", "mean(x)"]}, "are the same"), ({"reference": "foo"}, "reference 'foo' is not known"),
    ({"reference": [1]}, "4 reference values"), ({"path": "x"}, "path='x'"),
    ({"features": ["mean(x)", "mean(log(x))", "mean(x^2)"], "reference": "data"}, "the average of Mean.* is nan"),
    ({"features": ["mean(x)", "mean(x^2)", "variance()"]}, "variance|Mean"), ({"sample_shape": (5, 5)}, "rows of 40"),
    ({"features": DIFFERENCE, "sample_shape": (5, 8)}, "the filters have 1 dimensions and a sample 2"),
    ({"features": second_order_moments(tils())}, "the filters have 2 dimensions and a sample 1"),
    ({"nan_policy": "x"}, "nan_policy='x'"), ({"on_refusal": "return"}, "on_refusal='return'"),
    ({"perturb": 3}, "perturb=3"), ({"n_jobs": True}, "n_jobs=True")])
def test_parameters_are_looked_at_by_fit(arguments: dict[str, Any], said: str) -> None:
    decoupler = FeatureDecoupler(**arguments)
    with pytest.raises(InvalidInput, match=said):
        decoupler.fit(X - 5)  # some numbers are negative


def test_averages_that_no_sample_has_are_said_to_be_of_the_data() -> None:
    said = r'reference="data" of 6 rows, n_features = 1: no sample has .* the variance would be 0'
    with pytest.raises(InvalidInput, match=said):
        FeatureDecoupler(["mean(x)", "variance()"], reference="data").fit(X[:, :1])


def test_dependent_features_are_left_out_where_that_is_asked_for() -> None:
    decoupler = FeatureDecoupler(["mean(x)", "mean(x^2)", "variance()"], dependent="drop").fit(X)
    assert decoupler.transform(X).shape == (6, 2) and len(decoupler.get_feature_names_out()) == 2


# --- samples with axes ---


def test_rows_that_are_pictures() -> None:
    pictures = RNG.normal(size=(4, 6, 8))
    decoupler = FeatureDecoupler(second_order_moments(tils()), sample_shape=(6, 8)).fit(pictures.reshape(4, -1))
    found = decoupler.transform(pictures.reshape(4, -1))
    np.testing.assert_array_equal(found, decouple(second_order_moments(tils())).transform(pictures))
    np.testing.assert_allclose(decoupler.inverse_transform(found, samples=pictures.reshape(4, -1)),
                               pictures.reshape(4, -1), rtol=0, atol=1e-9)


# --- missing and refused ---


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_missing_values(policy: str) -> None:
    rows = X.copy()
    rows[1, 4] = np.nan
    found = FeatureDecoupler(["mean(x)", "variance()"], nan_policy=policy).fit(X).transform(rows)
    expected = [np.nan] * 2 if policy == "propagate" else [np.delete(X[1], 4).mean(), np.delete(X[1], 4).var()]
    np.testing.assert_allclose(found[1], expected, rtol=1e-12)


def test_filters_cannot_leave_values_out() -> None:
    rows = X.copy()
    rows[1, 4] = np.nan
    decoupler = FeatureDecoupler(DIFFERENCE, nan_policy="omit").fit(X)
    with pytest.warns(RefusalWarning, match="1 of 6 samples refused, at 1: masked entries"):
        assert np.isnan(decoupler.transform(rows)[1]).all()


def test_refusals() -> None:
    rows = np.vstack([X, np.repeat([0, 0, 0, 1], 10)])
    decoupler = FeatureDecoupler().fit(X)
    with pytest.warns(RefusalWarning, match="FeatureDecoupler.transform: 1 of 7 samples refused, at 6"):
        assert np.isnan(decoupler.transform(rows)[6]).any()
    with pytest.raises(Refused):
        decoupler.set_params(on_refusal="raise").transform(rows)
    with pytest.warns(PerturbedWarning, match="1 of 7 samples perturbed, at 6"):
        assert np.isfinite(FeatureDecoupler(perturb="ramp").fit(X).transform(rows)).all()


# --- back ---


def test_what_comes_back_has_the_features() -> None:
    decoupler = FeatureDecoupler(["mean(x)", "variance()", "mean(x^3)"]).fit(X)
    values = decoupler.transform(X)
    np.testing.assert_array_equal(decoupler.template_, X[0])
    back = decoupler.inverse_transform(values)
    np.testing.assert_allclose(decoupler.transform(back), values, rtol=1e-9)
    np.testing.assert_allclose(back[0], X[0], rtol=1e-9)  # the template itself
    assert (np.argsort(back, axis=1) == np.argsort(X[0])).all()  # its order
    np.testing.assert_allclose(decoupler.inverse_transform(values, samples=X), X, rtol=1e-9)


def test_the_template_is_the_first_row_with_all_levels() -> None:
    rows = np.vstack([np.ones((3, 40)), np.full((1, 40), np.nan), X])
    np.testing.assert_array_equal(FeatureDecoupler().fit(rows).template_, X[0])
    none = FeatureDecoupler().fit(np.ones((3, 40)))
    with pytest.warns(RefusalWarning, match="1 of 1 samples refused, at 0: zero variance"):
        assert np.isnan(none.inverse_transform([[0, 1, 0, 3]])).all()


# --- what all transformers owe ---


@pytest.mark.parametrize(("estimator", "rows"), [
    (DecoupledMoments(4, reference=(0, 1, 0), perturb=Perturbation("ramp")), test_moments.X),
    (FeatureDecoupler(DIFFERENCE, reference="data"), X)], ids=["moments", "declared"])
def test_copies(estimator: Any, rows: np.ndarray) -> None:
    expected = estimator.fit(rows).transform(rows)
    for copy in (pickle.loads(pickle.dumps(estimator)), clone(estimator).fit(rows)):
        np.testing.assert_array_equal(copy.transform(rows), expected)
    assert clone(estimator).get_params() == estimator.get_params()


@pytest.mark.parametrize(("estimator", "given"), [(DecoupledMoments(), test_moments.X),
                                                  (DecoupledFilterBank(), test_images.GREY[0])], ids=["rows", "images"])
def test_sparse_matrices_are_refused(estimator: Any, given: np.ndarray) -> None:
    with pytest.raises(TypeError, match="dense data is required"):
        estimator.fit(csr_array(given))
