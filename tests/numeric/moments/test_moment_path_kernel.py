"""The functions of the compiled levels as plain Python, piece by piece; and that ordinary samples are not handed back.

That all answers and refusals are those of NumPy, compiled and interpreted, alone and on threads, is a law of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.polynomial import chebyshev

from symdecouple.numeric.kernels.compile import _twin
from symdecouple.numeric.moments import hankel_kernel, levels, moment_path_kernel as kernel, nodes_kernel
from symdecouple.numeric.moments.bins import filled
from symdecouple.numeric.moments.hankel import residuals
from symdecouple.numeric.moments.levels import Ladder, climb, gaussian_moments
from symdecouple.numeric.moments.moment_path import RESIDUAL, follow
from symdecouple.numeric.moments.moment_path_kernel import move_rows, settle_rows
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.paths.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS


def scratch(order: int) -> kernel.Scratch:
    return kernel.Scratch(np.empty((3, 30)), np.empty((order, order)), np.empty(520))


def test_what_a_stage_calls_counts_no_references() -> None:
    """Where they are counted, as where branches end apart, short samples take twice the time."""
    pytest.importorskip("numba")
    y, lines = np.linspace(-1, 1, 64), np.zeros((kernel._LINES, 64))
    means, (short, lower, _) = np.array([np.mean(y**j) for j in range(9)]), scratch(4)
    for function, given in (
        (kernel._combine, (1.0, y, lines, 1, 0.1, y.copy())), (kernel._square, (y, y)),
        (hankel_kernel.means_to, (y, y, 3, 6, y.copy(), means.copy())), (hankel_kernel.polynomial, (y, y, 4, lines, 0)),
        (hankel_kernel.decompose, (means, 4, lower, short[1])), (hankel_kernel.as_powers, (lower, 4, short[2])),
    ):
        compiled: Any = _twin(function, frozenset(kernel._FAST), {})
        compiled.compile(tuple(map(compiled.typeof_pyval, given)))
        (made,) = compiled.inspect_llvm().values()
        assert function.__name__ in made and "call void @NRT_incref" not in made, function


def test_the_last_stage_adds_up_as_many_slopes_as_the_table_has() -> None:
    assert max(map(len, (*STAGES, WEIGHTS, FIFTH, THIRD))) == kernel._TERMS


@pytest.mark.parametrize(("k", "n_samples", "change"), [(4, 33, 0.8), (4, 33, -0.3), (5, 48, 1.0), (6, 31, 2.0)])
def test_the_end_of_the_path_and_how_much_errors_grew(k: int, n_samples: int, change: float) -> None:
    z = impose_skewness(np.random.default_rng(10 + k).gamma(3.0, size=(1, n_samples)), 0.0).values[0]
    target = np.array([np.mean(z**j) for j in range(k + 1)])
    first, target[k] = target[k], target[k] + change
    lines, limit = np.zeros((kernel._LINES, n_samples)), 20.0
    with np.errstate(all="ignore"):
        grown = kernel.follow_path(z, np.full(n_samples, 1 / n_samples), k, target, first, lines, scratch(k), limit)
    exact = follow(z[None], k, target[k], held=target[1:k], rtol=1e-13)
    assert not exact.refusals and np.abs(lines[kernel._HERE] - exact.values[0]).max() < 3e-10
    assert grown == pytest.approx(np.log(exact.growth[0]), abs=0.02)


@pytest.mark.parametrize("m", [16, 48])
def test_nodes_have_the_means_of_polynomials_and_their_series_moves_a_sample(m: int) -> None:
    z, c, x, share = np.random.default_rng(0).gamma(2.0, size=600), np.empty(m + 10), np.empty(m), np.empty(m)
    centre, half = (z.max() + z.min()) / 2, (z.max() - z.min()) / 2
    nodes_kernel.place_nodes(z, np.full(600, 1 / 600), centre, half, x, c, share)
    place = (z - centre) / half
    for degree in range(m):
        assert share @ x**degree == pytest.approx(np.mean(place**degree), abs=1e-14)
    beyond = chebyshev.Chebyshev.basis(m)  # nothing at the nodes
    assert abs(share @ beyond(x)) < 1e-13 and abs(np.mean(beyond(place))) > 1e-4
    nodes = centre + half * x
    tail = nodes_kernel.series_of(x, np.arctan(nodes) - nodes, 0.0, 1.0, m, c)
    nodes_kernel.add_series(z, centre, half, c, m, z)
    assert tail < (1e-2 if m == 16 else 1e-8)
    assert z == pytest.approx(np.arctan(centre + half * place), abs=100 * tail)
    assert np.isnan(nodes_kernel.series_of(x, np.full(m, np.nan), 0.0, 1.0, m, c))


@pytest.mark.parametrize("side", [-1, 1])
def test_sums_of_entries_near_an_end_round_little(side: int) -> None:
    """Where powers of nodes far away are 10^6 times their mean, rounding of the others would show."""
    place, sums = side * (1 - 1e-4 * np.arange(1, 9) / 3), np.empty(514)
    nodes_kernel._chebyshev_sums(place, np.full(8, 1 / 8), 0.0, 1.0, sums)
    with mp.workdps(30):
        exact = [float(sum(mp.cos(j * mp.acos(v)) for v in place.tolist()) / 8) for j in range(514)]
    assert sums == pytest.approx(exact, rel=0, abs=3e-15)


def test_more_nodes_where_a_series_has_not_ended() -> None:
    assert nodes_kernel.more_nodes(32, np.nan) == nodes_kernel.more_nodes(32, np.inf) == 64
    assert 40 <= nodes_kernel.more_nodes(32, 1e-11) <= 48 and nodes_kernel.more_nodes(64, 0.5) > 512


RNG = np.random.default_rng(3)
SIX = (1.0, 0, 1, 0, 3, 0)


@pytest.mark.parametrize(("rows", "goal"), [
    (RNG.normal(size=(4, 64)), SIX), (1e-150 * RNG.exponential(size=(5, 300)), SIX),
    (RNG.exponential(size=(4, 200)), (1.0, 0, 1, 0.5, 3.5)), (np.resize(RNG.normal(size=5950), (1, 6000)), SIX),
    (np.resize(RNG.random(5950), (1, 6000)), SIX), (np.random.default_rng(5).standard_cauchy((3, 1000)), SIX),
], ids=["short", "small", "another reference", "long, by nodes", "uniform", "heavy tails"])
def test_ordinary_samples_end_on_the_manifold(
    rows: np.ndarray, goal: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties stay ties, and the order stays."""
    pytest.importorskip("numba")
    if not kernel.KERNELS.are_warm():
        kernel.warm()  # leaves the mark: no other process compiles again, and no later run
    expected = climb(rows, len(goal), goal, rtol=1e-13)
    monkeypatch.setattr(levels, "follow", None)  # which is not called from here on
    found = climb(rows, len(goal), goal, compiled=True)
    assert found.skew is not None and not found.refusals
    ends = found.skew.values
    assert found.moments[4:] == pytest.approx(expected.moments[4:], abs=2e-9)
    assert (residuals(ends, np.repeat(np.array(goal)[:, None], len(rows), axis=1)) <= RESIDUAL).all()
    order = np.argsort(rows, axis=1, kind="stable")
    steps, gaps = (np.diff(np.take_along_axis(some, order, axis=1)) for some in (ends, rows / np.ptp(rows)))
    assert (steps[gaps == 0] == 0).all() and (steps[gaps > 1e-9] > 0).all()


