"""The generic sample, coordinates, and points inside their domain."""

from __future__ import annotations

import copy
import pickle
import random
from fractions import Fraction
from typing import Any

import pytest
from sympy import Rational, Symbol, oo, sqrt

from symdecouple.errors import InvalidInput
from symdecouple.language.sample import BoundSample, Coordinate, Sample, coordinates, rational_points, sample, x


def test_a_sample_is_not_a_plain_symbol() -> None:
    assert x != Symbol("x") and x != Symbol("x", real=True) and Symbol("x", real=True) != x
    assert hash(x) != hash(Symbol("x", real=True))
    assert len({x, Symbol("x"), Symbol("x", real=True), BoundSample("x")}) == 4


def test_samples_are_equal_by_name_domain_and_kind() -> None:
    assert sample("x") == x and Sample("x") == x
    assert sample("x", positive=True) == sample("x", interval=(0, oo)) != x
    assert sample("t") != x
    assert sample(interval=(0, 1)) != sample(interval=(0, 2))


@pytest.mark.parametrize(
    "s", [x, sample("t", positive=True), sample("u", interval=(Rational(1, 3), 2)), BoundSample("x"), *coordinates(3)],
    ids=repr,
)
def test_pickle_and_copy_return_an_equal_object(s: Any) -> None:
    for twin in (pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s)):
        assert twin == s and hash(twin) == hash(s) and type(twin) is type(s)
        assert getattr(twin, "interval", None) == getattr(s, "interval", None)
        assert twin.assumptions0 == s.assumptions0


def test_the_domain_gives_assumptions() -> None:
    positive, negative = sample(positive=True), sample(interval=(-oo, 0))
    assert positive.interval == (0, oo) and positive.is_positive and sqrt(positive**2) == positive
    assert negative.is_negative and sqrt(negative**2) == -negative
    assert x.is_real and x.is_positive is None and x.interval == (-oo, oo)
    assert sample(interval=(1, 2)).is_positive
    assert sample(interval=(0.1, 0.5)).interval == (Rational(1, 10), Rational(1, 2))


@pytest.mark.parametrize(
    "interval", [(1, 1), (2, 1), (0,), (0, 1, 2), 5, ("a", "b"), (Symbol("a"), 1), (0, sqrt(2)), (float("nan"), 1)]
)
def test_an_interval_that_is_none_is_refused(interval: Any) -> None:
    with pytest.raises(InvalidInput, match="interval"):
        sample(interval=interval)


@pytest.mark.parametrize("name", ["", "1x", "x y", 3, None, "x-y"])
def test_a_name_that_is_no_identifier_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput, match="identifier"):
        sample(name)


def test_coordinates_know_their_number_and_place() -> None:
    points = coordinates(4)
    assert [str(p) for p in points] == ["x1", "x2", "x3", "x4"]
    assert [(p.index, p.size) for p in points] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert points[0] != coordinates(5)[0] and points[0] != Symbol("x1", real=True)
    assert all(isinstance(p, Coordinate) and p.is_real for p in points)


@pytest.mark.parametrize("n", [1, 0, -3, True, 2.0, "3", None])
def test_fewer_than_two_coordinates_are_refused(n: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        coordinates(n)


@pytest.mark.parametrize(
    "symbol",
    [
        x, sample(positive=True), sample(interval=(-oo, 3)), sample(interval=(2, oo)),
        sample(interval=(Rational(1, 3), Rational(1, 2))), Symbol("a", positive=True), Symbol("b", negative=True),
        Symbol("c"),
    ],
    ids=str,
)
def test_rational_points_are_distinct_and_inside(symbol: Symbol) -> None:
    points = rational_points(symbol, 40, random.Random(5))
    assert len(set(points)) == 40 and all(isinstance(p, Fraction) for p in points)
    low, high = getattr(symbol, "interval", (0 if symbol.is_positive else -oo, 0 if symbol.is_negative else oo))
    assert all(low < Rational(p.numerator, p.denominator) < high for p in points)
