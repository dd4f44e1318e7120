"""The average: what it binds, what it refuses, and that SymPy's machinery goes through it unharmed."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import I, Matrix, Rational, S, Symbol, cos, exp, log, nan, oo, sin

from symdecouple import InvalidInput, Mean, Sample, UnsupportedExpression, sample, shift, x
from symdecouple.language.mean import exact
from symdecouple.language.sample import BoundSample

a, b = Symbol("a"), Symbol("b")
m = Mean(x)
v = Mean((x - m) ** 2)


def at(expr: sp.Expr, values: list[int]) -> sp.Expr:
    """An expression of averages at a sample, by plain sums: the oracle here."""
    if isinstance(expr, Mean):
        inner = expr.body
        parts = [at(inner.xreplace({expr.bound: sp.Integer(value)}), values) for value in values]
        return sp.Add(*parts) / len(values)
    return expr.func(*(at(arg, values) for arg in expr.args)) if expr.args else expr


# --- binding ----------------------------------------------------------------------------------------------------


def test_a_mean_binds_its_sample() -> None:
    assert Mean(x**2).free_symbols == set() and not Mean(x**2).atoms(Sample)
    assert Mean(a * x).free_symbols == {a} and Mean(x**2).atoms(BoundSample)
    assert Mean(x**2) == Mean(sample("t") ** 2), "the name of a bound variable does not matter"
    assert Mean(x**2) != Mean(sample("x", positive=True) ** 2), "its domain does"


@pytest.mark.parametrize("constant", [3, a, m, m * a + 1, Rational(1, 3), S.Pi])
def test_the_mean_of_a_constant_is_the_constant(constant: Any) -> None:
    assert Mean(constant) == constant


def test_an_inner_mean_is_a_constant_for_the_outer_one() -> None:
    assert Mean(m) == m and Mean(m * x) != m**2
    assert v.opened() == (x - m) ** 2
    assert at(v, [1, 2, 6]) == Rational(14, 3)


def test_func_of_args_is_the_identity() -> None:
    for expr in (m, v, Mean(sin(a * x) * m), Mean(x * shift(1)(x))):
        assert expr.func(*expr.args) == expr
        assert expr.xreplace({}) == expr and expr.replace(b, a) == expr


def test_replacing_the_bound_variable_is_impossible() -> None:
    bound = v.bound
    assert v.xreplace({bound: a}) == v and v.subs(bound, a) == v and v.diff(bound) == 0
    assert Mean(a * x).xreplace({a: b}) == Mean(b * x)
    assert v.xreplace({m: a}) == Mean((x - a) ** 2)


def test_opening_does_not_rebind_the_inner_mean() -> None:
    assert v.opened(a) == (a - m) ** 2
    assert v.opened(a).atoms(Mean) == {m}


def test_substitution_reaches_parameters_and_inner_means() -> None:
    assert Mean(exp(a * x)).subs(a, 2) == Mean(exp(2 * x))
    assert v.subs(m, 0) == Mean(x**2)
    assert (m**2 + v).subs(m, a) == a**2 + Mean((x - a) ** 2)


def test_a_free_sample_is_not_captured_by_substitution() -> None:
    with pytest.raises(UnsupportedExpression, match="captured"):
        Mean(a * x).subs(a, x)


def test_the_free_sample_outside_is_another_variable() -> None:
    expr = x * m
    assert expr.diff(x) == m and expr.subs(x, 2) == 2 * m and expr.xreplace({x: S(0)}) == 0


# --- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "expression"), (sp.true, "scalar"), (x > 0, "scalar"), ("x**2", "symdecouple.parse"),
        (b"x", "expression"), (None, "expression"), ([x], "expression"), ((x, x), "expression"), ({x: 1}, "expression"),
        (np.array([1.0, 2.0]), "array"), (np.array([x, x]), "array"), (Matrix([x]), "scalar"),
        (sp.ImmutableMatrix([[x]]), "scalar"), (lambda t: t, "expression"), (object(), "expression"),
    ],
    ids=lambda v: repr(v).partition(" at 0x")[0],
)
def test_what_is_no_scalar_expression_is_refused(value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?s)Mean.*{said}"):
        Mean(value)


@pytest.mark.parametrize("expr", [x * sample("t"), sample("t") + sample("u") + Mean(x)])
def test_two_samples_are_refused(expr: sp.Expr) -> None:
    with pytest.raises(InvalidInput, match="one average is over one sample"):
        Mean(expr)


@pytest.mark.parametrize("expr", [Symbol("x"), x + Symbol("x"), Symbol("x", real=True) ** 2, sample("t") * Symbol("t")])
def test_a_plain_symbol_named_like_the_sample_is_refused(expr: sp.Expr) -> None:
    with pytest.raises(InvalidInput, match="not the sample"):
        Mean(expr)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), oo * x, nan * x, I * x, 1j * x, sp.sqrt(-2) * x, sp.zoo])
def test_what_is_not_real_and_finite_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        Mean(value * x)


# --- exact numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Rational(1, 10)), (1e-3, Rational(1, 1000)), (2.5, Rational(5, 2)), (np.float64(0.3), Rational(3, 10)),
        (np.int64(7), 7), (Fraction(1, 3), Rational(1, 3)), (Decimal("0.25"), Rational(1, 4)), (-0.7, Rational(-7, 10)),
        (sp.Float("0.1", 30), Rational(1, 10)), (1e22, 10**22),
    ],
    ids=repr,
)
def test_numbers_become_the_decimals_they_print_as(value: Any, expected: Any) -> None:
    found = exact(value, "test")
    assert found == expected and found.is_Rational


def test_floats_inside_expressions_become_exact() -> None:
    assert Mean(0.1 * x + 0.2) == Mean(x / 10 + Rational(1, 5))
    assert Mean(x**0.5 * exp(0.25 * x)) == Mean(sp.sqrt(x) * exp(x / 4))


# --- SymPy's machinery (each of these fails with a Function in the place of Mean) -------------------------------


def test_the_derivative_in_a_parameter_goes_inside() -> None:
    assert Mean(exp(a * x)).diff(a) == Mean(x * exp(a * x))
    assert m.diff(a) == 0 and Mean(a**2 * x).diff(a, 2) == Mean(2 * x)
    assert sp.diff(log(Mean(exp(a * x))), a) == Mean(x * exp(a * x)) / Mean(exp(a * x))


def test_polynomial_algebra_treats_a_mean_as_a_generator() -> None:
    s = Mean(x**2)
    assert sp.Poly(m**2 + s, m, s).degree(m) == 2
    assert sp.expand((m + s) ** 2) == m**2 + 2 * m * s + s**2
    assert sp.factor(m**2 - s**2) == (m - s) * (m + s)
    assert sp.cancel((m**2 - s**2) / (m - s)) == m + s
    assert sp.apart(1 / (m * (m + 1)), m) == 1 / m - 1 / (m + 1)
    assert sp.together(1 / m + 1 / s) == (m + s) / (m * s)
    assert sp.collect(a * m + b * m, m) == (a + b) * m


def test_equations_are_solved_for_and_with_a_mean() -> None:
    assert sp.solve(a * m - 1, a) == [1 / m]
    assert sp.solve(m**2 - 4, m) in ([-2, 2], [2, -2])
    assert sp.solve([a + b - m, a - b], [a, b]) == {a: m / 2, b: m / 2}


def test_integration_in_a_parameter_and_limits() -> None:
    assert sp.integrate(a * m, a) == a**2 * m / 2
    assert sp.integrate(a * m, (a, 0, 2)) == 2 * m
    assert sp.limit(a * m, a, 3) == 3 * m
    assert sp.series(exp(a) * m, a, 0, 2).removeO() == m + a * m


def test_common_subexpressions_keep_the_binding() -> None:
    exprs = [Mean((x - m) ** 2) + m**2, exp(m**2) * v]
    parts, reduced = sp.cse(exprs)
    rebuilt = [expr for expr in reduced]
    for symbol, part in reversed(parts):
        rebuilt = [expr.xreplace({symbol: part}) for expr in rebuilt]
    assert rebuilt == exprs


def test_printing_and_latex() -> None:
    assert str(v) == repr(v) == "Mean((x - Mean(x))**2)"
    assert sp.latex(m**2) == r"\overline{x}^{2}" and "overline" in sp.latex(v)
    assert "Mean" in sp.pretty(m) and "Mean" in sp.pretty(v, use_unicode=True)


@pytest.mark.parametrize(
    "expr", [m, v, Mean(sin(a * x) + cos(x)), Mean(sample("t", positive=True) ** a), Mean(x * shift(2)(x)), log(v) + m],
    ids=str,
)
def test_pickle_copy_and_hash(expr: sp.Expr) -> None:
    for twin in (pickle.loads(pickle.dumps(expr)), copy.copy(expr), copy.deepcopy(expr)):
        assert twin == expr and hash(twin) == hash(expr)
        assert twin.atoms(Mean) == expr.atoms(Mean)


def test_assumptions_follow_the_body() -> None:
    positive = sample(positive=True)
    assert m.is_real and m.is_commutative and m.is_positive is None
    assert Mean(positive).is_positive and Mean(x**2).is_nonnegative and Mean(x**2).is_positive is None
    assert Mean(exp(x)).is_positive and sp.sqrt(Mean(exp(x)) ** 2) == Mean(exp(x))
    assert sp.sqrt(m**2) == sp.Abs(m)
