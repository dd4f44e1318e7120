"""Rational functions that look at the clock: SymPy's results, and refusals instead of hangs."""

from __future__ import annotations

import time

import pytest
from sympy import QQ, symbols
from sympy.polys.fields import FracField

from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import Budget
from symdecouple.language.polynomials import BLOCK, RationalFunctions

a, b, c, d = symbols("a b c d")


def test_results_are_those_of_sympy() -> None:
    ours, theirs = (field((a, b, c), QQ) for field in (RationalFunctions, FracField))
    found = []
    for field in (ours, theirs):
        x, y, z = field.gens
        p = ((x + y) ** 3 / (x - z) + (y - 2 * z) ** 2 / (x**2 - z**2)) * (x + z) / 3
        found.append((p.as_expr(), p.diff(x).as_expr(), (p - p).as_expr(), (1 / p**2).as_expr()))
    assert found[0] == found[1]


def test_a_product_in_blocks_is_the_product() -> None:
    ring = RationalFunctions((a, b, c, d)).ring
    x, y, z, w = ring.gens
    p, q = (x + y + z + w + 1) ** 6, (x - 2 * y + z * w) ** 8
    assert len(p) * len(q) > BLOCK / 4
    long = p * (x + y * w + 3) ** 5
    product, point = long * q, {x: 3, y: -2, z: 5, w: QQ(1, 2)}
    assert len(long) * len(q) > BLOCK
    values = [e.evaluate(list(point.items())) for e in (long, q, product)]
    assert values[0] * values[1] == values[2]


def test_what_grows_without_bound_is_refused() -> None:
    x, y, z, w = RationalFunctions((a, b, c, d)).gens
    for call in (lambda: (x + y + z + w) ** 200, lambda: (3 * x) ** (10**9), lambda: (x + y) ** (10**9)):
        with pytest.raises(BudgetExceeded, match="too large: the power"):
            call()
    start = time.thread_time()
    with pytest.raises(BudgetExceeded, match=r"too large|took more than"), Budget(0.5).running("a fraction"):
        total = x
        for k in range(2, 40):
            total = total + (x + k * y) / (x**k + y**2 * z + w * z**k + k)
    assert time.thread_time() - start < 1.5


def test_high_powers_of_one_symbol_are_no_large_numbers() -> None:
    x, y, _, _ = RationalFunctions((a, b, c, d)).gens
    power = x ** (10**6)
    assert (power * y) / (power * (y + 1)) == y / (y + 1)
