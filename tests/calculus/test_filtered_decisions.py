"""C1 and C2 of filtered features: the table of the design, each row with its certificates and an oracle of its own.

The oracle writes filters out as matrices and features as polynomials of N coordinates, and compares exact ranks of the
gradients with and without their brackets: at random points for proofs, at the witness for refutations.
"""

from __future__ import annotations

import json
import time
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Expr, Pow, Rational, Symbol, exp, sqrt

from symdecouple.calculus.certificates import certificate_from_dict, verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.errors import InvalidInput
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import kurtosis, variance
from symdecouple.verdict import Status
from tests.calculus.certified import changed, decided, rejected
from tests.calculus.explicit import lookup, operator, point, ranks

H, G, D, E = Filter("h"), Filter("g"), Filter("d", zero_dc=True), Filter("e", zero_dc=True)
HIGH, SKEW, LOW, SMOOTH = Filter([-1, 2, -1]), Filter([1, 0, -1]), Filter([1, 2, 4], 0), Filter([1, 2, 1])
QUARTER, DECIMAL = Filter([0.25, 0.5, 0.25]), Filter([-0.1, 0.3, -0.2])
m, v, s = Mean(x), variance(), Mean(x**2)
a = Symbol("a")


def energy(h: Filter, p: int = 2) -> Expr:
    return Mean(h(x) ** p)


NAMED = {H: {-1: 3, 0: -2, 1: 5}, G: {-2: 1, 0: 4, 1: -3}, D: {-1: 2, 0: 1, 2: -3}, E: {0: 1, 1: 4, 3: -5}}


def oracle(features: Any, n: int, seed: int = 1) -> tuple[int, int]:
    """Ranks without and with brackets at a random point, names bound to kernels of the test's own."""
    return ranks(features, point(n, seed), lookup(n, {h: operator(taps, n) for h, taps in NAMED.items()}))


INVOLUTIVE = {
    "two energies": [energy(HIGH), energy(SKEW)], "named": [energy(H), energy(G)],
    "mean and energies": [m, energy(H), energy(G)], "mean, variance, energies": [m, v, energy(HIGH), energy(LOW)],
    "mean, variance, named": [m, v, energy(H), energy(D)],
    "autocorrelations": [s, Mean(x * shift(1)(x)), Mean(x * shift(2)(x))],
    "cross-energies": [Mean(H(x) * G(x)), energy(H), Mean(x * G(x)), m], "decimals": [energy(QUARTER), energy(DECIMAL)],
    "functions of energies": [energy(H) / s, s, energy(G) ** 2, m**3],
    "roots of energies": [sqrt(energy(G)), m * energy(H) ** Rational(1, 3), m], "x2, h3": [s, energy(H, 3)],
    "x2, h4": [s, energy(LOW, 4)], "x2, h5": [s, energy(HIGH, 5)], "x2, h6": [s, energy(H, 6)],
    "mean, d3": [m, energy(D, 3)],
    "mean, variance, d4": [m, v, energy(D, 4)],
    "mean, variance, squared skewness of an output": [m, v, energy(E, 3) ** 2 / energy(E) ** 3],
    "nested": [s, Mean(H(H(x) ** 2) * x)],
}


@pytest.mark.parametrize("name", INVOLUTIVE)
def test_proved_for_every_size_and_kernel(name: str) -> None:
    """Last: a homogeneous feature of degree p has [x, v] = (p - 1) v - v: with 2x the weight is 2 (p - 2) (Euler)."""
    features = INVOLUTIVE[name]
    verdict = decided(features, Status.PROVED)
    assert verdict.n_samples is None and "for every N" in str(verdict) and not verdict.vacuous
    assert verdict.independence.status is Status.PROVED and verdict.independence.witness.minor.excludes_zero()
    if all(power.exp.is_Integer for f in features for power in f.atoms(Pow)):
        for n in (3, 5):
            rank, rank_with_brackets = oracle(features, n)
            assert rank == rank_with_brackets, n
    if name.startswith("x2, h"):
        assert verdict.structure == {(1, 2): (0, 2 * (int(name[-1]) - 2))}


