"""Theorem F (exact gradients): one projection, against differences of many digits, and what each hypothesis is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

Vector = list[Any]
Map = Callable[[Vector], Vector]
H = mp.mpf(10) ** -18


def mean(values: Vector) -> Any:
    return mp.fsum(values) / len(values)


def jacobian(f: Map, x: Vector) -> Any:
    """Central differences at 60 digits: 1e-36 is what they leave out."""
    n = len(x)
    columns = []
    for j in range(n):
        up, down = ([v + s * H * (i == j) for i, v in enumerate(x)] for s in (1, -1))
        columns.append([(a - b) / (2 * H) for a, b in zip(f(up), f(down), strict=True)])
    return mp.matrix(n, n) + mp.matrix(columns).T


def off(span: list[Vector], n: int) -> Any:
    """The projection off a span."""
    basis: list[Any] = []
    for vector in span:
        v = mp.matrix(vector)
        for e in basis:
            v -= e * (e.T * v)[0]
        basis.append(v / mp.norm(v))
    out = mp.eye(n)
    for e in basis:
        out -= e * e.T
    return out


def distance(a: Any, b: Any) -> float:
    return float(mp.norm(a - b) / mp.norm(b))


def powers(z: Vector, *orders: int) -> list[Vector]:
    return [[v**k for v in z] for k in orders]


def standardized(x: Vector) -> Vector:
    m = mean(x)
    s = mp.sqrt(mean([(v - m) ** 2 for v in x]))
    return [(v - m) / s for v in x]


SAMPLE = ["-1.3", "0.4", "2.9", "0.1", "-0.6", "1.7"]


# --- each hypothesis ------------------------------------------------------------------------------------------------


def test_targets_that_move_with_the_sample() -> None:
    """x - m + s has the mean s, no number: the formula misses half of the gradient of the second moment."""
    def moved(x: Vector) -> Vector:
        m = mean(x)
        s = mp.sqrt(mean([(v - m) ** 2 for v in x]))
        return [v - m + s for v in x]

    with mp.workdps(60):
        x = list(map(mp.mpf, SAMPLE))
        n, centred = len(x), mp.matrix([v - mean(x) for v in x])
        slope = mp.matrix([2 * v / n for v in moved(x)])
        assert distance(jacobian(moved, x).T * slope, 4 * centred / n) < 1e-25
        assert distance(off(powers(x, 0), n) * slope, 2 * centred / n) < 1e-25


def test_flows_out_of_a_set_that_is_not_involutive() -> None:
    """Mean and third moment: along x^2, then along 1; the end of the first flow has left the span."""
    def ends(x: Vector) -> tuple[Any, Any]:
        def residual(t: Any, tau: Any) -> Vector:
            z = [v / (1 - t * v) + tau for v in x]
            return [mean(z), mean([v**3 for v in z]) - 1]

        t, tau = mp.findroot(residual, (mp.mpf("0.05"), -mean(x)), tol=mp.mpf(10) ** -90)
        return t, tau

    def normalized(x: Vector) -> Vector:
        t, tau = ends(x)
        return [v / (1 - t * v) + tau for v in x]

    with mp.workdps(60):
        x = list(map(mp.mpf, ["-0.9", "0.3", "1.4", "0.8"]))
        t, _ = ends(x)
        end = normalized(x)
        assert abs(mean(end)) < 1e-40 and abs(mean([v**3 for v in end]) - 1) < 1e-40
        true = jacobian(normalized, x)
        formula = off(powers(end, 0, 2), 4) * mp.diag([1 / (1 - t * v) ** 2 for v in x])
        assert distance(formula, true) > 0.05
        gradient = true.T * mp.matrix([2 * v for v in end])  # of the second moment at the end
        assert abs(mean(list(gradient))) > 0.01 * mp.norm(gradient)


def test_dependent_gradients_at_the_end() -> None:
    """f = x1^3 with the reference 0: its gradient vanishes at (0, x2), and no projection is left."""
    true = np.diag([0.0, 1.0])
    gradient_at_end = np.zeros(2)
    formula = np.eye(2) if not gradient_at_end.any() else None
    assert formula is not None and not np.allclose(formula, true)
    for v in (1e-3, 1e-6):  # a reference that is not 0: the gradient (3 x1^2, 0) is there, and the formula holds
        unit = np.array([3 * v ** (2 / 3), 0.0]) / (3 * v ** (2 / 3))
        np.testing.assert_allclose(np.eye(2) - np.outer(unit, unit), true)


def test_a_normalization_that_jumps() -> None:
    """f = x1^2 with the reference 1: the nearer of (1, x2) and (-1, x2) jumps at x1 = 0."""
    def nearer(x: tuple[float, float]) -> tuple[float, float]:
        return (1.0 if x[0] >= 0 else -1.0, x[1])

    assert abs(nearer((1e-12, 3.0))[0] - nearer((-1e-12, 3.0))[0]) == 2.0


def test_any_order_of_flows_of_an_involutive_set() -> None:
    """Mean and second moment: scale first, or shift first; the ends and the formulas are the same."""
    def shift_first(x: Vector) -> Vector:
        return standardized(x)

    def scale_first(x: Vector) -> Vector:
        s = mp.sqrt(mean([(v - mean(x)) ** 2 for v in x]))
        scaled = [v / s for v in x]
        return [v - mean(scaled) for v in scaled]

    with mp.workdps(60):
        x = list(map(mp.mpf, SAMPLE))
        assert distance(jacobian(shift_first, x), jacobian(scale_first, x)) < 1e-30
