"""exact_triple and recognize: families with their answers, sets just outside, the fourth feature, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sympy import Abs, Rational, S, atan, cos, cosh, exp, log, oo, sin, sinh, sqrt, symbols, tan, tanh

from symdecouple import Filter, Mean, Status, check_frobenius, coordinates, decouple, kurtosis, skewness, variance
from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.families import exact_triple, recognize
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import sample, x
from symdecouple.stats import orthokurtosis

P = sample("x", positive=True)
A = symbols("a", positive=True)

FAMILIES: list[tuple[Any, list[Any], int]] = [  # phi up to a Moebius map, averages of, dimension
    (x, [x, x**2, x**3], 3), (x, [x**3, x, x**2], 3), (x, [x + x**2, x**2 + x**3, x**3 + 5 * x], 3),
    (exp(x), [exp(-x), x, exp(x)], 3), (exp(3 * x), [exp(3 * x), x, exp(-3 * x)], 3),
    (tan(x / 2), [x, sin(x), cos(x)], 3),
    (log(P), [P**2, P**2 * log(P), P**2 * log(P) ** 2], 3), (P**3, [1 / P, P**2, P**5], 3),
    (sqrt(P), [P ** Rational(3, 2), P**2, P ** Rational(5, 2)], 3), (P**2, [log(P), P**2, P**4], 3),
    (x, [x, x**2], 2), (x**-2, [x**2, x**4], 2), (exp(-x), [exp(x), x], 2), (P**2, [log(P), P**2], 2),
    (P**-3, [P**2, P**5], 2), (x, [x], 1), (log(P), [P**2], 1), (exp(-x), [exp(x)], 1)]


@pytest.mark.parametrize("phi, bodies, dimension", FAMILIES, ids=str)
def test_families_are_recognized(phi: Any, bodies: list[Any], dimension: int) -> None:
    found = recognize([Mean(body) for body in bodies])
    assert found.triple is not None and found.triple.dimension == dimension
    assert found.verdict.status is Status.PROVED and found.verdict.verify()
    assert is_moebius(found.triple.phi, phi) and found.enclosing is found.triple


def is_moebius(a: Any, b: Any) -> bool:
    """The cross-ratios of five values agree."""
    points = [Rational(k, 10) for k in (1, 3, 4, 7, 9)]
    first, second = ([complex(f.subs(next(iter(f.free_symbols)), p)).real for p in points] for f in (a, b))

    def ratios(v: list[float]) -> list[float]:
        return [(v[0] - v[2]) * (v[1] - v[k]) / (v[0] - v[k]) / (v[1] - v[2]) for k in (3, 4)]
    return bool(np.allclose(ratios(first), ratios(second), rtol=1e-9))


@pytest.mark.parametrize("bodies, pair", [
    ([x, x**3], (1, 2)), ([x, x**2, x**4], (1, 3)), ([x, x**2, x**3, x**4], (3, 4)), ([sin(x), cos(x)], (1, 2)),
    ([x, x**2, x ** 3 + x**4], (1, 3)), ([1 / P, P**2, P**4], (1, 3)), ([exp(x), exp(-x)], (1, 2)),
    ([x, exp(x), exp(2 * x)], (2, 3)), ([P**2, P**2 * log(P), P**3], None), ([x, sin(x), cos(2 * x)], None)], ids=str)
def test_sets_just_outside_are_refuted_with_a_sample(bodies: list[Any], pair: tuple[int, int] | None) -> None:
    found = recognize([Mean(body) for body in bodies])
    assert found.triple is None and found.verdict.status is Status.REFUTED and found.verdict.verify()
    assert found.verdict.witness is not None and (pair is None or found.verdict.failing_pair == pair)


@pytest.mark.parametrize("bodies, phi", [
    ([x, x**3], x), ([1 / P, P**5], P**3), ([sin(x), cos(x)], tan(x / 2)), ([exp(x), exp(-x)], exp(x)),
    ([x, x**4], None), ([x, x**2, x**3, x**4], None)], ids=str)
def test_what_a_set_closes_to(bodies: list[Any], phi: Any) -> None:
    found = recognize([Mean(body) for body in bodies])
    assert found.triple is None
    assert found.enclosing is None if phi is None else is_moebius(found.enclosing.phi, phi)  # type: ignore[union-attr]


@pytest.mark.parametrize("features", [
    [Mean(x), variance(), skewness()], [variance(), Mean(x)], [Mean(x) * Mean(x**2), Mean(x)],
    [Mean(x**2), variance()]])
def test_functions_of_averages_are_recognized(features: list[Any]) -> None:
    triple = recognize(features).triple
    assert triple is not None and triple.phi == x and triple.dimension == len(features)


def test_what_is_no_set_of_averages_is_said() -> None:
    found = recognize([Mean(x), variance(), kurtosis()])
    assert found.triple is None and found.verdict.status is Status.PROVED and "no set of averages" in found.reason
    with pytest.raises(InvalidInput, match="coordinates"):
        recognize(list(coordinates(3)))
    with pytest.raises(InvalidInput, match="black box"):
        recognize([Feature.from_callable(np.max)])
    h = Filter("h", [1, 2, 1])
    assert recognize([Mean(x), Mean(h(x) ** 2)]).triple is None


def test_kinks_and_folds() -> None:
    """Where two coordinates meet there is none: |x| is analytic on each side only, and log|x| has a pole at 0."""
    found = recognize([Feature(Mean(Abs(x)), allow_nonsmooth=["Abs"]), Mean(x)])
    assert found.triple is None and found.verdict.status is not Status.UNDECIDED
    squares = recognize([Mean(x**2)]).triple
    assert squares is not None and squares.coordinate.poles == (0,)
    assert squares.orthokurtosis([-1, 1, 2, 3], on_refusal="return")[1][0].reason == "pole inside"


def test_dependent_features_are_taken_once() -> None:
    found = recognize([Mean(x), Mean(x**2), Mean(x**2) - 3 * Mean(x)])
    assert found.triple is not None and found.triple.dimension == 2 and found.verdict.verify()


def test_one_average_without_a_known_coordinate_still_has_its_dimension() -> None:
    triple = recognize([Mean(log(cosh(x)))]).triple
    assert triple is not None and triple.dimension == 1
    with pytest.raises(NoClosedForm, match="no closed form"):
        triple.orthokurtosis([1, 2, 3, 4])


def test_a_parameter_stays_a_symbol() -> None:
    triple = recognize([Mean(P**2), Mean(P ** (2 + A))]).triple
    assert triple is not None and triple.phi == P**-A


@pytest.mark.parametrize("phi", [exp(x), tan(x / 2), log(P), tanh(x / 2), sin(sample("x", interval=(-1, 1)))], ids=str)
def test_generated_features_are_involutive_in_every_order_up_to_each(phi: Any) -> None:
    triple = exact_triple(phi)
    features = list(triple.features)
    for k in (2, 3):
        assert check_frobenius(features[:k]).status is Status.PROVED
    found = recognize(features).triple
    assert found is not None and found.dimension == 3 and is_moebius(found.phi, phi)


def test_their_names() -> None:
    assert exact_triple(exp(x)).features == FeatureSet([Mean(exp(-x)), Mean(x), Mean(exp(x))])
    assert exact_triple(log(P)).features == FeatureSet([Mean(P**2), Mean(P**2 * log(P)), Mean(P**2 * log(P) ** 2)])
    assert exact_triple(x).law.mean() == 0 and exact_triple(log(P)).law.mean() == pytest.approx(np.exp(0.5))
    assert exact_triple(sample("x", interval=(1, 3)) ** 2).law.mean() == 2
    assert exact_triple(1 / sample("x", interval=(2, oo))).law.support() == (2, np.inf)


@pytest.mark.parametrize("phi, words", [
    (x**2, "slope 0 at 0"), (x**3, "slope 0 at 0"), (log(x), "not real"), (cos(x), "not monotone"),
    (x**-2, "not monotone"), (x + 2 * sin(x), "not monotone"), (sqrt(x), "not real"), (x**-3, "not simple"),
    (S(3), "one sample"),    (x + Mean(x), "nothing else"), (A * x, "nothing else"), ((x - 1) ** 3, "slope"),
    (sample("x", interval=(-2, 1)) ** 2, "not monotone")], ids=str)
def test_what_is_no_coordinate_is_refused(phi: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        exact_triple(phi)


# --- the fourth feature -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("phi, function", [
    (exp(x), np.exp), (sinh(x), np.sinh), (atan(x), np.arctan), (x + exp(x), None)], ids=str)
def test_the_orthokurtosis_of_phi(phi: Any, function: Any) -> None:
    values = np.random.default_rng(1).normal(size=(4, 9))
    found = exact_triple(phi).orthokurtosis(values, axis=1)
    mapped = values + np.exp(values) if function is None else function(values)
    assert found == pytest.approx(orthokurtosis(mapped, axis=1), rel=1e-13)
    weights = np.arange(9)
    assert exact_triple(phi).orthokurtosis(values[0], weights=weights) == pytest.approx(
        orthokurtosis(mapped[0], weights=weights), rel=1e-13)


def test_poles_and_numbers_outside_are_refused() -> None:
    angles = exact_triple(tan(x / 2))
    values, outcomes = angles.orthokurtosis([[2.5, 3, 3.4, 4], [0, 1, 2, 2.5], [4, 5, 6, 9], [0, 1, 2, 7]], axis=1,
                                            on_refusal="return")
    assert [o.reason for o in outcomes] == ["pole inside", "", "", "pole inside"] and np.isfinite(values[[1, 2]]).all()
    assert np.isfinite(angles.orthokurtosis([0, 1, 2, 2.5, 7], weights=[1, 1, 1, 1, 0]))
    inverse, (outcome,) = exact_triple(1 / x).orthokurtosis([-1, 1, 2, 5], on_refusal="return")
    assert np.isnan(inverse) and outcome.reason == "pole inside"
    assert exact_triple(1 / x).orthokurtosis([1, 2, 5, 9]) == pytest.approx(orthokurtosis([1, 2, 5, 9]), rel=1e-13)
    assert exact_triple(log(P)).orthokurtosis([-1, 1, 2, 5], on_refusal="return")[1][0].reason == "outside the domain"
    assert exact_triple(exp(x)).orthokurtosis([1, 2, 3, 900], on_refusal="return")[1][0].reason == "beyond float64"
    assert exact_triple(exp(x)).orthokurtosis([1, 1, 2, 3, 1], on_refusal="return")[1][0].reason == "no zero-skew point"


@pytest.mark.parametrize("phi", [exp(x), sqrt(P), tan(x / 2)], ids=str)
def test_as_a_fourth_feature_it_is_decoupled_from_the_three(phi: Any) -> None:
    triple = exact_triple(phi)
    plan = decouple([*triple.features, triple.fourth], reference=[0, 0, 0], path="narrow")
    rows = np.random.default_rng(3).uniform(0.2, 2.5, (3, 8))
    fields = triple.fourth.black_box
    assert fields is not None and fields.gradient is not None
    gradients = fields.gradient(rows)
    for feature in triple.features:
        for row, gradient in zip(rows, gradients, strict=True):
            other = np.array([float(feature.gradient.expr.subs(triple.sample, v)) for v in row])
            assert abs(gradient @ other) < 1e-11 * np.linalg.norm(gradient) * np.linalg.norm(other)
    assert len(plan.features) == 4
    step = 1e-4 * np.eye(8)
    central = (fields.function(rows[0] + step) - fields.function(rows[0] - step)) / 2e-4
    assert central == pytest.approx(gradients[0], abs=1e-5)


def test_it_is_a_value() -> None:
    triple = exact_triple(exp(x))
    assert pickle.loads(pickle.dumps(triple)) == triple and hash(triple) == hash(exact_triple(exp(x)))
    assert "fewer than half" in triple.condition and "pole" in exact_triple(tan(x / 2)).condition
