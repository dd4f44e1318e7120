"""Exponentials, waves and gamma functions however they are written: the answers, by an oracle of their own too."""

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
