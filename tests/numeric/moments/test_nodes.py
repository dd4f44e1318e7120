"""Nodes that stand in for the entries of long samples: quadrature, series, moments and gradients of the entries."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.levels import climb
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.nodes import COUNTS, FROM_ENTRIES, Nodes, series_at, series_of, tail
from tests.traced import peak

N = FROM_ENTRIES
GOAL = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0)
RNG = np.random.default_rng(5)
LAWS = {"normal": RNG.normal(size=N), "exponential": RNG.exponential(size=N), "uniform": RNG.uniform(size=N),
        "t": RNG.standard_t(5, size=N)}
SHARP = partial(follow, rtol=1e-14)


@pytest.mark.parametrize("name", LAWS)
def test_means_of_polynomials_are_exact(name: str) -> None:
    z = (LAWS[name] - LAWS[name].mean()) / np.abs(LAWS[name]).max()
    nodes = Nodes.of(z, 24)
    assert nodes is not None and (nodes.weights > 0).all() and len(nodes.places) == 24
    for degree in range(48):
        assert nodes.weights @ nodes.places**degree == pytest.approx(np.mean(z**degree), rel=1e-11, abs=1e-14)


def test_a_smooth_function_is_its_series() -> None:
    z = LAWS["normal"]
    nodes = Nodes.of(z, 48)
    assert nodes is not None
    functions = [lambda v: np.exp(v / 2), np.sin, lambda v: 1 / (30 + v)]
    series, out = series_of(nodes, np.array([f(nodes.places) for f in functions])), np.empty((3, N))
    assert (tail(series) < 1e-14).all()
    series_at(nodes, series, z, out)
    for f, values in zip(functions, out, strict=True):
        np.testing.assert_allclose(values, f(z), rtol=1e-12, atol=1e-13)
    assert tail(series_of(nodes, np.abs(nodes.places))) > 1e-4  # no polynomial of that degree is near


def test_few_values_have_no_nodes() -> None:
    assert Nodes.of(np.tile([1.0, 2, 3, 5, 8], N // 5), 8) is None
    assert Nodes.of(LAWS["normal"][:100], 48) is None


@pytest.mark.parametrize("name", LAWS)
def test_moments_and_gradients_are_those_of_the_entries(name: str) -> None:
    row = LAWS[name][None]
    by_nodes = climb(row, 6, GOAL, store=True)
    assert by_nodes.parts and not any(len(which) for _, which, _ in by_nodes.levels)
    exact = climb(row, 6, GOAL, follower=SHARP, counts=())
    np.testing.assert_allclose(by_nodes.moments, exact.moments, rtol=1e-9, atol=1e-9)


def test_gradients_of_a_long_sample_sum_to_nothing_and_are_differences() -> None:
    x, order = LAWS["exponential"], 6
    found = standardized_gradients(x[None], order, GOAL)
    gradients, direction = found.gradients[0], np.cos(3 * x)
    size = np.abs(gradients).max(axis=1)
    assert (np.abs(gradients[1:].sum(axis=1)) <= 1e-10 * N * size[1:]).all()
    assert (np.abs(gradients[3:] @ x) <= 1e-10 * N * size[3:]).all()

    def slope(step: float) -> np.ndarray:
        ends = np.stack([x + step * direction, x - step * direction])
        moments = climb(ends, order, GOAL, follower=SHARP).moments[4:]
        return (moments[:, 0] - moments[:, 1]) / (2 * step)

    extrapolated = (4 * slope(5e-4) - slope(1e-3)) / 3
    np.testing.assert_allclose(gradients[3:] @ direction, extrapolated, rtol=1e-6)


def test_what_has_no_level_is_told_as_by_the_entries() -> None:
    """A third of the entries tied at the minimum, and a far outlier."""
    tied = np.concatenate([np.zeros(N // 5 * 2), 1 + RNG.exponential(size=N - N // 5 * 2)])
    far = np.append(RNG.normal(size=N - 1), 1e6)
    for row in (tied, far):
        found, exact = (climb(row[None], 6, GOAL, counts=counts) for counts in (COUNTS, ()))
        assert {i: o.reason for i, o in found.refusals.items()} == {i: o.reason for i, o in exact.refusals.items()}
        np.testing.assert_allclose(found.moments, exact.moments, rtol=2e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["values", "gradients"])
def test_memory_of_one_long_sample(name: str) -> None:
    """Three times the sample, beside the answer: level 3, and what makes nodes or slopes of it."""
    row = np.random.default_rng(3).normal(size=(1, 2**18))
    ask = (lambda row: climb(row, 6, GOAL)) if name == "values" else lambda row: standardized_gradients(row, 6, GOAL)
    ask(row[:, : 2**14])
    answer = 6 * row.nbytes if name == "gradients" else 0
    assert peak(lambda: ask(row)) <= answer + 3 * row.nbytes + 2**20
