"""The acceptance table of C2, row by row, each with its exact answer; refusals; odd sets."""

from __future__ import annotations

import time
from typing import Any

import pytest
import sympy as sp
from sympy import Abs, Function, Piecewise, Rational, Symbol, cos, cosh, exp, log, sin, sqrt, tan

from symdecouple.calculus.bracket import lie_bracket
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import InvalidInput
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import central_moment, kurtosis, skewness, variance
from symdecouple.verdict import Status, Verdict

a, b = Symbol("a"), Symbol("b")
m, v = Mean(x), variance()
p = sample(positive=True)


def powers(*orders: Any) -> list[Any]:
    return [Mean(x**k) for k in orders]


def decided(features: Any, status: Status, **options: Any) -> Verdict:
    """The verdict, which must have this status and hold up: itself and the C1 verdict it rests on."""
    verdict = check_frobenius(features, **options)
    assert verdict.status is status, str(verdict)
    for each in (verdict, verdict.independence):
        if each.certificate is not None:
            assert each.certificate.verify(), "\n".join(map(str, each.certificate.audit()))
    return verdict


# --- the acceptance table ---------------------------------------------------------------------------------------


def test_three_moments_are_involutive_with_constant_structure() -> None:
    verdict = decided(powers(1, 2, 3), Status.PROVED)
    assert verdict.structure == {(1, 2): (2, 0, 0), (1, 3): (0, 3, 0), (2, 3): (0, 0, 2)}
    assert verdict.nonvanishing == () and verdict.n_samples is None and verdict.failing_pair is None
    assert "for every N" in str(verdict) and "constant" in verdict.reason


def test_four_moments_fail_by_the_last_pair_from_five_samples_on() -> None:
    verdict = decided(powers(1, 2, 3, 4), Status.REFUTED)
    assert verdict.failing_pair == (3, 4) and verdict.n0 == 5 and len(verdict.witness.sample) == 5
    assert verdict.witness.minor.excludes_zero() and verdict.witness.digits is None
    assert "for every N >= 5" in str(verdict)


def test_four_moments_of_four_samples_span_everything() -> None:
    verdict = decided(powers(1, 2, 3, 4), Status.PROVED, n_samples=4)
    assert verdict.vacuous and "vacuous" in str(verdict) and verdict.structure is None


@pytest.mark.parametrize(
    ("orders", "pair"), [((1, 3), (1, 2)), ((1, 4), (1, 2)), ((1, 2, 4), (1, 3)), ((2, 3, 4), (2, 3)), ((3, 5), (1, 2))]
)
def test_moments_outside_lies_list_fail(orders: tuple[int, ...], pair: tuple[int, int]) -> None:
    assert decided(powers(*orders), Status.REFUTED).failing_pair == pair
    assert decided(powers(*orders), Status.REFUTED, n_samples=len(orders) + 1).failing_pair == pair


@pytest.mark.parametrize("k", [1, 4, -1, Rational(1, 2), a])
def test_any_moment_with_the_second_holds(k: Any) -> None:
    verdict = decided([Mean(p**2), Mean(p**k)], Status.PROVED)
    assert verdict.structure[1, 2][0] == 0 and sp.expand(verdict.structure[1, 2][1] - 2 * (k - 2)) == 0


@pytest.mark.parametrize(
    "third", [kurtosis(), skewness() ** 2, central_moment(3)], ids=["kurtosis", "skewness^2", "m3"],
)
def test_mean_variance_and_a_homogeneous_shift_invariant_feature(third: Any) -> None:
    decided([m, v, third], Status.PROVED)


def test_mean_variance_and_a_raw_moment_fail() -> None:
    assert decided([m, v, Mean(x**4)], Status.REFUTED).failing_pair == (1, 3)


@pytest.mark.parametrize("n_samples", [None, 5])
def test_the_four_standardized_moments_fail_by_the_last_pair(n_samples: int | None) -> None:
    assert decided([m, v, skewness(), kurtosis()], Status.REFUTED, n_samples=n_samples).failing_pair == (3, 4)


def test_the_trigonometric_and_the_exponential_triple() -> None:
    verdict = decided([m, Mean(sin(x)), Mean(cos(x))], Status.PROVED)
    assert verdict.structure == {(1, 2): (0, 0, 1), (1, 3): (0, -1, 0), (2, 3): (-1, 0, 0)}
    verdict = decided([m, Mean(exp(x)), Mean(exp(-x))], Status.PROVED)
    assert verdict.structure == {(1, 2): (0, 1, 0), (1, 3): (0, 0, -1), (2, 3): (2, 0, 0)}


def test_the_logarithmic_fields() -> None:
    fields = [VectorField(p), VectorField(p * log(p)), VectorField(p * log(p) ** 2)]
    assert decided(fields, Status.PROVED).structure == {(1, 2): (1, 0, 0), (1, 3): (0, 2, 0), (2, 3): (0, 0, 1)}


def test_sine_and_cosine_alone_fail() -> None:
    assert decided([Mean(sin(x)), Mean(cos(x))], Status.REFUTED).n0 == 3


