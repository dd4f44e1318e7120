"""Bins and points that stand for the entries of long samples: functions, moments and gradients of the entries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symdecouple.numeric.moments import gradients as module, influence
from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.influence import decoupled_influences
from symdecouple.numeric.moments.levels import climb, standardized_rows
from symdecouple.numeric.moments.long_rows import FROM_ENTRIES, LongRow, follow_long
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.samples.batch import SampleMatrix
from tests.numeric.differences import extrapolated
from tests.traced import peak

N = FROM_ENTRIES
GOAL = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0)
RNG = np.random.default_rng(5)
LAWS = {"normal": RNG.normal(size=N), "exponential": RNG.exponential(size=N), "uniform": RNG.uniform(size=N),
        "t": RNG.standard_t(5, size=N), "counts": RNG.poisson(400, size=N) * 1.0,
        "tied ends": np.clip(RNG.normal(size=N), -1.5, 2.0)}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("is_falling", [False, True])
def test_a_smooth_function_is_told_at_the_entries(name: str, is_falling: bool) -> None:
    x = LAWS[name]
    few, out = LongRow.of(x, 0.0, is_falling=is_falling), np.empty((3, N))
    assert few is not None
    low, high = x.min(), x.max()
    place = np.ldexp(few.values[0], few.frame.exponent) + (high if is_falling else low)
    functions = [lambda v: np.cos(3 * (v - low) / (high - low)), lambda v: ((v - low) / (high - low)) ** 11,
                 lambda v: (high - low) / (v - low + 0.01 * (high - low))]
    few.at_entries(np.array([f(place) for f in functions]), x, out)
    for f, values in zip(functions, out, strict=True):
        np.testing.assert_allclose(values, f(x), rtol=1e-12, atol=1e-12)
    assert few.share.sum() == pytest.approx(1, rel=1e-14)
    assert few.share[0] @ functions[0](place) == pytest.approx(functions[0](x).mean(), rel=1e-12, abs=1e-14)


def test_few_values_are_told_by_the_entries() -> None:
    assert LongRow.of(np.tile([1.0, 2, 3, 5, 8], N // 5), 0.0, is_falling=False) is None


@pytest.mark.parametrize("name", LAWS)
def test_moments_and_gradients_are_those_of_the_entries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = LAWS[name][None] * 1e-100
    found = standardized_gradients(row, 6, GOAL)
    exact = climb(row, 6, GOAL, rtol=1e-14, store=True)  # by entries
    np.testing.assert_allclose(found.values[:, 3:].T, exact.moments[4:], rtol=1e-9, atol=1e-9)
    monkeypatch.setattr(module, "FROM_ENTRIES", N + 1)
    expected = standardized_gradients(row, 6, GOAL).gradients
    size = np.abs(expected).max(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.gradients / size, expected / size, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["exponential", "t", "tied ends"])
def test_long_weighted_samples_are_told_as_by_their_entries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, gradients, influence functions, and the entries at a level."""
    row, weights = LAWS[name][None] + 1e3, RNG.uniform(0, 2, size=(1, N))
    share = weights / weights.sum()
    told = [standardized_gradients(row, 6, GOAL, weights), decoupled_influences(row, 6, GOAL, weights)]
    moved = climb(row, 6, GOAL, weights=weights).levels[-1][2].values
    exact = climb(row, 6, GOAL, weights=weights, rtol=1e-14, store=True)
    np.testing.assert_allclose(moved, exact.levels[-1][2].values, rtol=0, atol=1e-8)
    found = standardized_rows(SampleMatrix.weighted(row, weights), 6, GOAL)[0]
    for values in (found, *(each.values for each in told)):
        np.testing.assert_allclose(values[:, 3:].T, exact.moments[4:], rtol=1e-9, atol=1e-9)
    assert values[0, 0] == pytest.approx(share[0] @ row[0], rel=1e-14)
    monkeypatch.setattr(module, "FROM_ENTRIES", N + 1)
    monkeypatch.setattr(influence, "FROM_ENTRIES", N + 1)
    gradients, psi = standardized_gradients(row, 6, GOAL, weights), decoupled_influences(row, 6, GOAL, weights)
    for functions, expected in ((told[0].gradients, gradients.gradients), (told[1].psi, psi.psi)):
        size = np.abs(expected).max(axis=-1, keepdims=True)
        np.testing.assert_allclose(functions / size, expected / size, rtol=0, atol=1e-8)


