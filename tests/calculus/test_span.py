"""Exact linear algebra against SymPy's matrices and random rank-deficient systems."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy as sp
from sympy import Rational, Symbol, sqrt

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.elementary import World
from symdecouple.calculus.span import PRIME, Snapshot, determinant, independent_rows, modular_pivots, solve
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import Budget

EXACT, INTERVAL = World(None), World(40)
s, t = sp.symbols("s t", real=True)


def matrices(size: int, rank: int, seed: int) -> list[list[Fraction]]:
    rng = random.Random(seed)
    left = [[rng.randint(-4, 4) for _ in range(rank)] for _ in range(size)]
    right = [[rng.randint(-4, 4) for _ in range(size)] for _ in range(rank)]
    return [[Fraction(sum(a * right[k][j] for k, a in enumerate(row)), 3) for j in range(size)] for row in left]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("size", "rank"), [(2, 2), (4, 4), (5, 3), (6, 6), (4, 1)])
def test_determinant_and_rank_against_sympy(size: int, rank: int, seed: int) -> None:
    matrix = matrices(size, rank, seed)
    reference = sp.Matrix(size, size, lambda i, j: Rational(matrix[i][j].numerator, matrix[i][j].denominator))
    expected = reference.det()
    assert determinant(matrix, EXACT) == Fraction(int(expected.p), int(expected.q))
    columns = [list(c) for c in zip(*matrix, strict=True)]
    rows = independent_rows(columns, EXACT)
    assert (rows is None) == (expected == 0)
    enclosed = determinant([[INTERVAL.number(v) for v in row] for row in matrix], INTERVAL)
    exact = INTERVAL.number(Fraction(int(expected.p), int(expected.q)))
    assert enclosed.a <= exact.b and exact.a <= enclosed.b
    integers = [[int(v * 3) % PRIME for v in column] for column in columns]
    assert len(modular_pivots(integers)[0]) == reference.rank()


def test_rows_are_a_nonzero_minor() -> None:
    columns = [[Fraction(v) for v in c] for c in ((0, 0, 1, 2), (0, 3, 0, 0))]
    rows = independent_rows(columns, EXACT)
    assert rows is not None and determinant([[c[r] for c in columns] for r in rows], EXACT) != 0
    assert independent_rows([[Fraction(0)] * 3], EXACT) is None


def test_pivots_are_the_first_independent_columns() -> None:
    assert modular_pivots([[1, 0, 2], [2, 0, 4], [0, 1, 0], [1, 1, 2]]) == ([0, 2], [0, 1])
    assert modular_pivots([[0, 0], [0, 5]]) == ([1], [1])


def test_solving_over_the_field() -> None:
    field = CoefficientField([s, t])
    e = field.encode
    columns = [{s: e(s), t: e(sp.S(1))}, {s: e(sp.S(1)), t: e(t)}]
    weights = [e(1 / (s + t)), e(t**2)]
    target = {row: weights[0] * columns[0][row] + weights[1] * columns[1][row] for row in (s, t)}
    assert solve(columns, target, [s, t], field, Budget()) == weights
    assert solve([columns[0], columns[0]], target, [s, t], field, Budget()) is None


def test_the_prime() -> None:
    assert sp.isprime(PRIME) and sp.isprime((PRIME - 1) // 2) and PRIME % 8 == 7
    assert all(pow(k, (PRIME - 1) // 2, PRIME) == 1 for k in range(2, 47)), "the roots of small numbers are there"


@pytest.mark.parametrize(
    "root",
    [
        sqrt(2), sqrt(3), sp.cbrt(5), sqrt(s), sqrt(s + 1) * sqrt(t), (s**2 + 2) ** Rational(5, 6),
        sqrt(2 * sqrt(s) + s + 1),
    ],
)
def test_a_snapshot_respects_the_roots(root: sp.Expr) -> None:
    field = CoefficientField([root, s, t])
    shot = Snapshot(field, random.Random(7))
    value, square = shot.at(field.encode(root)), shot.at(field.encode(sp.expand(root**2)))
    assert value * value % PRIME == square


def test_roots_that_cannot_be_chosen_are_reported() -> None:
    with pytest.raises(UnsupportedExpression, match="consistently"):
        for k in range(1, 40):
            Snapshot(CoefficientField([sqrt(k + sqrt(2)), Symbol("s")]), random.Random(1))
