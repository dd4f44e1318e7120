"""C1 and C2 of averages of functions of filter outputs, each verdict with its certificates and an oracle of its own.

The oracle writes features out in N coordinates, filters as matrices, and lets SymPy differentiate: the brackets are
compared with the structure functions at random rational points to 30 digits.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings, strategies as st
from sympy import (
    Abs,
    Expr,
    Integer,
    Rational,
    Symbol,
    acot,
    asin,
    asinh,
    atan,
    atan2,
    cosh,
    erf,
    erfc,
    exp,
    gamma,
    lambdify,
    log,
    sign,
    sin,
    sqrt,
    symbols,
    sympify,
    tanh,
)

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import sample, x
from symdecouple.language.statistics import variance
from symdecouple.verdict import Status
from tests.calculus.certified import changed, decided, rejected
from tests.calculus.explicit import lookup, operator, point, values

H, D, E = Filter("h"), Filter("d", zero_dc=True), Filter("e", zero_dc=True)
STEP, HIGH, LOW = Filter([1, -1], 0), Filter([-1, 2, -1]), Filter([1, 2, 4], 0)
m, v, s = Mean(x), variance(), Mean(x**2)
p = Symbol("p")
NAMED = {H: {-1: 3, 0: -2, 1: 5}, D: {-1: 2, 0: 1, 2: -3}, E: {0: 1, 1: 4, 3: -5}}


def absolute(expr: Expr) -> Feature:
    return Feature(expr, allow_nonsmooth=["Abs"])


def residual(features: Any, structure: Any, n: int, seed: int) -> float:
    """The largest component of [v_i, v_j] - sum_k c_k v_k in coordinates, over the size of the bracket's two terms.

    SymPy differentiates once, and differences with 160 digits and steps of 10^-50 do so again.
    """
    matrix = lookup(n, {h: operator(taps, n) for h, taps in NAMED.items()})
    coordinates, at = symbols(f"q1:{n + 1}", real=True), point(n, seed)
    rows = [[n * f.diff(c).doit() for c in coordinates] for f in (values(Feature(feature).expr, coordinates, matrix)[0]
                                                                for feature in features)]
    with mpmath.workdps(160):
        fields = [lambdify(coordinates, row, "mpmath", cse=True) for row in rows]
        here, step = [mpmath.mpf(int(c.p)) / int(c.q) for c in at], mpmath.mpf(10) ** -50

        def along(i: int, j: int) -> list[Any]:
            ends = ([c + sign * step * u for c, u in zip(here, fields[i](*here), strict=True)] for sign in (1, -1))
            return [(a - b) / (2 * step) for a, b in zip(*(fields[j](*end) for end in ends), strict=True)]

        worst = mpmath.mpf(0)
        for i, j in combinations(range(len(features)), 2):
            weights = [lambdify((), values(c, at, matrix)[0], "mpmath")() for c in structure[i + 1, j + 1]]
            for k, (one, two) in enumerate(zip(along(i, j), along(j, i), strict=True)):
                rest = one - two - sum(w * field(*here)[k] for w, field in zip(weights, fields, strict=True))
                worst = max(worst, abs(rest) / (1 + abs(one) + abs(two)))
    return float(worst)


ZERO = {(1, 2): (0, 0, 0), (1, 3): (0, 0, 0)}
INVOLUTIVE: dict[str, tuple[list[Any], dict[tuple[int, int], tuple[Any, ...]]]] = {
    "mean, exp of a step": ([m, Mean(exp(STEP(x)))], {(1, 2): (0, 0)}),
    "mean, log cosh": ([m, Mean(log(cosh(STEP(x))))], {(1, 2): (0, 0)}),
    "mean, exp, any gain": ([m, Mean(exp(H(x)))], {(1, 2): (0, H.dc)}),
    "mean, exp, gain 7": ([m, Mean(exp(LOW(x)))], {(1, 2): (0, 7)}),
    "mean, logistic": ([m, Mean(1 / (1 + exp(-D(x))))], {(1, 2): (0, 0)}),
    "mean, sine": ([m, Mean(sin(D(x)) * tanh(E(x)))], {(1, 2): (0, 0)}),
    "mean, centred": ([m, Mean(exp(H(x) - Mean(H(x))))], {(1, 2): (0, 0)}),
    "mean, variance, x^p": ([m, v, Mean(D(x) ** p)], ZERO | {(2, 3): (0, 0, 2 * (p - 2))}),
    "mean, variance, |x|^p": ([m, v, absolute(Mean(Abs(STEP(x)) ** p))], ZERO | {(2, 3): (0, 0, 2 * (p - 2))}),
    "mean, variance, |x|": ([m, v, absolute(Mean(Abs(D(x))))], ZERO | {(2, 3): (0, 0, -2)}),
    "x2, |x|^3": ([s, absolute(Mean(Abs(HIGH(x)) ** 3))], {(1, 2): (0, 2)}),
    "x2, sums to p": ([s, Mean((H(x) + 3 * x) ** p)], {(1, 2): (0, 2 * (p - 2))}),
    "x2, root": ([s, Mean(H(x) ** Rational(3, 2))], {(1, 2): (0, -1)}),
    "x2, length": ([s, Mean(sqrt(H(x) ** 2 + LOW(x) ** 2))], {(1, 2): (0, -2)}),
    "x2, inverse": ([s, Mean(1 / H(x))], {(1, 2): (0, -6)}),
    "x2, log of a square": ([s, Mean(log(D(x) ** 2))], {(1, 2): (0, -4)}),
    "ratio of moments": ([m, v, Mean(STEP(x) ** 4) / Mean(STEP(x) ** 2) ** 2], ZERO | {(2, 3): (0, 0, -4)}),
    "standardized contrast": ([m, v, Mean(sqrt(1 + D(x) ** 2 / Mean(D(x) ** 2)))],
                              ZERO | {(2, 3): (0, 0, -4)}),
    "exponents add up": ([Mean(exp(x)), m, Mean(exp(-x))], {(1, 2): (-1, 0, 0), (1, 3): (0, 2, 0), (2, 3): (0, 0, -1)}),
    "lags of exponentials": ([m, Mean(exp(x + shift(1)(x)))], {(1, 2): (0, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("name", INVOLUTIVE)
def test_proved_for_every_size_and_kernel(name: str) -> None:
    """The structure functions by hand: the mean's are f' under a shift, the others' Euler's degrees."""
    features, structure = INVOLUTIVE[name]
    verdict = decided(features, Status.PROVED)
    assert verdict.structure == structure and verdict.n_samples is None
    cube = [Feature(f).bind({p: 3}) if p in Feature(f).parameters else f for f in features]
    if any(Feature(f).expr.has(H(x) ** Rational(3, 2)) for f in features):
        return  # the outputs of the oracle's kernel are not all positive
    weights = {pair: [sympify(c).xreplace({p: Integer(3)}) for c in row] for pair, row in structure.items()}
    assert residual(cube, weights, 4 + len(name) % 2, 3) < 1e-30


def test_the_oracle_sees_a_bracket_that_is_not_there() -> None:
    assert residual([m, Mean(exp(LOW(x)))], {(1, 2): [Integer(0), Integer(6)]}, 4, 3) > 1e-3
    assert residual([m, Mean(tanh(LOW(x)))], {(1, 2): [Integer(0), Integer(0)]}, 4, 3) > 1e-3


NOT_INVOLUTIVE = {
    "log cosh with a gain": ([m, Mean(log(cosh(H(x))))], (1, 2)), "tanh with a gain": ([m, Mean(tanh(H(x)))], (1, 2)),
    "two contrasts": ([m, Mean(exp(D(x))), Mean(tanh(E(x)))], (2, 3)),
    "energy and exp": ([Mean(D(x) ** 2), Mean(exp(D(x)))], (1, 2)),
    "x2, log cosh": ([s, Mean(log(cosh(STEP(x))))], (1, 2)), "p with a gain": ([m, Mean(H(x) ** p)], (1, 2)),
    "erf": ([s, Mean(erf(STEP(x) / 4))], (1, 2)), "root with a gain": ([m, Mean(sqrt(LOW(x)))], (1, 2)),
}


@pytest.mark.parametrize(("features", "pair"), NOT_INVOLUTIVE.values(), ids=NOT_INVOLUTIVE.keys())
def test_refuted_from_some_size_on(features: list[Any], pair: tuple[int, int]) -> None:
    verdict = decided(features, Status.REFUTED)
    assert verdict.failing_pair == pair and verdict.witness.minor.excludes_zero()
    assert 4 < verdict.n0 <= 30 and "only" not in verdict.reason


def test_what_depends_on_the_exponent_and_the_gain() -> None:
    """[1, p h~ h^(p - 1)] = p (p - 1) dc h~ h^(p - 2) is in the span at p = 0, 1, 2 and gain 0."""
    verdict = decided([m, Mean(H(x) ** p)], Status.REFUTED)
    assert {H.dc: 0} in verdict.exceptions and {p: 2} in verdict.exceptions and {p: 3} not in verdict.exceptions
    assert verdict.at({p: 2}).status is Status.PROVED and verdict.at({p: 4}).status is Status.REFUTED
    assert verdict.at({H.dc: 0}).status is Status.PROVED


# --- domains ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [STEP(x) ** Rational(3, 2), log(D(x))], ids=str)
def test_powers_of_outputs_that_change_sign_are_not_decided(function: Expr) -> None:
    """The outputs of a filter with gain 0 add up to 0: a root or a logarithm of them all is defined at no sample."""
    verdict = check_frobenius([s, Mean(function)])
    assert verdict.status is Status.UNDECIDED and "no sample was found" in verdict.reason
    assert verdict.independence.status is Status.UNDECIDED


def test_a_root_where_the_output_has_one_sign() -> None:
    decided([s, Mean(sqrt(Filter([1, -3, 1])(x)))], Status.PROVED)
    t = sample("t", positive=True)
    assert decided([Mean(t**2), Mean(sqrt(Filter([1, 1], 0)(t)))], Status.PROVED).structure == {(1, 2): (0, -3)}
    decided([Mean(log(t)), Mean(Filter([1, 1], 0)(log(t)) ** 2)], Status.REFUTED)


def test_signs_are_not_decided_as_features() -> None:
    """Their gradients contain impulses: |x|^3 is decided, x^3 sign(x) is not; fields may contain signs."""
    verdict = check_frobenius([s, Feature(Mean(H(x) ** 3 * sign(H(x))), allow_nonsmooth=["sign"])])
    assert verdict.status is Status.UNDECIDED and "as abs(x)" in verdict.reason
    fields = [VectorField(x), VectorField(H(x) ** 2 * sign(H(x)), allow_nonsmooth=["sign"])]
    assert decided(fields, Status.PROVED).structure == {(1, 2): (0, 1)}


def test_functions_without_a_rule_are_not_decided() -> None:
    verdict = check_frobenius([m, Mean(gamma(D(x)))])
    assert verdict.status is Status.UNDECIDED and verdict.certificate is None


INVERSES = [atan, asinh, erf, erfc, lambda y: asin(y / 9), acot, lambda y: atan2(y, 1 + y**2)]


@pytest.mark.parametrize("function", INVERSES, ids=["atan", "asinh", "erf", "erfc", "asin", "acot", "atan2"])
def test_products_with_functions_whose_values_are_enclosed(function: Any) -> None:
    """Of a contrast, the mean has no part: [1, v] = 0. The scale has, and an exact witness shows it."""
    feature = Mean(D(x) ** 2 * function(D(x)))
    if function in (erf, INVERSES[-1]):  # what the proof asks of the others is asked for the refutation too
        assert decided([m, feature], Status.PROVED).structure == {(1, 2): (0, 0)}
    assert decided([s, feature], Status.REFUTED).witness.minor.excludes_zero()


# --- boundaries, one size, images -------------------------------------------------------------------------------


def test_other_boundaries() -> None:
    padded = Filter([1, -1, 0], boundary="zero")
    assert decided([m, Mean(exp(padded(x)))], Status.REFUTED, n_samples=6).failing_pair == (1, 2)
    verdict = decided([s, Mean(Filter("k", boundary="zero")(x) ** p)], Status.PROVED)
    assert verdict.structure == {(1, 2): (0, 2 * (p - 2))}
    for boundary in ("half-sample", "whole-sample"):
        mirrored = Filter([1, -2, 1], boundary=boundary)
        assert decided([m, Mean(tanh(mirrored(x)))], Status.PROVED).structure == {(1, 2): (0, 0)}
        decided([m, v, absolute(Mean(Abs(mirrored(x)) ** 3))], Status.PROVED, n_samples=5)


@pytest.mark.parametrize("name", ["mean, exp, gain 7", "ratio of moments", "x2, |x|^3"])
def test_one_size(name: str) -> None:
    features, structure = INVOLUTIVE[name]
    assert decided(features, Status.PROVED, n_samples=6).structure == structure


def test_images() -> None:
    right, down = Filter([[1, -1]], origin=(0, 0)), Filter([[1], [-1]], origin=(0, 0))
    length = Mean(sqrt(right(x) ** 2 + down(x) ** 2))
    structure = {(1, 2): (0, 0, 0), (1, 3): (0, 0, 0), (2, 3): (0, 0, -2)}
    assert decided([m, v, length], Status.PROVED).structure == structure
    assert decided([m, v, length], Status.PROVED, n_samples=(3, 4)).structure == structure


# --- C1, and certificates under attack --------------------------------------------------------------------------


@pytest.mark.parametrize(("features", "relation"), [
    ([Mean(tanh(H(x))), Mean(1 / (1 + exp(-2 * H(x))))], (Rational(-1, 2), 1)),
    ([m, Mean(log(cosh(H(x)))), Mean(log(1 + exp(2 * H(x))))], (-H.dc, -1, 1)),
    ([Mean(exp(STEP(x))), Mean(exp(STEP(shift(3)(x)) + 2))], (-exp(2), 1)),
    ([Mean(x * tanh(shift(1)(x))), Mean(tanh(x) * shift(-1)(x))], (-1, 1)),
    ([s, Mean(D(x) ** p), Mean((2 * D(x)) ** p)], (0, -(2**p), 1)),
], ids=["tanh", "softplus", "shifts", "lags", "scale"])  # fmt: skip
def test_dependence(features: list[Any], relation: Any) -> None:
    verdict = check_independence(features)
    assert verdict.status is Status.REFUTED and verdict.certificate.relation == relation
    assert verdict.certificate.verify() and verdict_from_json(verdict.to_json()) == verdict


def test_changed_claims_are_rejected() -> None:
    proof = decided(INVOLUTIVE["mean, variance, x^p"][0], Status.PROVED).certificate
    for pair in proof.structure:
        row = (*proof.structure[pair][:2], proof.structure[pair][2] + 1)
        assert rejected(changed(proof, structure={**proof.structure, pair: row}))
    other = decided(INVOLUTIVE["ratio of moments"][0], Status.PROVED).certificate
    assert rejected(changed(proof, subject=other.subject))
    data = json.loads(decided(INVOLUTIVE["mean, exp, any gain"][0], Status.PROVED).to_json())
    data["certificate"]["structure"]["1,2"] = ["0", "dc(h)**2"]
    assert not verdict_from_json(json.dumps(data)).certificate.verify()


FUNCTIONS = [exp, tanh, atan, lambda y: log(cosh(y)), lambda y: sqrt(1 + y**2), lambda y: y * exp(-(y**2) / 9),
             lambda y: 1 / (3 + y**2), sin]  # fmt: skip


@given(st.sampled_from(FUNCTIONS), st.lists(st.integers(-3, 3), min_size=1, max_size=3), st.integers(4, 5),
       st.integers(0, 10**6))  # fmt: skip
@settings(max_examples=5, deadline=None)
def test_a_gain_of_zero_makes_any_function_of_an_output_commute_with_the_mean(
    function: Any, taps: list[int], n: int, seed: int
) -> None:
    filters = Filter([*taps, -sum(taps)], 0) if any(taps) else STEP
    features = [m, Mean(function(filters(x)))]
    verdict = check_frobenius(features)
    assert verdict.status is Status.PROVED and verdict.structure == {(1, 2): (0, 0)}
    assert residual(features, {(1, 2): [Integer(0)] * 2}, n, seed) < 1e-30
