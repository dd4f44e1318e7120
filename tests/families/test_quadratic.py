"""Quadratic features: their recognition, and their weights against explicit averages."""

from typing import Any

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.moments import raw_moments
from symdecouple.families.quadratic import autocorrelation, recognize_quadratic, second_order_moments
from symdecouple.families.tils import tils
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import variance

H, G = Filter([1, -2, 4]), Filter([3, 1, 5], origin=0)

FEATURES = {
    "energy": (Mean(H(x) ** 2), lambda v, h, g: (h**2).mean()),
    "lag": (Mean(x * shift(3)(x)), lambda v, h, g: (v * np.roll(v, 3)).mean()),
    "cross": (Mean(H(x) * G(x)), lambda v, h, g: (h * g).mean()),
    "second moment": (Mean(x**2), lambda v, h, g: (v**2).mean()),
    "variance": (variance(), lambda v, h, g: v.var()),
    "variance of a band": (Mean((H(x) - Mean(H(x))) ** 2), lambda v, h, g: h.var()),
    "covariance": (Mean(H(x) * G(x)) - Mean(H(x)) * Mean(G(x)), lambda v, h, g: np.cov(h, g, bias=True)[0, 1]),
    "combination": (3 - 2 * Mean(H(x) ** 2) + Mean((x - G(x)) ** 2) / 5,
                    lambda v, h, g: 3 - 2 * (h**2).mean() + ((v - g) ** 2).mean() / 5),
    "chain": (Mean(H(G(x)) ** 2), lambda v, h, g: (H.apply(g) ** 2).mean()),
}


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("n", [7, 8])
def test_weights_give_the_feature(name: str, n: int) -> None:
    expr, by_hand = FEATURES[name]
    forms = recognize_quadratic(FeatureSet([expr, Mean(Filter([1, 1, 2])(x) ** 2)]))
    v = np.random.default_rng(n).normal(size=n) + 1.5
    half = np.abs(np.fft.rfft(v)) ** 2 / n**2
    twice = np.full(len(half), 2.0)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    found = float(forms.constants[0]) + (forms.weights((n,))[0] * half * twice).sum()
    assert found == pytest.approx(by_hand(v, H.apply(v), G.apply(v)), rel=1e-12)


def test_a_first_feature_may_be_the_mean() -> None:
    forms = recognize_quadratic(FeatureSet([2 * Mean(H(x)) + 1, variance(), Mean(H(x) ** 2)]))
    assert forms.mean == (6, 1)
    assert len(forms) == 3


@pytest.mark.parametrize("features, count", [
    ([Mean(H(x) ** 2), Mean(H(x) ** 4)], 1),
    ([Mean(H(x) ** 2), Mean(x)], 1),
    ([Mean(H(x) ** 2), Mean(H(x) ** 2) / Mean(x**2)], 1),
    ([Mean(H(x) ** 2), Mean(G(x) ** 2) + Mean(x)], 1),
    ([Mean(Filter([1, 2, 1], boundary="zero")(x) ** 2), Mean(x**2)], None),
    ([Mean(H(x) ** 3), Mean(x**2)], None),
], ids=["fourth", "late mean", "ratio", "mean added", "zero padding", "third"])
def test_recognition_stops_where_features_are_not_quadratic(features, count) -> None:
    found = recognize_quadratic(FeatureSet(features))
    assert found is None if count is None else len(found) == count


def test_moments_without_filters_are_left_to_the_moments() -> None:
    assert recognize_quadratic(raw_moments(3)) is None


def test_tils_energies_are_recognized_in_two_dimensions() -> None:
    bank = tils()
    forms = recognize_quadratic(second_order_moments(bank))
    assert forms.weights((6, 5)) == pytest.approx(np.abs(bank.responses((6, 5)))[..., :3] ** 2, abs=1e-13)


def test_autocorrelation_in_two_dimensions() -> None:
    forms = recognize_quadratic(autocorrelation([(0, 1), (2, 0)]))
    rows, columns = np.meshgrid(np.arange(6), np.arange(3), indexing="ij")
    assert forms.weights((6, 5))[0] == pytest.approx(np.cos(2 * np.pi * columns / 5), abs=1e-13)
    assert forms.weights((6, 5))[1] == pytest.approx(np.cos(4 * np.pi * rows / 6), abs=1e-13)


def test_frequency_responses_are_energies_too() -> None:
    bank = FilterBank.from_responses([[1.0, 2.0, 0.5, 2.0], [0.0, 1.0, 1.0, 1.0]])
    assert recognize_quadratic(second_order_moments(bank)).weights((4,)) == pytest.approx(
        np.array([[1, 4, 0.25], [0, 1, 1]]), abs=1e-14)


@pytest.mark.parametrize("made, names", [
    (lambda: second_order_moments(tils(1)), ("l", "m", "h")),
    (lambda: second_order_moments([[1, 1, 1], [1, 0, -1]]), ("h1", "h2")),
    (lambda: autocorrelation([0, 3, -1]), ("lag_0", "lag_3", "lag_-1")),
    (lambda: autocorrelation([(0, 1), (2, 0)]), ("lag_0_1", "lag_2_0")),
    (lambda: filter_moments(tils(1), [2]), ("l", "m", "h")),
    (lambda: filter_moments(tils(1, low=False), [2, 4]), ("m_2", "h_2", "m_4", "h_4")),
])
def test_features_of_bands_and_lags_have_short_names(made: Any, names: tuple[str, ...]) -> None:
    assert made().names == names


@pytest.mark.parametrize("call, said", [
    (lambda: autocorrelation(3), r"write autocorrelation\(\[3\]\)"),
    (lambda: second_order_moments(3), "list of filters"),
    (lambda: filter_moments(tils(), 2), r"such as \[2, 3\], got 2"), (lambda: FilterBank(None), "list of filters"),
])
def test_one_number_for_a_list(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()
