"""Collocated steps against solutions in closed form, with float64 to help, without it, and with a float64 that errs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from symdecouple.numeric.precision.collocation import NoSlope, _rule, collocated, finite, points_for

TOL = mpmath.mpf(10) ** -32


def square(states: Any) -> Any:
    """y' = y^2 and, beside it, z' = y z: y = 1/(1 - s) = z from 1."""
    return states * states[:, :1]


def in_digits_only(states: Any) -> Any:
    return square(states) if states.dtype == object else np.full(states.shape, np.nan)


def a_little_off(states: Any) -> Any:
    return square(states) if states.dtype == object else square(states) * (1 + 1e-4)


def stepped(slope: Callable[[Any], Any], h: str, count: int = points_for(30)) -> Any:
    one = mpmath.mpf(1)
    with mpmath.workdps(46):
        return collocated(slope, np.array([[one], [one]]), mpmath.mpf(h), count, np.array([one, one]), TOL)


@pytest.mark.parametrize("slope", [square, in_digits_only, a_little_off])
@pytest.mark.parametrize("h", ["0.05", "0.2", "-0.2"])
def test_the_error_is_below_its_estimate(slope: Callable[[Any], Any], h: str) -> None:
    step = stepped(slope, h)
    with mpmath.workdps(46):
        assert max(abs(step.values.ravel() - 1 / (1 - mpmath.mpf(h)))) < step.error * TOL + mpmath.mpf(10) ** -44
    assert step.error < 1


@pytest.mark.parametrize("h", ["0.6", "0.99", "2"])
def test_steps_that_are_too_long_are_made_shorter_until_they_are_right(h: str) -> None:
    step, looks = stepped(square, h), 0
    while step.values is None:
        assert step.factor < 1
        with mpmath.workdps(46):
            h = str(mpmath.mpf(h) * step.factor)
        step, looks = stepped(square, h), looks + 1
    assert 0 < looks < 6 and mpmath.mpf(h) > 0.1


def test_short_steps_are_made_longer() -> None:
    step = stepped(square, "1e-6")
    assert step.values is not None and step.factor == 4


@pytest.mark.parametrize("count", [5, 12, 30])
def test_powers_are_integrated_exactly(count: int) -> None:
    """To twice as many as there are points at the end, and as many at the points themselves."""
    with mpmath.workdps(60):
        sums, last = _rule(count, mpmath.mp.prec)
        inner, ends = sums[:-1], sums[-1]
        points = inner.sum(axis=1)
        close = mpmath.mpf(10) ** -55
        assert np.abs(inner @ points ** (count - 1) * count - points**count).max() < close
        assert abs(ends @ points ** (2 * count - 1) * 2 * count - 1) < close
        assert abs(ends @ points ** (2 * count) * (2 * count + 1) - 1) > close
        assert np.abs(last @ points ** (count - 3)).max() < close < abs(last @ points ** (count - 2)).max()


def test_what_is_not_finite_is_said() -> None:
    for compute in (lambda v: v / mpmath.mpf(0), lambda v: [v, mpmath.nan], lambda v: [mpmath.sqrt(-v)]):
        with pytest.raises(NoSlope):
            finite(compute, mpmath.mpf(1))
    assert stepped(lambda states: states / (0 * states), "0.1").values is None
