"""Filters in several dimensions and with boundaries: declared, transposed, multiplied, bound, written out and read."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Matrix, Rational, Symbol, sqrt

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.binding import bind
from symdecouple.language.boundaries import BOUNDARIES
from symdecouple.language.canonical import canonical
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filtered import DcGain, Filtered, Unit
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.text import parse_expression, to_text

plane = Filter([[1, 2, 0], [3, 5, 4]], origin=(0, 1))
a = Symbol("a")
ENDS = [b for b in BOUNDARIES if b != "circular"]


def test_lags_are_tuples_in_several_dimensions() -> None:
    assert plane.lags == {(0, -1): 1, (0, 0): 2, (1, -1): 3, (1, 0): 5, (1, 1): 4} and plane.ndim == 2
    assert plane.adjoint.lags == {(-i, -j): tap for (i, j), tap in plane.lags.items()}
    assert Filter([1, 2, 4]).lags == {-1: 1, 0: 2, 1: 4} and Filter("h", ndim=3).ndim == 3
    assert plane.dc == 15 and Filter(np.ones((3, 3))).dc == 9
    assert shift((1, 0)).lags == {(1, 0): 1} and shift((2,)) == shift(2)


def test_equal_filters_are_equal_objects() -> None:
    assert Filter([[0, 0, 0], [1, 2, 0]], origin=(1, 1)) == Filter([[1, 2]], origin=(0, 1))
    assert Filter([[0.5]]) == Filter([[Rational(1, 2)]]) and Filter([[0, 0], [0, 0]], origin=(5, 5)) == Filter([[0]])
    for boundary in ENDS:
        assert Filter([0, 3, 0], boundary=boundary) == Filter([3]), "one tap at lag 0 reaches beyond no end"
        assert Filter([1, 2, 1], boundary=boundary) != Filter([1, 2, 1])
    even = Filter([[1, 2, 1], [3, 4, 3], [1, 2, 1]], boundary="half-sample")
    assert even.adjoint == even and even.matrix((3, 2)) == even.matrix((3, 2)).T
    only_centrally = Filter([[1, 0, 0], [0, 0, 0], [0, 0, 1]], boundary="half-sample")
    assert only_centrally.adjoint.transposed and only_centrally.matrix((2, 2)) != only_centrally.matrix((2, 2)).T


@pytest.mark.parametrize(
    ("kernel", "options", "said"),
    [
        ([[1, 2, 3], [1, 2]], {}, "differ in length"), ([[1, 2, 3], 1, 2], {}, "differ in length"),
        ([[]], {}, "differ in length"), ([[[1]], [[1, 2]], [[3]]], {}, "differ in length"),
        ([[1, 2], [3, 4]], {}, "no middle"), ([[1, 2], [3, 4]], {"origin": 0}, "tuple of 2 integers"),
        ([[1, 2], [3, 4]], {"origin": (0, 0, 0)}, "tuple of 2 integers"),
        ([[1, 2], [3, 4]], {"origin": (0, 0.5)}, "tuple of 2 integers"), ([[1, x, 3]], {}, "parameters"),
        ([1, 2, 1], {"ndim": 2}, "ndim=2"), ("h", {"ndim": 0}, "number of dimensions"),
        ("h", {"ndim": True}, "number of dimensions"), ("h", {"boundary": "symmetric"}, "one of circular"),
        ([1, 2, 1], {"zero_dc": True}, "add up to 4"), ([1, a, 1], {"zero_dc": True}, "add up to a"),
        ([], {"boundary": "zero"}, "nonempty"),
    ],
    ids=str,
)
def test_contradictions_are_refused(kernel: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Filter(kernel, **options)


def test_a_gain_of_zero_is_known_of_a_name_and_seen_in_taps() -> None:
    h = Filter("h", zero_dc=True)
    assert h.dc == 0 and h(7) == 0 and canonical(Mean(h(x))) == 0 and h != Filter("h")
    assert Filter([1 - sqrt(2), sqrt(2) * 2, -1 - sqrt(2)], zero_dc=True).dc == 0
    assert Filter([a, -2 * a, a], zero_dc=True) == Filter([a, -2 * a, a])
    assert Filter("h", boundary="zero", zero_dc=True)(1) != 0, "the ends of 1 are seen"


def test_the_tensor_product_and_back() -> None:
    smooth, slope = Filter([1, 2, 1]), Filter([-1, 0, 1])
    product = Filter.outer(smooth, slope)
    assert product.lags == {(i, j): s * t for i, s in smooth.lags.items() for j, t in slope.lags.items()}
    assert smooth.outer(slope, smooth).ndim == 3 and product.outer(smooth) == smooth.outer(slope.outer(smooth))
    for h in (product, Filter([[2, 2 * sqrt(2)], [sqrt(3), sqrt(6)]], origin=(1, 0)), smooth.outer(slope, smooth)):
        factors = h.factors()
        assert factors is not None and factors[0].outer(*factors[1:]) == h
    assert plane.factors() is None and Filter("h", ndim=2).factors() is None
    assert shift((1, 0)).outer(shift(2)) == shift((1, 0, 2))
    with pytest.raises(InvalidInput, match="one boundary"):
        Filter([1, 2, 1], boundary="zero").outer(slope)
    with pytest.raises(InvalidInput, match="no taps yet"):
        smooth.outer(Filter("h"))


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_the_matrix_of_a_product_is_the_product_of_matrices(boundary: str) -> None:
    first, second = Filter([1, 2, 5], boundary=boundary), Filter([7, -3], origin=0, boundary=boundary)
    kron = sp.kronecker_product(Matrix(first.matrix(3)), Matrix(second.matrix(4)))
    assert Matrix(first.outer(second).matrix((3, 4))) == kron
    assert Matrix(first.adjoint.outer(second.adjoint).matrix((3, 4))) == kron.T


def test_matrices_need_the_shape_of_the_samples() -> None:
    with pytest.raises(InvalidInput, match="filters in 2 dimensions"):
        plane.matrix(12)
    with pytest.raises(InvalidInput, match="no taps yet"):
        Filter("h").matrix(3)


# Constants and the canonical form


def test_constants_come_out_where_they_are_kept() -> None:
    for boundary in ("circular", "half-sample", "whole-sample"):
        assert Filter([1, 2, 4], boundary=boundary)(3) == 21 and Filter("h", boundary=boundary)(a) == Filter(
            "h", boundary=boundary).dc * a
    zeros = Filter([1, 2, 4], boundary="zero")
    mirror = Filter([1, 2, 4], boundary="half-sample").adjoint
    for h in (zeros, zeros.adjoint, mirror, Filter("h", boundary="zero"), Filter("h", boundary="half-sample").adjoint):
        assert h(3) == 3 * h(1) and isinstance(h(1), Filtered) and h(1).argument == Unit(x)
        assert h(a * Mean(x)) == a * Mean(x) * h(1) and Mean(h(1)) != 1 and str(h(1)).endswith("(1)")
        assert canonical(Mean(h(2 * x + 3))) == 2 * Mean(h(x)) + 3 * Mean(h(1))
    ones = zeros.matrix(4) * sp.ones(4, 1)
    assert Feature(Mean(zeros(1) * x)).at(n_samples=4).expr == (ones.T * Matrix(coordinates(4)))[0] / 4
    assert ones == Matrix([3, 7, 7, 6])


def test_the_function_one_belongs_to_the_sample() -> None:
    t = sample("t", positive=True)
    assert Filter([1, 2, 1], boundary="zero")(1, t).argument == Unit(t)
    assert Unit(t).diff(t) == 0 and Unit(coordinates(2)[0]) == 1 and Unit(t**2 + 1) == Unit(t) and Unit(sp.S(2)) == 1


def test_only_circular_filters_move_with_the_sample() -> None:
    h, ends = Filter("h", ndim=2), Filter("g", ndim=2, boundary="zero")
    assert canonical(Mean(h(x))) == h.dc * Mean(x) and canonical(Mean(ends(x))) == Mean(ends(x))
    assert canonical(Mean(shift((2, -1))(x) * shift((0, 5))(x))) == canonical(Mean(x * shift((2, -6))(x)))
    assert canonical(Mean(h(shift((1, 1))(x)) * shift((1, 1))(x))) == canonical(Mean(h(x) * x))
    moved = Mean(ends(shift((1, 1))(x)) * shift((1, 1))(x))
    assert canonical(moved) != canonical(Mean(ends(x) * x))
    assert canonical(Mean(shift((1, 1))(ends(x) ** 2) * shift((1, 1))(x))) == canonical(Mean(ends(x) ** 2 * x))
    mirror = shift(1, "half-sample")
    assert canonical(Mean(mirror(x) ** 2)) == Mean(mirror(x) ** 2), "a mirrored shift drops a sample"


# Several dimensions in one expression, binding, responses


def test_dimensions_do_not_mix() -> None:
    one, two = Filter([1, 2, 1]), Filter([[1, 2, 1]])
    assert FeatureSet([Mean(x), Mean(two(x) ** 2)]).sample_ndim == 2
    assert FeatureSet([Mean(x), Mean(one(x) ** 2)]).sample_ndim == FeatureSet([Mean(x)]).sample_ndim == 1
    for make in (lambda: one(two(x)), lambda: Feature(Mean(one(x) * two(x))),
                 lambda: FeatureSet([Mean(one(x) ** 2), Mean(two(x) ** 2)])):
        with pytest.raises(InvalidInput, match="dimensions"):
            make()
    with pytest.raises(InvalidInput, match="different boundary"):
        FeatureSet([Mean(Filter("h")(x) ** 2), Mean(Filter("h", boundary="zero")(x) ** 2)])


def test_binding_keeps_what_was_declared() -> None:
    h = Filter("h", ndim=2, boundary="zero")
    energy = FeatureSet([Mean(h(x) ** 2), Mean(h.adjoint(x) * x**2) + h.dc])
    assert energy.parameters == {h}
    taps = [[1, 2], [3, 5], [7, -1]]
    bound = energy.bind({"h": Filter(taps, origin=(1, 0), boundary="zero")})
    new = Filter(taps, origin=(1, 0), boundary="zero")
    assert bound == FeatureSet([Mean(new(x) ** 2), Mean(new.adjoint(x) * x**2) + 17])
    assert bind(Mean(h(x)), {h: [[1, 2, 3]]}) == Mean(Filter([[1, 2, 3]], boundary="zero")(x))
    assert bind(Mean(h(x)), {h: [[3]]}) == Mean(3 * x)
    for value, said in (([1, 2, 1], "2 dimensions"), (Filter([[1, 2, 1]]), "circular one")):
        with pytest.raises(InvalidInput, match=said):
            energy.bind({h: value})
    flat = Filter("g", zero_dc=True)
    assert bind(Mean(flat(x) ** 2), {flat: [-1, 2, -1]}) == Mean(Filter([-1, 2, -1])(x) ** 2)
    with pytest.raises(InvalidInput, match="declared with zero_dc"):
        bind(Mean(flat(x) ** 2), {flat: [1, 2, 1]})


def test_a_response_may_have_several_axes() -> None:
    kernel = Filter([[1, 2, 0], [3, 5, 4]], origin=(0, 1))
    values = np.random.default_rng(2).standard_normal((2, 5, 6))
    spectrum = np.fft.fft2(kernel.apply(np.eye(1, 30).reshape(5, 6)))
    h = Filter.from_response(spectrum)
    assert h.ndim == 2 and h.dc == DcGain(h)
    np.testing.assert_allclose(h.apply(values), kernel.apply(values), rtol=0, atol=1e-12)
    np.testing.assert_allclose(h.adjoint.apply(values), kernel.adjoint.apply(values), rtol=0, atol=1e-12)
    np.testing.assert_allclose(h.apply(values.transpose(2, 0, 1), axis=(2, 0)), h.apply(values).transpose(2, 0, 1))
    flat = spectrum - spectrum[0, 0] * np.eye(1, 30).reshape(5, 6)
    assert Filter.from_response(flat).dc == 0 and Filter.from_response(flat + 1e-17, zero_dc=True).dc == 0
    assert pickle.loads(pickle.dumps(h)) == h and h.func(*h.args) == h
    spectrum[1, 2] += 1
    with pytest.raises(InvalidInput, match="not real"):
        Filter.from_response(spectrum)
    with pytest.raises(InvalidInput, match="zero_dc"):
        Filter.from_response([[1, 1], [1, 1]], zero_dc=True)
    with pytest.raises(InvalidInput, match="5x6 frequencies, the samples have size 6x5"):
        h.apply(values.transpose(0, 2, 1))
    with pytest.raises(UnsupportedExpression, match="64-bit"):
        h.apply(np.full((5, 6), sp.S(1), dtype=object))


# Explicit coordinates


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_features_on_a_grid_are_those_of_the_matrix(boundary: str) -> None:
    h = Filter([[1, 2], [3, 5]], origin=(0, 1), boundary=boundary)
    points = Matrix(coordinates(6))
    image = Matrix(h.matrix((2, 3))) * points
    found = Feature(Mean(h(x) ** 2 * x)).at(n_samples=(2, 3))
    assert sp.expand(found.expr - sum(image[k] ** 2 * points[k] for k in range(6)) / 6) == 0
    with pytest.raises(InvalidInput, match="filters in 2 dimensions"):
        Feature(Mean(h(x) ** 2)).at(n_samples=6)
    assert Feature(Mean(x**2)).at(n_samples=(2, 3)) == Feature(Mean(x**2)).at(n_samples=6)
    assert found.at(n_samples=(2, 3)) == found
    with pytest.raises(InvalidInput, match="6 coordinates, not"):
        found.at(n_samples=(2, 2))


# Text


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_filters_are_written_and_read_back(boundary: str) -> None:
    for h in (
        Filter([1, 2, a], boundary=boundary), Filter([[1, 2], [Rational(1, 3), sqrt(2)]], (0, 1), boundary=boundary),
        shift((1, -2), boundary), shift(2, boundary).adjoint, Filter([7], origin=3, boundary=boundary).adjoint,
        Filter("h", ndim=2, boundary=boundary), Filter("h", zero_dc=True, boundary=boundary, ndim=3).adjoint,
        Filter("h", boundary=boundary), Filter([[[1, 2, 3]]], boundary=boundary).adjoint,
    ):
        expr = Mean(x * h(x) ** 2) + h.dc * Mean(x) + Mean(x * h(1))
        assert parse_expression(to_text(expr)) == expr
        assert pickle.loads(pickle.dumps(h)) == h == h.func(*h.args)
        assert (boundary in h(x)._repr_latex_()) == (boundary != "circular")
        assert (boundary.replace("-", "_") in str(h(x))) == (boundary != "circular")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("taps(((-1, 2), (3, 4)), (1, 0), zero)(x)", Filter([[-1, 2], [3, 4]], (1, 0), boundary="zero")(x)),
        ("taps((1, 2, 1), half_sample)(x)", Filter([1, 2, 1], boundary="half-sample")(x)),
        ("taps(((1, 2, 1),))(x)", Filter([[1, 2, 1]])(x)), ("taps((1, 2, 1), 1, circular)(x)", Filter([1, 2, 1])(x)),
        ("shift((1, 0))(x)", shift((1, 0))(x)), ("shift(1, whole_sample)(x^2)", shift(1, "whole-sample")(x**2)),
        ("filter(h, zero, 2, zero_dc)(x)", Filter("h", ndim=2, zero_dc=True, boundary="zero")(x)),
        ("adjoint(taps((1, 2, 4), 1, half_sample))(x)", Filter([1, 2, 4], boundary="half-sample").adjoint(x)),
        ("adjoint(shift(3))(x)", shift(-3)(x)), ("dc(h, 2)", Filter("h", ndim=2).dc),
        ("2*taps((1, 2, 4), 1, zero)(1)", Filter([1, 2, 4], boundary="zero")(2)),
    ],
)
def test_text_says_which_filter(text: str, expected: sp.Expr) -> None:
    assert parse_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("taps((1, 2, 3), 1, reflect)(x)", "one of circular, zero, half_sample, whole_sample"),
        ("taps((1, 2, 3), zero, 1)(x)", "one of circular"), ("taps(((1, 2), (3,)), (0, 0))(x)", "differ in length"),
        ("taps(((1, 2), (3, 4)), 1)(x)", "tuple of 2 integers"), ("taps(())(x)", "nonempty"),
        ("shift((1, x))(x)", "whole number"), ("shift((1, 10^9))(x)", "from -10000 to 10000"),
        ("filter(h, 2, 3)(x)", "its ndim twice"), ("filter(h, zero, zero)(x)", "its boundary twice"),
        ("filter(h, 99)(x)", "from 1 to 8"), ("filter(h, something)(x)", "one of circular"),
        ("adjoint(shift(1), zero)(x)", "takes 1 argument"), ("filter(h, 2)(shift(1)(x))", "dimensions"),
        ("mean(filter(h, 2)(x)", "is missing"),
    ],
)
def test_text_that_says_no_filter_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_expression(text)
