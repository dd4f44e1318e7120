"""The plan along closed forms: decoupled values, round trips, exact gradients, and what is refused."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Symbol, cos, exp, sin

from symdecouple import Group, InvalidInput, Mean, NoClosedForm, Plan, decouple, kurtosis, skewness, variance, x
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.feature_set import FeatureSet
from tests.stats.oracle import TABLE, central_moments, orthokurtosis

MOMENTS = [Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)]
SETS = {
    "raw moments": (MOMENTS, "gaussian"),
    "standardized": ([Mean(x), variance(), skewness(), kurtosis()], "gaussian"),
    "mean and variance": ([Mean(x), variance(), Mean(x**5)], [2, Fraction(1, 3)]),
    "exponentials": ([Mean(x), Mean(exp(x)), Mean(exp(-x)), Mean(exp(2 * x))], [0, 2, 2]),
    "circle": ([Group(Mean(x), Mean(sin(x)), Mean(cos(x))), Mean(sin(2 * x))], "gaussian"),
    "powers 2, 5": ([Mean(x**2), Mean(x**5), Mean(x)], [1, Fraction(1, 5)]),
}


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {name: decouple(FeatureSet(features), reference) for name, (features, reference) in SETS.items()}


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def data(rows: int = 3, n: int = 11, seed: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, n))


@pytest.mark.parametrize("name", SETS)
def test_a_sample_comes_back(plans: dict[str, Plan], name: str) -> None:
    samples, plan = data(), plans[name]
    back = plan.denormalize(plan.normalize(samples), plan.transform(samples))
    np.testing.assert_allclose(back, samples, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_normalizing_imposes_the_references_and_does_it_once(plans: dict[str, Plan], name: str) -> None:
    plan = plans[name]
    level = plan.choice.spans[-1][0]
    normalized = plan.normalize(data())
    for row in normalized:
        found = [f.at(n_samples=len(row)) for f in tuple(plan.features)[:level]]
        values = [float(f.expr.subs(dict(zip(f.coordinates, row, strict=True)))) for f in found]
        np.testing.assert_allclose(values, [float(v) for v in plan.reference[:level]], atol=1e-12)
    np.testing.assert_allclose(plan.normalize(normalized), normalized, atol=1e-11)


@pytest.mark.parametrize("name", SETS)
def test_gradients_are_orthogonal_where_they_should_be(plans: dict[str, Plan], name: str) -> None:
    plan = plans[name]
    for sample, gradients in zip(data(), plan.gradients(data()), strict=True):
        cosines = abs(unit(gradients) @ unit(plan.choice.closed(0).motion.gradients(sample)).T)
        for j, level in enumerate(start for start, end in plan.choice.spans for _ in range(start, end)):
            assert cosines[j, :level].max(initial=0) < 1e-13


def test_beyond_moments_the_third_and_fourth_may_stay_coupled(plans: dict[str, Plan]) -> None:
    """Off (x, e^x, e^-x) the fourth feature is decoupled from the first three themselves, not from their normalized
    third: the gradient of that one lies outside their span. A Group says so; see test_gradients_are_orthogonal."""
    gradients = unit(plans["exponentials"].gradients(data(1))[0])
    assert abs(gradients[3] @ gradients[2]) > 0.01


@pytest.mark.parametrize("name", ["raw moments", "circle", "exponentials"])
def test_gradients_are_those_of_the_values(plans: dict[str, Plan], name: str) -> None:
    """Central differences with 40 digits: an error of h^2, here 1e-24, and no cancellation."""
    plan, sample = plans[name], data(1, 6)[0].round(3)
    gradients = plan.gradients(sample)
    with mpmath.workdps(40):
        h = mpmath.mpf(10) ** -12
        base = [mpmath.mpf(v) for v in sample]
        for n in (0, 4):
            ends = [plan.transform([*base[:n], base[n] + s * h, *base[n + 1 :]], dps=40) for s in (1, -1)]
            slope = [(a - b) / (2 * h) for a, b in zip(*ends, strict=True)]
            np.testing.assert_allclose([float(v) for v in slope], gradients[:, n], rtol=1e-10, atol=1e-13)


TIED = {"zero variance": [5, 5, 5, 5, 5], "two-valued": [0, 0, 0, 1, 1], "no zero-skew point": [0, 0, 0, 1, 2],
        "limit only": [0, 0, 1, 2]}


@pytest.mark.parametrize("name", ["raw moments", "standardized"])
@pytest.mark.parametrize("reason", TIED)
def test_a_sample_is_refused_with_one_reason_in_any_precision(plans: dict[str, Plan], name: str, reason: str) -> None:
    for method in (plans[name].transform, plans[name].gradients):
        for dps in (None, 30):
            values, (outcome,) = method(TIED[reason], dps=dps, on_refusal="return")
            assert outcome.reason == reason
            assert np.isfinite(values[:2].astype(float)).all() and np.isnan(values[3:].astype(float)).all()
            assert dps is None or "dps=" not in outcome.detail


def test_two_values_in_equal_numbers_are_a_minimum_with_a_gradient() -> None:
    """With V and W the variances of what was one value, of +-1, the orthokurtosis nearby is 1 + 4 sqrt(V W): to first
    order it does not change."""
    h = Fraction(1, 10**12)
    near = [(1 + h * v, h * w) for v, w in ((1, 3), (-2, 1), (5, -2))]
    v, w = (4 * central_moments(part, 2)[1][2] for part in zip(*near, strict=True))
    with mpmath.workdps(60):
        slope = 4 * mpmath.sqrt(mpmath.mpf((v * w).numerator) / (v * w).denominator)
        assert abs((orthokurtosis([value for pair in near for value in pair]) - 1) / slope - 1) < 1e-9


@pytest.mark.parametrize("path", ["auto", "narrow"])
@pytest.mark.parametrize("family", [raw_moments, standardized_moments])
@pytest.mark.parametrize("sample", [[0, 1, 1, 0], [0, 0, 0, 1, 1, 1], [0.1, 0.7, 0.7, 0.1], [1e8, 1e8 + 1] * 2])
def test_the_gradient_at_two_values_in_equal_numbers_is_zero(sample: list[float], family: Any, path: Any) -> None:
    for order, reason in ((4, ""), (5, "two-valued")):
        plan = decouple(family(order), path=path)
        for dps in (None, 20, 40):
            found, (outcome,) = plan.gradients(sample, dps=dps, on_refusal="return")
            assert outcome.reason == reason and plan.transform(sample, dps=dps, on_refusal="return")[1] == (outcome,)
            assert (abs(found[3]) == 0).all() and np.isnan(found[4:].astype(float)).all()
    count = decouple(raw_moments(4)).gradients(sorted(set(sample)), weights=[1.5, 1.5])
    assert (count[3] == 0).all()


@pytest.mark.parametrize(("values", "sample", "reason"), [
    ([0, 1, Fraction(1, 3)], [0, 0, 0, 1, 2], "skewness out of reach"),
    ([0, 1, 2], [0, 1, 1.5, 2, 4], "skewness out of reach"),
    ([0, 1, 1.5], [0, 1, 1.5, 2, 4], "limit only"), ([2, 5, 10], [1, 1, 1, 7], "two-valued"),
])
@pytest.mark.parametrize("path", ["auto", "relaxed"])
def test_ties_decide_for_other_references_too(values: list, sample: list, reason: str, path: str) -> None:
    plan = decouple(FeatureSet(MOMENTS[:3]), values, path=path)  # type: ignore[arg-type]
    for dps in (None, 30):
        _, (outcome,) = plan.normalize(sample, 3, dps=dps, on_refusal="return")
        assert outcome.reason == reason


@pytest.mark.parametrize("path", ["relaxed", "parallel"])
def test_levels_without_a_closed_form_say_what_stops_them(path: str) -> None:
    plan = decouple([Mean(x), variance(), kurtosis(), Mean(x**6)], path=path)  # type: ignore[arg-type]
    with pytest.raises(NoClosedForm, match=r"feature 3.*narrow path"):
        plan.transform(data())
    np.testing.assert_allclose(plan.normalize(data(), level=2).std(axis=1), 1)
    way: Any
    for way, why in ((path, "not proved involutive"), ("broad", "no flow in closed form")):
        nested = decouple([Mean(x), Mean(sin(x)), Mean(cos(x)), Mean(sin(2 * x))], path=way)
        with pytest.raises(NoClosedForm, match=f'path "{way}": .*{why}'):
            nested.transform(data())
    with pytest.raises(NoClosedForm, match="implicit"):
        decouple(raw_moments(4), path="broad").normalize([1.0, 2, 4, 9], level=4)


def test_bad_input_is_refused(plans: dict[str, Plan]) -> None:
    with pytest.raises(InvalidInput, match="bound"):
        decouple([Mean(x), Mean(Symbol("a") * x**2)])
    with pytest.raises(InvalidInput, match="axis"):
        plans["raw moments"].transform(data(), axis=2)
    with pytest.raises(InvalidInput, match="one number"):
        plans["raw moments"].transform(3.0)
    with pytest.raises(InvalidInput, match=r"values of shape"):
        plans["raw moments"].denormalize(data(), [1, 2])
    with pytest.raises(InvalidInput, match="no reference value"):
        decouple(MOMENTS, [0, 1, 0]).normalize(data(), level=4)
    with pytest.raises(InvalidInput, match="one sample vector"):
        plans["raw moments"].report([[1.0, 2], [3, 4]])
    level: Any
    path: Any
    for level in (-1, 5, True, 1.0, "3"):
        with pytest.raises(InvalidInput, match="level"):
            plans["raw moments"].normalize(data(), level=level)
    for path in ("wide", "", None, 3):
        with pytest.raises(InvalidInput, match="'broad'"):
            decouple(raw_moments(3), path=path)


# --- decoupled moments of orders 4, 5 and 6, against values of 40 to 60 digits ---------------------------------------

CASES = TABLE["decoupled_moments"]


@pytest.fixture(scope="module")
def sixes() -> dict[str, Plan]:
    return {"raw": decouple(raw_moments(6)), "standardized": decouple(standardized_moments(6)),
            "narrow": decouple(raw_moments(6), path="narrow")}


@pytest.mark.parametrize("name", ["raw", "standardized", "narrow"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"N={len(case['sample'])}")
def test_decoupled_moments_to_order_six(sixes: dict[str, Plan], name: str, case: dict) -> None:
    expected = np.array([float(case[f"order{k}"]) for k in (4, 5, 6)])
    np.testing.assert_allclose(sixes[name].transform(case["sample"])[3:], expected, rtol=1e-9)


@pytest.mark.parametrize(("name", "case"), [("raw", CASES[0]), *(pytest.param(
    name, CASES[k], marks=pytest.mark.slow) for name, k in (("raw", 1), ("standardized", 0), ("narrow", 0)))])
def test_the_same_in_thirty_digits(sixes: dict[str, Plan], name: str, case: dict) -> None:
    found = sixes[name].transform(case["sample"], dps=30)
    with mpmath.workdps(40):
        for k in (4, 5, 6):
            expected = mpmath.mpf(case[f"order{k}"])
            assert abs(found[k - 1] - expected) < mpmath.mpf(10) ** -15 * abs(expected)
