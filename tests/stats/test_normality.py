"""Tests of normality: simulated normal samples, ranks and SciPy as oracles."""

from typing import Any

import numpy as np
import pytest
import scipy.stats as st

from symdecouple.errors import InvalidInput, Refused
from symdecouple.numeric.moments.normal_null import SMALLEST_TABLED, null_of, simulated, skewness_score
from symdecouple.stats import normality_test, orthokurtosis_test, skewness

X = np.random.default_rng(1).standard_normal((6, 40))


def is_uniform(pvalues: np.ndarray) -> None:
    """Shares below some levels, within four standard errors."""
    for level in (0.01, 0.05, 0.1, 0.5, 0.9):
        share, error = np.mean(pvalues <= level), np.sqrt(level * (1 - level) / len(pvalues))
        assert abs(share - level) < 4 * error, level


@pytest.mark.parametrize("n", [5, 10, 20, 200])
def test_p_values_of_normal_samples_are_uniform(n: int) -> None:
    """Below 16 against simulated samples, whose own error is less than a fifth."""
    rows = np.random.default_rng(n).standard_normal((4000, n))
    for alternative in ("two-sided", "less", "greater"):
        is_uniform(orthokurtosis_test(rows, axis=1, alternative=alternative).pvalue)
    if n >= 8:
        is_uniform(normality_test(rows, axis=1).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("n", [16, 20, 50, 200, 1000])
def test_p_values_of_many_normal_samples_are_uniform(n: int) -> None:
    rows = np.random.default_rng(100 + n).standard_normal((60000, n))
    for pvalues in (orthokurtosis_test(rows, axis=1).pvalue, normality_test(rows, axis=1).pvalue):
        is_uniform(pvalues)
        assert st.kstest(pvalues, "uniform").pvalue > 0.001


def test_tables_and_simulation_meet() -> None:
    """At 16 values: 10^5 samples have standard errors of 0.0016 at most."""
    tabled, drawn = null_of(SMALLEST_TABLED), simulated(SMALLEST_TABLED, 100_000, np.random.default_rng(8))
    values = np.linspace(1.2, 6.5, 60)
    assert tabled.pvalue(values, "less") == pytest.approx(drawn.pvalue(values, "less"), abs=0.007)
    sums = np.linspace(0, 20, 60)
    assert tabled.omnibus_pvalue(sums) == pytest.approx(drawn.omnibus_pvalue(sums), abs=0.007)


def test_the_limit_is_normal_with_variance_24_over_n() -> None:
    """And chi-squared: at 10^10 values what is left is of the order of 1e-4."""
    null = null_of(10**10)
    z = np.linspace(-5, 5, 41)
    assert null.score(3 + z * np.sqrt(24 / 10**10)) == pytest.approx(z, abs=2e-3)
    assert null.omnibus_pvalue(z**2) == pytest.approx(st.chi2.sf(z**2, 2), rel=2e-3)


@pytest.mark.parametrize("n", [16, 25, 100, 5000])
def test_scores_rise_and_are_smooth(n: int) -> None:
    """From far below to far above the tables; p values stay in [0, 1] and keep their digits."""
    null = null_of(n)
    values = 1 + np.geomspace(1e-3, n / 2, 4000)
    score = null.score(values)
    assert (np.diff(score) > 0).all()
    below = null.pvalue(values, "less")
    assert below == pytest.approx(st.norm.cdf(score), rel=1e-12) and below[0] < 1e-4
    assert null.pvalue(values, "two-sided").max() <= 1
    sums = np.linspace(0, 60, 600)
    chance = null.omnibus_pvalue(sums)
    assert chance[0] == 1 and (np.diff(chance) < 0).all() and chance[-1] > 0


def test_the_score_of_the_skewness_is_scipys() -> None:
    for rows in (X, np.random.default_rng(2).gamma(1, size=(5, 200))):
        expected = st.skewtest(rows, axis=1).statistic
        assert skewness_score(skewness(rows, axis=1), rows.shape[1]) == pytest.approx(expected, rel=1e-10)


def test_results_are_as_in_scipy() -> None:
    """The statistic is the score that the p value is of; alternatives."""
    statistic, pvalue = orthokurtosis_test(X, axis=1)
    assert pvalue == pytest.approx(2 * st.norm.sf(np.abs(statistic)), rel=1e-12)
    less, greater = (orthokurtosis_test(X, axis=1, alternative=way).pvalue for way in ("less", "greater"))
    assert less + greater == pytest.approx(1, abs=1e-12)
    both = normality_test(X, axis=1)
    expected = st.skewtest(X, axis=1).statistic ** 2 + statistic**2
    assert both.statistic == pytest.approx(expected, rel=1e-10)


def test_a_monte_carlo_method_of_scipy_is_taken() -> None:
    method = st.MonteCarloMethod(n_resamples=999)
    method.rng = np.random.default_rng(3)
    found, tabled = orthokurtosis_test(X, axis=1, method=method), orthokurtosis_test(X, axis=1)
    assert found.pvalue == pytest.approx(tabled.pvalue, abs=0.1)
    assert np.allclose(500 * found.pvalue, np.round(500 * found.pvalue))  # of 1000, both sides
    assert orthokurtosis_test([*range(-19, 20), -10**6, 10**6], method=method).pvalue == 2 / 1000
    assert normality_test([*range(-19, 20), -10**6, 10**6], method=method).pvalue == 1 / 1000


def test_the_same_samples_are_drawn_every_time() -> None:
    first = orthokurtosis_test(X[0, :10]).pvalue
    null_of.cache_clear()
    assert orthokurtosis_test(X[0, :10]).pvalue == first


def test_skewness_is_not_taken_for_kurtosis() -> None:
    """Gumbel samples of 200: found at 5% as normal ones are, where the kurtosis is out three times of four."""
    rows = st.gumbel_r.rvs(size=(400, 200), random_state=1)
    share = np.mean(orthokurtosis_test(rows, axis=1).pvalue < 0.05)
    assert share < 0.1 < 0.6 < np.mean(st.kurtosistest(rows, axis=1).pvalue < 0.05)
    assert np.mean(normality_test(rows, axis=1).pvalue < 0.05) > 0.97


@pytest.mark.parametrize(
    ("function", "given", "reason"),
    [(orthokurtosis_test, [1, 2, 40], "too few values"), (normality_test, list(range(7)), "too few values"),
     (orthokurtosis_test, [3.0] * 9, "zero variance"), (normality_test, [3.0] * 9, "zero variance"),
     (orthokurtosis_test, [0] * 6 + [1, 2, 3, 4], "no zero-skew point"), (normality_test, [0, np.inf] * 5, "infinite"),
     (orthokurtosis_test, [], "no samples")])
def test_samples_without_an_answer_say_why(function: Any, given: Any, reason: str) -> None:
    found, (outcome,) = function(given, on_refusal="return")
    assert np.isnan(found.pvalue) and reason in outcome.reason
    with pytest.raises(Refused, match=reason):
        function(given, on_refusal="raise")


@pytest.mark.parametrize(
    ("options", "said"),
    [({"alternative": "up"}, "two-sided"), ({"method": "exact"}, "MonteCarloMethod"), ({"method": 999}, "MonteCarlo"),
     ({"method": st.PermutationMethod()}, "MonteCarloMethod"),
     ({"method": st.MonteCarloMethod(n_resamples=99, rvs=np.zeros)}, "without rvs"),
     ({"nan_policy": "drop"}, "omit"), ({"on_refusal": "ignore"}, "return"), ({"axis": 3}, "axis=3")])
def test_what_is_no_argument_is_said(options: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        orthokurtosis_test(X, **options)


def test_the_answer_does_not_feel_unit_and_place() -> None:
    one = normality_test(X, axis=1).pvalue
    for other in (1e-150 * X, 1e150 * X, X + 1e4, -X, np.asfortranarray(X)):
        assert normality_test(other, axis=1).pvalue == pytest.approx(one, rel=1e-8)
