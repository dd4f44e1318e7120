"""The power of signals at the frequencies that features tell apart; transforms times exp(a.w) by definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.power_spectrum import Spectrum
from tests.numeric.energies.energy_banks import convolved, kernels, responses
from tests.traced import peak

RNG = np.random.default_rng(3)
SHAPES = [(64,), (65,), (6, 1), (8, 10), (7, 9), (3, 4, 6)]


@pytest.mark.parametrize("shape", [(6, 8), (7, 9), (3, 4), (8, 5), (1, 12)], ids=str)
def test_energies_are_those_of_filtered_images(shape: tuple[int, int]) -> None:
    taps = [k for k in kernels() if k.shape[0] <= shape[0]] or [np.array([[1.0, 2.0, -0.5]])]
    images = RNG.normal(size=(3, *shape))
    bands = Bands(responses(taps, shape), shape)
    by_hand = [[np.mean(convolved(image, kernel) ** 2) for kernel in taps] for image in images]
    np.testing.assert_allclose(bands.values(images.reshape(3, -1)), by_hand, rtol=1e-13)


def test_frequencies_are_told_apart_only_where_features_do() -> None:
    even, slanted = kernels()[4], np.array([[1.0, 0, 0], [0, -2, 0], [0, 0, 1]])
    assert Bands(responses([even], (8, 10)), (8, 10)).columns.shape == (1, 5 * 6)
    assert Bands(responses([even, slanted], (8, 10)), (8, 10)).columns.shape == (2, 8 * 6)
    cube = RNG.normal(size=(4, 5, 6))
    along = [np.array([1.0, -1.0]).reshape(shape) for shape in [(2, 1, 1), (1, 2, 1), (1, 1, 2)]]
    bands = Bands(responses(along, cube.shape), cube.shape)
    assert bands.columns.shape == (3, 3 * 3 * 4)
    differences = [np.mean((cube - np.roll(cube, 1, axis)) ** 2) for axis in range(3)]
    np.testing.assert_allclose(bands.values(cube.reshape(1, -1))[0], differences, rtol=1e-13)


def test_power_of_nothing_is_nothing() -> None:
    """A sinusoid has one frequency, whatever the transform leaves at the others; an offset does not hide it."""
    n = 48
    row = 1e3 + np.cos(2 * np.pi * 7 * np.arange(n) / n)
    bands = Bands([np.ones(n // 2 + 1)], (n,))
    for scale in (1.0, 1e-150, 1e150):
        assert np.flatnonzero(Spectrum.of(bands, scale * row[None]).shares[0]).tolist() == [0, 7]
        centred = Spectrum.of(bands, scale * row[None], centred=True)
        assert np.flatnonzero(centred.shares[0]).tolist() == [7]
        assert centred.log_power[0] == pytest.approx(np.log(0.5) + 2 * np.log(scale), abs=1e-12)
        assert centred.means is not None and centred.means[0] == pytest.approx(1e3 * scale, rel=1e-15)


def test_a_small_ripple_on_an_offset_counts() -> None:
    n = 64
    row = 1e6 + 1e-3 * np.random.default_rng(0).normal(size=n)
    bands = Bands([np.ones(n // 2 + 1)], (n,))
    assert (Spectrum.of(bands, row[None]).shares > 0).all()


@pytest.mark.parametrize(
    ("given", "shape", "said"),
    [
        (np.ones((2, 4)), (8,), "(M, *(5,)) is expected"),
        (np.ones((2, 5)) * 1j, (8,), "real and finite"),
        (np.full((2, 5), np.nan), (8,), "real and finite"),
        (np.ones((0, 5)), (8,), "is expected"),
        (np.ones((1, 1)), (0,), "at least one sample"),
    ],
    ids=["length", "complex", "nan", "none", "empty"],
)
def test_what_is_no_bank(given: object, shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Bands(given, shape)  # type: ignore[arg-type]
    assert said in str(error.value)


@pytest.mark.parametrize("last", ["a product", "no product", "odd"])
def test_responses_one_by_one(last: str) -> None:
    shape = (12, 10)
    slanted = np.array([[1.0, 0, 0], [0, -2, 0], [0, 0, 1]])
    bank = responses([*kernels()[:3], slanted if last == "odd" else kernels()[4]], shape)
    if last == "no product":
        bank[3] += bank[0]
    whole, found = Bands(bank, shape), Bands(lambda: iter(bank), shape)
    assert (found.columns == whole.columns).all() and found.folded == whole.folded == (() if last == "odd" else (1,))
    np.testing.assert_allclose(found.unfold(found.columns.reshape(-1, *found.lattice)), bank, atol=1e-13)
    with pytest.raises(InvalidInput, match="real and finite"):
        Bands(lambda: iter(bank * 1j), shape)


def test_memory_of_a_long_image() -> None:
    """A transform and some of its powers; the gradients of four energies beside it; a level in its memory."""
    shape = (2048, 2048)
    gains = [[np.abs(np.fft.fft(taps, n)) ** 2 for taps in ([1.0, 1, 1], [1.0, 0, -1])] for n in shape]
    energies = Energies(Bands(
        lambda: (np.outer(a, b[:1025]) for a in gains[0] for b in gains[1]), shape))
    row = RNG.normal(size=(1, 2**22))
    energies.decouple(row, np.ones(4))  # what is made once for all signals

    def memory(function: Callable[[], object]) -> float:
        return peak(function) / row.nbytes

    found = energies.decouple(row, np.ones(4))
    assert memory(lambda: energies.decouple(row, np.ones(4))) < 1.6
    assert memory(found.gradients) < 4.3
    level = energies.normalize(row, np.ones(4))
    assert memory(lambda: energies.normalize(row, np.ones(4))) < 1.6
    assert memory(lambda: level.pullback(row)) < 3.5  # the gradient that is made among them


def bank(shape: tuple[int, ...], kind: str) -> np.ndarray:
    """Squared responses of two kernels, products of lines or not; those of the latter are even along no axis alone."""
    rng = np.random.default_rng(3)
    size = tuple(min(n, 3) for n in shape)
    taps = [np.ones(size), rng.normal(size=size)] if kind != "products" else [
        np.ones(size), np.broadcast_to(np.arange(size[-1]) - 1.0, size)]
    return responses(taps, shape)


def definition(x: np.ndarray, a: np.ndarray, c: np.ndarray | None, gains: np.ndarray, is_centred: bool) -> np.ndarray:
    """By whole complex transforms: eigenvalues on all frequencies, the second half by mirroring."""
    shape = x.shape
    axes = tuple(range(len(shape)))
    whole = np.fft.fftn(x)
    half = np.tensordot(a, gains, axes=1), None if c is None else np.tensordot(c, gains, axes=1)
    mirror = np.ix_(*(-np.arange(n) % n for n in shape))

    def full(part: np.ndarray) -> np.ndarray:
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
def test_products_are_those_of_their_definition(shape: tuple[int, ...], kind: str, is_centred: bool) -> None:
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
    alone = found.tilted(which[:1], a[which[:1]], c[which[:1]])
    np.testing.assert_array_equal(alone[0], found.tilted(which, a[which], c[which])[0])


@pytest.mark.parametrize("offset", [-2000.0, 0.0, 2000.0])
def test_gradients_of_any_unit(offset: float) -> None:
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


def test_silent_frequencies_stay_silent() -> None:
    """However large exp(a.w) is there."""
    n = 32
    t = np.arange(n)
    row = np.cos(2 * np.pi * 3 * t / n)
    gains = np.zeros((1, n // 2 + 1))
    gains[0, 9] = 1
    found = Spectrum.of(Bands(gains, (n,)), row[None])
    for a in (30.0, 5000.0):
        np.testing.assert_allclose(found.tilted(np.zeros(1, dtype=np.intp), np.array([[a]]))[0], row, atol=1e-14)
