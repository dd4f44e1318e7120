"""The involutive closure: averages for every N, fields in coordinates, points, parameters, forged certificates."""

from __future__ import annotations

import dataclasses
import json
import pickle
import time
from typing import Any

import pytest
import sympy as sp
from sympy import Function, Matrix, Rational, S, Symbol, cos, cosh, exp, log, sin, sinh, sqrt, symbols, tanh

from symdecouple import (
    FeatureSet,
    Filter,
    InvolutiveClosure,
    Mean,
    OneForm,
    Status,
    VectorField,
    coordinates,
    involutive_closure,
    kurtosis,
    sample,
    skewness,
    variance,
    x,
)
from symdecouple.calculus.closure_claims import Closed, Everything, read_closure
from symdecouple.errors import InvalidInput, SymdecoupleError, UnsupportedExpression

N = Symbol("N")
p, q, r, s, a, b = symbols("p q r s a b")
y = sample("x", positive=True)


def powers(*orders: Any, of: Any = x) -> list[Any]:
    return [Mean(of**k) for k in orders]


# features, rank, growth as far as it is known: Lie's theorem, by hand
AVERAGES: list[tuple[str, list[Any], Any, tuple[int, ...]]] = [
    ("x", powers(1), 1, (1,)),
    ("x, x2", powers(1, 2), 2, (2,)),
    ("x2, x5", powers(2, 5), 2, (2,)),
    ("x, x2, x3", powers(1, 2, 3), 3, (3,)),
    ("x, x3", powers(1, 3), 3, (2, 3)),
    ("1/x, x5", powers(-1, 5, of=y), 3, (2, 3)),
    ("x^3/2, x^5/2", powers(Rational(3, 2), Rational(5, 2), of=y), 3, (2, 3)),
    ("sin, cos", [Mean(sin(x)), Mean(cos(x))], 3, (2, 3)),
    ("x, sin, cos", [Mean(x), Mean(sin(x)), Mean(cos(x))], 3, (3,)),
    ("x, sin", [Mean(x), Mean(sin(x))], 3, (2, 3)),
    ("exp, exp-", [Mean(exp(x)), Mean(exp(-x))], 3, (2, 3)),
    ("sinh, cosh", [Mean(sinh(x)), Mean(cosh(x))], 3, (2, 3)),
    ("mean, variance, kurtosis", [Mean(x), variance(x), kurtosis(x)], 3, (3,)),
    ("mean, variance, skewness", [Mean(x), variance(x), skewness(x)], 3, (3,)),
    ("variance, kurtosis", [variance(x), kurtosis(x)], 2, (2,)),
    ("dependent", [*powers(1, 2), 2 * Mean(x) + Mean(x**2)], 2, (2,)),
    ("functions of averages", [Mean(x) * Mean(x**2), Mean(x**3)], 3, (2, 3)),
    ("two channels of one average", [Mean(x) + Mean(x**2) ** 2, Mean(x**3)], 3, (2, 3)),
    ("x..x4", powers(1, 2, 3, 4), N, (4, 5)),
    ("x, x4", powers(1, 4), N, (2, 3, 5)),
    ("x3, x4", powers(3, 4), N, (2, 3, 5)),
    ("x, x2, x4", powers(1, 2, 4), N, (3, 4)),
    ("x, sqrt x", powers(1, Rational(1, 2), of=y), N, (2, 3, 5)),
    ("x, log x", [Mean(y), Mean(log(y))], N, (2, 3, 5)),
    ("exp, exp 2x", [Mean(exp(x)), Mean(exp(2 * x))], N, (2, 3, 5)),
    ("sin, cos, sin 2x", [Mean(sin(x)), Mean(cos(x)), Mean(sin(2 * x))], N, (3, 6)),
    ("x, tanh", [Mean(x), Mean(tanh(x))], N, (2, 3, 5)),
    ("x, a bump", [Mean(x), Mean(exp(-(x**2)))], N, (2, 3, 5)),
    ("mean, variance, x4", [Mean(x), variance(x), Mean(x**4)], N, (3, 4)),
]


LONG = {"x, tanh", "sin, cos, sin 2x", "mean, variance, skewness", "mean, variance, kurtosis", "variance, kurtosis",
        "two channels of one average", "x, a bump", "x, sqrt x", "exp, exp 2x", "x, log x", "mean, variance, x4"}


