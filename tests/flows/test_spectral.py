"""The spectral flow: its generators, its group, and how it is written."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

from symdecouple.errors import InvalidInput
from symdecouple.flows.spectral import SpectralFlow
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import variance

Array = NDArray[np.float64]
RNG = np.random.default_rng(2)
EDGE, SMOOTH = Filter([-1, 0, 1]), Filter([1, 2, 1])
ENERGIES = tuple(FeatureSet([Mean(SMOOTH(x) ** 2), Mean(EDGE(x) ** 2), Mean(x * shift(2)(x))]))


def weights(n: int) -> Array:
    angle = 2 * np.pi * np.arange(n // 2 + 1) / n
    return np.array([(2 + 2 * np.cos(angle)) ** 2, 4 * np.sin(angle) ** 2, np.cos(2 * angle)])


def matrices(n: int) -> list[Array]:
    """A_j from the taps, without a transform."""
    units = np.eye(n)
    outputs = [np.array([h.apply(u) for u in units]).T for h in (SMOOTH, EDGE)]
    lag = np.roll(units, 2, axis=0)
    return [outputs[0].T @ outputs[0], outputs[1].T @ outputs[1], (lag + lag.T) / 2]


@pytest.mark.parametrize("n", [7, 8])
def test_it_is_the_exponential_of_the_matrices(n: int) -> None:
    """In any order, for they commute."""
    flow, row, a = SpectralFlow(ENERGIES), RNG.normal(size=n), np.array([0.3, -0.2, 0.5])
    factors = [expm(t / 2 * m) for t, m in zip(a, matrices(n), strict=True)]
    np.testing.assert_allclose(flow.apply(row, a, weights(n)), factors[2] @ factors[0] @ factors[1] @ row, rtol=1e-12)


def test_images_and_batches() -> None:
    flow = SpectralFlow(tuple(FeatureSet([Mean(x**2)])))
    stack = RNG.normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(flow.apply(stack, [np.log(4)], np.ones((1, 4, 3))), 2 * stack, atol=1e-14)


def test_the_mean_is_set_apart() -> None:
    flow = SpectralFlow(tuple(FeatureSet([Mean(x), Mean(SMOOTH(x) ** 2)])), mean=True)
    row = RNG.normal(size=8) + 3
    moved = flow.apply(row, [0.4], weights(8)[:1], v1=-1.0)
    assert moved.mean() == pytest.approx(-1, abs=1e-14)
    expected = expm(0.2 * matrices(8)[0]) @ (row - row.mean()) - 1
    np.testing.assert_allclose(moved, expected, atol=1e-13)


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


@pytest.mark.parametrize(
    ("row", "a", "given"),
    [(np.ones(8), [1.0, 2.0], weights(8)), (np.ones(8), [1.0, 2.0, 3.0], weights(10)),
     (np.ones(8), [1.0, 2.0], weights(8)[:2]), (np.float64(3), [1.0, 2.0, 3.0], weights(8))],
    ids=["parameters", "size", "features", "number"],
)
def test_calls_that_make_no_sense(row: Array, a: list[float], given: Array) -> None:
    with pytest.raises(InvalidInput):
        SpectralFlow(ENERGIES).apply(row, a, given)
    with pytest.raises(InvalidInput, match="after the mean"):
        SpectralFlow(tuple(FeatureSet([Mean(x)])), mean=True)
