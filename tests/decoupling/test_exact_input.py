"""Numbers that float64 would round give plans the answers of the exact numbers, as they give `stats`."""

import copy
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import symdecouple as sd
from symdecouple import Filter, Mean, x
from symdecouple.families.moments import raw_moments, standardized_moments
from tests.processes import printed
from tests.stats.oracle import moments, orthokurtosis

STEPS = (1, 3, 4, 9, 10)
PLAN = sd.decouple(raw_moments(4))
MEAN = Fraction(sum(STEPS), 5)
_, VARIANCE, SKEWNESS = moments(STEPS, 3)
ORTHOKURTOSIS = float(orthokurtosis(STEPS))


@pytest.mark.parametrize("base", [2**53, 2**60, 10**25, -(2**61)])
@pytest.mark.parametrize("kind", [int, Fraction, sp.Integer])
def test_an_offset_takes_no_digits(base: int, kind: Callable[[int], Any]) -> None:
    sample = [kind(base + k) for k in STEPS]
    mean = float(base + MEAN)
    np.testing.assert_allclose(PLAN.transform(sample), [mean, VARIANCE, SKEWNESS, ORTHOKURTOSIS], rtol=1e-14)
    np.testing.assert_allclose(PLAN.normalize(sample), PLAN.normalize(np.array(STEPS, float)), rtol=1e-13)
    np.testing.assert_allclose(PLAN.gradients(sample), PLAN.gradients(np.array(STEPS, float)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble])
def test_arrays_are_taken_as_stats_takes_them(dtype: Any) -> None:
    rows = np.array([[2**60 + k for k in STEPS], [2**60 + k**2 for k in STEPS]]).astype(dtype)
    expected = sd.stats.decoupled_moments(rows, order=4, axis=1)
    np.testing.assert_allclose(PLAN.transform(rows), expected, rtol=1e-14)


def test_features_of_the_mean_feel_the_offset_in_many_digits() -> None:
    plan = sd.decouple([3 * Mean(x) - 1, Mean(x**2) - Mean(x) ** 2], reference=[0, 1])
    first = 3 * (2**60 + MEAN) - 1
    value = plan.transform([2**60 + k for k in STEPS], dps=40)[0]
    with mpmath.workdps(45):
        exact = mpmath.mpf(first.numerator) / first.denominator
        assert abs(value - exact) < mpmath.mpf("1e-39") * exact


@pytest.mark.parametrize("exponent", [60, 400])
def test_digits_are_those_beside_the_offset(exponent: int) -> None:
    found = PLAN.transform([10**exponent + k for k in STEPS], dps=30)
    expected = PLAN.transform(list(STEPS), dps=30)
    assert all(abs(a - b) < mpmath.mpf("1e-29") * (1 + abs(b)) for a, b in zip(found[1:], expected[1:], strict=True))


def test_irrational_numbers_have_all_digits_that_are_asked_for() -> None:
    found = sd.decouple(raw_moments(2)).transform([sp.sqrt(2), 2, 3, sp.pi, mpmath.e], dps=100)
    with mpmath.workdps(120):
        values = [mpmath.sqrt(2), mpmath.mpf(2), mpmath.mpf(3), +mpmath.pi, +mpmath.e]
        mean = mpmath.fsum(values) / 5
        variance = mpmath.fsum((v - mean) ** 2 for v in values) / 5
        assert max(abs(found[0] - mean), abs(found[1] - variance)) < mpmath.mpf("1e-98")


@pytest.mark.parametrize(("first", "path", "dps"), [
    (mpmath.mpf("1e200000"), "auto", None), (mpmath.mpf("1e200000"), "auto", 30), (10**400, "narrow", None)])
def test_a_number_beyond_float64_costs_no_other_row(first: Any, path: Any, dps: int | None) -> None:
    plan, rows = sd.decouple(raw_moments(2), path=path), [[first, 1, 2], [1, 2, 4]]
    values, outcomes = plan.transform(rows, dps=dps, on_refusal="return")
    assert [o.ok for o in outcomes] == [dps is not None, True]
    assert abs(values[1, 1] - mpmath.mpf(14) / 9) < 1e-15


