"""Filtered features on arrays, against sums over samples written out, exact jets, and adjointness."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.ndimage import convolve
from sympy import Expr, Symbol, cosh, exp, log, sin, tanh

from symdecouple import Feature, FeatureSet, Filter, InvalidInput, Mean, shift, x
from symdecouple.calculus.elementary import World
from symdecouple.calculus.jets import Point, field_at
from symdecouple.numeric.features.coordinates import CompiledCoordinates
from symdecouple.numeric.features.expressions import Compiled, as_multiprecision, average
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.numeric.features.filtering import filtered
from tests.numeric.features.along import derivative

H, G = Filter([1, -2, 3]), Filter([2, 5], origin=0)  # neither is its own adjoint
DATA = np.random.default_rng(3).normal(size=(3, 9))
TAPS = np.array([3.0, -1, 0, 0.5, 0, 0, 0, 0, 2])
RESPONSE = Filter.from_response(np.fft.fft(TAPS), name="r")


def by_hand(taps: dict[int, float], row: Any) -> Any:
    """(h(x))_n = sum_k h_k x_{n-k}, circular, written out."""
    n = len(row)
    return np.array([sum(tap * row[(i - k) % n] for k, tap in taps.items()) for i in range(n)])


def h(row: Any) -> Any:
    return by_hand({-1: 1, 0: -2, 1: 3}, row)


def g(row: Any) -> Any:
    return by_hand({0: 2, 1: 5}, row)


FORMULAS: list[tuple[Expr, Any]] = [
    (Mean(H(x) ** 4), lambda v: (h(v) ** 4).mean()),
    (Mean(H(x) * G(x)), lambda v: (h(v) * g(v)).mean()),
    (Mean(x * shift(2)(x)), lambda v: np.mean([v[i] * v[i - 2] for i in range(len(v))])),
    (Mean(H(x**2 - Mean(x**2)) ** 2), lambda v: (h(v**2 - (v**2).mean()) ** 2).mean()),
    (Mean(H(G(x) ** 3) * x), lambda v: (h(g(v) ** 3) * v).mean()),
    (Mean((x + H(Mean(G(x) ** 2) * x)) ** 3) / Mean(H(x) ** 2),
     lambda v: ((v + h((g(v) ** 2).mean() * v)) ** 3).mean() / (h(v) ** 2).mean()),
]
NAMES = [str(expr) for expr, _ in FORMULAS]


@pytest.mark.parametrize(("expr", "formula"), FORMULAS, ids=NAMES)
def test_values_against_sums_written_out(expr: Expr, formula: Any) -> None:
    compiled = Compiled([expr], x)
    assert compiled.pointwise == (False,)
    np.testing.assert_allclose(compiled(DATA)[0][:, 0], [formula(row) for row in DATA], rtol=1e-13)
    assert compiled(DATA[1])[0].shape == (1,)


@pytest.mark.parametrize("expr", [expr for expr, _ in FORMULAS], ids=NAMES)
def test_exact_jets_give_the_same_fractions(expr: Expr) -> None:
    """Values, gradients and Hessians by second-order jets in explicit coordinates, equal and not nearly so."""
    row = [Fraction(v) for v in ("1/2", "-3", "2/3", "5", "-1/4")]
    point = Point(row, {}, World())
    gradient, hessian = field_at(Feature(expr), point)
    features, rows = CompiledFeatures(FeatureSet([expr])), np.array([row], dtype=object)
    assert features.values(rows)[0, 0] == point.jet(expr).value
    assert features.gradients(rows)[0, 0].tolist() == gradient
    for i in range(5):
        weight = np.array([[[Fraction(int(i == j)) for j in range(5)]]], dtype=object)
        assert features.curvature(rows, weight)[0].tolist() == [hessian[i].get(j, 0) for j in range(5)]


@pytest.mark.parametrize("expr", [*(expr for expr, _ in FORMULAS), H(x), x * G(tanh(H(x))), Mean(H(x) ** 2) * G(x),
                                  Mean(log(cosh(H(x - Mean(x))))), Mean(RESPONSE(x) ** 3) * RESPONSE.adjoint(x**2),
                                  Mean(exp(Mean(x * Mean(x**2)) * x)), x * Mean(x**2) - Mean(x), sin(x)], ids=str)
def test_a_pullback_is_the_transpose_of_the_derivative(expr: Expr) -> None:
    rng = np.random.default_rng(4)
    values, direction, weight = rng.normal(size=(3, 4, 9))
    function = Compiled([expr, Mean(G(x) ** 2)], x)
    weights = [weight if function.pointwise[0] else weight[:, :1], weight[:, 1:2]]
    pulled, along = function.pullback(values, weights), derivative(function, values, direction)
    expected = sum(average(w * d, d.shape) for w, d in zip(weights, along, strict=True))
    np.testing.assert_allclose(average(pulled * direction, values.shape), expected, rtol=1e-12, atol=1e-12)


def test_filters_are_evaluated_once_and_innermost_first() -> None:
    function = Compiled([Mean(H(x) ** 4), Mean(H(x) ** 2) * H(x), Mean(H(G(x)))], x)
    assert len(function._steps) == 6  # H(x) and its two averages, G(x), H(G(x)) and its average
    assert function.pointwise == (False, True, False)
    np.testing.assert_allclose(function(DATA)[2][:, 0], 14 * DATA.mean(axis=1), rtol=1e-12)


def test_many_fields_at_the_same_samples() -> None:
    function = Compiled([Mean(H(x) ** 3), G(x) ** 2], x)
    directions = np.random.default_rng(5).normal(size=(4, *DATA.shape))
    weights = [directions[..., :1], directions]
    pulled = function.pullback(DATA, weights)
    for i in range(len(directions)):
        np.testing.assert_array_equal(pulled[i], function.pullback(DATA, [w[i] for w in weights]))


def test_decimal_taps_have_all_digits() -> None:
    decimal = Filter([0.1, 0.2, 0.7])
    with mpmath.workdps(40):
        (found,) = Compiled([decimal(x)], x)(as_multiprecision([1, 10, 100, 1000]))
        expected = [mpmath.mpf(n) / 10 for n in (10 + 2 + 7000, 100 + 20 + 7, 1000 + 200 + 70, 1 + 2000 + 700)]
        assert max(abs(found - expected)) < mpmath.mpf(10) ** -36


# --- frequency responses ---


def test_a_frequency_response_against_its_taps() -> None:
    taps = dict(enumerate(TAPS))
    filters = (Mean(RESPONSE(x) ** 2), RESPONSE(x), RESPONSE.adjoint(x), RESPONSE.dc * Mean(x**2))
    found = Compiled(filters, x)(DATA)
    for i, row in enumerate(DATA):
        np.testing.assert_allclose(found[1][i], by_hand(taps, row), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(found[2][i], by_hand({-k: v for k, v in taps.items()}, row), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found[3][:, 0], 4.5 * (DATA**2).mean(axis=1), rtol=1e-14)
    with mpmath.workdps(30):
        precise = Compiled(filters, x)(as_multiprecision(DATA))
    for one, other in zip(found, precise, strict=True):
        np.testing.assert_allclose(one, other.astype(float), rtol=1e-13, atol=1e-13)


def test_a_response_has_one_size() -> None:
    compiled = Compiled([Mean(RESPONSE(x) ** 2)], x)
    for rows in (DATA[:, :8], as_multiprecision(DATA[:, :8])):
        with pytest.raises(InvalidInput, match=r"9 frequencies, the samples have size 8"):
            compiled(rows)


def test_a_response_on_a_plane() -> None:
    taps = np.zeros((3, 4))
    taps[0, :2], taps[2, 3] = [3, -1], 0.5
    plane = Filter.from_response(np.fft.fftn(taps), name="p")
    rows, grid = np.random.default_rng(6).normal(size=(2, 12)), (3, 4)
    for h, kernel in ((plane, taps), (plane.adjoint, np.roll(np.flip(taps), 1, axis=(0, 1)))):
        expected = [sum(kernel[i, j] * np.roll(row.reshape(grid), (i, j), axis=(0, 1)) for i in range(3)
                        for j in range(4)).ravel() for row in rows]
        np.testing.assert_allclose(filtered(h, rows, grid), expected, rtol=1e-12, atol=1e-13)
        with mpmath.workdps(30):
            precise = filtered(h, as_multiprecision(rows), grid)
        np.testing.assert_allclose(precise.astype(float), expected, rtol=1e-12, atol=1e-13)


# --- other boundaries, more dimensions ---

BOUNDARIES = {"circular": "wrap", "zero": "constant", "half-sample": "reflect", "whole-sample": "mirror"}
LINE = {boundary: Filter([1, -2, 4], boundary=boundary) for boundary in BOUNDARIES}
PLANE = {boundary: Filter([[1, -2, 4], [0, 3, 1], [2, 0, 5]], boundary=boundary) for boundary in BOUNDARIES}
KERNEL = np.array([[1.0, -2, 4], [0, 3, 1], [2, 0, 5]])


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_planes_against_scipy(boundary: str) -> None:
    rows, grid = np.random.default_rng(14).normal(size=(3, 20)), (4, 5)
    h = PLANE[boundary]
    found = Compiled([Mean(h(x) ** 3), h(x * Mean(h(x) ** 2))], x).on(grid)(rows)
    for i, row in enumerate(rows):
        image = convolve(row.reshape(grid), KERNEL, mode=BOUNDARIES[boundary])
        assert found[0][i, 0] == pytest.approx((image**3).mean(), rel=1e-13)
        np.testing.assert_allclose(found[1][i], (image * (image**2).mean()).ravel(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("grid", [(4,), (2, 3)], ids=str)
def test_features_against_the_same_in_coordinates(boundary: str, grid: tuple[int, ...]) -> None:
    """Values, gradients and Hessians of averages written out over exact matrices, in float64 and 30 digits."""
    h = (LINE if len(grid) == 1 else PLANE)[boundary]
    nested = Mean(h(h.adjoint(x) ** 2) * x) if len(grid) == 1 else Mean(h.adjoint(x) * h(x))
    features = FeatureSet([Mean(h(x) ** 3), nested, Mean(h(x - Mean(x)) ** 2)] if len(grid) == 1 else [nested])
    ours, theirs = CompiledFeatures(features).on(grid), CompiledCoordinates(features.at(n_samples=grid))
    n, m = int(np.prod(grid)), len(features)
    rows, weights = np.random.default_rng(15).normal(size=(2, n)), np.random.default_rng(16).normal(size=(2, m, n))
    with mpmath.workdps(30):
        y, w = as_multiprecision(rows), as_multiprecision(weights)
        for name, arguments, precise in (("values", (rows,), (y,)), ("gradients", (rows,), (y,)),
                                         ("curvature", (rows, weights), (y, w))):
            expected = getattr(theirs, name)(*precise)
            scale = float(abs(expected).max())
            assert (abs(getattr(ours, name)(*precise) - expected) < mpmath.mpf(10) ** -26 * scale).all()
            np.testing.assert_allclose(getattr(ours, name)(*arguments), expected.astype(float), rtol=1e-12,
                                       atol=1e-13 * scale)


def test_zero_padding_sees_constants() -> None:
    """h(1) falls off at the ends: 5, 6, 6, 2 for taps 1, 2, 3, of which the first and the last fall off in turn."""
    h = Filter([1, 2, 3], boundary="zero")
    (found,) = Compiled([h(Mean(x)) + 0 * x], x)(np.array([[0.0, 1, 2, 5]]))
    np.testing.assert_allclose(found, 2 * np.array([[3.0, 6, 6, 5]]), rtol=1e-15)


def test_long_kernels_give_every_row_the_same_bits() -> None:
    """From 17 taps on the filter goes through the frequency domain."""
    features = CompiledFeatures(FeatureSet([Mean(Filter(list(range(1, 32)))(x) ** 2)]))
    rows = np.random.default_rng(18).normal(size=(9, 64))
    together = features.gradients(rows)
    for i in range(9):
        np.testing.assert_array_equal(features.gradients(rows[i : i + 1])[0], together[i])


# --- refusals ---


@pytest.mark.parametrize(("expr", "name"), [(Mean(Filter("k")(x) ** 2), "k"),
                                            (Mean(Filter([1, Symbol("a")], origin=0)(x) ** 2), "a")], ids=str)
def test_filters_without_numbers_are_refused(expr: Expr, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be bound to numbers first"):
        Compiled([expr], x)
    with pytest.raises(InvalidInput, match=f"{name} must be bound to numbers first"):
        Compiled([expr], x, [Symbol("a")] if name == "a" else [])


def test_the_grid_has_the_size_of_the_samples() -> None:
    compiled = Compiled([Mean(H(x) ** 2)], x)
    with pytest.raises(InvalidInput, match=r"the grid \(4, 2\) has 8 places, the samples have 9 numbers"):
        compiled.on((4, 2))(DATA)
    (found,) = compiled.on((9,))(DATA)
    np.testing.assert_array_equal(found, compiled(DATA)[0])


@pytest.mark.parametrize(("kernel", "grid"), [(H, (3, 3)), (PLANE["circular"], None), (PLANE["circular"], (9,))],
                         ids=["line on a plane", "plane without a grid", "plane on a line"])
def test_the_grid_is_not_of_this_filter(kernel: Filter, grid: Any) -> None:
    with pytest.raises(InvalidInput, match=r"of [12] dimension\(s\), and the grid of the samples is \("):
        filtered(kernel, DATA, grid)
