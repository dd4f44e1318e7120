"""Lines of eigenvalues, sums over them, and sums at few frequencies against sums over all."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.energies.eigenvalues import Columns, Lines
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from tests.numeric.energies.energy_banks import kernels, responses

RNG = np.random.default_rng(6)
SHAPES = [(151, 160), (20, 201), (300,)]


def test_lines_of_responses_by_transforms() -> None:
    bands = Bands(responses(kernels(), (14, 20)), (14, 20))
    assert bands.lines.outer.shape == (3, 8) and bands.lines.inner.shape == (3, 11)
    exact = np.cos(2 * np.pi * np.arange(8) / 14)
    np.testing.assert_allclose(bands.lines.outer[0], (1 + 2 * exact) ** 2 / 9, atol=1e-14)
    assert Lines.of_sheets([np.eye(2)]) is None


@pytest.mark.parametrize("ranks", [(1, 3), (2, 2), (3, 1), None], ids=str)
def test_sums_by_lines_are_those_of_columns(ranks: tuple[int, int] | None) -> None:
    bank = RNG.normal(size=(4, 5, 7))
    if ranks:
        outer, inner = (RNG.normal(size=(count, n)) for count, n in zip(ranks, (5, 7), strict=True))
        bank = np.array([np.outer(a, b) for a in outer for b in inner])
    columns = Columns(Lines.of_sheets(bank) or bank, (5, 7))
    assert columns.lines.outer.shape[1] == (5 if ranks else 1)
    a, p = RNG.normal(size=(3, len(bank))), RNG.normal(size=(3, 35))
    np.testing.assert_allclose(columns.columns, bank.reshape(len(bank), -1), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(columns.lines.along(a), a @ columns.columns, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(columns.lines.sums(p), p @ columns.columns.T, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("width", "within"), [(0.3, 1e-5), (5.0, 1e-2)])
def test_sums_of_smooth_functions_agree_at_few_frequencies(shape: tuple[int, ...], width: float, within: float) -> None:
    taps = kernels()[:4] if len(shape) == 2 else [np.array([1.0, 2, 1]), np.array([1.0, 0, -1])]
    bands = Bands(responses(taps, shape), shape)
    coarse = bands.coarse
    assert coarse is not None and coarse.count * 2 < bands.count
    power = RNG.random((2, bands.count)) ** 8
    a = np.linspace(1, 0.5, len(bands)) * np.array([1, -1])[np.arange(len(bands)) % 2]
    a *= width / np.ptp(a @ bands.columns)
    whole, few = (p @ np.exp(a @ w.columns) for p, w in [(power, bands), (coarse.gathered(power), coarse)])
    np.testing.assert_allclose(few, whole, rtol=within)


def test_all_frequencies_where_these_are_few_or_very_many() -> None:
    assert Bands(responses(kernels(), (32, 32)), (32, 32)).coarse is None
    assert Columns(np.ones((1, 5000)), (5000,)).coarse is None


@pytest.mark.parametrize("is_smooth", [True, False])
def test_a_start_does_not_change_the_answer(is_smooth: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eigenvalues that are smooth, and of others, for which it is no start."""
    shape = (160, 150)
    noise = RNG.normal(size=shape)
    smooth = noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))
    rows = np.stack([noise.ravel(), 50 * smooth.ravel()])
    bank = responses(kernels()[:5], shape)
    if not is_smooth:
        bank = bank * np.abs(np.fft.rfft2(RNG.normal(size=shape)))
    energies, plain = (Energies(Bands(bank, shape)) for _ in range(2))
    targets = energies.values(noise.reshape(1, -1))[0] * 1.1
    with_start = energies.normalize(rows, targets)
    assert energies.bands.coarse is not None
    monkeypatch.setattr(Columns, "coarse", None)
    np.testing.assert_allclose(plain.normalize(rows, targets).values, with_start.values, atol=1e-10)
    np.testing.assert_allclose(energies.values(with_start.values), [targets] * 2, rtol=1e-12)
