"""C1 at one given sample: ranks by SymPy on features written out, relations by hand, lies refused."""

from __future__ import annotations

import dataclasses
import json
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sympy import Expr, Matrix, Max, Rational, Si, Symbol, atan, cosh, exp, log, sqrt, symbols

from symdecouple.calculus import sample_rank
from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.sample_rank import exact_rank, holds
from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.verdict import Status, Verdict
from tests.calculus.certified import changed, rejected
from tests.calculus.explicit import lookup, values

m, s, c3, v = Mean(x), Mean(x**2), Mean(x**3), variance()
HIGH, SKEW, LOW = Filter([-1, 2, -1]), Filter([1, 0, -1]), Filter([1, 2, 1])
PADDED = Filter([1, 2, 4], boundary="zero")
MIRRORED = Filter([1, 2, 4], boundary="whole-sample")


def energy(h: Filter, p: int = 2) -> Expr:
    return Mean(h(x) ** p)


def decided(features: Any, at: Any, status: Status, **options: Any) -> Verdict:
    """The verdict, which must have this status, hold up and survive JSON."""
    verdict = check_independence(features, at=at, **options)
    assert verdict.status is status, str(verdict)
    assert verdict.question == "C1 at a sample" and (verdict.certificate is None or verdict.certificate.verify())
    twin = verdict_from_json(verdict.to_json())
    assert twin == verdict and str(twin) == str(verdict) and (twin.certificate is None or twin.certificate.verify())
    return verdict


def gradients(features: Any, at: Any) -> Matrix:
    """N grad f, one column for each feature, by SymPy in N coordinates."""
    q = symbols(f"q1:{len(at) + 1}")
    rule = dict(zip(q, at, strict=True))
    columns = []
    for feature in features:
        f = values(feature, q, lookup(len(at)))[0]
        columns.append([len(at) * f.diff(c).subs(rule) for c in q])
    return Matrix(columns).T


# --- against SymPy ----------------------------------------------------------------------------------------------

FEATURES = [m, s, c3, v, Mean(x * shift(1)(x)), energy(HIGH), energy(SKEW), energy(LOW, 3), energy(PADDED),
            energy(MIRRORED), m * energy(HIGH) + 3]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(range(len(FEATURES))), min_size=1, max_size=4, unique=True),
       st.lists(st.fractions(-2, 2, max_denominator=2), min_size=5, max_size=6))
def test_the_rank_is_that_of_sympy(chosen: list[int], at: list[Fraction]) -> None:
    features = [FEATURES[k] for k in chosen]
    matrix = gradients(features, [Rational(q.numerator, q.denominator) for q in at])
    rank = matrix.rank()
    verdict = decided(features, at, Status.PROVED if rank == len(features) else Status.REFUTED)
    if rank < len(features):
        assert verdict.certificate.rank == rank
        for relation in verdict.certificate.relations:
            weights = Matrix([Rational(c.numerator, c.denominator) for c in relation])
            assert any(weights) and not any(matrix * weights)
    else:
        assert matrix[[r - 1 for r in verdict.certificate.rows], :].det() != 0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4).flatmap(lambda k: st.lists(
    st.lists(st.fractions(-3, 3, max_denominator=3), min_size=k, max_size=k), min_size=1, max_size=4)),
    st.sampled_from([2, 3, 5, 2**31 - 1]))
