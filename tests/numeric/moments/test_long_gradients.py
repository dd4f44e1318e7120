"""All gradients of long samples: the first three by their formulas, units, rows left, and rows side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.moments import gradients as moment_adjoint, long_gradients
from symdecouple.numeric.moments.gradients import decoupled_gradients, standardized_gradients
from symdecouple.numeric.moments.levels import gaussian_moments
from symdecouple.numeric.moments.long_gradients import gradients_in_parts
from symdecouple.numeric.samples.batch import Panel

GOAL = (1.0, *gaussian_moments(5))
N = 3000


@pytest.fixture
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_adjoint, "LONG_ADJOINT", N)


def test_the_first_three() -> None:
    x = np.random.default_rng(1).gamma(2.0, size=(2, 20000))
    out = np.empty((2, 3, 20000))
    values, refusals, left = gradients_in_parts(Panel.of(x), GOAL[:3], out)
    mean, s = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
    z = (x - mean) / s
    g = np.mean(z**3, axis=1, keepdims=True)
    assert values == pytest.approx(np.hstack([mean, s**2, g]), rel=1e-13) and not refusals and not left
    assert out[:, 0] == pytest.approx(np.full((2, 20000), 1 / 20000), rel=1e-15)
    assert out[:, 1] == pytest.approx(2 * (x - mean) / 20000, abs=1e-17)
    assert out[:, 2] == pytest.approx(3 * (z * z - g * z - 1) / (20000 * s), abs=1e-16)


@pytest.mark.usefixtures("_long")
def test_units() -> None:
    """Times 2^500 and back, standardized moments stay, and their gradients are divided by it; bit for bit."""
    x = np.random.default_rng(2).exponential(size=(1, N))
    plain = standardized_gradients(x, 6, GOAL)
    for power in (500, -500):
        moved = standardized_gradients(np.ldexp(x, power), 6, GOAL)
        assert np.array_equal(np.ldexp(moved.gradients[:, 2:], power), plain.gradients[:, 2:])
        assert np.array_equal(np.ldexp(moved.gradients[:, 1], -power), plain.gradients[:, 1])
        assert np.array_equal(moved.values[:, 2:], plain.values[:, 2:])


@pytest.mark.usefixtures("_long")
def test_rows_never_meet() -> None:
    x = np.random.default_rng(3).laplace(size=(3, N))
    together, alone = decoupled_gradients(x, 6), decoupled_gradients(x[1:2], 6)
    assert np.array_equal(together.values[1], alone.values[0])
    assert np.array_equal(together.gradients[1], alone.gradients[0])


@pytest.mark.usefixtures("_long")
def test_rows_that_nodes_do_not_tell_go_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(4).normal(size=(3, N))
    x[2] = 4.0
    nodes = decoupled_gradients(x, 6)
    original = long_gradients.long_gradients

    def not_the_first(panel: Panel, i: int, *args: Any, **options: Any) -> Any:
        return None if i == 0 else original(panel, i, *args, **options)

    monkeypatch.setattr(long_gradients, "long_gradients", not_the_first)
    found = decoupled_gradients(x, 6)
    assert np.array_equal(found.gradients[1], nodes.gradients[1])
    assert not np.array_equal(found.gradients[0], nodes.gradients[0])
    size = np.abs(nodes.gradients[0]).max(axis=1, keepdims=True)
    assert (np.abs(found.gradients[0] - nodes.gradients[0]) <= 1e-9 * size).all()
    assert found.values[0] == pytest.approx(nodes.values[0], rel=1e-9)
    for each in (found, nodes):
        assert {i: o.reason for i, o in each.refusals.items()} == {2: "zero variance"}
        assert np.array_equal(each.gradients[2, :2], [[1 / N] * N, [0] * N]) and np.isnan(each.gradients[2, 2:]).all()


@pytest.mark.usefixtures("_long")
def test_values_that_are_not_asked_for() -> None:
    x = np.random.default_rng(5).normal(size=(1, N))
    full = standardized_gradients(x, 6, GOAL)
    bare = standardized_gradients(x, 6, GOAL, with_values=False)
    assert np.array_equal(bare.gradients, full.gradients)
    assert np.array_equal(bare.values[:, :3], full.values[:, :3]) and np.isnan(bare.values[:, 4:]).all()
