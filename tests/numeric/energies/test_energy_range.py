"""Ranges of energies beside others: against the primal program, with dependent, signed and silent features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from symdecouple.numeric.energies.cone import energy_range
from symdecouple.numeric.energies.eigenvalues import Columns


def primal(rows: np.ndarray, held: np.ndarray) -> list[float]:
    ends, scale = [], np.abs(rows[:-1]).max(axis=1)  # else HiGHS keeps small rows to few digits
    for sign in (1, -1):
        found = linprog(sign * rows[-1], A_eq=rows[:-1] / scale[:, None], b_eq=held / scale, method="highs",
                        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
        ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_both_ends_are_those_of_the_primal_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 6)), int(rng.integers(8, 400))
    rows = rng.random((m, n)) ** 3 * 10.0 ** rng.integers(-3, 4, (m, 1))
    if seed % 3 == 0:
        rows -= rows.mean(axis=1, keepdims=True)  # signed, as autocorrelations are
    active = rng.random(n) < 0.8
    held = rows[:-1, active] @ rng.random(int(active.sum()))
    found = energy_range(Columns(rows, (n,)), m - 1, held, active)
    assert found is not None
    ends = primal(rows[:, active], held)
    assert found == pytest.approx(ends, rel=1e-7, abs=1e-7 * float(np.abs(rows[-1]).max()))


def test_a_dependent_feature_has_one_value() -> None:
    rows = np.array([[1.0, 2, 3], [2, 1, 0], [3.0, 3, 3]])
    found = energy_range(Columns(rows, (3,)), 2, np.array([4.0, 2.0]), np.array([True] * 3))
    assert found == pytest.approx((6, 6))
    again = energy_range(Columns(rows[[0, 0, 1]], (3,)), 2, np.array([4.0, 4.0]), np.array([True] * 3))
    assert again == pytest.approx(primal(rows[:2], np.array([4.0])))


def test_held_values_that_no_signal_has_leave_nothing() -> None:
    pair = Columns(np.array([[1.0, 2, 1], [0, 2, 4]]), (3,))
    assert energy_range(pair, 1, np.array([-1.0]), np.array([True] * 3)) is None
    assert energy_range(pair, 1, np.array([1.0]), np.array([False] * 3)) is None


def test_the_first_energy_is_positive() -> None:
    pair = Columns(np.array([[1.0, 2, 1], [1, -2, 0]]), (3,))
    everywhere = np.array([True] * 3)
    assert energy_range(pair, 0, np.zeros(0), everywhere) == (0.0, np.inf)
    assert energy_range(pair, 1, np.zeros(0), everywhere, 0) == (-np.inf, np.inf)
