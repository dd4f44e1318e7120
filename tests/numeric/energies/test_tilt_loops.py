"""Transforms times exp(a.w) and times c.w exp(a.w), compiled or not, against their definition with whole spectra."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple.numeric.energies import jit as energy_jit, power_loops, spectrum, tilt_loops
from symdecouple.numeric.energies.levels import levels_solved
from symdecouple.numeric.energies.spectrum import Bands, Spectrum
from symdecouple.numeric.kernels import compile as jit
from tests.numeric.energies.energy_banks import responses

Array = NDArray[np.float64]
needs_numba = pytest.mark.skipif(not jit.is_available(), reason="numba is not installed")
SHAPES = [(64,), (65,), (6, 1), (8, 10), (7, 9), (3, 4, 6)]


@pytest.fixture(params=["NumPy", "as Python", pytest.param("compiled", marks=needs_numba)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(spectrum, "are_wanted", lambda bands: request.param != "NumPy")
    if request.param == "as Python":
        whole = levels_solved, power_loops.powers_of, tilt_loops.tilted_transform
        monkeypatch.setattr(energy_jit, "_kernels", lambda: whole)
    yield request.param


def bank(shape: tuple[int, ...], kind: str) -> Array:
    """Squared responses of two kernels, products of lines or not; those of the latter are even along no axis alone."""
    rng = np.random.default_rng(3)
    size = tuple(min(n, 3) for n in shape)
    taps = [np.ones(size), rng.normal(size=size)] if kind != "products" else [
        np.ones(size), np.broadcast_to(np.arange(size[-1]) - 1.0, size)]
    return responses(taps, shape)


def definition(x: Array, a: Array, c: Array | None, gains: Array, is_centred: bool) -> Array:
    """By whole complex transforms: eigenvalues on all frequencies, the second half by mirroring."""
    shape = x.shape
    axes = tuple(range(len(shape)))
    whole = np.fft.fftn(x)
    half = np.tensordot(a, gains, axes=1), None if c is None else np.tensordot(c, gains, axes=1)
    mirror = np.ix_(*(-np.arange(n) % n for n in shape))

    def full(part: Array) -> Array:
        out = np.empty(shape)
        out[..., : part.shape[-1]] = part
        return np.where(np.arange(shape[-1]) < part.shape[-1], out, out[mirror])

    factors = np.exp(full(half[0]))
    if half[1] is not None:
        factors = factors * full(half[1]) * 2 / x.size
        if is_centred:
            factors[(0,) * len(shape)] = 0
    return np.asarray(np.fft.ifftn(whole * factors, axes=axes).real)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["products", "any"])
@pytest.mark.parametrize("is_centred", [False, True])
def test_products_are_those_of_their_definition(shape: tuple[int, ...], kind: str, is_centred: bool, way: str) -> None:
    rng = np.random.default_rng(1)
    gains = bank(shape, kind)
    bands = Bands(gains, shape)
    rows = rng.normal(size=(3, bands.grid.size)) + 1
    found = Spectrum.of(bands, rows, is_centred)
    a, c = 3 * rng.normal(size=(2, 3, len(bands))) / gains.reshape(len(bands), -1).max(axis=1)
    which = np.array([2, 0])
    given = rows - rows.mean(axis=1, keepdims=True) if is_centred else rows
    for slopes in (None, c):
        some = None if slopes is None else slopes[which]
        moved = found.tilted(which, a[which], some)
        for signal, r in zip(moved, which, strict=True):
            slope = None if slopes is None else slopes[r]
            expected = definition(given[r].reshape(shape), a[r], slope, gains, is_centred)
            np.testing.assert_allclose(signal.reshape(shape), expected, rtol=0, atol=2e-14 * np.abs(expected).max())
    alone = found.tilted(which[:1], a[which[:1]], c[which[:1]], np.empty(2 * bands.grid.size))
    np.testing.assert_array_equal(alone[0], found.tilted(which, a[which], c[which])[0])


def test_blocks_of_a_long_line(way: str) -> None:
    """More frequencies than are worked on together, by the signals of cosines that are known."""
    n = 5000
    t = np.arange(n)
    gains = np.array([np.linspace(0, 1, n // 2 + 1), np.ones(n // 2 + 1)])
    places = [3, 1023, 1024, 1500, 2499]
    row = sum(np.cos(2 * np.pi * k * t / n) for k in places)
    found = Spectrum.of(Bands(gains, (n,)), np.asarray(row)[None])
    moved = found.tilted(np.zeros(1, dtype=np.intp), np.array([[2.0, -1]]))[0]
    expected = sum(np.exp(2 * k / (n // 2) - 1) * np.cos(2 * np.pi * k * t / n) for k in places)
    np.testing.assert_allclose(moved, np.asarray(expected), atol=1e-12)


@pytest.mark.parametrize("offset", [-2000.0, 0.0, 2000.0])
def test_gradients_of_any_unit(offset: float, way: str) -> None:
    """exp(a.w) beyond float64 with a signal of the inverse unit: the product is an ordinary number."""
    n = 64
    gains = np.array([np.ones(n // 2 + 1), np.linspace(0, 1, n // 2 + 1)])
    rng = np.random.default_rng(2)
    row = rng.normal(size=(1, n))
    bands = Bands(gains, (n,))
    found, reference = Spectrum.of(bands, row * 2.0**300 if offset < 0 else row * 2.0**-300 if offset else row), (
        Spectrum.of(bands, row))
    shift = {-2000.0: -300, 0.0: 0, 2000.0: 300}[offset] * np.log(2)
    moved = found.tilted(np.zeros(1, dtype=np.intp), np.array([[shift, 0.5]]), np.array([[1.0, -2]]))
    expected = reference.tilted(np.zeros(1, dtype=np.intp), np.array([[0.0, 0.5]]), np.array([[1.0, -2]]))
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_silent_frequencies_stay_silent(way: str) -> None:
    """However large exp(a.w) is there."""
    n = 32
    t = np.arange(n)
    row = np.cos(2 * np.pi * 3 * t / n)
    gains = np.zeros((1, n // 2 + 1))
    gains[0, 9] = 1
    found = Spectrum.of(Bands(gains, (n,)), row[None])
    for a in (30.0, 5000.0):
        np.testing.assert_allclose(found.tilted(np.zeros(1, dtype=np.intp), np.array([[a]]))[0], row, atol=1e-14)
