"""The NumPy kernels: no overflow, no false cancellation near equilibria, NaN behind the pole."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.flows.kernels import denominator, scaled_sine, step_of_linear, step_on_circle, step_on_line

t = np.array([-400.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 400.0])


@pytest.mark.parametrize("delta_squared", [4.0, 0.0, -4.0, 1e-30, -1e-30])
def test_sine_over_cosine_is_the_tangent(delta_squared: float) -> None:
    d = np.sqrt(complex(delta_squared))
    t = np.array([-0.7, -1e-9, 1e-9, 0.7])
    tangent = (np.tanh(d * t) / d).real if d else t
    gap = 1.0 if delta_squared else 0.0
    assert scaled_sine(t, delta_squared) / denominator(t, 0.0, gap, delta_squared) == pytest.approx(tangent, rel=1e-15)


def test_long_times_do_not_overflow() -> None:
    with np.errstate(over="raise", invalid="raise"):
        x = 0.5 + step_on_line(0.25 - 1, 0.5, 0.75, 1.0, t)  # x' = x^2 - 1 from 1/2
    assert x[0] == pytest.approx(1) and x[-1] == pytest.approx(-1) and x[3] == 0.5


def test_next_to_a_repelling_equilibrium_nothing_cancels() -> None:
    gap = 2.0**-40
    x0 = 1 - gap  # x' = x^2 - 1; 1 - x is gap exp(2 t)/(1 + gap (exp(2 t) - 1)/2)
    for time in (1.0, 10.0, 30.0):
        grown = gap * np.exp(2 * time) / (1 + gap * np.expm1(2 * time) / 2)
        step = step_on_line((x0 - 1) * (x0 + 1), x0, -(x0 - 1) * (x0 + 1), 1.0, time)
        assert gap - step == pytest.approx(grown, rel=1e-13)


def test_behind_the_pole_is_nan() -> None:
    assert np.isnan(denominator(np.array([1.0, 1.1, 5.0]), 1.0, 0.0, 0.0)).all()
    assert np.isnan(denominator(np.array([2.0, 3.5, 6.5, -2.0]), 0.0, 0.0, -1.0)).all()  # cos is positive at 6.5 again
    assert np.isnan(denominator(np.array([0.6, 400.0]), 2.0, -3.0, 1.0)).all()


def test_a_vanishing_field_stays() -> None:
    assert step_on_line(0.0, 1.0, 0.0, 1.0, t).tolist() == [0.0] * 7
    assert step_on_circle(1.0, np.zeros(7), 0.5, 0.25, t).tolist() == [0.0] * 7
    assert step_of_linear(0.0, 3.0, 2.0) == 0
