"""Theorem K: the orthokurtosis of phi(x), written without the package."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.theory.test_theorem_b import orthokurtosis

Function = Callable[[np.ndarray], np.ndarray]
SAMPLE = np.array([0.3, 0.5, 1.1, 1.2, 2.0, 2.9])
COORDINATES: dict[str, tuple[Function, Function]] = {
    "x": (lambda x: x, np.ones_like), "exp": (np.exp, np.exp), "log": (np.log, lambda x: 1 / x),
    "tan(x/2)": (lambda x: np.tan(x / 2), lambda x: 0.5 / np.cos(x / 2) ** 2),
    "sinh": (np.sinh, np.cosh), "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "x^3": (lambda x: x**3, lambda x: 3 * x**2), "x + x^3": (lambda x: x + x**3, lambda x: 1 + 3 * x**2)}


def differenced(f: Callable[[np.ndarray], float], x: np.ndarray) -> np.ndarray:
    """Gradient by central differences of two widths, extrapolated."""
    def central(h: float) -> np.ndarray:
        return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])
    return np.asarray((4 * central(5e-4) - central(1e-3)) / 3)


@pytest.mark.parametrize("name", COORDINATES)
def test_it_is_decoupled_from_the_three_fields(name: str) -> None:
    phi, slope = COORDINATES[name]
    gradient = differenced(lambda x: orthokurtosis(phi(x)), SAMPLE)
    for power in range(3):
        field = phi(SAMPLE) ** power / slope(SAMPLE)
        cosine = gradient @ field / np.linalg.norm(gradient) / np.linalg.norm(field)
        assert abs(cosine) < 1e-8


def test_a_coordinate_of_another_family_is_not() -> None:
    gradient = differenced(lambda x: orthokurtosis(np.exp(x)), SAMPLE)
    field = SAMPLE**2
    assert abs(gradient @ field) / np.linalg.norm(gradient) / np.linalg.norm(field) > 0.01


def test_moebius_images_of_phi_give_the_same() -> None:
    y = np.exp(SAMPLE)
    assert orthokurtosis((2 * y - 1) / (y + 3)) == pytest.approx(orthokurtosis(y), rel=1e-9)
    assert orthokurtosis(np.tanh(SAMPLE / 2)) == pytest.approx(orthokurtosis(y), rel=1e-9)


def test_a_pole_between_the_samples_breaks_it() -> None:
    angles = np.array([2.5, 3.0, 3.4, 4.0, 5.0])
    assert orthokurtosis(np.tan(angles / 2)) == pytest.approx(2.1997, abs=1e-4)
    assert orthokurtosis(np.tan((angles - 3.7) / 2)) == pytest.approx(1.9593, abs=1e-4)


def test_a_coordinate_that_folds_does_not_tell_samples_apart() -> None:
    x = np.array([-1.0, 0.3, 1.1, 1.2, 2.0, 2.9])
    assert orthokurtosis(x**2) == pytest.approx(orthokurtosis(np.abs(x) ** 2), rel=1e-12)
