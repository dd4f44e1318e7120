"""The canonical form: what must coincide, what must not, and values against plain SymPy at rational points."""

from __future__ import annotations

import copy
import pickle

import pytest
import sympy as sp
from sympy import Function, Rational, S, Symbol, cos, cosh, cot, csc, exp, log, sec, sin, sinh, sqrt, tan, tanh

from symdecouple import BudgetExceeded, Filter, Mean, sample, shift, x
from symdecouple.language.canonical import (
    Statistic,
    average,
    canonical,
    close,
    decompose,
    open_statistics,
    statistics_of,
)

a, b = Symbol("a"), Symbol("b")
m, s = Mean(x), Mean(x**2)
h, q = Filter("h"), Function("q")
p = sample(positive=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Mean((x - m) ** 2), s - m**2), (Mean((x - m) ** 4), Mean(x**4) - 4 * m * Mean(x**3) + 6 * m**2 * s - 3 * m**4),
        (Mean((x - m) ** 2 / (s - m**2)), S.One), (Mean(sin(x) ** 2) + Mean(cos(x) ** 2), S.One),
        (Mean(sin(x) ** 2), Rational(1, 2) - Mean(cos(2 * x)) / 2), (Mean(sin(x) * cos(x)), Mean(sin(2 * x)) / 2),
        (Mean(sin(x) ** 3), 3 * Mean(sin(x)) / 4 - Mean(sin(3 * x)) / 4),
        (Mean(sin(x + a)), sin(a) * Mean(cos(x)) + cos(a) * Mean(sin(x))),
        (Mean(sin(x - m) ** 2) + Mean(cos(x - m) ** 2), S.One), (Mean(cosh(x)), Mean(exp(x)) / 2 + Mean(exp(-x)) / 2),
        (Mean(cosh(x) ** 2) - Mean(sinh(x) ** 2), S.One), (Mean(exp(x - m)), exp(-m) * Mean(exp(x))),
        (Mean((exp(x) + exp(-x)) ** 2), Mean(exp(2 * x)) + Mean(exp(-2 * x)) + 2),
        (Mean(tanh(x)), 1 - 2 * Mean(1 / (1 + exp(2 * x)))),
        (Mean(exp(x) / (1 + exp(x))) + Mean(1 / (1 + exp(x))), S.One), (Mean(x / (x**2 + x)), Mean(1 / (x + 1))),
        (Mean(1 / ((x + 1) * (x + 2))), Mean(1 / (x + 1)) - Mean(1 / (x + 2))),
        (Mean(1 / (2 * x + 2)), Mean(1 / (x + 1)) / 2), (Mean(x**3 / (x - 1)), Mean(x**2) + m + 1 + Mean(1 / (x - 1))),
        (Mean(a * x + b), a * m + b), (Mean(2**x * 4**x), Mean(8**x)),
        (Mean(sqrt(p) * p ** Rational(3, 2)), Mean(p**2)), (Mean(p**a * p**b), Mean(p ** (a + b))),
        (Mean(x * shift(1)(x)), Mean(x * shift(-1)(x))), (Mean(shift(3)(x) ** 2), s),
        (Mean(shift(2)(x) * shift(5)(x)), Mean(x * shift(3)(x))), (Mean(Filter([1, 2, 4])(x)), 7 * m),
        (Mean(h(x)), h.dc * m), (Mean(h(x) * m), h.dc * m**2),
        (Mean(h(2 * x + 3 * x**2) ** 2), Mean((2 * h(x) + 3 * h(x**2)) ** 2)),
        (Mean(q(x) * m + q(x)), (m + 1) * Mean(q(x))), (Mean(tan(x) * cos(x)), Mean(sin(x))),
        (Mean(1 / sec(x) + 1 / csc(x) + cot(x) * sin(x)), 2 * Mean(cos(x)) + Mean(sin(x))),
    ],
    ids=str,
)
def test_equal_averages_have_one_form(left: sp.Expr, right: sp.Expr) -> None:
    sample_of = next((mean.sample for mean in left.atoms(Mean)), x)
    assert sp.simplify(close(left - right, sample_of)) == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Mean(x**2), m**2), (Mean(sin(x)), Mean(cos(x))), (Mean(exp(x)), Mean(exp(2 * x))), (Mean(sin(2 * x)), m),
        (Mean(1 / (x - 1)), Mean(1 / (x + 1))), (Mean(x * shift(1)(x)), Mean(x * shift(2)(x))), (Mean(q(x)), q(m)),
        (Mean(h(x) ** 2), h.dc**2 * s), (Mean(p**a), Mean(p**b)), (Mean(log(p)), log(Mean(p))),
        (Mean(x**2 * shift(1)(x)), Mean(x * shift(1)(x) ** 2)),
    ],
    ids=str,
)
def test_different_averages_keep_different_forms(left: sp.Expr, right: sp.Expr) -> None:
    sample_of = next(mean.sample for mean in left.atoms(Mean))
    assert sp.expand(close(left - right, sample_of)) != 0


