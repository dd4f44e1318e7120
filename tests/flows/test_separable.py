"""Closed-form flows: the group law, the ends of the domain, equilibria, and numbers against independent integrators."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp
from sympy import Rational, S, Symbol, atan, cos, cosh, coth, exp, log, oo, pi, sin, sinh, sqrt, tan, tanh

from symdecouple.calculus.field import VectorField
from symdecouple.calculus.gradient import gradient
from symdecouple.errors import InvalidInput, NoClosedForm, Refused, UnsupportedExpression
from symdecouple.flows.flow import Flow
from symdecouple.flows.separable import flow
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x

a, b, c, k = sp.symbols("a b c k")
third = Rational(1, 3)

# field: the same field in NumPy, and initial values
FIELDS: dict[Any, tuple[Any, tuple[float, ...]]] = {
    S(1): (lambda y: 1 + 0 * y, (-2.0, 0.0, 3.5)), 2 - 3 * x: (lambda y: 2 - 3 * y, (-2.0, 0.5, 4.0)),
    x**2: (lambda y: y**2, (-2.0, 0.0, 0.5)), x**2 - 1: (lambda y: y**2 - 1, (-3.0, -1.0, 0.3, 1.0, 1.5)),
    x**2 + x + 1: (lambda y: y**2 + y + 1, (-2.0, 0.0, 1.0)),
    3 * x - x**2 / 2: (lambda y: 3 * y - y**2 / 2, (-1.0, 0.0, 0.001, 2.0, 6.0, 9.0)),
    x**3: (lambda y: y**3, (-1.5, 0.0, 0.25, 2.0)),
    x - x**3: (lambda y: y - y**3, (-2.0, -1.0, -0.2, 0.0, 0.5, 1.0, 3.0)), 1 / x: (lambda y: 1 / y, (-2.0, 0.5)),
    x**-2: (lambda y: y**-2.0, (-2.0, 0.5)), x**third: (np.cbrt, (-8.0, 1.0, 0.3)),
    x ** (2 * third): (lambda y: np.cbrt(y) ** 2, (-8.0, 1.0)),
    x ** (5 * third): (lambda y: np.cbrt(y) ** 5, (-1.5, 0.0, 2.0)), sqrt(x): (np.sqrt, (0.5, 4.0)),
    exp(2 * x): (lambda y: np.exp(2 * y), (-3.0, 0.0, 1.0)),
    1 - 2 * exp(-x): (lambda y: 1 - 2 * np.exp(-y), (-1.0, 0.5, 2.0)), sinh(x): (np.sinh, (-2.0, 0.0, 1.0)),
    cosh(x): (np.cosh, (-2.0, 0.0, 1.0)), tanh(x): (np.tanh, (-2.0, 0.0, 1.0)),
    coth(x): (lambda y: 1 / np.tanh(y), (-2.0, 1.0)), 1 / cosh(x): (lambda y: 1 / np.cosh(y), (-2.0, 1.0)),
    sin(3 * x): (lambda y: np.sin(3 * y), (-2.0, 0.0, 0.4, 20.0)),
    2 * cos(x + 1): (lambda y: 2 * np.cos(y + 1), (-2.0, 0.4, 20.0)),
    2 + sin(x): (lambda y: 2 + np.sin(y), (-2.0, 0.4, 20.0)),
    -3 + cos(2 * x) - sin(2 * x): (lambda y: -3 + np.cos(2 * y) - np.sin(2 * y), (-2.0, 0.4, 20.0)),
    1 + cos(x): (lambda y: 1 + np.cos(y), (-2.0, 0.4, 20.0)), tan(x): (np.tan, (-2.0, 0.4, 7.0)),
    x * log(x): (lambda y: y * np.log(y), (0.2, 1.0, 3.0)),
    x * log(x) ** 2: (lambda y: y * np.log(y) ** 2, (0.2, 1.0, 3.0)),
    x * (1 + log(x) ** 2): (lambda y: y * (1 + np.log(y) ** 2), (0.2, 1.0, 3.0)),
    (1 + x**2) * atan(x): (lambda y: (1 + y**2) * np.arctan(y), (-1.0, 0.0, 0.5)),
    sqrt(1 + x**2): (lambda y: np.sqrt(1 + y**2), (-1.0, 0.0, 5.0)),
    sqrt(4 - x**2): (lambda y: np.sqrt(4 - y**2), (-1.0, 0.5)), (x - 2) ** 3: (lambda y: (y - 2) ** 3, (1.0, 2.0, 3.0)),
    (2 * x + 1) * log(2 * x + 1): (lambda y: (2 * y + 1) * np.log(2 * y + 1), (-0.25, 0.0, 3.0)),
}
table = pytest.mark.parametrize("field", FIELDS, ids=str)
_made: dict[Any, Flow] = {}


def made(field: Any) -> Flow:
    if field not in _made:
        _made[field] = flow(field)
    return _made[field]


def times_of(f: Flow, x0: float, share: float = 0.8) -> tuple[float, float]:
    """A time before and one after zero, well inside the domain."""
    low, high = (float(end) for end in f.domain(x0))
    return max(share * low, -1.5), min(share * high, 1.5)


# --- the answer in symbols ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "solution"), [
    (S(0), x), (S(1), x + Symbol("t", real=True)), (x, x * exp(Symbol("t", real=True))),
    (x**2, x / (1 - x * Symbol("t", real=True))), (x * log(x), exp(exp(Symbol("t", real=True)) * log(x))),
], ids=str)
def test_closed_form(field: Any, solution: Any) -> None:
    assert flow(field).expr == solution


@table
def test_solution_starts_at_its_initial_value_and_both_checks_were_made(field: Any) -> None:
    assert [check.name for check in made(field).checks] == [
        "substituted back symbolically", "substituted back in numbers"]
    assert all(check.passed for check in made(field).checks)


@pytest.mark.parametrize("field", [
    a * x + b, a * x**2 + b * x + c, c * exp(k * x), c * sin(k * x + b), a + b * cos(x) + c * sin(x), c * x**third,
    a * x + b * x**3, (x - a) * log(x - a), x - Mean(x), x**2 - Mean(x**2), a + b * exp(k * x),
], ids=str)
def test_coefficients_may_be_symbols_and_statistics(field: Any) -> None:
    f = flow(field, budget=100)  # seconds: on a busy machine, too
    assert f.checks[-1].passed and set(f.parameters) == (
        {s for s in field.free_symbols if s != x} | set(field.atoms(Mean)))
    with pytest.raises(InvalidInput, match="values="):
        f(1.0, 0.5)


@pytest.mark.parametrize("values", [(1, 0, -1), (1, 2, 1), (1, 1, 1), (0, 2, 1), (0, 0, 3)])
def test_symbolic_quadratic_specializes_to_every_discriminant(values: tuple[int, ...]) -> None:
    rule = dict(zip((a, b, c), values, strict=True))
    special = flow((a * x**2 + b * x + c).subs(rule))
    general = flow(a * x**2 + b * x + c).expr
    for x0, t in ((Rational(1, 3), Rational(1, 4)), (-2, Rational(1, 5))):
        value = general.subs(rule).subs({x: x0, Symbol("t", real=True): t})
        with mpmath.workdps(45):
            assert abs(mpmath.mpmathify(sp.N(value, 45)) - special(x0, t, dps=40)) < 1e-38


def test_statistics_and_parameters_take_values() -> None:
    f = flow(a * (x - Mean(x)), values={a: 2, Mean(x): Rational(1, 2)})
    assert f.expr.equals(Rational(1, 2) + (x - Rational(1, 2)) * exp(2 * f.time))
    assert f(0.5, 7.0) == 0.5


def test_gradient_fields_flow() -> None:
    assert flow(gradient(Mean(x**3))).domain(1) == (-oo, Rational(1, 3))
    assert flow(VectorField(x**2)).expr == flow(x**2).expr


def test_names_do_not_clash() -> None:
    t, y = Symbol("t"), Symbol("y")
    assert flow(t * x).expr == x * exp(t * Symbol("tau", real=True))
    assert flow(y**2, sample=y, time=Symbol("s")).expr == y / (1 - Symbol("s") * y)
    with pytest.raises(InvalidInput, match="does not occur"):
        flow(t * x, time=t)


@pytest.mark.parametrize(("field", "points"), [
    (x**2, (0,)), (x**2 - 1, (-1, 1)), (x - x**3, (-1, 0, 1)), (x**2 + 1, ()), (x**third, ()),
    (x**2 - 2, (-sqrt(2), sqrt(2))), (1 - 2 * exp(-x), (log(2),)), (x * log(x), (1,)), (x * log(x) ** 2, (1,)),
    ((x - 2)**3, (2,)),
], ids=str)
def test_equilibria(field: Any, points: tuple[Any, ...]) -> None:
    f = flow(field)
    assert f.equilibria == sp.FiniteSet(*points)
    for point in points:
        assert f.domain(point) == (-oo, oo) and f(point, 1.25, dps=50) == f(point, 0, dps=50)
        assert f(point, -3, dps=30) == f(point, 0, dps=30)


def test_equilibria_repeat_with_the_period() -> None:
    assert 7 * pi in flow(sin(x)).equilibria and flow(sin(x) + 2).equilibria == sp.S.EmptySet
    assert sp.Union(*(s.intersect(sp.Interval(0, 7)) for s in flow(tan(x)).equilibria.args)) == {0, pi, 2 * pi}


def test_text_shows_the_equation_and_the_solution() -> None:
    f = flow(x**2)
    assert repr(f) == "Flow(dx/dt = x**2, x(t) = x/(-x*t + 1))" and f.latex().startswith("x(t) = ")


# --- the domain -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "x0", "ends"), [
    (x**2, 2, (-oo, Rational(1, 2))), (x**2, -2, (-Rational(1, 2), oo)), (x**2, 0, (-oo, oo)),
    (x**2 - 1, 1, (-oo, oo)), (x**2 - 1, 0, (-oo, oo)), (x**2 - 1, 2, (-oo, log(3) / 2)),
    (x**2 + 1, 0, (-pi / 2, pi / 2)), (x**3, 2, (-oo, Rational(1, 8))), (x**third, -8, (-6, oo)),
    (1 / x, 2, (-2, oo)), (exp(x), 0, (-oo, 1)), (exp(x) + 1, 0, (-oo, log(2))), (cosh(x), 0, (-pi / 2, pi / 2)),
    (sin(x) + 2, 1, (-oo, oo)), (tan(x), Rational(1, 2), (-oo, log(1 / sin(Rational(1, 2))))),
    (x * log(x) ** 2, 1, (-oo, oo)), (sqrt(4 - x**2), 0, (-pi / 2, pi / 2)),
], ids=str)
def test_domain_is_exact(field: Any, x0: Any, ends: tuple[Any, Any]) -> None:
    assert all(sp.simplify(found - end) == 0 if end not in (oo, -oo) else found == end
               for found, end in zip(flow(field).domain(x0), ends, strict=True))


@table
def test_domain_ends_where_the_solution_does(field: Any) -> None:
    f = made(field)
    for x0 in FIELDS[field][1]:
        for end, way in zip(f.domain(x0), (-1, 1), strict=True):
            if end in (oo, -oo):
                continue
            near = f(x0, float(end) * 0.999, dps=20)
            assert mpmath.isfinite(near) and (near - x0) * way * FIELDS[field][0](x0) > 0
            for beyond in (float(end) * 1.001, float(end) * 2.5, float(end) * 40):
                with pytest.raises(Refused, match="exists for t in"):
                    f(x0, beyond)
            with pytest.raises(Refused):
                f(x0, end, dps=20)


def test_domain_of_the_sample_is_respected() -> None:
    p = sample(positive=True)
    assert flow(S(1) * p**0, sample=p).domain(2) == (-2, oo) and flow(p**2 - 1).domain(Rational(1, 2))[1] == log(3) / 2
    with pytest.raises(Refused, match=r"\(0, oo\)"):
        flow(p**2 - 1)(-0.5, 0.1)
    assert flow(p**2 - 1)(0.5, 0.5) > 0
    with pytest.raises(Refused):
        flow(p**2 - 1)(0.5, 0.6)


@pytest.mark.parametrize(("field", "x0"), [(x**third, 0), (1 / x, 0), (sqrt(x), -1), (x * log(x), -2)])
def test_no_solution_starts_where_there_is_no_unique_one(field: Any, x0: int) -> None:
    for call in (lambda f: f(float(x0), 0.1), lambda f: f(x0, 0.1, dps=20), lambda f: f.domain(x0)):
        with pytest.raises(Refused, match=r"initial values lie in|no solution"):
            call(flow(field))


# --- laws -----------------------------------------------------------------------------------------------------------


@table
@settings(max_examples=2)
@given(data=st.data())
def test_flow_is_a_group_of_increasing_maps(field: Any, data: Any) -> None:
    f = made(field)
    x0 = data.draw(st.sampled_from(FIELDS[field][1])) + data.draw(st.floats(0, 0.05))
    low, high = times_of(f, x0, 0.6)
    s, t = (data.draw(st.floats(low, high)) for _ in range(2))
    there, scale = f(x0, s), 1e-10 * (1 + abs(x0) + abs(f(x0, t)) + abs(f(x0, s)))
    assert f(x0, 0.0) == pytest.approx(x0, rel=1e-14)
    assert f(there, t - s) == pytest.approx(f(x0, t), abs=scale * (1 + float(f.slope(there, t - s))))
    assert f.inverse(there, s) == pytest.approx(x0, abs=scale * (1 + float(f.slope(there, -s))))
    assert f(x0 + 1e-3, s * 0.9) > f(x0, s * 0.9)


@table
def test_rate_of_change_is_the_field_by_richardson(field: Any) -> None:
    f, v = made(field), FIELDS[field][0]
    for x0 in FIELDS[field][1]:
        for t in times_of(f, x0, 0.5):
            with mpmath.workdps(60):
                h = mpmath.mpf("1e-6")
                at = [f(x0, mpmath.mpf(t) + n * h, dps=60) for n in (-2, -1, 1, 2)]
                slope = (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * h)
            assert float(slope) == pytest.approx(float(v(float(f(x0, t)))), rel=1e-12, abs=1e-12)


@table
def test_derivative_by_the_initial_value_is_the_ratio_of_speeds(field: Any) -> None:
    f, v = made(field), FIELDS[field][0]
    for x0 in FIELDS[field][1]:
        for t in times_of(f, x0, 0.5):
            with mpmath.workdps(60):
                h = mpmath.mpf("1e-20")
                difference = (f(x0 + h, t, dps=60) - f(x0 - h, t, dps=60)) / (2 * h)
            assert float(f.slope(x0, t, dps=30)) == pytest.approx(float(difference), rel=1e-14)
            if abs(v(x0)) > 1e-9:
                assert float(v(f(x0, t)) / v(x0)) == pytest.approx(float(difference), rel=1e-9)


@pytest.mark.parametrize(("field", "rest"), [
    (x**3, 0), (x - x**3, 0), (x ** (5 * third), 0), ((x - 2) ** 3, 2), (tanh(x), 0), (x / (1 + x), 0), (x**2 - 1, 1),
], ids=str)
def test_derivative_at_an_equilibrium_is_the_exponential_of_its_slope(field: Any, rest: int) -> None:
    f, slope = flow(field), field.diff(x).subs(x, rest)
    value = f.derivative.subs({x: rest, f.time: Rational(1, 2)})
    assert sp.N(value - exp(slope / 2), 30) == pytest.approx(0, abs=1e-25)
    assert f.slope(rest, 0.5) == pytest.approx(math.exp(slope / 2), rel=1e-14)
    assert f.expr.subs({x: rest, f.time: Rational(1, 2)}) == rest


# --- numbers --------------------------------------------------------------------------------------------------------


@table
def test_float64_agrees_with_fifty_digits_and_these_with_eighty(field: Any) -> None:
    f = made(field)
    for x0 in FIELDS[field][1]:
        for t in times_of(f, x0, 0.99):
            precise = f(x0, t, dps=50)
            assert abs(precise - f(x0, t, dps=80)) <= 1e-49 * abs(precise)
            conditioning = 1 + float(f.slope(x0, t)) + abs(float(FIELDS[field][0](f(x0, t))))
            assert f(x0, t) == pytest.approx(float(precise), abs=2e-15 * conditioning * (1 + abs(x0)))


@table
def test_code_runs_alone_and_gives_the_same_numbers(field: Any) -> None:
    f, space = made(field), {}
    exec(f.code(), space)
    values = np.array([x0 for x0 in FIELDS[field][1] for _ in range(2)])
    times = np.array([t for x0 in FIELDS[field][1] for t in times_of(f, x0)])
    assert np.array_equal(space["flow"](values, times), f(values, times))
    assert {line for line in f.code().splitlines() if "import" in line} == {
        "import numpy as np", "from typing import Any"}


def test_code_refuses_past_the_pole() -> None:
    space: dict[str, Any] = {}
    exec(flow(x**2).code(), space)
    assert space["flow"](0.0, 1e9) == 0 and space["flow"]([[1.0], [2.0]], [0.1, 0.2]).shape == (2, 2)
    for t in (0.5, 0.7, 1e9, math.nan):
        with pytest.raises(ValueError, match="no solution"):
            space["flow"]([0.0, 2.0], t)


def test_decay_keeps_its_relative_precision() -> None:
    assert flow(-x)(3.0, 60.0) == pytest.approx(3 * math.exp(-60), rel=1e-14)
    f = flow(x**2 - x)
    assert f(0.5, 60.0) == pytest.approx(float(f(0.5, 60, dps=20)), rel=1e-13)
    assert f(1.0, 900.0) == 1.0 and f(0.0, -900.0) == 0.0 and f(0.0, 900.0) == 0.0


def test_many_turns_of_a_circle_are_counted() -> None:
    f = flow(2 + sin(x))
    period = 2 * pi / sqrt(3)
    for turns in (-3, 1, 1000):
        assert abs(f(1, turns * period, dps=30) - 1 - 2 * turns * mpmath.pi) < 1e-11
        assert f(1.0, float(turns * period)) == pytest.approx(1 + 2 * turns * math.pi, rel=1e-13)


def test_refusal_names_samples_and_keeps_the_rest() -> None:
    with pytest.raises(Refused, match=r"2 of 4 have no solution .*sample \(1,\), x0 = 1.0, t = 1.0, exists for t in "
                                      r"\(-oo, 1\); sample \(2,\), x0 = 2.0") as caught:
        flow(x**2)([0.5, 1.0, 2.0, 0.0], 1.0)
    assert np.array_equal(caught.value.partial, [1.0, np.nan, np.nan, 0.0], equal_nan=True)
    assert [outcome.ok for outcome in caught.value.outcomes] == [True, False, False, True]


def test_numbers_of_all_kinds_are_taken() -> None:
    f = flow(x**2)
    with mpmath.workdps(40):
        assert abs(f(Fraction(1, 2), mpmath.mpf("0.5"), dps=40) - mpmath.mpf(2) / 3) < 1e-39
    assert f([1, Fraction(1, 2)], 0, dps=20).tolist() == [1, 0.5]
    assert f(np.float32([0.5, 1]), np.float32(0.5)).dtype == np.float32 and f(1, 0).dtype == np.float64
    for wrong in ("1", None, True, 1j, [1, "a"]):
        with pytest.raises(InvalidInput):
            f(wrong, 0, dps=20) if not isinstance(wrong, list) else f(wrong, 0)
    with pytest.raises(InvalidInput):
        f(1, 0, dps=0)


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", [exp(-(x**2)), x + x**2 + x**3, sin(x) ** 3, exp(x) + exp(2 * x)], ids=str)
def test_no_closed_form_names_the_field(field: Any) -> None:
    with pytest.raises(NoClosedForm, match="no closed form was found for dx/dt = "):
        flow(field)


def test_what_is_no_field_of_one_sample_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="filters"):
        flow(Filter("h")(x))
    with pytest.raises((UnsupportedExpression, InvalidInput)):
        flow(VectorField(coordinates(2), coordinates(2)))
    with pytest.raises(NoClosedForm, match="undefined functions"):
        flow(sp.Function("g")(x))
    with pytest.raises(InvalidInput, match="expression"):
        flow("x**2")
    with pytest.raises(InvalidInput, match="function of x, not of y"):
        flow(x**2, sample=Symbol("y"))


# --- the general quadrature -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", [1 / (1 + exp(x)), 1 / (1 + x**2)], ids=str)
def test_general_quadrature(field: Any) -> None:
    f = flow(field)
    v = sp.lambdify(x, field)
    there = solve_ivp(lambda _, y: v(y), (0, 1.25), [0.5], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    assert f(0.5, 1.25) == pytest.approx(there, rel=1e-9) and f.domain(0.5) == (-oo, oo)


def test_a_formula_for_a_part_of_the_line_is_for_that_part() -> None:
    f = flow(x / (1 + x))
    assert f(0.0, 2.0) == 0 and f(1.0, 0.0) == pytest.approx(1)
    there = solve_ivp(lambda _, y: y / (1 + y), (0, 2), [1.0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    assert f(1.0, 2.0) == pytest.approx(there, rel=1e-9)
    with pytest.raises(Refused, match="no formula was found"):
        f(-3.0, 0.1, dps=20)
