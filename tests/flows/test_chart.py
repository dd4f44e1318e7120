"""Charts: inverse to each other, on the side where they are real; odd roots; cuts."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from sympy import Rational, oo

from symdecouple.flows.chart import IDENTITY, Chart, U, X, _table, logarithmic_charts, real_roots, slope_at
from symdecouple.flows.quadrature import points_inside

CHARTS = [chart for group in _table() for chart in group]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: f"{chart.to} on ({chart.low}, {chart.high})")
def test_chart_and_inverse_undo_each_other(chart: Chart) -> None:
    for moved in (chart, chart.after(sp.Integer(2), sp.Integer(3))):
        for point in points_inside(moved.low, moved.high):
            value = moved.to.xreplace({X: point})
            assert abs(sp.N(moved.back.xreplace({U: value}) - point, 30)) < 1e-25
            low, high = sorted((sp.N(moved.u_low), sp.N(moved.u_high)))
            assert low < sp.N(value) < high


@pytest.mark.parametrize(("field", "sides"), [
    (X**3, 2), (X ** Rational(1, 3), 2), (sp.sqrt(X), 1), (X * sp.log(X), 1), (X * sp.log(-X), 1),
], ids=str)
def test_logarithmic_charts_exist_where_the_field_is_real(field: Any, sides: int) -> None:
    assert len(next(logarithmic_charts(field))) == sides


def test_odd_roots_are_real() -> None:
    field = real_roots(X ** Rational(1, 3) + X ** Rational(2, 3) + sp.sqrt(X))
    assert field.subs(X, -8) == -2 + 4 + sp.sqrt(-8)
    assert slope_at(real_roots(X ** Rational(5, 3)), sp.S.Zero) == 0
    assert not slope_at(real_roots(X ** Rational(1, 3)), sp.S.Zero).is_finite


def test_cut_keeps_the_part_inside() -> None:
    half = IDENTITY.cut(sp.S.Zero, oo)
    assert half is not None and (half.low, half.high, half.u_low, half.u_high) == (0, oo, 0, oo)
    negative = next(logarithmic_charts(X**3))[1][0]
    assert negative.cut(sp.S.Zero, oo) is None
    part = negative.cut(sp.Integer(-2), oo)
    assert part is not None and (part.u_low, part.u_high) == (sp.log(2), -oo)