@pytest.mark.parametrize("name", ["two energies", "mean and energies", "x2, h4", "mean, d3", "roots of energies"])
def test_proved_at_one_size_too(name: str) -> None:
    assert decided(INVOLUTIVE[name], Status.PROVED, n_samples=7).n_samples == 7


NOT_INVOLUTIVE = {
    "h2, h4": ([energy(HIGH), energy(HIGH, 4)], (1, 2)), "named h4, g4": ([energy(D, 4), energy(E, 4)], (1, 2)),
    "mean, h3": ([m, energy(LOW, 3)], (1, 2)), "mean, named h3": ([m, energy(H, 3)], (1, 2)),
    "mean, variance, h4": ([m, v, energy(H, 4)], (1, 3)),
    "mean, variance, d3, e3": ([m, v, energy(D, 3), energy(E, 3)], (3, 4)),
    "mean, energy, d4": ([m, energy(G), energy(D, 4)], (2, 3)),
    "mean, variance, kurtosis, energy": ([m, v, kurtosis(), energy(D)], (3, 4)),
    "exponential": ([energy(HIGH), Mean(exp(HIGH(x)))], (1, 2)),
    "a ratio of energies without both": ([energy(H) / s, energy(G), m], (1, 2)),
    "fields": ([VectorField(H(x)), VectorField(x**2)], (1, 2)),
}


@pytest.mark.parametrize(("features", "pair"), NOT_INVOLUTIVE.values(), ids=NOT_INVOLUTIVE.keys())
def test_refuted_from_some_size_on(features: list[Any], pair: tuple[int, int]) -> None:
    verdict = decided(features, Status.REFUTED)
    witness, n = verdict.witness, len(verdict.witness.sample)
    assert verdict.failing_pair == pair and ("generic kernels" in verdict.reason) == bool(witness.kernels)
    if isinstance(features[0], VectorField):  # no features: claimed for the size of the witness
        assert verdict.n0 is None and f"for N = {n} only" in verdict.reason
    else:
        assert 4 < verdict.n0 <= 30 and "only" not in verdict.reason
    if isinstance(features[0], VectorField) or features[1].has(exp):
        return
    filters = {f"{h}{'[dc=0]' * h.zero_dc}": h for h in NAMED}
    named = {filters[k.name]: operator(dict(zip((-1, 0, 1), k.taps, strict=True)), n) for k in witness.kernels}
    rank, rank_with_brackets = ranks(features, [Rational(c.numerator, c.denominator) for c in witness.sample],
                                     lookup(n, named))  # fmt: skip
    assert rank == len(features) < rank_with_brackets


@pytest.mark.parametrize("name", ["h2, h4", "mean, named h3", "mean, variance, d3, e3"])
def test_refuted_at_a_given_size(name: str) -> None:
    features, pair = NOT_INVOLUTIVE[name]
    verdict = decided(features, Status.REFUTED, n_samples=8)
    assert verdict.failing_pair == pair and len(verdict.witness.sample) == 8


def test_the_structure_functions_are_the_gains() -> None:
    """[grad mean, grad energy] = D_1 (2 h~ h x) = 2 dc^2, and energies commute: by hand."""
    verdict = decided([m, energy(H), energy(LOW), energy(D)], Status.PROVED)
    gain = H.dc
    assert verdict.structure == {
        (1, 2): (2 * gain**2, 0, 0, 0), (1, 3): (2 * 49, 0, 0, 0), (1, 4): (0, 0, 0, 0),
        (2, 3): (0, 0, 0, 0), (2, 4): (0, 0, 0, 0), (3, 4): (0, 0, 0, 0),
    }  # fmt: skip
    assert verdict_from_json(verdict.to_json()).structure == verdict.structure


@given(st.lists(st.lists(st.integers(-4, 4), min_size=1, max_size=4), min_size=2, max_size=3), st.booleans(),
       st.integers(2, 6), st.integers(0, 10**6))  # fmt: skip
@settings(max_examples=8, deadline=None)
def test_random_kernels(kernels: list[list[int]], with_mean: bool, n: int, seed: int) -> None:
    """Proved for every N: no bracket leaves the span at a random point, taps longer than the sample included."""
    filters = [Filter(taps, 0) for taps in kernels if any(taps)]
    features = list(dict.fromkeys([m] * with_mean + [energy(h) for h in filters]))
    if len(features) < 2:
        return
    assert check_frobenius(features).status is Status.PROVED
    rank, rank_with_brackets = oracle(features, n, seed)
    assert rank == rank_with_brackets