def test_what_float64_cannot_hold_is_said_and_the_rest_is_there() -> None:
    values, (outcome,) = PLAN.transform([10**400 + k for k in STEPS], on_refusal="return")
    assert outcome.reason == "out of range"
    np.testing.assert_allclose(values, [np.nan, VARIANCE, SKEWNESS, ORTHOKURTOSIS], rtol=1e-14)


def test_a_used_plan_pickles_and_copies_as_an_unused_one() -> None:
    plan = sd.decouple(standardized_moments(4), perturb="ramp")
    generic = sd.decouple([Mean(x), Mean(sp.log(sp.cosh(x)))], [0, 1])
    sample = np.random.default_rng(0).standard_normal(12)
    for each in (plan, generic):
        before = pickle.dumps(each)
        expected = each.transform(sample)
        each.gradients(sample)
        for other in (pickle.loads(before), pickle.loads(pickle.dumps(each)), copy.deepcopy(each)):
            np.testing.assert_array_equal(other.transform(sample), expected)
            assert other.reference == each.reference and str(other.perturbation) == str(each.perturbation)
        assert b"lambdify" not in pickle.dumps(each)


PICKLED = """
import copy, hashlib, pickle
import numpy as np, sympy as sp
import symdecouple as sd
from symdecouple import Mean, x
from symdecouple.language.filters import Filter
from symdecouple.language.sample import coordinates

a, b, c = coordinates(3)
y, h = sd.sample("y", interval=(sp.Rational(1, 3), 2)), Filter.from_response([3, 1, 1], name="h")
try:
    from joblib import hash as hashed
except ImportError:
    hashed = pickle.dumps
found, made = [], [
    sd.decouple(sd.families.raw_moments(3), path="parallel"), sd.decouple([Mean(sp.log(y))], [0.1]),
    sd.decouple(sd.families.second_order_moments([[1, 1, 1], [-1, 0, 1]])),
    sd.decouple(sd.families.standardized_moments(4), perturb="ramp"),
    sd.decouple([Mean(x), Mean(sp.sin(x)), Mean(sp.cos(x))], [0, 0, sp.sqrt(2) / 2]),
    sd.decouple([Mean(x), Mean(h(x) ** 2)], [0, 3]), sd.decouple([a**2 + b**2 + c**2, a * b + c], [3, 1]),
    sd.decouple([Mean(x), sd.Group(Mean(x**2), Mean(x**3))], [0, 1, 0]),
    sd.decouple(sd.FeatureSet([Mean(sp.Abs(x))], allow_nonsmooth=["Abs"]), [1]),
]
for plan in made:
    before, key, sample = pickle.dumps(plan), hashed(plan), [0.5, 1.5, 1.25]
    for call in (plan.transform, plan.gradients, plan.normalize):
        call(sample, on_refusal="return")
    if plan in made[:3]:  # others take long for it
        plan.transform(sample, dps=16, on_refusal="return"), str(plan.explain()), plan.verdicts.original[1]
    assert hashed(plan) == hashed(copy.copy(plan)) == key
    again = pickle.loads(before)
    assert pickle.dumps(plan) == before == pickle.dumps(again)
    assert again.features == plan.features and again.reference == plan.reference
    found.append(hashlib.sha256(before).hexdigest())
"""


def test_pickles_are_the_same_in_every_process_before_and_after_use() -> None:
    """Hashes of strings, which order SymPy's sets, differ between this process and the other one."""
    here: dict[str, Any] = {}
    exec(PICKLED, here)
    seed = str(int(os.environ.get("PYTHONHASHSEED", "random").replace("random", "0")) + 1)
    there = printed(PICKLED + "print(*found)", timeout=200, PYTHONHASHSEED=seed)
    assert len(here["found"]) == 9 and here["found"] == there.split()


