"""Gradients of one long sample on nodes: those of its own path, differences, many digits, and the laws."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest

from symdecouple import decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.moments import long_jit, moment_path_kernel
from symdecouple.numeric.moments.levels import climb, gaussian_moments
from symdecouple.numeric.moments.long_adjoint import long_gradients
from symdecouple.numeric.moments.long_jit import Compiled, CompiledRow, compiled_located
from symdecouple.numeric.moments.long_means import ByNumPy
from symdecouple.numeric.moments.moment_path import Followed, follow
from symdecouple.numeric.moments.pullback import project, pullback
from symdecouple.numeric.samples.batch import Panel
from tests.traced import peak

GOAL = (1.0, *gaussian_moments(5))
N = 4096
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "turned exponential": lambda rng, n: -rng.exponential(size=n),
    "gamma of 1/4": lambda rng, n: rng.gamma(0.25, size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "far away": lambda rng, n: 1e8 + rng.gamma(3.0, size=n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "two clusters": lambda rng, n: np.arange(n) % 2 + 0.1 * rng.normal(size=n),
    "a fifth of zeros": lambda rng, n: np.where(rng.uniform(size=n) < 0.2, 0, rng.normal(size=n)),
    "of 256 values": lambda rng, n: np.floor(np.clip(rng.gamma(4, 20, size=n), 0, 255)),
}


DOZEN = np.array([0.1, 0.7, 1.3, 1.9, 2.2, 2.6, 3.1, 3.7, 4.9, 6.0, 8.5, 12.0])


@pytest.fixture(params=["NumPy", "compiled"])
def way(request: Any) -> tuple[Any, ...]:
    if request.param == "NumPy":
        return (ByNumPy(),)
    pytest.importorskip("numba")
    for module in (moment_path_kernel, long_jit):
        if not module.KERNELS.are_warm():
            module.warm()
    return Compiled(), compiled_located, CompiledRow


def differentiated(x: np.ndarray, way: tuple[Any, ...], goal: tuple[float, ...] = GOAL) -> tuple[np.ndarray, ...]:
    out = np.full((len(goal) - 3, len(x)), 7.0)
    found = long_gradients(Panel.of(x[None]), 0, goal, way[0], out, *way[1:])
    assert found is not None and found[1] is None
    return found[0], out


def sharply(*args: Any, **options: Any) -> Followed:
    return follow(*args, **{**options, "rtol": 1e-13})


def entry_by_entry(x: np.ndarray, goal: tuple[float, ...] = GOAL) -> tuple[np.ndarray, np.ndarray]:
    """Moments and gradients by the adjoint of the path of all entries, in steps a hundred times finer."""
    order = len(goal)
    with np.errstate(all="ignore"):
        ladder = climb(x[None], order, goal, follower=sharply, store=True, fewest_nodes=None)
        assert ladder.skew is not None
        z = ladder.skew.values
        covectors = np.empty((order - 3, 1, len(x)))
        covectors[0] = 4 * z**3 / len(x)
        for k, _, followed in ladder.levels:
            covectors[k - 3] = (k + 1) * followed.values**k / len(x)
        for k, _, followed in reversed(ladder.levels):
            covectors[k - 3 :] = pullback(followed, covectors[k - 3 :])
        return ladder.moments[4:, 0], (ladder.skew.slope * project(z, covectors, 3))[:, 0]


@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_those_of_the_path_of_all_entries(law: str, way: tuple[Any, ...]) -> None:
    x = LAWS[law](np.random.default_rng(3), N)
    moments, exact = entry_by_entry(x)
    values, found = differentiated(x, way)
    assert values == pytest.approx(moments, rel=1e-10)
    size = np.abs(exact).max(axis=1, keepdims=True)
    assert np.abs(found - exact).max() <= 2e-10 * size.max() and (np.abs(found - exact) <= 2e-10 * size).all()
    c, total = x - x.mean(), np.abs(found).sum(axis=1)
    assert (np.abs(found.sum(axis=1)) <= 1e-11 * total).all()
    assert (np.abs(found @ c) <= 1e-11 * (np.abs(found) @ np.abs(c))).all()


def test_differences(way: tuple[Any, ...]) -> None:
    """Central differences of the moments of the path of all entries, extrapolated to order 8."""
    rng = np.random.default_rng(4)
    x, direction = rng.gamma(3.0, size=1500), rng.normal(size=1500)
    steps = 1e-2 / 2.0 ** np.arange(4)
    rows = np.concatenate([x + steps[:, None] * direction, x - steps[:, None] * direction])
    moments = climb(rows, 6, GOAL, follower=sharply, fewest_nodes=None).moments[4:]
    table = [(moments[:, i] - moments[:, i + 4]) / (2 * steps[i]) for i in range(4)]
    for j in range(1, 4):
        table = [b + (b - a) / (4**j - 1) for a, b in itertools.pairwise(table)]
    gradients = differentiated(x, way)[1]
    size = np.abs(gradients) @ np.abs(direction)
    assert (np.abs(gradients @ direction - table[0]) <= 1e-9 * size).all()


@cache
def in_many_digits() -> np.ndarray:
    return np.array(decouple(raw_moments(6)).gradients(DOZEN, dps=18), dtype=float)


def test_in_many_digits(way: tuple[Any, ...]) -> None:
    """Each of a dozen values four hundred times: an entry has its value's share of the derivative."""
    exact = in_many_digits()[3:] / 400
    found = differentiated(np.tile(DOZEN, 400), way)[1]
    assert np.abs(found - np.tile(exact, 400)).max(axis=1) == pytest.approx(0, abs=1e-10 * np.abs(exact).max())


