"""First integrals: what is found, what is counted, what is refused, and that the budget is kept."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest
import sympy as sp
from sympy import Function, Matrix, atan, cos, exp, log, sin, sqrt, symbols

from symdecouple import (
    FeatureSet,
    Mean,
    OneForm,
    Status,
    VectorField,
    coordinates,
    first_integrals,
    involutive_closure,
    x as sample,
)
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.flows.constancy import is_constant_along
from symdecouple.flows.linear_relations import PRIME, null_space

x, y, z, w, t, a, b = symbols("x y z w t a b")


def one(*components: Any, of: Any = (x, y, z, w)) -> list[VectorField]:
    return [VectorField(components, of[: len(components)])]


def test_those_of_the_issue_of_closed_forms() -> None:
    """Forms that are not closed, and integrable all the same."""
    assert first_integrals([OneForm([y, -x], [x, y])]).functions == (x / y,)
    assert first_integrals([OneForm([exp(x) * y * z, exp(x) * x * z, exp(x) * x * y], [x, y, z])]).functions == (
        x * y * z,)
    two = first_integrals([OneForm([1, 0, y], [x, y, z]), OneForm([0, 1, x], [x, y, z])])
    assert two.functions == (x**2 - y**2, (x + y) * exp(z)) and two.complete and two.verify()


# field, its integrals up to functions of them: by hand, verified by substitution below
SINGLE: list[tuple[list[VectorField], tuple[Any, ...]]] = [
    (one(y, -x), (x**2 + y**2,)), (one(y, x), (x**2 - y**2,)), (one(1, y), (y * exp(-x),)),
    (one(x, 2 * y), (x**2 / y,)), (one(x, a * y), (x**a / y,)), (one(x, x + y), (x * exp(-y / x),)),
    (one(1, y**2), (x + 1 / y,)), (one(1, x * y), (y * exp(-(x**2) / 2),)), (one(1, sin(x) * y**2), (cos(x) - 1 / y,)),
    (one(y, -a * x), (a * x**2 + y**2,)), (one(y, -sin(x)), (y**2 / 2 - cos(x),)),
    (one(y, exp(x)), (y**2 / 2 - exp(x),)),
    (one(1, x**2 + 2 * y / x), (y / x**2 - x,)), (one(x**2, x * y), (y / x,)),
    (one(2 * x * y, y**2 - x**2), ((x**2 + y**2) / x,)), (one(x * (1 - y), y * (x - 1)), (log(x * y) - x - y,)),
    (one(y - z, z - x, x - y), (x + y + z, x**2 + y**2 + z**2)), (one(y * z, x * z, x * y), (x**2 - y**2, y**2 - z**2)),
    (one(1, cos(x), y), (y - sin(x), z - x * (y - sin(x)) + cos(x))), (one(0, 0, 1), (x, y)),
    (one(y, -x, 1), (x**2 + y**2, z - atan(x / y))), (one(x, y, -2 * z), (x / y, x**2 * z)),
    (one(1 / y, 1), (x - log(y),)), (one(sqrt(x), y), (2 * sqrt(x) - log(y),)), (one(x + y, y), (x / y - log(y),)),
    (one(y, a - b * y), (b * x + y + a / b * log(a - b * y),)),
    (one(1 + x**2, x * y), (y**2 / (1 + x**2),)), (one(sin(y), cos(x)), (sin(x) + cos(y),)),
    (one(1, exp(y)), (x + exp(-y),)), (one(sp.cosh(x), sp.sinh(x)), (y - log(sp.cosh(x)),)),
    (one(1, y / x + y**3), (x**2 / y**2 + 2 * x**3 / 3,)), (one(1, a * y * (1 - y / b)), (y * exp(-a * x) / (b - y),)),
    (one(1, y**2 - 1), ((y - 1) / (y + 1) * exp(-2 * x),)), (one(1, y**2 + 1), (x - atan(y),)),
    (one(1, z, sin(x) - z), (y + z + cos(x), (2 * z - sin(x) + cos(x)) * exp(x))),
    (one(2 * x + y, x + 2 * y), ((x + y) / (x - y) ** 3,)),
    (one(x + y, y + z, z), (y / z - log(z), 2 * x / z - y**2 / z**2)),
]

# what needs more than real linear factors: by hand, from the books on differential equations
CONICS: list[tuple[list[VectorField], tuple[Any, ...]]] = [
    (one(y, x + y), (log(x**2 + x * y - y**2) - log((2 * x + y + sqrt(5) * y) / (2 * x + y - sqrt(5) * y)) / sqrt(5),)),
    (one(y, -x - y), (log(x**2 + x * y + y**2) - 2 / sqrt(3) * atan(sqrt(3) * y / (2 * x + y)),)),
    (one(1, a + y**2), (x - atan(y / sqrt(a)) / sqrt(a),)),
    (one(1, a - y**2), (2 * sqrt(a) * x - log((y + sqrt(a)) / (y - sqrt(a))),)),
    (one(1, y, -a * x, of=(z, x, y)), (a * x**2 + y**2, sqrt(a) * z + atan(y / (sqrt(a) * x)))),
    (one(1, y, -x / z**2 - y / z, of=(z, x, y)), (z**2 * y**2 + x**2, log(z) - atan(x / (z * y)))),
    (one(x**2, x**2 * y**2 - 2), (x**3 * (x * y + 2) / (x * y - 1),)),
    (one(1, 2 + cos(y)), (x - 2 / sqrt(3) * atan(sin(y) / (1 + cos(y)) / sqrt(3)),)),
    (one(sin(x), cos(y)), (sin(x) * cos(y) / ((1 - sin(y)) * (1 - cos(x))),)),
    (one(1, x * sqrt(1 - y**2)), (x**2 + 2 * atan(sqrt(1 - y**2) / y),)),
    (one(x**a, y**a), (x ** (1 - a) - y ** (1 - a),)),
    (one(y, -12 / x**13 + 6 / x**7), (y**2 / 2 - 1 / x**12 + 1 / x**6,)),
]


# several fields, their integrals: invariants of groups
SEVERAL: list[tuple[Any, Any, tuple[Any, ...]]] = [
    ([x, y, z], [(1, 1, 1), (x, y, z)], ((x - y) / (x - z),)),
    ([x, y, z], [(y, x, 0), (z, 0, x)], (x**2 - y**2 - z**2,)),
    ([x, y, z, w], [(x, y, 0, 0), (0, 0, z, w)], (x / y, z / w)),
    ([x, y, z, w], [(1, 0, 1, 0), (0, 1, 0, 1), (-y, x, -w, z)], ((x - z) ** 2 + (y - w) ** 2,)),
    ([x, y, z, w], [(1, 1, 1, 1), (x, y, z, w), (x**2, y**2, z**2, w**2)],
     ((x - z) * (y - w) / ((x - w) * (y - z)),)),
    ([x, y, z], [(1, 0, y), (0, 1, x)], (z - x * y,)),
    ([x, y, z], [(1, 0, z), (0, 1, z)], (z * exp(-x - y),)),
    ([x, y, z], [(x, y, 0), (0, 0, 1)], (x / y,)),
    ([x, y, z, t], [(0, -z, y, 0), (z, 0, -x, 0), (-y, x, 0, 0)], (x**2 + y**2 + z**2, t)),
    ([x, y, z, w, a, b], [(0, -z, y, 0, -b, a), (z, 0, -x, b, 0, -w), (-y, x, 0, -a, w, 0)],
     (x**2 + y**2 + z**2, x * w + y * a + z * b, w**2 + a**2 + b**2)),
    ([x, y, z, w], [(1, 0, 0, 0), (0, 1, 0, 0), (-y, x, 1 + z**2, 3 * z * w)], (w**2 / (1 + z**2) ** 3,)),  # curvature
    ([x, y, z], [(y, -x, 0), ((1 + x**2 + y**2) ** 2, 0, 4 * x)], (z + 2 / (1 + x**2 + y**2),)),
    ([x, y, z], [(x, -y, 0), (1 + x**2 * y**2, 0, y)], (z - atan(x * y),)),
    ([x, y, z], [(x, -y, 0), (sqrt(1 - x**2 * y**2), 0, y)], (z - sp.asin(x * y),)),
    ([x, y, z], [(x, y, 0), (-y, x, 1)], (z - atan(y / x),)),
    ([x, y, z], [(0, 0, 1), (cos(y), 1, 0)], (x - sin(y),)),
]


FIELDS = SINGLE + CONICS + [([VectorField(column, space) for column in columns], integrals)
                            for space, columns, integrals in SEVERAL]


@pytest.mark.parametrize(("fields", "integrals"), FIELDS, ids=lambda v: str(v)[:50])
def test_integrals(fields: list[VectorField], integrals: tuple[Any, ...]) -> None:
    found = first_integrals(fields, budget=40)
    subject = found.closure.subject
    assert found.expected == len(integrals) and found.complete and found.verify()
    for h in integrals:
        assert is_constant_along(subject, h)
    point = {q: sp.Rational(k, 17) for q, k in zip([x, y, z, w, t, a, b], (11, 13, 19, 21, 23, 29, 31), strict=True)}
    jacobian = Matrix([[h.diff(q).subs(point).evalf(40) for q in subject.coordinates]
                       for h in (*found.functions, *integrals)])
    assert jacobian.rank(iszerofunc=lambda v: abs(v) < 1e-20) == len(integrals)


def test_a_level_of_what_is_known_has_one_variable_less() -> None:
    """y - x^2 = c is constant along (1, y, 2 x y), and dt = dx/(x^2 + c) is integrated on each of its levels."""
    found = first_integrals(one(1, y, 2 * x * y, of=(t, x, y)), budget=60)
    assert found.complete and found.functions[0] == x**2 - y and found.verify()
    assert is_constant_along(found.closure.subject, t - atan(x / sqrt(y - x**2)) / sqrt(y - x**2))


def test_coordinates_that_rest_are_parameters() -> None:
    """A charge in a magnetic field along z: its speed w along z is constant, and its angle by z is b/w."""
    u, v = symbols("u v")
    found = first_integrals(one(u, v, w, b * v, -b * u, 0, of=(x, y, z, u, v, w)), budget=60)
    assert found.expected == 5 and found.complete and found.verify()
    for h in (w, u**2 + v**2, u - b * y, v + b * x, b * z + w * atan(v / u)):
        assert is_constant_along(found.closure.subject, h)


def test_what_is_not_found_is_counted() -> None:
    found = first_integrals(one(x * y + 1, exp(x) + y**3), budget=1)
    assert found.functions == () and found.expected == 1 and not found.complete
    assert found.closure.status is Status.PROVED and found.verify()
    assert "1 more exist" in found.reason and "0 of 1 found" in str(found)


def test_nothing_is_constant_where_the_closure_is_everything() -> None:
    found = first_integrals([OneForm([-z, 1, 0], [x, y, z])])
    assert (found.functions, found.expected, found.complete) == ((), 0, True) and found.verify()


def test_where_nothing_moves_everything_is_constant() -> None:
    found = first_integrals([VectorField([0, 0], [x, y])])
    assert set(found.functions) == {x, y} and found.expected == 2 and found.complete and found.verify()


def test_a_set_that_is_not_involutive_has_those_of_its_closure() -> None:
    fields = [VectorField([1, 0, y, 0], [x, y, z, w]), VectorField([0, 1, 0, 0], [x, y, z, w])]
    found = first_integrals(fields)
    assert found.functions == (w,) and found.expected == 1
    assert first_integrals(involutive_closure(fields)).functions == (w,)


def test_features_that_are_decoupled_from_averages() -> None:
    x1, x2, x3, x4 = coordinates(4)
    shifts = first_integrals([Mean(sample)], n_samples=3)
    assert shifts.expected == 2 and shifts.complete and all(is_constant_along(shifts.closure.subject, h)
                                                            for h in (x1 - x2, x2 - x3))
    cubic = first_integrals([Mean(sample), Mean(sample**3)], n_samples=4)  # closure: the Moebius group
    (ratio,) = cubic.functions
    assert sp.cancel(ratio - (x1 - x3) * (x2 - x4) / ((x1 - x4) * (x2 - x3))) == 0 and cubic.verify()
    pairs = first_integrals(involutive_closure([Mean(sample), Mean(sample**2)], n_samples=3))
    assert pairs.expected == 1 and pairs.complete and pairs.verify()
    assert first_integrals(FeatureSet([Mean(sample**k) for k in (1, 2, 3, 4)]), n_samples=4).expected == 0


@pytest.mark.slow
def test_the_circle_has_one_invariant_of_four_angles() -> None:
    found = first_integrals([Mean(sin(sample)), Mean(cos(sample))], n_samples=4, budget=60)
    assert found.expected == 1 and found.complete and found.verify()


def test_the_budget_is_kept() -> None:
    hard = one(y * z - x**3, x * z + y**2, x * y - z**2 + 1)
    for budget in (0.2, 1.0):
        start = time.process_time()
        found = first_integrals(hard, budget=budget)
        assert time.process_time() - start < budget + 3  # a step that is running ends
        assert not found.complete


def test_forged_integrals_are_found() -> None:
    found = first_integrals([OneForm([1, 0, y], [x, y, z]), OneForm([0, 1, x], [x, y, z])])
    first, second = found.functions
    for forged in (dataclasses.replace(found, functions=(first, first**2)),
                   dataclasses.replace(found, functions=(first, second + x)),
                   dataclasses.replace(found, functions=(first,)),
                   dataclasses.replace(found, expected=3),
                   dataclasses.replace(found, complete=False),
                   dataclasses.replace(found, witness=None)):
        assert not forged.verify()


REFUSED: list[tuple[Any, str]] = [
    (lambda: first_integrals([Mean(sample)]), "n_samples=4"),
    (lambda: first_integrals(Matrix([[1, 2], [3, 4]])), "OneForm.rows"),
    (lambda: first_integrals([OneForm([1, 0], [x, y]), OneForm([1, 0, 0], [x, y, z])]), "different spaces"),
    (lambda: first_integrals(one(x, y), budget=-1), "budget"),
    (lambda: first_integrals(involutive_closure([Mean(sample)])), "n_samples=4"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_bad_input_is_refused(call: Any, said: str) -> None:
    with pytest.raises(SymdecoupleError, match=said):
        call()


def test_undefined_functions_are_not_guessed() -> None:
    f = Function("f")
    found = first_integrals(one(1, f(x)))
    assert not found.complete and found.expected is None and found.functions == ()


def test_latex_and_text() -> None:
    found = first_integrals(one(y, -x))
    assert str(found) == "first integrals: 1 of 1 found, complete\n  1  x**2 + y**2"
    assert found.latex() == r"h_{1} = x^{2} + y^{2}"


def test_null_space_modulo_the_prime() -> None:
    assert null_space([[1, 2, 3], [2, 4, 6]], 3) == [{1: 1, 0: PRIME - 2}, {2: 1, 0: PRIME - 3}]
    assert null_space([[1, 0], [0, 1]], 2) == [] and null_space([], 1) == [{0: 1}]


def test_is_constant_along_is_exact() -> None:
    subject = Subject.of(one(y, -x))
    assert is_constant_along(subject, sin(x**2 + y**2)) and not is_constant_along(subject, x**2 + y**2 + x / 10**30)
    with pytest.raises(InvalidInput):
        Subject.of(VectorField([1], [x]))
