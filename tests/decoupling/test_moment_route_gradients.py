"""Gradients of plans of moments on nodes: against levels entry by entry, what is refused, and the room they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sympy import exp, log, tanh

from symdecouple import decouple
from symdecouple.decoupling import moment_route
from symdecouple.decoupling.moment_route import MomentRoute
from symdecouple.decoupling.plan import Plan
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.moments import gradients as moment_adjoint
from tests.traced import peak

N = 4096
VARIANCE = Mean(x**2) - Mean(x) ** 2
PLANS: dict[str, Callable[[], Plan]] = {
    "raw": lambda: decouple(raw_moments(6), [3, 13, 63, 380, 2300, 16000]),
    "standardized": lambda: decouple(standardized_moments(6), [3, 4, 0.3, 3.2, 1.9, 20]),
    "curved": lambda: decouple([Mean(x), log(VARIANCE), Mean(x**3), Mean(x**4), exp(Mean(x**5))], [0, 0, 0, 3, 1]),
    "with another": lambda: decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4), Mean(tanh(x))]),
    "two": lambda: decouple(raw_moments(2)),
}


@pytest.fixture(params=["one by one", "together"])
def _way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_adjoint, "LONG_ADJOINT", N if request.param == "one by one" else 10 * N)


def batch() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.gamma(3.0, size=N), 1 - 0.3 * rng.normal(size=N)])


def entry_by_entry(plan: Plan, rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(moment_route, "FROM_ENTRIES", 10 * N)
        return plan.gradients(rows, on_refusal="return")


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.usefixtures("_way")
def test_gradients_are_those_entry_by_entry(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, rows = PLANS[name](), batch()
    exact, outcomes = entry_by_entry(plan, rows, monkeypatch)
    assert all(outcome.ok for outcome in outcomes)
    asked: list[bool] = []
    original = MomentRoute.differentiated

    def noted(self: MomentRoute, *args: Any) -> Any:
        found = original(self, *args)
        asked.append(found is not None)
        return found

    monkeypatch.setattr(MomentRoute, "differentiated", noted)
    found = plan.gradients(rows)
    assert all(asked) and asked
    size = np.abs(exact).max(axis=2, keepdims=True)
    assert np.abs(found / size - exact / size).max() <= 1e-9


@pytest.mark.usefixtures("_way")
def test_refusals_are_those_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the entries tied at the minimum; 38 % zeros, which have no level 5."""
    plan, rng = PLANS["raw"](), np.random.default_rng(2)
    rows = np.concatenate([batch(), batch()[:1]])
    rows[1, : N // 2] = -9.0
    plan = decouple(raw_moments(6))
    rows[2] = np.where(rng.uniform(size=N) < 0.38, 0, 1 + np.abs(rng.normal(size=N)))
    exact, before = entry_by_entry(plan, rows, monkeypatch)
    found, after = plan.gradients(rows, on_refusal="return")
    assert [outcome.reason for outcome in after] == [outcome.reason for outcome in before] and not after[2].ok
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    difference, size = np.nan_to_num(np.abs(found - exact)), np.nan_to_num(np.abs(exact)).max(axis=2, keepdims=True)
    assert (difference <= 1e-9 * size).all()


@pytest.mark.parametrize("rows", [np.full((1, N), 3.0), np.resize([-1.0, 1.0], (1, N))], ids=["constant", "two values"])
def test_rows_without_a_gradient(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused for what the features themselves are refused for."""
    plan = decouple(raw_moments(5))
    exact, _ = entry_by_entry(plan, rows, monkeypatch)
    found, outcomes = plan.gradients(rows, on_refusal="return")
    np.testing.assert_array_equal(found, exact)
    assert outcomes == plan.transform(rows, on_refusal="return")[1] and not outcomes[0].ok


@pytest.mark.parametrize("kind", ["NumPy", "compiled"])
@pytest.mark.parametrize("law", ["exponential", "of 256 values"])
def test_room_beside_the_answer(law: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: kind == "compiled")
    rng, n = np.random.default_rng(3), 2**19
    samples = rng.exponential(size=n) if law == "exponential" else np.floor(np.clip(rng.gamma(4, 20, size=n), 0, 255))
    plan = decouple(raw_moments(6))
    plan.gradients(samples[: 2**14])
    assert peak(lambda: plan.gradients(samples)) < (6 + 1.5) * samples.nbytes
