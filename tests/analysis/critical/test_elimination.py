"""Counts of critical samples by elimination over QQ: Groebner bases and isolated real roots, beside the package."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import sympy
from sympy import Expr, Poly, Rational, expand, groebner, symbols

from symdecouple.analysis.critical.pattern_solutions import PatternSolutions, Targets
from symdecouple.analysis.critical.tie_patterns import Ties, patterns

DIGITS = 60
OLD = tuple(map(int, sympy.__version__.split(".")[:2])) < (1, 14)
KEEPS_DIGITS = pytest.mark.skipif(OLD, reason="polynomials keep no 60 digits before SymPy 1.14: the oracle fails")


def ordered_solutions(ties: Ties, targets: Sequence[Rational]) -> list[tuple[Expr, ...]]:
    """All real z_1 < .. < z_d with these moments: the mean gives the last, elimination the others."""
    total = sum(ties)
    unknowns = symbols(f"z1:{len(ties)}")
    last = total * targets[0] - sum(n * z for n, z in zip(ties, unknowns, strict=False))
    places = (*unknowns, last / ties[-1])
    equations = [expand(sum(n * z**j for n, z in zip(ties, places, strict=True)) - total * c)
                 for j, c in enumerate(targets[1:], 2)]
    basis = groebner(equations, *unknowns, order="grevlex")
    if basis.exprs == [1]:
        return []
    triangle = basis.fglm("lex").exprs
    found = []
    for rule in _solved(triangle, list(unknowns), {}):
        z = tuple(expand(place).xreplace(rule).evalf(DIGITS) for place in places)
        if all(abs(e.xreplace(rule)) < 1e-25 for e in equations) and all(
                a + Rational(1, 10**12) < b for a, b in pairwise(z)):
            found.append(z)
    return found


def _solved(triangle: Sequence[Expr], unknowns: list[Any], rule: dict[Any, Expr]) -> list[dict[Any, Expr]]:
    """Back substitution from the last unknown, whose polynomial has exactly isolated real roots."""
    if not unknowns:
        return [rule]
    *others, last = unknowns
    mine = [e for e in triangle if e.has(last) and not (others and e.has(*others))]
    first = min((Poly(e.xreplace(rule), last) for e in mine), key=lambda p: p.degree() or 99)
    roots = [r.evalf(DIGITS) for r in set(first.sqf_part().real_roots())] if not rule else [
        r.as_real_imag()[0] for r in first.nroots(n=DIGITS, maxsteps=500) if abs(r.as_real_imag()[1]) < 1e-20]
    return [found for root in roots for found in _solved(triangle, others, rule | {last: root})]


def agree(n_samples: int, targets: Sequence[Rational], chosen: Sequence[Ties]) -> None:
    solutions = PatternSolutions(Targets(tuple(targets)))
    for ties in chosen:
        expected, answer = ordered_solutions(ties, targets), solutions.settled(ties)
        assert len(expected) == int(answer.how == "box"), ties
        if expected and answer.box is not None:
            for z, v in zip(expected[0], answer.box.values, strict=True):
                assert abs(z - Rational(v.numerator, v.denominator)) < 1e-20


@KEEPS_DIGITS
@pytest.mark.parametrize("targets", [(0, 1, 0), (0, 1, Rational(1, 2))])
def test_three_values_of_six_samples(targets: tuple[Any, ...]) -> None:
    agree(6, [Rational(c) for c in targets], list(patterns(6, 3)))


@KEEPS_DIGITS
def test_four_values_of_seven_samples() -> None:
    agree(7, [Rational(c) for c in (0, 1, 0, 3)], [(1, 4, 1, 1), (2, 1, 3, 1), (3, 1, 2, 1)])


@KEEPS_DIGITS
@pytest.mark.slow
def test_all_patterns_of_four_values() -> None:
    agree(7, [Rational(c) for c in (0, 1, 0, 3)], list(patterns(7, 4)))
    agree(6, [Rational(c) for c in (0, 1, Rational(1, 3), 2)], list(patterns(6, 4)))
