"""Exponentials, waves and gamma functions however they are written: the answers, by an oracle of their own too."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import mpmath
import pytest
import sympy as sp

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import coordinates
from symdecouple.verdict import Status
from tests.laws.examples import every_second
from tests.laws.functions import COORDINATES, MEANS, SLOW_COORDINATES, SLOW_MEANS, Row

DIGITS, STEP, SMALL = 100, 30, 15
PLAIN = sp.symbols("u1:7", real=True)


def is_decided(row: Row, size: int) -> None:
    items, independent, involutive = row
    assert by_numbers(items, size) == (independent, involutive)
    verdict: Any = check_frobenius(items)
    assert verdict.status is (Status.PROVED if involutive else Status.REFUTED), str(verdict)
    assert verdict.independence.status is (Status.PROVED if independent else Status.REFUTED), str(verdict)
    read: Any = verdict_from_json(verdict.to_json())
    assert read.certificate.verify() and read.independence.certificate.verify()


@pytest.mark.parametrize("name", every_second(COORDINATES))
def test_in_coordinates(name: str) -> None:
    items = COORDINATES[name][0]
    is_decided(COORDINATES[name], 3 if isinstance(items[0], VectorField) else 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_COORDINATES)
def test_more_in_coordinates(name: str) -> None:
    is_decided(SLOW_COORDINATES[name], 4)


@pytest.mark.parametrize("name", every_second(MEANS))
def test_means(name: str) -> None:
    is_decided(MEANS[name], 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_MEANS)
def test_more_means(name: str) -> None:
    is_decided(SLOW_MEANS[name], 6)


def by_numbers(items: list[Any], size: int) -> tuple[bool, bool]:
    """Return whether the fields are independent and their brackets in the span, at a random point, to many digits."""
    rng = random.Random(str(items))
    rows = [components(item, size) for item in items]
    parameters = sorted(set().union(*(e.free_symbols for row in rows for e in row)) - set(PLAIN), key=str)
    given = {s: sp.Rational(rng.randint(20, 90), 97) for s in parameters}
    functions = [sp.lambdify(PLAIN[:size], [e.xreplace(given) for e in row], "mpmath", cse=True) for row in rows]
    with mpmath.workdps(DIGITS):
        point, h = [mpmath.mpf(k) / 97 for k in rng.sample(range(30, 200), size)], mpmath.mpf(10) ** -STEP
        values = [mpmath.matrix(f(*point)) for f in functions]

        def turned(f: Any, direction: Any) -> Any:
            ahead, behind = ([t + s * h * d for t, d in zip(point, direction, strict=True)] for s in (1, -1))
            return (mpmath.matrix(f(*ahead)) - mpmath.matrix(f(*behind))) / (2 * h)

        brackets = [turned(functions[j], values[i]) - turned(functions[i], values[j])
                    for i, j in combinations(range(len(items)), 2)]
        own = rank(values)
        return own == len(items), rank([*values, *brackets]) == own


def components(item: Any, size: int) -> list[sp.Expr]:
    rule = dict(zip(coordinates(size), PLAIN, strict=False))
    if isinstance(item, VectorField):
        return [sp.sympify(e).xreplace(rule) for e in item.components]
    expr = FeatureSet([item]).at(n_samples=size)[0].expr.xreplace(rule)
    return [expr.diff(u) for u in PLAIN[:size]]


def rank(vectors: list[Any]) -> int:
    basis: list[Any] = []
    for vector in vectors:
        length = mpmath.norm(vector)
        rest = vector
        for e in basis * 2:
            rest = rest - e * (e.T * rest)[0]
        if length > mpmath.mpf(10) ** -SMALL and mpmath.norm(rest) > mpmath.mpf(10) ** -SMALL * length:
            basis.append(rest / mpmath.norm(rest))
    return len(basis)
