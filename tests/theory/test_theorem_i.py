"""Theorem I (critical points by ties): uniqueness, kinds, walls, and what breaks without each hypothesis."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import sympy
from numpy.typing import NDArray
from scipy.optimize import minimize
from sympy import Matrix, Poly, Rational, Symbol, resultant, symbols

Array = NDArray[np.float64]
OLD = tuple(map(int, sympy.__version__.split(".")[:2])) < (1, 14)
KEEPS_DIGITS = pytest.mark.skipif(OLD, reason="polynomials keep no 60 digits before SymPy 1.14: the oracle fails")


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    return [tuple(np.diff((0, *cuts, total)).tolist()) for cuts in combinations(range(1, total), parts - 1)]


def ordered_solutions(ties: tuple[int, ...]) -> int:
    """How many z_1 < z_2 < z_3 have mean 0, variance 1, skewness 0: elimination over QQ, then 60 digits."""
    a, b, c = ties
    total = sum(ties)
    y1, y2 = symbols("y1 y2")
    y3 = -(a * y1 + b * y2) / Rational(c)
    second = Poly(a * y1**2 + b * y2**2 + c * y3**2 - total, y1, y2).as_expr()
    third = Poly(a * y1**3 + b * y2**3 + c * y3**3, y1, y2).as_expr()
    eliminated = Poly(resultant(second, third, y2), y1).sqf_part()
    count = 0
    for root in eliminated.real_roots():  # isolated exactly
        value = root.evalf(60)
        for other in Poly(second.subs(y1, value), y2).nroots(n=50, maxsteps=200):
            if abs(other.as_real_imag()[1]) < 1e-30:
                z = [value, other.as_real_imag()[0]]
                z.append(-(a * z[0] + b * z[1]) / c)
                solves = abs(sum(n * v**3 for n, v in zip(ties, z, strict=True))) < 1e-25
                count += bool(solves and z[0] + 1e-15 < z[1] and z[1] + 1e-15 < z[2])
    return count


@KEEPS_DIGITS
@pytest.mark.parametrize("total", [5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_each_pattern_of_three_values_has_one_solution_at_most(total: int) -> None:
    """By elimination: those have one for which skewness 0 is strictly between its two walls."""
    for ties in compositions(total, 3):
        low = Fraction(total - 2 * (ties[1] + ties[2]), 1)  # sign of the skewness with the two upper merged
        high = Fraction(total - 2 * ties[2], 1)
        assert ordered_solutions(ties) == int(low < 0 < high), ties


def inertia(matrix: Matrix) -> tuple[int, int]:
    """Positive and negative eigenvalues of a regular rational symmetric matrix, exactly, by Descartes' rule."""
    coefficients = [c for c in matrix.charpoly(Symbol("t")).all_coeffs() if c != 0]
    changes = sum(bool(p * q < 0) for p, q in pairwise(coefficients))
    assert matrix.det() != 0
    return changes, matrix.shape[0] - changes


@pytest.mark.parametrize("ties", [(2, 3), (1, 4), (2, 1, 3), (2, 2, 2), (1, 3, 1), (2, 1, 2, 2), (1, 2, 1, 3)])
def test_index_is_the_exact_inertia_of_the_bordered_hessian(ties: tuple[int, ...]) -> None:
    """At any rational values: signs alternate from + at the top, one less than each group of sign - counts."""
    d, values = len(ties), [Rational(v) for v in (-3, -1, 1, 4)[: len(ties)]]
    x = Symbol("x")
    polynomial = Poly(1, x)
    for v in values:
        polynomial *= Poly(x - v, x)
    slopes = [polynomial.diff(x).eval(v) for v in values]
    rows = [(v, s) for n, v, s in zip(ties, values, slopes, strict=True) for _ in range(n)]
    hessian = Matrix.diag(*(s for _, s in rows))
    border = Matrix([[v**j for v, _ in rows] for j in range(d)])
    bordered = Matrix([[Matrix.zeros(d, d), border], [border.T, hessian]])
    positive, negative = inertia(bordered)
    index = sum(n - 1 for i, n in enumerate(ties, 1) if (d - i) % 2)
    assert (positive - d, negative - d) == (sum(ties) - d - index, index)


def kurtosis_extremes(n_samples: int, sign: float, rng: np.random.Generator) -> float:
    """What minimization from a random start ends at, at mean 0, variance 1, skewness 0."""
    constraints = [{"type": "eq", "fun": lambda z, j=j, c=c: (z**j).mean() - c} for j, c in ((1, 0), (2, 1), (3, 0))]
    with np.errstate(all="ignore"):
        found = minimize(lambda z: sign * (z**4).mean(), rng.normal(size=n_samples), constraints=constraints,
                         method="SLSQP", options={"maxiter": 500, "ftol": 1e-13})
    return sign * float(found.fun) if found.success else np.nan


@pytest.mark.parametrize(("n_samples", "low", "high"), [(5, 5 / 4, 5 / 2), (6, 1, 3), (7, 7 / 6, 7 / 2)])
def test_optimization_ends_at_global_extrema_only(n_samples: int, low: float, high: float) -> None:
    rng = np.random.default_rng(1)
    for sign, expected in ((1.0, low), (-1.0, high)):
        ends = np.array([kurtosis_extremes(n_samples, sign, rng) for _ in range(6)])
        ends = ends[np.isfinite(ends)]
        assert len(ends) > 2 and np.abs(ends - expected).max() < 1e-5


def test_an_untied_sample_flows_past_saddles() -> None:
    """B2 along -grad of the skewness: from beside a saddle of six samples to the minimum; with ties kept it stays."""
    def flown(z: Array) -> float:
        for _ in range(4000):
            z = (z - z.mean()) / z.std()
            z = z - 0.02 * (z**2 - (z**3).mean() * z - 1)
        z = (z - z.mean()) / z.std()
        return float((z**3).mean())

    apart = np.array([-1.4, -1.3999, 0.7, 0.7, 0.7001, 0.7002])
    tied = np.array([-1.4, -1.4, 0.7, 0.7, 0.7001, 0.7002])
    assert flown(apart) == pytest.approx(-4 / np.sqrt(5), abs=1e-6)
    assert flown(tied) == pytest.approx(-1 / np.sqrt(2), abs=1e-6)


def test_without_a_chebyshev_system_an_extremum_can_be_local() -> None:
    """(x^2, x^3): all ones is a strict local minimum of the mean cube at mean square 1, with value 1 > -sqrt(N)."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        z = 1 + 0.05 * rng.normal(size=5)
        z /= np.sqrt((z**2).mean())
        assert (z**3).mean() >= 1
    other = np.array([-np.sqrt(5), 0, 0, 0, 0])
    assert (other**2).mean() == pytest.approx(1) and (other**3).mean() == pytest.approx(-np.sqrt(5))


def test_order_of_ties_counts() -> None:
    """Ties (1, 2) and (2, 1) both have samples with mean 0 and variance 1: unique is only what is ordered alike."""
    one, two = np.array([-np.sqrt(2), 1 / np.sqrt(2), 1 / np.sqrt(2)]), np.array([-1, -1, 2]) / np.sqrt(2)
    for z in (one, two):
        assert z.mean() == pytest.approx(0) and (z**2).mean() == pytest.approx(1)