# --- gains as exceptions ----------------------------------------------------------------------------------------


def test_a_gain_of_zero_is_the_exception() -> None:
    for features in ([m, energy(H, 3)], [m, v, energy(H, 4)]):
        verdict = decided(features, Status.REFUTED)
        assert verdict.exceptions == ({H.dc: 0},) and "except at dc(h) = 0" in str(verdict)
        assert verdict_from_json(verdict.to_json()).exceptions == verdict.exceptions
        special = verdict.at({H.dc: 0})
        assert special.status is Status.PROVED and special.certificate.verify()
        assert verdict.at({H: [1, 1, -2]}).status is Status.PROVED
        assert verdict.at({H: [1, 1, -3]}).status is Status.REFUTED
    with pytest.raises(InvalidInput, match="bound to 0"):
        verdict.at({H.dc: 2})


def test_two_gains_must_vanish_together() -> None:
    verdict = decided([m, Mean(H(x) ** 2 * G(x))], Status.REFUTED)
    assert verdict.exceptions == ({G.dc: 0, H.dc: 0},)
    assert verdict.at({G.dc: 0}).status is Status.REFUTED


def test_a_gain_in_the_features_themselves() -> None:
    """Mean(h(x)) = dc(h) Mean(x) is no feature where the gain vanishes; energies with the mean know no exception."""
    assert {H.dc: 0} in check_independence([s, Mean(H(x))]).exceptions
    assert check_frobenius([m, energy(H), energy(G)]).exceptions == ()


@pytest.mark.parametrize("feature", [energy(H), Mean(exp(HIGH(x))), energy(Filter([1, 2], 0, boundary="zero"), 3)])
def test_one_feature_is_involutive(feature: Expr) -> None:
    assert decided([feature], Status.PROVED).structure == {}


def test_taps_with_parameters() -> None:
    """The sum of the taps (1, a, 1) is 0 at a = -2."""
    verdict = decided([m, energy(Filter([1, a, 1]), 3)], Status.REFUTED)
    assert {a: -2} in verdict.exceptions
    assert decided([energy(Filter([1, a, 1])), energy(SKEW)], Status.PROVED).structure == {(1, 2): (0, 0)}


# --- boundaries -------------------------------------------------------------------------------------------------

BOUNDARIES = [
    ("zero", [-1, 2, -1], [1, 0, -1], Status.REFUTED), ("zero", [-1, 2, -1], [1, 2, 1], Status.PROVED),
    ("half-sample", [-1, 2, -1], [1, 0, -1], Status.PROVED), ("half-sample", [-1, 2, -1], [1, 2, 1], Status.PROVED),
    ("whole-sample", [-1, 2, -1], [1, 0, -1], Status.REFUTED), ("whole-sample", [-1, 2, -1], [1, 2, 1], Status.REFUTED),
    ("circular", [-1, 2, -1], [1, 0, -1], Status.PROVED),
]


@pytest.mark.parametrize(("boundary", "left", "right", "status"), BOUNDARIES)
@pytest.mark.parametrize("n", [6, 7])
def test_boundaries_by_the_exact_matrices(boundary: str, left: list[int], right: list[int], status: Status,
                                          n: int) -> None:
    features = [energy(Filter(taps, boundary=boundary)) for taps in (left, right)]
    verdict = decided(features, status, n_samples=n)
    one, two = (operator(dict(zip((-1, 0, 1), taps, strict=True)), n, boundary) for taps in (left, right))
    one, two = one.T * one, two.T * two
    commute = one * two == two * one
    assert commute == (status is Status.PROVED)
    rank, rank_with_brackets = oracle(features, n)
    assert (rank == rank_with_brackets) == commute
    if commute:
        assert verdict.structure == {(1, 2): (0, 0)}


def test_many_samples_are_decided_by_their_matrices() -> None:
    start = time.process_time()
    for boundary, left, right, status in BOUNDARIES[::2]:  # each boundary once
        features = [energy(Filter(taps, boundary=boundary)) for taps in (left, right)]
        assert check_frobenius(features, n_samples=120).status is status
    assert time.process_time() - start < 15


