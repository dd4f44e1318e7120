"""A budget is kept on what is dense: counted in the time of the process, other work on the machine does not matter."""

import random
import time
from types import SimpleNamespace
from typing import Any

import pytest
from sympy import Expr, cos, sin, symbols

from symdecouple import BudgetExceeded, OneForm, Status, VectorField, first_integrals, involutive_closure
from symdecouple.calculus.coefficients import WRITTEN, CoefficientField
from symdecouple.language import budget

Q = symbols("p q r s u", real=True)
SECONDS = 0.5


def dense(rng: random.Random, size: int, terms: int) -> Expr:
    """Random waves of random angles, some times a coordinate."""
    return sum(rng.randint(1, 5) * rng.choice([sin, cos])(sum(rng.randint(-2, 2) * v for v in Q[:size]))
               * rng.choice([1, Q[rng.randrange(size)]]) for _ in range(terms))


@pytest.mark.parametrize(("ask", "kind", "count", "shape", "seed"), [
    (first_integrals, OneForm, 2, (5, 8), 3), (involutive_closure, VectorField, 2, (5, 5), 7),
    (involutive_closure, OneForm, 1, (3, 5), 1)])
def test_dense_waves_keep_the_budget(ask: Any, kind: Any, count: int, shape: tuple[int, int], seed: int,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    rng, (size, terms) = random.Random(seed), shape
    items = [kind([dense(rng, size, terms) for _ in range(size)], Q[:size]) for _ in range(count)]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=time.process_time))
    start = time.process_time()
    try:
        found = ask(items, budget=SECONDS)
        assert getattr(found, "status", Status.UNDECIDED) is Status.UNDECIDED or found.verify()
    except BudgetExceeded as error:
        assert "budget" in str(error) or "too large" in str(error)
    assert time.process_time() - start < 1.5 * SECONDS + 0.5  # and half a second for what is printed


def test_a_sum_of_products_is_what_the_field_makes_of_it() -> None:
    x, y = symbols("x y", real=True)
    field = CoefficientField([sin(x) / (1 + y), cos(x) * y])
    s, c, w = map(field.encode, (sin(x), cos(x), 1 / (1 + y)))
    for pairs in ([(s, s), (c, c)], [(s, w), (c, c)], [(s, c)], [], [(s, field.field.zero), (w, w)]):
        plain = field.field.zero
        for a, b in pairs:
            plain += a * b
        assert field.combined(pairs) == field.reduced(plain)
    assert field.combined([(s, s), (c, c)]) == 1


def test_long_elements_are_written_in_parts_as_they_are_at_once() -> None:
    x, y, z = symbols("x y z", real=True)
    field = CoefficientField([sin(x) / (1 + y), cos(x) * y, z])
    element = field.encode((sin(x) + cos(x) + y + z + 1) ** 11 / (1 + y) ** 2)
    assert len(element.numer) > WRITTEN
    assert field.decode(element) == field.uncoded(element.as_expr())
