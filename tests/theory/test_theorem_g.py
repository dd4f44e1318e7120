"""Theorem G (monic orthogonal polynomials): exact in fractions, and what breaks without each hypothesis."""

from __future__ import annotations

from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp

SAMPLE = [Q(-2), Q(-1), Q(0), Q(1), Q(4), Q(7, 2)]


def inner(u: list[Q], w: list[Q], weights: list[Q] | None = None) -> Q:
    weights = weights or [Q(1)] * len(u)
    return sum((a * b * c for a, b, c in zip(u, w, weights, strict=True)), Q(0)) / len(u)


def residual(span: list[list[Q]], target: list[Q]) -> list[Q]:
    """What is left of a vector off the span of others, by Gram and Schmidt, exactly."""
    basis: list[list[Q]] = []
    for last in [*span, target]:
        vector = last
        for e in basis:
            weight = inner(vector, e) / inner(e, e)
            vector = [a - weight * b for a, b in zip(vector, e, strict=True)]
        if any(vector):
            basis.append(vector)
    return vector


def stieltjes(x: list[Q], degree: int, weights: list[Q] | None = None) -> list[list[Q]]:
    """pi_0, ..., pi_degree on the sample, by the recurrence of three terms."""
    before, now, size = [Q(0)] * len(x), [Q(1)] * len(x), Q(1)
    out = [now]
    for j in range(degree):
        norm = inner(now, now, weights)
        alpha = inner([a * b for a, b in zip(x, now, strict=True)], now, weights) / norm
        beta = norm / size if j else Q(0)
        before, now, size = now, [(v - alpha) * a - beta * b for v, a, b in zip(x, now, before, strict=True)], norm
        out.append(now)
    return out


def powers(x: list[Q], *orders: int) -> list[list[Q]]:
    return [[v**k for v in x] for k in orders]


@pytest.mark.parametrize("k", range(1, 7))
def test_the_projected_gradient_and_its_length(k: int) -> None:
    fields = [[j * v ** (j - 1) for v in SAMPLE] for j in range(1, k)]
    left = residual(fields, [k * v ** (k - 1) for v in SAMPLE])
    polynomial = stieltjes(SAMPLE, k - 1)[-1]
    assert left == [k * v for v in polynomial]

    def hankel(j: int) -> sp.Matrix:
        mean = [sum((v**a for v in SAMPLE), Q(0)) / len(SAMPLE) for a in range(2 * j + 1)]
        return sp.Matrix(j + 1, j + 1, lambda a, b: sp.Rational(*mean[a + b].as_integer_ratio()))

    ratio = hankel(k - 1).det() / (hankel(k - 2).det() if k > 1 else 1)
    assert sp.Rational(*inner(left, left).as_integer_ratio()) == k**2 * ratio


def test_it_vanishes_at_as_many_values_as_are_below_k() -> None:
    for values, k in (([Q(0), Q(0), Q(1)], 3), ([Q(1), Q(2), Q(5), Q(5)], 4), ([Q(3), Q(3)], 2)):
        assert not any(stieltjes(values, k - 1)[-1])
        assert any(stieltjes(values, k - 2)[-1])


def test_kurtosis_at_the_reference_of_three_moments() -> None:
    """G3, at a sample with mean 0, variance 1, skewness 0 made by hand; a chain rule in SymPy is the oracle."""
    x = sp.symbols("x1:5", real=True)
    m = sum(x) / 4
    central = [sum((v - m) ** j for v in x) / 4 for j in (2, 4)]
    kurtosis = central[1] / central[0] ** 2
    a = sp.sqrt(sp.Rational(9, 5))
    b = sp.sqrt(sp.Rational(1, 5))
    point = dict(zip(x, (a, -a, b, -b), strict=True))
    field = np.array([float((4 * sp.diff(kurtosis, v)).subs(point)) for v in x])
    sample = np.array([float(v) for v in point.values()])
    span = np.vander(sample, 3)
    left = field - span @ np.linalg.lstsq(span, field, rcond=None)[0]
    fourth = sum(sample**4) / 4
    np.testing.assert_allclose(left, 4 * (sample**3 - fourth * sample), atol=1e-12)