FUNCTIONS = [
    (x - a) ** 3 / (x**2 + 1), sin(x) ** 2 * cos(3 * x) * x, tan(x) ** 2, tan(x) ** 3 / cos(x),
    exp(x) * sinh(2 * x) ** 2, 1 / (x**2 * (x + 1) ** 3), (2 * exp(2 * x) + 1) / (exp(x) + 3),
    sin(x + 1) * cos(x - a) * x**2, tanh(x) ** 2, x / (1 + exp(-x)), log(cosh((x - a) / 2)) * x,
    sqrt(x**2 + 1) * (x**2 + 1), 1 / cosh(x) ** 2, cot(x) ** 2, sec(x) * csc(x), (x + 1) ** Rational(5, 2) * (x - a),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_the_decomposition_has_the_value_of_the_function(function: sp.Expr) -> None:
    parts = decompose(function, x)
    assert all(psi == 1 or psi.has(x) for psi in parts) and not any(c.has(x) for c in parts.values())
    total = sp.Add(*(c * psi for psi, c in parts.items()))
    for point in (Rational(2, 7), Rational(19, 5)):
        rule = {x: point, a: Rational(3, 11)}
        assert abs((total - function).xreplace(rule).evalf(40)) < 1e-30


def test_decompose_of_nothing_and_of_constants() -> None:
    assert decompose(S.Zero, x) == {} and decompose(a, x) == {S.One: a}
    assert decompose((x + 1) ** 2 - x**2 - 2 * x - 1, x) == {}


def test_close_and_open_are_inverse() -> None:
    expr = Mean(x**3) * m - log(s)
    closed = close(expr)
    assert closed.atoms(Statistic) and not closed.atoms(Mean)
    assert open_statistics(closed) == expr
    assert canonical(canonical(Mean((x - m) ** 3))) == canonical(Mean((x - m) ** 3))


def test_statistics_inside_functions_are_found() -> None:
    closed = close(Mean(log(cosh(x - m))))
    (outer,) = closed.atoms(Statistic)
    assert statistics_of(closed) == {outer, *outer.psi.atoms(Statistic)} and len(statistics_of(closed)) == 2


def test_average_is_linear_in_constants() -> None:
    assert average(a * x + b, x) == a * close(m) + b
    assert average(S.Zero, x) == 0


def test_an_expansion_out_of_bounds_is_refused_at_once() -> None:
    with pytest.raises(BudgetExceeded, match="terms"):
        decompose((x + exp(x) + sin(x) + log(x) + a) ** 60, x)


def test_statistics_are_values() -> None:
    (statistic,) = close(s).atoms(Statistic)
    for twin in (pickle.loads(pickle.dumps(statistic)), copy.copy(statistic), copy.deepcopy(statistic)):
        assert twin == statistic and hash(twin) == hash(statistic) and twin.psi == statistic.psi
    assert statistic != Symbol(statistic.name, real=True) and statistic.mean == s
