"""The way back from normalized signals: against the signals they came from, and against levels one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from symdecouple.errors import InvalidInput
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.inverse import returned
from symdecouple.numeric.energies.normalization import Energies
from tests.numeric.energies.energy_banks import kernels, responses


def photograph(n: int, seed: int, units: float = 40.0) -> np.ndarray:
    """A spectrum that falls like 1/f, as those of photographs do, and a mean."""
    rng = np.random.default_rng(seed)
    y, x = np.meshgrid(np.fft.fftfreq(n), np.fft.rfftfreq(n), indexing="ij")
    noise = rng.normal(size=y.shape) + 1j * rng.normal(size=y.shape)
    image = np.fft.irfft2(noise / np.maximum(np.hypot(x, y), 1 / n), (n, n))
    return np.asarray(units * (image - image.mean()) / image.std() + 3 * units).ravel()


@pytest.mark.parametrize("mean", [False, True], ids=["energies", "mean first"])
def test_photographs_in_grey_levels_come_back_from_white_noise(mean: bool) -> None:
    """Units of hundreds beside references of 1: at level 1 some gains are beyond float64."""
    bank = Energies(Bands(responses(kernels(), (48, 48)), (48, 48)), mean)
    references = np.r_[[0.0] * mean, np.ones(9)]
    rows = np.stack([photograph(48, seed) for seed in range(3)])
    values = bank.decouple(rows, references).values
    back = returned(bank, bank.normalize(rows, references).values, references, values)
    assert not back.refusals
    np.testing.assert_allclose(back.values, rows, rtol=0, atol=1e-9 * 40)
    assert (back.residual < 1e-13).all()


def test_it_is_what_levels_one_by_one_give() -> None:
    """Algorithm 5 as it is written, where every signal in between has float64 numbers."""
    bank = Energies(Bands(responses(kernels(), (16, 12)), (16, 12)), mean=True)
    one, *others, two, three = np.random.default_rng(3).normal(size=(5, 192)) + 0.2
    references = bank.values(one[None])[0]
    rows = bank.normalize(np.array(others), references).values
    values = bank.decouple(np.array([two, three]), references).values
    assert np.isfinite(rows).all() and np.isfinite(values).all()
    step = rows
    for level in range(10, 0, -1):
        goals = np.tile(references, (2, 1))
        goals[:, level - 1] = values[:, level - 1]
        step = bank.normalize(step, goals[:, :level]).values
    found = returned(bank, rows, references, values)
    np.testing.assert_allclose(found.values, step, atol=1e-12)
    spectra = [np.abs(np.fft.rfft2(r.reshape(-1, 16, 12))[..., 1:, 1:]) for r in (rows, found.values)]
    gains = 2 * np.log(spectra[1] / spectra[0])
    weights = np.tensordot(found.parameters, responses(kernels(), (16, 12)), axes=1)[..., 1:, 1:]
    np.testing.assert_allclose(gains, weights, rtol=0, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0]), st.booleans(), st.booleans())
@example(1369, 1.0, False, True)  # a vector of values that is within 1e-10 of the boundary of the cone
@example(40070, 1.0, False, False)  # normalized by a gain of e^-60: what was there is below rounding
def test_random_banks_and_spectra(seed: int, slope: float, is_signed: bool, mean: bool) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    n = int(rng.integers(2 * m + 4, 80))
    half = n // 2 + 1
    bank = rng.normal(size=(m, half)) if is_signed else rng.random((m, half))
    energies = Energies(Bands(bank, (n,)), mean)

    def signals(count: int) -> np.ndarray:
        noise = rng.normal(size=(count, half)) + 1j * rng.normal(size=(count, half))
        return np.asarray(np.fft.irfft(noise * np.exp(slope * rng.normal(size=half)), n))

    rows, references = signals(3), energies.values(signals(1))[0]
    values, level = energies.decouple(rows, references).values, energies.normalize(rows, references)
    amplitudes = np.abs(np.fft.rfft(level.values))[:, int(mean) :]
    held = amplitudes.min(axis=1) > 64 * np.finfo(float).eps * amplitudes.max(axis=1)  # else frequencies are lost there
    good = [r for r in range(3) if r not in level.refusals and np.isfinite(values[r]).all() and held[r]]
    back = returned(energies, level.values[good], references, values[good])
    assert not back.refusals
    distance = np.abs(back.values - rows[good]).max(axis=1) / rows[good].std(axis=1)
    assert (distance <= 64 * np.finfo(float).eps * back.growth).all()


def test_frequencies_that_the_signal_lacks_stay_away() -> None:
    """Two sinusoids of three energies: the third is what the two others make it, and nothing else is accepted."""
    t = np.arange(32)
    sinusoids = np.cos(2 * np.pi * 3 * t / 32), np.sin(2 * np.pi * 7 * t / 32)
    bank = np.random.default_rng(5).random((3, 17))
    energies = Energies(Bands(bank, (32,)))
    references = bank[:, [3, 7]] @ [0.5, 0.5]  # of the sum of both
    row = (sinusoids[0] + 2 * sinusoids[1])[None]
    values, normal = energies.decouple(row, references).values, energies.normalize(row, references).values
    np.testing.assert_allclose(normal, (sinusoids[0] + sinusoids[1])[None], atol=1e-13)
    np.testing.assert_allclose(returned(energies, normal, references, values).values, row, atol=1e-12)
    refused = returned(energies, normal, references, values * [1, 1, 1.001])
    assert refused.refusals[0].reason == "too few active frequencies" and np.isnan(refused.values).all()


def test_a_row_with_values_that_no_signal_has_is_refused_alone() -> None:
    energies = Energies(Bands(responses(kernels()[:2], (16, 16)), (16, 16)))
    rows = np.random.default_rng(6).normal(size=(3, 256))
    values, normal = energies.decouple(rows, np.ones(2)).values, energies.normalize(rows, np.ones(2)).values
    values[1, 1] = -0.5
    found = returned(energies, normal, np.ones(2), values)
    assert list(found.refusals) == [1] and found.refusals[1].reason == "outside the cone"
    np.testing.assert_allclose(found.values[[0, 2]], rows[[0, 2]], atol=1e-13)


def test_depth_is_the_ratio_of_amplitudes() -> None:
    """Two frequencies, each with a feature of its own, beside a mean of 8: amplitudes 1/2 and 1/200 of N."""
    t = np.arange(16)
    energies = Energies(Bands(np.eye(9)[[2, 5]], (16,)), mean=True)
    row = (np.cos(2 * np.pi * 2 * t / 16) + np.cos(2 * np.pi * 5 * t / 16))[None]
    found = returned(energies, row, np.array([0.0, 0.5, 0.5]), np.array([[8.0, 0.5, 0.5e-4]]))
    np.testing.assert_allclose(found.values[0], 8 + np.cos(2 * np.pi * 2 * t / 16) + 0.01 * np.cos(
        2 * np.pi * 5 * t / 16), atol=1e-14)
    # |X| of a real cosine sits at two frequencies, whose powers are added up
    assert found.depth[0] == pytest.approx(0.01 / 2**0.5 / 8, rel=1e-12)


def test_more_values_than_features() -> None:
    energies = Energies(Bands(np.ones((1, 5)), (8,)))
    with pytest.raises(InvalidInput, match="2 values were given for 1"):
        returned(energies, np.ones((1, 8)), np.ones(2), np.ones((1, 2)))