def test_precision_of_one_thread_is_not_that_of_another() -> None:
    sample = [1, 2, 3, 5, 8, 13]
    digits = [20, 35, 50, 25, 60, 30] * 2
    alone = [PLAN.transform(sample, dps=d) for d in digits]
    mpmath.mp.dps = 15
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda d: PLAN.transform(sample, dps=d), digits))
    assert mpmath.mp.dps == 15
    for one, other in zip(alone, together, strict=True):
        assert list(one) == list(other)


def test_float64_calls_leave_the_precision_of_mpmath_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = np.random.default_rng(0).standard_normal((3, 40))
    plan = sd.decouple(raw_moments(5))
    for call in (plan.transform, plan.gradients, plan.normalize):
        call(sample)  # what is made once

    def changed(*_: Any) -> None:
        raise AssertionError("the precision of mpmath was changed")

    monkeypatch.setattr(mpmath.mp, "workdps", changed)
    monkeypatch.setattr(mpmath, "workdps", changed)
    monkeypatch.setattr(mpmath, "workprec", changed)
    assert np.isfinite(plan.transform(sample)).all() and np.isfinite(plan.gradients(sample)).all()
    assert np.isfinite(plan.normalize(sample)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_targets_that_are_not_finite_are_refused_alone(bad: float) -> None:
    samples = PLAN.normalize([[1.0, 2, 3, 5, 9], [1.0, 2, 3, 5, 9]])
    values, outcomes = PLAN.denormalize(samples, [[0, 1, bad], [0, 1, 0.1]], on_refusal="return")
    assert [o.reason for o in outcomes] == ["no target", ""]
    assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()
    assert "level 3" in outcomes[0].detail


@pytest.mark.parametrize(("feature", "outside"), [
    (sp.log(x), -1), (sp.sqrt(x), -1), (x ** sp.Rational(3, 2), -1), (sp.log(x) ** 2, -1), (1 / x, 0), (x**-2, 0),
    (sp.asin(x / 9), -10), (sp.log(sp.log(1 + x)), -0.5)])
def test_no_gradient_outside_the_domain(feature: sp.Expr, outside: float) -> None:
    plan = sd.decouple([Mean(feature)], [1])
    rows = [[outside, 2, 8], [1, 2, 8]]
    values, outcomes = plan.transform(rows, on_refusal="return")
    gradients, others = plan.gradients(rows, on_refusal="return")
    assert [o.reason for o in outcomes] == [o.reason for o in others] == ["not finite", ""]
    assert np.isnan(gradients[0]).all() and np.isfinite(gradients[1]).all() and np.isnan(values[0])
    _, precise = plan.transform(rows, dps=20, on_refusal="return")  # mpmath has complex numbers there
    assert [o.reason for o in precise] == ["not finite", ""]
    assert "dps=" in outcomes[0].detail and "dps=" not in precise[0].detail


PARTS = [sp.Integer(2), Decimal("0.25"), np.longdouble(3), Fraction(7, 2), mpmath.mpf(5), 9, -1.5, np.float32(4)]


@pytest.mark.parametrize("dps", [None, 20])
def test_numbers_of_all_libraries_in_one_sample(dps: int | None) -> None:
    low, high = Filter([1, 1, 1]), Filter([-1, 2, -1])
    plan = sd.decouple([Mean(low(x) ** 2), Mean(high(x) ** 2)])
    one = np.array([float(value) for value in PARTS])
    energies = [np.mean((np.roll(one, -1) + w * one + np.roll(one, 1)) ** 2) for w in (1, -2)]
    assert plan.own_values(np.array(PARTS, dtype=object)) == pytest.approx(energies, rel=1e-14)
    found = plan.transform(np.array(PARTS, dtype=object), dps=dps)
    assert found.astype(float) == pytest.approx(plan.transform(one), rel=1e-12)
    for missing, tag in ((sp.nan, "nan in the input"), (Decimal("nan"), "nan in the input"), (sp.oo, "infinite value")):
        for each in (plan, PLAN):
            _, outcomes = each.transform(np.array([missing, *PARTS], dtype=object), dps=dps, on_refusal="return")
            assert outcomes[0].reason == tag


@pytest.mark.parametrize("path", ["auto", "narrow"])
def test_what_is_finite_but_beyond_float64_is_not_called_infinite(path: Any) -> None:
    plan = sd.decouple(raw_moments(3), path=path)
    tiny = [Fraction(k, 10**400) for k in (1, 3, 4, 9)]
    rows = np.array([[10**400, 1, 2, 5], tiny, [1, 3, 4, 9]], dtype=object)
    for call in (plan.transform, plan.gradients, plan.normalize):
        values, outcomes = call(rows, on_refusal="return")
        assert [o.reason for o in outcomes] == ["out of range", "out of range", ""]
        assert (values[2] == call([1, 3, 4, 9])).all()
    values, outcomes = plan.transform(tiny, weights=[1, 2, 1, 1], on_refusal="return")
    assert outcomes[0].reason == "out of range" and np.isnan(values[1])
    z = PLAN.normalize([[1.0, 2, 3, 5, 9]] * 3)
    wanted = [[0, 1, 10**400], [0, 1, 0.1], [0, None, 0.1]]
    with pytest.raises(sd.InvalidInput, match="numbers are expected"):
        PLAN.denormalize(z, wanted)
    _, outcomes = PLAN.denormalize(z[:2], wanted[:2], on_refusal="return")
    assert [o.reason for o in outcomes] == ["no target", ""]


@pytest.mark.parametrize("lags", [[1, 0], [0, 1]])
def test_an_energy_has_no_reference_beyond_float64(lags: list[int]) -> None:
    """Of lag 1, which takes either sign, 0 is a value like others: it stood for the reference."""
    plan = sd.decouple(sd.families.autocorrelation(lags), [10**400, 1])
    values, (outcome,) = plan.transform(STEPS, on_refusal="return")
    own = sum(v * STEPS[n - lags[0]] for n, v in enumerate(STEPS)) / 5
    assert outcome.reason == "no target" and values[0] == pytest.approx(own) and np.isnan(values[1])
    gradients, _ = plan.gradients(STEPS, on_refusal="return")
    assert np.isfinite(gradients[0]).all() and np.isnan(gradients[1]).all()


FAR = 2**60 + 8
TIED = [[3, 14, 20, FAR, FAR, FAR], [3, 3, 3, FAR, FAR + 1, FAR + 2], [0, 1, 2, FAR, FAR, FAR, FAR]]


@pytest.mark.parametrize("unit", [1, Fraction(1, 3), -1])
@pytest.mark.parametrize("sample", TIED)
def test_ties_are_counted_before_entries_are_rounded(sample: list[int], unit: Any) -> None:
    """Theorem C: a skewness of zero is a limit where an end has half of the values, and is none where it has more."""
    given = np.array([unit * v for v in sample])
    most = max(sample.count(min(sample)), sample.count(max(sample)))
    expected = "limit only" if 2 * most == len(sample) else "no zero-skew point"
    masked = np.ma.masked_array([*given, 5 * unit], mask=[0] * len(sample) + [1])
    values, times = np.unique(given, return_counts=True)
    quiet: Any = {"on_refusal": "return"}
    others = sd.decouple(raw_moments(4), path="relaxed"), sd.decouple(standardized_moments(4))
    for plan, kinds in ((PLAN, ({}, {"dps": 20}, {"dps": 40})), *((other, ({},)) for other in others)):
        for options in kinds:
            ways = [getattr(plan, name)(given, **options, **quiet) for name in ("transform", "normalize", "gradients")]
            assert {found[1][0].reason for found in ways} == {expected}
            assert mpmath.isfinite(ways[0][0][2]) and np.isnan(np.array([*ways[0][0][3:], *ways[1][0]], float)).all()
    samples = (given, {}), (masked, {}), (values, {"weights": times}), (values, {"weights": times / 2})
    for call in (PLAN.transform, PLAN.normalize, PLAN.gradients, sd.stats.decoupled_moments, sd.stats.orthokurtosis):
        for some, options in samples:
            assert call(some, **options, **quiet)[1][0].reason == expected
    assert sd.stats.match(given, skewness=0, **quiet)[1][0].reason == expected


@pytest.mark.parametrize("sample", [
    np.array([3, 14, 20, FAR, FAR + 1, 2 * FAR]), np.array([3, 14, 20, FAR, FAR + 1, FAR + 7]),
    np.array([Fraction(1, 3), 1, 2, 10**40, 10**40 + 1, 10**40 + 2])], ids=["ends", "clusters", "exact"])
def test_what_comes_to_one_number_is_not_said_to_be_tied(sample: Any) -> None:
    """No end has half of these values: in 50 digits they have a level 3, float64 alone rounds three of them to one."""
    masked, halves = np.ma.masked_array([*sample, 5], mask=[0] * 6 + [1]), np.full(6, 0.5)
    wanted = float(orthokurtosis(sample.tolist()))
    for some, options in ((sample, {}), (masked, {}), (sample, {"weights": halves})):
        for call in (PLAN.normalize, PLAN.gradients, sd.stats.decoupled_moments):
            assert call(some, on_refusal="return", **options)[1][0].reason == "beyond float64"
        values = sd.stats.decoupled_moments(some, on_refusal="return", **options)[0]
        for found in (PLAN.transform(some, **options), sd.stats.decoupled_moments(some, order=4, **options), values):
            assert found[3] == pytest.approx(wanted, rel=1e-13)
        assert np.isnan(values[4:]).all()
    assert sd.stats.match(sample, skewness=0, on_refusal="return")[1][0].reason == "beyond float64"
    assert abs(sd.stats.orthokurtosis(sample) - float(PLAN.transform(sample, dps=50)[3])) < 1e-13


@pytest.mark.parametrize("path", ["auto", "broad"])
def test_what_is_missing_is_so_in_many_digits(path: Any) -> None:
    """Of Decimal, a signal too, which raises where it is compared; what is no number is named."""
    plan = sd.decouple(raw_moments(3), path=path)
    for value in (Decimal("sNaN"), Decimal("NaN"), mpmath.nan, sp.nan, float("nan")):
        for dps in (None, 20):
            _, (outcome,) = plan.transform([value, *map(Decimal, (1, 2, 5))], dps=dps, on_refusal="return")
            assert outcome.reason == "nan in the input"
    pd = pytest.importorskip("pandas")
    for value, dps in product((pd.NA, None), (None, 20)):
        with pytest.raises(sd.InvalidInput, match="real numbers are expected"):
            plan.transform([value, 1.0, 2.0, 5.0], dps=dps)


AWAY = {
    "Fraction": [Fraction(2**60 + k) for k in STEPS], "int": [10**30 + k for k in STEPS],
    "int64": np.array([2**60 + k for k in STEPS]), "Decimal": [Decimal(10) ** 25 + k for k in STEPS],
    "thirds": [Fraction(k, 3) * 3 + Fraction(10**20, 3) for k in STEPS],
}


@pytest.mark.parametrize("kind", AWAY)
@pytest.mark.parametrize("weights", [[1, 2, 1, 3, 1], [0.5, 1, 0.5, 1.5, 0.5], [0.1, 0.2, 0.15, 0.3, 0.1]])
def test_weighted_gradients_are_in_the_unit_of_the_sample(kind: str, weights: list[float]) -> None:
    """Against differences of the values of the steps: these feel no offset. So is level 1."""
    share = np.array(weights) / sum(weights)
    plan = sd.decouple(raw_moments(4))
    found = plan.gradients(AWAY[kind], weights=weights)
    for j in range(5):
        moved = np.array([STEPS, STEPS], dtype=float) + 1e-4 * np.array([[1.0], [-1.0]]) * np.eye(5)[j]
        low, high = (plan.transform(row, weights=weights) for row in moved[::-1])
        np.testing.assert_allclose(found[:, j], (high - low) / 2e-4, rtol=1e-6, atol=1e-7)
    centred = np.array(STEPS) - share @ np.array(STEPS)
    np.testing.assert_allclose(plan.normalize(AWAY[kind], 1, weights=weights), centred, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("features", [
    [Mean(Filter([1, 2, 1])(x) ** 2), Mean(Filter([1, -2, 1])(x) ** 2)],
    [Mean(Filter([1, 2, 1])(x) ** 2), Mean(Filter([1, -2, 1])(x) ** 4)], [Mean(x**2), sd.variance()]], ids=str)
def test_what_rounding_leaves_beside_an_offset_is_no_feature(features: list[Any]) -> None:
    """One that does not feel the offset, beside one that does: refused in float64, right in many digits."""
    plan = sd.decouple(features)
    for sample in AWAY.values():
        for call in (plan.transform, plan.gradients, plan.normalize):
            values, (outcome,) = call(sample, on_refusal="return")
            assert outcome.reason == "beyond float64" and np.isnan(values).all()
        assert np.isnan(plan.attainable(sample).high).all()
        assert sd.analysis.orthogonality(plan, sample, on_refusal="return")[1][0].reason == "beyond float64"
    exact = [2**60 + 256 * k for k in STEPS]  # in float64, too
    assert plan.transform(exact)[1] == pytest.approx(float(plan.transform(exact, dps=30)[1]), rel=1e-9)
    assert plan.transform(AWAY["int64"], dps=20)[1] == pytest.approx(float(plan.transform(
        [2**60 + k for k in STEPS], dps=60)[1]), rel=1e-18)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (5, 5), (2, 1, 1), (3, 2, 1), (4, 1, 3), (3, 5)])
