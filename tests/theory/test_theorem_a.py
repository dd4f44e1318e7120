"""Theorem A (Lie): which sets of averages satisfy C2, and what each hypothesis is for.

An average Mean(m) has the field a = m'; C2 asks that [a_i, a_j] = a_i a_j' - a_j a_i' lies in the span of the a's on
every sample.  Everything here is recomputed from that definition, exactly where the numbers are rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

X = sp.Symbol("x")


def exact_rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """Rank over the rationals by elimination."""
    matrix = [list(row) for row in rows]
    rank = 0
    for column in range(len(matrix[0])):
        pivot = next((r for r in range(rank, len(matrix)) if matrix[r][column] != 0), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        for r in range(rank + 1, len(matrix)):
            ratio = matrix[r][column] / matrix[rank][column]
            matrix[r] = [a - ratio * b for a, b in zip(matrix[r], matrix[rank], strict=True)]
        rank += 1
    return rank


def lie(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return sp.expand(a * sp.diff(b, X) - b * sp.diff(a, X))


def c2_holds_for_monomials(orders: Sequence[Fraction], root: int = 1, extra: int = 1) -> bool:
    """C2 of the features Mean(x^k) on one sample of M + extra positive values t^root, k * root integral."""
    count = len(orders) + extra
    values = [Fraction(n * n + 3 * n + 1, 3) for n in range(count)]  # positive, all different

    def powers(exponent: Fraction) -> list[Fraction]:
        scaled = exponent * root
        assert scaled.denominator == 1
        return [t ** int(scaled) for t in values]

    fields = [powers(k - 1) for k in orders]
    assert exact_rank(fields) == len(orders), "the sample must have independent gradients"
    brackets = [powers(j + k - 3) for j, k in combinations(orders, 2)]
    return all(exact_rank([*fields, bracket]) == len(orders) for bracket in brackets)


def is_in_the_list(orders: Sequence[Fraction]) -> bool:
    """{k}, {2, k}, {2 - r, 2, 2 + r}: nothing else."""
    weights = sorted(k - 2 for k in orders)
    if len(weights) == 1:
        return True
    if len(weights) == 2:
        return 0 in weights
    return len(weights) == 3 and weights[1] == 0 and weights[0] == -weights[2]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_involutive_monomials_are_exactly_the_list(size: int) -> None:
    orders = [Fraction(k) for k in range(-4, 8) if k != 0]
    found = {s for s in combinations(orders, size) if c2_holds_for_monomials(s)}
    expected = {s for s in combinations(orders, size) if is_in_the_list(s)}
    assert found == expected
    assert bool(found) == (size <= 3)


@pytest.mark.parametrize("orders", [("3/2", "2", "5/2"), ("-1", "2", "5"), ("2", "7/2"), ("-1/2", "2", "9/2")])
def test_involutive_real_orders(orders: tuple[str, ...]) -> None:
    assert c2_holds_for_monomials([Fraction(k) for k in orders], root=2, extra=3)


@pytest.mark.parametrize("orders", [("3/2", "5/2"), ("1/2", "3"), ("3/2", "2", "3")])
def test_other_real_orders_fail(orders: tuple[str, ...]) -> None:
    assert not c2_holds_for_monomials([Fraction(k) for k in orders], root=2)


def test_logarithm_stands_in_for_the_missing_order_zero() -> None:
    one, two, three = 1 / X, X, X**3  # Mean(log x), Mean(x^2), Mean(x^4)
    assert sp.simplify(lie(one, two) - 2 * one) == 0
    assert sp.simplify(lie(one, three) - 4 * two) == 0
    assert sp.simplify(lie(two, three) - 2 * three) == 0


def test_hypothesis_more_samples_than_features() -> None:
    """With N = M the span is everything; (x, x^3) fails from N = 3 on."""
    orders = [Fraction(1), Fraction(3)]
    assert c2_holds_for_monomials(orders, extra=0)
    assert not c2_holds_for_monomials(orders, extra=1)


def test_hypothesis_independent_fields() -> None:
    """Three features whose fields span two dimensions: C1 fails on every sample, the theorem says nothing."""
    values = [Fraction(n) for n in range(1, 7)]
    fields = [[Fraction(1)] * 6, [v**2 for v in values], [1 + v**2 for v in values]]
    assert exact_rank(fields) == 2


def bump(x: np.ndarray, centre: float) -> np.ndarray:
    """Smooth, supported on |x - centre| < 1/2, not analytic."""
    inside = np.abs(x - centre) < 0.5
    u = np.where(inside, 2 * (x - centre), 0.0)
    return np.where(inside, np.exp(-1 / (1 - u**2)), 0.0)


def test_hypothesis_unique_continuation_five_bumps() -> None:
    """Five smooth fields with disjoint supports commute: M = 5 and C2 holds for every sample."""
    x = np.concatenate([np.arange(5) + 0.1, np.arange(5) - 0.23, [0.07, 9.0]])
    fields = np.array([bump(x, float(c)) for c in range(5)])
    step = 1e-5
    slopes = np.array([(bump(x + step, float(c)) - bump(x - step, float(c))) / (2 * step) for c in range(5)])
    assert np.linalg.matrix_rank(fields) == 5
    assert np.max(np.abs(slopes)) > 0.1
    for i, j in combinations(range(5), 2):
        assert np.all(fields[i] * slopes[j] - fields[j] * slopes[i] == 0)


def test_hypothesis_interval_not_two_pieces() -> None:
    """On x != 0 the fields of Mean(x), Mean(|x|) are 1 and sgn x: two commuting fields, no form {1, y}."""
    left, right = [sp.Integer(1), sp.Integer(-1)], [sp.Integer(1), sp.Integer(1)]
    assert lie(*left) == 0 and lie(*right) == 0
    x = np.array([-2.0, -1.0, 1.0, 3.0])
    assert np.linalg.matrix_rank(np.array([np.ones(4), np.sign(x)])) == 2


def test_three_is_the_largest_dimension_near_a_point() -> None:
    """Orders of vanishing: top order K and K - 1 bracket to 2K - 2 with a nonzero coefficient."""
    y = X
    for top in range(2, 9):
        bracket = lie(y ** (top - 1), y**top)
        assert bracket == y ** (2 * top - 2)
        assert (2 * top - 2 <= top) == (top == 2)


@pytest.mark.parametrize(
    ("phi", "fields"),
    [
        (sp.exp(X), [sp.exp(-X), sp.Integer(1), sp.exp(X)]), (sp.tan(X / 2), [sp.Integer(1), sp.sin(X), sp.cos(X)]),
        (sp.log(X), [X, X * sp.log(X), X * sp.log(X) ** 2]), (X**-2, [X**3, X]),
    ],
)
def test_normal_form_of_the_named_families(phi: sp.Expr, fields: list[sp.Expr]) -> None:
    """1/phi', phi/phi', phi^2/phi' span the family: ranks of values at exact-looking points agree."""
    normal = [phi**power / sp.diff(phi, X) for power in range(len(fields))]
    points = [sp.Rational(n, 7) for n in range(2, 10)]
    values = np.array([[float(f.subs(X, p).evalf(30)) for p in points] for f in [*fields, *normal]])
    values /= np.linalg.norm(values, axis=1)[:, None]
    size = len(fields)
    assert np.linalg.matrix_rank(values[:size], tol=1e-10) == size
    assert np.linalg.matrix_rank(values, tol=1e-10) == size


def test_common_zero_allows_two_dimensions_only() -> None:
    """Fields that all vanish at 0, of orders r + 1 and s + 1: closure needs r = 0; a third one never fits."""
    weights = range(0, 6)
    closed = [
        s for size in (2, 3) for s in combinations(weights, size) if all(a + b in s for a, b in combinations(s, 2))
    ]
    assert closed == [(0, s) for s in range(1, 6)]
