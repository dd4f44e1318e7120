"""Decoupled energies and their gradients: differences, inner products, and the table of white noise."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.gradients import DecoupledEnergies
from symdecouple.numeric.energies.normalization import Energies
from tests.numeric.differences import extrapolated
from tests.numeric.energies.energy_banks import kernels, pictures, responses

TILS = kernels()


def degrees_from_orthogonal(gram: np.ndarray) -> np.ndarray:
    sizes = np.sqrt(np.einsum("rii->ri", gram))
    cosines = gram / (sizes[:, :, None] * sizes[:, None, :])
    return np.asarray(np.degrees(np.arcsin(np.where(np.eye(gram.shape[1]), 0, cosines))))


@pytest.mark.parametrize("mean", [False, True])
def test_pullback_against_differences(mean: bool) -> None:
    """Of any function of the normalized signal, here its third moment and a value."""
    shape = (6, 7)
    rng = np.random.default_rng(2)
    energies = Energies(Bands(responses(TILS[:4], shape), shape), mean)
    x, v = rng.normal(size=(2, 42))
    targets = [0.3] * mean + [1.0, 0.8, 1.3, 0.9]
    for k in range(energies.size + 1):
        level = energies.normalize(x[None], targets, level=k)
        covector = 3 * level.values**2 / 42
        covector[0, 5] += 1

        def function(rows: np.ndarray, k: int = k) -> np.ndarray:
            moved = energies.normalize(rows, targets, level=k).values
            return np.asarray(np.mean(moved**3, axis=1) + moved[:, 5])

        assert level.pullback(covector) @ v == pytest.approx(extrapolated(function, x[None], v, 2e-2), abs=1e-9)


def test_pullback_of_the_next_energy_is_its_decoupled_gradient() -> None:
    shape = (10, 12)
    energies = Energies(Bands(responses(TILS, shape), shape))
    for unit in (1.0, 1e-150, 1e120):
        rows, targets = unit * np.random.default_rng(3).normal(size=(2, 120)), np.full(9, unit**2)
        gradients = energies.decouple(rows, targets).gradients()
        for k in (1, 4, 8):
            level = energies.normalize(rows, targets, level=k)
            transforms = np.fft.rfft2(level.values.reshape(2, *shape)) * responses(TILS, shape)[k]
            own = 2 / 120 * np.fft.irfft2(transforms, s=shape).reshape(2, 120)
            np.testing.assert_allclose(level.pullback(own) / unit, gradients[:, k] / unit, atol=1e-13)


@pytest.fixture(scope="module")
def noise() -> tuple[np.ndarray, DecoupledEnergies]:
    rows = np.random.default_rng(0).normal(size=(200, 529))
    energies = Energies(Bands(responses(TILS, (23, 23)), (23, 23)))
    return rows, energies.decouple(rows, np.ones(9))


def test_white_noise_decoupled(noise: tuple[np.ndarray, DecoupledEnergies]) -> None:
    """0.18 +- 0.30 degrees; pairs with the first feature are orthogonal to rounding, the others 0.40 in square mean."""
    gradients = noise[1].gradients()
    angles = degrees_from_orthogonal(np.einsum("rin,rjn->rij", gradients, gradients))
    pairs = np.abs(angles[:, *np.triu_indices(9, 1)])
    assert pairs.mean() == pytest.approx(0.18, abs=0.02)
    assert pairs.std() == pytest.approx(0.30, abs=0.03)
    assert np.abs(angles[:, 0, 1:]).max() < 1e-12
    rest = angles[:, 1:, 1:][:, *np.triu_indices(8, 1)]
    assert np.sqrt((rest**2).mean()) == pytest.approx(0.40, abs=0.02)
    assert not noise[1].refusals


def test_on_the_reference_manifold_all_pairs_are_orthogonal(noise: tuple[np.ndarray, DecoupledEnergies]) -> None:
    energies = Energies(noise[1].spectrum.bands)
    rows = energies.normalize(noise[0][:10], np.ones(9)).values
    gradients = energies.decouple(rows, np.ones(9)).gradients()
    angles = degrees_from_orthogonal(np.einsum("rin,rjn->rij", gradients, gradients))
    assert np.abs(angles[:, *np.triu_indices(9, 1)]).max() < 1e-11


def test_refused_levels_are_nan_and_the_others_are_not() -> None:
    """A checkerboard has two frequencies: the gradient of feature 1 is there, that of what is missing is not."""
    image = pictures()["checkerboard"].reshape(1, -1)
    found = Energies(Bands(responses(TILS, (32, 32)), (32, 32))).decouple(image, np.ones(9))
    gradients = found.gradients()[0]
    low = np.fft.irfft2(np.fft.rfft2(image.reshape(32, 32)) * responses(TILS, (32, 32))[0], s=(32, 32))
    np.testing.assert_allclose(gradients[0], 2 / 1024 * low.ravel(), atol=1e-16)
    assert np.isfinite(gradients[:2]).all()
    assert np.isnan(gradients[2:]).all()
