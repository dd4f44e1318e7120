"""Theorem M (constraints): how many functions stay constant, counted and followed without the package."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

x, y, z, w, t = sp.symbols("x y z w t")


def kernel(forms: list[list[Any]]) -> list[sp.Matrix]:
    return [sp.simplify(v) for v in sp.Matrix(forms).nullspace()]


def closure_rank(fields: list[sp.Matrix], space: list[Any], rounds: int = 3) -> int:
    """The rank at one point of all brackets, by SymPy's derivatives and exact elimination."""
    point = dict(zip(space, [sp.Rational(k, 7) for k in (5, 9, 11, 17, 23)], strict=False))
    words, everything = list(fields), list(fields)
    for _ in range(rounds):
        words = [b.jacobian(space) * a - a.jacobian(space) * b for a, b in product(fields, words)]
        everything += words
    return int(sp.Matrix.hstack(*(v.subs(point) for v in everything)).rank())


CASES = [
    ([[y, -x]], [x, y], [x / y]),
    ([[1, 0, y], [0, 1, x]], [x, y, z], [x**2 - y**2, (x + y) * sp.exp(z)]),
    ([[1, 0, y, 0], [0, 0, 1, 0]], [x, y, z, w], [x, z]),
    ([[-z, 1, 0, 0], [-y, -x, 0, 1]], [x, y, z, w], [w - x * y]),
    ([[-t, 1, 0]], [x, y, t], []),
    ([[x, y, -t]], [x, y, t], [x**2 + y**2 - t**2]),
]


@pytest.mark.parametrize(("forms", "space", "functions"), CASES)
def test_the_closure_of_the_kernel_leaves_as_many_as_there_are(forms: Any, space: Any, functions: Any) -> None:
    fields = kernel(forms)
    assert len(space) - closure_rank(fields, space) == len(functions)
    for h in functions:  # M1
        assert all(sp.simplify((sp.Matrix([h]).jacobian(space) * v)[0]) == 0 for v in fields)


def test_time_counts() -> None:
    """Frozen, dy - t dx has an involutive kernel; in the space of (x, y, t) its closure is everything."""
    assert closure_rank([sp.Matrix([1, t])], [x, y]) == 1
    assert closure_rank(kernel([[-t, 1, 0]]), [x, y, t]) == 3


def test_a_nonholonomic_set_reaches_what_a_holonomic_one_does_not() -> None:
    """y' = t x' leads from (0, 0) at time 0 to any (x, y) at time 1: here back to x = 0, with another y."""
    for wave, y_end in ((np.cos, 0.0), (np.sin, -1 / (2 * np.pi))):
        moved = solve_ivp(lambda s, q, wave=wave: [wave(2 * np.pi * s), s * wave(2 * np.pi * s)], (0, 1), [0, 0],
                          rtol=1e-10, atol=1e-12)
        assert np.allclose(moved.y[:, -1], [0, y_end], atol=1e-8)


def test_contradicting_constraints_have_an_involutive_kernel_and_no_motion() -> None:
    (field,) = kernel([[1, 0, 0], [1, 0, -1]])  # x' = 0 and x' = 1 in (x, y, t)
    assert field[2] == 0 and closure_rank([field], [x, y, t]) == 1
