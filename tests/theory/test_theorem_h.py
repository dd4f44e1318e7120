"""Theorem H (involutive closure): what can be decoupled from a set that fails C2, and what cannot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

X = sp.Symbol("x")


def lie(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return sp.expand(a * sp.diff(b, X) - b * sp.diff(a, X))


def ranks_of_closure(fields: Sequence[sp.Expr], count: int, rounds: int) -> list[int]:
    """Rank on one sample of ``count`` positive values, after each round of brackets (exact)."""
    points = [sp.Rational(2 * n + 3, n + 2) + n for n in range(count)]

    def rank(functions: Sequence[sp.Expr]) -> int:
        return int(sp.Matrix([[f.subs(X, p) for p in points] for f in functions]).rank())

    basis = list(fields)
    ranks = [rank(basis)]
    for _ in range(rounds):
        for a, b in combinations(list(basis), 2):
            if len(basis) < count and rank([*basis, lie(a, b)]) > len(basis):
                basis.append(lie(a, b))
        ranks.append(len(basis))
    return ranks


@pytest.mark.parametrize(
    ("orders", "ranks"),
    [
        ((1, 3), [2, 3, 3]),  # closes to (x, x^2, x^3)
        ((-1, 5), [2, 3, 3]),  # closes to (1/x, x^2, x^5)
        ((1, 2, 3), [3, 3, 3]),
        ((2, 5), [2, 2, 2]),
        ((1, 2, 3, 4), [4, 5, 7]),  # Witt algebra: everything
        ((1, 4), [2, 3, 5, 7]),
        ((3, 4), [2, 3, 5, 7]),
    ],
)
def test_rank_of_the_closure_of_moments(orders: tuple[int, ...], ranks: list[int]) -> None:
    fields = [X ** (k - 1) for k in orders]
    assert ranks_of_closure(fields, 7, len(ranks) - 1) == ranks


def test_circular_pair_closes_with_the_mean() -> None:
    sine, cosine = sp.cos(X), -sp.sin(X)  # fields of Mean(sin x), Mean(cos x)
    third = sp.simplify(lie(sine, cosine))
    assert third == -1
    assert sp.simplify(lie(third, sine) + cosine) == 0 or sp.simplify(lie(third, sine) - cosine) == 0
    assert sp.simplify(lie(third, cosine) + sine) == 0 or sp.simplify(lie(third, cosine) - sine) == 0


def bump_slope(x: np.ndarray) -> np.ndarray:
    """Derivative of exp(-1/(1 - x^2)) on |x| < 1, zero outside."""
    inside = np.abs(x) < 1
    gap = np.where(inside, 1 - x**2, 1.0)
    return np.where(inside, -2 * x / gap**2 * np.exp(-1 / gap), 0.0)


def test_hypothesis_full_rank_on_a_dense_set() -> None:
    """One sample, f a bump around 0: rank 1 = N near 0, yet the bump around 5 is decoupled and not constant."""
    x = np.linspace(-3, 8, 2001)
    f_slope, g_slope = bump_slope(x), bump_slope(x - 5)
    assert np.all(f_slope * g_slope == 0)
    assert np.max(np.abs(f_slope)) > 0.1 and np.max(np.abs(g_slope)) > 0.1


def test_hypothesis_connected_domain() -> None:
    """On x != 0 the sign is decoupled from f = x, which has rank 1 = N everywhere."""
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    step = 1e-3
    assert np.all((np.sign(x + step) - np.sign(x - step)) == 0)
    assert len(set(np.sign(x))) == 2


def test_hypothesis_constant_rank_at_the_point() -> None:
    """f = |x|^2/2 at 0: away from 0 rank 1 and N - 1 decoupled features; at 0 rank 0, and a decoupled g is constant
    on rays, so a continuous one takes the value g(0) everywhere: the angle has every value in each neighbourhood."""

    def angle(x: np.ndarray) -> float:
        return float(np.arctan2(x[1], x[0]))

    x, step = np.array([1.2, 0.7]), 1e-6
    gradient = np.array([(angle(x + step * e) - angle(x - step * e)) / (2 * step) for e in np.eye(2)])
    assert abs(gradient @ x) < 1e-9 and np.linalg.norm(gradient) > 0.1
    tiny = [angle(1e-12 * np.array([np.cos(a), np.sin(a)])) for a in (-3.0, 0.0, 3.0)]
    assert max(tiny) - min(tiny) > 5


# --- beyond the orthokurtosis ---


def normalized(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point of zero skewness on the leaf, and the pointwise derivative of the map that leads there."""
    y = x - x.mean()

    def third(t: float) -> float:
        z = y / (1 - t * y)
        w = (z - z.mean()) / z.std()
        return float(np.mean(w**3))

    t = brentq(third, (1 - 1e-9) / y.min(), (1 - 1e-9) / y.max(), xtol=1e-15)
    z = y / (1 - t * y)
    return (z - z.mean()) / z.std(), 1 / (1 - t * y) ** 2 / z.std()


