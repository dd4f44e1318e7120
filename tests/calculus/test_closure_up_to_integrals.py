"""Closures that are everything but for mean, variance or second moment; the proofs are forged."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any

import pytest
from sympy import Rational, S, Symbol

from symdecouple import FeatureSet, Mean, Status, involutive_closure, kurtosis, skewness, x
from symdecouple.calculus.closure_claims import Everything
from symdecouple.calculus.closure_up_to_integrals import EverythingElse, read_everything_else
from symdecouple.calculus.subject import Subject

N, M = Symbol("N"), Mean(x)


def central(order: int) -> Any:
    return Mean((x - M) ** order)


CENTRAL = [central(2), central(3), central(4)]
SCALED = [Mean(x**4) / Mean(x**2) ** 2, Mean(x**3) ** 2 / Mean(x**2) ** 3]

# features, functions that are constant along them, by their symmetries
SETS: list[Any] = [
    pytest.param(CENTRAL, (S.One,), id="central moments: mean"),
    pytest.param(SCALED, (x,), id="scaled moments: second moment"),
    pytest.param([skewness(x), kurtosis(x)], (S.One, x - M), id="skewness, kurtosis: mean and variance",
                 marks=pytest.mark.slow),
    pytest.param([M, skewness(x), kurtosis(x)], (x - M,), id="mean, skewness, kurtosis: variance",
                 marks=pytest.mark.slow),
]


@cache
def closed(*features: Any) -> Any:
    return involutive_closure(list(features), budget=120)


@pytest.mark.parametrize(("features", "added"), SETS)
def test_what_is_left_constant(features: list[Any], added: tuple[Any, ...]) -> None:
    closure = closed(*features)
    proof: Any = closure.certificate
    assert closure.status is Status.PROVED and closure.rank == N - len(added) and isinstance(proof, EverythingElse)
    assert proof.added == added and closure.is_involutive is False and closure.is_everything is False
    assert closure.verify(100) and "constant along the fields" in closure.reason and "rank N - " in str(closure)
    read = read_everything_else(json.loads(json.dumps(proof.to_dict())))
    assert read.to_dict() == proof.to_dict() and read.summary() == proof.summary()
    assert r"\operatorname{rank} = N - " in proof.latex()


@pytest.mark.parametrize(("features", "size"), [(SCALED, 3), (CENTRAL, 4)])
def test_the_rank_in_coordinates_by_iterated_brackets(features: list[Any], size: int) -> None:
    """The oracle: fields written out, brackets by the other algorithm until they bring nothing new."""
    explicit = involutive_closure(FeatureSet(features).at(n_samples=size), budget=60)
    assert explicit.rank == size - 1
    assert involutive_closure(features, n_samples=size, budget=60).rank == size - 1


def test_sets_without_the_symmetry_are_not_claimed() -> None:
    """Mean x^3 moves under shifts; three moments close before anything is everything."""
    for features, rank in (([central(2), Mean(x**3)], 3), ([M, central(2), skewness(x)], 3), ([central(4)], 1)):
        closure = involutive_closure(features)
        assert not isinstance(closure.certificate, EverythingElse) and closure.rank == rank


def test_forged_proofs_are_found() -> None:
    closure = closed(*CENTRAL)
    proof: Any = closure.certificate
    assert proof.verify()
    other: Any = involutive_closure([Mean(x), Mean(x**4)]).certificate
    assert isinstance(other, Everything)
    row = (S.One, S.Zero, S.Zero)
    for change in ({"added": (x,)}, {"added": ()}, {"added": (S.One, x)}, {"added": (x - M,)},
                   {"added": (S.One, S.One)}, {"whole": other}, {"structure": {}},
                   {"structure": {**proof.structure, (1, 2): row}},
                   {"structure": {**proof.structure, (2, 1): row}}, {"flag": other.flag},
                   {"whole": dataclasses.replace(proof.whole, functions=proof.whole.functions[:3])}):
        assert not dataclasses.replace(proof, **change).verify()
    subject = Subject.of([central(2), central(3), Mean(x**4) + Rational(1, 7) * Mean(x) ** 4])
    assert not dataclasses.replace(proof, subject=subject).verify()
    assert not dataclasses.replace(closure, rank=N).verify() and not dataclasses.replace(closure, rank=3).verify()
