"""Theorem E (energies of commuting filters): leaf, cone, uniqueness, and what breaks without each hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import linprog, minimize

Array = NDArray[np.float64]
RNG = np.random.default_rng(5)


def operator(taps: list[float], n: int, circular: bool = True) -> Array:
    """The matrix of a centred filter."""
    h, middle = np.zeros((n, n)), len(taps) // 2
    for i in range(n):
        for j, tap in enumerate(taps):
            at = i - (j - middle)
            if circular or 0 <= at < n:
                h[i, at % n] += tap
    return h


def energies(n: int, *kernels: list[float], circular: bool = True) -> list[Array]:
    return [(h := operator(taps, n, circular)).T @ h for taps in kernels]


def values(forms: list[Array], x: Array) -> Array:
    return np.array([x @ a @ x for a in forms]) / len(x)


def tilted(forms: list[Array], a: Array, x: Array) -> Array:
    return np.asarray(expm(sum(0.5 * c * form for c, form in zip(a, forms, strict=True))) @ x)


def is_outside(span: list[Array], vector: Array) -> bool:
    return bool(np.linalg.matrix_rank(np.column_stack([*span, vector]), tol=1e-9) > np.linalg.matrix_rank(
        np.column_stack(span), tol=1e-9))


def spectrum(x: Array, *kernels: list[float]) -> tuple[Array, Array]:
    """lambda (M, N) and p (N,) over the full DFT."""
    n = len(x)
    responses = [np.abs(np.fft.fft(np.pad(taps, (0, n - len(taps))))) ** 2 for taps in kernels]
    return np.array(responses), np.abs(np.fft.fft(x)) ** 2 / n**2


KERNELS = ([1.0, 2, 1], [-1.0, 0, 1], [-1.0, 3, -1])
N = 12


def solve(responses: Array, power: Array, target: Array, start: Array | None = None) -> Array:
    start = np.zeros(len(target)) if start is None else start
    found = minimize(lambda a: power @ np.exp(a @ responses) - a @ target, start, method="BFGS",
                     jac=lambda a: responses @ (power * np.exp(a @ responses)) - target, options={"gtol": 1e-11})
    return np.asarray(found.x)


# --- each hypothesis ------------------------------------------------------------------------------------------------


def test_zero_padding_does_not_commute() -> None:
    a, b = energies(6, [-1, 2, -1], [1, 0, -1], circular=False)
    x = np.array([1.0, 2, 4, 1, 3, 5])
    assert is_outside([a @ x, b @ x], (b @ a - a @ b) @ x)
    one, two = expm(0.1 * a) @ expm(0.1 * b) @ x, expm(0.1 * b) @ expm(0.1 * a) @ x
    assert np.abs(one - two).max() > 1e-2


def test_only_active_frequencies_count() -> None:
    kernels, n = ([0.25, 0.5, 0.25], [-0.25, 0.5, -0.25]), 8
    x = np.cos(np.pi * np.arange(n) / 4)
    forms = energies(n, *kernels)
    ratio = values(forms, x)
    for a in ([0.7, 0], [0, -1.3], [2.0, 1.0]):
        moved = values(forms, tilted(forms, np.array(a), x))
        assert abs(moved[0] * ratio[1] - moved[1] * ratio[0]) < 1e-12 * moved[0]
    responses, _ = spectrum(x, *kernels)
    for target in (ratio * [1, 2], ratio * [3, 1]):  # in the cone of all frequencies
        assert linprog(np.zeros(n), A_eq=responses, b_eq=target, bounds=(0, None)).status == 0


def test_the_boundary_of_the_cone_is_not_reached() -> None:
    responses, power, target = np.eye(2), np.ones(2), np.array([1.0, 0.0])
    levels = [power @ np.exp(a @ responses) - a @ target for a in (np.array([0.0, -t]) for t in (1.0, 10, 30))]
    assert levels[0] > levels[1] > levels[2] > 1.0 and levels[2] < 1 + 1e-12
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(np.exp(solve(responses, power, target) @ responses), target, atol=1e-300)


def test_without_c1_the_signal_is_unique_and_the_weights_are_not() -> None:
    x = np.cos(np.pi * np.arange(8) / 4)
    forms = energies(8, [1, 0, 1], [0, np.sqrt(2), 0])  # |2 cos w|^2 = 2 at w = pi/4
    one, two = (tilted(forms, np.array(a), x) for a in ([0.3, 0.1], [0.3 + 5, 0.1 - 5]))
    np.testing.assert_allclose(one, two, atol=1e-12)


def test_a_constant_that_is_no_eigenvector_leaves_the_span() -> None:
    (a,) = energies(6, [-1, 2, -1], circular=False)
    x = np.array([1.0, 2, 4, 1, 3, 5])
    assert is_outside([np.ones(6), a @ x], a @ np.ones(6))


def test_fourth_moments_of_outputs_are_no_energies() -> None:
    h, (b,) = operator([1, 2, 1], 6), energies(6, [-1, 2, -1])
    x = np.array([1.0, 2, 4, 1, 3, 5])
    quartic = 4 * h.T @ (h @ x) ** 3
    hessian = 12 * h.T @ np.diag((h @ x) ** 2) @ h
    assert is_outside([quartic, 2 * b @ x], hessian @ (2 * b @ x) - 2 * b @ quartic)
    assert not is_outside([quartic, 2 * x], hessian @ (2 * x) - 2 * quartic)
