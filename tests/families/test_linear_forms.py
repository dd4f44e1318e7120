"""Linear forms against explicit circular convolutions."""

import numpy as np
import pytest
from sympy import Rational, cos

from symdecouple.families.linear_forms import linear_form, response_of, split_forms
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x

H, G = Filter([1, -2, 4]), Filter([3, 1, 5], origin=0)


def signal() -> np.ndarray:
    return np.random.default_rng(5).normal(size=9)


@pytest.mark.parametrize(
    "expr",
    [x, H(x), 2 * H(x) - 3 * G(x), H(G(x) + x), shift(2)(x) - x, H(3 * shift(-1)(x)) / 7],
    ids=["signal", "filter", "sum", "chain", "shift", "scaled"],
)
def test_the_response_is_that_of_the_convolution(expr) -> None:
    def applied(e, v):
        if e == x:
            return v
        if hasattr(e, "filter"):
            return e.filter.apply(applied(e.argument, v))
        if e.is_Add:
            return sum(applied(a, v) for a in e.args)
        coefficient, rest = e.as_coeff_Mul()
        return float(coefficient) * applied(rest, v)

    form = linear_form(expr, x)
    v = signal()
    expected = applied(expr, v)
    found = np.fft.ifft(form.response((9,), half=False) * np.fft.fft(v)).real
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)
    half = np.fft.irfft(form.response((9,)) * np.fft.rfft(v), 9)
    assert half == pytest.approx(expected, rel=1e-13, abs=1e-13)
    delta = np.zeros(9)
    delta[0] = 1
    by_lags = sum(float(tap) * np.roll(delta, lag or 0) for lag, tap in form.lags().items())
    assert by_lags == pytest.approx(applied(expr, delta), abs=1e-14)


def test_constants_pass_through_the_gain_at_frequency_zero() -> None:
    form = linear_form(H(x - Mean(x) + 2) + 1, x)
    assert form.constant == 3 * (2 - Mean(x)) + 1


@pytest.mark.parametrize("expr", [H(x) ** 2, H(x**2), cos(x), x * H(x), Filter([1, 2, 1], boundary="zero")(x)],
                         ids=["square", "inside", "cosine", "product", "zero padding"])
def test_what_is_not_linear_is_none(expr) -> None:
    assert linear_form(expr, x) is None


def test_covariance_is_the_sum_over_lags() -> None:
    one, two = linear_form(H(x), x), linear_form(G(x), x)
    assert one.covariance(one) == 1 + 4 + 16
    assert one.covariance(two) == -2 * 3 + 4 * 1  # lags -1, 0, 1 of H, and 0, 1, 2 of G
    assert linear_form(H(G(x)), x).covariance(linear_form(x, x)) == -2 * 3 + 1 * 1


def test_covariance_of_frequency_responses_is_their_average() -> None:
    h = Filter.from_response([1.0, 2.0, 0.5, 2.0], name="r")
    found = linear_form(h(x), x)
    assert found.lags() is None
    assert float(found.covariance(found)) == pytest.approx((1 + 4 + 0.25 + 4) / 4, rel=1e-15)
    assert float(found.covariance(linear_form(x, x))) == pytest.approx(5.5 / 4, rel=1e-15)


def test_a_function_of_forms_is_split() -> None:
    function, forms = split_forms(H(x) ** 2 * x + cos(H(x)), x)
    assert len(forms) == 2
    assert function.xreplace({y: Rational(k + 2) for k, y in enumerate(forms)}).is_number
    assert split_forms(H(x**2) ** 2, x) is None


def test_response_in_two_dimensions() -> None:
    h = Filter([1, 2, -1]).outer(Filter([0, 1, 3]))
    image = np.random.default_rng(2).normal(size=(6, 5))
    found = np.fft.ifft2(response_of(h, (6, 5)) * np.fft.fft2(image)).real
    expected = sum(t * np.roll(image, (i, j), axis=(0, 1)) for i, a in zip((-1, 0, 1), (1, 2, -1), strict=True)
                   for j, b in zip((-1, 0, 1), (0, 1, 3), strict=True) if (t := a * b))
    assert found == pytest.approx(expected, abs=1e-13)
