"""Energies to many digits: against sums by hand, the precise narrow path, differences, float64, and more digits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Rational

from symdecouple import FilterBank, InvalidInput
from symdecouple.families.quadratic import second_order_moments
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.numeric.features.fourier import forward, inverse, partners, roots
from symdecouple.numeric.precision.energies import PreciseEnergies
from symdecouple.numeric.precision.path import follow_mp
from symdecouple.numeric.precision.tilting import solved
from tests.numeric.differences import extrapolated, largest

THIRD, HALF = mpmath.mpf(1) / 3, mpmath.mpf(1) / 2
BANK = FilterBank([[1, 1, 1], [Rational(-1, 2), 0, Rational(1, 2)], [-1, 2, -1]])
TAPS: list[dict[Any, Any]] = [{-1: 1, 0: 1, 1: 1}, {-1: -HALF, 1: HALF}, {-1: -1, 0: 2, 1: -1}]
ROW = [0.75, -0.25, 1, 0.5, -1.25, 2, 0.5, -1.5]
GOALS = [2, HALF, 5]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


def energies(n: int = 8, mean: bool = False, taps: Any = TAPS) -> PreciseEnergies:
    squares = [[abs(v) ** 2 for v in response({lag: mpmath.mpf(t) for lag, t in h.items()}, (n,))] for h in taps]
    return PreciseEnergies(np.array(squares, dtype=object), (n,), mean)


def response(taps: dict[Any, Any], grid: tuple[int, ...]) -> Any:
    """The frequency response of taps by lag, (N,), wave by wave; None is no lag in any number of dimensions."""
    places = np.unravel_index(np.arange(int(np.prod(grid))), grid)
    total = np.full(len(places[0]), mpmath.mpc(0), dtype=object)
    for lag, tap in taps.items():
        wave, shifts = tap, lag if isinstance(lag, tuple) else (lag or 0,) * len(grid)
        for shift, place, n in zip(shifts, places, grid, strict=True):
            wave = roots(n, mpmath.mp.prec)[shift * place % n] * wave
        total = total + wave
    total[[abs(v) < 8 * mpmath.eps * sum(map(abs, taps.values())) for v in total]] = mpmath.mpc(0)
    return total


def row(values: Any = ROW) -> Any:
    return as_multiprecision(values)


def by_hand(z: Any, taps: dict[Any, Any]) -> Any:
    """Mean((h * z)^2), sample by sample."""
    n = len(z)
    return mpmath.fsum(mpmath.fsum(t * z[(i - lag) % n] for lag, t in taps.items()) ** 2 for i in range(n)) / n


def decoupled(precise: PreciseEnergies, z: Any, goals: list[Any]) -> tuple[Any, Any]:
    """Feature k at level k - 1, and its gradient, which the level carries back: 1/N of the mean, 2/N h~(h(y))."""
    values, gradients, n = [], [], len(z)
    for k in range(precise.size):
        level = precise.normalize(z, goals[:k])
        assert level.outcome.ok and level.residual < mpmath.mpf(10) ** -36 and level.error < mpmath.mpf(10) ** -34
        values.append(precise.values(level.values)[k])
        own = np.full(n, mpmath.mpf(1) / n, dtype=object)
        if k >= precise.mean:
            spectrum = forward(level.values, precise.grid) * precise.weights[k - precise.mean]
            own = inverse(spectrum, precise.grid) * 2 / n
        gradients.append(level.pullback(own))
    return np.array(values), np.array(gradients)


# --- transforms ---


@pytest.mark.parametrize("grid", [(1,), (7,), (8,), (12,), (3, 4), (2, 3, 5)])
def test_the_transform_is_the_sum(grid: tuple[int, ...]) -> None:
    size = int(np.prod(grid))
    values = row([(7 * i * i + 3 * i) % 11 - 4 for i in range(size)])
    places = list(itertools.product(*(range(n) for n in grid)))
    found = forward(values, grid)
    for f, frequency in enumerate(places):
        turns = [sum(mpmath.mpf(a * b) / n for a, b, n in zip(frequency, place, grid, strict=True)) for place in places]
        total = mpmath.fsum(v * mpmath.expjpi(-2 * t) for v, t in zip(values, turns, strict=True))
        assert abs(found[f] - total) < mpmath.mpf(10) ** -37
        assert places[partners(grid)[f]] == tuple(-k % n for k, n in zip(frequency, grid, strict=True))
    assert largest(inverse(found, grid) - values) < mpmath.mpf(10) ** -38


def test_the_response_of_taps_is_the_transform_of_the_impulse_response() -> None:
    taps = {(0, 0): mpmath.mpf(2), (1, -1): -THIRD, (0, 5): HALF}
    impulse = np.full((3, 4), mpmath.mpf(0), dtype=object)
    for lag, tap in taps.items():
        impulse[lag[0] % 3, lag[1] % 4] += tap
    assert largest(response(taps, (3, 4)) - forward(impulse.reshape(-1), (3, 4))) < mpmath.mpf(10) ** -38
    assert response({None: THIRD}, (2, 2)).tolist() == [THIRD] * 4


# --- levels ---


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_narrow_path_arrives_at_the_same_signal(k: int) -> None:
    """Level after level by `follow_mp`, another way altogether, agrees to thirty digits."""
    features, z = second_order_moments(BANK), row()
    for j, goal in enumerate(GOALS[:k], 1):
        z = follow_mp(features, z, j, goal, dps=32).values
    found = energies().normalize(row(), GOALS[:k])
    assert found.outcome.ok and largest(found.values - z) < mpmath.mpf(10) ** -30 * largest(z)
    for taps, goal in zip(TAPS, GOALS[:k], strict=False):
        assert abs(by_hand(found.values, taps) - goal) < mpmath.mpf(10) ** -38
    assert found.residual < mpmath.mpf(10) ** -39 and found.error < mpmath.mpf(10) ** -37


@pytest.mark.parametrize("mean", [False, True])
def test_float64_agrees(mean: bool) -> None:
    goals = [mpmath.mpf("0.3")] * mean + GOALS
    precise, x = energies(16, mean), row(ROW + ROW[::-1])
    x[0] += 3
    level, rough = precise.normalize(x, goals), precise.rough.normalize(x.astype(float)[None], np.array(goals, float))
    assert level.values.astype(float) == pytest.approx(rough.values[0], abs=1e-13)
    values, gradients = decoupled(precise, x, goals)
    floats = precise.rough.decouple(x.astype(float)[None], np.array(goals[:-1], float))
    assert values.astype(float) == pytest.approx(floats.values[0], rel=1e-13)
    assert gradients.astype(float) == pytest.approx(floats.gradients()[0], abs=1e-13)


@pytest.mark.parametrize("mean", [False, True])
def test_gradients_are_those_of_extrapolated_differences(mean: bool) -> None:
    goals = [THIRD] * mean + GOALS[:2]
    precise, direction = energies(8, mean), row([1, -2, 0, 3, 1, 1, -1, 2])
    (slopes,) = extrapolated(lambda rows: [decoupled(precise, z, goals)[0] for z in rows], row()[None], direction,
                             mpmath.mpf(2) / 10**7, 2)
    for g, slope in zip(decoupled(precise, row(), goals)[1], slopes, strict=True):
        assert abs(mpmath.fdot(g, direction) - slope) < mpmath.mpf(10) ** -24 * (1 + abs(slope))


def test_the_error_covers_what_more_digits_change() -> None:
    ends = []
    for dps in (20, 40):
        with mpmath.workdps(dps):
            ends.append(energies().normalize(row(), GOALS))
    gap = largest(ends[0].values - ends[1].values)
    assert 0 < gap < 10 * ends[0].error * largest(ends[1].values)


@pytest.mark.parametrize("exponent", [-400, 400])
def test_units_beyond_float64(exponent: int) -> None:
    unit = mpmath.mpf(10) ** exponent
    plain, scaled = energies().normalize(row(), GOALS), energies().normalize(row() * unit, row(GOALS) * unit**2)
    assert largest(scaled.values / unit - plain.values) < mpmath.mpf(10) ** -37


def test_power_that_float64_does_not_see_counts() -> None:
    """cos + 1e-20 (-1)^n: float64 has one frequency there and refuses two energies; mpmath lifts the other one."""
    n, tiny = 8, mpmath.mpf(10) ** -20
    z = np.array([mpmath.cospi(mpmath.mpf(i) / 4) + tiny * (-1) ** i for i in range(n)], dtype=object)
    precise = energies(taps=[TAPS[0], TAPS[2]])
    assert precise.rough.normalize(z.astype(float)[None], np.array([2.0, 5.0])).refusals[0].reason == (
        "too few active frequencies")
    found = precise.normalize(z, [2, 5])
    assert found.outcome.ok
    for taps, goal in zip((TAPS[0], TAPS[2]), (2, 5), strict=True):
        assert abs(by_hand(found.values, taps) - goal) < mpmath.mpf(10) ** -18


# --- what cannot be had ---


@pytest.mark.parametrize(("signal", "goals", "reason"), [
    ([1] * 8, [2, 1, 5], "too few active frequencies"),
    (ROW, [2, 50, 5], "outside the cone"),
    (ROW, [9, 0, 0], "on the boundary of the cone"),
    (ROW, [2, mpmath.nan, 5], "not finite"),
])
def test_refusals_are_those_of_float64(signal: list[int], goals: list[Any], reason: str) -> None:
    found = energies().normalize(row(signal), goals)
    assert found.outcome.reason == reason
    assert all(mpmath.isnan(v) for v in [*found.values, found.residual, *found.pullback(row())])


TEN = mpmath.mpf(10)


@pytest.mark.parametrize(("goal", "reason"), [
    (TEN**-15, ""), (TEN**-25, ""), (TEN**-36, ""), (0, "on the boundary of the cone"),
    (-(TEN**-5), "outside the cone"), (-(TEN**-20), "outside the cone"), (-(TEN**-34), "outside the cone"),
])
def test_the_boundary_is_told_to_all_digits(goal: Any, reason: str) -> None:
    """Features 4, 2, 0 and 0, 2, 4 at three frequencies: the second can be anything positive."""
    pair = PreciseEnergies(np.array([[4, 2, 0, 2], [0, 2, 4, 2]], dtype=object) * mpmath.mpf(1), (4,))
    found = pair.normalize(row([1, 2, 4, 3.5]), [8, goal])
    assert found.outcome.reason == reason and found.outcome.ok == (not reason)
    if not reason:
        assert abs(pair.values(found.values)[1] / goal - 1) < mpmath.mpf(10) ** -15


@pytest.mark.parametrize("scale", [1, 100, 3000])
@pytest.mark.parametrize("mean", [False, True])
def test_there_and_back_is_right_within_its_error(mean: bool, scale: int) -> None:
    """Given to 40 digits, returned with those that are left: a sample far from the references loses some."""
    precise, x = energies(mean=mean), row([scale * v for v in ROW])
    references, digits = [THIRD] * mean + GOALS, mpmath.mpf(10) ** -40
    back = precise.returned(precise.normalize(x, references).values, references, decoupled(precise, x, references)[0])
    assert back.outcome.ok and back.residual < mpmath.mpf(10) ** -37
    assert largest(back.values - x) < 40 * (back.error + back.growth * digits) * largest(x)
    assert back.growth > 1e6 or scale < 3000


def test_values_that_no_signal_has_are_not_returned() -> None:
    precise = energies()
    normal, values = precise.normalize(row(), GOALS).values, decoupled(precise, row(), GOALS)[0]
    for wrong, reason in ((-1, "outside the cone"), (mpmath.nan, "not finite")):
        found = precise.returned(normal, GOALS, [*values[:2], wrong])
        assert found.outcome.reason == reason and all(mpmath.isnan(v) for v in found.values)


def test_a_dependent_feature_has_its_value_or_none() -> None:
    """Twice the first energy: 2 v is met by itself, anything else is not; there is no gradient either way."""
    precise = energies(taps=[TAPS[0], {lag: t * mpmath.sqrt(2) for lag, t in TAPS[0].items()}])
    fine = precise.normalize(row(), [2, 4])
    assert fine.outcome.ok and abs(by_hand(fine.values, TAPS[0]) - 2) < mpmath.mpf(10) ** -37
    assert all(mpmath.isnan(v) for v in fine.pullback(row()))
    for far in (-3, -12, -18):
        assert precise.normalize(row(), [2, 4 + mpmath.mpf(10) ** far]).outcome.reason == "too few active frequencies"


def test_wrong_shapes() -> None:
    with pytest.raises(InvalidInput, match=r"up to 3 targets"):
        energies().normalize(row(), [1, 1, 1, 1])
    with pytest.raises(InvalidInput, match=r"a signal \(8,\)"):
        energies().normalize(row()[:7], [1])
    with pytest.raises(InvalidInput, match=r"weights \(M, 8\)"):
        PreciseEnergies(np.zeros((2, 5), dtype=object), (8,))


def test_a_step_without_finite_numbers_is_no_solution() -> None:
    with pytest.raises(ZeroDivisionError):
        solved(np.array([[mpmath.mpf(1), mpmath.nan], [mpmath.nan, mpmath.mpf(1)]], dtype=object), [1, 1])
