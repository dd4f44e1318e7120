"""Moment coordinates against moments computed from samples."""

import mpmath
import numpy as np
import pytest
from sympy import Expr, Integer, Rational, exp, log, sqrt

from symdecouple import (
    FeatureSet,
    Group,
    InvalidInput,
    Mean,
    Status,
    central_moment,
    check_frobenius,
    kurtosis,
    skewness,
    standard_deviation,
    variance,
    x,
)
from symdecouple.families.moments import raw_moments, recognize_moments, standardized_moments

SETS: dict[str, list[Expr]] = {
    "raw": [Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)],
    "standardized": [Mean(x), variance(), skewness(), kurtosis()],
    "mixed": [2 * Mean(x) + 1, standard_deviation(), central_moment(3), Mean(x**4) - Mean(x)],
    "logarithm": [Mean(x), log(variance()), skewness(), kurtosis()],
    "exponential": [exp(Mean(x)), Mean(x**2), Mean(x**3), central_moment(4)],
}


def sampled(expr: Expr, points: np.ndarray) -> float:
    """Averages over the points, innermost first: an evaluator of its own."""
    def at(e: Expr, point: float) -> float:
        if isinstance(e, Mean):
            return float(np.mean([at(e.opened(x), p) for p in points]))
        if e == x:
            return point
        return float(e.func(*(mpmath.mpf(at(a, point)) if not a.is_number else a for a in e.args))) if e.args else \
            float(e)
    return at(expr, 0.0)


@pytest.mark.parametrize("name", SETS)
def test_coordinates_of_the_values_of_a_sample(name: str) -> None:
    points = np.array([0.3, -1.0, 2.5, 0.9, 0.1])
    features = FeatureSet(SETS[name])
    found = recognize_moments(features)
    assert found is not None and len(found) == 4
    z = (points - points.mean()) / points.std()
    wanted = [points.mean(), points.std(), (z**3).mean(), (z**4).mean()]
    values = [sampled(f.expr, points) for f in features]
    np.testing.assert_allclose(found.coordinates(values), wanted, rtol=1e-12)
    np.testing.assert_allclose(np.array(found.coordinates([np.full(3, v) for v in values]))[:, 1], wanted, rtol=1e-12)
    exact = found.coordinates([mpmath.mpf(v) for v in values])
    np.testing.assert_allclose([float(c) for c in exact], wanted, rtol=1e-12)


def test_coordinates_are_exact_for_exact_values() -> None:
    found = recognize_moments(raw_moments(4))
    assert found is not None
    assert found.coordinates([Integer(1), Integer(3), Rational(1, 2), Integer(9)]) == [
        1, sqrt(2), -sqrt(2) * Rational(13, 8), Rational(1, 4) * (9 - 1 - 12 + 26)]


@pytest.mark.parametrize("features", [
    [Mean(x), Mean(x**3)], [Mean(x**2), Mean(x)], [Mean(x), Mean(exp(x))], [Mean(x)],
    [Group(Mean(x), Mean(x**2)), Mean(x**3)], [Mean(x) ** 2, variance()],
])
def test_what_is_not_a_set_of_moments(features: list[Expr]) -> None:
    assert recognize_moments(FeatureSet(features)) is None


def test_as_many_leading_features_as_are() -> None:
    found = recognize_moments(FeatureSet([Mean(x), variance(), kurtosis(), skewness()]))
    assert found is not None and len(found) == 2
    two_branches = recognize_moments(FeatureSet([Mean(x), variance(), skewness() ** 2]))
    assert two_branches is not None and len(two_branches) == 2


def test_sets() -> None:
    assert raw_moments(4) == FeatureSet(SETS["raw"])
    assert check_frobenius(standardized_moments(3)).status is Status.PROVED
    points = np.array([0.3, -1.0, 2.5, 0.9, 0.1])
    z = (points - points.mean()) / points.std()
    found = [sampled(f.expr, points) for f in standardized_moments(5)]
    np.testing.assert_allclose(found, [points.mean(), points.var(), *((z**k).mean() for k in (3, 4, 5))], rtol=1e-12)


@pytest.mark.parametrize("order", [0, -1, 2.0, True, "3", 21])
@pytest.mark.parametrize("family", [raw_moments, standardized_moments])
def test_orders_are_checked(family: object, order: object) -> None:
    with pytest.raises(InvalidInput, match="order"):
        family(order)  # type: ignore[operator]


def test_the_room_offers_its_sets() -> None:
    import symdecouple as sd

    assert sd.families.raw_moments(2) == FeatureSet([Mean(x), Mean(x**2)])
    assert sd.families.recognize_moments(sd.families.standardized_moments(3)) is not None
