"""Cones by linear programs, against nonnegative least squares and against hand counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from symdecouple.numeric.energies.cone import cone_membership_of, dependence_of
from symdecouple.numeric.energies.eigenvalues import Columns, Lines
from tests.numeric.energies.energy_banks import SQUARE, cone_membership

RNG = np.random.default_rng(5)


def whole(rows: np.ndarray) -> Columns:
    return Columns(rows, rows.shape[1:])


def distance(columns: np.ndarray, vector: np.ndarray) -> float:
    """The sum of absolute values that is left of a vector beside the nearest one of the cone: a linear program."""
    m, n = columns.shape
    both = np.hstack([columns, np.eye(m), -np.eye(m)])
    return float(linprog(np.repeat([0.0, 1.0], [n, 2 * m]), A_eq=both, b_eq=vector, method="highs-ds").fun)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_membership_against_linear_programs(m: int) -> None:
    """Outside where the nearest vector of the cone is elsewhere; inside where a bit of every column can be spared."""
    rng = np.random.default_rng(5 + m)
    seen = set()
    for _ in range(30):
        columns = rng.normal(size=(m, rng.integers(1, 40))) + rng.integers(0, 2) * 1.5
        vector = rng.normal(size=m) + 1.0
        spare = columns.sum(axis=1) * 1e-4
        is_outside = distance(columns, vector) > 1e-6
        is_inside = distance(columns, vector - spare) < 1e-9
        found = cone_membership(columns, vector)
        seen.add(found.where)
        if is_outside:
            assert found.where == "outside"
            assert found.direction @ vector > 0
            assert (found.direction @ columns).max() < 1e-7
        if is_inside:
            assert found.where == "inside"
    assert {"inside", "outside"} <= seen


def test_boundary_by_hand() -> None:
    """The cone over a square: its rays, its faces, its axis; a face of lower dimension has an interior of its own."""
    for vector, where in [([0, 0, 1], "inside"), ([1, 1, 1], "boundary"), ([1, 0, 1], "boundary"),
                          ([1.001, 0, 1], "outside"), ([0.999, 0, 1], "inside"), ([0, 0, -1], "outside")]:
        assert cone_membership(SQUARE, np.array(vector, dtype=float)).where == where
    face = SQUARE[:, :2]
    assert cone_membership(face, np.array([1.0, 0, 1])).where == "inside"
    told = cone_membership(SQUARE, np.array([1.0, 0, 1])).direction
    assert told @ [1, 0, 1] == pytest.approx(0, abs=1e-7)
    assert (told @ SQUARE).min() < -0.1


@pytest.mark.parametrize("n", [4, 5, 8, 12])
def test_the_same_tolerance_on_both_sides(n: int) -> None:
    """Two filters: turned from a ray at the edge, by 1e-11 inwards or 1e-10 outwards, in units of the largest ones."""
    waves = 2 * np.pi * np.arange(n) / n
    for first, second in (((1, 1), (2, -2)), ((2, 2), (1, 2)), ((3, 1), (1, 2))):
        rays = np.array([(middle + side * np.cos(waves)) ** 2 for middle, side in (first, second)])
        rays /= rays.max(axis=1, keepdims=True)
        angles = np.arctan2(rays[1], rays[0])[np.hypot(*rays) > 1e-9]
        for edge, inwards in (angles.min(), 1), (angles.max(), -1):
            for turn, where in ((1e-9, "inside"), (1e-11, "inside"), (-1e-10, "outside"), (-1e-9, "outside")):
                at = edge + inwards * turn
                assert cone_membership(rays, np.array([np.cos(at), np.sin(at)])).where == where


def test_the_origin_is_inside_a_subspace_only() -> None:
    assert cone_membership(np.array([[1.0, -1.0]]), np.zeros(1)).where == "inside"
    assert cone_membership(np.array([[1.0, 2.0]]), np.zeros(1)).where == "boundary"
    assert cone_membership(np.zeros((2, 3)), np.zeros(2)).where == "inside"
    assert cone_membership(np.zeros((2, 3)), np.array([0.0, 1.0])).where == "outside"


def test_units_do_not_matter() -> None:
    units = np.array([1e-120, 1.0, 1e120])
    for vector, where in [([0.3, 0.2, 1], "inside"), ([1, 0, 1], "boundary"), ([1.1, 0, 1], "outside")]:
        assert cone_membership(SQUARE * units[:, None], np.array(vector) * units).where == where
        assert cone_membership(SQUARE * RNG.uniform(1e-9, 1e9, 4), np.array(vector) * 1e-90).where == where


def test_many_constraints_come_one_by_one() -> None:
    """A circular cone with 1e5 rays: as good as its formula."""
    angle = np.linspace(0, 2 * np.pi, 100_001)
    rays = np.array([np.cos(angle), np.sin(angle), np.ones_like(angle)])
    for radius, where in [(0.999, "inside"), (1.001, "outside")]:
        assert cone_membership(rays, np.array([radius * np.cos(1), radius * np.sin(1), 1.0])).where == where


def test_features_come_by_parts() -> None:
    """Half of a circular cone with 4e4 rays, among four features: inside, on its flat face, outside, by hand."""
    angle = np.linspace(0, 2 * np.pi, 40_001)
    rays = np.array([np.cos(angle), np.cos(3 * angle), np.sin(angle), np.ones_like(angle)])
    columns = Columns(rays, (len(angle),))
    assert len(list(columns.chunks())) > 1
    wanted, is_active = np.array([True, False, True, True]), angle <= np.pi
    for vector, where in [([0, 0.5, 1], "inside"), ([0.5, 0, 1], "boundary"), ([0, -0.01, 1], "outside"),
                          ([0.8, 0.61, 1], "outside"), ([0.8, 0.59, 1], "inside")]:
        assert cone_membership_of(columns, wanted, is_active, np.array(vector, dtype=float)).where == where
    assert cone_membership_of(columns, wanted, slice(1, None), np.array([0, -0.01, 1])).where == "inside"
    assert dependence_of(columns, is_active).independent.all()
    few = np.isin(np.arange(len(angle)), [5, 12_000, 39_000])
    assert dependence_of(columns, few).independent.tolist() == [True, True, True, False]


def test_dependence_names_the_later_row() -> None:
    rows = RNG.normal(size=(5, 30))
    rows[2] = 3 * rows[0] - 2e-9 * rows[1]
    rows[4] = 0
    found = dependence_of(whole(rows * np.array([[1.0], [1e100], [1.0], [1e-100], [1.0]])), slice(None))
    assert found.independent.tolist() == [True, True, False, True, False]
    np.testing.assert_allclose(found.coefficients[2], [3, -2e-109, 0, 0, 0], rtol=1e-6)
    assert not found.coefficients[4].any()
    assert dependence_of(whole(rows[:, :2]), slice(None)).independent.tolist() == [True, True, False, False, False]


def test_frequency_zero_counts_where_it_may_move() -> None:
    """A product that is there alone, and the same products beside their sum over both axes, which are few lines."""
    rng = np.random.default_rng(3)
    outer, inner = rng.random((2, 5)), rng.random((2, 6))
    sheets = [np.outer(np.eye(5)[0], np.eye(6)[0]), *(np.outer(a, b) for a in outer for b in inner)]
    sheets.append(np.outer(outer.sum(axis=0), inner.sum(axis=0)))
    columns = Columns(Lines.of_sheets(sheets), (5, 6))
    assert not columns.lines.is_plain
    everywhere, beyond = (dependence_of(columns, slice(first, None)) for first in (0, 1))
    assert everywhere.independent.tolist() == [True] * 5 + [False]
    assert beyond.independent.tolist() == [False] + [True] * 4 + [False]
    np.testing.assert_allclose(beyond.coefficients[5], [0, 1, 1, 1, 1, 0], atol=1e-12)
