"""What may be declared as a feature or a set, and what is refused with a remedy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Abs, Function, Max, Min, Mod, Piecewise, Rational, Symbol, ceiling, exp, floor, log, sign, sin, sqrt

from symdecouple import stats
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.families.moments import raw_moments
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import central_moment, kurtosis, variance

a = Symbol("a")
m, s = Mean(x), Mean(x**2)
x1, x2, x3 = coordinates(3)


@pytest.mark.parametrize("value", [0, 3, Rational(1, 2), a, a**2 + 1, sp.pi, Mean(3)])
def test_a_constant_is_no_feature(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"does not depend on the sample.*Mean"):
        Feature(value)


@pytest.mark.parametrize("value", [x, x**2 + m, exp(x) * s])
def test_a_bare_sample_asks_to_be_averaged(value: Any) -> None:
    with pytest.raises(InvalidInput, match="average it, Mean"):
        Feature(value)


@pytest.mark.parametrize("value", [Symbol("x"), Symbol("x") * m, m + Symbol("x", real=True) ** 2])
def test_a_plain_symbol_named_x_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="not the sample"):
        Feature(value)


@pytest.mark.parametrize("value", ["mean(x)", None, True, [m], m > 0, sp.Matrix([m]), object()])
def test_what_is_no_expression_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="Feature takes"):
        Feature(value)


@pytest.mark.parametrize("value", [sp.I * m, m * sp.oo, m * sp.zoo, m + sp.nan, sqrt(-1) * m, log(-1) * m])
def test_what_is_not_real_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        Feature(value)


def test_mixtures_are_refused() -> None:
    with pytest.raises(InvalidInput, match="mixes averages and explicit coordinates"):
        Feature(m + x1)
    with pytest.raises(InvalidInput, match="sizes"):
        Feature(x1 + coordinates(4)[0])
    with pytest.raises(InvalidInput, match="different domains"):
        Feature(m + Mean(sample(positive=True)))
    with pytest.raises(InvalidInput, match="do not mix"):
        FeatureSet([m, x1])
    with pytest.raises(InvalidInput, match="different domains"):
        FeatureSet([m, Mean(sample(positive=True) ** 2)])
    with pytest.raises(InvalidInput, match="different numbers of coordinates"):
        FeatureSet([x1, coordinates(4)[0]])


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (Abs(x), ["Abs"]), (sign(x) * x, ["sign"]), (Max(x, 0), ["Max"]), (Min(x, 1), ["Min"]), (floor(x), ["floor"]),
        (ceiling(x), ["ceiling"]), (Mod(x, 2), ["Mod"]), (sp.Heaviside(x), ["Heaviside"]),
        (Piecewise((x, x > 0), (0, True)), ["Piecewise"]), (Abs(x) + Max(x, a), ["Abs", "Max"]),
        (Piecewise((Abs(x), Abs(x) < 1), (1, True)), ["Abs", "Piecewise"]), (sqrt(x**2), ["Abs"]),
    ],
    ids=str,
)
def test_kinks_are_refused_and_named_and_can_be_allowed(body: sp.Expr, names: list[str]) -> None:
    with pytest.raises(UnsupportedExpression, match="allow_nonsmooth") as refusal:
        Feature(Mean(body))
    assert str(names) in str(refusal.value), "the remedy lists exactly what must be allowed"
    assert Feature(Mean(body), allow_nonsmooth=names).allow_nonsmooth == frozenset(names)
    assert FeatureSet([Mean(body)], allow_nonsmooth=names)[0].allow_nonsmooth == frozenset(names)


def test_a_kink_in_a_statistic_is_one_too() -> None:
    with pytest.raises(UnsupportedExpression, match="Abs"):
        Feature(Abs(m))
    with pytest.raises(UnsupportedExpression, match="Abs"):
        Feature(sqrt(m**2))


def test_unknown_permissions_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"allow_nonsmooth names \['abs'\]"):
        Feature(m, allow_nonsmooth="abs")


def test_floats_are_exact_decimals() -> None:
    assert Feature(0.1 * m) == Feature(m / 10)
    assert FeatureSet([m, 0.3 * s])[1].expr == 3 * s / 10


# --- sets -------------------------------------------------------------------------------------------------------


def test_an_empty_set_is_refused_with_an_example() -> None:
    with pytest.raises(InvalidInput, match=r"at least one feature.*FeatureSet\(\["):
        FeatureSet([])


@pytest.mark.parametrize("value", ["mean(x)", m, Feature(m), 3, None])
def test_what_is_no_list_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"FeatureSet\(\[\.\.\.\]\)"):
        FeatureSet(value)


def test_duplicates_are_refused_with_their_places() -> None:
    with pytest.raises(InvalidInput, match="features 1 and 3 are the same"):
        FeatureSet([m, s, Mean(sample("t"))])


def test_one_feature_is_a_set() -> None:
    assert len(FeatureSet([m])) == 1 and list(FeatureSet([m])) == [Feature(m)]


def test_order_and_groups_are_part_of_the_set() -> None:
    grouped = FeatureSet([m, Group(s, kurtosis())])
    assert grouped.groups == ((0,), (1, 2)) and len(grouped) == 3
    assert grouped != FeatureSet([m, s, kurtosis()]) and FeatureSet([m, s]) != FeatureSet([s, m])
    assert grouped.at(n_samples=3).groups == grouped.groups and "Group" in repr(grouped)
    with pytest.raises(InvalidInput, match="at least one"):
        Group()


def test_what_a_set_says_about_itself() -> None:
    h, q = Filter("h"), Function("q")
    features = FeatureSet([m, Mean(a * h(x) ** 2), Mean(q(x))])
    assert features.parameters == {a, h, q} and features.kind == "mean" and features.coordinates == ()
    assert features.sample == x and FeatureSet([Mean(sample(positive=True))]).sample.is_positive
    explicit = FeatureSet([x1 + x2, x3])
    assert explicit.kind == "coordinates" and explicit.coordinates == (x1, x2, x3) and not explicit.parameters


@pytest.mark.parametrize("n", [1, 0, True, 2.5])
def test_at_needs_two_samples(n: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        FeatureSet([m]).at(n_samples=n)


def test_features_are_values() -> None:
    feature = Feature(Mean(Abs(x)) + a, allow_nonsmooth=["Abs"])
    features = FeatureSet([m, Group(variance(), feature)])
    for value in (feature, features, FeatureSet([x1, x2 * x3]), Feature(Mean(sin(a * x)))):
        for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert twin == value and hash(twin) == hash(value) and repr(twin) == repr(value)
    twin = pickle.loads(pickle.dumps(feature))
    assert twin.allow_nonsmooth == {"Abs"}
    for value, name in ((feature, "expr"), (features, "features")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, None)
    assert feature._repr_latex_().startswith("$") and features._repr_latex_().count("$") == 2
    assert Feature(feature) == feature and Feature(feature).allow_nonsmooth == {"Abs"}


# --- text, functions, names ---


def test_features_of_a_set_may_be_text() -> None:
    assert FeatureSet(["mean(x)", "variance()", Mean(x**3)]) == FeatureSet([Mean(x), variance(), Mean(x**3)])
    assert Group("mean(x)", "mean(x^2)").features == (Feature(m), Feature(s))
    assert FeatureSet(["mean(abs(x))"], allow_nonsmooth=["Abs"])[0] == Feature(Mean(Abs(x)), allow_nonsmooth="Abs")
    with pytest.raises(InvalidInput, match="at character 5"):
        FeatureSet(["mean(x"])


@pytest.mark.parametrize("given, said", [
    (lambda v: v, "Feature.from_callable"), (len, "Feature.from_callable"), (variance, r"write variance\(\)"),
    (kurtosis, r"write kurtosis\(\)"), (central_moment, r"write central_moment\(3\)"), (Mean, r"write Mean\(x\)"),
    (raw_moments, r"write raw_moments\(\.\.\.\)"), (stats.skewness, "computes numbers"),
    (Filter([1, -2, 1]), "second_order_moments"), (np.mean, "Feature.from_callable"),
])
def test_slips_of_the_pen_are_told_what_to_write(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        FeatureSet([m, given])
    with pytest.raises(InvalidInput, match=said):
        FeatureSet(given)


def test_a_set_without_an_order_is_refused() -> None:
    with pytest.raises(InvalidInput, match="list of features"):
        FeatureSet({m, s})


def test_names_go_with_the_features() -> None:
    named = FeatureSet([m, Group(s, Mean(x**3 + a))], names=["m", "s", "cubes"])
    assert named.names == ("m", "s", "cubes") and named == FeatureSet([m, Group(s, Mean(x**3 + a))])
    twins = named.bind({a: 2}), named.at(n_samples=2), pickle.loads(pickle.dumps(named)), FeatureSet([*named])
    assert all(twin.names == named.names for twin in twins)
    assert FeatureSet([m, Feature(s, name="power")]).names == ("Mean(x)", "power")
    assert FeatureSet([m, named[1]], names=["a", "b"]).names == ("a", "b")  # the latest name counts
    both = FeatureSet([Feature(m, name="f"), Feature(s, name="f"), Feature.from_callable(max)])
    assert both.names == ("Mean(x)", "Mean(x**2)", "max")  # a name of two is none


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], "a", [1, 2], ["a", " b"], ["a\n", "b"], "abc"])
def test_names_that_do_not_fit(names: Any) -> None:
    with pytest.raises(InvalidInput, match="name"):
        FeatureSet([m, s], names=names)
