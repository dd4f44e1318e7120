"""Theorem D (affine covariance): (mean, variance, g), its converse, and exact nested normalization up to level four."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

N = 5
X = sp.symbols("x1:6")
POINT = dict(zip(X, map(sp.Rational, ("0", "1", "7/2", "-2", "9")), strict=True))
MEAN = sum(X) / N
CENTRED = [c - MEAN for c in X]
VARIANCE = sum(y**2 for y in CENTRED) / N


def central(order: int) -> sp.Expr:
    return sum(y**order for y in CENTRED) / N


def field(feature: sp.Expr) -> list[sp.Expr]:
    return [N * sp.diff(feature, c) for c in X]


def is_involutive_here(g: sp.Expr) -> bool:
    """Do the brackets of (mean, variance, g) lie in the span at the point?  60 digits, differences of step 1e-20."""
    with mp.workdps(60):
        x = mp.matrix([mp.mpf(int(c.p)) / int(c.q) for c in POINT.values()])
        evaluate = sp.lambdify(X, field(g), modules="mpmath", cse=True)

        def v_g(y: mp.matrix) -> mp.matrix:
            return mp.matrix(evaluate(*y))

        def affine(y: mp.matrix) -> list[mp.matrix]:
            m = mp.fsum(y) / N
            return [mp.ones(N, 1), y - m * mp.ones(N, 1)]

        def along(direction: mp.matrix, k: int) -> mp.matrix:
            h = mp.mpf(10) ** -20
            return ((affine(x + h * direction)[k]) - affine(x - h * direction)[k]) / (2 * h)

        rows = [*affine(x), v_g(x)]
        h = mp.mpf(10) ** -20
        for k, u in enumerate(affine(x)):
            rows.append((v_g(x + h * u) - v_g(x - h * u)) / (2 * h) - along(v_g(x), k))
        matrix = np.array([[float(c / (mp.norm(row) + mp.mpf(10) ** -30)) for c in row] for row in rows])
    assert np.linalg.matrix_rank(matrix[:3], tol=1e-10) == 3
    return bool(np.linalg.matrix_rank(matrix, tol=1e-10) == 3)


def test_hypothesis_shift_invariance() -> None:
    """The raw fourth moment is homogeneous but not shift invariant."""
    assert not is_involutive_here(sum(c**4 for c in X) / N)


def test_hypothesis_homogeneity() -> None:
    """Third plus fourth central moment is shift invariant but mixes two degrees."""
    assert not is_involutive_here(central(3) + central(4))


@pytest.mark.parametrize(
    "g",
    [
        sp.exp(central(4) / 500), sp.log(central(4)), sum(c**3 for c in X) / N, MEAN * VARIANCE + central(3),
        sp.exp(MEAN) * central(4) / VARIANCE**2 + MEAN**2 * VARIANCE,
    ],
)
def test_converse_functions_of_mean_variance_and_an_affine_invariant_feature(g: sp.Expr) -> None:
    assert is_involutive_here(g)


def test_converse_refutes_two_affine_invariants_mixed_by_the_scale() -> None:
    """skewness + variance * kurtosis is no function of mean, variance and one invariant feature."""
    assert not is_involutive_here(central(3) / VARIANCE ** sp.Rational(3, 2) + central(4) / VARIANCE)


def test_hypothesis_second_derivatives() -> None:
    """|x1 - x2|^(3/2) + |x3 - x4|^(3/2) is C1, shift invariant, homogeneous; its gradient curves branch."""

    def slope(u: float) -> float:  # du/dt along the gradient, u = x1 - x2
        return float(3 * np.sign(u) * np.sqrt(abs(u)))

    times = np.linspace(0, 2, 9)
    leaving, staying = 9 * times**2 / 4, 0 * times
    assert np.allclose(9 * times / 2, [slope(u) for u in leaving])
    assert np.allclose(0, [slope(u) for u in staying])
    assert leaving[0] == staying[0] and leaving[-1] > 1


# --- nested normalization (mean, second moment, f3, f4) with features that have no symmetry at all ---
