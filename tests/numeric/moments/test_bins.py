"""Bins that stand for a very long row: the moments of its entries, the same refusals, whatever stands beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import kurtosis, skew

from symdecouple.numeric.moments import levels
from symdecouple.numeric.moments.bins import BinFrame, Bins
from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.levels import gaussian_moments, standardized_rows
from symdecouple.numeric.samples.batch import SampleMatrix

N = levels._BINNED[False]
RNG = np.random.default_rng(11)
OUTLIER = np.append(RNG.exponential(size=N - 1), 19.0)
ROWS = {
    "normal": RNG.normal(size=N), "a long tail": OUTLIER, "turned, far away": 1e6 - OUTLIER,
    "uniform": 1e-150 * RNG.random(N), "counts": RNG.poisson(3, N) * 1.0, "hundredths": np.round(RNG.normal(size=N), 2),
    "steep": RNG.gamma(0.5, size=N), "tied ends": np.clip(RNG.normal(size=N), -1.5, 2.0),
}
GOAL = (1.0, *gaussian_moments(5))


def found_of(rows: np.ndarray, order: int = 6, compiled: bool = False) -> tuple[np.ndarray, dict[int, object]]:
    values, refusals = standardized_rows(SampleMatrix.of(rows), order, GOAL[:order], compiled=compiled)
    return values, dict(refusals)


@pytest.mark.parametrize("name", ROWS)
def test_moments_are_those_of_the_entries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[name]
    found, refusals = found_of(row[None])
    monkeypatch.setattr(levels, "filled", None)  # which is not called from here on
    monkeypatch.setitem(levels._BINNED, False, N + 1)
    expected, told = found_of(row[None])
    assert refusals == told == {}
    assert found[0, :4] == pytest.approx(expected[0, :4], rel=2e-13, abs=1e-13)
    assert found[0, 4:] == pytest.approx(expected[0, 4:], rel=1e-9, abs=1e-9)


def test_a_long_row_is_alone_what_it_is_in_a_batch_and_on_either_backend() -> None:
    pytest.importorskip("numba")
    rows = np.resize(np.random.default_rng(3).exponential(size=3 * N - 1), (3, levels._BINNED[True]))
    rows[1] = 7.0
    together, refusals = found_of(rows)
    assert list(refusals) == [1]
    for i in (0, 2):
        assert found_of(rows[i : i + 1])[0][0].tolist() == together[i].tolist()
        assert found_of(rows[i : i + 1], compiled=True)[0][0, 3:].tolist() == together[i, 3:].tolist()


def test_half_precision_of_a_row_is_the_row_widened() -> None:
    row = ROWS["normal"].astype(np.float32)[None]
    assert found_of(row)[0].tolist() == found_of(row.astype(np.float64))[0].tolist()


@pytest.mark.parametrize("row", [
    np.resize([0.0, 0, 1, 5], N), np.where(np.arange(N) * 5 % 8 < 5, 0, ROWS["steep"]), np.resize([-1.0, 0, 1], N),
], ids=["three values", "most at an end", "symmetric, three values"])
def test_what_is_refused_is_told_by_the_entries(row: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    found, refusals = found_of(row[None])
    monkeypatch.setitem(levels._BINNED, False, N + 1)
    expected, told = found_of(row[None])
    assert refusals == told and len(told) == 1
    np.testing.assert_array_equal(found, expected)


def test_that_errors_grow_too_much_is_told_by_the_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    row = np.random.default_rng(2).gamma(0.03, size=N)
    monkeypatch.setitem(levels._BINNED, False, N + 1)
    expected, told = found_of(row[None])
    monkeypatch.undo()
    climbed, climb = list[int](), levels.climb

    def counted(rows: np.ndarray, *given: object, **options: object) -> levels.Ladder:
        climbed.append(rows.shape[1])
        return climb(rows, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(levels, "climb", counted)
    found, refusals = found_of(row[None])
    assert refusals == told and len(told) == 1 == len(climbed) and climbed[0] < N
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def at_no_skewness(row: np.ndarray) -> float:
    """The kurtosis there, by SciPy, for an outlier so far that the others are at 0 beside it: u = g/(g + w)."""
    def image(log_w: float) -> np.ndarray:
        g = row - row.min()
        return g / (g + np.exp(log_w))

    root = brentq(lambda w: skew(image(w)), -30, 30, xtol=1e-15)
    return float(kurtosis(image(root), fisher=False))


@pytest.mark.parametrize("size", [1e17, 1e19, 1e20, 1e25, 1e30, 1e60, 1e300])
@pytest.mark.parametrize("side", [1, -1])
def test_what_lies_nearer_to_an_end_than_bins_tell_is_told_by_the_entries(size: float, side: int) -> None:
    """Half of the entries are in one bin then, with the pole of the flow among them."""
    row = np.where(np.arange(N) == 7, size, ROWS["steep"])
    expected = at_no_skewness(row)
    values, refusals = found_of(side * row[None])
    assert not refusals and values[0, 3] == pytest.approx(expected, rel=1e-11)
    found = standardized_gradients(side * row[None], 4, GOAL[:4])
    assert not found.refusals and found.values[0, 3] == pytest.approx(expected, rel=1e-11)
    for k in (0, 1000):
        moved = np.array([row, row])
        moved[:, k] += [1e-4, -1e-4]
        slope = side * np.diff([at_no_skewness(each) for each in moved[::-1]])[0] / 2e-4
        assert found.gradients[0, 3, k] == pytest.approx(slope, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("gap", [1e-12, 1e-25])
def test_a_middle_elsewhere_hides_nothing(gap: float, side: int) -> None:
    """Six of ten entries lie near one end, and a number of the others is taken for the middle."""
    row = side * np.array([*(gap * k for k in (0, 1, 2, 3, 5, 8)), 0.3, 0.5, 0.6, 1.0])
    bins = Bins(BinFrame.about(row.min(), side * 0.5, row.max(), (1, 1, 10), side < 0))
    bins.add(row)
    assert bins.resolves(0.0) == (gap > 2.0**-60)
