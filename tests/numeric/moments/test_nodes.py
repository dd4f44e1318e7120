"""Nodes that stand in for a long sample, as plain Python: against NumPy's Chebyshev polynomials and direct means."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from symdecouple.numeric.moments.nodes import EIGHT, add_series, carry_rows, chebyshev_sums, series_length, tail_of
from symdecouple.numeric.moments.path_loops import BLOCK


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    """Skewed, more than one block, and not a whole number of them."""
    return np.random.default_rng(0).gamma(2.0, size=BLOCK + 88)


def range_of(z: np.ndarray) -> tuple[float, float]:
    return (z.max() + z.min()) / 2, (z.max() - z.min()) / 2


UNIT = (0.0, 1.0)


def carry(v: np.ndarray, span: tuple[float, float], share: np.ndarray, to: np.ndarray, onto: tuple[float, float],
          out: np.ndarray, m: int, limit: float = np.inf) -> float:
    """One row; it stands second among rows that must stay as they are."""
    two, tail, results = np.array([0, 1]), np.zeros(2), np.stack([out, out])
    v, share, to = (np.stack([a, a]) for a in (v, share, to))
    spans = [np.array([[0.0, middle], [0.0, half]]) for middle, half in (span, onto)]
    carry_rows(two[1:], v, two, spans[0], share, to, two, spans[1], results, m, limit, tail)
    assert np.array_equal(results[0], out)
    out[:] = results[1]
    return float(tail[1])


def nodes_of(z: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    centre, half = range_of(z)
    x, share = np.cos(np.pi * (np.arange(m) + 0.5) / m), np.zeros(m)
    carry(z, (centre, half), np.full(len(z), 1 / len(z)), x, UNIT, share, m)
    return x, centre + half * x, share


@pytest.mark.parametrize("length", [10, 18, 34])
def test_sums_of_chebyshev_polynomials(sample: np.ndarray, length: int) -> None:
    share = np.random.default_rng(1).normal(size=len(sample))
    centre, half = range_of(sample)
    sums = np.empty(length)
    chebyshev_sums(sample, share, centre, half, sums)
    expected = chebyshev.chebvander((sample - centre) / half, length - 1).T @ share
    assert sums == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("length", [2, 9, 10, 17, 24])
def test_a_series_is_added(sample: np.ndarray, length: int) -> None:
    c = np.zeros(24 + 2 + EIGHT)
    c[:length] = np.random.default_rng(2).normal(size=length)
    centre, half = range_of(sample)
    expected = sample + chebyshev.chebval((sample - centre) / half, c[:length])
    moved = sample.copy()
    add_series(moved, centre, half, c, length, moved)
    assert moved == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("m", [16, 32])
def test_means_of_polynomials_are_exact_and_of_other_degrees_not(sample: np.ndarray, m: int) -> None:
    x, _, share = nodes_of(sample, m)
    centre, half = range_of(sample)
    assert share.sum() == pytest.approx(1, rel=1e-14)
    place = (sample - centre) / half
    for degree in range(m):
        assert share @ x**degree == pytest.approx(np.mean(place**degree), abs=1e-14)
    beyond = chebyshev.Chebyshev.basis(m)  # nothing at the nodes
    assert abs(share @ beyond(x)) < 1e-13 and abs(np.mean(beyond(place))) > 1e-4


def test_the_series_of_a_displacement_moves_the_sample(sample: np.ndarray) -> None:
    m = 48
    x, nodes, _ = nodes_of(sample, m)
    moved = sample.copy()
    tail = carry(x, UNIT, np.arctan(nodes) - nodes, sample, range_of(sample), moved, m)
    assert tail < 1e-8 and moved == pytest.approx(np.arctan(sample), abs=100 * max(tail, 1e-15))


def test_a_series_ends_where_nothing_is_left() -> None:
    c = np.array([0.5, 0, 1e-3, 0, -1e-9, 1e-16, 1e-17, 0])
    assert series_length(c, 8) == 6 and series_length(c[:6], 6) == 6
    assert series_length(np.zeros(8), 8) == 2


def test_the_tail_tells_what_is_not_resolved_and_nothing_is_added_then(sample: np.ndarray) -> None:
    for m, resolved in ((16, False), (128, True)):
        x, nodes, _ = nodes_of(sample, m)
        moved, kept = sample.copy(), sample.copy()
        change = np.arctan(nodes - 2) - nodes
        tail = carry(x, UNIT, change, sample, range_of(sample), moved, m)
        assert (tail < 1e-13) == resolved == (abs(moved - np.arctan(sample - 2)).max() < 1e-11)
        assert carry(x, UNIT, change, sample, range_of(sample), kept, m, 1e-13) == tail
        assert np.array_equal(kept, moved if resolved else sample)
    c = np.zeros(m)
    c[-20:] = np.nan
    assert np.isnan(tail_of(c, m))
