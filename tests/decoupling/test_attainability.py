"""Reference values of moments that no sample has together are refused before anything is computed."""

import pytest
from sympy import Rational, exp, sqrt

from symdecouple import FeatureSet, InvalidInput, Mean, decouple, kurtosis, skewness, variance, x
from symdecouple.decoupling.attainable.reference import check_attainable
from symdecouple.decoupling.reference import reference_values
from symdecouple.families.moments import raw_moments, standardized_moments

STANDARD = FeatureSet([Mean(x), variance(), skewness(), kurtosis()])


@pytest.mark.parametrize(("features", "values", "said"), [
    (raw_moments(2), [3, 4], r"Mean\(x\) = 3, Mean\(x\*\*2\) = 4: the variance would be -5"),
    (raw_moments(2), [2, 4], "variance would be 0"),
    (STANDARD, [0, -1, 0, 3], "variance would be -1"),
    (STANDARD, [0, 1, 2, 4], "order 4 would be 4, and must be above 5 .no sample has less"),
    (STANDARD, [0, 1, 2, 5], "only samples of 2 values have it"),
    (STANDARD, [0, 1, sqrt(2), 3], "only samples of 2 values have it"),
    (raw_moments(4), [0, 1, 0, Rational(1, 2)], "order 4"),
    (raw_moments(6), [0, 1, 0, 3, 0, 8], "order 6 would be 8, and must be above 9"),
    (raw_moments(6), [0, 1, 0, 3, 1, 9], "must be above 19/2"),
])
def test_contradictions(features: FeatureSet, values: list, said: str) -> None:
    """Lower ends by hand: c4 >= 1 + c3^2; with c4 = 3: c6 >= 9 + c5^2/2."""
    with pytest.raises(InvalidInput, match=said):
        decouple(features, values)


@pytest.mark.parametrize(("features", "values"), [
    (raw_moments(6), "gaussian"), (standardized_moments(8), "gaussian"), (raw_moments(2), [3, 10]),
    (STANDARD, [5, 2, 2, Rational(51, 10)]), (STANDARD, [0, 1, 2]), (raw_moments(6), [0, 1, 0, 3, 1, Rational(96, 10)]),
    (FeatureSet([Mean(exp(x)), Mean(x)]), [1, 5]),
])
def test_what_holds_together_passes(features: FeatureSet, values: list) -> None:
    check_attainable(features, reference_values(features, values))