@pytest.mark.parametrize("goal", [(1.0, 0.0, 1.0, 0.3), (1.0, 0.0, 1.0, 0.3, 3.2), (1.0, *gaussian_moments(7))],
                         ids=["order 4", "order 5", "order 8"])
def test_other_orders_and_references(goal: tuple[float, ...], way: tuple[Any, ...]) -> None:
    x = LAWS["far away"](np.random.default_rng(5), 3000)
    moments, exact = entry_by_entry(x, goal)
    values, found = differentiated(x, way, goal)
    assert values == pytest.approx(moments, rel=1e-9)
    assert (np.abs(found - exact).max(axis=1) <= 1e-9 * np.abs(exact).max(axis=1)).all()


@pytest.mark.parametrize("values", ["many values", "few values"])
def test_a_level_that_is_missing(values: str, way: tuple[Any, ...]) -> None:
    """38 % zeros have no level 5: gradients to order 5 are there, and why there is no further one."""
    rng = np.random.default_rng(6)
    x = np.where(rng.uniform(size=N) < 0.38, 0, 1 + np.abs(rng.normal(size=N)))
    if values == "few values":
        x = np.round(x, 2)
    exact = entry_by_entry(x, GOAL[:5])[1]
    out = np.empty((3, N))
    found = long_gradients(Panel.of(x[None]), 0, GOAL, way[0], out, *way[1:])
    assert found is not None and found[1] is not None and found[1].reason == "moment not attainable"
    assert np.isnan(found[0]).tolist() == [False, False, True]
    assert np.isnan(out[2]).all()
    assert (np.abs(out[:2] - exact).max(axis=1) <= 2e-10 * np.abs(exact).max(axis=1)).all()


def test_no_level_3(way: tuple[Any, ...]) -> None:
    """Half of the entries tied at the minimum: no skewness of zero, among many values or few."""
    some = np.random.default_rng(7).exponential(size=N)
    for x in (np.where(np.arange(N) % 3 < 2, 0, 1 + some), np.where(np.arange(N) % 3 < 2, 0.0, 1 + np.arange(N) % 5)):
        out = np.empty((3, N))
        found = long_gradients(Panel.of(x[None]), 0, GOAL, way[0], out, *way[1:])
        assert found is not None and found[1] is not None and found[1].reason == "no zero-skew point"
        assert np.isnan(out).all() and np.isnan(found[0]).all()


@pytest.mark.parametrize("kind", [np.float32, np.uint8])
def test_entries_of_other_types_need_no_conversion(kind: Any, way: tuple[Any, ...]) -> None:
    x = np.random.default_rng(8).gamma(4, 20, size=N).clip(0, 255).astype(kind)
    found, exact = differentiated(x, way)[1], differentiated(x.astype(np.float64), way)[1]
    assert (np.abs(found - exact).max(axis=1) <= 1e-11 * np.abs(exact).max(axis=1)).all()


@pytest.mark.parametrize("law", ["Laplace", pytest.param("gamma of 1/4", marks=pytest.mark.slow), "of 256 values"])
def test_room(law: str, way: tuple[Any, ...]) -> None:
    """Some hundreds of nodes with their paths, and a few parts: 5 MB, for rows of any length."""
    x = LAWS[law](np.random.default_rng(9), 2**18)
    out, panel = np.empty((3, 2**18)), Panel.of(x[None])
    long_gradients(Panel.of(x[None, : 2**14]), 0, GOAL, way[0], out[:, : 2**14], *way[1:])
    assert peak(lambda: long_gradients(panel, 0, GOAL, way[0], out, *way[1:], with_values=False)) < 5e6
    assert np.isfinite(out).all()
