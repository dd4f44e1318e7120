"""Sums on Chebyshev nodes against sums over all frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.spectrum import Bands
from tests.numeric.energies.energy_banks import kernels, responses

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("shape", [(151, 160), (20, 201), (300,)], ids=str)
def test_sums_of_smooth_functions_agree(shape: tuple[int, ...]) -> None:
    taps = kernels()[:4] if len(shape) == 2 else [np.array([1.0, 2, 1]), np.array([1.0, 0, -1])]
    bands = Bands(responses(taps, shape), shape)
    coarse = bands.coarse
    assert coarse is not None
    assert coarse.columns.shape[1] * 3 <= bands.columns.shape[1]
    power = RNG.random((2, bands.columns.shape[1])) ** 8
    a = 0.2 * RNG.normal(size=len(bands))
    a *= 0.3 / np.ptp(a @ bands.columns)
    whole, few = (p @ np.exp(a @ w.columns) for p, w in [(power, bands), (coarse.gathered(power), coarse)])
    np.testing.assert_allclose(few, whole, rtol=1e-13)


@pytest.mark.parametrize("shape", [(151, 160), (20, 201), (300,)], ids=str)
def test_sums_over_eight_orders_of_magnitude_are_starts(shape: tuple[int, ...]) -> None:
    """Smooth power, taken back by the tilt: what is worse than 0.1 is no start (`tilting`)."""
    taps = kernels()[:4] if len(shape) == 2 else [np.array([1.0, 2, 1]), np.array([1.0, 0, -1])]
    bands = Bands(responses(taps, shape), shape)
    assert bands.coarse is not None
    for sign in (1, -1):
        a = sign * np.linspace(1, 0.5, len(bands))
        a *= np.log(1e8) / np.ptp(a @ bands.columns)
        power = RNG.random((2, bands.columns.shape[1])) * np.exp(-a @ bands.columns)
        whole, few = (p @ np.exp(a @ w.columns) for p, w in [(power, bands), (bands.coarse.gathered(power),
                                                                               bands.coarse)])
        np.testing.assert_allclose(few, whole, rtol=0.1)


def test_no_nodes_where_nothing_is_gained_or_known() -> None:
    slanted = np.array([[1.0, 0, 0], [0, -2, 0], [0, 0, 1]])
    assert Bands(responses([slanted], (200, 200)), (200, 200)).coarse is None
    assert Bands(responses(kernels(), (64, 64)), (64, 64)).coarse is None
    assert Bands(RNG.random((2, 301)), (600,)).coarse is None


def test_a_start_does_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (160, 150)
    noise = RNG.normal(size=shape)
    smooth = noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))
    rows = np.stack([noise.ravel(), 50 * smooth.ravel()])
    energies = Energies(Bands(responses(kernels(), shape), shape))
    with_start = energies.normalize(rows, np.ones(9))
    found = energies.decouple(rows, np.ones(9))
    assert energies.bands.coarse is not None
    plain = Energies(Bands(responses(kernels(), shape), shape))
    monkeypatch.setattr(Bands, "coarse", None)
    np.testing.assert_allclose(plain.normalize(rows, np.ones(9)).values, with_start.values, atol=1e-11)
    np.testing.assert_allclose(plain.decouple(rows, np.ones(9)).values, found.values, rtol=1e-11)
    np.testing.assert_allclose(energies.values(with_start.values), 1, rtol=1e-12)
    assert (with_start.iterations <= plain.normalize(rows, np.ones(9)).iterations).all()