def test_gradients_of_a_long_sample_sum_to_nothing_and_are_differences() -> None:
    x, order = LAWS["exponential"], 6
    found = standardized_gradients(x[None], order, GOAL)
    gradients, direction = found.gradients[0], np.cos(3 * x)
    size = np.abs(gradients).max(axis=1)
    assert (np.abs(gradients[1:].sum(axis=1)) <= 1e-10 * N * size[1:]).all()
    assert (np.abs(gradients[3:] @ x) <= 1e-10 * N * size[3:]).all()

    (expected,) = extrapolated(lambda rows: climb(rows, order, GOAL, rtol=1e-14, store=True).moments[4:].T,
                               x[None], direction, 1e-3, 2)
    np.testing.assert_allclose(gradients[3:] @ direction, expected, rtol=1e-6)


def test_what_has_no_level_is_told_as_by_the_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fifths of the entries tied at the minimum, three values, one: beside a sample that has all levels."""
    tied = np.concatenate([np.zeros(N // 5 * 2), 1 + RNG.exponential(size=N - N // 5 * 2)])
    rows = np.stack([tied, LAWS["normal"], np.resize([-1.0, 0, 1, 1], N), np.full(N, 3.0)])
    found = standardized_gradients(rows, 6, GOAL)
    monkeypatch.setattr(module, "FROM_ENTRIES", N + 1)
    exact = standardized_gradients(rows, 6, GOAL)
    assert found.refusals == exact.refusals and 1 not in found.refusals and len(found.refusals) > 2
    np.testing.assert_allclose(found.values, exact.values, rtol=2e-9, atol=1e-9)
    refused = list(found.refusals)
    np.testing.assert_array_equal(found.gradients[refused], exact.gradients[refused])


def test_memory_of_the_gradients_of_one_long_sample() -> None:
    """Three times the sample, beside the answer."""
    row = np.random.default_rng(3).normal(size=(1, 2**18))
    standardized_gradients(row[:, : 2**14], 6, GOAL)
    assert peak(lambda: standardized_gradients(row, 6, GOAL)) <= 9 * row.nbytes + 2**20


@pytest.mark.parametrize("name", ["normal", "exponential", "t", "counts"])
def test_paths_of_long_samples_are_those_of_their_entries(name: str) -> None:
    """An integrator of SciPy along the gradient of the kurtosis, less what mean, variance and skewness have of it."""
    start = impose_skewness(np.concatenate([LAWS[name], LAWS[name][:300]])[None], 0.0).values

    def velocity(_: float, z: np.ndarray) -> np.ndarray:
        held = np.vander(z, 3, increasing=True)
        free = z**3 - held @ np.linalg.lstsq(held, z**3, rcond=None)[0]
        return free / (4 * np.mean(free * z**3))  # the kurtosis changes by 1 in the time 1

    kurtosis = np.mean(start[0] ** 4)
    expected = solve_ivp(velocity, (0, 3.5 - kurtosis), start[0], "DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    held, rows = np.array([[0.0], [1.0], [0.0]]), start.copy()
    assert follow_long(rows, 4, np.array([3.5]), held, 1e-14).refusals == {}
    np.testing.assert_allclose(rows[0], expected, rtol=0, atol=1e-8)
    assert np.abs(np.mean(rows[0] ** np.arange(1, 5)[:, None], axis=1) - [0, 1, 0, 3.5]).max() < 1e-13
    order = np.argsort(start[0], kind="stable")
    assert (np.diff(rows[0][order]) >= 0).all() and (np.diff(rows[0][order])[np.diff(start[0][order]) == 0] == 0).all()
    there = rows.copy()
    assert follow_long(there, 4, np.array([3.5]), held, 1e-14).refusals == {} and (there == rows).all()
    both = np.concatenate([start, np.linspace(-1, 1, start.size)[None]])
    follow_long(both, 4, np.array([3.5, 3.5]), np.tile(held, 2), 1e-14)
    assert (both[0] == rows[0]).all()


def test_a_long_sample_that_does_not_arrive_is_refused_as_its_entries() -> None:
    z = impose_skewness(LAWS["tied ends"][None], 0.0).values
    held, goal = np.array([[0.0], [1.0], [0.0]]), np.array([0.9])
    refused = follow(z, 4, goal, held=held, rtol=1e-12).refusals
    assert refused and follow_long(z, 4, goal, held, 1e-12).refusals == refused and np.isnan(z).all()