def test_what_is_known_of_other_boundaries_for_every_size() -> None:
    padded, mirrored = Filter("h", boundary="zero"), Filter([1, 2, 4], boundary="half-sample")
    decided([s, energy(padded, 4)], Status.PROVED)
    decided([m, energy(Filter([1, 1, -2], boundary="whole-sample"), 3)], Status.PROVED)
    decided([m, energy(mirrored, 3)], Status.REFUTED)
    decided([energy(padded), energy(Filter("g", boundary="zero"))], Status.REFUTED)
    odd = [energy(Filter(taps, boundary="half-sample")) for taps in ([-1, 2, -1], [1, 0, -1])]
    verdict = check_frobenius(odd)
    assert verdict.status is Status.UNDECIDED and "n_samples=N" in verdict.reason, "true, unproved"
    decided(odd, Status.PROVED, n_samples=6)


def test_the_mean_under_padding() -> None:
    """grad mean = 1 and h(1) is no constant there: [1, 2 h~ h x] = 2 h~ h(1) leaves the span."""
    h = Filter([1, 2, 1], boundary="zero")
    assert decided([m, energy(h)], Status.REFUTED, n_samples=6).failing_pair == (1, 2)
    assert oracle([m, energy(h)], 6) == (2, 3)


# --- C1 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "relation"),
    [
        ([energy(HIGH), Mean((2 * HIGH(x)) ** 2)], (-4, 1)), ([energy(HIGH), Mean(HIGH(shift(3)(x)) ** 2)], (-1, 1)),
        ([energy(H), energy(H.adjoint)], (-1, 1)), ([energy(LOW), energy(LOW.adjoint)], (-1, 1)),
        ([energy(H), Mean(H(G(x)) * x), Mean(G(x) * H.adjoint(x))], (0, -1, 1)),
        ([s, Mean(x * shift(1)(x)), energy(Filter([1, 1], 0))], (-2, -2, 1)),
        ([energy(HIGH), energy(SKEW), s, Mean(x * shift(1)(x))], (Rational(1, 8), Rational(1, 8), -1, 1)),
        ([m, Mean(H(x))], (-H.dc, 1)), ([energy(SKEW, 4), Mean((shift(1)(x) - shift(-1)(x)) ** 4)], (-1, 1)),
    ],
    ids=lambda value: str(value)[:60],
)
def test_collinear_spectra(features: list[Expr], relation: tuple[Any, ...]) -> None:
    verdict = check_independence(features)
    assert verdict.status is Status.REFUTED and verdict.certificate.relation == relation, str(verdict)
    assert verdict.certificate.verify() and verdict.n_samples is None
    assert verdict_from_json(verdict.to_json()) == verdict
    assert decided(features, Status.PROVED).independence.status is Status.REFUTED


@pytest.mark.parametrize("features", [
    [energy(H), energy(H.adjoint), Mean(H(shift(2)(x)) ** 2), energy(H, 4)],
    [energy(LOW, 4), s, energy(Filter([1, 2, 4], 1), 4), energy(HIGH)],
], ids=["energies", "fourth powers"])  # fmt: skip
@pytest.mark.parametrize("n_samples", [None, 7])
def test_refutations_among_dependent_features(features: list[Expr], n_samples: int | None) -> None:
    verdict = decided(features, Status.REFUTED, n_samples=n_samples)
    assert verdict.independence.status is Status.REFUTED
    columns = verdict.witness.columns
    assert set(columns) | set(verdict.certificate.relations) == {1, 2, 3, 4} and len(columns) < 4


def test_energies_that_coincide_at_a_small_size_only() -> None:
    """With N = 2 a shift by one is its own adjoint: x_n x_(n+1) and x_n x_(n+3) have equal averages."""
    features = [Mean(x * shift(1)(x)), Mean(x * shift(3)(x))]
    assert check_independence(features).status is Status.PROVED
    for n, status in ((4, Status.REFUTED), (5, Status.PROVED)):
        verdict = check_independence(features, n_samples=n)
        assert verdict.status is status and verdict.certificate.verify()
        assert oracle(features, n)[0] == (1 if status is Status.REFUTED else 2)


