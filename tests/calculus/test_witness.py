"""Witnesses: found where there is one, inside the domain, exact or enclosed, and None where there is none."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy as sp
from sympy import Rational, exp, sin

from symdecouple import BudgetExceeded, InvalidInput, Mean, sample, x
from symdecouple.calculus.elementary import World
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.witness import Minor, Witness, columns_at, draws, find_witness
from symdecouple.language.budget import Budget

MOMENTS = Subject.of([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])


def found(subject: Subject, columns: list[int], pair: tuple[int, int] | None, n: int) -> Witness | None:
    return find_witness(subject, columns, pair, n, random.Random(1), Budget())


def test_the_minor_of_the_moments_is_a_vandermonde_determinant() -> None:
    """Rows (1, 2x, 3x^2, 4x^3) at all samples and the bracket 12 x^4: 2*3*4*12 times the product of differences."""
    witness = found(MOMENTS, [1, 2, 3, 4], (3, 4), 5)
    assert witness is not None and witness.digits is None
    expected = Fraction(2 * 3 * 4 * 12)
    for j in range(5):
        for i in range(j):
            expected *= witness.sample[j] - witness.sample[i]
    assert witness.minor == Minor(expected, expected) == witness.recomputed(MOMENTS)


def test_no_witness_where_the_bracket_stays() -> None:
    assert found(MOMENTS, [1, 2, 3], (2, 3), 6) is None
    assert found(Subject.of([Mean(x), Mean(x) ** 2]), [1, 2], None, 4) is None


def test_irrational_minors_are_enclosed() -> None:
    subject = Subject.of([Mean(sin(x)), Mean(exp(x))])
    witness = found(subject, [1, 2], (1, 2), 3)
    assert witness is not None and witness.digits and witness.minor.low < witness.minor.high
    values = [Rational(v.numerator, v.denominator) for v in witness.sample]
    matrix = sp.Matrix([[sp.cos(v), exp(v), sp.cos(v) * exp(v) + sin(v) * exp(v)] for v in values])
    minor = sp.N(matrix.det(), 40)
    low, high = (sp.Float(Rational(e.numerator, e.denominator), 40) for e in (witness.minor.low, witness.minor.high))
    assert abs(minor - (low + high) / 2) < 1e-15 * abs(minor) and witness.minor.excludes_zero()


@pytest.mark.parametrize("interval", [(0, sp.oo), (-sp.oo, -1), (Rational(1, 3), Rational(1, 2))])
def test_samples_are_drawn_inside_the_domain(interval: tuple[sp.Expr, sp.Expr]) -> None:
    symbol = sample(interval=interval)
    subject = Subject.of([Mean(symbol), Mean(symbol**3)])
    for values, _ in draws(subject, 6, random.Random(2), 12):
        assert len(set(values)) == 6
        assert all(interval[0] < Rational(v.numerator, v.denominator) < interval[1] for v in values)


def test_columns_are_the_fields_at_the_sample() -> None:
    values = [Fraction(1), Fraction(2), Fraction(5)]
    assert columns_at(MOMENTS, [1, 3], (1, 3), values, {}, World()) == [[1, 1, 1], [3, 12, 75], [6, 12, 30]]


def test_values_round_trip_and_hostile_numbers_do_not() -> None:
    witness = found(MOMENTS, [1, 2, 3, 4], (3, 4), 5)
    assert witness is not None and Witness.from_dict(witness.to_dict()) == witness
    assert hash(Witness.from_dict(witness.to_dict())) == hash(witness) and "minor" in str(witness)
    for bad in ("1e9999999999", "0x10", "1_0", " 1", "", "1/2/3", "nan", 1.5, None, "١"):
        with pytest.raises(InvalidInput, match="rational number"):
            Witness.from_dict({**witness.to_dict(), "sample": [bad]})


def test_a_spent_budget_ends_the_search() -> None:
    budget = Budget(1e-9)
    with pytest.raises(BudgetExceeded, match="witness"):
        find_witness(MOMENTS, [1], None, 4, random.Random(1), budget)