RADICALS = [sqrt(m**2 + 2 * m * v + v**2 + 1), m + v, m]


@pytest.mark.parametrize(
    "features",
    [
        [m, Mean(x**2), m**2 + Mean(x**2)], [Mean(exp(x)), Mean(exp(-x)), Mean(cosh(x))], RADICALS,
        [Mean(x**2), Mean(x**4), sqrt(Mean(x**2)) * sqrt(Mean(x**4)) + Mean(x**2)],
        [m, Mean(sin(x) ** 2), Mean(cos(2 * x))], [m, Mean(x + 3)], [m, 2 * m], [v, sqrt(v), m], [m, exp(m)],
        [Mean(log(p)), Mean(log(3 * p))], [m, Mean(x**2), sqrt(Mean(x**2) + 2 * sqrt(Mean(x**2)) + 1)],
        [m, Mean(sin(x + a)), Mean(cos(x)), Mean(sin(x))], [Mean(1 / (1 + exp(x))), Mean(exp(x) / (1 + exp(x)))],
    ],
    ids=str,
)
def test_dependent_gradients_are_found(features: list[Any]) -> None:
    c1 = check_frobenius(features).independence
    assert c1.status is Status.REFUTED and c1.certificate.verify() and c1.certificate.relation is not None


def test_the_kurtosis_of_three_samples_is_constant() -> None:
    verdict = decided([m, v, kurtosis()], Status.PROVED, n_samples=3)
    assert verdict.independence.status is Status.REFUTED


def test_a_relation_at_one_size_only_does_not_hide_a_failing_pair() -> None:
    verdict = decided([m, Mean(x**3), kurtosis()], Status.REFUTED, n_samples=3)
    assert verdict.failing_pair == (1, 2) and verdict.independence.status is Status.REFUTED


def test_several_relations_do_not_hide_a_failing_pair() -> None:
    for n_samples in (None, 5):
        verdict = decided([m, m**2, m**3, Mean(x**3)], Status.REFUTED, n_samples=n_samples)
        assert verdict.failing_pair == (1, 4)
    decided([m, m**2, m**3], Status.PROVED, n_samples=2)


def test_a_parameter_with_one_exception() -> None:
    verdict = decided([m, Mean(x**2 + a * x**3)], Status.REFUTED)
    assert verdict.exceptions == ({a: 0},) and "except at a = 0" in str(verdict)
    assert verdict.at({a: 0}).status is Status.PROVED and verdict.at({"a": 2}).status is Status.REFUTED


def test_undefined_functions_give_wronskians_and_no_verdict() -> None:
    f, g = Function("f"), Function("g")
    bracket = lie_bracket(Mean(f(x)), Mean(g(x))).expr
    expected = f(x).diff(x) * g(x).diff(x, 2) - g(x).diff(x) * f(x).diff(x, 2)
    assert bracket == expected and not bracket.has(sp.Subs) and not bracket.atoms(sp.Dummy)
    verdict = check_frobenius([Mean(f(x)), Mean(g(x))])
    assert verdict.status is Status.UNDECIDED and "f, g" in verdict.reason and "bind" in verdict.reason
    assert verdict.at({f: x, g: x**2}).status is Status.PROVED
    assert verdict.at({f: x, g: x**3}).status is Status.REFUTED
    decided([Mean(f(x)), Mean(f(x)) ** 2], Status.PROVED)


def test_fields_in_two_coordinates() -> None:
    x1, x2 = coordinates(2)
    u, w = VectorField([x1, -x2], [x1, x2]), VectorField([x1**2 + x2**2, -x1 * x2], [x1, x2])
    assert lie_bracket(u, w) == VectorField([x1**2 - 3 * x2**2, -x1 * x2], [x1, x2])
    assert decided([u, w], Status.PROVED).vacuous


def test_six_coordinates_are_refuted_in_seconds() -> None:
    points = coordinates(6)
    features = [sum(t**k for t in points) for k in (1, 2, 3)]
    features.append(sum((points[i] - points[(i + 1) % 6]) ** 2 for i in range(6)))
    start = time.process_time()
    assert decided(features, Status.REFUTED).failing_pair == (3, 4)
    assert time.process_time() - start < 10


def test_disjoint_bumps_are_not_claimed_by_the_theorem_on_analytic_averages() -> None:
    bumps = [Mean(Piecewise((exp(-1 / (1 - (x - 3 * k) ** 2)), Abs(x - 3 * k) < 1), (0, True))) for k in range(5)]
    verdict = check_frobenius(FeatureSet(bumps, allow_nonsmooth=["Piecewise", "Abs"]), budget=0.5)
    assert verdict.status is not Status.REFUTED


