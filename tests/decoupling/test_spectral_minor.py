"""Weights, powers and minors in a spectrum: enclosed, and against transforms and samples of that spectrum in NumPy."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Expr, Rational, S, besselj, exp, sqrt

from symdecouple import FeatureSet, Filter, FilterBank, Mean, UnsupportedExpression, variance, x
from symdecouple.calculus.elementary import World
from symdecouple.decoupling.verdicts.spectral_minor import (
    EnclosedSpectrum,
    classes_of,
    have_taps,
    size_without_wrapping,
)
from symdecouple.families.quadratic import autocorrelation, recognize_quadratic, second_order_moments
from symdecouple.numeric.features.expressions import Compiled

TAPS = ([1, 1, 1], [-1, 0, 1], [1, -3, 4])
BANK = second_order_moments(FilterBank(list(TAPS)))
WITH_MEAN = FeatureSet([3 * Mean(x) - 2, 2 * variance() + 1, Mean(Filter([-1, 2, -1])(x) ** 2),
                        Mean(Filter([1, 2, 3])(x) ** 2)])
IMAGES = second_order_moments([Filter([[1, 2], [0, -1]], origin=(0, 0)), Filter([[1, -1]], origin=(0, 0))])


def middles(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    return np.array([[float(v.mid) for v in row] for row in rows])


def enclosed(features: FeatureSet, grid: tuple[int, ...], references: list[Expr], pivots: list[int], seed: int = 0,
             digits: int = 40) -> EnclosedSpectrum:
    forms = recognize_quadratic(features)
    rng = np.random.default_rng(seed)
    powers = [Fraction(int(p), 1000) for p in rng.integers(1, 100, len(classes_of(grid, forms)))]
    return EnclosedSpectrum(features, grid, references, powers, pivots, World(digits))


def a_sample(found: EnclosedSpectrum, mean: float) -> np.ndarray:
    """A sample of the powers of `found`, with random phases, and a mean where that is apart."""
    rng, size = np.random.default_rng(5), np.prod(found.grid)
    phases = np.fft.fftn(rng.normal(size=found.grid))
    spectrum = phases / abs(phases)
    for (xi, _), power in zip(classes_of(found.grid, found.forms), found.powers, strict=True):
        for at in {xi, tuple(-f % n for f, n in zip(xi, found.grid, strict=True))}:
            spectrum[at] *= size * float(power.mid) ** 0.5
    if found.forms.mean is not None:
        spectrum[(0,) * len(found.grid)] = size * mean
    sample = np.fft.ifftn(spectrum)
    assert abs(sample.imag).max() < 1e-12
    return sample.real


@pytest.mark.parametrize(("features", "grid", "references", "pivots"), [
    (BANK, (9,), [S(3), S(2)], [1, 3]),
    (WITH_MEAN, (11,), [S(4), S(9), S(5)], [0, 4]),
    (IMAGES, (4, 5), [S(8)], [7]),
], ids=["filters", "mean and variance", "images"])
def test_a_sample_of_that_spectrum_has_the_references(features: FeatureSet, grid: tuple[int, ...],
                                                      references: list[Expr], pivots: list[int]) -> None:
    found = enclosed(features, grid, references, pivots)
    assert found.least.a > 0 and all(float(p.delta) < 1e-30 for p in found.powers)
    sample = a_sample(found, mean=2)  # 3 * 2 - 2 = 4
    values = Compiled([f.expr for f in features], x).on(grid)(sample.reshape(1, -1))
    assert [v.item() for v in values[: len(references)]] == pytest.approx(list(map(float, references)), rel=1e-12)


def test_the_weights_of_autocorrelations_are_cosines() -> None:
    found = enclosed(autocorrelation([0, (1, 2)]), (3, 4), [], [])
    phases = [2 * np.pi * (a / 3 + 2 * b / 4) for (a, b), _ in classes_of(found.grid, found.forms)]
    assert middles(found.weights) == pytest.approx(np.array([np.ones(len(phases)), np.cos(phases)]), abs=1e-15)
    assert sum(found.counts) == 12


def test_minors_against_least_squares() -> None:
    found = enclosed(BANK, (9,), [S(3), S(2)], [1, 3])
    w, masses = middles(found.weights), np.array(found.counts) * middles([found.powers])[0]
    apart = []
    for k, before in ((1, 1), (2, 2)):
        root = np.sqrt(masses)
        apart.append(w[k] - w[:before].T @ np.linalg.lstsq((w[:before] * root).T, w[k] * root, rcond=None)[0])
        assert middles([found.apart(k, before)])[0] == pytest.approx(apart[-1], abs=1e-12)
    rows = [0, 2, 3, 4]
    minor = found.minor((1, 1), (2, 2), rows)
    assert float(minor.mid) == pytest.approx(np.linalg.det(np.vstack([w, apart[0] * apart[1]])[:, rows]), rel=1e-10)
    assert float(minor.delta) < 1e-28


@pytest.mark.parametrize("constant", [1 + exp(-40), sqrt(2), Rational(1, 3) + sqrt(3) / 10**19, exp(-50)], ids=str)
def test_constants_that_are_near_simple_ones_are_themselves(constant: Expr) -> None:
    features = FeatureSet([Mean(constant * Filter([1, 0, -1])(x) ** 2)])
    found = enclosed(features, (5,), [], [])
    with mpmath.workdps(80):
        expected = mpmath.mpf(str(constant.evalf(70))) * (2 - 2 * mpmath.cos(4 * mpmath.pi / 5))
        low, high = (mpmath.mpf(end) for end in (found.weights[0][1].a, found.weights[0][1].b))
        assert low <= expected <= high and high - low < expected * mpmath.mpf(10) ** -35


def test_equations_that_are_dependent() -> None:
    twice = second_order_moments([[1, 1, 1], [2, 2, 2]])
    with pytest.raises(ZeroDivisionError, match="dependent"):
        enclosed(twice, (7,), [S(1), S(4)], [0, 1])


def test_a_constant_that_has_no_enclosure_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="besselj"):
        enclosed(BANK, (9,), [besselj(0, S(1))], [1])


def test_which_sizes_and_filters() -> None:
    assert size_without_wrapping(recognize_quadratic(BANK), 3) == (9,)
    assert size_without_wrapping(recognize_quadratic(autocorrelation([0, 7])), 2) == (15,)
    assert size_without_wrapping(recognize_quadratic(IMAGES), 2) == (4, 4)
    assert have_taps(recognize_quadratic(BANK))
    assert not have_taps(recognize_quadratic(second_order_moments(FilterBank.from_responses([[0, 1, 2, 1]]))))