REFUSED = {
    "ties at the ends": np.clip(RNG.normal(size=1000), -1.0, 1.0), "ties at an end": np.maximum(RNG.random(1000), 0.2),
    "seven values": np.round(6 * RNG.random(1000)), "counts": RNG.poisson(3, 1000) * 1.0,
    "clusters": np.arange(1000) % 5 + 1e-4 * RNG.random(1000), "a crowd at an end": RNG.gamma(0.1, size=1000),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_takes_no_long_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiled paths and counts of ties tell is not followed by NumPy once more."""
    pytest.importorskip("numba")
    expected, steps = climb(REFUSED[name][None], 8, goal(8)), list[int]()

    def counted(*given: Any, **options: Any) -> Any:
        found = follow(*given, **options)
        steps.append(int(found.path.steps.sum()))
        return found

    monkeypatch.setattr(levels, "follow", counted)
    found = climb(REFUSED[name][None], 8, goal(8), compiled=True)
    assert found.refusals == expected.refusals != {}
    assert found.moments == pytest.approx(expected.moments, rel=1e-8, abs=1e-8, nan_ok=True)
    assert sum(steps) <= 2


def goal(order: int) -> tuple[float, ...]:
    return (1.0, *gaussian_moments(order - 1))


def test_a_value_far_out_of_a_long_sample_does_not_spoil_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    row = np.append(-np.log1p(-np.arange(0.5, 100_000) / 100_000), 19.0)
    few = filled(row, row[0], 19.0, is_falling=False).matrix()
    exact = climb(few.values, 7, goal(7), weights=few.weights, rtol=1e-14).moments[4:, 0]
    monkeypatch.setattr(levels, "follow", None)
    assert climb(row[None], 7, goal(7), compiled=True).moments[4:, 0] == pytest.approx(exact, abs=3e-8)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The very functions that are compiled, without numba."""

    def quiet(function: Callable[..., None]) -> Callable[..., None]:
        return np.errstate(all="ignore")(function)

    monkeypatch.setattr(kernel, "_kernels", lambda: (quiet(settle_rows), quiet(move_rows)))
    monkeypatch.setattr(levels, "compiled_impose_skewness", impose_skewness)


def climb_plain(rows: np.ndarray, order: int) -> Ladder:
    return climb(rows, order, goal(order), compiled=True)


def test_what_needs_care_is_followed_by_numpy_for_a_level(plain: None) -> None:
    rng = np.random.default_rng(0)
    rows = np.array([
        rng.normal(size=12),
        np.resize([0.0, 1.0], 12),  # two values
        np.ones(12),  # constant
        [0.0] * 6 + [1, 2, 3, 4, 5, 6],  # zero skewness in the limit only
        np.arange(12) % 2 + 1e-11 * rng.random(12),  # crowded
        [-1.7e308, 1.7e308, *range(10)],  # a range beyond float64
    ])
    found, expected = climb_plain(rows, 5), climb(rows, 5, goal(5))
    assert [(k, which.tolist()) for k, which, _ in found.levels] == [(4, [1, 4, 5])]
    assert found.refusals == expected.refusals and len(found.refusals) == 5
    np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-9)
