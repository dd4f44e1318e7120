"""One level of the narrow path in compiled loops, against SciPy's integrator on slopes by least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from symdecouple.numeric.paths.bank_path import BankRows, Line

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.paths import bank_loops, bank_path as bank_rows
from symdecouple.numeric.paths.narrow_path import NarrowPath

Array = NDArray[np.float64]
GRIDS = {"signal": (67,), "image": (9, 8)}
LINES = [Line((0.5, 0.25, 1.0), -1), Line((-1.0, 0.0, 1.0), -1), Line((1.5, -2.0, 1.0, 0.5), -2)]
POWERS = [2, 2, 2, 3, 3, 3, 4, 4]


@pytest.fixture(autouse=True, scope="module")
def _are_compiled() -> None:
    if not jit.is_available():
        pytest.skip("numba is not installed")
    bank_rows.warm()


@pytest.fixture(autouse=True)
def _are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BankRows, "_compiled", lambda self, rows: rows.size > 0)


def made(grid: tuple[int, ...]) -> BankRows:
    bands = [[line] * len(grid) for line in LINES]
    names, gains = [f"f{k}" for k in range(len(POWERS))], [1 + j / 7 for j in range(len(POWERS))]
    return BankRows(names, bands, [j % 3 for j in range(len(POWERS))], POWERS, gains, grid)


def samples(grid: tuple[int, ...], n: int = 1) -> Array:
    return np.random.default_rng(3).gamma(3.0, size=(n, int(np.prod(grid)))) - 3


def goals_of(features: BankRows, rows: Array, k: int, factor: float) -> Array:
    goals = features.values(rows)[:, :k]
    goals[:, -1] *= factor
    return goals


# --- by hand ---


def output(image: Array, line: Line, turned: int) -> Array:
    for axis in range(image.ndim):
        image = sum((tap * np.roll(image, turned * (line.first + t), axis) for t, tap in enumerate(line.taps)),
                    np.zeros_like(image))
    return image


def by_scipy(features: BankRows, row: Array, k: int, goal: float) -> Array:
    lines = [features.bands[b][0] for b in features.index]

    def fields(y: Array) -> Array:
        image = y.reshape(features.grid)
        return np.array([g * p * output(output(image, line, 1) ** (p - 1), line, -1).ravel() for line, p, g in
                         zip(lines[:k], features.powers, features.gains, strict=False)])

    own = output(row.reshape(features.grid), lines[k - 1], 1)
    begin = features.gains[k - 1] * np.mean(own ** features.powers[k - 1])

    def slope(_: float, y: Array) -> Array:
        *others, own = fields(y)
        across = own - (np.array(others).T @ np.linalg.lstsq(np.array(others).T, own, rcond=None)[0] if others else 0)
        return np.asarray((goal - begin) * across / (across @ own / y.size))

    return np.asarray(solve_ivp(slope, (0, 1), row, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1])


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize(("k", "factor"), [(1, 3.0), (3, 0.2), (6, -0.5), (8, 1.3)])
def test_ends_of_levels_against_scipy(grid: tuple[int, ...], k: int, factor: float) -> None:
    features, rows = made(grid), samples(grid)
    goals = goals_of(features, rows, k, factor)
    found = features.walk(rows, goals, 1e-11, np.array([0.1]), 500)
    assert found is not None and found.there.all() and found.gap[0] < 1e-14
    np.testing.assert_allclose(features.values(found.values)[:, :k], goals, rtol=1e-13, atol=1e-13)
    assert found.reached[0] == pytest.approx(goals[0, -1], rel=1e-13)
    if k == len(POWERS):
        assert np.isnan(found.coming).all()
    else:
        own = output(found.values[0].reshape(grid), features.bands[features.index[k]][0], 1)
        assert found.coming[0] == pytest.approx(features.gains[k] * np.mean(own ** POWERS[k]), rel=1e-13)
    assert np.abs(found.values[0] - by_scipy(features, rows[0], k, goals[0, -1])).max() < 1e-9


def test_what_is_known_of_steps_changes_their_number_and_not_the_end() -> None:
    features, rows = made((9, 8)), samples((9, 8))
    goals = goals_of(features, rows, 7, 2.5)
    short, long, learned = (features.walk(rows, goals, 1e-10, pace, 500) for pace in
                            (np.array([1e-3]), np.array([50.0]), np.array([0.05])))
    assert short is not None and long is not None and learned is not None
    again = features.walk(rows, goals, 1e-10, learned.pace, 500)
    assert again is not None and 2 <= again.steps[0] < short.steps[0]
    for found in (short, long, again):
        assert found.there.all() and np.abs(found.values - learned.values).max() < 1e-8
    few = features.walk(rows, goals, 1e-10, np.array([1e-3]), 2)
    assert few is not None and not few.there.any()


def test_rows_that_are_left_to_the_general_way() -> None:
    """At the goal, not finite, a critical point, out of reach: the path answers them as it does without loops."""
    features = made((9, 8))
    rows = samples((9, 8), 5)
    rows[1], rows[2, 5] = 0.0, np.nan
    goals = goals_of(features, rows, 2, 1.5)
    goals[0, -1] = features.values(rows)[0, 1]
    goals[1, -1], goals[3, -1] = 1.0, -1.0
    found = features.walk(rows, goals, 1e-10, np.full(5, 0.25), 200)
    assert found is not None and found.there.tolist() == [False, False, False, False, True]
    moved = NarrowPath(features, rtol=1e-10).follow(rows, 2, goals[:, -1])
    assert (moved.values[0] == rows[0]).all()
    assert {r: outcome.reason for r, outcome in moved.refusals.items()} == {
        1: "critical point", 2: "not finite", 3: "not attainable"}
    assert (moved.values[4] == found.values[4]).all() and moved.pace is not None and moved.pace[4] == found.pace[4]


def test_a_kept_path_ends_where_the_loops_do() -> None:
    features, rows = made((9, 8)), samples((9, 8), 2)
    path = NarrowPath(features, rtol=1e-11)
    goal = 1.4 * features.values(rows)[:, 6]
    kept, fast = path.follow(rows, 7, goal, store=True), path.follow(rows, 7, goal)
    assert kept.parts and not fast.parts
    np.testing.assert_allclose(fast.values, kept.values, atol=1e-9)


def test_a_row_has_the_same_bits_beside_others() -> None:
    features, rows = made((67,)), samples((67,), 3)
    goals = goals_of(features, rows, 5, 1.2)
    every = features.walk(rows, goals, 1e-9, np.full(3, 0.1), 200)
    one = features.walk(rows[1:2], goals[1:2], 1e-9, np.full(1, 0.1), 200)
    assert every is not None and one is not None and (every.values[1] == one.values[0]).all()


@pytest.mark.parametrize("within", [1e-6, 1e-8])
def test_errors_in_the_values_of_the_features_to_come(within: float) -> None:
    """The unit of one is what it is of outputs of one size everywhere; errors of samples are no matter then."""
    features, rows = made((9, 8)), samples((9, 8))
    goals = goals_of(features, rows, 5, 100.0)
    exact = features.walk(rows, goals, 1e-12, np.array([0.1]), 500)
    found = features.walk(rows, goals, 1e-12, np.array([0.1]), 500, within)
    assert exact is not None and found is not None and found.there.all() and found.steps[0] < exact.steps[0]
    assert found.gap[0] < 1e-14
    apart = np.abs(features.values(found.values) - features.values(exact.values))[0]
    images = [output(exact.values[0].reshape(features.grid), lines[0], 1) for lines in features.bands]
    units = np.array([g * np.mean(images[b] ** 2) ** (p / 2) for b, p, g in
                      zip(features.index, features.powers, features.gains, strict=True)])
    assert (apart[5:] < found.steps[0] * within * units[5:]).all() and apart[5:].max() > 1e-9


def test_the_largest_change_against_differences() -> None:
    """Of features with powers beyond those that are summed in one sweep, too."""
    width, line, gains = 8, LINES[0], [1.0, 2.0, 0.5, -3.0]
    features = BankRows(list("abcd"), [[line] * 2], [0] * 4, [2, 3, 7, 9], gains, (9, width))
    rng = np.random.default_rng(5)
    row, shift = rng.normal(size=72), 1e-6 * rng.normal(size=72)
    features.walk(row[None], features.values(row[None])[:, :2], 1e-9, np.array([0.1]), 5)  # makes the tables
    bank: Any = features._told
    wide = bank_loops.wide_of(width, bank)
    outputs = np.empty((2, 1, 9 * wide))
    for plane, out in zip((row, shift), outputs, strict=True):
        placed = np.empty(9 * wide)
        bank_loops.placed(plane, width, width, wide, placed)
        bank_loops.outputs_of(placed, width, bank, np.empty((2, 12 * wide)), out)
    sums = np.empty((1, bank_loops.columns_of_sums(features.powers)))
    image = output(row.reshape(9, width), line, 1)
    change = np.diff(features.values(np.stack([row - shift, row + shift])), axis=0)[0] / 2
    relative = np.abs(change) / (np.abs(features.gains) * np.mean(image**2) ** (features.powers / 2))
    for first in range(4):
        found = bank_loops.largest_change(outputs[0], outputs[1], width, bank, np.zeros(first), sums)
        assert found == pytest.approx(relative[first:].max(), rel=1e-6)
    assert bank_loops.largest_change(outputs[0], outputs[1], width, bank, np.zeros(4), sums) == 0.0
    counted = bank_loops.largest_change(outputs[0], outputs[1], width, bank, 72 * change, sums)
    assert 30 * counted == pytest.approx(relative.max(), rel=1e-6)
