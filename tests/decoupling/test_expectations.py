"""Expectations of filtered white noise against sums over taps, quadrature, and long simulated noise."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from sympy import cos, exp, sqrt

from symdecouple import FeatureSet, Filter, InvalidInput, Mean, UnsupportedExpression, shift, x
from symdecouple.decoupling.expectations import white_expectation
from symdecouple.decoupling.reference import reference_values
from symdecouple.families import filter_moments, tils

H, G = Filter([1, -2, 4]), Filter([3, 1, 5], origin=0)
DOUBLE_FACTORIAL = {0: 1, 2: 1, 4: 3, 6: 15, 8: 105}


def by_taps(*filters: Filter) -> float:
    """E of a product of filter outputs: the moments of independent normal numbers, tap by tap."""
    total = 0
    for lags in product(*(h.lags.items() for h in filters)):
        counts = [sum(lag == other for lag, _ in lags) for other in {lag for lag, _ in lags}]
        if all(c % 2 == 0 for c in counts):
            total += np.prod([float(tap) for _, tap in lags]) * np.prod([DOUBLE_FACTORIAL[c] for c in counts])
    return float(total)


@pytest.mark.parametrize("filters", [(H, H), (H, G), (H, H, G, G), (H, G, G, G), (H,) * 6, (H, H, G)],
                         ids=lambda f: f"{f.count(H)}{f.count(G)}")
def test_polynomials(filters) -> None:
    body = 1
    for h in filters:
        body *= h(x)
    assert float(white_expectation(body, x)) == pytest.approx(by_taps(*filters), rel=1e-15)


def test_a_function_of_one_output_is_one_integral() -> None:
    spread = np.sqrt(21)
    expected, _ = quad(lambda z: np.log(np.cosh(spread * z)) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi), -12, 12)
    from sympy import cosh, log

    assert float(white_expectation(log(cosh(H(x))), x)) == pytest.approx(expected, rel=1e-10)
    assert white_expectation(cos(H(x)), x) == exp(-sqrt(21) ** 2 / 2)


def test_sums_and_constants() -> None:
    found = white_expectation((H(x) - 1) ** 2 + 3 * x * shift(2)(x) + 5, x)
    assert found == 21 + 1 + 5


def test_references_of_the_source() -> None:
    assert reference_values(filter_moments(tils(), (2, 3, 4, 6)), "white") == (1,) * 9 + (0,) * 9 + (3,) * 9 + (15,) * 9
    features = FeatureSet([Mean(x), Mean(H(x) ** 2) - Mean(H(x)) ** 2, Mean(H(x) ** 4) / Mean(H(x) ** 2) ** 2])
    assert reference_values(features, "gaussian") == (0, 21, 3)


def test_long_noise_comes_close() -> None:
    noise = np.random.default_rng(0).normal(size=400_000)
    h, g = H.apply(noise), G.apply(noise)
    found = float(white_expectation(H(x) ** 2 * G(x) ** 2, x))
    assert np.mean(h**2 * g**2) == pytest.approx(found, rel=0.02)


def test_what_has_no_one_expectation_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="circular"):
        white_expectation(Filter([1, 2, 1], boundary="zero")(x) ** 2, x)
    with pytest.raises(UnsupportedExpression, match="independent"):
        white_expectation(cos(H(x)) * G(x), x)
    with pytest.raises(InvalidInput, match="bound to taps"):
        white_expectation(Filter("h")(x) ** 2, x)