@pytest.mark.parametrize(("features", "rank", "growth"), [
    pytest.param(*row[1:], id=row[0], marks=[pytest.mark.slow] * (row[0] in LONG)) for row in AVERAGES])
def test_averages_for_every_size(features: list[Any], rank: Any, growth: tuple[int, ...]) -> None:
    closure = involutive_closure(features)
    assert (closure.rank, closure.growth, closure.status) == (rank, growth, Status.PROVED)
    assert closure.verify() and isinstance(closure.certificate, Everything if rank == N else Closed)
    read = read_closure(json.loads(json.dumps(closure.to_dict()["certificate"])))
    assert read.summary() == closure.certificate.summary() and (len(features) > 1 or read.verify())
    assert closure.is_everything is (rank == N) and closure.is_involutive is (len(growth) == 1)
    assert f"rank {rank}, PROVED" in str(closure)


@pytest.mark.parametrize(("features", "rank"), [(row[1], row[2]) for row in AVERAGES[:4] + AVERAGES[18:21]])
@pytest.mark.parametrize("size", [2, 5, 40])
def test_averages_of_one_size(features: list[Any], rank: Any, size: int) -> None:
    closure = involutive_closure(features, n_samples=size)
    assert closure.rank == (size if rank == N else min(rank, size)) and closure.verify()


def test_the_fields_are_those_of_the_theorem() -> None:
    cubic = involutive_closure(powers(1, 3))
    assert Matrix([f.expr for f in cubic.fields]) == Matrix([1, 3 * x**2, 2 * x])
    circle = involutive_closure([Mean(sin(x)), Mean(cos(x))])
    assert {abs(f.expr) for f in circle.fields} == {abs(cos(x)), abs(sin(x)), 1}
    assert cubic.n0 == 3 and circle.n0 == 3


@pytest.mark.slow
def test_four_moments_in_standard_form_close_to_everything() -> None:
    closure = involutive_closure([Mean(x), variance(x), skewness(x), kurtosis(x)])
    assert closure.rank == N and closure.verify()


def test_what_is_not_decided_is_said_to_be() -> None:
    unknown = involutive_closure([skewness(x), kurtosis(x)], budget=0.5)
    assert unknown.status is Status.UNDECIDED and unknown.rank is None and unknown.certificate is None
    assert not unknown.verify() and "rank not known" in str(unknown) and unknown.is_everything is False
    h, f = Filter("h"), Function("f")
    for features, said in (([Mean(x), Mean(h(x) ** 3)], "n_samples="), ([Mean(x), Mean(f(x))], "bind"),
                           (FeatureSet([Mean(x), Mean(abs(x))], allow_nonsmooth=["Abs"]), "kinks")):
        closure = involutive_closure(features)
        assert closure.status is Status.UNDECIDED and said in closure.reason


def test_the_budget_is_kept() -> None:
    start = time.process_time()
    involutive_closure([skewness(x), kurtosis(x), Mean(x**5)], budget=0.5)
    involutive_closure([Mean(tanh(x)), Mean(x**7), Mean(sin(x))], budget=0.5)
    assert time.process_time() - start < 5


def test_lies_theorem_is_not_used_without_analyticity() -> None:
    """Five bumps with disjoint supports are involutive with rank 5: kinks must not count as functions on a line."""
    u = sp.Piecewise((x**2, x > 0), (0, True))
    features = FeatureSet([Mean(x), Mean(x**2), Mean(x**3), Mean(u)], allow_nonsmooth=["Piecewise"])
    closure = involutive_closure(features)
    assert closure.status is Status.UNDECIDED and closure.rank is None


def test_filters_at_one_size() -> None:
    h = Filter([1, 2, 1])
    energies = involutive_closure([Mean(x), Mean(h(x) ** 2)], n_samples=5)
    assert energies.growth == (2,) and energies.rank == 2 and energies.verify()
    for size in (None, 64):  # commuting energies are their own closure, whatever the kernel
        generic = involutive_closure([Mean(x), Mean(Filter("h")(x) ** 2)], n_samples=size)
        assert generic.rank == 2 and generic.verify()