@pytest.mark.parametrize("far", [10**9, 10**12, 10**16, 10**18, 10**30])
def test_clusters_far_from_each_other_have_one_orthokurtosis_on_every_road(shape: tuple[int, ...], far: int) -> None:
    """Of two clusters or three; half of the values may lie in one that rounding makes a tie, never more."""
    rng = np.random.default_rng(len(shape) + far % 97)
    sample = [place * far + int(v) for place, size in zip((0, 1, 3), shape, strict=False)
              for v in rng.choice(50, size=size, replace=False)]
    wanted, beside = float(orthokurtosis(sample)), {"weights": [0.5] * len(sample)}
    for options in ({}, beside):
        roads = [sd.stats.orthokurtosis(sample, **options), sd.stats.decoupled_moments(sample, order=4, **options)[3],
                 PLAN.transform(sample, **options)[3]]
        assert roads == pytest.approx([wanted] * 3, rel=2e-13)
    if len(shape) == 2 and shape[0] == shape[1]:
        assert float(PLAN.transform(sample, dps=20)[3]) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize(("features", "reference"), [
    ([Mean(x) ** 3, Mean(x**2)], [0, 1]), ([Mean(x**2), Mean(x)], [1, 0]),
    (sd.FeatureSet([sd.Group(Mean(x), Mean(x**2)), Mean(x**3)]), [0, 1, 0])])
