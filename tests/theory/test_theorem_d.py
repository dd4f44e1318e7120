"""Theorem D (affine covariance): (mean, variance, g), its converse, and exact nested normalization up to level four."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

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


def at_point(vector: Sequence[sp.Expr]) -> list[sp.Expr]:
    return [sp.nsimplify(component.subs(POINT)) if component.free_symbols else component for component in vector]


def bracket(u: Sequence[sp.Expr], v: Sequence[sp.Expr]) -> list[sp.Expr]:
    """D_u v - D_v u at the point."""
    u_here, v_here = at_point(u), at_point(v)
    return [
        sum(
            a * sp.diff(q, c).subs(POINT) - b * sp.diff(p, c).subs(POINT)
            for a, b, c in zip(u_here, v_here, X, strict=True)
        )
        for p, q in zip(u, v, strict=True)
    ]


ONES: list[sp.Expr] = [sp.Integer(1)] * N
SCALE = field(VARIANCE)


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


STEPS = [X[i] - X[i + 1] for i in range(N - 1)]
HOMOGENEOUS = {
    "third central moment": (central(3), 3),
    "kurtosis": (central(4) / VARIANCE**2, 0),
    "squared skewness": (central(3) ** 2 / VARIANCE**3, 0),
    "root of the variation, degree 1": (sp.sqrt(sum(d**2 for d in STEPS)), 1),
    "not symmetric, degree -2": (sum((i + 1) * d**2 for i, d in enumerate(STEPS)) / VARIANCE**2, -2),
    "not symmetric, degree 5": (sum((i + 1) * d**5 for i, d in enumerate(STEPS)), 5),
}


@pytest.mark.parametrize("name", HOMOGENEOUS)
def test_structure_constants(name: str) -> None:
    """[v_mean, v_g] = 0 and [v_variance, v_g] = 2 (d - 2) v_g, exactly."""
    g, degree = HOMOGENEOUS[name]
    v = field(g)
    assert all(sp.simplify(component) == 0 for component in bracket(ONES, v))
    for left, right in zip(bracket(SCALE, v), at_point(v), strict=True):
        assert sp.simplify(left - 2 * (degree - 2) * right) == 0


def test_hypothesis_shift_invariance() -> None:
    """The raw fourth moment is homogeneous but not shift invariant."""
    assert not is_involutive_here(sum(c**4 for c in X) / N)


def test_hypothesis_homogeneity() -> None:
    """Third plus fourth central moment is shift invariant but mixes two degrees."""
    assert not is_involutive_here(central(3) + central(4))


@pytest.mark.parametrize(
    "g",
    [
        sp.exp(central(4) / 500),
        sp.log(central(4)),
        sum(c**3 for c in X) / N,
        MEAN * VARIANCE + central(3),
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

WEIGHTS = np.array([1.0, 1.3, 0.7, 1.1, 0.9, 1.2])
SAMPLE = np.array([-1.1, 0.2, 2.3, 0.9, -0.4, 3.7])
Map = Callable[[np.ndarray], np.ndarray]


def f3(x: np.ndarray) -> float:
    return float(np.mean(WEIGHTS * np.exp(0.5 * x)))


def grad_f3(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * WEIGHTS * np.exp(0.5 * x))


def f4(x: np.ndarray) -> float:
    return float(np.mean(WEIGHTS[::-1] * np.cos(x) + x**3 * np.arange(6)))


def standardize(x: np.ndarray) -> np.ndarray:
    return np.asarray((x - x.mean()) / x.std())


def third_level(x: np.ndarray, target: float = 1.12) -> np.ndarray:
    """Narrow path: along the gradient of f3 projected on {mean 0, variance 1} until f3 = target."""
    start = standardize(x)

    def velocity(_: float, y: np.ndarray) -> np.ndarray:
        w = standardize(y)
        g = grad_f3(w)
        g = g - g.mean() - np.mean(g * w) * w
        assert np.mean(g**2) > 1e-4, "the projected gradient must not vanish on the way"
        return np.asarray((target - f3(start)) * g / np.mean(g * grad_f3(w)))

    path = solve_ivp(velocity, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-13)
    return standardize(path.y[:, -1])


def gradient(feature: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-4) -> np.ndarray:
    return np.array([(feature(x + step * e) - feature(x - step * e)) / (2 * step) for e in np.eye(len(x))])


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    return float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))


def test_fourth_feature_is_decoupled_from_the_first_three_modified_ones() -> None:
    assert f3(third_level(SAMPLE)) == pytest.approx(1.12, abs=1e-10)
    hat4 = gradient(lambda x: f4(third_level(x)), SAMPLE)
    hat3 = gradient(lambda x: f3(standardize(x)), SAMPLE)
    assert abs(cosine(hat4, np.ones(6))) < 1e-6
    assert abs(cosine(hat4, SAMPLE)) < 1e-6
    assert abs(cosine(hat4, hat3)) < 1e-6
    assert abs(cosine(hat4, grad_f3(SAMPLE))) > 1e-3  # not from f3 itself
