"""Chebyshev series by products of matrices, against NumPy's polynomials and plain means."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from symdecouple.numeric.moments.chebyshev_rows import Chart


@pytest.mark.parametrize("m", [8, 16, 64, 200])
def test_weighted_sums_over_the_nodes_are_means_of_polynomials(m: int) -> None:
    """T_j of the place in the range, for every j below m: the mean over the row by `chebval`."""
    rows = np.random.default_rng(m).gamma(0.7, size=(3, 900)) + 40
    chart = Chart.of(rows, m)
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    x, q = ((2 * v - low - high) / (high - low) for v in (rows, chart.nodes))
    for j in range(m):
        unit = np.eye(m)[j]
        assert np.sum(chart.weights * chebyshev.chebval(q, unit), axis=1) == pytest.approx(
            chebyshev.chebval(x, unit).mean(axis=1), abs=1e-11)


@pytest.mark.parametrize("m", [8, 24, 128])
def test_series_are_those_of_numpy(m: int) -> None:
    rows = np.random.default_rng(m).normal(size=(4, 300))
    chart = Chart.of(rows, m)
    c, tail = chart.series(np.sin(chart.nodes))
    assert np.array_equal(tail, np.abs(c[:, -4:]).max(axis=1))
    centre, half = (rows.max(axis=1) + rows.min(axis=1)) / 2, (rows.max(axis=1) - rows.min(axis=1)) / 2
    x = (rows - centre[:, None]) / half[:, None]
    for r in range(4):
        expected = chebyshev.chebinterpolate(lambda t, r=r: np.sin(centre[r] + half[r] * t), m - 1)
        assert c[r] == pytest.approx(expected, abs=1e-13)  # sums of m terms, theirs and ours
        assert chart.evaluated(c)[0][r] == pytest.approx(chebyshev.chebval(x[r], c[r]), abs=1e-12)
    if m > 8:
        assert chart.evaluated(c)[0] == pytest.approx(np.sin(rows), abs=1e-12)


def test_random_coefficients_are_evaluated() -> None:
    """No decay of the coefficients: the cancellation of T_(8b+a) = 2 T_(8b) T_a - T_(8b-a) stays small."""
    rows = np.linspace(-1, 1, 501)[None]
    c = np.random.default_rng(1).normal(size=(1, 512))
    assert Chart.of(rows, 512).evaluated(c)[0][0] == pytest.approx(chebyshev.chebval(rows[0], c[0]), abs=1e-9)


def test_rows_never_meet() -> None:
    rows = np.random.default_rng(2).normal(size=(5, 333))
    together, alone = Chart.of(rows, 64), Chart.of(rows[3:4], 64)
    some = together.take(np.array([3]))
    for one, other in ((together, some), (alone, some)):
        row = slice(3, 4) if one is together else slice(None)
        assert np.array_equal(one.weights[row], other.weights)
        c = one.series(np.exp(one.nodes))[0]
        assert np.array_equal(one.evaluated(c)[0][row], other.evaluated(other.series(np.exp(other.nodes))[0])[0])
    assert some.evaluated(np.zeros((1, 64)))[0].shape == (1, 333)
    assert together.take(np.array([], dtype=np.intp)).evaluated(np.zeros((0, 64)))[0].shape == (0, 333)


def test_long_rows_are_worked_on_in_parts() -> None:
    """20000 entries, more than two tiles: sums and values are those of the whole."""
    rows = np.random.default_rng(4).normal(size=(2, 20_000))
    chart = Chart.of(rows, 48)
    assert np.sum(chart.weights * chart.nodes**6, axis=1) == pytest.approx(np.mean(rows**6, axis=1), rel=1e-12)
    one, two = chart.evaluated(chart.series(np.tanh(chart.nodes / 4))[0], chart.series(chart.nodes**2)[0])
    assert one == pytest.approx(np.tanh(rows / 4), abs=1e-10)
    assert two == pytest.approx(rows**2, abs=1e-12)
