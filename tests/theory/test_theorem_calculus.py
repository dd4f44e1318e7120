"""The calculus of mean-form fields: what breaks without each hypothesis, and the lemmas on standardized samples."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

Number = Fraction


def rank(rows: Sequence[Sequence[Number]]) -> int:
    return int(sp.Matrix([[sp.Rational(c.numerator, c.denominator) for c in row] for row in rows]).rank())


def test_a_denominator_may_vanish_for_every_sample_of_few_values() -> None:
    """The Hankel determinant of order 3 is zero whenever N <= 2: membership must not be argued at that N alone."""

    def hankel(x: Sequence[Number]) -> Number:
        moments = [sum(v**k for v in x) / len(x) for k in range(5)]
        matrix = sp.Matrix(3, 3, lambda i, j: sp.Rational(moments[i + j].numerator, moments[i + j].denominator))
        return Fraction(int(matrix.det().p), int(matrix.det().q))

    assert hankel([Fraction(1), Fraction(7)]) == 0
    assert hankel([Fraction(1), Fraction(7), Fraction(8)]) != 0


def test_hypothesis_independent_statistics() -> None:
    """sigma = Mean(sin^2) + Mean(cos^2) - 1 is zero: Mean(x^2) + sigma Mean(x^3) is involutive with the mean, yet the
    span over Q(sigma, ..) with sigma taken for a variable says no."""
    x, sigma, one, two = sp.symbols("x sigma s1 s2")
    field = 2 * x + sigma * 3 * x**2
    formal = sp.diff(field, x)  # [1, field] when D_1 sigma = 0
    membership = sp.Poly(formal - one - two * field, x)
    equations = membership.coeffs()
    assert sp.solve(equations, [one, two], dict=True) == []
    assert sp.solve([e.subs(sigma, 0) for e in equations], [one, two], dict=True) == [{one: 2, two: 0}]


def test_hypothesis_independent_basis_functions() -> None:
    """Over the unreduced basis 1, sin^2, cos^2 the function 1 is outside span{sin^2 + cos^2}; on values inside."""
    rows = sp.Matrix([[0, 1, 1], [1, 0, 0]])  # coordinates of sin^2 + cos^2 and of 1
    assert rows.rank() == 2
    points = range(1, 5)
    assert sp.Matrix([[sp.simplify(sp.sin(p) ** 2 + sp.cos(p) ** 2) for p in points], [1] * 4]).rank() == 1


def test_hypothesis_analytic_fields() -> None:
    """A smooth field that vanishes on an interval: C2 fails on some samples and holds on an open set of others."""

    def bump_row(x: Sequence[Number]) -> tuple[list[Number], list[Number]]:  # (1 - x^2)^3 on |x| < 1, and its slope
        return (
            [(1 - v * v) ** 3 if abs(v) < 1 else Fraction(0) for v in x],
            [-6 * v * (1 - v * v) ** 2 if abs(v) < 1 else Fraction(0) for v in x],
        )

    def bracket_is_inside(x: Sequence[Number]) -> bool:
        field, slope = bump_row(x)
        rows = [[Fraction(1)] * len(x), field]
        assert rank(rows) == 2
        return rank([*rows, slope]) == 2  # [1, b] = b'

    half = Fraction(1, 2)
    assert bracket_is_inside([half, Fraction(2), Fraction(3)])  # one value inside: any bracket fits
    assert not bracket_is_inside([half, Fraction(1, 3), Fraction(2)])


def test_false_identity_survives_random_samples_at_most_as_often_as_the_bound() -> None:
    """Schwartz-Zippel: a nonzero polynomial of degree d vanishes on at most d |T|^(N-1) points of T^N."""
    x, y = sp.symbols("x y")
    polynomial = sp.Poly((x - y) * (x + y - 3) * (x - 2), x, y)
    grid = range(7)
    zeros = sum(polynomial.eval((a, b)) == 0 for a in grid for b in grid)
    assert 0 < zeros <= polynomial.total_degree() * 7


STANDARDIZED = [lambda z: z**0, lambda z: z, np.tanh, lambda z: z**2, lambda z: z * np.tanh(z)]


@pytest.mark.parametrize("size", range(1, 6))
def test_functions_of_the_standardized_sample_are_independent_from_two_more_samples_on(size: int) -> None:
    """Lemma 3; with as many values as functions, 1 and z^2 are dependent at N = 2, and 1 and z at N = 2 are not."""
    rng = np.random.default_rng(size)
    for n in (size + 2, size + 5):
        x = rng.normal(size=n)
        z = (x - x.mean()) / x.std()
        assert np.linalg.matrix_rank(np.array([f(z) for f in STANDARDIZED[:size]]), tol=1e-9) == size
    pair = np.array([1.0, -1.0])
    assert np.linalg.matrix_rank(np.array([pair**0, pair**2])) == 1


def test_a_field_moves_the_standardized_sample_by_a_symmetric_projection() -> None:
    """D_u z = (u - Mean(u) - z Mean(z u))/s, against a central difference by its order; and T is symmetric."""
    rng = np.random.default_rng(5)
    x, u, w = rng.normal(size=(3, 7))

    def standardized(y: np.ndarray) -> np.ndarray:
        return (y - y.mean()) / y.std()

    z = standardized(x)

    def moved(v: np.ndarray) -> np.ndarray:
        return (v - v.mean() - z * (z * v).mean()) / x.std()

    errors = [abs((standardized(x + h * u) - standardized(x - h * u)) / (2 * h) - moved(u)).max() for h in (1e-2, 5e-3)]
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert (u * moved(w)).mean() == pytest.approx((w * moved(u)).mean(), abs=1e-14)
