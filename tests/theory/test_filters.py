"""Filtered features: commuting maps, Euler's identity, gains, and what breaks without each; no part of the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import sympy as sp

N = 6
X = sp.symbols(f"x1:{N + 1}")
POINT = [sp.Rational(p, q) for p, q in ((2, 1), (-1, 3), (5, 1), (1, 2), (-3, 1), (7, 5))]
ONES = sp.ones(N, 1)


def matrix(taps: Sequence[int], boundary: str = "circular", n: int = N) -> sp.Matrix:
    """(Hx)_i = sum_k h_k x_(i - k), h centred, by what the sequence beyond the ends is."""
    out = sp.zeros(n, n)
    for i, (j, tap) in product(range(n), enumerate(taps)):
        place = i - (j - len(taps) // 2)
        if boundary == "circular":
            place %= n
        elif boundary == "half-sample":
            place = min(place % (2 * n), 2 * n - 1 - place % (2 * n))
        elif boundary == "whole-sample":
            place = min(place % (2 * n - 2), 2 * n - 2 - place % (2 * n - 2))
        if 0 <= place < n:
            out[i, place] += tap
    return out


def average(h: sp.Matrix, p: int) -> sp.Expr:
    return sum(v**p for v in h * sp.Matrix(X)) / N


def field(f: sp.Expr) -> sp.Matrix:
    return sp.Matrix([N * f.diff(c) for c in X])


def here(expr: sp.Matrix) -> sp.Matrix:
    return expr.subs(dict(zip(X, POINT, strict=True)))


def bracket(u: sp.Matrix, v: sp.Matrix) -> sp.Matrix:
    return here(v.jacobian(X)) * here(u) - here(u.jacobian(X)) * here(v)


def leaves_the_span(features: Sequence[sp.Expr]) -> bool:
    """Is a bracket outside the span of the gradients, which must be independent, at the point?"""
    fields = [field(f) for f in features]
    columns = sp.Matrix.hstack(*map(here, fields))
    assert columns.rank() == len(features)
    return any(sp.Matrix.hstack(columns, bracket(u, v)).rank() > len(features) for u, v in combinations(fields, 2))


MEAN, SECOND = sum(X) / N, sum(c**2 for c in X) / N
HIGH, SKEW, SMOOTH, LOW = [-1, 2, -1], [1, 0, -1], [1, 2, 1], [1, 2, 4]


def gram(taps: Sequence[int], boundary: str, n: int = N) -> sp.Matrix:
    h = matrix(taps, boundary, n)
    return h.T * h


def commute(left: Sequence[int], right: Sequence[int], boundary: str, n: int = N) -> bool:
    a, b = gram(left, boundary, n), gram(right, boundary, n)
    return bool(a * b == b * a)


# F1, F2


def test_maps_that_do_not_commute_fail() -> None:
    assert not commute(HIGH, SKEW, "zero")
    assert leaves_the_span([average(matrix(HIGH, "zero"), 2), average(matrix(SKEW, "zero"), 2)])


def test_other_degrees_fail() -> None:
    assert leaves_the_span([average(matrix(HIGH), 2), average(matrix(HIGH), 4)])
    assert leaves_the_span([average(matrix(HIGH), 4), average(matrix(LOW), 4)])


def test_a_constant_that_is_not_kept_fails() -> None:
    h = matrix(SMOOTH, "zero")
    assert len(set(h.T * h * ONES)) > 1
    assert leaves_the_span([MEAN, average(h, 2)])


# F3


def test_another_energy_does_not_replace_the_second_moment() -> None:
    assert leaves_the_span([average(matrix(SMOOTH), 2), average(matrix(LOW), 4)])


# F4


def test_another_gain_fails_with_the_bracket_that_is_stated() -> None:
    h = matrix(LOW)
    assert bracket(ONES, field(average(h, 3))) == 6 * 7 * h.T * h * sp.Matrix(POINT)
    assert leaves_the_span([MEAN, average(h, 3)])
    assert leaves_the_span([MEAN, SECOND - MEAN**2, average(h, 4)])


# F5


def test_where_boundaries_break_it() -> None:
    assert not commute(HIGH, SMOOTH, "whole-sample")
    assert not commute(HIGH, [1, 1, 3, 1, 1], "zero")
    for left, right, boundary in ((HIGH, SMOOTH, "whole-sample"), (HIGH, [1, 1, 3, 1, 1], "zero")):
        assert leaves_the_span([average(matrix(left, boundary), 2), average(matrix(right, boundary), 2)])


# F6


def outputs(h: sp.Matrix, f: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    return sum(map(f, h * sp.Matrix(X))) / N


def test_a_function_of_an_output_without_gain() -> None:
    flat, other = matrix([3, -1, -2]), matrix(HIGH)
    one = outputs(flat, lambda t: t**5 - 3 * t**2)
    two = sum(u**2 * v**3 for u, v in zip(flat * sp.Matrix(X), other * sp.Matrix(X), strict=True)) / N
    assert all(c == 0 for f in (one, two) for c in bracket(ONES, field(f)))
    assert leaves_the_span([MEAN, outputs(matrix(LOW), lambda t: t**5 - 3 * t**2)])


# C1


# F7


def cubic(n: int) -> list[sp.Expr]:
    """Mean and Mean((hx)^3), h = 2 + S, on a circle of n."""
    y = sp.symbols(f"y0:{n}")
    return [sum(y) / n, sum((2 * y[k] + y[k - 1]) ** 3 for k in range(n)) / n]


def minor_on(features: Sequence[sp.Expr], values: Sequence[int], rows: Sequence[int]) -> sp.Expr:
    """The minor of N grad f, N grad g and their bracket on some rows of the circle."""
    n = len(values)
    y = sp.symbols(f"y0:{n}")
    at = dict(zip(y, values, strict=True))
    u, v = (sp.Matrix([n * f.diff(c) for c in y]) for f in features)
    columns = [u.subs(at), v.subs(at), (v.jacobian(y).subs(at) * u.subs(at) - u.jacobian(y).subs(at) * v.subs(at))]
    return sp.Matrix.hstack(*columns).extract(list(rows), [0, 1, 2]).det()


def ratio(n: int) -> list[sp.Expr]:
    """log Mean(x^2) + Mean(x) and Mean(x Sx): averages occur in the fields."""
    y = sp.symbols(f"y0:{n}")
    lag = sum(y[k] * y[k - 1] for k in range(n)) / n
    return [sp.log(sum(c**2 for c in y) / n) + sum(y) / n, lag + sum(c**3 for c in y) / n]


def test_a_minor_is_the_same_on_every_circle_that_holds_its_segment() -> None:
    """The witness has 3 samples and wraps around; rows 1, 2, 3 see the samples 0, ..., 4 of the sequence."""
    period = [2, -1, 4]
    here = minor_on(cubic(3), period, [1, 2, 0])
    assert here != 0
    for n, rest in ((5, []), (6, [7]), (9, [1, -4, 3, 11])):
        assert minor_on(cubic(n), [period[k % 3] for k in range(5)] + rest, [1, 2, 3]) == here


def test_averages_change_it_and_generic_samples_do_not_vanish() -> None:
    values = [minor_on(ratio(n), [2, -1, 5, 3, 1, 4, -2, 6][:n], [0, 1, 2]) for n in (5, 6, 7, 8)]
    assert all(sp.simplify(v) != 0 for v in values) and len(set(values)) == len(values)


def test_lags_meet_where_there_is_no_room() -> None:
    """Lags 4 and 7 have one gradient on 11 samples, and independent ones on 15."""
    for n, rank in ((11, 1), (15, 2)):
        y = sp.symbols(f"y0:{n}")
        values = dict(zip(y, [(3 * k * k + 2 * k) % 17 for k in range(n)], strict=True))
        fields = [sp.Matrix([sum(y[k] * y[k - lag] for k in range(n)).diff(c) for c in y]) for lag in (4, 7)]
        assert sp.Matrix.hstack(*fields).subs(values).rank() == rank


def test_roots_of_products_have_a_relation_with_two_signs() -> None:
    for sign in (1, -1):
        a, b, c = (sign * k for k in (4, 9, 25))
        assert sp.sqrt(a * b) * sp.sqrt(b * c) * sp.sqrt(a * c) == sign * a * b * c
