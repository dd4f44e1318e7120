"""What denormalization is asked for: how many values, and of samples that are normalized."""

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sympy import log, sqrt

from symdecouple import Filter, InvalidInput, Mean, RefusalWarning, decouple, x
from symdecouple.families.moments import raw_moments

SAMPLE = np.array([1.0, 2, 3, 5])
TWO, FOUR = decouple(raw_moments(2)), decouple(raw_moments(4))


@pytest.mark.parametrize("dps", [None, 20])
@pytest.mark.parametrize("values, level, expected", [
    ([10, 7], None, [10, 7]),  # as many levels as there are values
    ([10], None, [10, 2.1875]),  # the variance of the sample stays
    ([10, 7], 1, [10, 2.1875]),  # the first of them counts, as it is said
], ids=str)
def test_the_level_follows_from_the_number_of_values(values: list[float], level: int | None, expected: list[float],
                                                     dps: int | None) -> None:
    found = TWO.denormalize(TWO.normalize(SAMPLE, dps=dps), values, level, dps=dps).astype(float)
    assert [found.mean(), found.var()] == pytest.approx(expected, rel=1e-12)
    assert np.corrcoef(found, SAMPLE)[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("dps", [None, 20])
def test_only_rows_whose_last_feature_changes_are_moved_along_it(dps: int | None) -> None:
    samples = np.random.default_rng(0).gamma(2, size=(3, 9))
    values = FOUR.transform(samples, dps=dps)
    values[1, 3] *= 1.01
    found = FOUR.denormalize(FOUR.normalize(samples, dps=dps), values, dps=dps).astype(float)
    np.testing.assert_allclose(found[[0, 2]], samples[[0, 2]], rtol=1e-12)
    np.testing.assert_allclose(FOUR.transform(found), values.astype(float), rtol=1e-10)


def test_at_a_critical_point_of_the_last_feature_the_sample_comes_back() -> None:
    triple = [1.0, 2, 4]  # of three values the orthokurtosis is 3/2, whatever they are
    found = FOUR.denormalize(FOUR.normalize(triple), FOUR.transform(triple))
    np.testing.assert_allclose(found, triple, rtol=1e-13)


def test_a_last_feature_without_a_reference_is_needed_only_where_it_changes() -> None:
    plan = decouple(raw_moments(3), [0, 1])
    values = plan.transform(SAMPLE)
    np.testing.assert_allclose(plan.denormalize(plan.normalize(SAMPLE), values), SAMPLE, rtol=1e-13)
    with pytest.raises(InvalidInput, match="feature 3 has no reference value"):
        plan.denormalize(plan.normalize(SAMPLE), [*values[:2], 0.1])


@pytest.mark.parametrize("plan, sample, values, level, feature", [
    (TWO, SAMPLE, [10, 7], None, 1), (TWO, SAMPLE, [10], None, 1), (TWO, SAMPLE, [10, 7], 1, 1),
    (TWO, SAMPLE - 2.75, [10, 7], 2, 2), (FOUR, FOUR.normalize(SAMPLE, 2), [0, 1, 0.5], None, 3),
    (FOUR, FOUR.normalize(SAMPLE, 1), [0, 1], None, 2), (FOUR, [0.0, 0, 0, 0], [0, 1, 0, 3], None, 2),
    (TWO, SAMPLE.astype(np.float32), [10, 7], None, 1), (FOUR, FOUR.normalize(SAMPLE) + 1e-4, [0, 1, 0, 2], None, 1),
])
def test_what_is_not_normalized_is_noticed(plan: Any, sample: Any, values: list[float], level: int | None,
                                           feature: int) -> None:
    given = np.array(sample)
    with pytest.warns(RefusalWarning, match=rf"not normalized \(feature {feature}, Mean"):
        assert np.isnan(plan.denormalize(sample, values, level)).all()
    np.testing.assert_array_equal(sample, given)
    (outcome,) = plan.denormalize(sample, values, level, dps=15, on_refusal="return")[1]
    assert outcome.reason == "not normalized" and "plan.normalize(samples, level=" in outcome.detail


@pytest.mark.parametrize("dps", [None, 20])
@pytest.mark.parametrize("features, reference, sample, values", [
    ([Mean(log(x))], [0], [-3.0] * 9, [1.0]),
    ([Mean(1 / x)], [1], [1.0, 1, 0, 0], [1.0]),
    ([Mean(sqrt(x)), Mean(x)], [1, 1.5], [1.0, -3, 2], [6.0, 13.0]),
], ids=str)
def test_samples_outside_the_domain_are_refused(features: Any, reference: list[float], sample: list[float],
                                                values: list[float], dps: int | None) -> None:
    found, (outcome,) = decouple(features, reference).denormalize(sample, values, dps=dps, on_refusal="return")
    assert np.isnan(found.astype(float)).all() and outcome.reason == "not finite"


def test_long_rows_are_looked_at() -> None:
    row = np.random.default_rng(2).gamma(2.0, size=2**19 + 1)
    values = TWO.transform(row)
    for level in (None, 2):
        np.testing.assert_allclose(TWO.denormalize(TWO.normalize(row, level), values), row, rtol=0, atol=1e-9)
    for plan in (TWO, FOUR):
        (outcome,) = plan.denormalize(row, [0.5] * len(plan.features), on_refusal="return")[1]
        assert outcome.reason == "not normalized" and "feature 1" in outcome.detail


def test_rows_are_told_apart() -> None:
    rows = np.stack([TWO.normalize(SAMPLE), SAMPLE, np.full(4, np.nan)])
    found, outcomes = TWO.denormalize(rows, [[10, 7]] * 3, on_refusal="return")
    assert [o.reason for o in outcomes] == ["", "not normalized", "nan in the input"]
    assert found[0].var() == pytest.approx(7) and np.isnan(found[1:]).all()


def test_single_precision_counts_as_normalized() -> None:
    rows = FOUR.normalize(np.random.default_rng(1).gamma(2, size=(5, 40)).astype(np.float32))
    assert rows.dtype == np.float32
    assert np.isfinite(FOUR.denormalize(rows, np.tile([1, 2, 0.5], (5, 1)))).all()


@pytest.mark.parametrize("values", [[1, 2, 3], [], 5, "ab", [[1, 2]], [[1], [2]], None, [1, [2]], ["a", "b"]], ids=str)
def test_values_that_do_not_fit(values: Any) -> None:
    with pytest.raises(InvalidInput, match="values"):
        TWO.denormalize(TWO.normalize(SAMPLE), values)


def test_what_is_refused_far_from_zero_in_many_digits_is_silent() -> None:
    """The offset that these features do not feel is put back beside numbers that are missing."""
    plan = decouple([Mean(Filter([-1, 0, 1])(x) ** 2), Mean(Filter([-1, 2, -1])(x) ** 2)])
    at = plan.normalize([Fraction(v) for v in (229, 163, 151, 100, 173, 104, 133, 177)], dps=25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, (outcome,) = plan.denormalize(at, [0, 0], dps=25, on_refusal="return")
    assert not outcome.ok and all(v != v for v in values)
