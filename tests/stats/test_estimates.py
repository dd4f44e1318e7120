"""Standard errors and intervals: SciPy, the jackknife, the bootstrap and simulated samples as oracles."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats as st

import symdecouple as sd
from symdecouple.errors import InvalidInput, Refused
from symdecouple.stats import decoupled_moments, estimate_moments, standardized_moments

X = np.random.default_rng(11).gamma(4, size=(3, 60))


@pytest.mark.parametrize("kind", ["decoupled", "standardized"])
def test_estimates_are_those_of_the_statistics(kind: Any) -> None:
    found = estimate_moments(X, 6, axis=1, kind=kind)
    function = {"decoupled": decoupled_moments, "standardized": standardized_moments}[kind]
    assert np.array_equal(found.estimate, function(X, 6, axis=1))
    assert found.standard_error[:, 0] == pytest.approx(st.sem(X, axis=1), rel=1e-12)
    assert found.names[3:5] == (("orthokurtosis", "decoupled_5") if kind == "decoupled" else
                                ("kurtosis", "standardized_5"))


def test_the_jackknife_is_near() -> None:
    """The plain one deletes where this one differentiates: of light tails, a few percent."""
    x = np.linspace(-1, 1, 120) + 0.1 * np.linspace(-1, 1, 120) ** 2
    found = estimate_moments(x, 4)
    left = decoupled_moments(np.array([np.delete(x, i) for i in range(120)]), 4, axis=1)
    jackknife = 119 / 120 * (left - left.mean(axis=0)).T @ (left - left.mean(axis=0))
    error = np.sqrt(np.diag(jackknife))
    assert found.standard_error == pytest.approx(error, rel=0.03)
    assert found.correlation == pytest.approx(jackknife / np.outer(error, error), abs=0.03)


def test_normal_samples_have_uncorrelated_estimates() -> None:
    """Over 500 samples of 500: variances sigma^2/N, 2 sigma^4/N, 6/N, 24/N, and no correlation, within four errors."""
    rows = 3 * np.random.default_rng(2).standard_normal((500, 500))
    found = estimate_moments(rows, axis=1)
    spread = found.estimate.std(axis=0)
    assert spread == pytest.approx(np.sqrt(np.array([9, 2 * 81, 6, 24]) / 500), rel=0.15)
    assert np.median(found.standard_error, axis=0) == pytest.approx(spread, rel=0.2)
    assert np.abs(np.corrcoef(found.estimate.T) - np.eye(4)).max() < 0.18


@pytest.mark.parametrize(
    ("change", "powers"), [(lambda x: x + 1e6, (1, 2, 0, 0)), (lambda x: 1e150 * x, (1, 2, 0, 0)),
                           (lambda x: 1e-150 * x, (1, 2, 0, 0))], ids=["offset", "large", "small"])
def test_units_and_offsets_change_nothing_else(change: Any, powers: tuple[int, ...]) -> None:
    one, other = estimate_moments(X[0]), estimate_moments(change(X[0]))
    unit = (change(X[0]).std() / X[0].std()) ** np.array(powers)
    assert other.standard_error == pytest.approx(one.standard_error * unit, rel=1e-9)


def test_weights() -> None:
    """Counts are repetitions, equal ones nothing, and 0 leaves out; otherwise ratios matter and each is one value."""
    x, weights = X[0], np.random.default_rng(3).integers(0, 4, 60)
    counted = estimate_moments(x, 5, weights=weights, n_samples=weights.sum())
    repeated = estimate_moments(np.repeat(x, weights), 5)
    assert counted.estimate == pytest.approx(repeated.estimate, rel=1e-9)
    assert counted.covariance == pytest.approx(repeated.covariance, rel=1e-7, abs=1e-9)
    equal, plain = estimate_moments(x, 5, weights=np.full(60, 0.3)), estimate_moments(x, 5)
    assert equal.covariance == pytest.approx(plain.covariance, rel=1e-7, abs=1e-9)
    assert equal.n_samples == 60
    mean = estimate_moments(x, 1, weights=weights)
    n, centre = np.count_nonzero(weights), np.average(x, weights=weights)
    expected = np.sqrt(n / (n - 1) * np.sum((weights * (x - centre)) ** 2)) / weights.sum()
    assert mean.standard_error[0] == pytest.approx(expected, rel=1e-12)
    assert estimate_moments(x, 1, weights=1000 * weights).standard_error == pytest.approx(mean.standard_error)


def test_exact_numbers_have_the_errors_of_their_distances() -> None:
    near = [1, 5, 7, 22, 100, 31]
    far = estimate_moments([10**30 + v for v in near], 4)
    assert far.covariance == pytest.approx(estimate_moments(near, 4).covariance, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "order", "reason", "finite"),
    [([5, 5, 5], 4, "zero variance", 2), ([1.0], 2, "one sample", 0), ([1, 1, 2, 2], 4, "critical point", 3),
     ([0, 0, 0, 1, 2], 4, "no zero-skew point", 3), ([1, 2, 3], 5, "too few distinct values", 4),
     ([], 2, "no samples", 0)])
def test_samples_without_an_answer_say_why(given: Any, order: int, reason: str, finite: int) -> None:
    found, (outcome,) = estimate_moments(given, order, on_refusal="return")
    assert outcome.reason == reason
    assert np.isfinite(found.standard_error).tolist() == [k < finite for k in range(order)]
    with pytest.raises(Refused, match=reason):
        estimate_moments(given, order, on_refusal="raise")
    with pytest.warns(sd.RefusalWarning, match=reason):
        estimate_moments(given, order)


@pytest.mark.parametrize(
    ("bad", "said"),
    [(lambda: estimate_moments(X, 0), "from 1 to 12"), (lambda: estimate_moments(X, kind="raw"), "standardized"),  # type: ignore[arg-type]
     (lambda: estimate_moments(X, axis=1, n_samples=1), "numbers above 1"),
     (lambda: estimate_moments(X, axis=1, n_samples="99"), "numbers above 1"),
     (lambda: estimate_moments(X, axis=1, n_samples=[9, 9]), "one for each of shape"),
     (lambda: estimate_moments(["a", "b"]), "text"), (lambda: estimate_moments(X).confidence_interval(95), "between"),
     (lambda: estimate_moments(X).confidence_interval(True), "between 0 and 1"),
     (lambda: estimate_moments(X).confidence_interval(alternative="both"), "two-sided")])
def test_what_is_no_input_is_said(bad: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bad()


def test_intervals_keep_to_what_is_possible() -> None:
    found = estimate_moments([1, 2, 3, 4, 6, 40], 4)
    low, high = found.confidence_interval(0.999)
    assert (low < found.estimate).all() and (found.estimate < high).all()
    assert low[1] > 0 and low[3] > 1
    z = st.norm.ppf(0.9995)
    assert low[0] == pytest.approx(found.estimate[0] - z * found.standard_error[0])
    excess = found.estimate[3] - 1
    assert high[3] == pytest.approx(1 + excess * np.exp(z * found.standard_error[3] / excess))
    upper, lower = (found.confidence_interval(0.9, alternative) for alternative in ("less", "greater"))
    assert upper.low.tolist() == [-np.inf, 0, -np.inf, 1] and np.isinf(lower.high).all()
    two_sided = found.confidence_interval(0.8)
    assert np.array_equal(upper.high, two_sided.high) and np.array_equal(lower.low, two_sided.low)


def test_references_are_those_of_the_decoupled_moments() -> None:
    """At mean 1 and variance 4 the third raw moment is 13 + 8 times the skewness."""
    found, plain = estimate_moments(X[0], 3, reference=[1, 5]), estimate_moments(X[0], 3)
    assert found.estimate == pytest.approx(plain.estimate * [1, 1, 8] + [0, 1, 13])
    assert found.standard_error == pytest.approx(plain.standard_error * [1, 1, 8])
    assert found.confidence_interval().low[1] == pytest.approx(plain.confidence_interval().low[1] + 1)


def test_it_shows_what_it_holds() -> None:
    text = str(estimate_moments(X[0]))
    assert text.splitlines()[0] == "60 values, and 95% confidence"
    assert "orthokurtosis" in text and "+-" in text
    assert str(estimate_moments(X, axis=1)) == "mean, variance, skewness, orthokurtosis of 3 samples, 0 of them refused"
    assert "zero variance" in str(estimate_moments([1, 1, 1], on_refusal="return")[0])


@pytest.mark.usefixtures("pyplot")
def test_pictures() -> None:
    """Ends and estimates of each sample, the normal law from order 3 on; what does not fit is said."""
    found = estimate_moments(X, 5, axis=1)
    axes = found.plot(confidence_level=0.9, labels=["one", "two", "three"])
    low, high = found.confidence_interval(0.9)
    for k, ax in enumerate(axes):
        segments = ax.collections[-1].get_segments()
        drawn = sorted((s[0][0], s[1][0]) for s in segments)
        assert np.array(drawn) == pytest.approx(np.array(sorted(zip(low[:, k], high[:, k], strict=True))))
        assert (len(ax.lines) > 3) == (k > 1)
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["one", "two", "three"]
    assert len(estimate_moments(X[0], 2).plot()) == 2
    many = estimate_moments(np.ones((9, 99)), 1)
    for estimates, options, said in ((found, {"ax": axes[:2]}, "got 2 objects"), (found, {"labels": ["a"]}, "1 labels"),
                                     (found, {"ax": list(range(5))}, "got 5 objects"), (many, {}, "99 samples")):
        with pytest.raises(InvalidInput, match=said):
            estimates.plot(**options)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "n", "least"), [
    (st.norm(), 200, (0.94, 0.93, 0.91, 0.84)), (st.norm(), 1000, (0.935, 0.935, 0.93, 0.89)),
    (st.uniform(), 50, (0.93, 0.93, 0.94, 0.945)), (st.expon(), 200, (0.92, 0.88, 0.69, 0.94))])
def test_shares_of_intervals_that_hold_the_law(law: Any, n: int, least: tuple[float, ...]) -> None:
    """As the docstring tells them, less three standard errors of 2000 samples."""
    plan = sd.decouple(sd.families.standardized_moments(4))
    true = np.array(sd.analysis.population(plan, law), dtype=float)
    found = estimate_moments(law.rvs(size=(2000, n), random_state=7), 4, axis=1)
    low, high = found.confidence_interval()
    share = ((low <= true) & (true <= high)).mean(axis=0)
    assert (share > least).all() and (share < 0.975).all()


@pytest.mark.slow
def test_the_bootstrap_is_near() -> None:
    """2000 resamples of 300 values: standard deviations to 15%."""
    x = st.norm.rvs(size=300, random_state=4)
    picks = np.random.default_rng(5).integers(300, size=(2000, 300))
    spread = decoupled_moments(x[picks], 5, axis=1).std(axis=0)
    assert estimate_moments(x, 5).standard_error == pytest.approx(spread, rel=0.15)