@pytest.mark.slow
def test_symbolic_orders_find_the_cases_of_lie() -> None:
    n = Symbol("n", positive=True)
    closure = involutive_closure([Mean(y), Mean(y**n)])
    assert closure.rank == N and closure.verify()
    assert {at[n]: rank for at, rank in closure.exceptions} == {1: 1, 2: 2, 3: 3}
    triple = involutive_closure([Mean(y ** (2 - n)), Mean(y ** (2 + n))])
    assert triple.rank == 3 and triple.verify()


def test_forms_whose_rank_a_parameter_lowers() -> None:
    closure = involutive_closure([OneForm([1, 0, 0], [p, q, r]), OneForm([0, a, 0], [p, q, r])])
    assert closure.rank == 1 and closure.exceptions == (({a: S.Zero}, 2),) and closure.at({a: 0}).rank == 2


def test_features_and_fields_mix_and_forms_are_taken() -> None:
    assert involutive_closure([Mean(x), VectorField(x**2)]).rank == 3
    assert involutive_closure([OneForm([-r, 1, 0], [p, q, r])]).growth == (2, 3)
    x1, x2, x3 = coordinates(3)
    assert involutive_closure(FeatureSet([x1 + x2, x3 * x1])).rank == 3


def columns(*rows: Any, of: Any = (p, q, r)) -> tuple[VectorField, ...]:
    return VectorField.columns(rows, of)


MARTINET = columns([1, 0], [0, 1], [0, p**2 / 2])


# fields, point, growth there, dimension of the orbit: by hand
POINTS: list[tuple[Any, Any, tuple[int, ...], int]] = [
    (MARTINET, [0, 0, 0], (2, 2, 3), 3),
    (MARTINET, [1, 2, 3], (2, 3), 3),
    (columns([1, 0], [0, 1], [0, p**4]), [0, 1, 1], (2, 2, 2, 2, 3), 3),
    (columns([1, 0], [0, p], of=(p, q)), [0, 0], (1, 2), 2),
    (columns([1, 0], [0, p], of=(p, q)), {p: 3, q: 0}, (2,), 2),
    ([VectorField([p], [p])], [0], (0,), 0),
    ([VectorField([p], [p])], [1], (1,), 1),
    (columns([0, r, -q], [-r, 0, p], [q, -p, 0]), [0, 0, 0], (0,), 0),
    (columns([0, r, -q], [-r, 0, p], [q, -p, 0]), [1, 0, 0], (2,), 2),
    (columns([q, 0], [0, p], of=(p, q)), [0, 0], (0,), 0),
    (columns([cos(r), 0], [sin(r), 0], [0, 1]), {"r": sp.pi / 2, "p": 1, "q": 1}, (2, 3), 3),
    (powers(1, 2, 3), [1, 1, 2, 5, 5], (3,), 3),
    (powers(1, 2, 3), [1, 1, 2, 2, 2], (2,), 2),
    (powers(1, 3), [0, 1, 2, 3], (2, 3), 3),
]


@pytest.mark.parametrize(("fields", "point", "growth", "rank"), POINTS, ids=range(len(POINTS)))
def test_growth_at_a_point(fields: Any, point: Any, growth: tuple[int, ...], rank: int) -> None:
    assert involutive_closure(fields).growth_at(point) == (growth, rank)


def test_what_is_asked_at_a_wrong_point_is_refused() -> None:
    pole = involutive_closure(columns([1, 0], [0, 1], [0, 1 / p]))
    for point, error, said in (([0, 1, 1], InvalidInput, "not defined at p = 0"),
                               ([1, 2], InvalidInput, "a value for each"),
                               ({"p": 1, "q": 2, "z": 3}, InvalidInput, "a value for each")):
        with pytest.raises(error, match=said):
            pole.growth_at(point)
    with pytest.raises(UnsupportedExpression, match="rational"):
        involutive_closure(columns([cos(r), 0], [sin(r), 0], [0, 1])).growth_at([0, 0, 1])
    with pytest.raises(InvalidInput, match="no values"):
        involutive_closure(columns([1, 0], [0, 1], [0, a * p])).growth_at([0, 0, 0])
    with pytest.raises(InvalidInput, match="not defined"):
        involutive_closure([VectorField([sqrt(p), 1], [p, q])]).growth_at([-1, 0])


