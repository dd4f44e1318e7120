"""The calculus of mean-form fields: proved for all N, refuted at generic samples, replication, jets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

Number = Fraction


@dataclass(frozen=True, slots=True)
class Dual:
    """value + slope * epsilon: exact first-order jets."""

    value: Number
    slope: Number

    def __add__(self, other: Dual | int | Number) -> Dual:
        o = lift(other)
        return Dual(self.value + o.value, self.slope + o.slope)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: Dual | int | Number) -> Dual:
        return self + -lift(other)

    def __mul__(self, other: Dual | int | Number) -> Dual:
        o = lift(other)
        return Dual(self.value * o.value, self.slope * o.value + self.value * o.slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Dual | int | Number) -> Dual:
        o = lift(other)
        return Dual(self.value / o.value, (self.slope * o.value - self.value * o.slope) / o.value**2)

    def __pow__(self, power: int) -> Dual:
        result = Dual(Fraction(1), Fraction(0))
        for _ in range(power):
            result = result * self
        return result


def lift(a: Dual | int | Number) -> Dual:
    return a if isinstance(a, Dual) else Dual(Fraction(a), Fraction(0))


def mean(values: Sequence[Dual]) -> Dual:
    return sum(values, lift(0)) / len(values)


Field = Callable[[Sequence[Dual]], list[Dual]]


def power_field(k: int) -> Field:
    """N grad of Mean(x^k)."""
    return lambda x: [k * v ** (k - 1) for v in x]


def central(x: Sequence[Dual], k: int) -> Dual:
    m = mean(x)
    return mean([(v - m) ** k for v in x])


def variance_field(x: Sequence[Dual]) -> list[Dual]:
    m = mean(x)
    return [2 * (v - m) for v in x]


def kurtosis_field(x: Sequence[Dual]) -> list[Dual]:
    m, c2, c3, c4 = mean(x), central(x, 2), central(x, 3), central(x, 4)
    return [4 * ((v - m) ** 3 - c3) / c2**2 - 4 * c4 * (v - m) / c2**3 for v in x]


def values(field: Field, x: Sequence[Number]) -> list[Number]:
    return [c.value for c in field([lift(v) for v in x])]


def bracket(u: Field, v: Field, x: Sequence[Number]) -> list[Number]:
    """D_u v - D_v u, one jet along each field."""

    def along(direction: Field, target: Field) -> list[Number]:
        return [c.slope for c in target([Dual(a, b) for a, b in zip(x, values(direction, x), strict=True)])]

    return [a - b for a, b in zip(along(u, v), along(v, u), strict=True)]


def rank(rows: Sequence[Sequence[Number]]) -> int:
    return int(sp.Matrix([[sp.Rational(c.numerator, c.denominator) for c in row] for row in rows]).rank())


def sample(count: int) -> list[Number]:
    return [Fraction(n * n * n - 5 * n + 2, n + 2) for n in range(count)]


def is_involutive(fields: Sequence[Field], x: Sequence[Number]) -> bool:
    rows = [values(f, x) for f in fields]
    full = rank(rows)
    return all(rank([*rows, bracket(u, v, x)]) == full for u, v in combinations(fields, 2))


def combine(coefficients: Sequence[Number], vectors: Sequence[Sequence[Number]]) -> list[Number]:
    return [sum(c * v for c, v in zip(coefficients, column, strict=True)) for column in zip(*vectors, strict=True)]


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_brackets_of_moments(count: int) -> None:
    """[v_i, v_j] = ij(j - i)/(i + j - 2) v_(i+j-2); in particular [v3, v4] = 12 x^4."""
    x = sample(count)
    for i, j in combinations(range(1, 6), 2):
        k = i + j - 2
        expected = [Fraction(i * j * (j - i), k) * c for c in values(power_field(k), x)]
        assert bracket(power_field(i), power_field(j), x) == expected
    assert bracket(power_field(3), power_field(4), x) == [12 * v**4 for v in x]


@pytest.mark.parametrize("count", [4, 5, 7])
def test_structure_functions_of_mean_variance_kurtosis(count: int) -> None:
    """All brackets vanish except [v_var, v_kurt] = -4 v_kurt."""
    x = sample(count)
    assert bracket(power_field(1), variance_field, x) == [0] * count
    assert bracket(power_field(1), kurtosis_field, x) == [0] * count
    assert bracket(variance_field, kurtosis_field, x) == [-4 * c for c in values(kurtosis_field, x)]
    assert rank([values(f, x) for f in (power_field(1), variance_field, kurtosis_field)]) == 3


@pytest.mark.parametrize("count", [3, 4, 6])
def test_structure_functions_that_depend_on_the_sample(count: int) -> None:
    """(mean, variance, Mean x^3): [1, v3] = 3 v_var + 6m, [v_var, v3] = 2 v3 - 6m v_var + 6 (s2 - 2 m^2)."""
    x = sample(count)
    m, s2 = Fraction(sum(x)) / count, Fraction(sum(v * v for v in x)) / count
    basis = [values(f, x) for f in (power_field(1), variance_field, power_field(3))]
    assert bracket(power_field(1), power_field(3), x) == combine([6 * m, Fraction(3), Fraction(0)], basis)
    expected = combine([6 * (s2 - 2 * m * m), -6 * m, Fraction(2)], basis)
    assert bracket(variance_field, power_field(3), x) == expected


def test_refuted_at_n0_and_vacuous_below() -> None:
    """(x, .., x^4): five basis functions, no statistics, N0 = 5; at N = 4 the span is everything."""
    fields = [power_field(k) for k in range(1, 5)]
    assert is_involutive(fields, sample(4))
    assert not is_involutive(fields, sample(5))
    assert not is_involutive(fields, sample(9))


def test_mean_variance_and_fourth_raw_moment_are_refuted() -> None:
    assert not is_involutive([power_field(1), variance_field, power_field(4)], sample(5))


def test_kurtosis_of_three_samples_is_constant() -> None:
    """C1 must be redone at small N: the gradient vanishes identically at N = 3."""
    for x in ([0, 1, 5], [2, -3, 11]):
        row = [Fraction(v) for v in x]
        assert central([lift(v) for v in row], 4).value / central([lift(v) for v in row], 2).value ** 2 == Fraction(
            3, 2
        )
        assert values(kurtosis_field, row) == [0, 0, 0]


@pytest.mark.parametrize("copies", [2, 3])
def test_replication_keeps_statistics_fields_and_brackets(copies: int) -> None:
    """A sample repeated as a whole has the same empirical measure: everything in mean form is repeated."""
    x = sample(5)
    for field in (power_field(3), variance_field, kurtosis_field):
        assert values(field, x * copies) == values(field, x) * copies
    assert bracket(variance_field, kurtosis_field, x * copies) == bracket(variance_field, kurtosis_field, x) * copies


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
