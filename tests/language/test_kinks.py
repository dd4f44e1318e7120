"""The normal form of functions with kinks."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, exp, floor, sign, sqrt

from symdecouple import Mean, UnsupportedExpression, variance, x
from symdecouple.language.kinks import Side, has_kinks, in_sides, in_signs

m, s = Mean(x), Mean(x**2)

FORMS: list[tuple[Any, Any]] = [
    (Abs(2 * x), 2 * x * Side(x)), (Max(x, 0), (x + x * Side(x)) / 2), (Min(x, 0), (x - x * Side(x)) / 2),
    (Heaviside(x), (1 + Side(x)) / 2), (sign(x) ** 3 * x, x * Side(x)), (Abs(m - x), (x - m) * Side(x - m)),
    (Abs((x - m) / sqrt(variance())), (x - m) * Side(x - m) / sqrt(variance())),
    (sign(x**3 - x), Side(x) * Side(x - 1) * Side(x + 1)), (sign(exp(x) * x), Side(x)), (sign(x**2 - 2 * x + 1), 1),
    (Piecewise((x, x > 0), (0, True)), x * (1 + Side(x)) / 2), (Piecewise((1, x > 1), (2, x > 0), (3, True)), None),
    (Max(x, 0, 1 - x), None), (Max(Abs(x) - 1, 0), None),
]


@pytest.mark.parametrize(("expr", "form"), FORMS, ids=str)
def test_the_normal_form_and_its_values(expr: Any, form: Any) -> None:
    found = in_sides(expr)
    assert form is None or (found - form).expand() == 0
    assert in_sides(in_signs(found)) == found, "what is shown is read back as the same"
    for at in (Rational(-7, 3), Rational(-1, 5), Rational(1, 7), Rational(5, 2)):
        rule = {m: Rational(1, 3), s: 4, x: at}
        assert in_signs(found).xreplace(rule).equals(expr.xreplace(rule))


def test_signs_have_no_slope() -> None:
    field = (x**2 * Side(x - m)).diff(x)
    assert field == 2 * x * Side(x - m) and Side(x) ** 2 == 1 and Side(x) ** -1 == Side(x)


def test_what_has_no_finite_number_of_pieces_has_no_normal_form() -> None:
    assert has_kinks(floor(x)) and not has_kinks(x**2)
    with pytest.raises(UnsupportedExpression, match="finite number"):
        in_sides(floor(x))
    with pytest.raises(UnsupportedExpression, match="last piece"):
        in_sides(Piecewise((x, x > 0)))
