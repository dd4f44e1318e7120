"""The general quadrature: monotone branches between zeros and singularities, or no piece."""

from __future__ import annotations

import sympy as sp
from sympy import oo

from symdecouple.flows.chart import X
from symdecouple.flows.quadrature import by_quadrature, zeros_of
from symdecouple.language.budget import Budget


def test_a_piece_for_each_interval_that_inverts() -> None:
    found = by_quadrature(X / (1 + X), -oo, oo, Budget(10))
    assert [(piece.chart.low, piece.chart.high) for piece in found][-1] == (0, oo)
    for piece in found:
        inner = piece.chart.to.diff(X) * X / (1 + X)
        assert sp.simplify(inner) == 1


def test_what_is_not_found_gives_no_piece() -> None:
    assert by_quadrature(sp.exp(-(X**2)), -oo, oo, Budget(10)) == []
    assert by_quadrature(X * sp.Symbol("a"), -oo, oo, Budget(10)) == []


def test_zeros_lie_inside() -> None:
    assert zeros_of(X**2 - X, sp.S.Zero, oo) == {1}
