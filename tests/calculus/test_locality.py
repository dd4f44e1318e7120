"""Claims about filtered features for every N >= N0: against jets of 60 digits, and what must not be claimed."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from typing import Any

import pytest

from symdecouple import FeatureSet, Filter, Mean, Status, Verdict, check_frobenius, parse, verdict_from_json, x
from tests.calculus.certified import changed, rejected
from tests.laws.plain_jets import Unclear, answer_for_features


@cache
def decide(text: str, n_samples: int | None = None) -> Verdict:
    features = [parse(part.strip(), allow_nonsmooth=["Abs"] if "abs" in part else []) for part in text.split(";")]
    return check_frobenius(FeatureSet(features), n_samples=n_samples)


def oracle(text: str, n: int, kind: str) -> bool:
    parts = [part.strip() for part in text.split(";")]
    for seed in range(20):
        try:
            return bool(getattr(answer_for_features(parts, n, "real", random.Random(seed), (), ["h", "g"]), kind))
        except Unclear:
            continue
    raise AssertionError(f"no clear sample of {text} at N = {n}")


REFUTED = {
    # no averages in fields and brackets: the windows of some rows decide
    "mean(x); mean(taps((1,2,4))(x)^3)": 9,
    "mean(x); mean(filter(h)(x)^3)": 8,
    "mean(x^3); mean(x^2*shift(2)(x))": 8,
    "mean(x*shift(3)(x)); mean(x^3)": 16,
    "mean(x); mean(exp(taps((1,-1),0)(x))); mean(x^2)": 7,
    "mean(x^2); mean(sin(shift(1)(x)*x))": 5,
    "mean(x); mean(log(cosh(taps((1,2,4))(x))))": 10,
    "mean(x); mean(1/(1+x^2*shift(1)(x)^2))": 8,
    # averages occur: a tail shows that they move by themselves
    "mean(x); mean(taps((-1,2,-1))(x)^2); mean(taps((-1,2,-1))(x)^4)/mean(taps((-1,2,-1))(x)^2)^2": 18,
    "mean(x); log(mean(taps((1,2,1))(x)^2)) - log(mean(taps((-1,2,-1))(x)^2))": 12,
    "mean(x*shift(1)(x))/variance(); mean(x^3)": 13,
    "mean(filter(h)(x)^3)/mean(filter(h)(x)^2); mean(x)": 11,
    "sqrt(mean(taps((1,-1),0)(x)^2))*mean(x); mean(taps((-1,2,-1))(x)^3)": 12,
    "mean(x)*mean(x^2); mean(x*shift(1)(x)) + mean(x)^2; mean(x*shift(2)(x)) + mean(x^2)^2": 12,
    "exp(mean(x)); mean(x^2)/mean(x*shift(1)(x)); mean(x^3)": 11,
}


@pytest.mark.parametrize("text", REFUTED)
def test_what_is_refuted_from_n0_on_fails_there(text: str) -> None:
    verdict = decide(text)
    assert verdict.status is Status.REFUTED and verdict.n0 is not None and verdict.n0 <= REFUTED[text] + 3
    assert verdict.scope == f"for every N >= {verdict.n0}" and "only" not in verdict.reason
    assert verdict.verify()
    again = verdict_from_json(verdict.to_json())
    assert again == verdict and again.n0 == verdict.n0 and again.verify()
    assert not oracle(text, verdict.n0, "involutive")


@pytest.mark.slow
@pytest.mark.parametrize("text", REFUTED)
def test_at_ten_further_sizes(text: str) -> None:
    verdict = decide(text)
    assert verdict.n0 is not None
    assert not any(oracle(text, n, "involutive") for n in range(verdict.n0 + 1, verdict.n0 + 11))


@pytest.mark.parametrize("text", [
    "variance(); sqrt(mean(taps((1,-1),0)(x)^2)/variance()); "
    "sqrt(mean(taps((-1,2,-1))(x)^2)*variance())/mean(taps((1,-1),0)(x)^2)",
    "mean(x^2); mean(x*shift(2)(x)); mean(x*shift(4)(x))",
    "mean(x); variance(); (mean(x*shift(1)(x)) - mean(x)^2)/variance()",
])  # fmt: skip
def test_independence_from_n0_on(text: str) -> None:
    c1 = decide(text).independence
    assert c1 is not None and c1.status is Status.PROVED and c1.n0 is not None and c1.verify()
    assert all(oracle(text, n, "independent") for n in range(c1.n0, c1.n0 + 2))


@pytest.mark.parametrize(("text", "why"), [
    ("mean(abs(taps((1,2),0)(x))); mean(x)", "a kink"),
    ("mean(tanh(taps((1,2),0)(x)/mean(x^2))); mean(x)", "an average of averages"),
    ("mean(sqrt(x^2 - 2*x*shift(1)(x) + shift(2)(shift(-1)(x))^2)); mean(x^2)", "the root of a square in disguise"),
    ("mean(x^3); sqrt(mean(x^2)^2 - 2*mean(x^2)*mean(x*shift(1)(x)) + mean(x*shift(-1)(x))^2)",
     "the same of averages, equal by a shift"),
    ("mean(x); mean(taps((-1,2,-1),1,zero)(x)^3)", "a boundary"),
])  # fmt: skip
def test_no_claim_beyond_the_witness(text: str, why: str) -> None:
    verdict = decide(text)
    c1 = verdict.independence
    assert c1 is not None and c1.n0 is None and c1.certificate is not None, why
    assert c1.certificate.n_samples is not None and c1.verify()
    assert verdict.n0 is None


def test_roots_of_products_meet_themselves() -> None:
    """sqrt(x0 x1) sqrt(x1 x2) sqrt(x0 x2) is x0 x1 x2 for positive samples, minus that for negative ones."""
    verdict = decide("mean(sqrt(x*shift(1)(x))); mean(sqrt(x*shift(2)(x)))")
    assert verdict.status is Status.REFUTED and verdict.n0 is None


def test_lags_that_coincide_at_small_sizes() -> None:
    """On 11 samples the lags 4 and 7 are one; from N0 on no lag meets another."""
    text = "mean(x*shift(4)(x)); mean(x*shift(7)(x)); mean(x^2)"
    c1 = decide(text).independence
    assert c1 is not None and c1.n0 is not None and c1.n0 > 11
    assert not oracle(text, 11, "independent") and oracle(text, 12, "independent")


def test_averages_that_depend_are_taken_apart() -> None:
    """Mean((x - Sx)^2) = 2 Mean(x^2) - 2 Mean(x Sx): of the three there are two in a tail."""
    text = "mean(taps((1,-1),0)(x)^2)/mean(x^2) + mean(x); mean(x*shift(1)(x))*mean(x^3)"
    verdict = decide(text)
    assert verdict.status is Status.REFUTED and verdict.n0 is not None and verdict.verify()
    assert verdict.certificate is not None
    assert not oracle(text, verdict.n0, "involutive")


def test_forged_claims() -> None:
    certificate: Any = decide("mean(x*shift(1)(x))/variance(); mean(x^3)").certificate
    other: Any = decide("mean(filter(h)(x)^3)/mean(filter(h)(x)^2); mean(x)").certificate
    tail = certificate.tail
    assert tail is not None and certificate.verify()
    for n0 in (None, 2, certificate.n0 - 1, certificate.n0 + 1, "9"):
        assert rejected(changed(certificate, n0=n0)), n0
    constant = (tail.sample[0],) * len(tail.sample)
    forged = [None, other.tail, certificate.witness, dataclasses.replace(tail, sample=constant),
              dataclasses.replace(tail, rows=tail.rows[:-1]), dataclasses.replace(tail, columns=(1,))]
    for each in forged:
        assert rejected(changed(certificate, tail=each)), each
    assert rejected(changed(certificate, n_samples=len(certificate.witness.sample)))
    alone: Any = decide("mean(x); mean(taps((1,2,4))(x)^3)").certificate
    assert alone.tail is None and rejected(changed(alone, tail=tail))


def test_frequency_responses_have_one_size() -> None:
    h = Filter.from_response([1, 2, 3, 2], name="r")
    verdict = check_frobenius([Mean(x), Mean(h(x) ** 3)])
    assert verdict.n0 is None


def test_a_size_that_is_asked_is_what_is_answered() -> None:
    verdict = decide("mean(x); mean(taps((1,2,4))(x)^3)", n_samples=6)
    assert verdict.scope == "for N = 6" and verdict.n0 is None and verdict.verify()