# --- beyond the table: sets that invite a wrong answer ----------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "status"),
    [
        ([m, Mean(log(cosh(x - m)))], Status.PROVED), ([m, v, Mean(log(cosh(x - m)))], Status.REFUTED),
        ([m, Mean(exp(x - m)), Mean(exp(m - x))], Status.PROVED),
        ([log(Mean(exp(x))), m, log(Mean(exp(-x)))], Status.PROVED),
        ([Mean(p ** Rational(5, 3)), Mean(p**2), Mean(p ** Rational(7, 3))], Status.PROVED),
        ([Mean(p ** (2 - a)), Mean(p**2), Mean(p ** (2 + a))], Status.PROVED),
        ([Mean(exp(a * x)), m, Mean(exp(-a * x))], Status.PROVED),
        ([m, Mean(sin(a * x)), Mean(cos(a * x))], Status.PROVED),
        ([Mean(exp(sqrt(2) * x)), m, Mean(exp(-sqrt(2) * x))], Status.PROVED),
        ([Mean(2**x), m, Mean(2 ** (-x))], Status.PROVED), ([m, Mean(1 / (1 + exp(-x)))], Status.REFUTED),
        ([Mean(1 / (p + 1)), Mean(1 / (p + 1) ** 2), Mean(1 / (p + 1) ** 3)], Status.REFUTED),
        ([Mean(tan(x)), m], Status.REFUTED), ([Mean(tan(x) ** 2), Mean(x**3)], Status.REFUTED),
        ([m, Mean(x**3) + Mean(sin(x) ** 2) + Mean(cos(x) ** 2)], Status.REFUTED),
        ([m, Mean(x**2) + Mean(sin(x) ** 2) + Mean(cos(x) ** 2)], Status.PROVED),
        ([VectorField(1), VectorField(p), VectorField(p**2)], Status.PROVED),
        ([VectorField(1), VectorField(p), VectorField(p**3)], Status.REFUTED),
        ([VectorField(sample("t")), VectorField(x**2)], Status.PROVED),
        ([VectorField(m), VectorField(x * v)], Status.PROVED),
        ([Mean(x**2), Mean(exp(x / sqrt(Mean(x**2))))], Status.PROVED),  # of degree 0: averages inside of averages
        ([m, Mean(x**2), Mean(exp(x * m))], Status.REFUTED),
    ],
    ids=str,
)
def test_more_sets_with_known_answers(features: list[Any], status: Status) -> None:
    decided(features, status)


def test_signs_at_zero_are_no_witness() -> None:
    allowed = {"allow_nonsmooth": ["sign"]}
    fields = [
        VectorField(1), VectorField(x), VectorField(sp.sign(x), **allowed), VectorField(x * sp.sign(x), **allowed),
    ]
    for n_samples in (None, 9, 12):
        assert check_frobenius(fields, n_samples=n_samples, budget=1).status is not Status.REFUTED


def test_a_division_by_a_hidden_zero_is_not_decided() -> None:
    hidden = sin(m) ** 2 + cos(m) ** 2 - 1
    verdict = check_frobenius([m, Mean(x**2) / hidden])
    assert verdict.status is Status.UNDECIDED and "vanishes identically" in verdict.reason


@pytest.mark.parametrize(
    "features",
    [
        [Mean(x**2), sqrt(Mean(x**2) + 2 * sqrt(Mean(x**2)) + 1) - sqrt(Mean(x**2)) + m],
        [m, Mean(exp(x * sqrt(2 + sqrt(2))))], [m, Mean(sp.loggamma(x**2 + 1))],
        [Mean(tan(x) ** 2), Mean(1 / cos(x) ** 2)],
    ],
    ids=str,
)
def test_what_is_out_of_reach_is_undecided_or_right_but_never_raises(features: list[Any]) -> None:
    verdict = check_frobenius(features, budget=5)
    assert verdict.certificate is None or verdict.certificate.verify()


# --- input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "at least one"), ("mean(x)", "FeatureSet"), (m, "FeatureSet"), (VectorField(x), "FeatureSet"),
        (3, "FeatureSet"), ([m, m], "the same"), ([VectorField(x), VectorField(x)], "the same"), ([m, x], "average it"),
        ([VectorField(x), VectorField([1, 2], coordinates(2))], "different spaces"),
        ([VectorField(x), VectorField(p**2)], "different domains"), ([Mean(x), Mean(p**2)], "different domains"),
    ],
    ids=str,
)
def test_bad_sets_are_refused(value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        check_frobenius(value)


@pytest.mark.parametrize("n_samples", [1, 0, -5, True, 2.0, "4"])
def test_a_size_that_is_none_is_refused(n_samples: Any) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        check_frobenius([m, v], n_samples=n_samples)


def test_coordinates_fix_the_size() -> None:
    with pytest.raises(InvalidInput, match="3 coordinates"):
        check_frobenius(FeatureSet([m, v]).at(n_samples=3), n_samples=4)
    assert check_frobenius(FeatureSet([m, v]).at(n_samples=3)).n_samples == 3


def test_one_feature_is_always_involutive() -> None:
    verdict = decided([kurtosis()], Status.PROVED)
    assert verdict.structure == {} and "always involutive" in verdict.reason


def test_fields_and_features_may_be_mixed() -> None:
    decided([VectorField(1), Mean(x**2), Mean(x**3)], Status.PROVED)
