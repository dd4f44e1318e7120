"""Filtering arrays: against sums over padded arrays, every boundary, every axis, every way of computing it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from symdecouple import Filter, InvalidInput, UnsupportedExpression, shift
from symdecouple.language.boundaries import BOUNDARIES
from symdecouple.language.convolution import Kernel, convolve, sample_axes

PADS = {"circular": "wrap", "zero": "constant", "half-sample": "symmetric", "whole-sample": "reflect"}


def direct(taps: np.ndarray, origin: tuple[int, ...], boundary: str, values: np.ndarray) -> np.ndarray:
    """sum_j t_j x_(n - j + o) over all axes, on an array that NumPy continued far enough."""
    far = [max(abs(o), abs(n - 1 - o)) for n, o in zip(taps.shape, origin, strict=True)]
    padded = np.pad(values, [(f, f) for f in far], mode=PADS[boundary])  # type: ignore[call-overload]
    out = np.zeros(values.shape)
    for place, tap in np.ndenumerate(taps):
        window = tuple(slice(f - j + o, f - j + o + n)
                       for f, j, o, n in zip(far, place, origin, values.shape, strict=True))
        out += tap * padded[window]
    return out


CASES = [
    ((3,), (1,), (12,)), ((4,), (0,), (9,)), ((2,), (5,), (6,)), ((2,), (-4,), (6,)), ((1,), (-3,), (5,)),
    ((17,), (3,), (40,)), ((40,), (11,), (5,)), ((70,), (30,), (100,)), ((90,), (89,), (7,)),
    ((3, 3), (1, 1), (5, 4)), ((2, 3), (0, 3), (4, 4)), ((6, 7), (2, 3), (20, 30)), ((9, 9), (0, 0), (2, 3)),
    ((15, 15), (7, 7), (9, 30)), ((2, 3, 2), (0, 1, 1), (3, 4, 2)),
]


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("size", "origin", "shape"), CASES, ids=str)
def test_convolution_against_the_sum(size: Any, origin: Any, shape: Any, boundary: str) -> None:
    """Short and long kernels, longer than the array, origins outside: each way of computing gives the same."""
    rng = np.random.default_rng(11)
    taps, values = rng.integers(-9, 10, size).astype(float), rng.standard_normal(shape)
    axes = tuple(range(len(shape)))
    found = convolve(values, Kernel(taps, origin, boundary), axes)
    np.testing.assert_allclose(found, direct(taps, origin, boundary, values), rtol=0, atol=1e-10)
    columns = np.repeat(values[..., None], 3, axis=-1)
    np.testing.assert_allclose(convolve(columns, Kernel(taps, origin, boundary), axes)[..., 1], found, rtol=0,
                               atol=1e-10)
    other = rng.standard_normal(shape)
    moved = convolve(other, Kernel(taps, origin, boundary, transposed=True), axes)
    np.testing.assert_allclose(np.sum(moved * values), np.sum(other * found), rtol=1e-10, atol=1e-9)


def test_long_columns_go_block_by_block() -> None:
    """More rows and more columns than one block holds, and many short ones together."""
    rng = np.random.default_rng(12)
    taps = np.array([1.0, -3, 2, 5])
    for boundary in BOUNDARIES:
        for shape in ((9000, 5), (3, 20_000), (700, 6, 9)):
            values = rng.standard_normal(shape)
            axis = 1 if len(shape) == 3 else 0
            found = convolve(values, Kernel(taps, (1,), boundary), (axis,))
            expected = convolve(np.ascontiguousarray(np.moveaxis(values, axis, -1)), Kernel(taps, (1,), boundary),
                                (len(shape) - 1,))
            np.testing.assert_allclose(found, np.moveaxis(expected, -1, axis), rtol=0, atol=1e-12)


@st.composite
def filters(draw: Any, ndim: int) -> Filter:
    size = [draw(st.integers(1, 4)) for _ in range(ndim)]
    origin = [draw(st.integers(-2, 5)) for _ in range(ndim)]
    taps = draw(st.lists(st.integers(-5, 5), min_size=int(np.prod(size)), max_size=int(np.prod(size))))
    return Filter(np.array(taps).reshape(size), origin=tuple(origin), boundary=draw(st.sampled_from(BOUNDARIES)))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([(1,), (2,), (5,), (1, 3), (3, 4), (2, 1, 3)]))
def test_the_adjoint_is_the_transposed_matrix(data: Any, shape: tuple[int, ...]) -> None:
    h = data.draw(filters(len(shape)))
    u, v = np.random.default_rng(3).integers(-9, 10, (2, *shape)).astype(float)
    assert h.adjoint.matrix(shape) == h.matrix(shape).T and h.adjoint.adjoint == h
    assert np.sum(u * h.apply(v)) == np.sum(h.adjoint.apply(u) * v), "small integers: exact"
    np.testing.assert_array_equal(np.array(h.matrix(shape), dtype=float) @ v.ravel(), h.apply(v).ravel())


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([(4,), (3, 4)]))
def test_circular_filters_commute_and_compose(data: Any, shape: tuple[int, ...]) -> None:
    g, h = (Filter(f.args[0], f.args[1]) for f in (data.draw(filters(len(shape))), data.draw(filters(len(shape)))))
    values = np.random.default_rng(4).integers(-9, 10, shape).astype(float)
    np.testing.assert_array_equal(g.apply(h.apply(values)), h.apply(g.apply(values)))
    lag = tuple(data.draw(st.integers(-5, 5)) for _ in shape)
    np.testing.assert_array_equal(shift(lag).apply(values), np.roll(values, lag, axis=tuple(range(len(shape)))))


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_axes_may_be_any(boundary: str) -> None:
    h = Filter([[1, 2], [3, 5], [7, 11]], origin=(1, 0), boundary=boundary)
    block = np.random.default_rng(5).standard_normal((4, 2, 5))
    expected = np.stack([h.apply(block[:, k, :].T) for k in range(2)])
    for axis, order in (((2, 0), (1, 2, 0)), ((-1, -3), (1, 2, 0))):
        np.testing.assert_allclose(h.apply(block, axis=axis).transpose(order), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(h.apply(block), h.apply(block, axis=(1, 2)), rtol=0, atol=0)


@pytest.mark.parametrize("axis", [(0,), (0, 0), (0, 1, 2), 0, (0, 3), (0, True), "ab", (0, 1.0)], ids=str)
def test_other_axes_are_refused(axis: Any) -> None:
    with pytest.raises(InvalidInput, match="filters 2 axes"):
        Filter([[1, 2, 1]]).apply(np.ones((3, 3, 3)), axis=axis)
    with pytest.raises(ValueError, match=r"axes are needed|twice"):
        sample_axes(axis, 2, 3)


def test_separable_taps_give_what_the_full_kernel_gives() -> None:
    kernel = Filter([1, 2, 4]).outer(Filter([-1, 0, 3]))
    values = np.random.default_rng(6).standard_normal((2, 9, 8))
    taps = np.array(kernel.args[0].tolist() if hasattr(kernel.args[0], "tolist") else
                    [[float(tap) for tap in row] for row in kernel.args[0]])
    for boundary in BOUNDARIES:
        h = Filter(kernel.args[0], boundary=boundary)
        assert h.factors() is not None
        expected = np.stack([direct(taps, (1, 1), boundary, image) for image in values])
        np.testing.assert_allclose(h.apply(values), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_fractions_stay_exact(boundary: str) -> None:
    h = Filter([0.1, Fraction(1, 3), -2, 7], origin=1, boundary=boundary)
    for operator in (h, h.adjoint):
        values = np.array([Fraction(k * k, 7) for k in range(5)], dtype=object)
        found = operator.apply(values)
        exact = operator.matrix(5) * sp.Matrix([sp.Rational(v.numerator, v.denominator) for v in values])
        assert all(type(v) is Fraction for v in found)
        assert [sp.Rational(v.numerator, v.denominator) for v in found] == list(exact)
    symbols = sp.symbols("a:5")
    assert sp.Matrix(h.apply(np.array(symbols, dtype=object))) == h.matrix(5) * sp.Matrix(symbols)


def test_high_precision_is_kept() -> None:
    root = Filter([[sp.sqrt(2), sp.Rational(1, 3)]], origin=(0, 0), boundary="half-sample")
    with mpmath.workdps(60):
        values = np.array([[mpmath.mpf(1) / 7, mpmath.mpf(5)]], dtype=object)
        found = root.apply(values)
        expected = [mpmath.sqrt(2) / 7 + mpmath.mpf(1) / 21, mpmath.sqrt(2) * 5 + mpmath.mpf(1) / 21]
        assert all(abs(a - b) < mpmath.mpf(10) ** -58 for a, b in zip(found[0], expected, strict=True))
    interval = Filter([1, Fraction(1, 3)], origin=0).apply(np.array([mpmath.iv.mpf(1), mpmath.iv.mpf(2)], dtype=object))
    assert mpmath.mpf(5) / 3 in interval[0] and interval[0].delta < 1e-14
    with pytest.raises(UnsupportedExpression, match="irrational tap"):
        root.apply(np.array([[mpmath.iv.mpf(1)]], dtype=object))


def test_entries_that_are_no_real_numbers_are_refused() -> None:
    for entry in ("1", None, True, 1j):
        with pytest.raises(InvalidInput, match="arrays of real numbers"):
            Filter([1, 2, 1]).apply(np.array([1, entry], dtype=object))
    with pytest.raises(InvalidInput, match="contain parameters"):
        Filter([1, sp.Symbol("a"), 1]).apply([1.0, 2])


def test_type_and_shape_are_kept() -> None:
    h = Filter([[1, 2, 1], [0, 0, 0], [1, 3, 1]], boundary="whole-sample")
    for dtype, kept in ((np.float32, np.float32), (np.float64, np.float64), (np.uint8, np.float64)):
        out = h.apply(np.full((2, 4, 4), 200, dtype=dtype))
        assert out.dtype == kept and out.shape == (2, 4, 4) and (out == 1800).all()
    assert h.apply(np.zeros((0, 3, 3))).shape == (0, 3, 3) and h.apply(np.zeros((3, 0))).shape == (3, 0)
    values = np.arange(5.0)
    shift(0).apply(values)[0] = 9
    assert values[0] == 0, "the result is never the input"


def test_a_row_with_nan_spoils_no_other_row() -> None:
    rows = np.random.default_rng(8).standard_normal((3, 64))
    rows[1, 5] = np.nan
    for taps in ([1, 2, 1], list(range(1, 42, 2))):
        out = Filter(taps).apply(rows)
        assert np.isfinite(out[[0, 2]]).all() and np.isnan(out[1]).any()
