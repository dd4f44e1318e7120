"""How the spectral flow is written."""

from __future__ import annotations

import pytest

from symdecouple.errors import InvalidInput
from symdecouple.flows.spectral import SpectralFlow
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import variance

EDGE, SMOOTH = Filter([-1, 0, 1]), Filter([1, 2, 1])
ENERGIES = tuple(FeatureSet([Mean(SMOOTH(x) ** 2), Mean(EDGE(x) ** 2), Mean(x * shift(2)(x))]))


def test_text() -> None:
    flow = SpectralFlow(ENERGIES)
    assert flow.formula == ("ifft(exp((a1*abs(H1)**2 + a2*abs(H2)**2 + a3*w3)/2) * fft(x)), "
                            f"H1 the response of {SMOOTH}, H2 the response of {EDGE}, "
                            "w3 the weights of Mean(x*shift(2)(x))")
    assert flow.short(1) == ("ifft(exp((a1*abs(H1)**2 + a2*abs(H2)**2 + a3*w3)/2) * fft(x)), "
                             "w3 the weights of Mean(x*shift(2)(x))")
    long = SpectralFlow((*ENERGIES, ENERGIES[0]))
    assert long.short(1) == f"ifft(exp((a1*abs(H1)**2 + ... + a4*abs(H4)**2)/2) * fft(x)), H4 the response of {SMOOTH}"
    assert SpectralFlow(tuple(FeatureSet([Mean(x**2)]))).formula == "ifft(exp(a1/2) * fft(x))"
    mixed = tuple(FeatureSet([Mean(x), variance(), Mean(EDGE(x) ** 2)]))
    text = SpectralFlow(mixed, mean=True).formula
    assert text.startswith("v1 + ifft(exp((a1*w2 + a2*abs(H3)**2)/2) * fft(x - Mean(x)))")


def test_latex() -> None:
    text = SpectralFlow(ENERGIES[:1]).latex([2])
    assert text.startswith(r"N_{1}(x) = \mathcal{F}^{-1}\left[e^{\frac{1}{2}\left(a_{1} \left|H_{1}\right|^{2}\right)}")
    assert r"a_{1}:\ " in text
    assert r"\Big|_{N_{1}(x)} = 2" in text
    assert text.endswith(r"H_{1} = \mathcal{F} \left[1,2,1\right]_{1}")
    assert text.count("{") == text.count("}")
    assert SpectralFlow(ENERGIES).latex().count("v_{") == 3
    assert SpectralFlow(ENERGIES)._repr_latex_().startswith(r"$\displaystyle N_{3}(x)")


def test_after_the_mean_there_is_a_quadratic_feature() -> None:
    with pytest.raises(InvalidInput, match="after the mean"):
        SpectralFlow(tuple(FeatureSet([Mean(x)])), mean=True)
