"""Textbook systems: verdict, growth vector, how many first integrals there are, and those that the books print."""

from __future__ import annotations

import random
import time
from itertools import product
from typing import Any

import mpmath
import pytest
from sympy import Matrix, lambdify, simplify

from symdecouple import Status, check_frobenius, first_integrals, involutive_closure
from symdecouple.calculus.subject import Subject
from tests.flows.textbook_systems import SYSTEMS, System, trailers

IDS = [system.name for system in SYSTEMS]
SLOW = {"Lorenz", "Henon-Heiles", "separable equation", "Kepler", "Moebius on four points", "two trailers",
        "car with a trailer", "differential drive", "linear equation", "epidemic", "Sneddon, x^2 z - y^3",
        "Toda, two particles", "curvature and its derivative",
        "roller racer", "Goursat", "Ince, 1 + yz",
        "sphere on a plane", "hopping robot", "upright disc", "rolling disc", "one trailer", "car"}
TABLE = [pytest.param(s, marks=[pytest.mark.slow] * (s.name in SLOW), id=s.name) for s in SYSTEMS]


def values(symbols: Any, seed: int = 3) -> dict[Any, Any]:
    rng = random.Random(seed)
    return {s: mpmath.mpf(rng.randint(20, 90)) / 71 for s in sorted(symbols, key=str)}


def naive_growth(subject: Subject, steps: int) -> tuple[int, ...]:
    """All brackets of at most so many fields, by SymPy's derivatives, and their ranks at one point in floats."""
    q = subject.coordinates
    given = [Matrix(item.components) for item in subject.items]
    words, columns, found = list(given), list(given), []
    point = values({*q, *subject.symbols})
    for step in range(steps):
        if step:
            words = [w.jacobian(q) * v - v.jacobian(q) * w for v, w in product(given, words)]
            columns += words
        numbers = [[mpmath.mpf(value) for value in lambdify(list(point), list(c), "mpmath")(*point.values())]
                   for c in columns]
        found.append(rank(numbers))
    return tuple(found)


def rank(rows: list[list[Any]]) -> int:
    singular = mpmath.svd_r(mpmath.matrix(rows), compute_uv=False)
    return sum(value > mpmath.mpf(10) ** -10 * singular[0] for value in singular)


@pytest.mark.parametrize("system", [pytest.param(s, marks=[pytest.mark.slow] * (s.name == "two trailers"), id=s.name)
                                    for s in SYSTEMS])
def test_growth_and_verdict(system: System) -> None:
    start = time.process_time()
    closure = involutive_closure(system.given)
    assert time.process_time() - start < 2
    assert closure.status is Status.PROVED and closure.growth == system.growth
    assert closure.rank == system.growth[-1]
    verdict = check_frobenius(system.given)
    assert verdict.status is (Status.PROVED if len(system.growth) == 1 else Status.REFUTED)
    subject = closure.subject
    if len(system.growth) < 4:  # longer ones take SymPy minutes
        assert naive_growth(subject, len(system.growth)) == system.growth


@pytest.mark.parametrize("system", TABLE)
def test_first_integrals(system: System) -> None:
    found = first_integrals(system.given, budget=20)
    subject = found.closure.subject
    assert found.expected == len(subject.coordinates) - system.growth[-1] == len(system.integrals) + system.extra
    assert found.complete is (system.extra == 0 or len(found.functions) == found.expected) and found.verify()
    assert len(found.functions) >= len(system.integrals)
    for h in system.integrals:  # the book is right, by SymPy's simplification
        assert all(simplify(sum(c * h.diff(q) for c, q in zip(v.components, subject.coordinates, strict=True))) == 0
                   for v in subject.items)
    point = values({*subject.coordinates, *subject.symbols})
    gradients = [[mpmath.mpf(f(*point.values())) for f in (lambdify(list(point), h.diff(q), "mpmath")
                                                           for q in subject.coordinates)]
                 for h in (*found.functions, *system.integrals)]
    if gradients:  # those of the book are functions of ours
        assert rank(gradients) == len(found.functions)


@pytest.mark.slow
def test_three_trailers() -> None:
    closure = involutive_closure(trailers(3))
    assert closure.growth == (2, 3, 4, 5, 6) and closure.is_everything


def test_there_are_enough_systems() -> None:
    assert len(SYSTEMS) >= 30 and len(set(IDS)) == len(IDS)
