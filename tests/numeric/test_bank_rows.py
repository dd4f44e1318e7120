"""Moments of filter outputs on arrays, compiled and not, against SciPy's convolutions and differences."""

import numpy as np
import pytest
from scipy.ndimage import convolve1d

from symdecouple.errors import InvalidInput
from symdecouple.numeric import bank_rows, jit
from symdecouple.numeric.bank_rows import BankRows, Line

LINES = {"l": Line((0.5, 0.25, 1.0), -1), "m": Line((-1.0, 0.0, 1.0), -1), "f": Line((2.0, 1.0, -1.0, 3.0, 0.5), -3)}
GRIDS = {"signal": (65,), "image": (9, 8), "small": (2, 3), "volume": (4, 5, 3)}


def made(grid: tuple[int, ...]) -> BankRows:
    words = ["l", "m", "f"] if len(grid) == 1 else ["lm", "fl", "ll", "mf"] if len(grid) == 2 else ["lmf", "fll"]
    bands = [[LINES[letter] for letter in word] for word in words]
    index = list(range(len(bands))) * 3
    powers = [2] * len(bands) + [5] * len(bands) + [1] * len(bands)
    return BankRows([f"f{k}" for k in range(len(index))], bands, index, powers, np.linspace(1, 2, len(index)), grid)


def outputs(features: BankRows, row: np.ndarray) -> list[np.ndarray]:
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
        bank_rows.warm()
    monkeypatch.setattr(BankRows, "_compiled",
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
    slopes = [(features.values(rows + h * direction) - features.values(rows - h * direction)) / (2 * h)
              for h in (1e-3, 5e-4)]
    by_differences = (4 * slopes[1] - slopes[0]) / 3
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
        steps = [(features.gradients(rows + h * weights[:, j]) - features.gradients(rows - h * weights[:, j]))[:, j]
                 / (2 * h) for h in (1e-3, 5e-4)]
        expected += (4 * steps[1] - steps[0]) / 3
    found = features.curvature(rows, weights)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)
    both = features.curvature(rows, np.stack([weights, 2 * weights]))
    assert both == pytest.approx(np.stack([found, 2 * found]), rel=1e-12, abs=1e-12)


def test_symmetric_bands_agree_with_scipy(kind: str) -> None:
    taps = np.array([-1.0, 2, -1])
    features = BankRows(["energy"], [[Line(tuple(taps), -1)] * 2], [0], [2], [1.0], (16, 8))
    image = np.random.default_rng(3).normal(size=(16, 8))
    expected = convolve1d(convolve1d(image, taps, 0, mode="wrap"), taps, 1, mode="wrap")
    assert features.values(image.reshape(1, -1))[0, 0] == pytest.approx((expected**2).mean(), rel=1e-13)


def test_a_row_has_the_same_bits_beside_others(kind: str) -> None:
    features = made((9, 8))
    rows = np.random.default_rng(4).normal(size=(4, 72))
    assert (features.gradients(rows)[2] == features.gradients(rows[2:3])[0]).all()
    assert (features.values(rows)[2] == features.values(rows[2:3])[0]).all()


def test_a_band_has_a_line_for_each_axis() -> None:
    with pytest.raises(InvalidInput, match="line for each axis"):
        BankRows(["energy"], [[LINES["l"]]], [0], [2], [1.0], (4, 4))
