"""Features as sums over frequencies, against the same features from filtered samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.spectrum import Bands, Grid, Spectrum
from tests.numeric.energies.energy_banks import convolved, kernels, responses
from tests.traced import peak

RNG = np.random.default_rng(3)


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


@pytest.mark.parametrize("shape", [(6, 8), (7, 9), (4, 3, 5), (11,), (12,)], ids=str)
def test_multipliers_reach_their_frequencies(shape: tuple[int, ...]) -> None:
    """Multiplying the transform by |H|^2 is filtering there and back."""
    kernel = np.zeros((1,) * (len(shape) - 1) + (3,))
    kernel[..., :] = [1.0, -3.0, 0.5]
    signal = RNG.normal(size=shape)
    bands = Bands(responses([kernel], shape), shape)
    spectrum = Spectrum.of(bands, signal.reshape(1, -1))
    there = convolved(signal, kernel)
    back = np.zeros_like(there)
    for lag, tap in enumerate(kernel.ravel()):
        back += tap * np.roll(there, -lag, axis=-1)
    np.testing.assert_allclose(spectrum.times([0], bands.columns)[0], back.ravel(), atol=1e-13)


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


def test_half_spectra_sum_up_to_whole_ones() -> None:
    for shape in [(5,), (6,), (4, 7), (3, 4, 2)]:
        signal = RNG.normal(size=shape)
        grid = Grid(shape)
        total = grid.power(grid.forward(signal.reshape(1, -1))).sum()
        assert total == pytest.approx(np.sum(np.abs(np.fft.fftn(signal)) ** 2), rel=1e-13)


@pytest.mark.parametrize("last", ["a product", "no product", "odd"])
def test_responses_one_by_one(last: str) -> None:
    shape = (12, 10)
    slanted = np.array([[1.0, 0, 0], [0, -2, 0], [0, 0, 1]])
    bank = responses([*kernels()[:3], slanted if last == "odd" else kernels()[4]], shape)
    if last == "no product":
        bank[3] += bank[0]
    whole, found = Bands(bank, shape), Bands.of_sheets(lambda: iter(bank), shape)
    assert (found.columns == whole.columns).all() and found.folded == whole.folded == (() if last == "odd" else (1,))
    np.testing.assert_allclose(found.unfold(found.columns), bank, atol=1e-13)
    with pytest.raises(InvalidInput, match="real and finite"):
        Bands.of_sheets(lambda: iter(bank * 1j), shape)


def test_room_for_one_transform() -> None:
    """An energy route on a long image: its transform and a quarter of it in powers, a result in the room of one."""
    shape = (2048, 2048)
    gains = [[np.abs(np.fft.fft(taps, n)) ** 2 for taps in ([1.0, 1, 1], [1.0, 0, -1])] for n in shape]
    energies = Energies(Bands.of_sheets(
        lambda: (np.outer(a, b[:1025]) for a in gains[0] for b in gains[1]), shape))
    row = RNG.normal(size=(1, 2**22))
    energies.decouple(row, np.ones(4))  # what is made once for all signals

    def room(function: Callable[[], object]) -> float:
        return peak(function) / row.nbytes

    found = energies.decouple(row, np.ones(4))
    assert room(lambda: energies.decouple(row, np.ones(4))) < 1.6
    assert room(lambda: found.gradient(2)) < 1.3
    assert room(lambda: energies.normalize(row, np.ones(4))) < 2.6
