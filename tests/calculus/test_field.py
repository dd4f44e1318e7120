"""Vector fields as values: what is accepted, refused, bound, spread and printed."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import sympy as sp
from sympy import Abs, Function, Symbol, exp, oo

from symdecouple.calculus.bracket import lie_bracket
from symdecouple.calculus.field import VectorField, one_sample
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x

a = Symbol("a")
m = Mean(x)
x1, x2 = coordinates(2)
p, t = sample(positive=True), sample("t")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (([x1, x2],), "need their coordinates"), (([x1], [x1, x2]), "one component for each"),
        (([x1, x2], [x1, x1]), "distinct"), (([m, x2], [x1, x2]), "no averages"), (([x, x2], [x1, x2]), "no averages"),
        ((x1,), "give all components"), ((x * t,), "one sample"), (("x",), "expression"),
        ((sp.Matrix([x]),), "columns"), ((True,), "expression"), ((None,), "expression"),
    ],
)
def test_bad_fields_are_refused(args: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        VectorField(*args)


def test_kinks_are_refused_and_can_be_allowed() -> None:
    with pytest.raises(UnsupportedExpression, match=r"allow_nonsmooth=\['Abs'\]"):
        VectorField(Abs(x))
    assert VectorField(Abs(x), allow_nonsmooth=["Abs"]).allow_nonsmooth == {"Abs"}


def test_kinds_and_parts() -> None:
    u, v = VectorField(a * x - m), VectorField([x1, exp(x2)], [x1, x2])
    assert (u.kind, u.expr, u.parameters, u.sample) == ("mean", a * x - m, {a}, x)
    assert (v.kind, v.components, v.coordinates, v.parameters) == ("coordinates", (x1, exp(x2)), (x1, x2), frozenset())
    with pytest.raises(InvalidInput, match="2 components"):
        _ = v.expr
    assert VectorField(0.5 * x).expr == x / 2 and VectorField(3).expr == 3


def test_binding_and_spreading() -> None:
    f = Function("f")
    assert VectorField(a * f(x)).bind({a: 2, f: x**2}) == VectorField(2 * x**2)
    assert VectorField([a * x1, 0], [x1, x2]).bind({"a": 3}) == VectorField([3 * x1, 0], [x1, x2])
    assert VectorField(x - m).at(n_samples=2).components == ((x1 - x2) / 2, (x2 - x1) / 2)
    assert VectorField(shift(1)(x)).at(n_samples=2).components == (x2, x1)
    assert VectorField([x1, x2], [x1, x2]).at(n_samples=2).components == (x1, x2)
    with pytest.raises(InvalidInput, match="2 coordinates, not 3"):
        VectorField([x1, x2], [x1, x2]).at(n_samples=3)


def test_one_sample_of_several_fields() -> None:
    assert one_sample([VectorField(1), VectorField(p)]) == p and one_sample([VectorField(1)]) == x
    assert VectorField(t**2).in_sample(x) == VectorField(x**2) and VectorField(m).in_sample(t) == VectorField(m)
    for fields in ([VectorField(p), VectorField(x)], [VectorField(p * m)], [VectorField(p), Feature(m)]):
        with pytest.raises(InvalidInput, match="different domains"):
            one_sample(fields)
    assert lie_bracket(VectorField(p), VectorField(1)).expr == -1 == lie_bracket(VectorField(t), VectorField(1)).expr
    assert lie_bracket(VectorField(t), VectorField(x**2)) in (VectorField(t**2), VectorField(x**2))
    with pytest.raises(InvalidInput, match="different domains"):
        lie_bracket(VectorField(sample(interval=(-oo, 0))), VectorField(x))


@pytest.mark.parametrize(
    "field",
    [
        VectorField(a * x - m), VectorField([x1, -x2], [x1, x2]), Feature(Mean(x**3)).gradient,
        Feature(Mean(Filter("h")(x) ** 2)).gradient, VectorField(Abs(p - 1), allow_nonsmooth=["Abs"]),
    ],
    ids=str,
)
def test_fields_are_values(field: VectorField) -> None:
    for twin in (pickle.loads(pickle.dumps(field)), copy.copy(field), copy.deepcopy(field)):
        assert twin == field and hash(twin) == hash(field) and str(twin) == str(field)
        assert twin.allow_nonsmooth == field.allow_nonsmooth and twin.gradient_of == field.gradient_of
    with pytest.raises(AttributeError, match="immutable"):
        field.components = ()
    assert field._repr_latex_().count("$") == 2


def test_a_gradient_shows_its_n() -> None:
    assert (
        str(Feature(Mean(x**2)).gradient) == "N grad f = 2*x" and r"N\,\nabla f" in Feature(m).gradient._repr_latex_()
    )
    assert str(Feature(x1 * x2).gradient) == "grad f = (x2, x1)" and str(VectorField(x)) == "x"
