"""A wrong formula does not pass: tampered pieces fail the numeric check, and the symbolic one is not claimed."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp
from sympy import oo

from symdecouple.flows.catalogue import pieces_of
from symdecouple.flows.chart import U, X
from symdecouple.flows.verification import _is_solution, numeric_check, symbolic_check
from symdecouple.language.budget import Budget


def test_the_formula_solves_its_equation_for_all_constants() -> None:
    assert all(_is_solution(kind) for kind in ("line", "logarithm", "circle"))


def test_right_pieces_pass() -> None:
    for field in (X**2 - 1, X**3, sp.sin(X)):
        pieces = pieces_of(field, -oo, oo, Budget(10))
        assert numeric_check(field, field, pieces, -oo, oo).passed and symbolic_check(pieces[0]) is not None


def test_a_wrong_invariant_is_caught_by_both() -> None:
    (piece,) = pieces_of(X**2 - 1, -oo, oo, Budget(10))
    wrong = replace(piece, motion=replace(piece.motion, delta_squared=sp.Rational(9, 8)))
    assert not numeric_check(X**2 - 1, X**2 - 1, (wrong,), -oo, oo).passed
    assert symbolic_check(wrong) is None


def test_a_wrong_field_and_a_wrong_inverse_are_caught() -> None:
    (piece,) = pieces_of(X**2 - 1, -oo, oo, Budget(10))
    assert not numeric_check(X**2 - 1, X**2 + 1, (piece,), -oo, oo).passed
    tilted = replace(piece, chart=replace(piece.chart, back=U + sp.Rational(1, 10**30) * U**2))
    assert not numeric_check(X**2 - 1, X**2 - 1, (tilted,), -oo, oo).passed