def test_ranks_with_any_prime(columns: list[list[Fraction]], prime: int) -> None:
    """Small primes divide many minors: then elimination is exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_rank, "PRIME", prime)
        found = exact_rank(columns)
    matrix = Matrix([[Rational(q.numerator, q.denominator) for q in column] for column in columns]).T
    assert len(found.columns) == len(found.rows) == matrix.rank()
    assert not found.rows or matrix.extract(list(found.rows), list(found.columns)).det() != 0
    assert len(found.relations) == len(columns) - len(found.columns)
    assert all(holds(relation, columns) and any(relation) for relation in found.relations)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=4, unique=True),
       st.lists(st.integers(-1, 1), min_size=6, max_size=6))
def test_energies_are_independent_as_their_responses_on_the_active_frequencies(taps: list[Any], at: list[int]) -> None:
    """Six samples, where the cosines of all frequencies are rational, and so is what makes the spectrum vanish."""
    p, q, r = (at[k] - at[k + 3] for k in range(3))
    even = {at[k] + at[k + 3] for k in range(3)}
    active = [sum(at) != 0, (p - r, q + r) != (0, 0), len(even) > 1, sum(at[::2]) != sum(at[1::2])]
    half = Rational(1, 2)
    responses = [[h[0] ** 2 + h[1] ** 2 + h[2] ** 2 + 2 * h[1] * (h[0] + h[2]) * c + 2 * h[0] * h[2] * c2
                  for c, c2, there in zip((1, half, -half, -1), (1, -half, -half, 1), active, strict=True) if there]
                 for h in taps]
    rank = Matrix(responses).rank() if any(active) else 0
    features = list({energy(Filter(list(h), origin=1)): 0 for h in taps})
    verdict = check_independence(features, at=at)
    assert verdict.certificate.verify()
    found = verdict.certificate.rank if verdict.status is Status.REFUTED else len(features)
    assert found == rank
    if verdict.status is Status.REFUTED and verdict.evidence:
        assert verdict.evidence[0].startswith(f"{sum(active)} active")


# --- by hand ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "at", "rank", "relation"),
    [
        ([m, s, c3], [0, 0, 1], 2, (0, Rational(-3, 2), 1)),  # 1, 2x and 3x^2 = 3x on {0, 1}
        ([m, s, c3], [-1, 1, 1, -1], 2, (-3, 0, 1)),  # 3x^2 = 3
        ([m, s], [5, 5, 5], 1, (-10, 1)),
        ([m, v, kurtosis()], [0, 1, 2], 2, (0, 0, 1)),  # 3/2 for every three samples
        # sinusoid of period 4: gradients 2 |H(pi/2)|^2 x, |H|^2 = (2 - 2 cos)^2 = 4 and 4 sin^2 = 4
        ([energy(HIGH), energy(SKEW)], [0, 1, 0, -1] * 2, 1, (-1, 1)),
        ([energy(HIGH), s], [3, -3] * 4, 1, (Rational(-1, 16), 1)),  # alternating: |H(pi)|^2 = 16
        ([energy(SKEW), s], [1, -1] * 3, 1, (1, 0)),  # which SKEW does not pass
        ([energy(HIGH), energy(HIGH, 2) * 3 + 1], [1, 2, 3, 7], 1, (-3, 1)),
    ],
    ids=str,
)
def test_dependent_at_special_samples(features: Any, at: list[int], rank: int, relation: tuple[Any, ...]) -> None:
    verdict = decided(features, at, Status.REFUTED)
    found = verdict.certificate
    assert found.rank == rank and len(found.relations) == len(features) - rank
    ratio = next(a / b for a, b in zip(found.relation, relation, strict=True) if b != 0)
    assert tuple(c / ratio for c in found.relation) == tuple(relation)
    assert f"rank {rank} of {len(features)}" in verdict.reason and f"N = {len(at)}" in str(verdict)


def test_active_frequencies_are_named() -> None:
    stripes = decided([s, energy(HIGH), energy(SKEW)], [0, 1, 0, -1] * 4, Status.REFUTED)
    assert stripes.evidence == ("1 active frequency of the sample up to sign, in floating point: 4",)
    assert "spectral perturbation" in stripes.reason
    assert "ramp perturbation" in decided([m, s, c3], [0, 0, 1], Status.REFUTED).reason
    one_more = [a + b for a, b in zip([0, 1, 0, -1] * 4, [1, -1] * 8, strict=True)]
    decided([s, energy(HIGH), energy(SKEW)], one_more, Status.REFUTED)
    decided([s, energy(HIGH)], one_more, Status.PROVED)


def test_images() -> None:
    """Nine energies; a checkerboard with its mean has two frequencies, horizontal stripes one row of them."""
    lines = ([1, 2, 1], [-1, 0, 1], [1, -2, 1])
    bank = [energy(Filter(np.outer(a, b).tolist())) for a in lines for b in lines]
    noise = np.random.default_rng(3).integers(0, 256, (64, 64)).astype(np.uint8)
    start = time.process_time()
    verdict = check_independence(bank, at=noise)
    assert time.process_time() - start < 10, "0.2 s on a quiet core"
    assert verdict.status is Status.PROVED and "grid of 64 x 64" in str(verdict) and verdict.certificate.verify()
    board = np.indices((12, 8)).sum(axis=0) % 2 * 255
    assert decided(bank, board, Status.REFUTED).certificate.rank == 2
    assert decided([m, *bank], board, Status.REFUTED).certificate.rank == 2
    stripes = np.repeat(noise[:8, :1], 8, axis=1)
    assert decided(bank, stripes, Status.REFUTED).certificate.rank == 3, "1 factor in 2 dimensions, 3 along the stripes"
    decided(bank, noise[:5, :4].tolist(), Status.PROVED)


def test_numbers_are_taken_as_they_print() -> None:
    """(1/10, 2/10, 3/10) is a line: Mean((x1 - 2 x2 + x3)^2) does not move there, exactly."""
    h = Filter([1, -2, 1], origin=0)
    middle = Mean(h(x) ** 2 * x)
    for at in ([0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3], dtype=np.float32), [Decimal("0.1"), 0.2, Rational(3, 10)],
               np.array([0.1, 0.2, 0.3])):
        verdict = check_independence([m, middle], at=at)
        assert verdict.certificate.sample == (Fraction(1, 10), Fraction(1, 5), Fraction(3, 10))
    assert check_independence([m, s], at=np.array([0, 2**63 + 1], dtype=np.uint64)).certificate.sample[1] == 2**63 + 1
    assert check_independence([m, s], at=[2**70, 0.5]).certificate.sample == (2**70, Fraction(1, 2))


# --- irrational gradients ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "at", "status"),
    [
        ([Mean(exp(x)), m], [0, 1, 3], Status.PROVED),
        ([Mean(log(cosh(x))), s, m], [0, 1, 2, -1], Status.PROVED),
        ([Mean(log(cosh(x))), s, m], [0, 1, 1], Status.REFUTED),  # three functions on two values
        ([Mean(exp(x)), Mean(exp(x) + x), m], [0, 1, 3], Status.UNDECIDED),
        ([Mean(exp(SKEW(x))), m], [0, 1, 4, 2], Status.PROVED),
        ([Mean(exp(SKEW(x))), m], [1, 1, 1], Status.REFUTED),  # exp(0) = 1 is rational: SKEW~(1) = 0
        ([energy(Filter([1, sqrt(2), 1])), energy(HIGH)], [0, 1, 4, 2], Status.PROVED),
        ([Mean(sample(positive=True) ** Rational(3, 2)), Mean(sample(positive=True))], [4, 9, Rational(1, 4)],
         Status.PROVED),
        ([sqrt(s), c3], [3, 4, 0, 0, 0], Status.PROVED),
        ([sqrt(v), v, m], [0, 1, 3], Status.UNDECIDED),
        ([sqrt(v), v, m], [-1, 1, -1, 1], Status.REFUTED),  # sqrt(1) is rational, d sqrt(v) = dv/2
    ],
    ids=str,
)
def test_functions_that_are_not_rational(features: Any, at: list[Any], status: Status) -> None:
    verdict = decided(features, at, status)
    if status is Status.UNDECIDED:
        assert any("singular value" in line for line in verdict.evidence) and "not rational" in verdict.reason


def test_kinks_fields_and_coordinates() -> None:
    kinked = Feature(Mean(Max(x, 0) ** 2), allow_nonsmooth=["Max"])
    decided([kinked, m], [-1, 2, 3], Status.PROVED)
    decided([kinked, m], [2, 2], Status.REFUTED)
    padded = PADDED(x) - Mean(PADDED(x))
    decided([Mean(padded**2), v, Mean(PADDED(x - m + 1) ** 3)], [0, 1, 5, 2], Status.PROVED)
    decided([VectorField(x - m), VectorField(x**2)], [0, 1, 5], Status.PROVED)
    decided([VectorField(x), VectorField(x**2)], [0, 1, 1], Status.REFUTED)
    x1, x2, x3 = coordinates(3)
    decided([x1 * x2, x3], [1, 2, 3], Status.PROVED)
    assert decided([x1 * x2, x1 + x2], [3, 3, 3], Status.REFUTED).certificate.relation == (Rational(-1, 3), 1)


# --- what cannot be answered ------------------------------------------------------------------------------------


def test_undecided_without_taps_values_or_a_gradient() -> None:
    a, named = Symbol("a"), Filter("h")
    verdict = decided([m, s + a * c3], [0, 1, 2], Status.UNDECIDED)
    assert "bind" in verdict.reason
    assert check_independence([m, s + a * c3], at=[0, 1, 2]).at({"a": 2}).status is Status.PROVED
    assert check_independence([m, energy(named)], at=[0, 1, 3]).at({named: [-1, 2, -1]}).status is Status.PROVED
    assert "no value" in decided([m, skewness()], [1, 1, 1], Status.UNDECIDED).reason
    assert "no exact or interval evaluation" in decided([Mean(x * Si(x)), m], [1, 2, 3], Status.UNDECIDED).reason
    decided([Mean(x * atan(x)), m], [1, 2, 3], Status.PROVED)
    response = Filter.from_response([1, 0, 0], name="r")
    decided([m, energy(response)], [0, 1, 2], Status.UNDECIDED)


@pytest.mark.parametrize(
    ("features", "at", "message"),
    [
        ([m], [1, float("nan")], "finite"), ([m], [1, float("inf")], "finite"), ([m], np.array([1, np.nan]), "finite"),
        ([m], [1, 2j], "finite"), ([m], [True, False], "finite"), ([m], ["1", "2"], "finite"),
        ([m], [1, None], "finite"), ([m], [1, sqrt(2)], "finite"), ([m], [1, Decimal("1e999999999")], "finite"),
        ([m], [[1, 2], [3]], "finite|length"), ([m], 3, "shape"), ([m], [4], "at least 2"), ([m], [], "at least 2"),
        ([m], np.ma.array([1, 2, 3], mask=[0, 1, 0]), "masked"), ([energy(HIGH)], [[1, 2], [3, 4]], "1 dimension"),
        ([energy(Filter([[1, -1, 0]]))], [1, 2, 3], "2 dimensions"),
        ([Mean(log(sample(positive=True)))], [1, 0, 2], "domain"), (list(coordinates(3)), [1, 2], "3 coordinates"),
    ],
    ids=lambda value: str(value).replace("\n", " ")[:40],
)
def test_samples_that_are_refused(features: Any, at: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_independence(features, at=at)


def test_a_size_that_contradicts_the_sample() -> None:
    assert check_independence([m], at=[1, 2, 3], n_samples=3).n_samples == 3
    with pytest.raises(InvalidInput, match="has size 3"):
        check_independence([m], at=[1, 2, 3], n_samples=4)


# --- certificates -----------------------------------------------------------------------------------------------


def test_changed_certificates_do_not_verify() -> None:
    proof = check_independence([m, s, c3], at=[0, 1, 2, 2]).certificate
    zero = (Fraction(0), Fraction(1), Fraction(1), Fraction(0))
    for lie in ({"rows": (1, 2, 2)}, {"rows": (1, 2)}, {"rows": (2, 3, 4, 1)}, {"rows": (2, 3, 9)}, {"sample": zero},
                {"rows": (2, 3, 4)}, {"shape": (2, 3)}, {"shape": ("4",)}, {"digits": -1}, {"digits": 10**9}):
        assert rejected(changed(proof, **lie)), lie
    refutation = check_independence([m, s, c3], at=[0, 0, 1]).certificate
    (row,) = refutation.relations
    for lie in ({"relations": ()}, {"relations": ((Fraction(0),) * 3,)}, {"relations": (tuple(2 * c for c in row),)},
                {"relations": ((row[0] + Fraction(1, 10**30), *row[1:]),)}, {"relations": (row, row)},
                {"columns": (1,)}, {"columns": (1, 3)}, {"rows": (1, 2)},
                {"sample": (Fraction(0), Fraction(2), Fraction(1))}):
        assert rejected(changed(refutation, **lie)), lie
    counted = check_independence([Mean(exp(x)), m, s], at=[0, 1, 1]).certificate
    assert counted.verify() and rejected(changed(counted, sample=(Fraction(0), Fraction(1), Fraction(2))))
    assert rejected(dataclasses.replace(counted, subject=refutation.subject, sample=(*zero[:2], Fraction(5))))


@pytest.mark.parametrize(
    "change",
    [{"sample": ["1e9", "0", "1"]}, {"sample": None}, {"sample": [0.5, 1, 2]}, {"relations": [["0x1/0x0"] * 3]},
     {"relations": [[1, 2, 3]]}, {"shape": []}, {"rows": ["a"]}, {"certificate": "dependence"}, {"shape": [4]}],
    ids=str,
)
def test_hostile_json_is_refused(change: dict[str, Any]) -> None:
    data = check_independence([m, s, c3], at=[0, 0, 1]).to_dict()
    with pytest.raises(InvalidInput):
        verdict_from_json(json.dumps(data | {"certificate": data["certificate"] | change}))


def test_very_long_relations_go_through_json() -> None:
    """More digits than Python writes as a decimal: 1, x^2000 and x on two values of 30 digits."""
    verdict = decided([m, Mean(x**200), s], [10**30 + 1, 10**30 + 7, 10**30 + 1], Status.REFUTED)
    assert len(verdict.to_json()) > 4300 and "rational)" in str(verdict)
