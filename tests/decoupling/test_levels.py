"""Levels of both kinds in one plan, chained values and gradients, and rows that drop out."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import cos, sin

from symdecouple import Mean, decouple, kurtosis, variance, x
from symdecouple.families.moments import raw_moments


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(3, 14))


def test_a_closed_level_above_a_narrow_one(samples: np.ndarray) -> None:
    """(x, sin x) is not involutive, (x, sin x, cos x) is: level 2 takes the narrow path, level 3 does not."""
    plan = decouple([Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(x**2)])
    assert [plan.choice.is_closed(k) for k in (1, 2, 3)] == [True, False, True]
    along = decouple([Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(x**2)], path="narrow")
    np.testing.assert_allclose(plan.transform(samples), along.transform(samples), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(plan.gradients(samples)[:, :3], along.gradients(samples)[:, :3], atol=1e-9)
    back = plan.denormalize(plan.normalize(samples), plan.transform(samples))
    np.testing.assert_allclose(back, samples, atol=1e-10)


def test_moments_take_their_own_kernel_and_others_the_general_one(samples: np.ndarray) -> None:
    """The same features, once recognized as moments and once hidden from recognition by their order."""
    ours = decouple(raw_moments(5))
    general = decouple(raw_moments(5), path="narrow")
    object.__setattr__(general.choice._narrow, "moments", None)
    np.testing.assert_allclose(ours.transform(samples), general.transform(samples), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.gradients(samples), general.gradients(samples), rtol=1e-7, atol=1e-8)


def test_rows_drop_out_where_they_have_no_level() -> None:
    plan = decouple([Mean(x), variance(), kurtosis(), Mean(x**6)])
    rows = np.array([[3.0, 3, 3, 3], [1, 2, 3, 5], [0, 0, 1, 1.0]])
    values, outcomes = plan.transform(rows, on_refusal="return")
    assert [o.ok for o in outcomes] == [False, False, False]
    assert np.isnan(values[0, 2:]).all() and np.isfinite(values[:, :2]).all()
    assert np.isfinite(values[1, 2]) and np.isnan(values[1, 3])  # the kurtosis of four values is 7/3 at most
    alone = plan.transform(rows[1], on_refusal="return")[0]
    np.testing.assert_array_equal(alone[:3], values[1, :3])
