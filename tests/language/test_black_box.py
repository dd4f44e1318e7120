"""Black boxes as features: what they are called, when they are the same, and that they have no expression."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from symdecouple.calculus.bracket import lie_bracket
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.black_box import BlackBox
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, x
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.verdict import Status


def largest(v: Any) -> Any:
    return v.max()


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, v: Any) -> Any:
        return self.factor * v.sum()

    def total(self, v: Any) -> Any:
        return self.factor * v.sum()


BOX = Feature.from_callable(largest)


def test_it_prints_by_its_name() -> None:
    assert str(BOX) == "largest" and repr(BOX) == "Feature(largest)"
    assert str(Feature.from_callable(largest, name="range_of $x")) == "range_of $x"
    assert str(Feature.from_callable(Scaled(2))) == "Scaled"
    assert str(Feature.from_callable(lambda v: v.sum())) == "black box"
    assert repr(FeatureSet([Mean(x), Group(Mean(x**2), BOX)])) == "FeatureSet([Mean(x), Group(Mean(x**2), largest)])"
    latex = Feature.from_callable(largest, name="a_b 50%")._repr_latex_()
    assert latex == r"$\displaystyle \text{a\_b 50\%}$"
    assert r"\text{largest}" in FeatureSet([Mean(x), BOX])._repr_latex_()


def test_the_callable_is_what_is_compared() -> None:
    assert Feature.from_callable(largest, name="another name") == BOX
    assert hash(Feature.from_callable(largest, name="another name")) == hash(BOX)
    assert Feature.from_callable(lambda v: v.max()) != Feature.from_callable(lambda v: v.max())
    assert Feature(Mean(x)) != BOX
    one, other = Scaled(1), Scaled(1)
    assert Feature.from_callable(one.total) == Feature.from_callable(one.total)  # a bound method is new each time
    assert Feature.from_callable(one.total) != Feature.from_callable(other.total)
    with pytest.raises(InvalidInput, match="features 1 and 3 are the same"):
        FeatureSet([BOX, Mean(x), Feature.from_callable(largest, name="again")])


def test_a_set_is_a_black_box_as_soon_as_one_feature_is() -> None:
    features = FeatureSet([Mean(x), BOX, Mean(x**2)])
    assert features.kind == BOX.kind == "black box" and features.symbolic == (Feature(Mean(x)),)
    assert features.sample == x and features.coordinates == () and not features.parameters
    assert FeatureSet([Mean(x)]).kind == "mean" and FeatureSet([BOX]).symbolic == ()
    assert FeatureSet([BOX]).sample == x
    with pytest.raises(InvalidInput, match="do not mix"):
        FeatureSet([Mean(x), BOX, coordinates(3)[0]])


def test_binding_and_writing_out_leave_it_alone() -> None:
    from sympy import Symbol

    bound = FeatureSet([Mean(Symbol("a") * x), BOX]).bind({"a": 3})
    assert bound == FeatureSet([Mean(3 * x), BOX])
    assert BOX.at(n_samples=3) is BOX and BOX.bind({}) is BOX
    assert FeatureSet([Mean(x), BOX]).at(n_samples=2)[1] == BOX


def test_it_is_pickled_as_its_callable_is() -> None:
    again = pickle.loads(pickle.dumps(FeatureSet([Mean(x), Feature.from_callable(np.ptp, name="range")])))
    assert again == FeatureSet([Mean(x), Feature.from_callable(np.ptp)]) and str(again[1]) == "range"


@pytest.mark.parametrize("ask", [
    lambda f: f.expr, lambda f: f.gradient, lambda f: lie_bracket(f, Mean(x)),
    lambda f: CompiledFeatures(FeatureSet([f])),
])
def test_nothing_symbolic_can_be_asked(ask: Any) -> None:
    with pytest.raises(UnsupportedExpression, match=r"largest.*black box|black box.*largest"):
        ask(BOX)


def test_verdicts_are_undecided_with_the_reason() -> None:
    for question, decide in (("C1", check_independence), ("C2", check_frobenius)):
        verdict = decide([Mean(x), BOX])
        assert verdict.question == question and verdict.status is Status.UNDECIDED
        assert "largest is a black box" in verdict.reason and "samples=" in verdict.reason
        assert verdict.subject == ("Mean(x)", "largest")


@pytest.mark.parametrize(("arguments", "said"), [
    ({"function": 3}, "a function of a sample vector"),
    ({"function": Scaled}, "a function of a sample vector"),  # the class, not an instance
    ({"function": largest, "gradient": 2.0}, "from differences"),
    ({"function": largest, "name": 7}, "one line of text"),
    ({"function": largest, "name": " "}, "one line of text"),
    ({"function": largest, "name": "two\nlines"}, "one line of text"),
    ({"function": largest, "vectorized": 1}, "True or False"),
])
def test_what_is_no_black_box_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        BlackBox(**arguments)