def test_a_parameter_at_which_the_rank_drops() -> None:
    moments = involutive_closure([Mean(x), Mean(x**3) + a * Mean(x**4)])
    assert moments.rank == N and moments.exceptions == (({a: S.Zero}, 3),) and moments.at({a: 0}).rank == 3
    assert "except at a = 0: there the rank is 3" in str(moments) and "generic values of a" in str(moments)
    bent = involutive_closure(columns([1, 0], [0, 1], [0, a * p]))
    assert bent.rank == 3 and bent.exceptions == (({a: S.Zero}, 2),)
    disc = involutive_closure(columns([b * cos(r), 0], [b * sin(r), 0], [0, 1], [1, 0], of=(p, q, r, s)))
    assert disc.rank == 4 and disc.at({b: 0}).rank == 2


REFUSED: list[tuple[Any, str]] = [
    (Matrix([[1, 0], [0, 1]]), r"VectorField.columns.*OneForm.rows"),
    ([VectorField([1, 0], [p, q]), VectorField([1, 0, 0], [p, q, r])], "different spaces"),
    ([OneForm([1, 0], [p, q]), OneForm([1, 0, 0], [p, q, r])], "different spaces"),
    (5, "give a FeatureSet"), ([], "feature"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_bad_input_is_refused(given: Any, said: str) -> None:
    with pytest.raises(SymdecoupleError, match=said):
        involutive_closure(given)


def test_fields_that_vanish() -> None:
    for zero in (S.Zero, sin(p) ** 2 + cos(p) ** 2 - 1):
        nothing = involutive_closure([VectorField([zero, 0], [p, q])])
        assert (nothing.rank, nothing.growth, nothing.fields) == (0, (0,), ()) and nothing.verify()
    one = involutive_closure([VectorField([0, 0], [p, q]), VectorField([q, 0], [p, q])])
    assert one.rank == 1 and one.growth == (1,) and one.verify()


def test_forged_closures_are_found() -> None:
    closure = involutive_closure(MARTINET)
    proof = closure.certificate
    flag = proof.flag
    forged = [
        dataclasses.replace(flag, parents={3: (1, 1)}),
        dataclasses.replace(flag, structure={(1, 2): (S.Zero, S.Zero, 2 * p)}),
        dataclasses.replace(flag, structure={}),
        dataclasses.replace(flag, structure={(1, 2): (S.Zero, S.Zero, S.Zero)}),
        dataclasses.replace(flag, starts=(2, 1)),
    ]
    assert proof.verify()
    for other in forged:
        assert not dataclasses.replace(proof, flag=other).verify()
    smaller = involutive_closure(columns([1, 0], [0, 1], [0, 0])).certificate
    assert not dataclasses.replace(smaller, subject=proof.subject).verify()  # not closed: a bracket leaves the span
    assert not dataclasses.replace(closure, rank=2).verify()
    assert not dataclasses.replace(closure, growth=(2, 2)).verify()


def test_a_forged_proof_of_everything_is_found() -> None:
    proof = involutive_closure(powers(1, 4)).certificate
    one, cube, square, line = proof.functions
    assert proof.verify()
    assert not dataclasses.replace(proof, functions=(one, cube, square, square)).verify()
    assert not dataclasses.replace(proof, functions=(one, cube, square, line + x**7)).verify()
    assert not dataclasses.replace(proof, functions=proof.functions[:3], weights=proof.weights[:3]).verify()
    assert not dataclasses.replace(proof, subject=involutive_closure(powers(1, 3)).subject).verify()


def test_closures_are_read_and_verified() -> None:
    for given in (powers(1, 3), powers(1, 4), MARTINET, [VectorField([q, -p], [p, q])]):
        proof = involutive_closure(given).certificate
        assert read_closure(json.loads(json.dumps(proof.to_dict()))).verify()


def test_a_closure_is_a_value() -> None:
    closure = involutive_closure(powers(1, 3))
    assert isinstance(closure, InvolutiveClosure)
    assert pickle.loads(pickle.dumps(closure)) == closure
    with pytest.raises(dataclasses.FrozenInstanceError):
        closure.rank = 4  # type: ignore[misc]