# --- images -----------------------------------------------------------------------------------------------------

LINES = ([1, 1, 1], [-1, 0, 1], [-1, 2, -1])
BANDS = [Filter([[p * q for q in right] for p in left]) for left in LINES for right in LINES]


def test_nine_separable_energies_of_images_commute() -> None:
    start = time.process_time()
    verdict = check_frobenius([energy(h) for h in BANDS])
    assert verdict.status is Status.PROVED and verdict.independence.status is Status.PROVED
    assert set(verdict.structure) == set(combinations(range(1, 10), 2))
    assert all(c == 0 for row in verdict.structure.values() for c in row)
    assert time.process_time() - start < 20


def test_images_at_one_grid() -> None:
    few = [energy(BANDS[k]) for k in (1, 3)]
    assert decided(few, Status.PROVED, n_samples=(4, 5)).n_samples == (4, 5)
    padded = [energy(Filter(BANDS[k].args[0], boundary="zero")) for k in (1, 2)]
    verdict = decided(padded, Status.REFUTED, n_samples=(3, 4))
    assert verdict.witness.grid == (3, 4) and "grid of 3 x 4" in str(verdict)
    assert rejected(changed(verdict.certificate, n_samples=(4, 3)))
    assert rejected(changed(verdict.certificate, n_samples=12))
    decided([m, energy(BANDS[4], 4)], Status.PROVED)
    with pytest.raises(InvalidInput, match="shape of a grid"):
        check_frobenius(few, n_samples=20)
    with pytest.raises(InvalidInput, match="2 dimensions"):
        check_frobenius(few, n_samples=(2, 3, 4))


# --- certificates under attack ----------------------------------------------------------------------------------


def test_changed_claims_are_rejected() -> None:
    proof = check_frobenius([m, energy(H), energy(G)]).certificate
    for pair in proof.structure:
        for k in range(3):
            row = (*proof.structure[pair][:k], proof.structure[pair][k] + 1, *proof.structure[pair][k + 1 :])
            assert rejected(changed(proof, structure={**proof.structure, pair: row}))
    assert rejected(changed(proof, subject=check_frobenius([m, energy(H), energy(D)]).certificate.subject))
    assert rejected(changed(check_frobenius([s, energy(D, 4)]).certificate, structure={(1, 2): (0, 3)}))


def test_kernels_of_a_witness_must_be_of_the_kind_declared() -> None:
    """[mean, (d x)^3] holds where the taps of d add up to 0: a witness with other taps is no refutation of it."""
    data = json.loads(check_frobenius([m, energy(H, 3)]).to_json())
    data["certificate"]["subject"]["items"][1] = ["mean(filter(d, zero_dc)(x)**3)"]
    data["certificate"]["witness"]["kernels"][0]["name"] = "d[dc=0]"
    forged = certificate_from_dict(data["certificate"])
    assert forged.subject.filters == (D,) and not forged.verify()
    with pytest.raises(InvalidInput, match="subject of this verdict was edited"):
        verdict_from_json(json.dumps(data))


def test_claims_for_other_sizes_are_rejected() -> None:
    refuted = check_frobenius([energy(H), energy(H, 4)]).certificate
    size = len(refuted.witness.sample)
    assert refuted.n0 is not None and refuted.n_samples is None
    assert rejected(changed(refuted, n0=refuted.n0 - 1)) and rejected(changed(refuted, n0=None))
    assert rejected(changed(refuted, n_samples=size + 1)) and rejected(changed(refuted, n_samples=size))
    assert not rejected(changed(refuted, n_samples=size, n0=None))
    here = check_frobenius([energy(H), energy(H, 4)], n_samples=6).certificate
    assert rejected(changed(here, n_samples=None, n0=6))


# --- speed ------------------------------------------------------------------------------------------------------


def test_three_filters_with_the_mean_are_decided_at_once() -> None:
    features = [m, energy(HIGH), energy(SKEW), energy(Filter([1, 5, 7]))]
    best = min(_seconds(features, k) for k in range(1, 4))
    assert best < 1.0


def _seconds(features: list[Expr], k: int) -> float:
    start = time.process_time()
    check_frobenius([*features, energy(Filter([1, k, 9]))])
    return time.process_time() - start