def test_where_a_later_level_needs_what_float64_rounds_it_is_said(features: Any, reference: Any) -> None:
    plan, sample = sd.decouple(features, reference), [2**60 + k for k in STEPS]
    values, (outcome,) = plan.transform(sample, on_refusal="return")
    assert outcome.reason == "beyond float64" and np.isnan(values).all()
    assert plan.transform(sample, dps=30, on_refusal="return")[1][0].ok
    assert sd.decouple([Mean(x**2)], [1]).transform(sample) == 2.0**120


@pytest.mark.parametrize("sample", [[2**60 + k for k in (1, 3, 4, 9, 10)], [10**60 + k for k in (1, 3, 4, 9, 10)],
                                    np.array([2**60 + k for k in (1, 3, 4, 9, 10)])])
def test_numbers_that_differ_before_float64_rounds_them_are_no_sample_of_one_value(sample: Any) -> None:
    """x / sqrt(Mean(x^2)) of numbers that differ by less than 1e-17 of their size: one number of float64, and said."""
    plan = sd.decouple([Mean(x**2)], [1])
    moved, (outcome,) = plan.normalize(sample, 1, on_refusal="return")
    assert outcome.reason == "out of range" and np.isnan(moved).all()
    assert plan.normalize([7, 7, 7], 1).tolist() == [1, 1, 1]
    assert len(set(plan.normalize(sample, 1, dps=70).tolist())) == 5