def orthokurtosis(x: np.ndarray) -> float:
    return float(np.mean(normalized(x)[0] ** 4))


def orthokurtosis_field(x: np.ndarray) -> np.ndarray:
    """N grad = 4 Phi'(x) pi_3(xhat), pi_3 the monic cubic orthogonal to 1, x, x^2."""
    w, slope = normalized(x)
    lower = np.vander(w, 3, increasing=True)
    cubic = w**3 - lower @ np.linalg.lstsq(lower, w**3, rcond=None)[0]
    return np.asarray(4 * slope * cubic)


def rank(rows: Sequence[np.ndarray], tolerance: float = 1e-8) -> int:
    matrix = np.array(rows)
    return int(np.linalg.matrix_rank(matrix / np.linalg.norm(matrix, axis=1)[:, None], tol=tolerance))


def samples(count: int) -> np.ndarray:
    jitter = np.random.default_rng(count).uniform(-1, 1, count)
    return np.asarray(np.linspace(-1, 1, count) + 0.3 * jitter / count)


@pytest.mark.parametrize("count", range(4, 13))
def test_quadratic_field_generates_powers_times_the_gradient(count: int) -> None:
    """[x^2, x^k H] = (k - 4) x^(k+1) H: the closure has 1, x, x^2, H, .., x^4 H, rank min(N, 8)."""
    x = samples(count)
    h = orthokurtosis_field(x)
    assert rank([x**0, x, x**2, h]) == 4
    assert rank([x**0, x, x**2, *(x**k * h for k in range(5))]) == min(count, 8)
    step = 1e-4
    along = (orthokurtosis_field(x + step * x**2) - orthokurtosis_field(x - step * x**2)) / (2 * step)
    assert np.allclose(along - 2 * x * h, -4 * x * h, atol=2e-5 * np.max(np.abs(h)))


@pytest.mark.parametrize("count", [9, 11, 13])
def test_closure_beyond_the_orthokurtosis_is_everything(count: int) -> None:
    """With the brackets of x^i H and x^j H (i, j <= 4) the rank is N for the N tried."""
    x = samples(count)
    h = orthokurtosis_field(x)

    def along(direction: np.ndarray) -> np.ndarray:
        e = 1e-5 / np.linalg.norm(direction)
        one = orthokurtosis_field(x + e * direction) - orthokurtosis_field(x - e * direction)
        two = orthokurtosis_field(x + 2 * e * direction) - orthokurtosis_field(x - 2 * e * direction)
        return np.asarray((8 * one - two) / (12 * e))

    rows = [x**0, x, x**2, *(x**k * h for k in range(5))]
    assert rank(rows) == 8
    derivatives = [along(x**k * h) for k in range(5)]
    for i, j in combinations(range(5), 2):
        pointwise = (j - i) * x ** (i + j - 1) * h * h
        rows.append(pointwise + x**j * derivatives[i] - x**i * derivatives[j])
    assert rank(rows) == count
