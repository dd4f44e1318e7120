"""The gate: what is small passes unchanged, what is large is refused at once, in words."""

from __future__ import annotations

import time
from typing import Any

import pytest
import sympy as sp
from sympy import Rational, Symbol, cos, exp, log, sin, sqrt, symbols

from symdecouple.errors import BudgetExceeded
from symdecouple.language import closed_forms, gate

x, a, b = symbols("x a b", real=True)
many = symbols("y:8")

LARGE: dict[str, Any] = {
    "a power of a sum": sp.Add(*many) ** 40, "a huge power of a sum": (x + a) ** (10**9),
    "a huge power": x ** (10**9) + 1,
    "a product of sums": sp.Mul(*(sp.Add(*(y + n for y in many)) ** 3 for n in range(6))),
    "many fractions": sp.Add(*(1 / (sp.Add(*many) + n) for n in range(8))), "a tower": ((x + a + 1) ** 30 + b) ** 30,
}


def at_once(call: Any) -> Any:
    start = time.thread_time()
    out = call()
    assert time.thread_time() - start < 1
    return out


@pytest.mark.parametrize("name", LARGE)
def test_what_is_large_is_refused_in_words_or_left_as_it_is(name: str) -> None:
    expr = LARGE[name]

    def refused() -> None:
        with pytest.raises(BudgetExceeded, match=r"^too large: .* is \d+, and the limit is \d+$"):
            gate.factor_list(sp.fraction(expr)[0] if name != "many fractions" else gate.together(expr))

    at_once(refused)
    assert at_once(lambda: gate.factor(expr)) is expr and at_once(lambda: gate.cancel(expr)) is expr
    assert at_once(lambda: closed_forms.simplify(expr)) is expr


@pytest.mark.parametrize("expr", [2 * x**2 - 2 * a**2, x**2 + 1, (x + a) ** 3 * (x - 1), sp.S(7), x * exp(a) + x],
                         ids=str)
def test_what_is_small_is_factored_as_sympy_does(expr: Any) -> None:
    assert gate.factor(expr) == sp.factor(expr) and gate.together(expr) == sp.together(expr)
    found, factors = gate.factor_list(expr)
    assert sp.expand(found * sp.Mul(*(base**k for base, k in factors)) - expr) == 0


@pytest.mark.parametrize("expr", [
    x**3 / ((x + a) ** 2 * (x - 1)), (x**5 + 1) / ((x - 2) ** 2 * (x**2 + 1) ** 3), 1 / ((x**2 + a) * (x**2 + b)),
    x**3 / (1 + x**2) ** 9, (2 * x + 3) / (3 * x**2 - 4 * a), x**2 / (2 * a * x + b) ** 2, 1 / (x**2 - x) + 1 / x,
    (x + 1) / (x**2 - 1), 3 / (2 * x), 1 / (sqrt(2) * x + 1), a / (exp(a) * x + 1) ** 2, x**2 + a], ids=str)
def test_partial_fractions_are_those_of_sympy(expr: Any) -> None:
    found = gate.apart(expr, x)
    assert sp.simplify(found - expr) == 0
    terms, expected = (sorted(map(str, sp.Add.make_args(e))) for e in (found, sp.apart(expr, x)))
    assert len(terms) == len(expected)


def test_many_poles_are_taken_apart_in_time() -> None:
    poles = sp.Mul(*((x + a) ** 2 + n for n in range(1, 7)))
    found = at_once(lambda: gate.apart(1 / poles, x))
    assert len(found.args) == 6
    assert sp.simplify((found * poles).subs({x: Rational(2, 3), a: 5})) == 1
    with pytest.raises(BudgetExceeded, match="too large: the degree of the denominator"):
        gate.apart(1 / (1 + x**2) ** 30, x)


def test_expansion_stays_that_of_sympy_up_to_its_limit() -> None:
    expr = (x + a) ** 5 * (b + 1) + sin(x) * (a + b) ** 2
    assert gate.expand(expr) == sp.expand(expr)
    with pytest.raises(BudgetExceeded, match="once expanded"):
        gate.expand(sp.Add(*many) ** 20)


@pytest.mark.parametrize(("expr", "expected"), [
    (1 + exp(x), x + exp(x)), (1 + x**2, x + x**3 / 3), (1 + 1 / x, x + log(x)), (1 / (x * log(x)), log(log(x))),
    (exp(x**2), sqrt(sp.pi) * sp.erfi(x) / 2), (1 / (1 + x**2), sp.atan(x)), (cos(2 * x + 1), sin(2 * x + 1) / 2)],
    ids=str)
def test_integrals_of_the_classes(expr: Any, expected: Any) -> None:
    assert sp.simplify(at_once(lambda: closed_forms.antiderivative(expr, x)) - expected) == 0


@pytest.mark.parametrize("expr", [1 / (1 + sin(x) ** 2), exp(x) / (1 + x**2), 1 / (x + exp(x)), sin(x) / x, exp(exp(x)),
                                  1 / (x**9 + x + 1), 1 / (1 + x**4 * a), sqrt(1 + x**5), x ** (10**9) * exp(x)],
                         ids=str)
def test_other_integrals_are_not_asked_for(expr: Any) -> None:
    assert at_once(lambda: closed_forms.antiderivative(expr, x)) is None


def test_equations() -> None:
    u = Symbol("u", real=True)
    assert closed_forms.solutions(x * exp(x) - u, x) == [sp.LambertW(u)]
    assert closed_forms.solutions(log(x) + 1 - u, x) == [exp(u - 1)]
    for expr in (x * sin(x) - u, x**5 + x - u, sin(x) + cos(3 * x) - u, x + log(x) * sin(x), u):
        assert at_once(lambda expr=expr: closed_forms.solutions(expr, x)) == []


def test_gaussian_expectations() -> None:
    assert sp.simplify(closed_forms.gaussian_integral(1 / (1 + x**2), x)
                       - sqrt(2 * sp.pi * sp.E) * sp.erfc(sqrt(2) / 2) / 2) == 0
    for psi in (1 / (1 + x**4), 1 / (x**2 + x + 1), sqrt(1 + x**4), sin(x) / x, (1 + x**2) ** 40):
        assert at_once(lambda psi=psi: closed_forms.gaussian_integral(psi, x)) is None
