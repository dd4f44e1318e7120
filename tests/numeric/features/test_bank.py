"""Moments of filter outputs on arrays, compiled and not, against sums of shifts and differences."""

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.numeric.features import bank
from symdecouple.numeric.features.bank import BankFeatures, Line
from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.paths import projection
from symdecouple.numeric.paths.projection import Frame
from tests.numeric.differences import extrapolated

LINES = {"l": Line((0.5, 0.25, 1.0), -1), "m": Line((-1.0, 0.0, 1.0), -1), "f": Line((2.0, 1.0, -1.0, 3.0, 0.5), -3),
         "g": Line((1.5, -2.0), 2), "i": Line((1.0,), 0)}
GRIDS = {"signal": (65,), "image": (9, 8), "small": (2, 3), "volume": (4, 5, 3)}


def made(grid: tuple[int, ...]) -> BankFeatures:
    words = {1: ["l", "m", "f", "g", "i"], 2: ["lm", "fl", "ll", "ii", "mf", "gm", "lg"], 3: ["lmf", "fll"]}[len(grid)]
    bands = [[LINES[letter] for letter in word] for word in words]
    index = list(range(len(bands))) * 3
    powers = [2] * len(bands) + [5] * len(bands) + [1] * len(bands)
    return BankFeatures([f"f{k}" for k in range(len(index))], bands, index, powers, np.linspace(1, 2, len(index)), grid)


def outputs(features: BankFeatures, row: np.ndarray) -> list[np.ndarray]:
    found = []
    for band in features.bands:
        array = row.reshape(features.grid)
        for axis, line in enumerate(band):
            by_roll = sum(t * np.roll(array, line.first + k, axis=axis) for k, t in enumerate(line.taps))
            array = by_roll
        found.append(array)
    return found


@pytest.fixture(params=["numpy", "compiled"])
def kind(request, monkeypatch):
    if request.param == "compiled" and not jit.is_available():
        pytest.skip("numba is not installed")
    if request.param == "compiled":
        bank.warm()
    monkeypatch.setattr(BankFeatures, "_is_wanted",
                        lambda self, rows: request.param == "compiled" and len(self.grid) <= 2 and rows.size > 0)
    return request.param


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_values_and_gradients(kind: str, grid: tuple[int, ...]) -> None:
    features = made(grid)
    rows = np.random.default_rng(0).normal(size=(3, int(np.prod(grid))))
    values = features.values(rows)
    for r, row in enumerate(rows):
        bands = outputs(features, row)
        expected = [g * (bands[b] ** p).mean() for b, p, g in
                    zip(features.index, features.powers, features.gains, strict=True)]
        assert values[r] == pytest.approx(expected, rel=1e-12, abs=1e-13)
    direction = np.random.default_rng(1).normal(size=rows.shape)
    by_differences = extrapolated(features.values, rows, direction, 1e-3, 2)
    found = (features.gradients(rows) * direction[:, None]).mean(axis=2)
    assert found == pytest.approx(by_differences, rel=1e-8, abs=1e-8)
    assert features.gradients(rows, 2) == pytest.approx(features.gradients(rows)[:, :2], abs=0)
    assert features.gradients(rows[:0]).shape == (0, len(features), rows.shape[1])


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_curvature_is_the_derivative_of_the_gradients(kind: str, grid: tuple[int, ...]) -> None:
    features = made(grid)
    rng = np.random.default_rng(2)
    rows, weights = rng.normal(size=(2, int(np.prod(grid)))), rng.normal(size=(2, len(features), int(np.prod(grid))))
    expected = np.zeros_like(rows)
    for j in range(len(features)):
        expected += extrapolated(features.gradients, rows, weights[:, j], 1e-3, 2)[:, j]
    found = features.curvature(rows, weights)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)
    both = features.curvature(rows, np.stack([weights, 2 * weights]))
    assert both == pytest.approx(np.stack([found, 2 * found]), rel=1e-12, abs=1e-12)


