"""Filter banks: declaration, the TILs bank, wavelets, frequency responses."""

import numpy as np
import pytest
from sympy import Rational, sqrt

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank
from symdecouple.families.filter_moments import filter_moments, recognize_filter_moments
from symdecouple.families.tils import tils
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x


def test_tils_is_a_parseval_frame_whose_kernels_have_one_energy() -> None:
    frame = tils(normalized=False)
    assert len(frame) == 9
    assert set(frame.energies) == {Rational(1, 9)}
    assert (np.abs(frame.responses((8, 7))) ** 2).sum(axis=0) == pytest.approx(np.ones((8, 7)), rel=1e-14)
    assert set(tils().energies) == {1}
    assert tils(3).energies == (1,) * 27
    assert tils(1, normalized=False).dc == (1, 0, 0)


def test_tils_kernels_are_the_tensor_products_of_their_definition() -> None:
    image = np.random.default_rng(0).normal(size=(5, 6))
    low, high = np.array([1, 1, 1]) / 3, np.array([-1, 2, -1]) / np.sqrt(18)
    expected = sum(3 * a * b * np.roll(image, (i, j), axis=(0, 1)) for i, a in zip((-1, 0, 1), low, strict=True)
                   for j, b in zip((-1, 0, 1), high, strict=True))
    bank = tils()
    assert bank["lh"].apply(image) == pytest.approx(expected, abs=1e-14)
    assert bank.apply(image)[2] == pytest.approx(expected, abs=1e-14)
    assert "ll" not in tils(low=False).names
    assert tils(low=False).dc == (0,) * 8


@pytest.mark.parametrize("ndim", [0, 7, True, 2.0])
def test_tils_refuses_other_dimensions(ndim) -> None:
    with pytest.raises(InvalidInput, match="ndim"):
        tils(ndim)


@pytest.mark.parametrize("filters, names, match", [
    ([], None, "at least one"),
    ([[1, 2, 1], [[1, 2, 1]]], None, "number of dimensions"),
    ([[1, 2, 1], [1, 0, -1]], ["a"], "different names"),
    ([[1, 2, 1], [1, 0, -1]], ["a", "a"], "different names"),
], ids=["none", "dimensions", "few names", "equal names"])
def test_banks_that_are_none(filters, names, match) -> None:
    with pytest.raises(InvalidInput, match=match):
        FilterBank(filters, names)


def test_a_band_is_found_by_name_and_number() -> None:
    bank = FilterBank([Filter("h"), [1, 2, 1]])
    assert bank.names == ("h", "h2")
    assert bank["h2"] == bank[1] == Filter([1, 2, 1])
    with pytest.raises(InvalidInput, match="no band is named 'x'"):
        bank["x"]


def test_normalized_taps_have_energy_one() -> None:
    assert FilterBank([[1, 2, 3]]).normalized()[0] == Filter([1 / sqrt(14), 2 / sqrt(14), 3 / sqrt(14)])


def test_responses_give_filters() -> None:
    rng = np.random.default_rng(1)
    kernels = rng.normal(size=(2, 6))
    bank = FilterBank.from_responses(np.fft.fft(kernels))
    signal = rng.normal(size=6)
    expected = np.fft.ifft(np.fft.fft(kernels) * np.fft.fft(signal)).real
    assert bank.apply(signal) == pytest.approx(expected, abs=1e-14)
    assert [float(e) for e in bank.energies] == pytest.approx((kernels**2).sum(axis=1), rel=1e-14)
    with pytest.raises(InvalidInput, match="one response for each band"):
        FilterBank.from_responses([1.0, 2.0])


class Daubechies:  # the four taps of db2, without PyWavelets
    r = np.sqrt(3)
    dec_lo = np.array([1 - r, 3 - r, 3 + r, 1 + r]) / (4 * np.sqrt(2))
    dec_hi = dec_lo[::-1] * [-1, 1, -1, 1]


