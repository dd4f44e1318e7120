"""Cells of sign patterns: which there are, what is claimed on them, and that a forged certificate is not believed."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from sympy import Abs, Add, Max, Symbol, cos, exp, sin

from symdecouple.calculus.bracket import derivative_along, lie_bracket
from symdecouple.calculus.cells import cells_of
from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, x
from symdecouple.verdict import Status

m, s = Mean(x), Mean(x**2)
NAMES = ["Abs", "Max", "floor", "sign"]
RELU = FeatureSet([m, Mean(Max(x, 0) ** 2)], allow_nonsmooth=NAMES)


def kinked(*exprs: Any) -> FeatureSet:
    return FeatureSet(list(exprs), allow_nonsmooth=NAMES)


@pytest.mark.parametrize(("features", "count", "complete"), [
    (kinked(m, Mean(Abs(x))), 3, True), (kinked(m, Mean(Abs(x - m))), 1, True), (kinked(s, Abs(m)), 2, True),
    (kinked(s, Mean(Max(Abs(x) - 1, 0))), 7, True), (kinked(s, Mean(Abs(x - Symbol("a")))), 3, True),
    (kinked(s, Mean(Abs(x**2 + x + 1))), 1, True), (kinked(s, Abs(s - m**2)), 1, False),
], ids=str)  # fmt: skip
def test_the_cells(features: FeatureSet, count: int, complete: bool) -> None:
    """x - mean(x) has both signs always; the variance is positive, which is seen and not proved."""
    known = cells_of(Subject.of(features))
    assert (len(known.cells), known.complete) == (count, complete)


def test_the_squared_positive_part() -> None:
    """PROVED on x > 0, REFUTED where there are values of both signs, dependent on x < 0."""
    verdict = check_frobenius(RELU)
    mixed, below, above = verdict.certificate.parts
    assert (mixed.status, below.status, above.status) == (Status.REFUTED, Status.PROVED, Status.PROVED)
    assert [p.status.name for p in verdict.independence.certificate.parts] == ["PROVED", "REFUTED", "PROVED"]
    assert verdict.scope == "for every N >= 4, on samples with values in x < 0 and x > 0 (2 values or more in each)"
    assert verdict.failing_pair == (1, 2) and verdict.witness is not None
    assert "on samples with all values in x > 0: PROVED" in str(verdict)


def test_abs_and_mean_coincide_on_one_side() -> None:
    verdict = check_independence(kinked(s, Mean(Abs(x)), m))
    assert [p.status.name for p in verdict.certificate.parts] == ["PROVED", "REFUTED", "REFUTED"]
    assert "x < 0 and x > 0" in verdict.scope and "every N >=" in verdict.scope


def test_shares_decide() -> None:
    """[v1, v2] = -2 (share above - share below) sign(x) - 2: in the span where the shares are equal."""
    verdict = check_frobenius(kinked(Mean(Abs(x)) ** 2 + s, m))
    assert verdict.status is Status.REFUTED and verdict.certificate.verify()
    assert verdict.certificate.parts[0].shares and "for all but special shares" in verdict.scope


def test_one_size() -> None:
    verdict = check_frobenius(RELU, n_samples=5)
    assert verdict.status is Status.REFUTED and verdict.n_samples == 5 and verdict.certificate.verify()
    assert "N = 5, on samples" in verdict.scope
    assert str(verdict_from_json(verdict.to_json())) == str(verdict)


def test_forged_certificates_are_refused() -> None:
    certificate = check_frobenius(RELU).certificate
    mixed, below, above = certificate.parts
    forged = [
        dataclasses.replace(certificate, parts=(above, below, mixed)),
        dataclasses.replace(certificate, parts=(mixed,)),
        dataclasses.replace(certificate, complete=False),
        dataclasses.replace(certificate, question="C1"),
        dataclasses.replace(certificate, parts=(dataclasses.replace(mixed, shares=True), below, above)),
        dataclasses.replace(certificate, parts=(
            dataclasses.replace(mixed, certificate=above.certificate), below, above)),
        dataclasses.replace(certificate, parts=(dataclasses.replace(below, cell=mixed.cell), below, above)),
    ]
    assert certificate.verify() and not any(each.verify() for each in forged)
    witness = mixed.certificate.witness
    moved = dataclasses.replace(mixed.certificate, witness=dataclasses.replace(
        witness, sample=tuple(abs(v) + k for k, v in enumerate(witness.sample))))
    part = dataclasses.replace(mixed, certificate=moved)
    assert not dataclasses.replace(certificate, parts=(part, below, above)).verify()


def test_hostile_json_of_cells() -> None:
    data = json.loads(check_frobenius(RELU).to_json())
    data["certificate"]["cells"][0]["patterns"] = [[1], [1]]
    with pytest.raises(InvalidInput):
        verdict_from_json(json.dumps(data))


def test_brackets_and_derivatives_off_the_kinks() -> None:
    size = Feature(Mean(Abs(x)), allow_nonsmooth=NAMES)
    bracket = lie_bracket(size, Feature(s))
    assert str(bracket.expr) == "2*sign(x)" and {"Abs", "sign"} <= bracket.allow_nonsmooth
    assert derivative_along(size, size) == 1
    x1, x2 = coordinates(2)
    field = Feature(Abs(x1) * x2, allow_nonsmooth=NAMES).gradient
    assert "Dirac" not in str(lie_bracket(field, Feature(x1 * x2)).components)


def test_what_is_not_decided_says_why() -> None:
    from sympy import floor

    verdict = check_frobenius(kinked(Mean(floor(x)), m))
    assert verdict.status is Status.UNDECIDED and "finite number" in verdict.reason
    many = check_frobenius(kinked(*(Mean(Abs(sin(k * x) + cos(x))) for k in range(1, 13))))
    assert many.status is Status.UNDECIDED and "signs occur" in many.reason


def test_a_kink_that_does_not_matter_is_no_kink() -> None:
    """Softmax with the largest coordinate taken out of all exponents is smooth."""
    points = coordinates(3)
    stable = [exp(c - Max(*points)) for c in points]
    verdict = check_frobenius([Feature(e / Add(*stable), allow_nonsmooth=["Max"]) for e in stable[:2]])
    assert verdict.status is Status.PROVED and verdict.verify() and "Max" not in str(verdict)
    assert verdict.scope == "for N = 3" and verdict.independence.status is Status.PROVED
    top, (a, b, c) = Max(*points), points
    factor = check_frobenius([Feature(a * top / (b * top + c * top), allow_nonsmooth=["Max"]), Feature(a + b)])
    assert factor.status is Status.REFUTED and factor.verify() and "Max" not in str(factor)
