"""Filters: convention, adjoint, refusals; numbers against NumPy's direct sum."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sympy import Rational, Symbol, oo, sqrt

from symdecouple import Filter, Filtered, InvalidInput, Mean, UnsupportedExpression, shift, x
from symdecouple.language.filters import DcGain

h = Filter("h")
odd = Filter([1, 2, 4])
even = Filter([1, -1], origin=0)
FILTERS = [odd, even, shift(1), shift(-3), Filter([Rational(1, 3), 0, 0.5, 2, 7], origin=1), Filter([0, 1, 0])]


def direct(f: Filter, values: np.ndarray) -> np.ndarray:
    """(h(x))_n = sum_k h_k x_(n-k), written as it reads."""
    n = len(values)
    return np.array([sum(float(tap) * values[(i - lag) % n] for lag, tap in f.lags.items()) for i in range(n)])


@pytest.mark.parametrize("f", FILTERS, ids=str)
def test_apply_against_the_definition(f: Filter) -> None:
    values = np.random.default_rng(3).integers(-9, 9, 11).astype(float)
    np.testing.assert_allclose(f.apply(values), direct(f, values), rtol=0, atol=1e-13)


@pytest.mark.parametrize("f", FILTERS, ids=str)
def test_the_adjoint_moves_the_filter_to_the_other_side(f: Filter) -> None:
    rng = np.random.default_rng(4)
    u, v = rng.integers(-9, 9, (2, 8)).astype(float)
    assert f.adjoint.adjoint == f
    np.testing.assert_allclose(u @ f.apply(v), f.adjoint.apply(u) @ v, rtol=1e-14)


def test_filtering_keeps_type_shape_and_axis() -> None:
    block = np.arange(12).reshape(3, 4)
    assert odd.apply(block).dtype == np.float64 and odd.apply(block.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(odd.apply(block, axis=0), odd.apply(block.T).T)
    with pytest.raises(InvalidInput, match="real numbers"):
        odd.apply(["a"])
    with pytest.raises(InvalidInput, match="real numbers"):
        odd.apply(3.0)
    with pytest.raises(InvalidInput, match="real numbers"):
        odd.apply([1j, 2, 3])
    with pytest.raises(InvalidInput, match=r"features\.bind"):
        h.apply([1, 2, 3])


def test_small_integers_do_not_wrap() -> None:
    assert Filter([100, 100, 100]).apply(np.array([100, 100, 100], dtype=np.int8)).tolist() == [30000.0] * 3


def test_equal_filters_are_equal_objects() -> None:
    assert Filter([0, 1, 2, 4, 0]) == odd and hash(Filter([0, 1, 2, 4, 0])) == hash(odd)
    assert Filter([0, 0, 1], origin=1) == shift(1) and Filter([1], origin=0) == shift(0)
    assert Filter([0.5, 1, 0.5]) == Filter([Rational(1, 2), 1, Rational(1, 2)])
    assert Filter("h") == h != Filter("g") and h.adjoint != h


def test_dc_gain_is_pulled_out() -> None:
    assert odd.dc == 7 and Filter([-1, 2, -1]).dc == 0 and h.adjoint.dc == h.dc == DcGain(h)
    assert odd(3) == 21 and h(Mean(x)) == h.dc * Mean(x) and Filter([-1, 2, -1])(5) == 0
    assert shift(0)(x) == x and Filter([0, 3, 0])(x) == 3 * x


@pytest.mark.parametrize(
    ("kernel", "options", "said"),
    [
        ([], {}, "nonempty"), ([1, 2], {}, "origin="), ([1, 2, 3], {"origin": 1.5}, "integer"),
        ([1, 2], {"origin": True}, "integer"), ([1, oo, 1], {}, "infinite|finite"), ([x, 1, x], {}, "parameters"),
        (5, {}, "nonempty"), ([1, "2", 3], {}, "expression"), ([float("nan")], {}, "infinite|finite"),
        ({1: 2}, {}, "nonempty"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Filter(kernel, **options)


@pytest.mark.parametrize("k", [1.0, True, "1", None])
def test_a_shift_by_no_whole_number_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="whole number"):
        shift(k)


def test_arrays_are_not_declared() -> None:
    with pytest.raises(InvalidInput, match="apply"):
        odd(np.ones(3))
    with pytest.raises(InvalidInput, match="apply"):
        odd([1, 2])


def test_the_pointwise_derivative_of_a_filtered_node_is_refused() -> None:
    for node in (h(x), odd(x) ** 2, x * shift(1)(x)):
        with pytest.raises(UnsupportedExpression, match="adjoint"):
            node.diff(x)
    a = Symbol("a")
    assert h(a * x).diff(a) == h(x), "a parameter is another matter"


def test_taps_may_be_parameters_and_roots() -> None:
    a = Symbol("a")
    assert Filter([-a, 0, a]).dc == 0 and Filter([sqrt(2), 1, sqrt(2)]).dc == 1 + 2 * sqrt(2)
    np.testing.assert_allclose(Filter([0, 0, sqrt(2)]).apply([1, 0, 0]), [0, np.sqrt(2), 0])


@pytest.mark.parametrize("value", [h, h.adjoint, odd, even, h(x), h.adjoint(h(x)), Mean(h(x) ** 2), h.dc], ids=str)
def test_pickle_copy_and_hash(value: Any) -> None:
    for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert twin == value and hash(twin) == hash(value)
    assert value.func(*value.args) == value


def test_filtered_nodes_print_and_know_their_parts() -> None:
    node = h(x**2)
    assert isinstance(node, Filtered) and node.filter == h and node.argument == x**2
    assert str(node) == "h(x**2)" and str(h.adjoint(x)) == "h~(x)"
    assert r"\tilde" in h.adjoint(x)._repr_latex_()
