"""Symmetric kernels that commute without being circular: against explicit matrices, at sizes of the test's own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sympy import Expr, Matrix, Rational, Symbol, eye, zeros

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.calculus.symmetric_operators import SymmetricOperators, common_boundary
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import variance
from symdecouple.verdict import Status, Verdict
from tests.calculus.explicit import lookup, operator, point, ranks

m, s, v, a = Mean(x), Mean(x**2), variance(), Symbol("a")


def mirrored(taps: Any) -> Filter:
    return Filter(taps, boundary="half-sample")


def padded(taps: Any) -> Filter:
    return Filter(taps, boundary="zero")


def energy(h: Filter, p: int = 2) -> Expr:
    return Mean(h(x) ** p)


def decided(features: Any, status: Status, **options: Any) -> Verdict:
    verdict = check_frobenius(features, **options)
    assert verdict.status is status, str(verdict)
    assert verdict.certificate is None or verdict.certificate.verify()
    twin = verdict_from_json(verdict.to_json())
    assert twin == verdict and (twin.certificate is None or twin.certificate.verify())
    return verdict


half_taps = st.lists(st.integers(-3, 3), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(half_taps, st.integers(1, 6), st.sampled_from(["half-sample", "zero"]))
def test_a_kernel_is_its_polynomial_in_the_neighbours(half: list[int], n: int, boundary: str) -> None:
    """The matrix of the kernel is sum_k c_k T^k, taps longer than the sample included."""
    half = half[:2] if boundary == "zero" else half
    taps = {k: half[abs(k)] for k in range(1 - len(half), len(half))}
    neighbours = operator({-1: 1, 1: 1}, n, boundary)
    total = zeros(n, n)
    h = Filter([taps[k] for k in sorted(taps)], boundary=boundary)
    for operator_, c in SymmetricOperators(boundary).of(h).items():
        total += c * (neighbours ** (operator_[0][0] if operator_[0] else 0) if n else eye(n))
    assert total == operator(taps, n, boundary)


@settings(max_examples=12, deadline=None)
@given(half_taps, half_taps, st.integers(3, 7))
def test_energies_under_mirrors_are_proved(left: list[int], right: list[int], n: int) -> None:
    kernels = [mirrored([half[abs(k)] for k in range(1 - len(half), len(half))]) for half in (left, right)]
    if any(not any(half) for half in (left, right)) or len({energy(h) for h in kernels}) < 2:
        return
    features = [energy(h) for h in kernels]
    verdict = decided(features, Status.PROVED)
    assert verdict.n_samples is None and "for every N" in str(verdict) and verdict.structure[1, 2] == (0, 0)
    independent, closed = ranks(features, point(n, 5), lookup(n))
    assert independent == closed


@pytest.mark.parametrize(
    ("features", "structure"),
    [
        # [1, 2 H^2 x] = 2 dc^2: 2*16, 2*9, and 2 dc dc' from 2 H G x
        ([m, energy(mirrored([1, 2, 1])), energy(mirrored([-1, 5, -1]))], {(1, 2): 32, (1, 3): 18}),
        ([m, s, energy(mirrored([3, 1, 0, 1, 3]))], {(1, 2): 2, (1, 3): 128}),
        ([m, v, Mean(mirrored([1, 2, 1])(x) * mirrored([3, 1, 0, 1, 3])(x))], {(1, 3): 64}),
        ([m, energy(mirrored([1, a, 1]))], {(1, 2): 2 * (a + 2) ** 2}),
        ([energy(padded([1, 2, 1])), energy(padded([-1, 5, -1])), s], {}),
        ([energy(padded([1, a, 1])), energy(padded([-1, 5, -1]))], {}),
        ([energy(padded([[1, 2, 1], [3, 4, 3], [1, 2, 1]])), energy(padded([[0, 1, 0], [1, -4, 1], [0, 1, 0]]))], {}),
        ([m, energy(mirrored([[1, 2, 1], [3, 4, 3], [1, 2, 1]])), energy(mirrored([[1, 0, 2, 0, 1]]))],
         {(1, 2): 648, (1, 3): 32}),
    ],
    ids=str,
)
def test_proved_for_every_size(features: list[Expr], structure: dict[tuple[int, int], Any]) -> None:
    verdict = decided(features, Status.PROVED)
    assert verdict.n_samples is None
    for pair in combinations(range(1, len(features) + 1), 2):
        row = verdict.structure[pair]
        assert (row[0] - structure.get(pair, 0)).expand() == 0 and not any(row[1:])


@pytest.mark.parametrize(
    "features",
    [
        [m, energy(padded([1, 2, 1]))],  # T(1) is not constant
        [energy(padded([1, 2, 1])), energy(padded([1, 1, 3, 1, 1]))],
        [energy(padded([1, 2, 1])), energy(mirrored([-1, 5, -1]))],
        [energy(mirrored([1, 2, 1])), energy(Filter([-1, 2, -1]))],
        [energy(padded([[1, 0, 0], [0, 2, 0], [0, 0, 1]])), energy(padded([[1, 2, 1]]))],
        [energy(Filter([1, 2, 1], boundary="whole-sample")), energy(Filter([-1, 2, -1], boundary="whole-sample"))],
        [energy(mirrored([1, 2, 1]), 4), energy(mirrored([1, 3, 1]))],
    ],
    ids=str,
)
def test_not_proved_where_a_hypothesis_fails(features: list[Expr]) -> None:
    verdict = decided(features, Status.REFUTED)
    if verdict.certificate.witness.grid == ():
        sample = [Rational(q.numerator, q.denominator) for q in verdict.witness.sample]
        independent, closed = ranks(features, sample, lookup(len(sample)))
        assert closed > independent


def test_higher_orders_with_the_second_moment_or_the_mean() -> None:
    decided([energy(mirrored([1, 2, 1]), 4), s], Status.PROVED)
    decided([energy(padded([1, 2, 1]), 4), s], Status.PROVED)
    decided([m, v, energy(mirrored([-1, 2, -1]), 3)], Status.PROVED)


def test_dependence_is_found_for_every_size() -> None:
    """[1, 1, 1]^2 and the like are in the span of 1, T, T^2: four energies of three-tap kernels are dependent."""
    features = [s, *(energy(padded(taps)) for taps in ([1, 2, 1], [1, 0, 1], [1, 1, 1]))]
    verdict = check_independence(features)
    assert verdict.status is Status.REFUTED and verdict.certificate.verify()
    squares = [(eye(5) * b + operator({-1: 1, 1: 1}, 5, "zero")) ** 2 for b in (2, 0, 1)]
    total = verdict.certificate.relation[0] * eye(5)
    for c, square in zip(verdict.certificate.relation[1:], squares, strict=True):
        total += c * square
    assert total == Matrix.zeros(5, 5)


def test_which_kernels_belong() -> None:
    assert common_boundary([mirrored([1, 2, 1]), Filter([3])]) == "half-sample"
    assert common_boundary([padded([1, 2, 1]), padded([[1]])]) == "zero"
    diagonal = mirrored([[1, 0, 0], [0, 2, 0], [0, 0, 1]])
    for alone in (mirrored([1, 2, 4]), mirrored([1, 2, 4]).adjoint, diagonal, padded([1, 0, 2, 0, 1]),
                  Filter("h", boundary="zero"), Filter([1, 2, 1]), shift(1, "half-sample")):
        assert common_boundary([alone]) is None, alone
        with pytest.raises(UnsupportedExpression, match="symmetric"):
            SymmetricOperators("half-sample").of(alone)


def test_grids_axis_by_axis() -> None:
    """The expression of an operator is its kernels again: T_1 T_2^2 on a 3 x 4 grid is a Kronecker product."""
    operators = SymmetricOperators("zero")
    expr = operators.expression(((1, 2),), x)
    tall, wide = (np.array(operator({-1: 1, 1: 1}, n, "zero"), dtype=int) for n in (3, 4))
    image = np.arange(12).reshape(3, 4) ** 2
    filters = []
    while expr != x:
        filters.append(expr.filter)
        expr = expr.argument
    out = image.astype(float)
    for h in filters:
        out = h.apply(out)
    np.testing.assert_array_equal(out, tall @ image @ wide @ wide)
