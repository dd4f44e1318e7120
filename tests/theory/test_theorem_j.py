"""Theorem J from outside: flows are integrated, and come to where ties are counted to end; hypotheses attacked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def standardized(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    centred = values - shares @ values
    return centred / np.sqrt(shares @ centred**2)


def without_skewness(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The point of the Riccati flow of the values at which the skewness vanishes."""
    z = standardized(values, shares)
    low, high = 1 / z.min(), 1 / z.max()

    def at(t: float) -> np.ndarray:
        return standardized(z / (1 - t * z), shares)

    inside = 1 - 1e-9
    return at(brentq(lambda t: shares @ at(t) ** 3, inside * low, inside * high, xtol=1e-15))


def orthogonal(z: np.ndarray, shares: np.ndarray, degree: int) -> np.ndarray:
    """The monic orthogonal polynomial of this degree at the values, by projection."""
    columns = np.vander(z, degree + 1, increasing=True) * np.sqrt(shares)[:, None]
    fit = np.linalg.lstsq(columns[:, :-1], columns[:, -1], rcond=None)[0]
    return (columns[:, -1] - columns[:, :-1] @ fit) / np.sqrt(shares)


def end_of_flow(z: np.ndarray, shares: np.ndarray, level: int, sign: int) -> np.ndarray:
    found = solve_ivp(lambda _, v: sign * orthogonal(v, shares, level - 1), (0, 60), z, method="LSODA", rtol=1e-9,
                      atol=1e-11)
    return found.y[:, -1]


@pytest.mark.parametrize("seed", [0, 1])
def test_three_of_eight_tied_at_the_end_go_to_62_35_from_anywhere(seed: int) -> None:
    rng, shares = np.random.default_rng(seed), np.array([1, 1, 1, 1, 1, 3]) / 8
    end = end_of_flow(without_skewness(np.sort(rng.normal(size=6)), shares), shares, 4, 1)
    assert shares @ end**4 == pytest.approx(62 / 35, abs=1e-5)
    assert np.ptp(end[1:5]) < 1e-2  # all between the least and the largest value have met


def test_in_the_middle_they_go_to_four() -> None:
    shares = np.array([1, 1, 3, 1, 1, 1]) / 8
    end = end_of_flow(without_skewness(np.array([0, 1, 1.5, 2, 3, 4.5]), shares), shares, 4, 1)
    assert shares @ end**4 == pytest.approx(4, abs=1e-5)


@pytest.mark.parametrize("n_samples", [6, 7])
def test_untied_values_go_to_half_their_number_and_to_the_least(n_samples: int) -> None:
    shares = np.full(n_samples, 1 / n_samples)
    start = without_skewness(np.arange(n_samples) ** 1.5, shares)
    assert shares @ end_of_flow(start, shares, 4, 1) ** 4 == pytest.approx(n_samples / 2, abs=1e-5)
    least = 1 if n_samples % 2 == 0 else n_samples / (n_samples - 1)
    assert shares @ end_of_flow(start, shares, 4, -1) ** 4 == pytest.approx(least, abs=1e-3)


def test_two_starts_in_one_cell_of_level_five_have_the_same_ends() -> None:
    """Both are moved to skewness 0 and kurtosis 2 first, along the flow of level 4."""
    shares, ends = np.array([1, 2, 1, 1, 2, 1]) / 8, []
    for values in ([0, 1, 2, 3, 4, 5.5], [0, 0.2, 2.9, 3, 3.3, 5]):
        z = without_skewness(np.array(values, dtype=float), shares)
        sign = 1 if shares @ z**4 < 2 else -1

        def arrived(_: float, v: np.ndarray) -> float:
            return float(shares @ v**4 - 2)

        arrived.terminal = True  # type: ignore[attr-defined]
        found = solve_ivp(lambda _, v, s=sign: s * orthogonal(v, shares, 3), (0, 50), z, events=arrived, rtol=1e-11,
                          atol=1e-13)
        ends.append([shares @ end_of_flow(found.y_events[0][0], shares, 5, s) ** 5 for s in (1, -1)])
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_as_many_values_as_held_moments_and_one_do_not_move() -> None:
    shares = np.array([2, 3, 1]) / 6
    z = standardized(np.array([0.0, 1, 5]), shares)
    assert np.abs(orthogonal(z, shares, 3)).max() < 1e-12


def test_a_set_that_is_no_chebyshev_system_has_two_minima() -> None:
    """Mean(x^4) at Mean(x^2) = 1: all signs of one sample are minima, and no two of them are the same up to order."""
    signs = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1]])
    assert (np.mean(signs**2, axis=1) == 1).all() and (np.mean(signs**4, axis=1) == 1).all()
