"""Saved plans: the same numbers after reading, and nothing believed that was edited."""

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sympy import Abs, Float, Rational, S, cosh, log

from symdecouple import Feature, FeatureSet, FilterBank, Group, InvalidInput, Mean, Perturbation, Sample, Status, x
from symdecouple.decoupling.plan import Plan, decouple, plan_of
from symdecouple.decoupling.storage import plan_from_json, plan_to_json
from symdecouple.families import raw_moments, second_order_moments, tils

NOISE = np.random.default_rng(7).standard_normal(256).reshape(16, 16)
RESPONSES = np.array([np.ones((16, 16)), np.fft.fft2(NOISE)])
POSITIVE = Sample("t", positive=True)

PLANS: dict[str, tuple[Callable[[], Plan], Any]] = {
    "moments": (lambda: decouple(raw_moments(4), [0, 1, Rational(1, 7)], budget=math.inf), NOISE),
    "a group": (lambda: decouple(FeatureSet([Mean(x), Group(Mean(x**3), Mean(x**2)), Mean(x**4)])), NOISE),
    "a reference of 30 digits": (lambda: decouple([Mean(x), Mean(log(cosh(x))), Mean(x**2)]), NOISE),
    "another domain": (lambda: decouple([Mean(log(POSITIVE)), Mean(POSITIVE)], [0, 2]), np.exp(NOISE)),
    "kinks": (lambda: decouple(FeatureSet([Mean(x), Mean(Abs(x))], allow_nonsmooth=["Abs"])), NOISE),
    "coordinates": (lambda: decouple(raw_moments(2).at(n_samples=16)), NOISE),
    "perturbed": (lambda: decouple(raw_moments(4), path="narrow", budget=3, perturb=Perturbation("ramp", 0.01, 5)),
                  [0.0, 0, 0, 0, 1, 2]),
    "one left out": (lambda: decouple([Mean(x), Mean(x**2), Mean((x - 1)**2)], dependent="drop"), NOISE),
    "names": (lambda: decouple(FeatureSet([Mean(x), Mean(x**2)], names=["m", "second $"])), NOISE),
    "features added": (lambda: plan_of(raw_moments(3), (S(0), S(1), None), "auto", 30.0, None, (),
                                             tuple(raw_moments(3))[1:2]), NOISE),
    "energies": (lambda: decouple(second_order_moments(tils()), dependent="keep"), NOISE),
    "responses": (lambda: decouple(second_order_moments(FilterBank.from_responses(RESPONSES))), NOISE),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.filterwarnings("ignore::symdecouple.errors.RefusalWarning", "ignore::UserWarning")
def test_a_plan_that_is_read_gives_the_same_numbers(name: str) -> None:
    make, sample = PLANS[name]
    plan = make()
    read = plan_from_json(plan_to_json(plan))
    for what in ("features", "reference", "path", "perturbation", "left_out", "added"):
        assert getattr(read, what) == getattr(plan, what), what
    assert (read.names, read.features.names) == (plan.names, plan.features.names)
    assert read.choice.budget == plan.choice.budget
    assert [type(v) for v in read.reference] == [type(v) for v in plan.reference]  # floats keep their bits
    (values, told), (again, retold) = (p.transform(sample, on_refusal="return") for p in (plan, read))
    np.testing.assert_array_equal(again, values)
    assert retold == told
    first, second = (json.loads(p.to_json()) | {"verdicts": None} for p in (plan, read))
    assert first == second


def test_a_reference_of_30_digits_is_kept_as_it_is() -> None:
    assert any(isinstance(v, Float) and v._prec > 60 for v in PLANS["a reference of 30 digits"][0]().reference)


def test_a_black_box_is_no_text() -> None:
    plan = decouple([Mean(x), Feature.from_callable(lambda a: float(np.sum(a**4)), name="fourth")], [0])
    with pytest.raises(InvalidInput, match=r"fourth is a black box.*pickle"):
        plan_to_json(plan)


# --- verdicts -------------------------------------------------------------------------------------------------------


@cache
def decided() -> str:
    """A plan with verdicts of all kinds: proved, refuted, by covariance, of modified sets."""
    plan = decouple(raw_moments(4))
    for k in range(1, 5):
        plan.verdicts.original[k]
        plan.verdicts.modified[k]
    return plan_to_json(plan)


def edited(change: Callable[[dict[str, Any]], Any]) -> str:
    data = json.loads(decided())
    change(data)
    return json.dumps(data)


def test_verdicts_are_taken_when_they_are_recomputed_and_not_before() -> None:
    told = json.loads(decided())["verdicts"]
    assert set(told["original"]) == set("1234") and set(told["modified"]) >= set("123")
    assert not plan_from_json(decided()).verdicts.original.decided
    taken = plan_from_json(decided(), verify=True).verdicts
    assert [v.status for v in taken.original.decided.values()] == [Status.PROVED] * 3 + [Status.REFUTED]
    assert {str(k): v.status.name for k, v in taken.modified.decided.items()} == {
        k: v["status"] for k, v in told["modified"].items()}


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "of other features": lambda d: d["verdicts"]["original"].update(
        {"2": d["verdicts"]["original"]["3"], "3": d["verdicts"]["original"]["2"]}),
    "of other references": lambda d: d["reference"].__setitem__(2, "1/3"),
    "an original one for a modified set": lambda d: d["verdicts"]["modified"].update(
        {"4": d["verdicts"]["original"]["4"]}),
    "a set that is not there": lambda d: d["verdicts"]["original"].update({"5": d["verdicts"]["original"]["4"]}),
    "another answer": lambda d: d["verdicts"]["original"]["4"].update(status="PROVED"),
    "no certificate": lambda d: d["verdicts"]["original"]["3"].update(certificate=None),
    "C1 for C2": lambda d: d["verdicts"]["original"].update({"3": d["verdicts"]["original"]["3"]["independence"]}),
    "no number of a set": lambda d: d["verdicts"]["original"].update(two=d["verdicts"]["original"]["2"]),
    "no verdicts": lambda d: d["verdicts"].pop("modified"),
    "another domain": lambda d: d.update(domain="x=positive"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_verdict_is_not_taken(name: str) -> None:
    with pytest.raises(InvalidInput):
        plan_from_json(edited(FORGED[name]), verify=True)


# --- edited by hand -------------------------------------------------------------------------------------------------

EDITED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a newer version": (lambda d: d.update(version=2, written_by="9.1"), "version 2 .* symdecouple 9.1.* newer"),
    "no version": (lambda d: d.pop("version"), "version None"),
    "another file": (lambda d: d.update(format="symdecouple.verdict"), "no symdecouple.plan.*verdict_from_json"),
    "a key is missing": (lambda d: d.pop("path"), "lacks 'path'"),
    "a key too many": (lambda d: d.update(paths="auto"), "has 'paths', which is unknown"),
    "no feature": (lambda d: d.update(features=[]), "features of the plan: .*at least one"),
    "a feature of code": (lambda d: d["features"][1].update(text="__import__('os')"), "features of the plan"),
    "a feature twice": (lambda d: d["features"].__setitem__(1, d["features"][0]), "features 1 and 2 are the same"),
    "a parameter": (lambda d: d["features"][1].update(text="mean(a*x^2)"), "a is not bound"),
    "features as text": (lambda d: d.update(features="mean(x)"), "features of the plan: list is expected"),
    "features nested too deep": (lambda d: d["features"].__setitem__(1, [[d["features"][1]]]), "features of the plan"),
    "a word beside a text": (lambda d: d["features"][1].update(nickname="v"), "features of the plan: TypeError"),
    "too few references": (lambda d: d["reference"].pop(), "4 features have 4 references, got 3"),
    "a reference in the middle is missing": (lambda d: d["reference"].__setitem__(1, None), "reference of the plan"),
    "a reference that is a number": (lambda d: d["reference"].__setitem__(1, 1.0), "reference of the plan"),
    "a reference that is no number": (lambda d: d["reference"].__setitem__(1, "mean(x)"), "reference of the plan"),
    "a complex reference": (lambda d: d["reference"].__setitem__(1, "sqrt(-1)"), "reference of the plan"),
    "a huge float": (lambda d: d["reference"].__setitem__(
        1, {"mantissa": "1", "exponent": 10**9, "bits": 53}), "is no float"),
    "a variance of -1": (lambda d: d["reference"].__setitem__(1, "-1"), "variance|second|attain"),
    "an unknown path": (lambda d: d.update(path="auto?"), "path='auto\\?'"),
    "a budget of nothing": (lambda d: d.update(budget=-1), "budget"),
    "a budget in words": (lambda d: d.update(budget="30"), "budget of the plan"),
    "an unknown perturbation": (lambda d: d.update(perturbation={"kind": "noise"}), "perturb='noise'"),
    "a feature added that is none": (lambda d: d.update(added=[{"text": "mean(x^9)"}]), "added of the plan"),
    "a domain that is none": (lambda d: d.update(domain="x=even"), "domain of the plan"),
    "a response that is not real": (lambda d: d.update(responses=[{"name": "h", "real": [1, 2, 3], "imag": [0, 1, 1]}]),
                                    "responses of the plan.*not real"),
}


@pytest.mark.parametrize("name", EDITED)
def test_a_plan_that_was_edited_is_refused_in_one_line(name: str) -> None:
    change, told = EDITED[name]
    with pytest.raises(InvalidInput, match=told):
        plan_from_json(edited(change))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "3", "{", "[" * 100_000, '{"format": NaN}', None, b"{}",
                                  decided()[:-5], "9" * 5000])
def test_what_is_no_plan_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput):
        plan_from_json(text)


JUNK = st.one_of(st.none(), st.booleans(), st.integers(-3, 10**30), st.floats(allow_nan=False, allow_infinity=False),
                 st.text(max_size=12), st.just([]), st.just({}), st.just(["mean(x)"]), st.just({"text": "mean(x^3)"}))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_change_is_a_plan_or_is_refused(data: st.DataObject) -> None:
    tree = json.loads(plan_to_json(decouple(raw_moments(2))))
    node: Any = tree
    while True:  # go down somewhere, and change one entry
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if isinstance(node[key], dict | list) and node[key] and data.draw(st.booleans()):
            node = node[key]
            continue
        node[key] = data.draw(JUNK)
        break
    try:
        assert isinstance(plan_from_json(json.dumps(tree)), Plan)
    except InvalidInput as error:
        assert len(str(error)) < 600
