"""Filtered features: commuting maps, Euler's identity, gains, and what breaks without each; no part of the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
import pytest
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


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_circular_filters_commute_at_every_size(n: int) -> None:
    for left, right in combinations(([1, 2, 4], [3, 0, -1, 5, 2], [0, 0, 1], HIGH), 2):
        assert commute(left, right, "circular", n)
        a, b = matrix(left, n=n), matrix(right, n=n)
        assert a * b == b * a and a * b.T == b.T * a


def test_energies_cross_energies_and_the_mean() -> None:
    h, g = matrix(LOW), matrix(HIGH)
    cross = sum(u * v for u, v in zip(h * sp.Matrix(X), g * sp.Matrix(X), strict=True)) / N
    features = [MEAN, average(h, 2), average(g, 2), cross]
    assert not leaves_the_span(features)
    assert bracket(ONES, field(average(h, 2))) == 2 * 7**2 * ONES
    assert all(c == 0 for u, v in combinations(map(field, features[1:]), 2) for c in bracket(u, v))


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


@pytest.mark.parametrize("p", [3, 4, 5])
@pytest.mark.parametrize("boundary", ["circular", "zero", "whole-sample"])
def test_euler(p: int, boundary: str) -> None:
    v = field(average(matrix(LOW, boundary), p))
    assert bracket(field(SECOND), v) == 2 * (p - 2) * here(v)


def test_another_energy_does_not_replace_the_second_moment() -> None:
    assert leaves_the_span([average(matrix(SMOOTH), 2), average(matrix(LOW), 4)])


# F4


@pytest.mark.parametrize("p", [3, 4])
def test_zero_gain(p: int) -> None:
    output = average(matrix([3, -1, -2]), p)
    assert all(c == 0 for c in bracket(ONES, field(output)))
    assert not leaves_the_span([MEAN, output]) and not leaves_the_span([MEAN, SECOND - MEAN**2, output])


def test_another_gain_fails_with_the_bracket_that_is_stated() -> None:
    h = matrix(LOW)
    assert bracket(ONES, field(average(h, 3))) == 6 * 7 * h.T * h * sp.Matrix(POINT)
    assert leaves_the_span([MEAN, average(h, 3)])
    assert leaves_the_span([MEAN, SECOND - MEAN**2, average(h, 4)])


# F5


@pytest.mark.parametrize("n", [4, 6, 7])
def test_half_sample_mirrors_and_short_kernels(n: int) -> None:
    symmetric = (HIGH, SMOOTH, [1, 1, 3, 1, 1], [2, 0, -1, 5, -1, 0, 2])
    for left, right in combinations(symmetric, 2):
        assert commute(left, right, "half-sample", n)
    assert commute(HIGH, SMOOTH, "zero", n) and commute(HIGH, [4, -7, 4], "zero", n)


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


def test_an_exponential_with_any_gain() -> None:
    v = field(outputs(matrix(LOW), lambda t: sp.exp(t / 5)))
    assert all(c == 0 for c in bracket(ONES, v) - sp.Rational(7, 5) * here(v))


def test_degrees_of_several_outputs_and_quotients() -> None:
    """Degree 5 of two outputs, 0 of a quotient of averages: Euler with 2 (p - 2)."""
    a, b = (h * sp.Matrix(X) for h in (matrix([3, -1, -2]), matrix(HIGH)))
    together = sum(u**2 * v**3 for u, v in zip(a, b, strict=True)) / N
    quotient = outputs(matrix(LOW), lambda t: t**4) / outputs(matrix(LOW), lambda t: t**2) ** 2
    for f, p in ((together, 5), (quotient, 0)):
        assert all(c == 0 for c in bracket(field(SECOND), field(f)) - 2 * (p - 2) * here(field(f)))


# C1


def test_independence_is_that_of_spectra_on_the_support() -> None:
    kernels = [[0, 1, 0], HIGH, [1, 1, 3, 1, 1], [2, 0, -1, 5, -1, 0, 2]]
    n, rng = 16, np.random.default_rng(3)
    grams = [np.array(gram(taps, "circular", n), dtype=float) for taps in kernels]
    for active in ((1,), (1, 3), (0, 2, 5), (0, 1, 3, 6)):
        spectrum = np.zeros(n // 2 + 1, dtype=complex)
        spectrum[list(active)] = rng.normal(size=len(active)) + 1j * rng.normal(size=len(active)) * (min(active) > 0)
        sample = np.fft.irfft(spectrum, n)
        gradients = np.array([a @ sample for a in grams])
        responses = np.array([(np.fft.fft(a[0]).real)[list(active)] for a in grams])
        assert np.linalg.matrix_rank(gradients, tol=1e-9) == np.linalg.matrix_rank(responses, tol=1e-9) == len(active)


def test_equal_energies() -> None:
    shifted, adjoint = [0, 0, *LOW], LOW[::-1]
    assert gram(shifted, "circular") == gram(LOW, "circular") == gram(adjoint, "circular")


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


def test_the_bracket_is_the_one_of_the_proof() -> None:
    """f = log s + r, g = q: the formula with t = Mean(w w), against the bracket of fields in coordinates."""
    n = 5
    y = sp.symbols(f"y0:{n}")
    at = dict(zip(y, [2, -1, 5, 3, 1], strict=True))
    averages = [sum(c**2 for c in y) / n, sum(y[k] * y[k - 1] ** 2 for k in range(n)) / n, sum(c**3 for c in y) / n]
    fields = [sp.Matrix([n * s.diff(c) for c in y]) for s in averages]
    s = sp.symbols("s0:3", positive=True)
    outer = [sp.log(s[0]) + s[1], s[0] * s[2]]
    values = {a: b.subs(at) for a, b in zip(s, averages, strict=True)}
    jets = [[f.diff(a).subs(values) for a in s] for f in outer]
    second = [[[f.diff(a, b).subs(values) for b in s] for a in s] for f in outer]
    now = [w.subs(at) for w in fields]
    t = [[(now[a].T * now[c])[0] / n for c in range(3)] for a in range(3)]
    brackets = {(a, b): (fields[b].jacobian(y).subs(at) * now[a] - fields[a].jacobian(y).subs(at) * now[b])
                for a, b in product(range(3), repeat=2)}
    told = sp.zeros(n, 1)
    for a, b in product(range(3), repeat=2):
        told += jets[0][a] * jets[1][b] * brackets[a, b]
        for c in range(3):
            told += (jets[0][a] * second[1][b][c] - jets[1][a] * second[0][b][c]) * t[a][c] * now[b]
    composed = [f.subs(dict(zip(s, averages, strict=True))) for f in outer]
    u, v = (sp.Matrix([n * f.diff(c) for c in y]) for f in composed)
    found = v.jacobian(y).subs(at) * u.subs(at) - u.jacobian(y).subs(at) * v.subs(at)
    assert sp.simplify(found - told) == sp.zeros(n, 1)


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