def test_means_of_high_powers(kind: str) -> None:
    """Sums over an image larger than one block; the seventh power and those after it are summed one by one."""
    powers = [9, 1, 7, 6, 2, 8]
    features = BankFeatures(list("abcdef"), [[LINES["l"], LINES["m"]]], [0] * 6, powers, [1.0] * 6, (40, 36))
    row = np.random.default_rng(5).uniform(-1, 1, size=1440)
    band = outputs(features, row)[0]
    expected = [np.mean(band**p) for p in powers]
    assert features.values(row[None])[0] == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("grid", [(65,), (9, 8), (5, 40), (40, 36)], ids=str)
def test_projections_are_those_of_the_gradients(grid: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    if not jit.is_available():
        pytest.skip("numba is not installed")
    bank.warm()
    monkeypatch.setattr(BankFeatures, "_is_wanted", lambda self, rows: True)
    features = made(grid)
    rows = np.random.default_rng(6).normal(size=(3, int(np.prod(grid))))
    for count in (1, 2, 4, 7) if len(grid) > 1 else (1, 2, 4):  # five energies of a signal depend on each other
        gradients = features.gradients(rows, count)
        direction, size, sure = features.last_direction(rows, count)
        frame = Frame.of(gradients)
        assert sure.all() and size == pytest.approx(frame.triangle[:, -1, -1], rel=1e-11)
        assert direction == pytest.approx(frame.basis[-1], abs=1e-10)
        wanted = features.values(rows)[:, :count] + np.linspace(0.1, 0.2, count)
        moves, sizes, sure = features.least_move(rows, wanted)
        assert sure.all() and sizes == pytest.approx(np.sqrt((gradients**2).mean(axis=2)), rel=1e-12)
        for move, fields in zip(moves, gradients, strict=True):
            expected = np.linalg.lstsq(fields / rows.shape[1], np.linspace(0.1, 0.2, count), rcond=None)[0]
            assert move == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())
        assert (features.last_direction(rows[1:2], count)[0][0] == direction[1]).all()


def test_rows_of_dependent_gradients_are_left_to_gram_schmidt(kind: str) -> None:
    """On an image of one value all fields are constant: the second one has no part across the first."""
    features = made((9, 8))
    rows = np.random.default_rng(7).normal(size=(3, 72))
    rows[1] = 2.0
    direction, size, sound = projection.direction_at(features, rows, 3)
    assert sound.tolist() == [True, False, True] and not direction[1].any() and size[1] == 1
    wanted = features.values(rows)[:, :3] + 0.1
    moves, sizes = projection.move_at(features, rows, wanted)
    assert np.isfinite(moves).all() and sizes == pytest.approx(
        np.sqrt((features.gradients(rows, 3) ** 2).mean(axis=2)), rel=1e-12)
    one, _ = projection.move_at(features, rows[2:], wanted[2:])
    assert (one[0] == moves[2]).all()


def test_loops_are_compiled_where_numpy_would_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(bank, "warm", lambda: calls.append("warm"))
    monkeypatch.setattr(jit.Kernels, "are_warm", lambda self: False)
    monkeypatch.setattr(jit.Kernels, "are_loaded", lambda self: False)
    monkeypatch.setattr(jit, "is_available", lambda: True)
    monkeypatch.setattr(jit, "_loads", lambda: True)
    rows = np.zeros((1, 72))
    assert not made((9, 8))._is_wanted(rows) and not calls
    assert made((256, 256))._is_wanted(np.zeros((1, 2**16))) and calls == ["warm"]
    assert not made((4, 5, 3))._is_wanted(np.zeros((1, 60)))


def test_a_band_has_a_line_for_each_axis() -> None:
    with pytest.raises(InvalidInput, match="line for each axis"):
        BankFeatures(["energy"], [[LINES["l"]]], [0], [2], [1.0], (4, 4))
