"""What SymPy is asked for on the way to a flow ends in seconds, or is refused by a typed error before it is asked."""

import time

import pytest
import sympy as sp
from sympy import cos, exp, log, oo, sin, symbols, tan, tanh

from symdecouple.errors import BudgetExceeded, NoClosedForm
from symdecouple.flows.quadrature import by_quadrature, zeros_of
from symdecouple.flows.separable import flow
from symdecouple.language.budget import Budget
from symdecouple.language.closed_forms import breaks, is_solvable, limit, solutions, zeros
from symdecouple.language.sample import x

T = sp.Symbol("t", real=True)
LINE = sp.Interval(-oo, oo)
LONG = sum(sin(k * T) ** k / (k + T) for k in range(1, 9))
QUINTIC = sp.RootSum(T**5 + T + 1, sp.Lambda(T, log(T + 2)))


@pytest.mark.parametrize("ask", [lambda f: zeros(f, T, LINE), lambda f: breaks(f, T, LINE),
                                 lambda f: limit(f, T, oo, "-")])
@pytest.mark.parametrize("function", [LONG, T + sp.RootSum(sp.Symbol("y") ** 5 + sp.Symbol("y") + 1, sp.Lambda(
    sp.Symbol("y"), log(T - sp.Symbol("y"))))])
def test_what_is_too_long_is_refused_before_it_is_asked(ask: object, function: sp.Expr) -> None:
    start = time.process_time()
    with pytest.raises(BudgetExceeded, match="too large"):
        ask(function)
    assert time.process_time() - start < 1


def test_a_budget_that_is_over_is_told_before_the_next_call() -> None:
    class Over(Budget):
        def check(self, what: str) -> None:
            raise BudgetExceeded(what)

    for ask in (lambda: zeros(T - 1, T, LINE), lambda: breaks(1 / T, T, LINE), lambda: limit(1 / T, T, 0, "+")):
        clock = Over(5.0)
        with pytest.raises(BudgetExceeded), _running(clock):
            ask()


def _running(clock: Budget):
    """The clock as the one that runs, without its own look at the time at the beginning."""
    from contextlib import contextmanager

    from symdecouple.language import budget

    @contextmanager
    def block():
        token = budget._RUNNING.set((clock, "a test"))
        try:
            yield
        finally:
            budget._RUNNING.reset(token)

    return block()


def test_short_ones_have_their_answers() -> None:
    assert zeros(T**2 - 3 * T, T, LINE) == sp.FiniteSet(0, 3)
    assert breaks(1 / (T - 2), T, LINE) == sp.FiniteSet(2)
    assert breaks(log(T), T, LINE).contains(0)
    assert limit(1 / T, T, sp.S.Zero, "+") == oo
    assert zeros_of(LONG.xreplace({T: x}), -oo, oo).has(sp.Eq) or isinstance(
        zeros_of(LONG.xreplace({T: x}), -oo, oo), sp.ConditionSet)


@pytest.mark.parametrize("field", [1 / (x + 1 / (x**4 + x + 1)), 1 / (x**2 - 3 / (x**4 + x + 1)),
                                   1 / (x**3 + 1 / (x**4 - x + 3))])
def test_roots_without_a_formula_end_a_quadrature_at_once(field: sp.Expr) -> None:
    start = time.process_time()
    with pytest.raises(NoClosedForm):
        flow(field, budget=30.0)
    assert time.process_time() - start < 5
    assert by_quadrature(field.xreplace({x: T}), -oo, oo, Budget(30.0)) == []


def test_equilibria_with_parameters_are_those_of_a_table() -> None:
    a, b = symbols("a b", positive=True)
    assert flow(a * x * (b - x)).equilibria == sp.FiniteSet(0, b)
    found = flow(a + b * exp(x)).equilibria
    assert all(sp.simplify((a + b * exp(x)).subs(x, p)) == 0 for p in found)


@pytest.mark.parametrize(("equation", "wanted"), [
    (T * exp(T) - 1, True), (T * sin(T) - 1, False), (sin(T) + 2 * cos(T) - sp.Symbol("a"), True),
    (sin(T) + cos(2 * T), False), (tan(T) + tanh(T) - T, False), (sin(T) + T, False), (T**5 + T + 1, False)])
def test_equations_that_are_asked(equation: sp.Expr, wanted: bool) -> None:
    assert is_solvable(equation, T) is wanted
    assert bool(solutions(equation, T)) is wanted