def test_functions_of_the_sample() -> None:
    """G4 with phi = x^2 + x, and weights phi'^2."""
    phi, slope = [v**2 + v for v in SAMPLE], [2 * v + 1 for v in SAMPLE]
    fields = [[j * s * p ** (j - 1) for p, s in zip(phi, slope, strict=True)] for j in range(1, 4)]
    polynomial = stieltjes(phi, 2, [s**2 for s in slope])[-1]
    assert residual(fields[:2], fields[2]) == [3 * s * p for s, p in zip(slope, polynomial, strict=True)]


# --- each hypothesis ------------------------------------------------------------------------------------------------


def test_too_few_values_leave_no_polynomial() -> None:
    sample = [Q(0), Q(0), Q(1)]
    for c in (Q(2), Q(-5)):  # x (x - 1) (x - c) is orthogonal to all, whatever c is
        cubic = [v * (v - 1) * (v - c) for v in sample]
        assert all(inner(cubic, p) == 0 for p in powers(sample, 0, 1, 2))
    with pytest.raises(ZeroDivisionError):
        stieltjes(sample, 3)


def test_orders_that_are_left_out() -> None:
    left = residual(powers(SAMPLE, 0), [3 * v**2 for v in SAMPLE])
    second = inner(SAMPLE, SAMPLE)
    assert left == [3 * (v**2 - second) for v in SAMPLE]
    assert left != [3 * v for v in stieltjes(SAMPLE, 2)[-1]]
    even = residual(powers(SAMPLE, 1), [4 * v**3 for v in SAMPLE])
    assert even != [4 * v for v in stieltjes(SAMPLE, 3)[-1]]


def test_the_polynomials_of_another_measure() -> None:
    sample = SAMPLE[:5]
    hermite = [v**3 - 3 * v for v in sample]
    assert inner(hermite, powers(sample, 2)[0]) == Q(992 - 168, 5)


def test_values_at_which_phi_has_no_slope() -> None:
    sample = [Q(-1), Q(0), Q(1), Q(2)]
    phi, slope = [v**2 for v in sample], [2 * v for v in sample]
    fields = [[j * s * p ** (j - 1) for p, s in zip(phi, slope, strict=True)] for j in range(1, 4)]
    assert len(set(phi)) == 3 and not any(residual(fields[:2], fields[2]))
    with pytest.raises(ZeroDivisionError):
        stieltjes(phi, 3, [s**2 for s in slope])


def test_a_moment_of_a_filter_output_is_no_polynomial_of_one_number() -> None:
    """Two equal numbers get different ones: the field of Mean(h(x)^4) looks at the neighbours."""
    x = np.array([1.0, 2, 1, 4, 0])
    h = np.zeros((5, 5))
    for i in range(5):
        h[i, i], h[i, (i - 1) % 5] = 2, -1
    field = 4 * h.T @ (h @ x) ** 3
    assert x[0] == x[2] and abs(field[0] - field[2]) > 1


def test_the_recurrence_is_well_conditioned_where_powers_are_not() -> None:
    k, x = 20, np.random.default_rng(0).standard_normal(200)
    basis, before, size = [np.ones(200)], np.zeros(200), 1.0
    for j in range(k - 1):
        now = basis[-1]
        norm = float(np.mean(now**2))
        alpha, beta = np.mean(x * now**2) / norm, norm / size if j else 0.0
        basis.append((x - alpha) * now - beta * before)
        before, size = now, norm
    unit = np.array([p / np.sqrt(np.mean(p**2)) for p in basis])
    assert np.abs(unit @ unit.T / 200 - np.eye(k)).max() < 1e-10
    columns = np.vander(x, k, increasing=True)
    gram = columns[:, :-1].T @ columns[:, :-1]
    left = columns[:, -1] - columns[:, :-1] @ np.linalg.solve(gram, columns[:, :-1].T @ columns[:, -1])
    assert np.abs(unit[:-1] @ left).max() / 200 / np.sqrt(np.mean(left**2)) > 1e-6
