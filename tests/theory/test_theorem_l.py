"""Theorem L: the conformal barycentre and its invariants, written without the package."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(11)


def barycentre(z: np.ndarray, passes: int = 20000) -> complex:
    """The iteration a <- the point that Mean(w) stands for: sure, and slow."""
    a = 0j
    for _ in range(passes):
        m = ((z - a) / (1 - np.conj(a) * z)).mean()
        a = (a + m) / (1 + np.conj(a) * m)
        if abs(m) < 1e-15:
            break
    return complex(a)


def shape(angles: np.ndarray) -> tuple[float, float]:
    z = np.exp(1j * angles)
    a = barycentre(z)
    w = (z - a) / (1 - np.conj(a) * z)
    second, fourth = (w**2).mean(), (w**4).mean()
    return float(abs(second)), float((second**2 * np.conj(fourth)).imag)


def moved(angles: np.ndarray, a: complex, turn: float) -> np.ndarray:
    z = np.exp(1j * angles)
    return np.asarray(np.angle(np.exp(1j * turn) * (z - a) / (1 - np.conj(a) * z)))


@pytest.mark.parametrize("a", [0.3, -0.6j, 0.5 + 0.6j])
def test_moebius_maps_change_neither_part(a: complex) -> None:
    angles = RNG.uniform(-3, 3, 9)
    assert shape(moved(angles, a, 0.7)) == pytest.approx(shape(angles), abs=1e-12)


def test_both_are_decoupled_from_the_circular_averages() -> None:
    angles, h = RNG.uniform(-3, 3, 8), 1e-3
    for part in (0, 1):
        def central(width: float, part: int = part) -> np.ndarray:
            return np.array([(shape(angles + width * e)[part] - shape(angles - width * e)[part]) / (2 * width)
                             for e in np.eye(len(angles))])
        gradient = (4 * central(h / 2) - central(h)) / 3
        for field in (np.ones(8), np.cos(angles), np.sin(angles)):
            assert abs(gradient @ field) / np.linalg.norm(gradient) / np.linalg.norm(field) < 1e-7


def test_the_averages_alone_fail_and_the_closure_is_the_group() -> None:
    """[cos, sin] = cos cos + sin sin = 1."""
    x, h = 0.7, 1e-6
    sine, cosine = ((f(x + h) - f(x - h)) / (2 * h) for f in (np.sin, np.cos))
    bracket = np.cos(x) * sine - np.sin(x) * cosine
    assert bracket == pytest.approx(1, abs=1e-9)


def test_symmetric_samples_have_no_odd_part_and_few_angles_neither() -> None:
    half = RNG.uniform(0, 3, 4)
    assert abs(shape(np.concatenate([half, -half]) + 1)[1]) < 1e-12
    assert shape(RNG.uniform(-1, 1, 3))[0] == pytest.approx(0, abs=1e-12)
    assert all(abs(shape(RNG.uniform(-2, 2, n))[1]) < 1e-12 for n in (4, 5))
    assert abs(shape(RNG.uniform(-2, 2, 6))[1]) > 1e-4


def test_a_share_of_one_half_has_no_barycentre() -> None:
    ties = np.exp(1j * np.array([0, 0, 1, 2.0]))
    assert 0.95 < abs(barycentre(ties, 2000)) < abs(barycentre(ties, 8000)) < 1
    fewer = np.exp(1j * np.array([0, 0, 1, 2.0, 3]))
    a = barycentre(fewer)
    assert abs(a) < 0.9 and abs(((fewer - a) / (1 - np.conj(a) * fewer)).mean()) < 1e-14


def test_the_barycentre_is_the_likeliest_wrapped_cauchy_law() -> None:
    angles = RNG.uniform(-3, 3, 9)
    z = np.exp(1j * angles)

    def loss(a: complex) -> float:
        return float(np.log(np.abs(1 - np.conj(a) * z) ** 2 / (1 - abs(a) ** 2)).mean())

    a = barycentre(z)
    assert all(loss(a) < loss(a + 1e-4 * np.exp(1j * t)) for t in np.linspace(0, 6, 13))


def test_the_mean_angle_is_no_function_on_the_circle() -> None:
    angles = RNG.uniform(-3, 3, 8)
    turned = angles.copy()
    turned[0] += 2 * np.pi
    assert shape(turned) == pytest.approx(shape(angles), abs=1e-12)
    assert turned.mean() == pytest.approx(angles.mean() + 2 * np.pi / 8)