@pytest.mark.parametrize("levels, ndim, names", [
    (1, 1, ["a1", "d1"]),
    (3, 1, ["a3", "d3", "d2", "d1"]),
    (2, 2, ["aa2", "ad2", "da2", "dd2", "ad1", "da1", "dd1"]),
])
def test_undecimated_orthogonal_wavelets_are_parseval(levels, ndim, names) -> None:
    bank = FilterBank.from_wavelet(Daubechies, levels, ndim)
    assert list(bank.names) == names
    shape = (32,) * ndim
    assert (np.abs(bank.responses(shape)) ** 2).sum(axis=0) == pytest.approx(np.ones(shape), rel=1e-12)
    assert float(bank.dc[0]) == pytest.approx(1, rel=1e-14)


def test_wavelets_by_name_are_those_of_pywavelets() -> None:
    pywt = pytest.importorskip("pywt")
    bank = FilterBank.from_wavelet("db3", 2)
    signal = np.random.default_rng(3).normal(size=64)
    (a2, d2), (_, d1) = pywt.swt(signal, "db3", level=2, norm=True)
    for name, expected in (("a2", a2), ("d2", d2), ("d1", d1)):
        found = bank[name].apply(signal)
        lag = int(np.argmax(np.abs(np.fft.ifft(np.fft.fft(expected) * np.conj(np.fft.fft(found))).real)))
        assert np.roll(found, lag) == pytest.approx(expected, abs=1e-12), name
    with pytest.raises(InvalidInput, match="no discrete wavelet"):
        FilterBank.from_wavelet("nothing")


def test_what_is_no_wavelet_is_refused() -> None:
    with pytest.raises(InvalidInput, match="decomposition filters"):
        FilterBank.from_wavelet(3)
    with pytest.raises(InvalidInput, match="levels"):
        FilterBank.from_wavelet(Daubechies, 0)


def test_filter_moments_come_order_by_order() -> None:
    features = filter_moments(tils(), (2, 3, 4, 5, 6))
    assert len(features) == 45
    assert str(features[0]).endswith("**2)") and str(features[9]).endswith("**3)")


@pytest.mark.parametrize("orders", [[], [2, 2], [0], [2.5], [True]], ids=str)
def test_orders_that_are_none(orders) -> None:
    with pytest.raises(InvalidInput, match="orders are different whole numbers"):
        filter_moments([[1, 2, 1]], orders)


def test_the_mean_of_a_band_without_gain_at_zero_is_no_feature() -> None:
    with pytest.raises(InvalidInput, match="h2"):
        filter_moments([[1, 2, 1], [1, 0, -1]], [1, 2])


def test_filter_moments_are_recognized_by_their_lines() -> None:
    found = recognize_filter_moments(filter_moments(tils(), (2, 4)))
    assert found.index == tuple(range(9)) * 2
    assert found.powers == (2,) * 9 + (4,) * 9
    image = np.random.default_rng(0).normal(size=(6, 7))
    for lines, h in zip(found.bands, tils(), strict=True):
        assert lines[1].apply(lines[0].apply(image, axis=0), axis=1) == pytest.approx(h.apply(image), abs=1e-13)


@pytest.mark.parametrize("expr, gain", [
    (3 * Mean(Filter([1, 2, 1])(2 * x) ** 3), 24),
    (Mean(x**2), 1),
    (Mean((Filter([1, 2, 1])(x) - Mean(x)) ** 2), None),
    (Mean(Filter([1, 2, 1], boundary="zero")(x) ** 2), None),
    (Mean(x * Filter([1, 2, 1])(x)), None),
    (Mean(Filter("h")(x) ** 2), None),
], ids=["gain", "signal", "central", "zero padding", "product", "no taps"])
def test_which_features_are_moments_of_filter_outputs(expr, gain) -> None:
    found = recognize_filter_moments(FeatureSet([expr]))
    assert found is None if gain is None else found.gains == (gain,)
