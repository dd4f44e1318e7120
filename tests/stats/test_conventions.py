"""The conventions of SciPy, `fisher=` and `bias=`: its own functions as the oracle, and what is refused."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from symdecouple.errors import InvalidInput
from symdecouple.stats import kurtosis, orthokurtosis, skewness

X = np.random.default_rng(4).gamma(3, size=(5, 30))
X[1, :20] = np.nan
ODD: Any = "no"


@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("bias", [True, False])
def test_they_give_scipys_numbers(policy: Any, bias: bool) -> None:
    options: Any = {"axis": 1, "bias": bias, "nan_policy": policy}
    assert skewness(X, **options) == pytest.approx(scipy.stats.skew(X, **options), rel=1e-12, nan_ok=True)
    for fisher in (True, False):
        expected = scipy.stats.kurtosis(X, fisher=fisher, **options)
        assert kurtosis(X, fisher=fisher, **options) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_defaults_are_as_before() -> None:
    for function in (kurtosis, orthokurtosis):
        assert np.array_equal(function(X, axis=1, fisher=True), function(X, axis=1) - 3, equal_nan=True)
    assert kurtosis([-2, -1, 0, 1, 2]) == pytest.approx(1.7)
    weights = np.arange(1, 31)
    assert kurtosis(X[0], weights=weights, fisher=True) == pytest.approx(kurtosis(X[0], weights=weights) - 3)


@pytest.mark.parametrize(("function", "given", "fewest"), [(skewness, [1.0, 2], 3), (kurtosis, [1.0, 2, 4], 4)])
def test_too_few_values_for_a_correction_are_refused(function: Any, given: Any, fewest: int) -> None:
    """Where SciPy hands out the uncorrected value, without a word."""
    value, (outcome,) = function(given, bias=False, on_refusal="return")
    assert np.isnan(value) and outcome.reason == "too few values" and str(fewest) in outcome.detail
    value, (outcome,) = function([2.0] * 9, bias=False, on_refusal="return")
    assert np.isnan(value) and outcome.reason == "zero variance"


@pytest.mark.parametrize(
    ("bad", "said"),
    [(lambda: orthokurtosis(X[0], bias=False), "no estimate of the orthokurtosis"),
     (lambda: kurtosis(X[0], bias=False, weights=np.ones(30)), "only the ratios matter"),
     (lambda: skewness(X[0], bias=False, weights=np.ones(30)), "repeat the values"),
     (lambda: kurtosis(X[0], fisher=ODD), "fisher='no'"), (lambda: skewness(X[0], bias=ODD), "bias='no'"),
     (lambda: orthokurtosis(X[0], fisher=ODD), "True or False")])
def test_what_makes_no_sense_is_said(bad: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        bad()
