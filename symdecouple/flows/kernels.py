r"""The projective flows in NumPy: the formula of `projective`, without overflow and without false cancellation.

.. math:: z = \frac{w\,S}{C - S\,h}, \qquad C = \cosh \delta t,\quad S = \sinh(\delta t)/\delta,\quad h = w'/2

S and C are scaled by exp(-delta |t|). Near a repelling equilibrium C - S h is a difference of large numbers; there
gap = 1 - h^2/delta^2, which the field gives without cancellation, takes its place. What is left is the error of one
rounding of the initial value. A NaN says that the solution does not exist at this time.

This module imports NumPy only, and each function stands alone with those above it: `Flow.code` copies them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["denominator", "scaled_sine", "step_of_linear", "step_on_circle", "step_on_line", "step_on_logarithm"]


def scaled_sine(t: Any, delta_squared: float) -> Any:
    """S(t), times exp(-delta |t|) where delta is real."""
    if delta_squared == 0:
        return t
    delta = np.sqrt(abs(delta_squared))
    if delta_squared < 0:
        return np.sin(delta * t) / delta
    return -np.sign(t) * np.expm1(-2 * delta * np.abs(t)) / (2 * delta)


def denominator(t: Any, h: Any, gap: Any, delta_squared: float) -> Any:
    """C - S h in the scale of `scaled_sine`; NaN where it has vanished between 0 and t."""
    if delta_squared == 0:
        value = 1 - t * h
    elif delta_squared > 0:
        delta = np.sqrt(delta_squared)
        m = np.sign(t) * h / delta
        value = (np.where(m > 0, gap / (1 + np.abs(m)), 1 - m) + np.exp(-2 * delta * np.abs(t)) * (1 + m)) / 2
    else:
        omega = np.sqrt(-delta_squared)
        value = np.cos(omega * t) - np.sin(omega * t) / omega * h
        value = np.where(np.abs(omega * t + np.arctan(h / omega)) < np.pi / 2, value, np.nan)
    return np.where(value > 0, value, np.nan)


def step_of_linear(w: Any, slope: float, t: Any) -> Any:
    """Increment of u along u' = w, w linear of this slope."""
    return w * t if slope == 0 else w * np.expm1(slope * t) / slope


def step_on_line(w: Any, h: Any, gap: Any, delta_squared: float, t: Any) -> Any:
    """Increment of u along u' = w, w quadratic."""
    return np.where(w == 0, 0, w * scaled_sine(t, delta_squared) / denominator(t, h, gap, delta_squared))


def step_on_logarithm(
    k: float, w: Any, h_low: Any, gap_low: Any, h_high: Any, gap_high: Any, delta_squared: float, t: Any
) -> Any:
    """Increment of u along u' = w, w in span(1, exp(k u), exp(-k u)); h_low, h_high = (w' -+ k w)/2."""
    above = denominator(t, h_low, gap_low, delta_squared)
    below = denominator(t, h_high, gap_high, delta_squared)
    ratio = k * w * scaled_sine(t, delta_squared) / below
    step = np.where(np.abs(ratio) < 0.5, np.log1p(np.maximum(ratio, -0.5)), np.log(above) - np.log(below)) / k
    return np.where(w == 0, 0, step)


def step_on_circle(k: float, w: Any, h: Any, delta_squared: float, t: Any) -> Any:
    """Increment of u along u' = w, w in span(1, cos(k u), sin(k u)), with its full turns."""
    turns = np.zeros_like(t)
    if delta_squared < 0:
        omega = np.sqrt(-delta_squared)
        turns = np.round(omega * t / np.pi)
        rest = omega * t - turns * np.pi
        s, c = np.sin(rest) / omega, np.cos(rest)
    else:
        s = scaled_sine(t, delta_squared)
        c = (1 + np.exp(-2 * np.sqrt(delta_squared) * np.abs(t))) / 2
    return 2 / k * (np.pi * turns * np.sign(k * w) + np.arctan2(k * w * s / 2, c - s * h))
