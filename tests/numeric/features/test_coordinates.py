"""Functions of coordinates on arrays, against SymPy's derivatives put in point by point."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Expr, Rational, Symbol, atan2, cos, exp, hessian, log, pi, sin, sqrt, tanh

from symdecouple import Feature, FeatureSet, InvalidInput, Mean, coordinates, x
from symdecouple.numeric.features.coordinates import (
    CompiledCoordinates,
    CoordinateFunction,
    compiled_feature,
    compiled_features,
)
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.numeric.features.features import CompiledFeatures

X = coordinates(3)
X1, X2, X3 = X
EXPRESSIONS: list[Expr] = [
    X1**2 + X2**2,
    X1 * X2,
    exp(X1) * cos(X2),
    atan2(X2, X1) + Rational(1, 3) * X3,
    log(X3**2 + 1) * tanh(X1 * X2) + pi,
    sqrt(X1**2 + X2**4 + 2) / (3 + sin(X3)),
    X2**5 - 7 * X2,
    X3,
]
ROWS = np.random.default_rng(8).normal(size=(4, 3))


def at(expr: Any, row: Any, digits: int = 30) -> Any:
    """SymPy's value at the very floats."""
    return expr.xreplace({c: Rational(float(v)) for c, v in zip(X, row, strict=True)}).evalf(digits)


@pytest.fixture(scope="module")
def features() -> CompiledCoordinates:
    return CompiledCoordinates(FeatureSet(EXPRESSIONS))


def test_values_and_gradients(features: CompiledCoordinates) -> None:
    values, gradients = features.values(ROWS), features.gradients(ROWS)
    assert values.shape == (4, 8) and gradients.shape == (4, 8, 3) and features.gradients(ROWS, 2).shape == (4, 2, 3)
    for r, row in enumerate(ROWS):
        for j, expr in enumerate(EXPRESSIONS):
            assert values[r, j] == pytest.approx(float(at(expr, row)), rel=1e-13)
            expected = [3 * float(at(expr.diff(c), row)) for c in X]
            np.testing.assert_allclose(gradients[r, j], expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(features.gradients(ROWS, 2), gradients[:, :2])


def test_curvature_is_the_hessian_applied(features: CompiledCoordinates) -> None:
    weights = np.random.default_rng(9).normal(size=(5, 4, 8, 3))
    found = features.curvature(ROWS, weights)
    assert found.shape == (5, 4, 3)
    for r, row in enumerate(ROWS):
        matrices = np.array([at(hessian(e, X), row).tolist() for e in EXPRESSIONS], dtype=float)
        np.testing.assert_allclose(found[:, r], 3 * np.einsum("jab,cjb->ca", matrices, weights[:, r]), rtol=1e-12,
                                   atol=1e-12)
    np.testing.assert_allclose(features.curvature(ROWS, weights[0, :, :1]), 6 * weights[0, :, 0] * [1, 1, 0],
                               rtol=1e-15)


def test_fifty_digits(features: CompiledCoordinates) -> None:
    with mpmath.workdps(50):
        rows = as_multiprecision(ROWS)
        weights = as_multiprecision(np.ones((4, 8, 3)))
        found = features.values(rows), features.gradients(rows), features.curvature(rows, weights)
        for j, expr in enumerate(EXPRESSIONS):
            expected = mpmath.mpf(at(expr, ROWS[1], 60)._to_mpmath(200))
            assert abs(found[0][1, j] - expected) < mpmath.mpf(10) ** -48
            for i, c in enumerate(X):
                expected = 3 * mpmath.mpf(at(expr.diff(c), ROWS[1], 60)._to_mpmath(200))
                assert abs(found[1][1, j, i] - expected) < mpmath.mpf(10) ** -47
    assert all(isinstance(v, mpmath.mpf) for part in found for v in part.flat)
    np.testing.assert_allclose(found[2].astype(float), features.curvature(ROWS, np.ones((4, 8, 3))), rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_outside_of_the_domain_it_is_nan() -> None:
    features = CompiledCoordinates(FeatureSet([log(X1), 1 / X2]))
    rows = np.array([[-1.0, 1, 0], [1, 1, 0], [np.nan, 1, 0]])
    assert np.isnan(features.values(rows)).tolist() == [[True, False], [False, False], [True, False]]
    assert not np.isfinite(features.values(np.array([[1.0, 0, 0]]))[0, 1])
    assert features.values(rows[:0]).shape == (0, 2) and features.gradients(rows[:0]).shape == (0, 2, 3)


@pytest.mark.parametrize("rows", [np.ones((2, 2)), np.ones((2, 4)), np.ones((1, 2), dtype=object)], ids=str)
def test_samples_of_another_size(features: CompiledCoordinates, rows: Any) -> None:
    size = rows.shape[1]
    for function in (features.values, features.gradients):
        with pytest.raises(InvalidInput, match=f"functions of 3 coordinates, the samples have {size} numbers"):
            function(rows)
    with pytest.raises(InvalidInput, match="functions of 3 coordinates"):
        features.curvature(rows, np.ones((len(rows), 8, size)))


def test_unbound_parameters() -> None:
    with pytest.raises(InvalidInput, match="a must be bound to numbers first"):
        CompiledCoordinates(FeatureSet([X1 * Symbol("a")]))
    with pytest.raises(InvalidInput, match="x3 must be bound"):
        CoordinateFunction([X3], X[:2])


def test_either_kind_of_feature() -> None:
    assert isinstance(compiled_features(FeatureSet([Mean(x)])), CompiledFeatures)
    assert isinstance(compiled_features(FeatureSet([X1])), CompiledCoordinates)
    second = Mean(x**2)
    for pair in (compiled_feature(Feature(second)), compiled_feature(Feature(second).at(n_samples=3))):
        (value,), (field,) = pair[0](ROWS), pair[1](ROWS)
        np.testing.assert_allclose(value[:, 0], (ROWS**2).mean(axis=1), rtol=1e-15)
        np.testing.assert_allclose(field, 2 * ROWS, rtol=1e-15)
        assert value.shape == (4, 1) and pair[0](ROWS[0])[0].shape == (1,)


def test_points_of_mpmath_numbers_that_divide_by_zero_are_nan_alone() -> None:
    x1, x2 = coordinates(2)
    features = compiled_features(FeatureSet([x1 / x2, x1]))
    found = features.values(as_multiprecision([[1, 2], [1, 0]]))
    assert found[0].tolist() == [0.5, 1] and all(map(mpmath.isnan, found[1]))
