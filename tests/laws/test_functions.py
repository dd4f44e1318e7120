"""Exponentials, waves and gamma functions however they are written: the answers, by an oracle of their own too."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy as sp

from symdecouple import Status, VectorField, check_frobenius, verdict_from_json
from tests.laws.examples import every_second
from tests.laws.functions import COORDINATES, MEANS, SLOW_COORDINATES, SLOW_MEANS, Row, a, c
from tests.laws.ranks import drawn_sample, ranks


def is_decided(row: Row, size: int) -> None:
    items, independent, involutive = row
    values = {a: sp.Rational(37, 97), c: sp.Rational(53, 97)}
    own, whole = ranks(items, drawn_sample(random.Random(str(items)), size), values)
    assert (own == len(items), whole == own) == (independent, involutive)
    verdict: Any = check_frobenius(items)
    assert verdict.status is (Status.PROVED if involutive else Status.REFUTED), str(verdict)
    assert verdict.independence.status is (Status.PROVED if independent else Status.REFUTED), str(verdict)
    read: Any = verdict_from_json(verdict.to_json())
    assert read.certificate.verify() and read.independence.certificate.verify()


def with_slow(table: dict[str, Row], slow: dict[str, Row]) -> Any:
    return pytest.mark.parametrize("name", [*every_second(table), *(
        pytest.param(name, marks=pytest.mark.slow) for name in slow)])


@with_slow(COORDINATES, SLOW_COORDINATES)
def test_in_coordinates(name: str) -> None:
    row = (COORDINATES | SLOW_COORDINATES)[name]
    is_decided(row, 3 if isinstance(row[0][0], VectorField) else 4)


@with_slow(MEANS, SLOW_MEANS)
def test_means(name: str) -> None:
    is_decided((MEANS | SLOW_MEANS)[name], 6)
